"""A range of any file of a broker directory, as bytes and as spans: named ranges of bytes.

Only little more than the range is read. In a .log, reading begins at the last index entry before
the range that points to a valid batch. Without such an entry, it begins at byte 0. Reading then
continues from batch to batch (see log.scans).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.binary import layouts
from kafkaviz.binary.layouts import PAYLOAD, UNWRITTEN, Span, torn_span
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import names, offset_index, spans_batch, spans_table, time_index
from kafkaviz.format.batch import LENGTH_END
from kafkaviz.format.walk import TAIL_GARBAGE, TAIL_TORN, tail_kind
from kafkaviz.log import file
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.file import FileInfo
from kafkaviz.log.scans import MISLED, HeaderScan, Hole
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

BATCH_BYTES = 16 << 20  # a larger batch is not read to its end
TAIL_BYTES = 16 << 20  # how much of a tail is examined
# bytes read at once: from an index entry on, and from the start of a log
CHUNK_BYTES = 1 << 16
LONG_CHUNK_BYTES = 1 << 20
BATCH = "batch"
TEXT_BYTES = 1 << 20  # text files are read whole; a larger one is not Kafka's
LOGS = ("log", "checkpoint")  # a snapshot of the cluster's metadata consists of batches too
TEXTS = (names.META_PROPERTIES, names.PARTITION_METADATA, names.QUORUM_STATE, names.CLEAN_SHUTDOWN)


class LogRegion(NamedTuple):
    """The bytes from `position` to `end` of a .log."""

    position: int
    end: int
    kind: str  # "batch", "torn" (the beginning of a batch), "garbage" or "zeros"
    # last offset of the batch; for other kinds, of the batch before the region. None: unknown
    last_offset: int | None = None


class LogFile:
    """A .log with its .index. Finds the region (a batch or damage) that contains a byte."""

    def __init__(self, info: FileInfo) -> None:
        self.info = info
        self.size_bytes = info.size_bytes
        # the search is by position only, so the base offset does not matter
        self._segment = LogSegment(
            base_offset=0, state="closed", log=info, index=_index_beside(info)
        )

    def regions(self, start: int, stop: int) -> Iterator[LogRegion]:
        """Yields the regions that have a byte in [start, stop), in order, without gaps."""
        stop = min(stop, self.size_bytes)
        last_offset = None
        with open_batch_starts(self._segment) as batch_starts:
            begin = batch_starts.find_last(start)
            scan = HeaderScan(
                batch_starts, begin, self.size_bytes, CHUNK_BYTES if begin else LONG_CHUNK_BYTES
            )
            for part in scan:
                if isinstance(part, Hole):
                    regions = [self._hole_region(part, last_offset)]
                else:
                    regions = _batch_regions(part, start)
                    last_offset = int(part["last_offset"][-1]) if len(part) else last_offset
                for region in regions:
                    if region.end > start:
                        yield region
                    if region.end >= stop:
                        return
        if scan.end.position < self.size_bytes:
            last_hole = Hole(scan.end.position, self.size_bytes, scan.end.reason)
            yield self._hole_region(last_hole, last_offset)

    def batch_start_before(self, start: int) -> int:
        """Returns the nearest verified batch start at or before `start`, or 0."""
        with open_batch_starts(self._segment) as batch_starts:
            return batch_starts.find_last(start)

    def batch(self, position: int) -> bytes:
        """Returns the bytes of the batch at a position, at most 16 MiB."""
        length = file.read(self.info.path, position + LENGTH_END - 4, 4)
        size_bytes = int.from_bytes(length, "big", signed=True) + LENGTH_END
        return file.read(self.info.path, position, min(size_bytes, BATCH_BYTES))

    def _hole_region(self, hole: Hole, last_offset: int | None) -> LogRegion:
        size_bytes = hole.stop - hole.start
        if hole.reason == MISLED:
            kind = TAIL_TORN
        else:
            data = file.read(self.info.path, hole.start, min(size_bytes, TAIL_BYTES))
            kind = tail_kind(data, last_offset, size_bytes)
        return LogRegion(hole.start, hole.stop, kind, last_offset)


def _batch_regions(batches: np.ndarray, start: int) -> Iterator[LogRegion]:
    first = int(np.searchsorted(batches["position"] + batches["size_bytes"], start, "right"))
    columns = batches[["position", "size_bytes", "last_offset"]][first:]
    for position, size_bytes, last_offset in columns.tolist():
        yield LogRegion(position, position + size_bytes, BATCH, last_offset)


def _index_beside(log: FileInfo) -> FileInfo | None:
    stem, _, suffix = log.name.partition(".log")
    try:
        return file.info(log.directory / f"{stem}.index{suffix}")
    except CannotOpen:
        return None


class ByteRange(NamedTuple):
    """The bytes from `start` to `stop` of a file, or of a batch's decompressed records."""

    start: int
    stop: int
    size_bytes: int  # of the whole file, or of all decompressed records
    data: bytes
    spans: list[Span]  # those that overlap the range; they may begin before it or end after it


def read(info: FileInfo, start: int = 0, stop: int | None = None) -> ByteRange:
    """Returns a range of any file with its spans. Raises CannotOpen if the file cannot be read."""
    stop = info.size_bytes if stop is None else min(stop, info.size_bytes)
    start = max(0, min(start, stop))
    spans = _spans(info, start, stop) if start < stop else []
    data = file.read(info.path, start, stop - start)
    spans = layouts.find_overlapping(spans, start, stop)
    return ByteRange(start, stop, info.size_bytes, data, spans)


def read_decompressed(
    log: FileInfo, position: int, start: int = 0, stop: int | None = None
) -> ByteRange | None:
    """Returns a range of the decompressed records of a batch; None if it is not compressed.

    Raises CannotOpen if the .log cannot be read, CorruptFile if the batch cannot be decompressed.
    """
    try:
        content = spans_batch.decompress(LogFile(log).batch(position), start=start, stop=stop)
    except CorruptBytes as fault:
        raise fault.in_file(log.path, position) from None
    if content is None:
        return None
    stop = len(content.data) if stop is None else min(stop, len(content.data))
    start = max(0, min(start, stop))
    spans = layouts.find_overlapping(content.spans, start, stop)
    return ByteRange(start, stop, len(content.data), content.data[start:stop], spans)


def _spans(info: FileInfo, start: int, stop: int) -> list[Span]:
    name = names.parse_file(info.name) or names.SegmentName(0, "")
    kind = "checkpoint" if info.name == names.BOOTSTRAP else name.kind
    if kind in LOGS:
        log = LogFile(info)
        return [
            span
            for region in log.regions(start, stop)
            for span in _region_spans(log, region, start, stop)
        ]
    if kind == "index":
        rows = spans_table.offset_entries(name.base_offset)
        return _index_spans(info, offset_index, rows, start, stop)
    if kind == "timeindex":
        rows = spans_table.time_entries(name.base_offset)
        return _index_spans(info, time_index, rows, start, stop)
    if kind == "txnindex":
        return _row_spans(info, spans_table.txn_entries(), info.size_bytes, start, stop)
    return _small_file_spans(info, kind, start, stop)


def _region_spans(log: LogFile, region: LogRegion, start: int, stop: int) -> list[Span]:
    size_bytes = region.end - region.position
    if region.kind in (BATCH, TAIL_TORN):
        data = file.read(log.info.path, region.position, min(size_bytes, BATCH_BYTES))
        return spans_batch.batch(data, region.position, size_bytes, start, stop)
    edges = (region.position, region.end)
    if region.kind == TAIL_GARBAGE:
        return [torn_span(*edges, message("span.no_batch"), message("span.no_batch_note"))]
    note = message("span.zeros_ahead" if size_bytes <= TAIL_BYTES else "span.zeros_looked_at")
    value = units.format_bytes(size_bytes)
    return [Span(*edges, message("span.zero_padding"), value, UNWRITTEN, note)]


def _index_spans(
    info: FileInfo, layout, row_format: spans_table.RowFormat, start: int, stop: int
) -> list[Span]:
    data, _ = file.read_data(info.path)
    row_bytes = row_format.layout.itemsize
    slots = layout.parse(data + bytes(-len(data) % row_bytes))
    return _row_spans(info, row_format, layout.count_entries(slots) * row_bytes, start, stop)


def _row_spans(
    info: FileInfo, row_format: spans_table.RowFormat, written_bytes: int, start: int, stop: int
) -> list[Span]:
    row_bytes = row_format.layout.itemsize
    first = start - start % row_bytes
    last = stop + -stop % row_bytes
    data = file.read(info.path, first, max(0, min(last, written_bytes) - first))
    return spans_table.rows(
        row_format, data, first, last, written_bytes=written_bytes, size_bytes=info.size_bytes
    )


def _small_file_spans(info: FileInfo, kind: str, start: int, stop: int) -> list[Span]:
    """Returns the spans of a snapshot or text file; for a large text, a single unknown span."""
    if info.size_bytes > TEXT_BYTES and kind != "snapshot":
        return [_unknown_file_span(info)]
    data = file.read(info.path)
    if kind == "snapshot":
        return spans_table.snapshot(data, start, stop)
    if info.name in TEXTS or info.name.endswith("-checkpoint"):
        return spans_table.lines(data, info.name, start, stop)
    return [_unknown_file_span(info)]


def _unknown_file_span(info: FileInfo) -> Span:
    name = message("span.unknown_file")
    size = units.format_bytes(info.size_bytes)
    return Span(0, info.size_bytes, name, size, PAYLOAD, message("span.unknown_file_note"))
