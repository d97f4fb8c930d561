"""Logs of __consumer_offsets with the commits that a test needs."""

from pathlib import Path

import numpy as np

from kafkaviz.format import batch, record
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.simulate.producers.batch_encoder import seal

TIME_MS = 1_700_000_000_000


def build_batch(base_offset: int, body: bytes, **fields: int) -> bytes:
    """Returns a batch of one record, or with other header fields."""
    row = np.zeros(1, batch.BATCH)
    row["size_bytes"] = HEADER_BYTES + len(body)
    row["base_offset"] = row["last_offset"] = base_offset
    row["magic"] = 2
    row["base_timestamp_ms"] = row["max_timestamp_ms"] = TIME_MS
    row["producer_id"] = row["producer_epoch"] = row["base_sequence"] = -1
    row["record_count"] = 1
    for name, value in fields.items():
        row[name] = value
    data = np.zeros(HEADER_BYTES + len(body), np.uint8)
    data[HEADER_BYTES:] = np.frombuffer(body, np.uint8)
    seal(row, data)
    return data.tobytes()


def commit_batch(
    base_offset: int,
    group: str,
    partition: str,
    offset: int,
    topic_id: bytes | None = None,
    **fields: int,
) -> bytes:
    """Returns a batch with one commit, as 4.0 wrote it (version 3), or with a topic id (4)."""
    topic, _, number = partition.rpartition("-")
    strings = b"".join(len(text).to_bytes(2, "big") + text.encode() for text in (group, topic))
    key = b"\0\1" + strings + int(number).to_bytes(4, "big")
    epoch = bytes(4)
    if topic_id is None:
        value = b"\0\3" + offset.to_bytes(8, "big") + epoch + bytes(2)
        value += TIME_MS.to_bytes(8, "big")
    else:
        value = b"\0\4" + offset.to_bytes(8, "big") + epoch + b"\1"
        value += TIME_MS.to_bytes(8, "big") + b"\1\0\x10" + topic_id
    body = record.build([record.Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=value)])
    return build_batch(base_offset, body, **fields)


def write_log(root: Path, directory: str, data: bytes) -> None:
    log = root / directory / f"{0:020}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(data)
    log.with_suffix(".index").touch()
    log.with_suffix(".timeindex").touch()
