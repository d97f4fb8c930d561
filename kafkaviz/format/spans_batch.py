"""The spans of a batch of any magic: its header field by field, then its records, or one span of
compressed bytes.

What a compressed batch holds is a second stretch of bytes with spans of its own: inside()
decompresses it. A batch that is cut has spans for what is there of it.
"""

import zlib
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.binary import codec as codecs
from kafkaviz.binary import spans
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.binary.spans import (
    CHECK,
    OFFSET,
    PAYLOAD,
    PRODUCER,
    SIZE,
    TIME,
    FieldDisplay,
    Span,
    torn_span,
)
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import legacy_messages, spans_record
from kafkaviz.format.batch import (
    CODEC_MASK,
    CODECS,
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

MAGIC_AT = field_start(HEADER, "magic")
LEGACY_MAGIC_0: np.dtype = np.dtype(
    [(name, LEGACY_HEADER[name]) for name in field_names(LEGACY_HEADER) if name != "timestamp_ms"]
)
INT: np.dtype = np.dtype(">i4")


class DecompressedRecords(NamedTuple):
    """The records of a compressed batch: their bytes, decompressed, and the spans that tile
    them.
    """

    data: bytes
    spans: list[Span]


def batch(
    data: bytes | memoryview,
    position: int = 0,
    size_bytes: int | None = None,
    start: int = 0,
    stop: int | None = None,
) -> list[Span]:
    """The spans of one batch at this position that have a byte in [start, stop), by default all.

    size_bytes: what the batch takes in the file, where data is only its beginning; its rest is one
    span then.
    """
    size_bytes = len(data) if size_bytes is None else size_bytes
    data, end = memoryview(data), position + size_bytes
    result = (
        _magic_2_spans(data, position, size_bytes, start, stop)
        if _is_magic_2(data)
        else _message(data, position, size_bytes)
    )
    if position + len(data) < end:
        note = (
            f"Of a batch of {units.group(size_bytes)} bytes, what lies behind "
            f"{units.group(len(data))} is not taken apart."
        )
        result.append(
            Span(
                position + len(data),
                end,
                "records",
                units.size(size_bytes - len(data)),
                PAYLOAD,
                note,
            )
        )
    return spans.find_overlapping(result, start, end if stop is None else stop)


def decompress(
    data: bytes | memoryview,
    limit_bytes: int = codecs.LIMIT_BYTES,
    start: int = 0,
    stop: int | None = None,
) -> DecompressedRecords | None:
    """What a compressed batch holds, and the spans that have a byte in [start, stop) of it; None
    where it is not compressed.

    Raises CorruptBytes where it cannot be decompressed; the position is a byte of the batch.
    """
    if not is_compressed(data):
        return None
    if not _is_magic_2(data):
        return _inside_message(data, limit_bytes)
    header = np.frombuffer(data, HEADER, 1)[0]
    try:
        body = codecs.decompress(
            codecs.name(int(header["attributes"]) & CODEC_MASK), data[HEADER_BYTES:], limit_bytes
        )
    except CorruptBytes as fault:
        raise CorruptBytes(HEADER_BYTES + fault.position, fault.what) from None
    return DecompressedRecords(
        body,
        spans_record.records(
            body, int(header["record_count"]), _record_base(header), 0, start=start, stop=stop
        ),
    )


def is_compressed(data: bytes | memoryview) -> bool:
    """Whether the header of a batch names a codec; a header that is cut does not."""
    position, header_bytes = (
        (CRC_START + 1, HEADER_BYTES)
        if _is_magic_2(data)
        else (MAGIC_AT + 1, LEGACY_MAGIC_0.itemsize)
    )
    return len(data) >= header_bytes and bool(data[position] & CODEC_MASK)


def is_intact(data: bytes | memoryview) -> bool:
    """Whether the checksum of a whole batch is that of its bytes: no other place of a log passes
    for one.
    """
    if _is_magic_2(data):
        return len(data) >= HEADER_BYTES and int(
            np.frombuffer(data, HEADER, 1)["crc"][0]
        ) == crc32c(data[CRC_START:])
    crc_end = field_start(LEGACY_HEADER, "crc") + 4
    return len(data) >= LEGACY_MAGIC_0.itemsize and int.from_bytes(
        data[crc_end - 4 : crc_end], "big"
    ) == zlib.crc32(data[crc_end:])


def _is_magic_2(data: bytes | memoryview) -> bool:
    """As Kafka's file reader takes it: any magic from 2 to 127 has the header of magic 2."""
    return len(data) <= MAGIC_AT or MAGIC_2 <= data[MAGIC_AT] < 128


# ---- magic 2


def _magic_2_spans(
    data: memoryview, position: int, size_bytes: int, start: int, stop: int | None
) -> list[Span]:
    header = np.frombuffer(bytes(data[:HEADER_BYTES]).ljust(HEADER_BYTES, b"\0"), HEADER)[0]
    result = spans.field_spans(HEADER, FIELDS, data, position)
    if len(data) >= HEADER_BYTES:
        result[field_names(HEADER).index("crc")] = _check_crc(
            result[field_names(HEADER).index("crc")], data, size_bytes
        )
    records = data[HEADER_BYTES:]
    if not len(records):
        return result
    codec, first = int(header["attributes"]) & CODEC_MASK, position + HEADER_BYTES
    if _length(header) > size_bytes:
        note = f"The batch says that it takes {units.group(_length(header))} bytes."
        return [*result, torn_span(first, first + len(records), "records, cut", note)]
    if codec:
        return [
            *result,
            _compressed_span(
                "records, compressed",
                first,
                first + len(records),
                codec,
                int(header["record_count"]),
            ),
        ]
    return result + spans_record.records(
        records, int(header["record_count"]), _record_base(header), first, start=start, stop=stop
    )


def _length(header: np.void) -> int:
    return int(header["batch_length_bytes"]) + LENGTH_END


def _record_base(header: np.void) -> spans_record.RecordBase:
    """What the records of a batch are counted from."""
    attributes = int(header["attributes"])
    append_time_ms = int(header["max_timestamp_ms"]) if attributes & LOG_APPEND_TIME else None
    return spans_record.RecordBase(
        int(header["base_offset"]),
        int(header["base_timestamp_ms"]),
        append_time_ms,
        bool(attributes & CONTROL),
    )


def _check_crc(crc: Span, data: memoryview, size_bytes: int) -> Span:
    """The span of the checksum with what the bytes say."""
    if len(data) < size_bytes:
        return crc
    computed_crc = crc32c(data[CRC_START:])
    verdict = (
        "It matches."
        if crc.value == f"0x{computed_crc:08x}"
        else f"It does not match: the bytes give 0x{computed_crc:08x}."
    )
    return crc._replace(note=f"{crc.note} {verdict}")


def _compressed_span(name: str, start: int, end: int, codec: int, count: int) -> Span:
    codec_name = CODECS[codec] if codec < len(CODECS) else f"codec {codec}"
    records = (
        f"{units.group(count)} record{'' if count == 1 else 's'}" if count >= 0 else "Messages"
    )
    return Span(
        start,
        end,
        name,
        f"{codec_name}, {units.size(end - start)}",
        PAYLOAD,
        f"{records} as one compressed block.",
    )


def _codec(header: np.void) -> str:
    codec = int(header["attributes"]) & CODEC_MASK
    time = "LogAppendTime" if header["attributes"] & LOG_APPEND_TIME else "CreateTime"
    parts = [f"Codec {CODECS[codec] if codec < len(CODECS) else codec}", time]
    bits = (
        (TRANSACTIONAL, "transactional"),
        (CONTROL, "control"),
        (DELETE_HORIZON, "delete horizon set"),
    )
    return ", ".join([*parts, *(word for bit, word in bits if header["attributes"] & bit)]) + "."


def _first_time(header: np.void) -> str:
    time = units.moment(int(header["base_timestamp_ms"]))
    if header["attributes"] & DELETE_HORIZON:
        return (
            f"The delete horizon, {time} UTC: compaction keeps tombstones until then. Deltas count "
            "from it."
        )
    return f"First record: {time} UTC." if header["base_timestamp_ms"] != -1 else "−1: no time."


def _newest_time(header: np.void) -> str:
    if header["max_timestamp_ms"] == -1:
        return "−1: no time."
    return (
        f"Newest record: {units.moment(int(header['max_timestamp_ms']))} UTC. A time index entry "
        "stores it if it is a new maximum."
    )


def _last_offset(header: np.void) -> str:
    base, delta = int(header["base_offset"]), int(header["last_offset_delta"])
    sum_text = f"{units.group(base)} + {units.group(delta)} = {units.group(base + delta)}"
    return f"Last offset = {sum_text}. This is the key an index entry stores."


def _optional_note(field: str, absent_note: str, present_note: str):
    """A note for a field that is −1 where there is nothing."""
    return lambda header: absent_note if header[field] == -1 else present_note


def _group_field(field: str):
    return lambda row: units.group(int(row[field]))


FIELDS = {
    "base_offset": FieldDisplay(
        "baseOffset",
        OFFSET,
        _group_field("base_offset"),
        lambda header: (
            f"The first record of this batch is offset {units.group(int(header['base_offset']))}."
        ),
    ),
    "batch_length_bytes": FieldDisplay(
        "batchLength",
        SIZE,
        _group_field("batch_length_bytes"),
        lambda header: (
            f"{units.group(int(header['batch_length_bytes']))} bytes follow this field; with the "
            f"12 before, the batch takes {units.group(_length(header))} bytes."
        ),
    ),
    "leader_epoch": FieldDisplay(
        "partitionLeaderEpoch",
        PRODUCER,
        None,
        lambda _header: "Written by the leader; not covered by the CRC.",
    ),
    "magic": FieldDisplay(
        "magic",
        CHECK,
        None,
        lambda header: (
            (
                f"Record format {header['magic']}, since Kafka 0.11. The 17 bytes up to here are "
                "what one step of a scan reads."
            )
            if header["magic"] == MAGIC_2
            else f"No Kafka knows magic {header['magic']}; its reader takes it for 2."
        ),
    ),
    "crc": FieldDisplay(
        "crc",
        CHECK,
        lambda header: f"0x{int(header['crc']):08x}",
        lambda _header: "CRC-32C of everything from byte 21 to the end of the batch.",
    ),
    "attributes": FieldDisplay(
        "attributes", CHECK, lambda header: f"0x{int(header['attributes']) & 0xFFFF:04x}", _codec
    ),
    "last_offset_delta": FieldDisplay("lastOffsetDelta", OFFSET, None, _last_offset),
    "base_timestamp_ms": FieldDisplay("baseTimestamp", TIME, None, _first_time),
    "max_timestamp_ms": FieldDisplay("maxTimestamp", TIME, None, _newest_time),
    "producer_id": FieldDisplay(
        "producerId",
        PRODUCER,
        None,
        _optional_note("producer_id", "−1: no idempotent producer.", "For idempotence."),
    ),
    "producer_epoch": FieldDisplay(
        "producerEpoch",
        PRODUCER,
        None,
        _optional_note("producer_epoch", "−1: none.", "It rises with each new instance."),
    ),
    "base_sequence": FieldDisplay(
        "baseSequence",
        PRODUCER,
        None,
        _optional_note("base_sequence", "−1: none.", "Sequence number of the first record."),
    ),
    "record_count": FieldDisplay(
        "recordCount",
        SIZE,
        None,
        lambda header: (
            f"{units.group(int(header['record_count']))} record"
            f"{' follows' if header['record_count'] == 1 else 's follow'}."
        ),
    ),
}


# ---- magic 0 and 1


def _message(data: memoryview, position: int, size_bytes: int) -> list[Span]:
    """A message: header, key and value; the value of a wrapper is one compressed span."""
    layout = LEGACY_MAGIC_0 if data[MAGIC_AT] == 0 else LEGACY_HEADER
    result = spans.field_spans(layout, LEGACY_FIELDS, data, position)
    if (
        len(data) >= layout.itemsize
        and len(data)
        == size_bytes
        == int.from_bytes(data[8:LENGTH_END], "big", signed=True) + LENGTH_END
    ):
        crc = result[field_names(layout).index("crc")]
        verdict = (
            "It matches."
            if is_intact(data)
            else f"It does not match: the bytes give 0x{zlib.crc32(data[MAGIC_AT:]):08x}."
        )
        result[field_names(layout).index("crc")] = crc._replace(note=f"{crc.note} {verdict}")
    cursor, codec = (
        layout.itemsize,
        int(data[MAGIC_AT + 1]) & CODEC_MASK if len(data) >= layout.itemsize else 0,
    )
    for name in ("key", "value"):
        parts, cursor = _sized_spans(data, cursor, position, name, codec)
        result += parts
    if cursor < len(data):
        result.append(
            torn_span(
                position + cursor,
                position + len(data),
                "behind the value",
                "The message says that it ends before.",
            )
        )
    return result


def _sized_spans(
    data: memoryview, cursor: int, position: int, name: str, codec: int
) -> tuple[list[Span], int]:
    """The spans of a key or value behind its length, and where they end; nothing where the data
    ends before.
    """
    if cursor >= len(data):
        return [], cursor
    if cursor + INT.itemsize > len(data):
        return [
            torn_span(
                position + cursor,
                position + len(data),
                f"{name}Length",
                f"{len(data) - cursor} of 4 bytes are there.",
            )
        ], len(data)
    size, start = (
        int.from_bytes(data[cursor : cursor + INT.itemsize], "big", signed=True),
        cursor + INT.itemsize,
    )
    note = f"{units.group(size)} bytes of {name}." if size >= 0 else f"The {name} is null."
    result = [Span(position + cursor, position + start, f"{name}Length", str(size), SIZE, note)]
    end = min(start + max(size, 0), len(data))
    if end - start < size:
        if start < end:
            result.append(
                torn_span(
                    position + start,
                    position + end,
                    name,
                    f"{units.group(size)} bytes are said to follow.",
                )
            )
    elif size > 0 and codec and name == "value":
        result.append(
            _compressed_span("value, compressed", position + start, position + end, codec, -1)
        )
    elif size > 0:
        result.append(
            Span(position + start, position + end, name, spans.text(data[start:end]), PAYLOAD)
        )
    return result, end


def _inside_message(data: bytes | memoryview, limit_bytes: int) -> DecompressedRecords:
    """The messages of a wrapper, each with all its fields; CorruptBytes where it cannot be
    decompressed.
    """
    messages = legacy_messages.read(data, limit_bytes)
    if messages.fault and not len(messages.data):
        raise messages.fault
    body, result, cursor = memoryview(messages.data), [], 0
    while len(body) - cursor >= LENGTH_END:
        size_bytes = (
            int.from_bytes(body[cursor + LENGTH_END - 4 : cursor + LENGTH_END], "big", signed=True)
            + LENGTH_END
        )
        if size_bytes <= MAGIC_AT or cursor + size_bytes > len(body):
            break
        message = _message(body[cursor : cursor + size_bytes], cursor, size_bytes)
        result += [message[0]._replace(note=_real_offset(messages.rows, cursor)), *message[1:]]
        cursor += size_bytes
    if cursor < len(body):
        result.append(
            torn_span(
                cursor,
                len(body),
                "last message, cut",
                "An incomplete last message is dropped without a word.",
            )
        )
    return DecompressedRecords(bytes(messages.data), result)


def _real_offset(messages: np.ndarray, position: int) -> str:
    """What the offset of the message at a position inside a wrapper stands for, where Kafka reads
    that message.
    """
    offsets = messages["offset"][messages["position"] == position]
    if not len(offsets):
        return "Kafka does not get this far."
    return f"Offset {units.group(int(offsets[0]))}: the wrapper’s is that of its last message."


def _attributes(header: np.void) -> str:
    codec = int(header["attributes"]) & CODEC_MASK
    return (
        f"Codec {CODECS[codec] if codec < len(CODECS) else codec}"
        f"{', LogAppendTime' if header['attributes'] & LOG_APPEND_TIME else ''}."
    )


LEGACY_FIELDS = {
    "offset": FieldDisplay(
        "offset",
        OFFSET,
        _group_field("offset"),
        lambda header: (
            "Of the last message inside: this is a wrapper."
            if header["attributes"] & CODEC_MASK
            else "Of this one message."
        ),
    ),
    "message_size_bytes": FieldDisplay(
        "messageSize",
        SIZE,
        _group_field("message_size_bytes"),
        lambda header: f"{units.group(int(header['message_size_bytes']))} bytes follow this field.",
    ),
    "crc": FieldDisplay(
        "crc",
        CHECK,
        lambda header: f"0x{int(header['crc']):08x}",
        lambda _header: "CRC-32 of everything from byte 16 on.",
    ),
    "magic": FieldDisplay(
        "magic",
        CHECK,
        None,
        lambda header: (
            f"Message format {header['magic']}, {'until' if header['magic'] == 0 else 'since'} "
            "Kafka 0.10."
        ),
    ),
    "attributes": FieldDisplay(
        "attributes", CHECK, lambda header: f"0x{int(header['attributes']) & 0xFF:02x}", _attributes
    ),
    "timestamp_ms": FieldDisplay(
        "timestamp",
        TIME,
        None,
        lambda header: (
            f"{units.moment(int(header['timestamp_ms']))} UTC."
            if header["timestamp_ms"] != -1
            else "−1: no time."
        ),
    ),
}
