"""Splits text files and files with rows into spans: named ranges of bytes.

The files with rows are .index, .timeindex, .txnindex and .snapshot. All unused slots of an index
are one span. A torn last slot is one more span.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import layouts
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import (
    CHECK,
    OFFSET,
    PAYLOAD,
    POSITION,
    PRODUCER,
    SIZE,
    TIME,
    UNWRITTEN,
    FieldDisplay,
    Span,
    row_note,
    torn_span,
)
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index
from kafkaviz.messages import Message, Text, message


@dataclass(frozen=True)
class RowFormat:
    """The layout and display of a file with rows."""

    layout: np.dtype
    fields: Mapping[str, FieldDisplay]
    row_key: str  # message key of a row's name, such as "span.slot"
    torn_name: Message


def offset_entries(base_offset: int) -> RowFormat:
    position = FieldDisplay("position", POSITION, is_grouped=True, note="span.index_position")
    fields = {"relative_offset": _offset_field(base_offset), "position": position}
    return RowFormat(offset_index.ENTRY, fields, "span.slot", message("span.torn_slot"))


def time_entries(base_offset: int) -> RowFormat:
    note = row_note("span.time_entry", time="timestamp_ms")
    time = FieldDisplay("timestamp", TIME, note=note)
    fields = {"timestamp_ms": time, "relative_offset": _offset_field(base_offset)}
    return RowFormat(time_index.ENTRY, fields, "span.slot", message("span.torn_slot"))


def txn_entries() -> RowFormat:
    """Returns the row format of a .txnindex."""
    fields = {
        "version": FieldDisplay("version", CHECK, note="span.txn_version"),
        "producer_id": FieldDisplay("producerId", PRODUCER, note="span.aborted_producer"),
        "first_offset": FieldDisplay(
            "firstOffset", OFFSET, is_grouped=True, note="span.transaction_start"
        ),
        "last_offset": FieldDisplay(
            "lastOffset", OFFSET, is_grouped=True, note="span.abort_marker_offset"
        ),
        "last_stable_offset": FieldDisplay(
            "lastStableOffset",
            OFFSET,
            is_grouped=True,
            note=row_note("span.last_stable_offset", offset="last_stable_offset"),
        ),
    }
    return RowFormat(txn_index.ENTRY, fields, "span.entry", message("span.torn_entry"))


def rows(
    row_format: RowFormat,
    data: bytes | memoryview,
    position: int,
    stop: int,
    *,
    written_bytes: int,
    size_bytes: int,
) -> list[Span]:
    """Returns the spans of the rows in [position, stop).

    Up to two more spans follow: all unwritten slots, and a torn last slot. These two may end after
    `stop`. `data` has the written rows, from `position` on. `written_bytes` is the position after
    the last written row of the file.
    """
    row_bytes = row_format.layout.itemsize
    result = []
    data = memoryview(data)
    complete_bytes = size_bytes - size_bytes % row_bytes
    written_bytes = min(written_bytes, complete_bytes)
    for start in range(position, min(stop, written_bytes), row_bytes):
        part = data[start - position : start - position + row_bytes]
        row_name = message(row_format.row_key, n=start // row_bytes)
        result += layouts.field_spans(row_format.layout, row_format.fields, part, start, row_name)
    if position < complete_bytes > written_bytes and stop > written_bytes:
        name = message("span.unwritten_slots")
        value = message("span.slots", n=(complete_bytes - written_bytes) // row_bytes)
        note = message("span.unwritten_slots_note")
        result.append(Span(written_bytes, complete_bytes, name, value, UNWRITTEN, note))
    if stop > complete_bytes < size_bytes:
        note = message("span.torn_row", n=size_bytes - complete_bytes, size=row_bytes)
        result.append(torn_span(complete_bytes, size_bytes, row_format.torn_name, note))
    return result


def snapshot(data: bytes | memoryview, start: int = 0, stop: int | None = None) -> list[Span]:
    """Returns the spans of a producer snapshot: header, producers, and further bytes.

    Leaves out the producers without a byte in [start, stop). By default, returns all producers.
    """
    head = producer_snapshot.HEADER
    result = layouts.field_spans(head, SNAPSHOT_FIELDS, data, 0)
    if len(data) < head.itemsize:
        return result
    result[1] = result[1]._replace(note=_crc_note(data, result[1]))
    count = int(np.frombuffer(data, head, 1)["producer_count"][0])
    row_bytes = producer_snapshot.PRODUCER.itemsize
    end = min(len(data), head.itemsize + max(count, 0) * row_bytes)
    first = max(0, (start - head.itemsize) // row_bytes)
    last_byte = end if stop is None else min(end, stop)
    row_starts = range(head.itemsize + first * row_bytes, last_byte, row_bytes)
    for number, row_start in enumerate(row_starts, first):
        part = memoryview(data)[row_start : min(row_start + row_bytes, end)]
        name = message("span.producer", n=number)
        result += layouts.field_spans(
            producer_snapshot.PRODUCER, PRODUCER_FIELDS, part, row_start, name
        )
    if end < len(data):
        note = message("span.behind_last_producer_note")
        result.append(torn_span(end, len(data), message("span.behind_last_producer"), note))
    return result


def _crc_note(data: bytes | memoryview, crc: Span) -> Message:
    computed_crc = crc32c(data[producer_snapshot.CRC_START :])
    if crc.value == f"0x{computed_crc:08x}":
        return message("span.checksum_matches", covers=crc.note)
    return message("span.snapshot_checksum_differs", covers=crc.note, crc=computed_crc)


def _offset_field(base_offset: int) -> FieldDisplay:
    def note(entry: np.void) -> Message:
        return message("span.index_offset", offset=base_offset + int(entry["relative_offset"]))

    return FieldDisplay("relativeOffset", OFFSET, is_grouped=True, note=note)


SNAPSHOT_FIELDS = {
    "version": FieldDisplay("version", CHECK, note="span.snapshot_version"),
    "crc": FieldDisplay(
        "crc",
        CHECK,
        value=lambda header: f"0x{int(header['crc']):08x}",
        note="span.covered_by_snapshot_crc",
    ),
    "producer_count": FieldDisplay("producerCount", SIZE, note="span.producer_count"),
}
PRODUCER_FIELDS = {
    "producer_id": FieldDisplay("producerId", PRODUCER, note="span.snapshot_producer"),
    "producer_epoch": FieldDisplay("producerEpoch", PRODUCER, note="span.snapshot_epoch"),
    "last_sequence": FieldDisplay("lastSequence", PRODUCER, note="span.last_sequence"),
    "last_offset": FieldDisplay(
        "lastOffset",
        OFFSET,
        is_grouped=True,
        note=lambda producer: message(
            "span.last_batch_offset" if producer["last_offset"] >= 0 else "span.no_batch_known"
        ),
    ),
    "offset_delta": FieldDisplay("offsetDelta", OFFSET, note="span.offset_delta"),
    "timestamp_ms": FieldDisplay(
        "timestamp", TIME, note=row_note("span.last_batch_time", time="timestamp_ms")
    ),
    "coordinator_epoch": FieldDisplay("coordinatorEpoch", PRODUCER, note="span.coordinator_epoch"),
    "current_txn_first_offset": FieldDisplay(
        "currentTxnFirstOffset",
        OFFSET,
        is_grouped=True,
        note=lambda producer: message(
            "span.open_transaction_start"
            if producer["current_txn_first_offset"] >= 0
            else "span.no_open_transaction"
        ),
    ),
}
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_NAME = re.compile(rb"\s*([A-Za-z_.]+)\s*[:=]")


def lines(data: bytes, name: str, start: int = 0, stop: int | None = None) -> list[Span]:
    """Returns the spans of a text file's lines; in a checkpoint: version, count and entries.

    Leaves out the lines without a byte in [start, stop). By default, returns all lines.
    """
    is_checkpoint = name.endswith("-checkpoint")
    stop = len(data) if stop is None else stop
    result = []
    for number, match in enumerate(_LINE.finditer(data)):
        line_start, line_end = match.span()
        if line_start >= stop or line_start == line_end:
            break
        if line_end > start:
            result.append(_line(data, line_start, line_end, number, is_checkpoint=is_checkpoint))
    return result


def _line(data: bytes, start: int, end: int, number: int, *, is_checkpoint: bool) -> Span:
    title: Text
    value = layouts.text(data[start:end].rstrip(b"\r\n"))
    if is_checkpoint and number < 2:
        title, kind = (("version", CHECK), (message("span.entry_count"), SIZE))[number]
    elif is_checkpoint:
        title = message("span.entry", n=number - 2)
        kind = OFFSET
    else:
        match = _NAME.match(data, start, end)
        title = match[1].decode() if match else message("span.line", n=number + 1)
        kind = PAYLOAD
    return Span(start, end, title, value, kind)
