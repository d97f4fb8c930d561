"""The data of the bytes view: bytes of a file, and spans that name them.

The view of a .log shows the batch that the reader has chosen ("pinned"). Any other file is shown
whole. An index is scrolled to the chosen slot. A compressed batch has a second pane with its
decompressed records. Only 4 KiB are sent, and the browser asks for more as it scrolls.
"""

import json
import re
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.binary.layouts import (
    CHECK,
    OFFSET,
    PAYLOAD,
    POSITION,
    PRODUCER,
    SIZE,
    TIME,
    TORN,
    UNWRITTEN,
    Span,
    field_start,
)
from kafkaviz.errors import CorruptFile
from kafkaviz.format import names, offset_index, spans_batch, time_index, txn_index
from kafkaviz.format.batch import HEADER, MAGIC_2
from kafkaviz.log import byte_ranges
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Segment
from kafkaviz.messages import language, render, say, say_count, table
from kafkaviz.render.sentences import sentence_gap

ROW_BYTES = 16
SENT_BYTES = 4096
BEFORE_BYTES = 1024  # bytes that are sent before the wanted byte
PANE_BYTES = 16 << 20  # the browser cannot scroll through a larger range
FILES = {".log": "log", ".index": "index", ".timeindex": "timeindex", ".txnindex": "txnindex"}
ENTRY_BYTES = {
    ".index": offset_index.ENTRY.itemsize,
    ".timeindex": time_index.ENTRY.itemsize,
    ".txnindex": txn_index.ENTRY.itemsize,
}
# kinds of spans that a batch can have, in the order of the legend
BATCH_KINDS = (OFFSET, SIZE, CHECK, TIME, PRODUCER, PAYLOAD)
PLAIN_NAME = re.compile(r"(?!.*__)[A-Za-z0-9_.\-]+")  # file names that a link can name


class Pane(NamedTuple):
    """A pane that shows bytes `start` to `end` of a file or of decompressed records.

    The browser gets only `data`, which begins at byte `first`, and the spans of these bytes.
    """

    of: str  # what positions are counted in: "batch", "file" or "records"
    start: int
    end: int
    first: int
    data: bytes
    spans: list[Span]
    chosen: int  # the byte to look at first
    links: dict[int, int]  # by the start of a span: the offset that a click on the span leads to
    opens: int | None = None  # start of the span whose content the inner pane shows decompressed


class BytesView(NamedTuple):
    file: str
    outer: Pane
    inner: Pane | None = None
    title: str = ""  # title of the inner pane
    fault: str = ""  # why a compressed batch has no inner pane, or ""
    previous_offset: int | None = None  # an offset in the batch before
    next_offset: int | None = None  # an offset in the batch after


class ByteWindow(NamedTuple):
    """The byte to which the reader has scrolled in each pane. None: not scrolled."""

    outer: int | None = None
    inner: int | None = None


DEFAULT_WINDOW = ByteWindow()


class InitialByte(NamedTuple):
    """The byte to show first. `byte` is from the URL.

    If `byte` is None, an index shows the chosen slot first. A .log shows a header field of the
    chosen batch first: last_offset_delta, or max_timestamp_ms if `is_by_time`.
    """

    byte: int | None = None
    is_by_time: bool = False  # whether the reader pinned the batch through its time entry


DEFAULT_BYTE = InitialByte()


def find_files(segment: Segment) -> dict[str, FileInfo]:
    return {
        suffix: file for suffix, attribute in FILES.items() if (file := getattr(segment, attribute))
    }


def byte_address(partition: str | None, file: str, byte: int | None = None) -> dict[str, str]:
    """Returns the URL parameters of a byte on the Segment page. {}: the file cannot be in a URL."""
    name = file.rpartition("/")[2]
    if not PLAIN_NAME.fullmatch(name):
        return {}
    parsed = names.parse_file(name)
    is_of_segment = parsed is not None and f".{parsed.kind}" in FILES
    parts = {
        "tp": partition,
        "segment": str(parsed.base_offset) if is_of_segment else None,
        "tab": "Bytes",
        "file": f".{parsed.kind}" if is_of_segment and not parsed.suffix else name,
        "byte": None if byte is None else str(byte),
    }
    return {key: value for key, value in parts.items() if value is not None}


def file_view(
    file_info: FileInfo, file: str, window: ByteWindow = DEFAULT_WINDOW, byte: int | None = None
) -> BytesView:
    """Returns the view of a whole file. Raises CannotOpen if the file cannot be read."""
    size_bytes = file_info.size_bytes
    first_look = max(0, min(byte or 0, size_bytes - 1))
    return BytesView(file, _read_pane(file_info, "file", (0, size_bytes), first_look, window.outer))


def view(
    anatomy: Anatomy,
    file: str,
    row: int,
    slot: int,
    time: int,
    *,
    window: ByteWindow = DEFAULT_WINDOW,
    initial: InitialByte = DEFAULT_BYTE,
) -> BytesView:
    """Returns the bytes of one batch if `file` is ".log", else of a whole index.

    Args:
        row: the row of the batch in `anatomy.batches`.
        slot, time: the slots to scroll to, in the .index and in the .timeindex.

    Raises:
        CannotOpen: the file cannot be read.
    """
    if file != ".log":
        chosen_slot = max({".index": slot, ".timeindex": time}.get(file, NONE), 0)
        return BytesView(file, _index_pane(anatomy, file, chosen_slot, window.outer, initial.byte))
    batches = anatomy.batches
    log = anatomy.segment.log
    outer = _batch_pane(anatomy, row, window.outer, initial)
    inner, title, fault = _inner_pane(log, batches.row(row), window.inner)
    previous_offset, next_offset = (
        _batch_offset(batches.row(neighbour)) if 0 <= neighbour < len(batches) else None
        for neighbour in (row - 1, row + 1)
    )
    return BytesView(file, outer, inner, title, fault, previous_offset, next_offset)


def unnamed_view(bytes_view: BytesView, byte: int | None = None) -> BytesView:
    """Returns a copy of the view without the names of the fields from `byte` on.

    In a .log, the fields that end before `byte` keep their names. In an index, only the entry that
    holds `byte` is shown, without names.
    """
    pane = bytes_view.outer
    entry_bytes = ENTRY_BYTES.get(bytes_view.file)
    if entry_bytes is None:
        first = pane.start if byte is None else max(pane.start, byte)
        header_spans = [span for span in pane.spans if span.end <= first]
        end = pane.first + len(pane.data)
    else:
        first = (byte or 0) // entry_bytes * entry_bytes
        header_spans = []
        end = min(first + entry_bytes, pane.end)
        pane = pane._replace(start=first, end=end)
    data = pane.data[max(0, pane.start - pane.first) : end - pane.first]
    unnamed_span = Span(first, end, say("bytes.unnamed"), "", PAYLOAD)
    outer = pane._replace(
        first=max(pane.first, pane.start),
        data=data,
        spans=[*header_spans, unnamed_span],
        chosen=first,
        links={},
        opens=None,
    )
    return BytesView(bytes_view.file, outer)


def legend(bytes_view: BytesView) -> list[tuple[str, str]]:
    """Returns (kind, name) of each kind of span that occurs; a .log always has `BATCH_KINDS`."""
    kinds_present = {
        span.kind for pane in (bytes_view.outer, bytes_view.inner) if pane for span in pane.spans
    }
    kinds_present |= {SIZE} if POSITION in kinds_present else set()
    kinds = [
        kind
        for kind in (*BATCH_KINDS, UNWRITTEN, TORN)
        if kind in kinds_present or (bytes_view.file == ".log" and kind in BATCH_KINDS)
    ]
    return [(kind, say(f"bytes.kind_{kind}")) for kind in kinds]


def translate_span(span: Span) -> Span:
    return span._replace(name=render(span.name), value=render(span.value), note=render(span.note))


def _batch_offset(batch: np.void) -> int:
    """Returns the base offset of a batch, or the last offset of a compressed legacy wrapper."""
    base_offset = int(batch["base_offset"])
    return base_offset if base_offset >= 0 else int(batch["last_offset"])


def _batch_pane(anatomy: Anatomy, row: int, wanted_byte: int | None, initial: InitialByte) -> Pane:
    """Returns the pane of a batch. The pane of the last batch extends to the end of the .log."""
    batch = anatomy.batches.row(row)
    start = int(batch["position"])
    size_bytes = int(batch["size_bytes"])
    end = anatomy.segment.log.size_bytes if row == len(anatomy.batches) - 1 else start + size_bytes
    field = "max_timestamp_ms" if initial.is_by_time else "last_offset_delta"
    key = start + (field_start(HEADER, field) if batch["magic"] >= MAGIC_2 else 0)
    first_look = _initial_byte(initial.byte, start, end, key)
    return _read_pane(anatomy.segment.log, "batch", (start, end), first_look, wanted_byte)


def _index_pane(
    anatomy: Anatomy, file: str, slot: int, wanted_byte: int | None, byte: int | None
) -> Pane:
    index_file = getattr(anatomy.segment, FILES[file])
    file_bytes = index_file.size_bytes
    entry_bytes = ENTRY_BYTES[file]
    key = min(slot * entry_bytes, max(file_bytes - 1, 0))
    first_look = _initial_byte(byte, 0, file_bytes, key)
    pane = _read_pane(index_file, "file", (0, file_bytes), first_look, wanted_byte)
    entries = {".index": anatomy.index.entries, ".timeindex": anatomy.times.entries}.get(file)
    if entries is None:
        return pane
    starts = [span.start for span in pane.spans if span.kind not in (TORN, UNWRITTEN)]
    offsets = entries["offset"]
    links = {
        start: int(offsets[start // entry_bytes])
        for start in starts
        if start // entry_bytes < len(offsets)
    }
    return pane._replace(links=links)


def _initial_byte(byte: int | None, start: int, end: int, key: int) -> int:
    return byte if byte is not None and start <= byte < end else key


def _read_pane(
    file: FileInfo, kind: str, extent: tuple[int, int], first_look: int, wanted_byte: int | None
) -> Pane:
    """Returns a pane around byte `first_look`, with `SENT_BYTES` of data around `wanted_byte`.

    `extent`: (start, end) of the bytes of the file that the pane may show.
    """
    start, end = extent
    if end - start > PANE_BYTES:
        before_bytes = max(0, min(first_look - PANE_BYTES // 2, end - PANE_BYTES) - start)
        start += before_bytes // ROW_BYTES * ROW_BYTES
        end = min(end, start + PANE_BYTES)
    window_start = _window_start(start, end, first_look if wanted_byte is None else wanted_byte)
    byte_range = byte_ranges.read(file, window_start, min(end, window_start + SENT_BYTES))
    opens = next(
        (span.start for span in byte_range.spans if span.name in spans_batch.COMPRESSED_NAMES), None
    )
    spans = [*map(translate_span, byte_range.spans)]
    return Pane(kind, start, end, window_start, byte_range.data, spans, first_look, {}, opens)


def _window_start(start: int, end: int, wanted_byte: int) -> int:
    """Returns the first byte to send: the start of a row, shortly before `wanted_byte`."""
    wanted_byte = max(start, min(wanted_byte, end - 1))
    return start + max(0, wanted_byte - start - BEFORE_BYTES) // ROW_BYTES * ROW_BYTES


def _inner_pane(
    log: FileInfo, batch: np.void, wanted_byte: int | None
) -> tuple[Pane | None, str, str]:
    """Returns (pane of decompressed records or None, title, error text)."""
    window_start = max(0, (wanted_byte or 0) - BEFORE_BYTES) // ROW_BYTES * ROW_BYTES
    try:
        records_bytes = byte_ranges.read_decompressed(
            log, int(batch["position"]), window_start, window_start + SENT_BYTES
        )
    except CorruptFile as fault:
        return None, "", say("bytes.cannot_decompress", problem=render(fault.what))
    if records_bytes is None or not records_bytes.size_bytes:
        return None, "", ""
    count = int(batch["record_count"])
    size = units.format_count(records_bytes.size_bytes)
    title = say_count("bytes.inside", count, size=size)
    if count < 0:
        title = say("bytes.inside_messages", size=size)
    spans = [*map(translate_span, records_bytes.spans)]
    end = min(records_bytes.size_bytes, PANE_BYTES)
    pane = Pane("records", 0, end, records_bytes.start, records_bytes.data, spans, 0, {})
    return pane, title, ""


def browser_payload(bytes_view: BytesView, key: str) -> bytes:
    """Returns the view as bytes: length of the JSON, JSON, bytes of the panes.

    The length takes eight bytes (little-endian). The browser keeps its scroll position while `key`
    is the same.
    """
    panes = [pane for pane in (bytes_view.outer, bytes_view.inner) if pane]
    payload = {
        "key": key,
        "file": bytes_view.file,
        "title": bytes_view.title,
        "fault": bytes_view.fault,
        "panes": [_pane_object(pane) for pane in panes],
        "before": _offset_text(bytes_view.previous_offset),
        "after": _offset_text(bytes_view.next_offset),
        "language": language(),
        "words": table("bytes") | {"gap": sentence_gap()},
    }
    head = json.dumps(payload).encode()
    return len(head).to_bytes(8, "little") + head + b"".join(pane.data for pane in panes)


def _pane_object(pane: Pane) -> dict:
    spans = [[*span, _offset_text(pane.links.get(span.start))] for span in pane.spans]
    return {**pane._asdict(), "data": len(pane.data), "spans": spans, "links": None}


def _offset_text(offset: int | None) -> str | None:
    return None if offset is None else str(offset)
