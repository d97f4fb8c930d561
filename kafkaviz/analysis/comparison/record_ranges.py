"""Offsets of records collected as ranges: 10, 11, 12 and 20 become 10 to 12 and 20 to 20."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_RANGES = 10_000  # number of listed ranges; more are only counted


class OffsetRange(NamedTuple):
    """A range of offsets, both ends included."""

    first: int
    last: int


@dataclass(frozen=True)
class RecordSet:
    """Records that only one side has.

    Attributes:
        ranges: the first MAX_RANGES ranges of their offsets; each offset in them has a record.
        more_ranges: number of further ranges.
    """

    records: int = 0
    ranges: tuple[OffsetRange, ...] = ()
    more_ranges: int = 0


NO_RECORDS = RecordSet()


class OffsetCollector:
    """Collects offsets of records, mostly ascending, as ranges."""

    def __init__(self) -> None:
        self._ranges: list[OffsetRange] = []
        self._records = self._more_ranges = 0

    def add(self, first: int, last: int) -> None:
        self._records += last - first + 1
        if self._ranges and self._ranges[-1].last + 1 == first:
            self._ranges[-1] = OffsetRange(self._ranges[-1].first, last)
        elif len(self._ranges) < MAX_RANGES:
            self._ranges.append(OffsetRange(first, last))
        else:
            self._more_ranges += 1

    def add_offsets(self, offsets: np.ndarray) -> None:
        if len(offsets):
            ends = np.flatnonzero(np.diff(offsets) != 1)
            firsts = offsets[np.append(0, ends + 1)]
            lasts = offsets[np.append(ends, len(offsets) - 1)]
            for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
                self.add(first, last)

    def add_ranges(self, firsts: np.ndarray, lasts: np.ndarray) -> None:
        """Adds ascending ranges; adjacent ones are joined first, which is faster."""
        if len(firsts):
            starts = np.flatnonzero(np.append(True, firsts[1:] != lasts[:-1] + 1))
            ends = np.append(starts[1:] - 1, len(firsts) - 1)
            for first, last in zip(firsts[starts].tolist(), lasts[ends].tolist(), strict=True):
                self.add(first, last)

    def result(self) -> RecordSet:
        return RecordSet(self._records, tuple(sorted(self._ranges)), self._more_ranges)
