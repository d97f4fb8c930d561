"""How many device reads a lookup takes that finds nothing of the .log in memory.

The kernel's read-ahead, played through.

A scan reads the first bytes of each batch, from the entry on. Where batches are smaller than a page
the kernel sees a file that is read on and on, and loads 1, 4, 8, 16, 32 ... pages at a time; where
they are larger each header is a read of its own:

    batches of 1 KB,  interval 1 MiB     500 headers in 500 KB, some 8 reads
    batches of 16 KB, interval 1 MiB      34 headers in 540 KB, 34 reads
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.format.batch_observer import BatchObserver
from kafkaviz.search.slots import PAGE_BYTES

SECOND_WINDOW_PAGES = 4
BLOCK = 1 << 18  # batches that are counted at once
SCAN: np.dtype = np.dtype(
    [  # a scan that goes on
        # the position of the last entry; of scans whose starts are known, the row that is not read
        # yet
        ("entry", "i8"),
        ("start", "i8"),  # where it began, a position or a row
        ("last_page", "i8"),  # touched
        ("loaded_end", "i8"),  # the first page that is not loaded
        ("window", "i8"),  # pages that are loaded next
        ("count", "i8"),  # device reads so far
    ]
)
BEGIN = (0, 0, -2, -1, 1, 0)


@dataclass(frozen=True)
class ColdReads:
    """How many lookups take how many device reads, of each interval.

    There is one lookup at each batch's base offset; they are counted by their number of reads from
    0.
    """

    intervals: np.ndarray
    counts: tuple[np.ndarray, ...]

    def __add__(self, other: "ColdReads") -> "ColdReads":
        """Both together, of the same intervals."""
        return ColdReads(
            self.intervals,
            tuple(
                sweep.add_histograms(*pair) for pair in zip(self.counts, other.counts, strict=True)
            ),
        )

    def at_interval(self, interval_bytes: int) -> "ColdReads":
        """Those of one interval."""
        row = int(np.flatnonzero(self.intervals == interval_bytes)[0])
        return ColdReads(self.intervals[row : row + 1], self.counts[row : row + 1])

    @property
    def mean(self) -> np.ndarray:
        """(k,), NaN of no lookup."""
        return np.array([sweep.mean(counts) for counts in self.counts])


class ColdSweeper(BatchObserver[ColdReads]):
    """One segment while it is read, chunk by chunk.

    Of each interval a few numbers go on from one to the next.
    """

    def __init__(
        self,
        intervals: np.ndarray,
        *,
        by_base_offset: bool = False,
        read_ahead_bytes: int = READ_AHEAD_BYTES,
    ) -> None:
        """Starts at the beginning of a segment.

        Args:
            by_base_offset: the scan of 4.1, which takes 17 bytes of a header and not 61.
        """
        self._intervals, self._header_and_window, self._log_bytes = (
            np.asarray(intervals, np.int64),
            header_and_window(by_base_offset=by_base_offset, read_ahead_bytes=read_ahead_bytes),
            0,
        )
        self._scans, self._counts = (
            np.array([BEGIN] * len(intervals), SCAN),
            [np.zeros(0, np.int64)] * len(intervals),
        )

    def observe(self, batches: np.ndarray) -> None:
        """The next batches of the segment: format.batch.BATCH."""
        sizes, is_single = (
            np.ascontiguousarray(batches["size_bytes"], np.int64),
            batches["base_offset"] == batches["last_offset"],
        )
        positions = np.cumsum(sizes) - sizes + self._log_bytes
        for row, interval in enumerate(self._intervals.tolist()):
            reads = _reads_of_interval(
                positions, is_single, interval, self._scans[row : row + 1], *self._header_and_window
            )
            self._counts[row] = sweep.add_histograms(self._counts[row], np.bincount(reads))
        self._log_bytes += int(sizes.sum())

    def result(self) -> ColdReads:
        """The counts of the entire segment."""
        return ColdReads(self._intervals, tuple(self._counts))


def cold_reads(
    batches: np.ndarray,
    intervals: np.ndarray,
    *,
    by_base_offset: bool = False,
    read_ahead_bytes: int = READ_AHEAD_BYTES,
) -> ColdReads:
    """Of one segment's batches (format.batch.BATCH), all at once."""
    sweeper = ColdSweeper(
        intervals, by_base_offset=by_base_offset, read_ahead_bytes=read_ahead_bytes
    )
    sweeper.observe(batches)
    return sweeper.result()


def cold_reads_from_starts(
    positions: np.ndarray,
    starts: np.ndarray,
    intervals: np.ndarray,
    *,
    by_base_offset: bool,
    read_ahead_bytes: int = READ_AHEAD_BYTES,
) -> ColdReads:
    """The device reads where it is known at which row each batch's scan starts.

    Args:
        positions: (n,) of integers, of all batches of a segment.
        starts: (n,) of integers, the rows.
        intervals: of one interval, that of the index.
    """
    scan, scan_limits, counts = (
        np.array([BEGIN], SCAN),
        header_and_window(by_base_offset=by_base_offset, read_ahead_bytes=read_ahead_bytes),
        np.zeros(0, np.int64),
    )
    for first in range(0, len(positions), BLOCK):
        counts = sweep.add_histograms(
            counts,
            np.bincount(
                _reads(
                    positions, starts, first, min(first + BLOCK, len(positions)), scan, *scan_limits
                )
            ),
        )
    return ColdReads(intervals, (counts,))


def header_and_window(*, by_base_offset: bool, read_ahead_bytes: int) -> tuple[int, int]:
    """How the release and the kernel read a header.

    Returns:
        The bytes of a header that are read, and the most pages that are read ahead.
    """
    return (MAGIC_END if by_base_offset else HEADER_BYTES), max(1, read_ahead_bytes // PAGE_BYTES)


@njit(cache=True)
def _reads_of_interval(
    positions: np.ndarray,
    is_single: np.ndarray,
    interval: int,
    scans: np.ndarray,
    header_bytes: int,
    most_pages: int,
) -> np.ndarray:
    """How many device reads a lookup of each batch's base offset takes.

    Each batch may get an entry.
    """
    reads, scan = np.empty(len(positions), np.int64), scans[0]
    for row in range(len(positions)):
        position = positions[row]
        is_indexed = position - scan.entry > interval
        start = position if is_indexed and is_single[row] else scan.entry
        if start != scan.start:
            begin_scan(scan, start)
            if start < position:  # the entry of the batch before, which had more than one offset
                touch_header(scan, start, header_bytes, most_pages)
        touch_header(scan, position, header_bytes, most_pages)
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
    most_pages: int,
) -> np.ndarray:
    """The same of the rows from first to stop, whose scans start at these rows."""
    reads, scan = np.empty(stop - first, np.int64), scans[0]
    for row in range(first, stop):
        if starts[row] != scan.start:
            begin_scan(scan, starts[row])
            scan.entry = starts[row]
        while scan.entry <= row:  # the row that it has not read yet
            touch_header(scan, positions[scan.entry], header_bytes, most_pages)
            scan.entry += 1
        reads[row - first] = scan.count
    return reads


@njit(cache=True)
def begin_scan(scan: np.record, start: int) -> None:
    """A scan that has touched nothing yet."""
    scan.start, scan.last_page, scan.loaded_end, scan.window, scan.count = start, -2, -1, 1, 0


@njit(cache=True)
def touch_header(scan: np.record, position: int, header_bytes: int, most_pages: int) -> None:
    """The state of a scan after one more header."""
    first, last = position // PAGE_BYTES, (position + header_bytes - 1) // PAGE_BYTES
    for page in range(first, last + 1):
        if page >= scan.loaded_end:
            if page <= scan.last_page + 1:
                scan.window = min(most_pages, max(SECOND_WINDOW_PAGES, 2 * scan.window))
            else:
                scan.window = 1
            scan.loaded_end = page + scan.window
            scan.count += 1
        scan.last_page = page
