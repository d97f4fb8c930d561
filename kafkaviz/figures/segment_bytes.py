"""What the bytes view is sent: the bytes around the pin, as they lie in one of a segment's files,
and the spans that name them.

Of the .log the pinned batch is shown, of an index the whole file around the pinned slot, of any
other file all of it. Sent is what a screen holds and some more, 4 KiB; the browser asks for the
next as it scrolls. A compressed batch has a second pane: what it holds, decompressed.
"""

import json
import re
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE
from kafkaviz.binary.layouts import field_start
from kafkaviz.binary.spans import (
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
)
from kafkaviz.errors import CorruptFile
from kafkaviz.figures import fault_words
from kafkaviz.figures.listed import gap
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.format.batch import HEADER, MAGIC_2
from kafkaviz.log import stretch
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Segment
from kafkaviz.words import counted, language, say, table
from kafkaviz.words.retold import retold

ROW_BYTES = 16
SENT_BYTES = 4096
BEFORE_BYTES = 1024  # of them: what is sent of the bytes before the one to look at
PANE_BYTES = 16 << 20  # more cannot be scrolled through
FILES = {".log": "log", ".index": "index", ".timeindex": "timeindex", ".txnindex": "txnindex"}
ENTRY_BYTES = {
    ".index": offset_index.ENTRY.itemsize,
    ".timeindex": time_index.ENTRY.itemsize,
    ".txnindex": txn_index.ENTRY.itemsize,
}
# the kinds that batches have, as the legend has them
OF_BATCHES = (OFFSET, SIZE, CHECK, TIME, PRODUCER, PAYLOAD)
COMPRESSED = ", compressed"  # how the name of a span ends that can be opened
# a file with such a name is called by it in an address; any other is spelled out there
PLAIN = re.compile(r"(?!.*__)[A-Za-z0-9_.\-]+")


class Pane(NamedTuple):
    """Bytes start to end of a file (or of decompressed records), of which those from first on are
    here, with their spans.

    of: "batch" or "file", what places are counted from. chosen: the byte to look at first. links:
    the offset that a span leads to, by where the span starts. opens: where the span starts that the
    inner pane shows decompressed.
    """

    of: str
    start: int
    end: int
    first: int
    data: bytes
    spans: list[Span]
    chosen: int
    links: dict[int, int]
    opens: int | None = None


class BytesView(NamedTuple):
    """One or two panes.

    fault: why the second is not there, for a batch that cannot be decompressed. before, after: an
    offset of the neighbour batches.
    """

    file: str
    outer: Pane
    inner: Pane | None
    title: str  # of the inner pane
    fault: str
    before: int | None
    after: int | None


class Wanted(NamedTuple):
    """The byte a reader scrolled or stepped to, in each pane; None: the one to look at first."""

    outer: int | None = None
    inner: int | None = None


FIRST = Wanted()


class Look(NamedTuple):
    """What to look at first: the byte of the file that an address names, where it is shown; else
    what the pin was chosen by.
    """

    byte: int | None = None
    by_time: bool = False  # the pin was chosen by its time entry


KEY = Look()


def files(segment: Segment) -> dict[str, FileInfo]:
    """The files of a segment that there are, by the ends of their names."""
    return {
        name: found for name, attribute in FILES.items() if (found := getattr(segment, attribute))
    }


def address(partition: str | None, file: str, byte: int | None = None) -> dict[str, str]:
    """The address of a byte of a file on the Segment page; file: relative to the broker directory;
    {} where no link can name it.
    """
    name = file.rpartition("/")[2]
    if not PLAIN.fullmatch(name):
        return {}
    parsed = names.parse_file(name)
    of_segment = parsed is not None and f".{parsed.kind}" in FILES
    parts = {
        "tp": partition,
        "segment": str(parsed.base_offset) if of_segment else None,
        "tab": "Bytes",
        "file": f".{parsed.kind}" if of_segment and not parsed.suffix else name,
        "byte": None if byte is None else str(byte),
    }
    return {key: value for key, value in parts.items() if value is not None}


def whole(found: FileInfo, file: str, wanted: Wanted = FIRST, byte: int | None = None) -> BytesView:
    """Any file from its first byte on; file: what it is called. Raises CannotOpen."""
    chosen = max(0, min(byte or 0, found.size_bytes - 1))
    return BytesView(
        file,
        _pane(found, "file", 0, found.size_bytes, chosen, wanted.outer),
        None,
        "",
        "",
        None,
        None,
    )


def view(
    anatomy: Anatomy,
    file: str,
    row: int,
    slot: int,
    time: int,
    wanted: Wanted = FIRST,
    look: Look = KEY,
) -> BytesView:
    """The bytes of the pinned batch, or of an index around the slot that goes with it.

    Raises CannotOpen.
    """
    if file != ".log":
        chosen = {".index": slot, ".timeindex": time}.get(file, NONE)
        return BytesView(
            file,
            _index(anatomy, file, max(chosen, 0), wanted.outer, look.byte),
            None,
            "",
            "",
            None,
            None,
        )
    batches, found = anatomy.batches, anatomy.segment.log
    outer = _batch(anatomy, row, wanted.outer, look)
    inner, title, fault = _inside(found, batches, row, wanted.inner)
    before, after = (
        _offset(batches, other) if 0 <= other < len(batches) else None
        for other in (row - 1, row + 1)
    )
    return BytesView(file, outer, inner, title, fault, before, after)


def legend(shown: BytesView) -> list[tuple[str, str]]:
    """The kinds and their words: of a .log the six that batches have, of any file those that are
    met.
    """
    met = {span.kind for pane in (shown.outer, shown.inner) if pane for span in pane.spans}
    met |= {SIZE} if POSITION in met else set()
    kinds = [
        kind
        for kind in (*OF_BATCHES, UNWRITTEN, TORN)
        if kind in met or (shown.file == ".log" and kind in OF_BATCHES)
    ]
    return [(kind, say(f"bytes.kind_{kind}")) for kind in kinds]


def spoken(span: Span) -> Span:
    """A span in the reader's language; the names of Kafka's fields, and what a file holds, stay."""
    value = retold("spans", span.value) if span.kind == UNWRITTEN else span.value
    return span._replace(
        name=retold("spans", span.name), value=value, note=retold("notes", span.note)
    )


def _offset(batches, row: int) -> int:
    """An offset that leads to a batch; a legacy wrapper tells its last one only."""
    base = int(batches["base_offset"][row])
    return base if base >= 0 else int(batches["last_offset"][row])


def _batch(anatomy: Anatomy, row: int, wanted: int | None, look: Look) -> Pane:
    """The pinned batch; the last one with what stands behind it."""
    batch = anatomy.batches[row]
    start, size_bytes = int(batch["position"]), int(batch["size_bytes"])
    end = anatomy.segment.log.size_bytes if row == len(anatomy.batches) - 1 else start + size_bytes
    field = "max_timestamp_ms" if look.by_time else "last_offset_delta"
    key = start + (field_start(HEADER, field) if batch["magic"] >= MAGIC_2 else 0)
    return _pane(
        anatomy.segment.log, "batch", start, end, _shown(look.byte, start, end, key), wanted
    )


def _index(anatomy: Anatomy, file: str, slot: int, wanted: int | None, byte: int | None) -> Pane:
    """A whole index file, each entry with the offset that it leads to."""
    found = getattr(anatomy.segment, FILES[file])
    size_bytes = ENTRY_BYTES[file]
    key = min(slot * size_bytes, max(found.size_bytes - 1, 0))
    pane = _pane(found, "file", 0, found.size_bytes, _shown(byte, 0, found.size_bytes, key), wanted)
    entries = {".index": anatomy.index.entries, ".timeindex": anatomy.times.entries}.get(file)
    if entries is None:
        return pane
    slots = (
        (span.start, span.start // size_bytes)
        for span in pane.spans
        if span.kind not in (TORN, UNWRITTEN)
    )
    return pane._replace(
        links={start: int(entries["offset"][slot]) for start, slot in slots if slot < len(entries)}
    )


def _shown(byte: int | None, start: int, end: int, key: int) -> int:
    """The byte of the address, if it lies in here; else the key."""
    return byte if byte is not None and start <= byte < end else key


def _pane(found: FileInfo, of: str, start: int, end: int, chosen: int, wanted: int | None) -> Pane:
    """The stretch around a byte; of more than can be scrolled through, a part."""
    if end - start > PANE_BYTES:
        start += (
            max(0, min(chosen - PANE_BYTES // 2, end - PANE_BYTES) - start) // ROW_BYTES * ROW_BYTES
        )
        end = min(end, start + PANE_BYTES)
    first = _first(start, end, chosen if wanted is None else wanted)
    read = stretch.read(found, first, min(end, first + SENT_BYTES))
    opens = next((span.start for span in read.spans if span.name.endswith(COMPRESSED)), None)
    return Pane(of, start, end, first, read.data, [*map(spoken, read.spans)], chosen, {}, opens)


def _first(start: int, end: int, wanted: int) -> int:
    """Where the stretch around a byte begins: at the start of a row of sixteen."""
    wanted = max(start, min(wanted, end - 1))
    return start + max(0, wanted - start - BEFORE_BYTES) // ROW_BYTES * ROW_BYTES


def _inside(log: FileInfo, batches, row: int, wanted: int | None) -> tuple[Pane | None, str, str]:
    """What a compressed batch holds, its title, and why it cannot be shown."""
    first = max(0, (wanted or 0) - BEFORE_BYTES) // ROW_BYTES * ROW_BYTES
    try:
        read = stretch.inside(log, int(batches["position"][row]), first, first + SENT_BYTES)
    except CorruptFile as fault:
        return None, "", say("bytes.cannot_decompress", what=fault_words.what(fault.what))
    if read is None or not read.size_bytes:
        return None, "", ""
    count = int(batches["record_count"][row])
    told = {"n": units.group(count), "size": units.group(read.size_bytes)}
    title = (
        say("bytes.inside_messages", **told)
        if count < 0
        else counted("bytes.inside", count, **told)
    )
    return (
        Pane(
            "records",
            0,
            min(read.size_bytes, PANE_BYTES),
            read.start,
            read.data,
            [*map(spoken, read.spans)],
            0,
            {},
        ),
        title,
        "",
    )


def message(shown: BytesView, key: str) -> bytes:
    """The view as one stretch of bytes: eight that tell the length of the JSON, little-endian, the
    JSON, and the panes' bytes.

    key: tells what is shown from anything else; while it stays, the reader's place in it stays.
    """
    panes = [pane for pane in (shown.outer, shown.inner) if pane]
    words = {
        "key": key,
        "file": shown.file,
        "title": shown.title,
        "fault": shown.fault,
        "panes": [_packed(pane) for pane in panes],
        "before": _text(shown.before),
        "after": _text(shown.after),
        "language": language(),
        "words": table("bytes") | {"gap": gap()},
    }
    head = json.dumps(words).encode()
    return len(head).to_bytes(8, "little") + head + b"".join(pane.data for pane in panes)


def _packed(pane: Pane) -> dict:
    spans = [[*span, _text(pane.links.get(span.start))] for span in pane.spans]
    return {**pane._asdict(), "data": len(pane.data), "spans": spans, "links": None}


def _text(offset: int | None) -> str | None:
    """An offset as text: JavaScript's numbers are exact to 2**53 only."""
    return None if offset is None else str(offset)
