"""A stretch of any file of a broker directory, as bytes and as named spans, without reading the
file from its start.
"""

from typing import NamedTuple

from kafkaviz import units
from kafkaviz.binary import spans
from kafkaviz.binary.spans import PAYLOAD, UNWRITTEN, Span, torn
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import names, offset_index, spans_batch, spans_table, spans_text, time_index
from kafkaviz.log import file, pieces
from kafkaviz.log.file import FileInfo
from kafkaviz.log.pieces import Piece

TEXT_BYTES = 1 << 20  # a text file is read whole; what is larger is no checkpoint of Kafka's
LOGS = ("log", "checkpoint")  # a snapshot of the cluster's metadata is batches too
TEXTS = (names.META_PROPERTIES, names.PARTITION_METADATA, names.QUORUM_STATE, names.CLEAN_SHUTDOWN)


class Stretch(NamedTuple):
    """Bytes start to stop of a file of size_bytes, and the spans that have one of them, whole: they
    may begin before and end behind.
    """

    start: int
    stop: int
    size_bytes: int
    data: bytes
    spans: list[Span]


class Inside(NamedTuple):
    """The records of a compressed batch, decompressed: their number of bytes, a stretch of them,
    and its spans.
    """

    start: int
    stop: int
    size_bytes: int
    data: bytes
    spans: list[Span]


def read(found: FileInfo, start: int = 0, stop: int | None = None) -> Stretch:
    """The bytes from start to stop of any file, by default all, and what they are.

    Raises CannotOpen.
    """
    stop = found.size_bytes if stop is None else min(stop, found.size_bytes)
    start = max(0, min(start, stop))
    made = spans.overlapping(_spans(found, start, stop), start, stop) if start < stop else []
    return Stretch(start, stop, found.size_bytes, file.read(found.path, start, stop - start), made)


def inside(log: FileInfo, position: int, start: int = 0, stop: int | None = None) -> Inside | None:
    """What the compressed batch at a position holds, from byte start to stop of it; None where the
    batch is not compressed.

    Raises CannotOpen, and CorruptFile where the bytes cannot be decompressed.
    """
    try:
        opened = spans_batch.inside(pieces.Log(log).batch(position), start=start, stop=stop)
    except CorruptBytes as fault:
        raise fault.in_file(log.path, position) from None
    if opened is None:
        return None
    stop = len(opened.data) if stop is None else min(stop, len(opened.data))
    start = max(0, min(start, stop))
    return Inside(
        start,
        stop,
        len(opened.data),
        opened.data[start:stop],
        spans.overlapping(opened.spans, start, stop),
    )


def _spans(found: FileInfo, start: int, stop: int) -> list[Span]:
    """The spans of a file that may have a byte in [start, stop)."""
    name = names.parse_file(found.name)
    kind = "checkpoint" if found.name == names.BOOTSTRAP else name.kind if name else ""
    base_offset = name.base_offset if name else 0
    if kind in LOGS:
        log = pieces.Log(found)
        return [
            span for piece in log.pieces(start, stop) for span in _piece(log, piece, start, stop)
        ]
    if kind == "index":
        return _table(found, offset_index, spans_table.offset_entries(base_offset), start, stop)
    if kind == "timeindex":
        return _table(found, time_index, spans_table.time_entries(base_offset), start, stop)
    if kind == "txnindex":
        return _rows(found, spans_table.txn_entries(), found.size_bytes, start, stop)
    return _whole(found, kind)


def _piece(log: pieces.Log, piece: Piece, start: int, stop: int) -> list[Span]:
    """The spans of a batch, or of what is none."""
    size_bytes = piece.end - piece.position
    if piece.kind in (pieces.BATCH, pieces.TORN):
        data = file.read(log.found.path, piece.position, min(size_bytes, pieces.BATCH_BYTES))
        return spans_batch.batch(data, piece.position, size_bytes, start, stop)
    if piece.kind == pieces.GARBAGE:
        return [
            torn(
                piece.position,
                piece.end,
                "no batch",
                "These bytes are no batch and no start of one.",
            )
        ]
    seen = (
        "Zeros, set ahead and never written."
        if size_bytes <= pieces.TAIL_BYTES
        else "Zeros as far as it was looked at."
    )
    return [
        Span(piece.position, piece.end, "zero padding", units.size(size_bytes), UNWRITTEN, seen)
    ]


def _table(found: FileInfo, layout, table: spans_table.Table, start: int, stop: int) -> list[Span]:
    """The slots of an index, which may end in unwritten ones."""
    data, _ = file.read_written(found.path)
    slots = layout.parse(data.ljust(len(data) + -len(data) % table.layout.itemsize, b"\0"))
    return _rows(found, table, layout.written(slots) * table.layout.itemsize, start, stop)


def _rows(
    found: FileInfo, table: spans_table.Table, written_bytes: int, start: int, stop: int
) -> list[Span]:
    """The rows that have a byte in the stretch."""
    row_bytes = table.layout.itemsize
    first, last = start - start % row_bytes, stop + -stop % row_bytes
    data = file.read(found.path, first, max(0, min(last, written_bytes) - first))
    return spans_table.rows(table, data, first, last, written_bytes, found.size_bytes)


def _whole(found: FileInfo, kind: str) -> list[Span]:
    """A snapshot, a text, or a file that is none of Kafka's; these are small, or told by nothing
    but their size.
    """
    if found.size_bytes > TEXT_BYTES and kind != "snapshot":
        return [_unknown(found)]
    data = file.read(found.path)
    if kind == "snapshot":
        return spans_table.snapshot(data)
    if found.name in TEXTS or found.name.endswith("-checkpoint"):
        return spans_text.lines(data, found.name)
    return [_unknown(found)]


def _unknown(found: FileInfo) -> Span:
    return Span(
        0,
        found.size_bytes,
        "unknown file",
        units.size(found.size_bytes),
        PAYLOAD,
        "No file of Kafka’s has this name.",
    )
