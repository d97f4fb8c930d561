"""Computes what lookups by timestamp would cost with each index.interval.bytes.

A lookup takes the last time entry that is not above the target, and looks up the entry's offset in
the offset index. From there it reads batch headers until a batch is new enough.

A time entry is written only if the largest timestamp has grown. So records that are appended late,
with old timestamps, get no time entries. A lookup may have to read the headers of all batches with
such records.

The rules are from LogSegment.findOffsetByTimestamp of Kafka 0.10.1 to 4.3.1. The cost of reading
and decompressing one batch is the same for each interval, so it is left out.

21 bytes per batch stay in memory, because some lookups can be counted only at the segment's end.
"""

from dataclasses import dataclass, replace

import numpy as np

from kafkaviz.analysis.sweep.sums import SweepParts
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import UNKNOWN, has_delete_horizon
from kafkaviz.format.walk import BatchObserver

# the size of a batch, and whether it spans a single offset
SIZES: np.dtype = np.dtype([("size_bytes", "i4"), ("is_single", "?")])
MAX_GROWTH_ROWS = 1 << 18  # a column has at most this many spare rows


def headers(batches: np.ndarray, interval_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns how many headers a lookup of each base offset reads, and which batches have an entry.

    `batches` is an array of format.batch.BATCH or SIZES with all batches of a segment.
    """
    columns = batches if batches.dtype == SIZES else sizes(batches)
    return _headers(
        np.ascontiguousarray(columns["size_bytes"], np.int64),
        np.ascontiguousarray(columns["is_single"]),
        interval_bytes,
    )


def sizes(batches: np.ndarray) -> np.ndarray:
    table = np.empty(len(batches), SIZES)
    table["size_bytes"] = batches["size_bytes"]
    table["is_single"] = batches["base_offset"] == batches["last_offset"]
    return table


@njit(cache=True)
def _headers(
    sizes: np.ndarray, is_own: np.ndarray, interval_bytes: int
) -> tuple[np.ndarray, np.ndarray]:
    header_counts = np.empty(len(sizes), np.int64)
    is_indexed = np.zeros(len(sizes), np.bool_)
    start_row = 0
    since_bytes = 0
    for row in range(len(sizes)):
        header_counts[row] = row - start_row + 1
        if since_bytes > interval_bytes:
            is_indexed[row] = True
            start_row = row
            since_bytes = 0
            if is_own[row]:
                header_counts[row] = 1
        since_bytes += sizes[row]
    return header_counts, is_indexed


@dataclass
class Columns:
    """The columns of a segment's batches from which lookups by timestamp are counted.

    Attributes:
        sizes: an array of SIZES, one row per batch.
        newest_ms: the largest timestamp up to each batch.
        targets_ms: the first timestamps of the batches, ascending. Batches without a timestamp are
            left out. So are first timestamps that compaction has replaced, and first timestamps
            above the last value of `newest_ms`.
    """

    sizes: np.ndarray
    newest_ms: np.ndarray
    targets_ms: np.ndarray

    def forget_times(self) -> None:
        self.newest_ms = self.targets_ms = np.zeros(0, np.int64)


class ColumnsBuilder(BatchObserver[Columns]):
    def __init__(self) -> None:
        self._sizes = GrowingColumn(SIZES)
        self._newest = GrowingColumn(np.int64)
        self._targets = GrowingColumn(np.int64)
        self._newest_ms = UNKNOWN

    def observe(self, batches: np.ndarray) -> None:
        newest = np.maximum.accumulate(np.append(self._newest_ms, batches["max_timestamp_ms"]))[1:]
        self._newest_ms = int(newest[-1])
        first = batches["base_timestamp_ms"][~has_delete_horizon(batches)]
        self._sizes.add(sizes(batches))
        self._newest.add(newest)
        self._targets.add(first[first >= 0])

    def result(self) -> Columns:
        targets = self._targets.end()
        targets.sort()
        return Columns(
            self._sizes.end(),
            self._newest.end(),
            targets[: np.searchsorted(targets, self._newest_ms, "right")],
        )


class GrowingColumn:
    """An array that grows in place, so that no second copy needs memory."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._rows = np.empty(0, dtype)
        self._length = 0

    def add(self, rows: np.ndarray) -> None:
        old_length = self._length
        self._length += len(rows)
        if self._length > len(self._rows):
            # refcheck=False is safe: no view of the array is given out before end()
            self._rows.resize(self._length + min(self._length, MAX_GROWTH_ROWS), refcheck=False)
        self._rows[old_length : self._length] = rows

    def end(self) -> np.ndarray:
        """Returns all rows. No rows can be added afterwards."""
        rows = self._rows
        self._rows = self._rows[:0].copy()
        rows.resize(self._length, refcheck=False)
        return rows


def sweep_columns(columns: Columns, batch_sweep: SweepParts) -> SweepParts:
    """Returns the cost of lookups in a segment by the first timestamps of its batches.

    `batch_sweep` is the result of a sweep of the segment without `append_bytes` and `by_append`, so
    each batch may get an entry.
    """
    sizes = np.ascontiguousarray(columns.sizes["size_bytes"])
    skipped = []
    histograms = []
    for interval in batch_sweep.intervals.tolist():
        counts = np.zeros(len(sizes) + 1, np.int64)
        skipped.append(
            _count_lookups(sizes, columns.newest_ms, columns.targets_ms, interval, counts)
        )
        histograms.append(np.trim_zeros(counts, "b"))
    return replace(
        batch_sweep,
        skipped_bytes=np.array(skipped, np.int64),
        headers=np.concatenate(histograms),
        starts=np.cumsum([0, *map(len, histograms)]),
        targets=len(columns.targets_ms),
    )


@njit(cache=True)
def find_answers(
    sizes: np.ndarray, newest: np.ndarray, targets: np.ndarray, row: int, position: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the row and the position of the batch that a lookup of each target finds.

    `newest` is `Columns.newest_ms`, and `targets` ascend. The search begins at the batch in row
    `row`, which begins at byte `position`.
    """
    rows, positions = np.empty((2, len(targets)), np.int64)
    for number in range(len(targets)):
        while newest[row] < targets[number]:
            position += sizes[row].size_bytes
            row += 1
        rows[number] = row
        positions[number] = position
    return rows, positions


@njit(cache=True)
def _count_lookups(
    sizes: np.ndarray, newest: np.ndarray, targets: np.ndarray, interval: int, counts: np.ndarray
) -> int:
    """Counts how many headers each lookup reads, with the indexes of one interval.

    Fills `counts` with the number of lookups that read 0, 1, 2 ... headers. Returns the bytes that
    scans skip, summed over all lookups. Targets must ascend.
    """
    skipped = 0
    answered = 0
    # the batch that answers the last target
    answer_row = answer_position = 0
    # start_: the batch of the last offset entry. newest_: the value of start_ when the newest
    # timestamp was appended. entry_: the batch where lookups start, to which the last time entry
    # leads
    start_row = start_position = 0
    newest_row = newest_position = 0
    entry_row = entry_position = 0
    last_ms = -1
    position = 0
    # two more rounds: for the final time entry, and for the targets after it
    for row in range(len(sizes) + 2):
        is_end = row > len(sizes)
        is_indexed = row >= len(sizes)
        row_ms = newest[min(row, len(sizes) - 1)]
        if row < len(sizes):
            is_indexed = position - start_position > interval
            if is_indexed:
                start_row = row
                start_position = position
            if row == 0 or row_ms > newest[row - 1]:
                newest_row = start_row
                newest_position = start_position
            position += sizes[row]
        if is_end or (is_indexed and row_ms > last_ms):
            while answered < len(targets) and (is_end or targets[answered] < row_ms):
                while newest[answer_row] < targets[answered]:
                    answer_position += sizes[answer_row]
                    answer_row += 1
                headers = answer_row - entry_row + 1
                counts[headers] += 1
                skipped += answer_position - entry_position
                answered += 1
            last_ms = row_ms
            entry_row = newest_row
            entry_position = newest_position
    return skipped
