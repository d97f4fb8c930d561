"""The spans of files that are rows of one size: .index, .timeindex, .txnindex, .snapshot.

A stretch of an index is taken apart by itself: a slot's place follows from its number. Slots that
were never written are one span, a last slot that is cut another.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kafkaviz import units
from kafkaviz.binary import spans
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.spans import (
    CHECK,
    OFFSET,
    POSITION,
    PRODUCER,
    SIZE,
    TIME,
    UNWRITTEN,
    FieldDisplay,
    Span,
    torn_span,
)
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index


@dataclass(frozen=True)
class RowFormat:
    """A kind of file: the layout of a row, how its fields are shown, and what a row is called."""

    layout: np.dtype
    fields: Mapping[str, FieldDisplay]
    row: str


def offset_entries(base_offset: int) -> RowFormat:
    """The .index of the segment with this base offset."""
    return RowFormat(
        offset_index.ENTRY,
        {
            "relative_offset": FieldDisplay(
                "relativeOffset", OFFSET, _group_field("relative_offset"), _offset_note(base_offset)
            ),
            "position": FieldDisplay(
                "position",
                POSITION,
                _group_field("position"),
                lambda _: "The byte of the .log where its batch starts.",
            ),
        },
        "slot",
    )


def time_entries(base_offset: int) -> RowFormat:
    """The .timeindex of the segment with this base offset."""
    return RowFormat(
        time_index.ENTRY,
        {
            "timestamp_ms": FieldDisplay(
                "timestamp",
                TIME,
                None,
                lambda entry: (
                    f"{units.moment(int(entry['timestamp_ms']))} UTC: no record up to the offset "
                    "beside it is newer."
                ),
            ),
            "relative_offset": FieldDisplay(
                "relativeOffset", OFFSET, _group_field("relative_offset"), _offset_note(base_offset)
            ),
        },
        "slot",
    )


def txn_entries() -> RowFormat:
    """Any .txnindex: its offsets are absolute."""
    return RowFormat(
        txn_index.ENTRY,
        {
            "version": FieldDisplay(
                "version", CHECK, None, lambda _entry: "Kafka looks at its first byte alone."
            ),
            "producer_id": FieldDisplay(
                "producerId", PRODUCER, None, lambda _entry: "Whose transaction was aborted."
            ),
            "first_offset": FieldDisplay(
                "firstOffset",
                OFFSET,
                _group_field("first_offset"),
                lambda _entry: "Where the transaction began.",
            ),
            "last_offset": FieldDisplay(
                "lastOffset",
                OFFSET,
                _group_field("last_offset"),
                lambda _entry: "Of the marker that aborted it.",
            ),
            "last_stable_offset": FieldDisplay(
                "lastStableOffset",
                OFFSET,
                _group_field("last_stable_offset"),
                lambda entry: (
                    f"Below {units.group(int(entry['last_stable_offset']))} everything was decided "
                    "when this was written."
                ),
            ),
        },
        "entry",
    )


def rows(
    row_format: RowFormat,
    data: bytes | memoryview,
    position: int,
    stop: int,
    *,
    written_bytes: int,
    size_bytes: int,
) -> list[Span]:
    """The spans of the rows from a position up to stop, of a file of size_bytes whose last written
    row ends at written_bytes.

    data: the written ones of these rows. Slots behind written_bytes are one span up to the end of
    the last whole slot, and what is left of a cut one another, however little of them lies before
    stop.
    """
    row_bytes, result, data = row_format.layout.itemsize, [], memoryview(data)
    complete_bytes = size_bytes - size_bytes % row_bytes
    written_bytes = min(written_bytes, complete_bytes)
    for start in range(position, min(stop, written_bytes), row_bytes):
        part = data[start - position : start - position + row_bytes]
        result += spans.field_spans(
            row_format.layout,
            row_format.fields,
            part,
            start,
            f"{row_format.row} {start // row_bytes}",
        )
    if position < complete_bytes > written_bytes and stop > written_bytes:
        result.append(_unwritten_span(row_format, written_bytes, complete_bytes))
    if stop > complete_bytes < size_bytes:
        note = f"{size_bytes - complete_bytes} of {row_bytes} bytes: a reader leaves it out."
        result.append(torn_span(complete_bytes, size_bytes, f"torn {row_format.row}", note))
    return result


def _unwritten_span(row_format: RowFormat, start: int, end: int) -> Span:
    count = (end - start) // row_format.layout.itemsize
    text = f"{units.group(count)} {row_format.row}{'' if count == 1 else 's'}"
    return Span(
        start,
        end,
        f"unwritten {row_format.row}s",
        text,
        UNWRITTEN,
        "Zeros: the file was made at its full size.",
    )


def snapshot(data: bytes | memoryview) -> list[Span]:
    """The spans of a whole producer snapshot: header, producers, and what does not belong."""
    head = producer_snapshot.HEADER
    result = spans.field_spans(head, SNAPSHOT_FIELDS, data, 0)
    if len(data) < head.itemsize:
        return result
    result[1] = result[1]._replace(note=f"{result[1].note} {_crc_verdict(data, result[1].value)}")
    count, row_bytes = (
        int(np.frombuffer(data, head, 1)["producer_count"][0]),
        producer_snapshot.PRODUCER.itemsize,
    )
    end = min(len(data), head.itemsize + max(count, 0) * row_bytes)
    for number, start in enumerate(range(head.itemsize, end, row_bytes)):
        part = memoryview(data)[start : min(start + row_bytes, end)]
        result += spans.field_spans(
            producer_snapshot.PRODUCER, PRODUCER_FIELDS, part, start, f"producer {number}"
        )
    if end < len(data):
        result.append(
            torn_span(
                end,
                len(data),
                "behind the last producer",
                "Kafka reads past it where the checksum covers it.",
            )
        )
    return result


def _crc_verdict(data: bytes | memoryview, stored_crc: str) -> str:
    computed_crc = f"0x{crc32c(data[producer_snapshot.CRC_START :]):08x}"
    return (
        "It matches."
        if stored_crc == computed_crc
        else f"It does not match: the bytes give {computed_crc}. Kafka deletes such a file."
    )


def _group_field(field: str) -> Callable[[np.void], str]:
    return lambda row: units.group(int(row[field]))


def _offset_note(base_offset: int) -> Callable[[np.void], str]:
    return lambda entry: (
        f"Offset {units.group(base_offset + int(entry['relative_offset']))}, counted from the "
        "segment’s base offset."
    )


SNAPSHOT_FIELDS = {
    "version": FieldDisplay("version", CHECK, None, lambda _header: "1 is the only one there is."),
    "crc": FieldDisplay(
        "crc",
        CHECK,
        lambda header: f"0x{int(header['crc']):08x}",
        lambda _header: "CRC-32C of everything behind it.",
    ),
    "producer_count": FieldDisplay(
        "producerCount", SIZE, None, lambda _header: "Producers, in the order of a hash map."
    ),
}
PRODUCER_FIELDS = {
    "producer_id": FieldDisplay(
        "producerId", PRODUCER, None, lambda _producer: "Whose state this is."
    ),
    "producer_epoch": FieldDisplay(
        "producerEpoch",
        PRODUCER,
        None,
        lambda _producer: "An older one of the same id is fenced off.",
    ),
    "last_sequence": FieldDisplay(
        "lastSequence", PRODUCER, None, lambda _producer: "The next batch must go on from it."
    ),
    "last_offset": FieldDisplay(
        "lastOffset",
        OFFSET,
        _group_field("last_offset"),
        lambda producer: (
            "Of its last batch." if producer["last_offset"] >= 0 else "No batch of it is known."
        ),
    ),
    "offset_delta": FieldDisplay(
        "offsetDelta",
        OFFSET,
        None,
        lambda _producer: "How far the last batch’s first offset lies before its last.",
    ),
    "timestamp_ms": FieldDisplay(
        "timestamp",
        TIME,
        None,
        lambda producer: f"{units.moment(int(producer['timestamp_ms']))} UTC, of its last batch.",
    ),
    "coordinator_epoch": FieldDisplay(
        "coordinatorEpoch",
        PRODUCER,
        None,
        lambda _producer: "Of the last transaction marker; −1: none was seen.",
    ),
    "current_txn_first_offset": FieldDisplay(
        "currentTxnFirstOffset",
        OFFSET,
        _group_field("current_txn_first_offset"),
        lambda producer: (
            "Where its open transaction began."
            if producer["current_txn_first_offset"] >= 0
            else "−1: no transaction is open."
        ),
    ),
}
