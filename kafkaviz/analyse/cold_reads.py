"""How many device reads a lookup takes that finds nothing of the .log in memory: the kernel's read-ahead, played through.

A scan reads the first bytes of each batch, from the entry on. Where batches are smaller than a page the kernel sees a file that is read
on and on, and loads 1, 4, 8, 16, 32 ... pages at a time; where they are larger each header is a read of its own:

    batches of 1 KB,  interval 1 MiB     500 headers in 500 KB, some 8 reads
    batches of 16 KB, interval 1 MiB      34 headers in 540 KB, 34 reads
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analyse import sweep
from kafkaviz.analyse.cost_model import READ_AHEAD_BYTES
from kafkaviz.binary.compiled import njit
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.search.slots import PAGE_BYTES

SECOND_WINDOW_PAGES = 4


@dataclass(frozen=True)
class ColdReads:
    """Of each interval how many lookups, one at each batch's base offset, take how many device reads, counted by their number from 0."""

    intervals: np.ndarray
    counts: tuple[np.ndarray, ...]

    def __add__(self, other: "ColdReads") -> "ColdReads":
        """Both together, of the same intervals."""
        return ColdReads(self.intervals, tuple(sweep.added(*pair) for pair in zip(self.counts, other.counts, strict=True)))

    def only(self, interval_bytes: int) -> "ColdReads":
        """Those of one interval."""
        place = int(np.flatnonzero(self.intervals == interval_bytes)[0])
        return ColdReads(self.intervals[place : place + 1], self.counts[place : place + 1])

    @property
    def mean(self) -> np.ndarray:
        """(k,), NaN of no lookup."""
        return np.array([sweep.mean(counts) for counts in self.counts])

    @property
    def p99(self) -> np.ndarray:
        """(k,)."""
        return np.array([sweep.quantile(counts, 0.99) for counts in self.counts], np.int64)


def cold_reads(
    batches: np.ndarray, intervals: np.ndarray, by_base_offset: bool = False, read_ahead_bytes: int = READ_AHEAD_BYTES
) -> ColdReads:
    """Of one segment's batches (format.batch.BATCH). by_base_offset: the scan of 4.1, which takes 17 bytes of a header and not 61."""
    sizes = np.ascontiguousarray(batches["size_bytes"], np.int64)
    positions, single = np.cumsum(sizes) - sizes, batches["base_offset"] == batches["last_offset"]
    how = _how(by_base_offset, read_ahead_bytes)
    found = [_reads(positions, _starts(positions, single, int(interval)), *how) for interval in intervals]
    return ColdReads(np.asarray(intervals, np.int64), tuple(np.bincount(reads) for reads in found))


def of_starts(
    batches: np.ndarray, starts: np.ndarray, intervals: np.ndarray, by_base_offset: bool, read_ahead_bytes: int = READ_AHEAD_BYTES
) -> ColdReads:
    """The same where it is known at which row each batch's scan starts; intervals: of one, whose index that is."""
    positions = np.ascontiguousarray(batches["position"], np.int64)
    reads = _reads(positions, np.ascontiguousarray(starts, np.int64), *_how(by_base_offset, read_ahead_bytes))
    return ColdReads(intervals, (np.bincount(reads),))


def _how(by_base_offset: bool, read_ahead_bytes: int) -> tuple[int, int]:
    """(bytes of a header that are read, the most pages that are read ahead)."""
    return (MAGIC_END if by_base_offset else HEADER_BYTES), max(1, read_ahead_bytes // PAGE_BYTES)


@njit(cache=True)
def _starts(positions, single, interval):
    """Of each batch the row that a lookup of its base offset starts at, where each batch may get an entry."""
    starts = np.empty(len(positions), np.int64)
    start = 0
    for row in range(len(positions)):
        is_indexed = positions[row] - positions[start] > interval
        starts[row] = row if is_indexed and single[row] else start
        if is_indexed:
            start = row
    return starts


@njit(cache=True)
def _reads(positions, starts, header_bytes, most_pages):
    """Of each batch how many device reads a lookup of its base offset takes."""
    reads = np.empty(len(positions), np.int64)
    start, at = 0, 0  # of the scan that goes on: its first row, and the row it has not read yet
    last_page, loaded_end, window, count = -2, -1, 1, 0  # pages
    for row in range(len(positions)):
        if starts[row] != start:
            start = at = starts[row]
            last_page, loaded_end, window, count = -2, -1, 1, 0
        while at <= row:
            last_page, loaded_end, window, count = _touched(positions[at], header_bytes, most_pages, last_page, loaded_end, window, count)
            at += 1
        reads[row] = count
    return reads


@njit(cache=True)
def _touched(position, header_bytes, most_pages, last_page, loaded_end, window, count):
    """The same after one header: (the page touched last, the first page that is not loaded, the pages of the next window, reads)."""
    first, last = position // PAGE_BYTES, (position + header_bytes - 1) // PAGE_BYTES
    for page in range(first, last + 1):
        if page >= loaded_end:
            if page <= last_page + 1:
                window = min(most_pages, max(SECOND_WINDOW_PAGES, 2 * window))
            else:
                window = 1
            loaded_end = page + window
            count += 1
        last_page = page
    return last_page, loaded_end, window, count
