"""Offsets of records, gathered into ranges: 10, 11, 12 and 20 are 10 to 12 and 20 to 20."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MAX_RANGES = 10_000  # that are listed; more are counted alone


class OffsetRange(NamedTuple):
    """Offsets of records, both ends included."""

    first: int
    last: int


@dataclass(frozen=True)
class RecordSet:
    """Records that one side has alone.

    Attributes:
        ranges: the first MAX_RANGES of their offsets; each offset in them has a record.
        more_ranges: how many more there are.
    """

    records: int = 0
    ranges: tuple[OffsetRange, ...] = ()
    more_ranges: int = 0


NO_RECORDS = RecordSet()


class OffsetCollector:
    """Gathers offsets of records, mostly ascending, into ranges."""

    def __init__(self) -> None:
        """Starts with none."""
        self._ranges: list[OffsetRange] = []
        self._records = self._more_ranges = 0

    def add(self, first: int, last: int) -> None:
        """Every offset from first to last."""
        self._records += last - first + 1
        if self._ranges and self._ranges[-1].last + 1 == first:
            self._ranges[-1] = OffsetRange(self._ranges[-1].first, last)
        elif len(self._ranges) < MAX_RANGES:
            self._ranges.append(OffsetRange(first, last))
        else:
            self._more_ranges += 1

    def add_offsets(self, offsets: np.ndarray) -> None:
        """These offsets, ascending."""
        if len(offsets):
            ends = np.flatnonzero(np.diff(offsets) != 1)
            firsts = offsets[np.append(0, ends + 1)]
            lasts = offsets[np.append(ends, len(offsets) - 1)]
            for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
                self.add(first, last)

    def add_ranges(self, firsts: np.ndarray, lasts: np.ndarray) -> None:
        """Ranges, ascending; those that touch are joined before they are looked at one by one."""
        if len(firsts):
            starts = np.flatnonzero(np.append(True, firsts[1:] != lasts[:-1] + 1))
            ends = np.append(starts[1:] - 1, len(firsts) - 1)
            for first, last in zip(firsts[starts].tolist(), lasts[ends].tolist(), strict=True):
                self.add(first, last)

    def result(self) -> RecordSet:
        """All of them, in order."""
        return RecordSet(self._records, tuple(sorted(self._ranges)), self._more_ranges)
