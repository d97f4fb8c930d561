"""Offset and time of the records of one batch, taken one by one without any compiled code.

A lookup reads a single batch, and is done before a compiler's library is even loaded. The records
of a batch at base offset 40 with the base time 1000 give (40, 1000), (41, 1007) ...: what record
holds as deltas is resolved as Kafka's iterators do, 4.3.1.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.batch import CODEC_MASK, HEADER, HEADER_BYTES, LOG_APPEND_TIME, MAGIC_2
from kafkaviz.messages import message

_MAGIC_AT = field_start(HEADER, "magic")
_MAX_VARINT_BYTES = 10


class RecordHead(NamedTuple):
    """A record's offset, and its timestamp in ms, -1 for none."""

    offset: int
    timestamp_ms: int


def heads(data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES) -> Iterator[RecordHead]:
    """The head of each record of a complete batch of any magic, in order.

    Args:
        data: the batch, its header included.
        limit_bytes: of the decompressed records.

    Raises:
        CorruptBytes: a record cannot be read.
    """
    if not MAGIC_2 <= data[_MAGIC_AT] < 128:
        yield from _messages(data, limit_bytes)
        return
    if len(data) < HEADER_BYTES:
        raise CorruptBytes(0, message("corrupt.batch_shorter_than_header", size=len(data)))
    header = np.frombuffer(data, HEADER, 1)[0]
    body, codec_id = memoryview(data)[HEADER_BYTES:], int(header["attributes"]) & CODEC_MASK
    if codec_id and header["record_count"] > 0:
        body = memoryview(codec.decompress(codec.name(codec_id), body, limit_bytes))
    base_offset, base_ms = int(header["base_offset"]), int(header["base_timestamp_ms"])
    append_ms = int(header["max_timestamp_ms"]) if header["attributes"] & LOG_APPEND_TIME else None
    for offset_delta, timestamp_delta_ms in _deltas(body, int(header["record_count"])):
        yield RecordHead(
            _long(base_offset + offset_delta),
            _long(base_ms + timestamp_delta_ms) if append_ms is None else append_ms,
        )


def values(data: bytes | memoryview) -> Iterator[bytes | None]:
    """The value of each record of a complete batch of magic 2 that is not compressed.

    Raises:
        CorruptBytes: a record cannot be read.
    """
    if len(data) < HEADER_BYTES:
        raise CorruptBytes(0, message("corrupt.batch_shorter_than_header", size=len(data)))
    header, body = np.frombuffer(data, HEADER, 1)[0], memoryview(data)[HEADER_BYTES:]
    position = 0
    for _ in range(int(header["record_count"])):
        size_bytes, start = _varint(body, position)
        position, next_position = start + size_bytes, start + 1
        for _ in range(2):  # the deltas of time and offset
            _, next_position = _varint(body, next_position)
        key_bytes, next_position = _varint(body, next_position)
        value_bytes, start = _varint(body, next_position + max(0, key_bytes))
        if not start + max(0, value_bytes) <= position <= len(body):
            raise CorruptBytes(
                HEADER_BYTES + start,
                message("corrupt.value_beyond_record", size=value_bytes),
            )
        yield None if value_bytes < 0 else bytes(body[start : start + value_bytes])


def _messages(data: bytes | memoryview, limit_bytes: int) -> Iterator[RecordHead]:
    # compiled: a reader of today's batches need not wait for it
    from kafkaviz.format import batch_records

    for record in batch_records.iterate(data, limit_bytes):
        yield RecordHead(record.offset, record.timestamp_ms)


def _deltas(body: memoryview, count: int) -> Iterator[tuple[int, int]]:
    """Reads length, attributes and the two deltas of each record, and passes over the rest.

    Yields:
        The offset delta and the timestamp delta of each record.
    """
    position = 0
    for _ in range(count):
        size_bytes, start = _varint(body, position)
        if size_bytes < 0 or start + size_bytes > len(body):
            raise CorruptBytes(
                HEADER_BYTES + position,
                message("corrupt.record_cut", size=size_bytes, available=max(0, len(body) - start)),
            )
        timestamp_delta_ms, next_position = _varint(body, start + 1)
        offset_delta, _ = _varint(body, next_position)
        yield offset_delta, timestamp_delta_ms
        position = start + size_bytes


def _varint(body: memoryview, position: int) -> tuple[int, int]:
    """Reads a zigzag varint.

    Returns:
        The number, and where it ends.
    """
    number = 0
    for place, byte in enumerate(body[position : position + _MAX_VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), position + place + 1
    raise CorruptBytes(HEADER_BYTES + position, message("corrupt.varint_endless"))


def _long(number: int) -> int:
    """The low 64 bits, signed."""
    return (number + 2**63) % 2**64 - 2**63
