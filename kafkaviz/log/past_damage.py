"""The batches of a stretch of a .log, those behind damage too, wherever an index entry proves where
they begin.

Segment.scan ends where a length cannot be, as a broker's reader would. Here the steps go on at the
next entry that leads to a whole batch; and where a length leads past such an entry, from a batch
whose checksum is wrong, they go on there. In a log without damage both give the same batches, and
so do stretches of it that begin at such entries, one behind the other.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz.format.walk import CHUNK_BYTES, Walk
from kafkaviz.log.entry_points import EntryPoints
from kafkaviz.log.segment import look_inside

# entries that point into whole batches; an index with more of them proves nothing
MOST_REFUTED = 64


class Hole(NamedTuple):
    """Bytes start to stop that no batch was read from, and why: a reason of format.walk.End, or
    "misled".
    """

    start: int
    stop: int
    reason: str


class PastDamage:
    """The batches from one byte to another; what was passed over is in holes once all were
    taken.
    """

    def __init__(
        self, points: EntryPoints, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """start: where a batch begins, as far as anybody knows. chunk_bytes: read at once."""
        self._points, self._start, self._stop, self._chunk_bytes = points, start, stop, chunk_bytes
        self._refuted = 0
        self.holes: list[Hole] = []

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of format.batch.BATCH, up to 16 384 rows each, in the order of the log; wrappers
        of magic 0 and 1 are looked into.
        """
        at = self._start
        while at < self._stop:
            walk = Walk(self._points.read, at, self._stop, self._chunk_bytes)
            resumed = None
            for batches in walk:
                row, resumed = self._misled(batches)
                look_inside(batches[:row], self._points.read)
                yield batches[:row]
                if resumed is not None:
                    break
            hole_start, reason = (
                (int(batches["position"][row]), "misled")
                if resumed is not None
                else (walk.end.position, walk.end.reason)
            )
            at = resumed if resumed is not None else self._behind(hole_start)
            if hole_start < self._stop:
                self.holes.append(Hole(hole_start, at, reason))

    def _behind(self, position: int) -> int:
        """The next proven start behind a byte, or the end."""
        found = self._points.first(position + 1, self._stop) if position + 1 < self._stop else None
        return self._stop if found is None else found

    def _misled(self, batches: np.ndarray) -> tuple[int, int | None]:
        """(how many batches count, where to go on) if a length leads past a batch that an entry
        proves; else all of them and None.
        """
        starts, ends = batches["position"], batches["position"] + batches["size_bytes"]
        entries = self._points.positions(int(starts[0]), int(ends[-1]))
        following = np.searchsorted(entries, starts, "right")
        for row in np.flatnonzero(following < np.searchsorted(entries, ends)).tolist():
            if self._refuted >= MOST_REFUTED:
                break
            if self._points.is_intact(int(starts[row])):
                self._refuted += 1
            elif (found := self._points.first(int(starts[row]) + 1, int(ends[row]))) is not None:
                return row, found
        return len(batches), None
