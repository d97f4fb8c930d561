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
MAX_REFUTED = 64


class Hole(NamedTuple):
    """Bytes start to stop that no batch was read from, and why: a reason of format.walk.End, or
    "misled".
    """

    start: int
    stop: int
    reason: str


class ResynchronisingScan:
    """The batches from one byte to another; what was passed over is in holes once all were
    taken.
    """

    def __init__(
        self, points: EntryPoints, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """start: where a batch begins, as far as anybody knows. chunk_bytes: read at once."""
        self._points, self._start, self._stop, self._chunk_bytes = points, start, stop, chunk_bytes
        self._refuted_count = 0
        self.holes: list[Hole] = []

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of format.batch.BATCH, up to 16 384 rows each, in the order of the log; wrappers
        of magic 0 and 1 are looked into.
        """
        position = self._start
        while position < self._stop:
            walk = Walk(self._points.read, position, self._stop, self._chunk_bytes)
            resume_position = None
            for batches in walk:
                row, resume_position = self._find_misleading(batches)
                look_inside(batches[:row], self._points.read)
                yield batches[:row]
                if resume_position is not None:
                    break
            hole_start, reason = (
                (int(batches["position"][row]), "misled")
                if resume_position is not None
                else (walk.end.position, walk.end.reason)
            )
            position = (
                resume_position if resume_position is not None else self._next_start(hole_start)
            )
            if hole_start < self._stop:
                self.holes.append(Hole(hole_start, position, reason))

    def _next_start(self, position: int) -> int:
        """The next proven start behind a byte, or the end."""
        next_start = (
            self._points.find_first(position + 1, self._stop) if position + 1 < self._stop else None
        )
        return self._stop if next_start is None else next_start

    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        """(how many batches count, where to go on) if a length leads past a batch that an entry
        proves; else all of them and None.
        """
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
