"""Batches and messages as producers of any release send them, built by kafkaviz's own format."""

from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import batch, record
from kafkaviz.format.record import Record
from tests.support.legacy_messages import build_message

MARKER_VALUE = bytes(6)  # version 0, coordinator epoch 0


@dataclass(frozen=True)
class Producer:
    """A producer: none, an idempotent one, or one in a transaction."""

    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1
    is_transactional: bool = False


NOBODY = Producer()


def v2(
    base_offset: int,
    records: list[Record],
    base_ms: int,
    *,
    packed: str = "none",
    append_ms: int | None = None,
    by: Producer = NOBODY,
    control: bool = False,
    last_offset_delta: int | None = None,
) -> bytes:
    """Returns a batch of magic 2. `append_ms` is the broker's clock if that is its time;
    `last_offset_delta` is set if the last records are gone.
    """
    body = record.build(records)
    attributes = (
        codec.CODECS.index(packed)
        | batch.TRANSACTIONAL * by.is_transactional
        | batch.CONTROL * control
    )
    header = np.zeros(1, batch.HEADER)
    fields = header[0]
    stored = codec.compress(packed, body) if packed != "none" else body
    fields["base_offset"], fields["magic"], fields["record_count"] = base_offset, 2, len(records)
    fields["batch_length_bytes"] = batch.HEADER_BYTES - batch.LENGTH_END + len(stored)
    fields["last_offset_delta"] = (
        records[-1].offset_delta if last_offset_delta is None else last_offset_delta
    )
    fields["base_timestamp_ms"] = base_ms
    fields["max_timestamp_ms"] = max(base_ms + record.timestamp_delta_ms for record in records)
    if append_ms is not None:
        attributes |= batch.LOG_APPEND_TIME
        fields["max_timestamp_ms"] = append_ms
    fields["attributes"] = attributes
    fields["producer_id"], fields["producer_epoch"] = by.producer_id, by.epoch
    fields["base_sequence"] = by.sequence
    fields["crc"] = crc32c(header.tobytes()[batch.CRC_START :] + stored)
    return header.tobytes() + stored


def marker(
    offset: int, now_ms: int, commits: bool, by: Producer, append_ms: int | None = None
) -> bytes:
    end = Producer(by.producer_id, by.epoch, -1, True)
    key = bytes([0, 0, 0, commits])
    record = Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=MARKER_VALUE)
    return v2(offset, [record], now_ms, append_ms=append_ms, by=end, control=True)


def message(
    magic: int,
    offset: int,
    key: bytes | None,
    value: bytes,
    timestamp_ms: int,
    append_ms: int | None = None,
) -> bytes:
    attributes = 0 if append_ms is None or magic == 0 else batch.LOG_APPEND_TIME
    time_ms = timestamp_ms if append_ms is None else append_ms
    return build_message(magic, offset, key, value, timestamp_ms=time_ms, attributes=attributes)


def wrapper(base_offset: int, values: list[bytes], timestamps_ms: list[int], packed: str) -> bytes:
    """Returns messages of magic 1 compressed together, with the offset of the last outside."""
    inner = b"".join(
        message(1, at, None, value, time)
        for at, (value, time) in enumerate(zip(values, timestamps_ms, strict=True))
    )
    last_offset = base_offset + len(values) - 1
    value = codec.compress(packed, inner)
    attributes = codec.CODECS.index(packed)
    latest_ms = max(timestamps_ms)
    return build_message(1, last_offset, None, value, timestamp_ms=latest_ms, attributes=attributes)
