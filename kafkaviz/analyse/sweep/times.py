"""What every index.interval.bytes would have cost lookups by timestamp: the headers from where the two indexes lead to the batch.

A lookup takes the last time entry that is not above its timestamp, looks its offset up in the offset index, and reads headers from there
until a batch is as new. Entries of the time index are only written where a newer timestamp came: while old records are filled in there are
none, and a lookup just above the newest so far reads all that was filled in.

As LogSegment.findOffsetByTimestamp of Kafka 0.10.1 to 4.3.1. What a lookup takes beside headers does not depend on the interval: the
whole of the batch is read, and decompressed, once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kafkaviz.analyse.sweep.sums import INTERVALS, SweepParts, none
from kafkaviz.analyse.sweep.sweeper import parts
from kafkaviz.binary.compiled import njit
from kafkaviz.format.batch import has_delete_horizon


def sweep_times(batches: np.ndarray | Sequence[np.ndarray], intervals: Iterable[int] = INTERVALS) -> SweepParts:
    """Lookups of each batch's first timestamp, once a batch, in its own segment; batches: format.batch.BATCH, of one segment or several.

    A batch without a timestamp is none, nor is one whose first timestamp compaction replaced or lies above all largest ones.
    """
    wanted = np.unique(np.fromiter(intervals, np.int64))
    found = none(wanted)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        if len(segment):
            found += _of_segment(segment, wanted)
    return found


def _of_segment(batches: np.ndarray, intervals: np.ndarray) -> SweepParts:
    sizes = np.ascontiguousarray(batches["size_bytes"], np.int64)
    largest = np.ascontiguousarray(batches["max_timestamp_ms"], np.int64)
    newest = np.maximum.accumulate(largest)
    targets = targets_of(batches)
    owners = np.searchsorted(newest, newest)  # the batch that the largest timestamp so far came with
    answers = np.searchsorted(newest, targets)
    positions = np.cumsum(sizes) - sizes
    summed = parts(batches, intervals)
    starts = [_starts(positions, newest, owners, targets, int(interval)) for interval in intervals]
    counts = [np.bincount(answers - start + 1) for start in starts]
    borders = np.concatenate([[0], np.cumsum([len(one) for one in counts])])
    skipped = np.array([(positions[answers] - positions[start]).sum() for start in starts], np.int64)
    headers = np.concatenate(counts).astype(np.int64)
    return replace(summed, skipped_bytes=skipped, headers=headers, starts=borders, targets=len(targets))


def targets_of(batches: np.ndarray) -> np.ndarray:
    """The timestamps that are looked up in one segment's batches, in ascending order."""
    targets = batches["base_timestamp_ms"][~has_delete_horizon(batches)]
    return np.sort(targets[(targets >= 0) & (targets <= batches["max_timestamp_ms"].max())].astype(np.int64))


@njit(cache=True)
def _starts(positions, newest, owners, targets, interval):
    """The row of the batch that each scan starts at; the targets ascend, and with them the entries that both searches end at."""
    entries, times = np.empty(len(positions), np.int64), np.empty(len(positions) + 1, np.int64)
    leads = np.empty(len(positions) + 1, np.int64)  # of each time entry, the row of the batch whose last offset it holds
    count, time_count, start = 0, 0, 0
    for row in range(len(positions)):
        if positions[row] - positions[start] > interval:
            entries[count] = start = row
            count += 1
            if newest[row] > (times[time_count - 1] if time_count else -1):
                times[time_count], leads[time_count] = newest[row], owners[row]
                time_count += 1
    if newest[-1] > (times[time_count - 1] if time_count else -1):
        times[time_count], leads[time_count] = newest[-1], owners[-1]
        time_count += 1
    found = np.zeros(len(targets), np.int64)
    time_slot, slot = -1, -1
    for at in range(len(targets)):
        while time_slot + 1 < time_count and times[time_slot + 1] <= targets[at]:
            time_slot += 1
        while time_slot >= 0 and slot + 1 < count and entries[slot + 1] <= leads[time_slot]:
            slot += 1
        if slot >= 0:
            found[at] = entries[slot]
    return found
