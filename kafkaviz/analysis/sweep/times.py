"""The cost that each index.interval.bytes would have had for lookups by timestamp.

A lookup takes the last time entry that is not above its timestamp, and looks up that entry's offset
in the offset index. From there it reads headers until a batch is new enough. Time entries are only
written when a newer timestamp comes. If a producer appends old records, no time entries are
written, and a lookup just above the newest timestamp so far reads all of them.

This is LogSegment.findOffsetByTimestamp of Kafka 0.10.1 to 4.3.1. The rest of a lookup does not
depend on the interval: one whole batch is read and decompressed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kafkaviz.analysis.sweep.columns import Columns
from kafkaviz.analysis.sweep.sums import INTERVALS, SweepParts, no_parts
from kafkaviz.analysis.sweep.sweeper import parts
from kafkaviz.binary.lazy_njit import njit


def sweep_times(
    batches: np.ndarray | Sequence[np.ndarray], intervals: Iterable[int] = INTERVALS
) -> SweepParts:
    """Returns the cost of one lookup per batch, for its first timestamp, in its own segment.

    A batch is left out if it has no timestamp, if compaction replaced its first timestamp, or if
    that is above all largest timestamps.

    Args:
        batches: rows of format.batch.BATCH, of one or several segments.
    """
    swept_intervals = np.unique(np.fromiter(intervals, np.int64))
    sums = no_parts(swept_intervals)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        if len(segment):
            sums += sweep_columns(Columns.from_batches(segment), parts(segment, swept_intervals))
    return sums


def sweep_columns(columns: Columns, batch_sweep: SweepParts) -> SweepParts:
    """Returns the cost of a segment's lookups by first timestamp, from its kept columns.

    Args:
        batch_sweep: the sweep of the segment batch by batch, with its intervals and entries.
    """
    lookup_results = [
        _count_lookups(columns.sizes, columns.newest_ms, columns.targets_ms, interval)
        for interval in batch_sweep.intervals.tolist()
    ]
    starts = np.concatenate([[0], np.cumsum([len(headers) for headers, _ in lookup_results])])
    skipped = np.array([skipped for _, skipped in lookup_results], np.int64)
    headers = np.concatenate([headers for headers, _ in lookup_results])
    return replace(
        batch_sweep,
        skipped_bytes=skipped,
        headers=headers,
        starts=starts,
        targets=len(columns.targets_ms),
    )


@njit(cache=True)
def find_answers(
    sizes: np.ndarray, newest: np.ndarray, targets: np.ndarray, row: int, position: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the row and the position of the batch that answers each of the ascending targets.

    Args:
        row: the first row that may answer.
        position: the position of that row.
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
    sizes: np.ndarray, newest: np.ndarray, targets: np.ndarray, interval: int
) -> tuple[np.ndarray, int]:
    """Counts the lookups in the indexes that an interval produces.

    Targets ascend, and so do the time entries they start from: targets below a new entry start from
    the entry before it.

    Returns:
        The number of lookups by headers read, and the bytes that all of them skip.
    """
    # lookups: number answered, most headers, bytes skipped, and the row and position reached
    counts = np.zeros(64, np.int64)
    lookups = (0, 0, 0, 0, 0)
    # row and position of: the last offset entry, the last one when the newest timestamp came, and
    # the start of a lookup
    start = newest_start = entry_start = (0, 0)
    last_ms = -1
    position = 0
    for row in range(len(sizes)):
        is_indexed = position - start[1] > interval
        if is_indexed:
            start = (row, position)
        if row == 0 or newest[row] > newest[row - 1]:
            newest_start = start
        if is_indexed and newest[row] > last_ms:
            counts, lookups = _answer_up_to(
                sizes, newest, targets, newest[row] - 1, entry_start, counts, lookups
            )
            last_ms = newest[row]
            entry_start = newest_start
        position += sizes[row].size_bytes
    if newest[-1] > last_ms:  # written as the segment is closed
        counts, lookups = _answer_up_to(
            sizes, newest, targets, newest[-1] - 1, entry_start, counts, lookups
        )
        entry_start = newest_start
    counts, lookups = _answer_up_to(
        sizes, newest, targets, newest[-1], entry_start, counts, lookups
    )
    return counts[: lookups[1] + 1 if len(targets) else 0], lookups[2]


@njit(cache=True)
def _answer_up_to(
    sizes: np.ndarray,
    newest: np.ndarray,
    targets: np.ndarray,
    up_to_ms: int,
    entry_start: tuple[int, int],
    counts: np.ndarray,
    lookups: tuple[int, int, int, int, int],
) -> tuple[np.ndarray, tuple[int, int, int, int, int]]:
    answered, longest, skipped, row, position = lookups
    while answered < len(targets) and targets[answered] <= up_to_ms:
        while newest[row] < targets[answered]:
            position += sizes[row].size_bytes
            row += 1
        headers = row - entry_start[0] + 1
        if headers >= len(counts):
            longer_counts = np.zeros(2 * headers, np.int64)
            longer_counts[: len(counts)] = counts
            counts = longer_counts
        counts[headers] += 1
        longest = max(longest, headers)
        skipped += position - entry_start[1]
        answered += 1
    return counts, (answered, longest, skipped, row, position)
