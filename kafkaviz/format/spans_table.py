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
    Field,
    Span,
    torn,
)
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index


@dataclass(frozen=True)
class Table:
    """A kind of file: the layout of a row, how its fields are shown, and what a row is called."""

    layout: np.dtype
    fields: Mapping[str, Field]
    row: str


def offset_entries(base_offset: int) -> Table:
    """The .index of the segment with this base offset."""
    return Table(
        offset_index.ENTRY,
        {
            "relative_offset": Field(
                "relativeOffset", OFFSET, _grouped("relative_offset"), _absolute(base_offset)
            ),
            "position": Field(
                "position",
                POSITION,
                _grouped("position"),
                lambda _: "The byte of the .log where its batch starts.",
            ),
        },
        "slot",
    )


def time_entries(base_offset: int) -> Table:
    """The .timeindex of the segment with this base offset."""
    return Table(
        time_index.ENTRY,
        {
            "timestamp_ms": Field(
                "timestamp",
                TIME,
                None,
                lambda e: (
                    f"{units.moment(int(e['timestamp_ms']))} UTC: no record up to the offset "
                    "beside it is newer."
                ),
            ),
            "relative_offset": Field(
                "relativeOffset", OFFSET, _grouped("relative_offset"), _absolute(base_offset)
            ),
        },
        "slot",
    )


def txn_entries() -> Table:
    """Any .txnindex: its offsets are absolute."""
    return Table(
        txn_index.ENTRY,
        {
            "version": Field(
                "version", CHECK, None, lambda e: "Kafka looks at its first byte alone."
            ),
            "producer_id": Field(
                "producerId", PRODUCER, None, lambda e: "Whose transaction was aborted."
            ),
            "first_offset": Field(
                "firstOffset",
                OFFSET,
                _grouped("first_offset"),
                lambda e: "Where the transaction began.",
            ),
            "last_offset": Field(
                "lastOffset",
                OFFSET,
                _grouped("last_offset"),
                lambda e: "Of the marker that aborted it.",
            ),
            "last_stable_offset": Field(
                "lastStableOffset",
                OFFSET,
                _grouped("last_stable_offset"),
                lambda e: (
                    f"Below {units.group(int(e['last_stable_offset']))} everything was decided "
                    "when this was written."
                ),
            ),
        },
        "entry",
    )


def rows(
    table: Table,
    data: bytes | memoryview,
    position: int,
    stop: int,
    written_bytes: int,
    size_bytes: int,
) -> list[Span]:
    """The spans of the rows from a position up to stop, of a file of size_bytes whose last written
    row ends at written_bytes.

    data: the written ones of these rows. Slots behind written_bytes are one span up to the end of
    the last whole slot, and what is left of a cut one another, however little of them lies before
    stop.
    """
    row_bytes, made, data = table.layout.itemsize, [], memoryview(data)
    whole_bytes = size_bytes - size_bytes % row_bytes
    written_bytes = min(written_bytes, whole_bytes)
    for at in range(position, min(stop, written_bytes), row_bytes):
        part = data[at - position : at - position + row_bytes]
        made += spans.fields(table.layout, table.fields, part, at, f"{table.row} {at // row_bytes}")
    if position < whole_bytes > written_bytes and stop > written_bytes:
        made.append(_unwritten(table, written_bytes, whole_bytes))
    if stop > whole_bytes < size_bytes:
        note = f"{size_bytes - whole_bytes} of {row_bytes} bytes: a reader leaves it out."
        made.append(torn(whole_bytes, size_bytes, f"torn {table.row}", note))
    return made


def _unwritten(table: Table, start: int, end: int) -> Span:
    count = (end - start) // table.layout.itemsize
    words = f"{units.group(count)} {table.row}{'' if count == 1 else 's'}"
    return Span(
        start,
        end,
        f"unwritten {table.row}s",
        words,
        UNWRITTEN,
        "Zeros: the file was made at its full size.",
    )


def snapshot(data: bytes | memoryview) -> list[Span]:
    """The spans of a whole producer snapshot: header, producers, and what does not belong."""
    head = producer_snapshot.HEADER
    made = spans.fields(head, SNAPSHOT_FIELDS, data, 0)
    if len(data) < head.itemsize:
        return made
    made[1] = made[1]._replace(note=f"{made[1].note} {_verdict(data, made[1].value)}")
    count, row_bytes = (
        int(np.frombuffer(data, head, 1)["producer_count"][0]),
        producer_snapshot.PRODUCER.itemsize,
    )
    end = min(len(data), head.itemsize + max(count, 0) * row_bytes)
    for number, at in enumerate(range(head.itemsize, end, row_bytes)):
        part = memoryview(data)[at : min(at + row_bytes, end)]
        made += spans.fields(
            producer_snapshot.PRODUCER, PRODUCER_FIELDS, part, at, f"producer {number}"
        )
    if end < len(data):
        made.append(
            torn(
                end,
                len(data),
                "behind the last producer",
                "Kafka reads past it where the checksum covers it.",
            )
        )
    return made


def _verdict(data: bytes | memoryview, stored: str) -> str:
    computed = f"0x{crc32c(data[producer_snapshot.CRC_START :]):08x}"
    return (
        "It matches."
        if stored == computed
        else f"It does not match: the bytes give {computed}. Kafka deletes such a file."
    )


def _grouped(field: str) -> Callable[[np.void], str]:
    return lambda row: units.group(int(row[field]))


def _absolute(base_offset: int) -> Callable[[np.void], str]:
    return lambda entry: (
        f"Offset {units.group(base_offset + int(entry['relative_offset']))}, counted from the "
        "segment’s base offset."
    )


SNAPSHOT_FIELDS = {
    "version": Field("version", CHECK, None, lambda h: "1 is the only one there is."),
    "crc": Field(
        "crc",
        CHECK,
        lambda h: f"0x{int(h['crc']):08x}",
        lambda h: "CRC-32C of everything behind it.",
    ),
    "producer_count": Field(
        "producerCount", SIZE, None, lambda h: "Producers, in the order of a hash map."
    ),
}
PRODUCER_FIELDS = {
    "producer_id": Field("producerId", PRODUCER, None, lambda p: "Whose state this is."),
    "producer_epoch": Field(
        "producerEpoch", PRODUCER, None, lambda p: "An older one of the same id is fenced off."
    ),
    "last_sequence": Field(
        "lastSequence", PRODUCER, None, lambda p: "The next batch must go on from it."
    ),
    "last_offset": Field(
        "lastOffset",
        OFFSET,
        _grouped("last_offset"),
        lambda p: "Of its last batch." if p["last_offset"] >= 0 else "No batch of it is known.",
    ),
    "offset_delta": Field(
        "offsetDelta",
        OFFSET,
        None,
        lambda p: "How far the last batch’s first offset lies before its last.",
    ),
    "timestamp_ms": Field(
        "timestamp",
        TIME,
        None,
        lambda p: f"{units.moment(int(p['timestamp_ms']))} UTC, of its last batch.",
    ),
    "coordinator_epoch": Field(
        "coordinatorEpoch",
        PRODUCER,
        None,
        lambda p: "Of the last transaction marker; −1: none was seen.",
    ),
    "current_txn_first_offset": Field(
        "currentTxnFirstOffset",
        OFFSET,
        _grouped("current_txn_first_offset"),
        lambda p: (
            "Where its open transaction began."
            if p["current_txn_first_offset"] >= 0
            else "−1: no transaction is open."
        ),
    ),
}
