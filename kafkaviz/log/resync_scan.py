"""The batches of a stretch of a .log, those behind damage too.

Segment.scan ends where a length cannot be, as a broker's reader would: a batch whose length is
wrong hides all that follows it. Here the next batch behind it is looked for, and the steps go on.

    position 0      offsets 0 to 9
    position 500    offsets 10 to 19, length 2 000 000 000: no step leads on
    position 1000   offsets 20 to 29, and the checksum is right
    gives the batches at 0 and 1000, and Hole(500, 1000, "torn") between them

What proves the next batch is another thing for a scan that reads headers alone, an index entry that
leads to a right checksum, and for CheckedScan (log.checked_scan), an offset that goes on. In a log
without damage both give the same batches as Segment.scan, and so do stretches of it that begin
where batches do, one behind the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from kafkaviz.format.walk import CHUNK_BYTES, Walk, WalkEnd
from kafkaviz.log.entry_points import EntryPoints

# entries that point into whole batches; an index with more of them proves nothing
MAX_REFUTED = 64
MISLED = "misled"


class Hole(NamedTuple):
    """Bytes start to stop that no batch was read from, and why: a reason of format.walk.WalkEnd, or
    "misled" by a length that leads past the next batch.
    """

    start: int
    stop: int
    reason: str


class BatchWalk(Protocol):
    """Arrays of batches, one step behind the other; end is known once all were taken."""

    @property
    def end(self) -> WalkEnd | Any: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


class ResynchronisingScan(ABC, Iterable[np.ndarray | Hole]):
    """The batches from one byte to another as arrays, and between them the holes, in the order of
    the log.

    end: where it stopped, once all were taken; before the end of the stretch if no batch was found
    behind that place.
    """

    def __init__(self, start: int, stop: int) -> None:
        """start: where a batch begins, as far as anybody knows."""
        self._start, self._stop = start, stop
        self.end = WalkEnd(start, "end")

    def __iter__(self) -> Iterator[np.ndarray | Hole]:
        position: int | None = self._start
        while position is not None and position < self._stop:
            walk, position, hole_start, reason = self._walk(position), None, 0, MISLED
            for batches in walk:
                row, position = self._find_misleading(batches)
                yield batches[:row]
                if position is not None:
                    hole_start = int(batches["position"][row])
                    break
            else:
                self.end = walk.end
                hole_start, reason = walk.end.position, walk.end.reason
                position = self._find_next(hole_start) if hole_start < self._stop else None
            if position is not None:
                yield Hole(hole_start, position, reason)
                self.end = WalkEnd(position, "end")

    @abstractmethod
    def _walk(self, position: int) -> BatchWalk:
        """The batches from a byte on, up to where no step leads on."""

    @abstractmethod
    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        """(how many batches count, where to go on) if the length of one leads past the next; else
        all of them and None.
        """

    @abstractmethod
    def _find_next(self, position: int) -> int | None:
        """The next batch behind a byte that starts none."""


class HeaderScan(ResynchronisingScan):
    """Goes by headers alone, and on behind damage wherever an index entry proves that a batch
    begins; the arrays are of format.batch.BATCH, up to 16 384 rows each.
    """

    def __init__(
        self, points: EntryPoints, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """chunk_bytes: read at once."""
        super().__init__(start, stop)
        self._points, self._chunk_bytes = points, chunk_bytes
        self._refuted_count = 0

    def _walk(self, position: int) -> Walk:
        return Walk(self._points.read, position, self._stop, self._chunk_bytes)

    def _find_next(self, position: int) -> int | None:
        return self._points.find_first(position + 1, self._stop)

    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        starts, ends = batches["position"], batches["position"] + batches["size_bytes"]
        entries = self._points.positions(int(starts[0]), int(ends[-1]))
        next_entries = np.searchsorted(entries, starts, "right")
        for row in np.flatnonzero(next_entries < np.searchsorted(entries, ends)).tolist():
            if self._refuted_count >= MAX_REFUTED:
                break
            if self._points.is_intact(int(starts[row])):
                self._refuted_count += 1
            elif (
                next_start := self._points.find_first(int(starts[row]) + 1, int(ends[row]))
            ) is not None:
                return row, next_start
        return len(batches), None
