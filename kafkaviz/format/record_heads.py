"""Offset and time of the records of one batch, taken one by one without any compiled code.

A lookup reads a single batch, and is done before a compiler's library is even loaded. Of the
records of a batch at base offset 40 with the base time 1000 this gives (40, 1000), (41, 1007) ...:
what record holds as deltas is resolved as Kafka's iterators do, 4.3.1. Where a record cannot be
read, the decoder of all its fields is asked for Kafka's words.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kafkaviz.binary import codec, varint
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records
from kafkaviz.format.batch import CODEC_MASK, HEADER, HEADER_BYTES, LOG_APPEND_TIME, MAGIC_2
from kafkaviz.format.record import part
from kafkaviz.messages import message

_MAGIC_AT = field_start(HEADER, "magic")


class RecordHead(NamedTuple):
    """A record's offset, and its timestamp in ms, -1 for none."""

    offset: int
    timestamp_ms: int


def heads(data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES) -> Iterator[RecordHead]:
    """Of each record of one whole batch, its header included, in the order of the batch; of any
    magic.

    Raises CorruptBytes at the first that cannot be read; limit_bytes: of the decompressed records.
    """
    if not MAGIC_2 <= data[_MAGIC_AT] < 128:
        for record in batch_records.iterate(data, limit_bytes):
            yield RecordHead(record.offset, record.timestamp_ms)
        return
    try:
        yield from _heads(data, limit_bytes)
    except CorruptBytes as fault:
        raise batch_records.find_fault(data, limit_bytes) or fault from None


def _heads(data: bytes | memoryview, limit_bytes: int) -> Iterator[RecordHead]:
    header, body = batch_records.split_header(data)
    codec_id = int(header["attributes"]) & CODEC_MASK
    if codec_id and header["record_count"] > 0:
        body = memoryview(codec.decompress(codec.name(codec_id), body, limit_bytes))
    base_offset, base_ms = int(header["base_offset"]), int(header["base_timestamp_ms"])
    append_ms = int(header["max_timestamp_ms"]) if header["attributes"] & LOG_APPEND_TIME else None
    end = 0
    for _ in range(int(header["record_count"])):
        start, end = content_range(body, end)
        timestamp_delta_ms, position = varint.read_varlong(body, start + 1)
        offset_delta, _ = varint.read_varint(body, position)
        yield RecordHead(
            batch_records.wrap_long(base_offset + offset_delta),
            batch_records.wrap_long(base_ms + timestamp_delta_ms)
            if append_ms is None
            else append_ms,
        )


def values(data: bytes | memoryview) -> Iterator[bytes | None]:
    """Of each record of one whole batch of magic 2 that is not compressed; CorruptBytes at the
    first that cannot be read.
    """
    header, body = batch_records.split_header(data)
    end = 0
    for _ in range(int(header["record_count"])):
        start, end = content_range(body, end)
        _, position = varint.read_varlong(body, start + 1)
        _, position = varint.read_varint(body, position)
        key_bytes, position = varint.read_varint(body, position)
        value_bytes, position = varint.read_varint(body, position + max(0, key_bytes))
        if position + max(0, value_bytes) > end:
            raise CorruptBytes(
                HEADER_BYTES + position, message("corrupt.value_beyond_record", size=value_bytes)
            )
        yield part(body, position, value_bytes)


def content_range(records: memoryview, position: int) -> tuple[int, int]:
    """(the first byte of a record behind its length, the byte behind it); CorruptBytes if it says
    that it ends before its content begins, or behind the records.
    """
    size_bytes, start = varint.read_varint(records, position)
    if size_bytes < 0 or start + size_bytes > len(records):
        raise CorruptBytes(
            start,
            message("corrupt.record_too_long", size=size_bytes, available=len(records) - start),
        )
    return start, start + size_bytes
