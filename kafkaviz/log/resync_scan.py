"""The batches of a range of a .log, those behind damage too.

Segment.scan ends where a length cannot be, as a broker's reader would: a batch whose length is
wrong hides all that follows it. This scan looks for the next batch behind it, and the steps go on.

    position 0      offsets 0 to 9
    position 500    offsets 10 to 19, length 2 000 000 000: no step leads on
    position 1000   offsets 20 to 29, and the checksum is right
    gives the batches at 0 and 1000, and Hole(500, 1000, "torn") between them

What proves the next batch is another thing for a scan that reads headers alone, an index entry that
leads to a right checksum, and for CheckedScan (log.checked_scan), an offset that goes on. In a log
without damage both give the same batches as Segment.scan, and so do ranges of it that begin where
batches do, one behind the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from kafkaviz.format.walk import CHUNK_BYTES, Walk, WalkEnd
from kafkaviz.log.entry_points import EntryPoints

# entries that point into complete batches; an index with more of them proves nothing
MAX_REFUTED = 64
MISLED = "misled"


class Hole(NamedTuple):
    """Bytes start to stop that no batch was read from.

    Attributes:
        reason: a reason of format.walk.WalkEnd, or "misled" by a length that leads past the next
            batch.
    """

    start: int
    stop: int
    reason: str


class BatchWalk(Protocol):
    """Arrays of batches, one step behind the other; end is known once all were taken."""

    @property
    def end(self) -> WalkEnd: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


class ResynchronisingScan(ABC, Iterable[np.ndarray | Hole]):
    """The batches from one byte to another as arrays, and the holes between them, in order.

    Attributes:
        end: where it stopped, once all were taken; before the end of the range if no batch was
            found behind that byte.
    """

    def __init__(self, start: int, stop: int) -> None:
        """Sets up the scan; nothing is read yet.

        Args:
            start: where a batch begins, as far as is known.
        """
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
        """Looks for a batch whose length leads past the next.

        Returns:
            How many batches count, and where to go on; all of them and None if there is none.
        """

    @abstractmethod
    def _find_next(self, position: int) -> int | None:
        """The next batch behind a byte that starts none."""


class HeaderScan(ResynchronisingScan):
    """Reads headers alone, and goes on behind damage where an index entry proves a batch.

    The arrays are of format.batch.BATCH, up to 16 384 rows each.
    """

    def __init__(
        self, points: EntryPoints, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """Sets up the scan; nothing is read yet.

        Args:
            chunk_bytes: read at once.
        """
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
