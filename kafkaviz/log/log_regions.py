"""The regions of a .log around one of its bytes: batches, and ranges that are not batches.

The search begins at an index entry that points to a valid batch, and continues from batch to batch
as log.resync_scan does. Without an .index it begins at byte 0.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format import tail
from kafkaviz.format.batch import LENGTH_END
from kafkaviz.log import file
from kafkaviz.log.entry_points import entry_points
from kafkaviz.log.file import FileInfo
from kafkaviz.log.resync_scan import MISLED, HeaderScan, Hole
from kafkaviz.log.segment import LogSegment

BATCH_BYTES = 16 << 20  # a larger batch is not read to its end
TAIL_BYTES = 16 << 20  # how much of a tail is examined
# read at once: from an index entry on, and from the start of a log
CHUNK_BYTES = 1 << 16
LONG_CHUNK_BYTES = 1 << 20
BATCH = "batch"
TORN = tail.TORN
GARBAGE = tail.GARBAGE
ZEROS = tail.ZEROS


class LogRegion(NamedTuple):
    """The bytes from `position` to `end` of a .log.

    Attributes:
        kind: "batch", "torn" for the start of a batch, "garbage" or "zeros".
        last_offset: the last offset of the batch. For another region, the last offset of the batch
            before it, or None if unknown.
    """

    position: int
    end: int
    kind: str
    last_offset: int | None = None


class LogFile:
    """A .log with its .index, to find out what a byte belongs to."""

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
        with entry_points(self._segment) as points:
            begin = points.find_last(start)
            scan = HeaderScan(
                points, begin, self.size_bytes, CHUNK_BYTES if begin else LONG_CHUNK_BYTES
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
        with entry_points(self._segment) as points:
            return points.find_last(start)

    def batch(self, position: int) -> bytes:
        """Returns the bytes of the batch at a position, at most 16 MiB."""
        length = file.read(self.info.path, position + LENGTH_END - 4, 4)
        size_bytes = int.from_bytes(length, "big", signed=True) + LENGTH_END
        return file.read(self.info.path, position, min(size_bytes, BATCH_BYTES))

    def _hole_region(self, hole: Hole, last_offset: int | None) -> LogRegion:
        """Returns the region of a hole; its kind follows from its reason or its bytes."""
        size_bytes = hole.stop - hole.start
        if hole.reason == MISLED:
            kind = TORN
        else:
            data = file.read(self.info.path, hole.start, min(size_bytes, TAIL_BYTES))
            kind = tail.kind(data, last_offset, size_bytes)
        return LogRegion(hole.start, hole.stop, kind, last_offset)


def _batch_regions(batches: np.ndarray, start: int) -> Iterator[LogRegion]:
    """Yields the batches that end after `start`."""
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
