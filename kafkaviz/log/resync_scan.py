"""A scan of the batches in a range of a .log that continues after damage.

Segment.scan ends at an impossible length, as a broker's reader would. This scan looks for the next
batch and continues there.

    position 0      offsets 0 to 9
    position 500    offsets 10 to 19, length 2 000 000 000, which leads nowhere
    position 1000   offsets 20 to 29, with a valid checksum
    result: the batches at 0 and 1000, and Hole(500, 1000, "torn") between them

HeaderScan needs an index entry that points to a valid checksum; CheckedScan (log.checked_scan)
needs the next expected offset. In a log without damage both return the same batches as
Segment.scan, also in several ranges that begin at batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from kafkaviz.format.walk import CHUNK_BYTES, Walk, WalkEnd
from kafkaviz.log.entry_points import EntryPoints

# entries that point into complete batches; an index with more of them is not trusted
MAX_REFUTED = 64
MISLED = "misled"


class Hole(NamedTuple):
    """The bytes from `start` to `stop`, from which no batch was read.

    Attributes:
        reason: a reason of format.walk.WalkEnd, or "misled" if a length leads past the next batch.
    """

    start: int
    stop: int
    reason: str


class BatchWalk(Protocol):
    """Arrays of consecutive batches; `end` is known once all were taken."""

    @property
    def end(self) -> WalkEnd: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


class ResynchronisingScan(ABC, Iterable[np.ndarray | Hole]):
    """The batches of a range as arrays, and the holes between them, in order.

    Attributes:
        end: the place and reason of the stop, known once all were taken. It is before the end of
            the range if no batch was found after it.
    """

    def __init__(self, start: int, stop: int) -> None:
        """Prepares the scan without reading.

        Args:
            start: the byte at which a batch begins, as far as is known.
        """
        self._start = start
        self._stop = stop
        self.end = WalkEnd(start, "end")

    def __iter__(self) -> Iterator[np.ndarray | Hole]:
        position: int | None = self._start
        while position is not None and position < self._stop:
            walk = self._walk(position)
            position = None
            hole_start = 0
            reason = MISLED
            for batches in walk:
                row, position = self._find_misleading(batches)
                yield batches[:row]
                if position is not None:
                    hole_start = int(batches["position"][row])
                    break
            else:
                self.end = walk.end
                hole_start = walk.end.position
                reason = walk.end.reason
                position = self._find_next(hole_start) if hole_start < self._stop else None
            if position is not None:
                yield Hole(hole_start, position, reason)
                self.end = WalkEnd(position, "end")

    @abstractmethod
    def _walk(self, position: int) -> BatchWalk:
        """Returns the batches from a byte on, up to the first damage."""

    @abstractmethod
    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        """Looks for a batch whose length leads past the next one.

        Returns:
            How many batches are before it, and where to continue; if none is found, all and None.
        """

    @abstractmethod
    def _find_next(self, position: int) -> int | None:
        """Returns the next batch after a byte at which none begins, or None."""


class HeaderScan(ResynchronisingScan):
    """Reads only headers, and continues after damage where an index entry proves a batch.

    The arrays are of format.batch.BATCH, with up to 16,384 rows each.
    """

    def __init__(
        self, points: EntryPoints, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """Prepares the scan without reading.

        Args:
            chunk_bytes: the number of bytes read at once.
        """
        super().__init__(start, stop)
        self._points = points
        self._chunk_bytes = chunk_bytes
        self._refuted_count = 0

    def _walk(self, position: int) -> Walk:
        return Walk(self._points.read, position, self._stop, self._chunk_bytes)

    def _find_next(self, position: int) -> int | None:
        return self._points.find_first(position + 1, self._stop)

    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        starts = batches["position"]
        ends = batches["position"] + batches["size_bytes"]
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
