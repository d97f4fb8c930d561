"""Splits a batch of any magic into spans: named ranges of bytes, for the bytes view.

The spans are the header fields, then the records or the compressed bytes. `decompress` gives the
spans of the decompressed bytes. A truncated batch has spans for the bytes that exist.
"""

import zlib
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.binary import codec as codecs
from kafkaviz.binary import layouts
from kafkaviz.binary.codec import CODECS
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import (
    CHECK,
    OFFSET,
    PAYLOAD,
    PRODUCER,
    SIZE,
    TIME,
    FieldDisplay,
    Span,
    field_names,
    field_start,
    row_note,
    torn_span,
)
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import legacy_messages, spans_record
from kafkaviz.format.batch import (
    CODEC_MASK,
    CONTROL,
    CRC_START,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LEGACY_HEADER,
    LENGTH_END,
    LOG_APPEND_TIME,
    MAGIC_2,
    TRANSACTIONAL,
)
from kafkaviz.messages import Message, message

MAGIC_AT = field_start(HEADER, "magic")
LEGACY_MAGIC_0: np.dtype = np.dtype(
    [(name, LEGACY_HEADER[name]) for name in field_names(LEGACY_HEADER) if name != "timestamp_ms"]
)
INT: np.dtype = np.dtype(">i4")
COMPRESSED_RECORDS = message("span.compressed_records")
COMPRESSED_VALUE = message("span.compressed_value")
# names of the spans whose bytes `decompress` can decompress
COMPRESSED_NAMES = (COMPRESSED_RECORDS, COMPRESSED_VALUE)


class DecompressedRecords(NamedTuple):
    """The decompressed records of a batch, and the spans of all or some of them."""

    data: bytes
    spans: list[Span]


def batch(
    data: bytes | memoryview,
    position: int = 0,
    size_bytes: int | None = None,
    start: int = 0,
    stop: int | None = None,
) -> list[Span]:
    """Returns the spans of a batch that overlap [start, stop). By default, returns all spans.

    The batch begins at `position` of the file and has `size_bytes`. `data` may hold only the first
    bytes of the batch. One span covers the rest.
    """
    size_bytes = len(data) if size_bytes is None else size_bytes
    data = memoryview(data)
    end = position + size_bytes
    result = (
        _magic_2_spans(data, position, size_bytes, start, stop)
        if _is_magic_2(data)
        else _message(data, position, size_bytes)
    )
    if position + len(data) < end:
        rest = units.format_bytes(size_bytes - len(data))
        note = message("span.rest_of_batch", size=size_bytes, read=len(data))
        result.append(Span(position + len(data), end, "records", rest, PAYLOAD, note))
    return layouts.find_overlapping(result, start, end if stop is None else stop)


def decompress(
    data: bytes | memoryview,
    limit_bytes: int = codecs.LIMIT_BYTES,
    start: int = 0,
    stop: int | None = None,
) -> DecompressedRecords | None:
    """Returns the decompressed records of a batch, and the spans that overlap [start, stop).

    Positions of spans count in the decompressed records. By default, and always for magic 0 and 1,
    returns all spans. Returns None if the batch is not compressed.

    Raises:
        CorruptBytes: the batch cannot be decompressed. The position in the error counts from the
            start of the batch.
    """
    if not is_compressed(data):
        return None
    if not _is_magic_2(data):
        return _inside_message(data, limit_bytes)
    header = np.frombuffer(data, HEADER, 1)[0]
    try:
        codec = codecs.name(int(header["attributes"]) & CODEC_MASK)
        body = codecs.decompress(codec, data[HEADER_BYTES:], limit_bytes)
    except CorruptBytes as fault:
        raise fault.after(HEADER_BYTES) from None
    spans = spans_record.records(
        body, int(header["record_count"]), _record_base(header), start=start, stop=stop
    )
    return DecompressedRecords(body, spans)


def is_compressed(data: bytes | memoryview) -> bool:
    """Returns whether a batch names a codec; False if its header is truncated."""
    position, header_bytes = (
        (CRC_START + 1, HEADER_BYTES)
        if _is_magic_2(data)
        else (MAGIC_AT + 1, LEGACY_MAGIC_0.itemsize)
    )
    return len(data) >= header_bytes and bool(data[position] & CODEC_MASK)


def _is_magic_2(data: bytes | memoryview) -> bool:
    return len(data) <= MAGIC_AT or MAGIC_2 <= data[MAGIC_AT] < 128


# ---- magic 2


def _magic_2_spans(
    data: memoryview, position: int, size_bytes: int, start: int, stop: int | None
) -> list[Span]:
    header = np.frombuffer(bytes(data[:HEADER_BYTES]).ljust(HEADER_BYTES, b"\0"), HEADER)[0]
    result = layouts.field_spans(HEADER, FIELDS, data, position)
    if len(data) >= max(size_bytes, HEADER_BYTES):
        _check_crc(result, HEADER, crc32c(data[CRC_START:]))
    records = data[HEADER_BYTES:]
    if not len(records):
        return result
    codec = int(header["attributes"]) & CODEC_MASK
    count = int(header["record_count"])
    first = position + HEADER_BYTES
    end = first + len(records)
    if _length(header) > size_bytes:
        note = message("span.batch_beyond_data", size=_length(header))
        return [*result, torn_span(first, end, message("span.cut_records"), note)]
    if codec:
        return [*result, _compressed_span(COMPRESSED_RECORDS, first, end, codec, count)]
    return result + spans_record.records(
        records, count, _record_base(header), first, start=start, stop=stop
    )


def _length(header: np.void) -> int:
    return int(header["batch_length_bytes"]) + LENGTH_END


def _record_base(header: np.void) -> spans_record.RecordBase:
    attributes = int(header["attributes"])
    append_time_ms = int(header["max_timestamp_ms"]) if attributes & LOG_APPEND_TIME else None
    return spans_record.RecordBase(
        int(header["base_offset"]),
        int(header["base_timestamp_ms"]),
        append_time_ms,
        bool(attributes & CONTROL),
    )


def _check_crc(spans: list[Span], layout: np.dtype, computed_crc: int) -> None:
    """Makes the note of the crc span say whether the checksum is right."""
    place = field_names(layout).index("crc")
    crc = spans[place]
    note = message("span.checksum_matches", covers=crc.note)
    if crc.value != f"0x{computed_crc:08x}":
        note = message("span.checksum_differs", covers=crc.note, crc=computed_crc)
    spans[place] = crc._replace(note=note)


def _compressed_span(name: Message, start: int, end: int, codec: int, count: int) -> Span:
    codec_name = CODECS[codec] if codec < len(CODECS) else message("span.unknown_codec", n=codec)
    value = message("span.codec_and_size", codec=codec_name, size=end - start)
    note = message("span.compressed_messages")
    if count >= 0:
        note = message("span.compressed_block", n=count)
    return Span(start, end, name, value, PAYLOAD, note)


def _codec(header: np.void) -> Message:
    codec = int(header["attributes"]) & CODEC_MASK
    time = "LogAppendTime" if header["attributes"] & LOG_APPEND_TIME else "CreateTime"
    codec_name = CODECS[codec] if codec < len(CODECS) else codec
    bits = (
        (TRANSACTIONAL, message("span.transactional")),
        (CONTROL, message("span.control")),
        (DELETE_HORIZON, message("span.delete_horizon_set")),
    )
    flags = (time, *(flag for bit, flag in bits if header["attributes"] & bit))
    return message("span.codec", codec=codec_name, flags=flags)


def _batch_length(header: np.void) -> Message:
    return message("span.batch_length", n=header["batch_length_bytes"], size=_length(header))


def _magic(header: np.void) -> Message:
    key = "span.record_format" if header["magic"] == MAGIC_2 else "span.unknown_magic"
    return message(key, magic=header["magic"])


def _first_time(header: np.void) -> Message:
    time_ms = header["base_timestamp_ms"]
    if header["attributes"] & DELETE_HORIZON:
        return message("span.delete_horizon", time=time_ms)
    return message("span.no_time") if time_ms == -1 else message("span.first_time", time=time_ms)


def _last_offset(header: np.void) -> Message:
    base = int(header["base_offset"])
    delta = int(header["last_offset_delta"])
    return message("span.last_offset", base=base, delta=delta, sum=base + delta)


def _optional_note(field: str, absent_key: str, present_key: str, **fields: str):
    """Returns a function that returns the note on `field` of a header.

    If the field is -1, the note is the message `absent_key`. Otherwise
    `row_note(present_key, **fields)` makes the note.
    """
    present_note = row_note(present_key, **fields)
    return lambda header: message(absent_key) if header[field] == -1 else present_note(header)


FIELDS = {
    "base_offset": FieldDisplay(
        "baseOffset", OFFSET, is_grouped=True,
        note=row_note("span.base_offset", offset="base_offset")),
    "batch_length_bytes": FieldDisplay("batchLength", SIZE, is_grouped=True, note=_batch_length),
    "leader_epoch": FieldDisplay("partitionLeaderEpoch", PRODUCER, note="span.leader_epoch"),
    "magic": FieldDisplay("magic", CHECK, note=_magic),
    "crc": FieldDisplay(
        "crc", CHECK, value=lambda header: f"0x{header['crc']:08x}",
        note="span.covered_by_batch_crc"),
    "attributes": FieldDisplay(
        "attributes", CHECK, value=lambda header: f"0x{int(header['attributes']) & 0xFFFF:04x}",
        note=_codec),
    "last_offset_delta": FieldDisplay("lastOffsetDelta", OFFSET, note=_last_offset),
    "base_timestamp_ms": FieldDisplay("baseTimestamp", TIME, note=_first_time),
    "max_timestamp_ms": FieldDisplay(
        "maxTimestamp", TIME,
        note=_optional_note(
            "max_timestamp_ms", "span.no_time", "span.newest_time", time="max_timestamp_ms")),
    "producer_id": FieldDisplay(
        "producerId", PRODUCER,
        note=_optional_note("producer_id", "span.no_producer_id", "span.producer_id")),
    "producer_epoch": FieldDisplay(
        "producerEpoch", PRODUCER,
        note=_optional_note("producer_epoch", "span.none", "span.producer_epoch")),
    "base_sequence": FieldDisplay(
        "baseSequence", PRODUCER,
        note=_optional_note("base_sequence", "span.none", "span.base_sequence")),
    "record_count": FieldDisplay(
        "recordCount", SIZE, note=row_note("span.record_count", n="record_count")),
}  # fmt: skip


# ---- magic 0 and 1


def _message(data: memoryview, position: int, size_bytes: int) -> list[Span]:
    layout = LEGACY_MAGIC_0 if data[MAGIC_AT] == 0 else LEGACY_HEADER
    result = layouts.field_spans(layout, LEGACY_FIELDS, data, position)
    cursor = layout.itemsize
    codec = 0
    if len(data) >= layout.itemsize:
        codec = data[MAGIC_AT + 1] & CODEC_MASK
        if len(data) == size_bytes == _message_bytes(data):
            _check_crc(result, layout, zlib.crc32(data[MAGIC_AT:]))
    for name in ("key", "value"):
        parts, cursor = _sized_spans(data, cursor, position, name, codec)
        result += parts
    if cursor < len(data):
        note = message("span.behind_value_note")
        end = position + len(data)
        result.append(torn_span(position + cursor, end, message("span.behind_value"), note))
    return result


def _message_bytes(data: memoryview) -> int:
    """Returns the size of a message according to its size field."""
    size_field = data[LENGTH_END - INT.itemsize : LENGTH_END]
    return LENGTH_END + int.from_bytes(size_field, "big", signed=True)


def _sized_spans(
    data: memoryview, cursor: int, position: int, name: str, codec: int
) -> tuple[list[Span], int]:
    """Returns the spans of a length field and its key or value, and the next position."""
    if cursor >= len(data):
        return [], cursor
    length_name = f"{name}Length"
    start = cursor + INT.itemsize
    if start > len(data):
        note = message("span.cut_field", n=len(data) - cursor, size=INT.itemsize)
        return [torn_span(position + cursor, position + len(data), length_name, note)], len(data)
    size = int.from_bytes(data[cursor:start], "big", signed=True)
    note = message("span.null_part", part=name)
    if size >= 0:
        note = message("span.bytes_of_part", n=size, part=name)
    result = [Span(position + cursor, position + start, length_name, str(size), SIZE, note)]
    end = min(start + max(size, 0), len(data))
    edges = (position + start, position + end)
    if end - start < size:
        if start < end:
            result.append(torn_span(*edges, name, message("span.bytes_missing", n=size)))
    elif size > 0 and codec and name == "value":
        result.append(_compressed_span(COMPRESSED_VALUE, *edges, codec, -1))
    elif size > 0:
        result.append(Span(*edges, name, layouts.text(data[start:end]), PAYLOAD))
    return result, end


def _inside_message(data: bytes | memoryview, limit_bytes: int) -> DecompressedRecords:
    """Returns the decompressed bytes of a wrapper with the spans of the messages in it.

    Raises CorruptBytes if no byte can be decompressed.
    """
    messages = legacy_messages.read(data, limit_bytes)
    if messages.fault and not len(messages.data):
        raise messages.fault
    body = memoryview(messages.data)
    result = []
    cursor = 0
    while len(body) - cursor >= LENGTH_END:
        size_bytes = _message_bytes(body[cursor:])
        if size_bytes <= MAGIC_AT or cursor + size_bytes > len(body):
            break
        message_spans = _message(body[cursor : cursor + size_bytes], cursor, size_bytes)
        message_spans[0] = message_spans[0]._replace(note=_real_offset(messages.rows, cursor))
        result += message_spans
        cursor += size_bytes
    if cursor < len(body):
        note = message("span.cut_last_message_note")
        result.append(torn_span(cursor, len(body), message("span.cut_last_message"), note))
    return DecompressedRecords(bytes(messages.data), result)


def _real_offset(messages: np.ndarray, position: int) -> Message:
    offsets = messages["offset"][messages["position"] == position]
    if not len(offsets):
        return message("span.message_not_reached")
    return message("span.offset_in_wrapper", offset=offsets[0])


def _message_offset(header: np.void) -> Message:
    is_wrapper = header["attributes"] & CODEC_MASK
    return message("span.wrapper_offset" if is_wrapper else "span.message_offset")


def _message_magic(header: np.void) -> Message:
    if header["magic"] == 0:
        return message("span.message_format_0")
    return message("span.message_format", magic=header["magic"])


def _attributes(header: np.void) -> Message:
    codec = int(header["attributes"]) & CODEC_MASK
    codec_name = CODECS[codec] if codec < len(CODECS) else codec
    if header["attributes"] & LOG_APPEND_TIME:
        return message("span.codec", codec=codec_name, flags=("LogAppendTime",))
    return message("span.codec_alone", codec=codec_name)


LEGACY_FIELDS = {
    "offset": FieldDisplay("offset", OFFSET, is_grouped=True, note=_message_offset),
    "message_size_bytes": FieldDisplay(
        "messageSize", SIZE, is_grouped=True,
        note=row_note("span.message_size", n="message_size_bytes")),
    "crc": FIELDS["crc"]._replace(note="span.covered_by_message_crc"),
    "magic": FieldDisplay("magic", CHECK, note=_message_magic),
    "attributes": FieldDisplay(
        "attributes", CHECK, value=lambda header: f"0x{int(header['attributes']) & 0xFF:02x}",
        note=_attributes),
    "timestamp_ms": FieldDisplay(
        "timestamp", TIME,
        note=_optional_note("timestamp_ms", "span.no_time", "span.time", time="timestamp_ms")),
}  # fmt: skip
