"""How many device reads of the .log a lookup takes when nothing is in memory.

A scan reads the first bytes of each batch, from the index entry on. The kernel's read-ahead loads
1, 4, 8, 16, 32 ... pages at a time if batches are smaller than a page. For larger batches, each
header is a separate read. With an index interval of 1 MiB:

- batches of 1 KB: 500 headers in 500 KB, about 8 reads
- batches of 16 KB: 34 headers in 540 KB, 34 reads
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.format.walk import BatchObserver
from kafkaviz.search.binary_search import PAGE_BYTES

SECOND_WINDOW_PAGES = 4
WINDOW_PAGES = READ_AHEAD_BYTES // PAGE_BYTES  # most pages that the kernel reads ahead
BLOCK = 1 << 18  # the compiled loop is called for this many batches at a time
SCAN: np.dtype = np.dtype(
    [  # the state of a scan between two headers
        # the position of the last index entry; in `_reads` instead, the next row to read
        ("entry", "i8"),
        ("start", "i8"),  # the position where the scan began; in `_reads` instead, the row
        ("last_page", "i8"),  # the last page touched
        ("loaded_end", "i8"),  # the first page after those that are loaded
        ("window", "i8"),  # the number of pages that the last device read loaded
        ("count", "i8"),  # device reads so far
    ]
)
BEGIN = (0, 0, -2, -1, 1, 0)


@dataclass(frozen=True)
class ColdReads:
    """For each index interval, how many lookups take 0, 1, 2 ... device reads.

    Each batch's base offset is looked up once. `counts[i][n]` of these lookups take n reads with
    the interval `intervals[i]`.
    """

    intervals: np.ndarray
    counts: tuple[np.ndarray, ...]

    def __add__(self, other: "ColdReads") -> "ColdReads":
        pairs = zip(self.counts, other.counts, strict=True)
        return ColdReads(self.intervals, tuple(sweep.add_histograms(*pair) for pair in pairs))

    def at_interval(self, interval_bytes: int) -> "ColdReads":
        row = int(np.flatnonzero(self.intervals == interval_bytes)[0])
        return ColdReads(self.intervals[row : row + 1], self.counts[row : row + 1])

    def scaled(self, factor: float, first_lookups: int = 0) -> "ColdReads":
        """Returns all `counts` times `factor`. SweepParts.scaled explains `first_lookups`."""
        return ColdReads(
            self.intervals,
            tuple(
                sweep.scale_counts(counts, np.array([0, len(counts)]), factor, first_lookups)
                for counts in self.counts
            ),
        )


class ColdSweeper(BatchObserver[ColdReads]):
    """Counts the device reads of lookups in one segment. The batches arrive in chunks."""

    def __init__(self, intervals: np.ndarray, *, by_base_offset: bool = False) -> None:
        self._intervals = np.asarray(intervals, np.int64)
        self._header_bytes = scanned_bytes(by_base_offset=by_base_offset)
        self._log_bytes = 0
        self._scans = np.array([BEGIN] * len(intervals), SCAN)
        self._counts = [np.zeros(0, np.int64)] * len(intervals)

    def observe(self, batches: np.ndarray) -> None:
        sizes = np.ascontiguousarray(batches["size_bytes"], np.int64)
        is_single = batches["base_offset"] == batches["last_offset"]
        positions = np.cumsum(sizes) - sizes + self._log_bytes
        for row, interval in enumerate(self._intervals.tolist()):
            reads = _reads_of_interval(
                positions, is_single, interval, self._scans[row : row + 1], self._header_bytes
            )
            self._counts[row] = sweep.add_histograms(self._counts[row], np.bincount(reads))
        self._log_bytes += int(sizes.sum())

    def result(self) -> ColdReads:
        return ColdReads(self._intervals, tuple(self._counts))


def cold_reads_from_starts(
    positions: np.ndarray, starts: np.ndarray, intervals: np.ndarray, *, by_base_offset: bool
) -> ColdReads:
    """Counts the device reads of lookups with an existing index.

    `positions` has the position of each batch. `starts` has, for the lookup of each batch, the row
    of the batch where the scan begins. `intervals` has the one interval of the existing index.
    """
    scan = np.array([BEGIN], SCAN)
    header_bytes = scanned_bytes(by_base_offset=by_base_offset)
    counts = np.zeros(0, np.int64)
    for first in range(0, len(positions), BLOCK):
        stop = min(first + BLOCK, len(positions))
        reads = _reads(positions, starts, first, stop, scan, header_bytes)
        counts = sweep.add_histograms(counts, np.bincount(reads))
    return ColdReads(intervals, (counts,))


def scanned_bytes(*, by_base_offset: bool) -> int:
    """Returns how many bytes of each header a scan reads: 17 since Kafka 4.1, 61 before."""
    return MAGIC_END if by_base_offset else HEADER_BYTES


@njit(cache=True)
def _reads_of_interval(
    positions: np.ndarray,
    is_single: np.ndarray,
    interval: int,
    scans: np.ndarray,
    header_bytes: int,
) -> np.ndarray:
    """Returns how many device reads a lookup of each batch's base offset takes."""
    reads = np.empty(len(positions), np.int64)
    scan = scans[0]
    for row in range(len(positions)):
        position = positions[row]
        is_indexed = position - scan.entry > interval
        start = position if is_indexed and is_single[row] else scan.entry
        if start != scan.start:
            begin_scan(scan, start)
            if start < position:  # the entry points to an earlier batch
                touch_header(scan, start, header_bytes)
        touch_header(scan, position, header_bytes)
        reads[row] = scan.count
        if is_indexed:
            scan.entry = position
    return reads


@njit(cache=True)
def _reads(
    positions: np.ndarray,
    starts: np.ndarray,
    first: int,
    stop: int,
    scans: np.ndarray,
    header_bytes: int,
) -> np.ndarray:
    """Returns how many device reads a lookup of each batch in rows [first, stop) takes."""
    reads = np.empty(stop - first, np.int64)
    scan = scans[0]
    for row in range(first, stop):
        if starts[row] != scan.start:
            begin_scan(scan, starts[row])
            scan.entry = starts[row]
        while scan.entry <= row:  # scan.entry is the next row to read
            touch_header(scan, positions[scan.entry], header_bytes)
            scan.entry += 1
        reads[row - first] = scan.count
    return reads


@njit(cache=True)
def begin_scan(scan: np.record, start: int) -> None:
    scan.start = start
    scan.last_page = -2
    scan.loaded_end = -1
    scan.window = 1
    scan.count = 0


@njit(cache=True)
def touch_header(scan: np.record, position: int, header_bytes: int) -> None:
    first = position // PAGE_BYTES
    last = (position + header_bytes - 1) // PAGE_BYTES
    for page in range(first, last + 1):
        if page >= scan.loaded_end:
            if page <= scan.last_page + 1:
                scan.window = min(WINDOW_PAGES, max(SECOND_WINDOW_PAGES, 2 * scan.window))
            else:
                scan.window = 1
            scan.loaded_end = page + scan.window
            scan.count += 1
        scan.last_page = page
