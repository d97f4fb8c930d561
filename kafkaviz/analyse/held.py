"""The index that is there: what lookups read in it, whoever wrote it, and whether the replay of its interval would have written the same.

A follower that fetched a segment's first 98 KB at once appended them at once, and up to 3.9.0 wrote no entry for any of it:

    interval 512, replayed batch by batch    405 entries, p99 of 4 headers
    the .index of that follower               82 entries, p99 of 245 headers

A restart or a truncation lets the writer count from 0 again, so that one gap grows to twice the interval; nothing else makes gaps longer,
and nothing makes one shorter.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kafkaviz.analyse import cold_reads, sweep
from kafkaviz.analyse.cold_reads import ColdReads
from kafkaviz.analyse.sweep import SweepParts
from kafkaviz.analyse.sweep.times import targets_of
from kafkaviz.format.batch import UNKNOWN

RESTARTS, RESTARTS_SHARE = 4, 0.05  # gaps that restarts may have made longer: so many, or this share of all


@dataclass(frozen=True)
class Gaps:
    """How far entries lie apart, against an interval. `+` adds those of another segment.

    late: gaps in which a batch has none although more than the interval lies before it; longest_bytes: before the last such batch, 0 of
    none; early: entries that came before the interval was over; largest_batch_bytes: of the .log.
    """

    interval_bytes: int
    entries: int = 0
    late: int = 0
    longest_bytes: int = 0
    early: int = 0
    largest_batch_bytes: int = 0

    def __add__(self, other: "Gaps") -> "Gaps":
        """Both together."""
        return Gaps(
            self.interval_bytes, self.entries + other.entries, self.late + other.late, max(self.longest_bytes, other.longest_bytes),
            self.early + other.early, max(self.largest_batch_bytes, other.largest_batch_bytes),
        )  # fmt: skip

    @property
    def is_coarse(self) -> bool:
        """Whether gaps are longer than restarts explain."""
        too_long = self.longest_bytes > 2 * self.interval_bytes + self.largest_batch_bytes
        return too_long or self.late > max(RESTARTS, RESTARTS_SHARE * self.entries)

    @property
    def is_dense(self) -> bool:
        """Whether an entry was written before the interval was over."""
        return self.early > 0


@dataclass(frozen=True)
class Held:
    """Lookups in the indexes that are there, summed over segments; each part is of one interval, today's. `+` adds.

    parts: of base offsets; every_offset, timestamps: of other targets; cold: the device reads of base offsets.
    """

    parts: SweepParts
    every_offset: SweepParts
    timestamps: SweepParts
    cold: ColdReads
    gaps: Gaps

    def __add__(self, other: "Held") -> "Held":
        """Both together."""
        return Held(
            self.parts + other.parts, self.every_offset + other.every_offset, self.timestamps + other.timestamps, self.cold + other.cold,
            self.gaps + other.gaps,
        )  # fmt: skip


def replayed(parts: SweepParts, every_offset: SweepParts, timestamps: SweepParts, cold: ColdReads, interval_bytes: int) -> Held:
    """What a replay says of one interval, where there is no index that could tell."""
    only = (one.only(interval_bytes) for one in (parts, every_offset, timestamps))
    return Held(*only, cold.only(interval_bytes), Gaps(interval_bytes))


def held(
    batches: np.ndarray, offsets: np.ndarray, times: np.ndarray, otherwise: Held, by_base_offset: bool, read_ahead_bytes: int
) -> Held | None:
    """Of one segment: its batches (format.batch.BATCH), its entries (log.segment.OFFSET_ENTRY and TIME_ENTRY), and what the replay says.

    None where an entry points to no batch: such an index is built anew before it is used.
    """
    at = np.searchsorted(batches["position"], offsets["position"])
    if (at >= len(batches)).any() or (batches["position"][at] != offsets["position"]).any() or (np.diff(at) < 1).any():
        return None
    first = np.append(0, batches["last_offset"][:-1] + 1)
    base = np.where(batches["base_offset"] == UNKNOWN, first, batches["base_offset"])

    def starts(targets: np.ndarray) -> np.ndarray:
        slot = np.searchsorted(offsets["offset"], targets, "right") - 1
        return np.where(slot >= 0, at[np.maximum(slot, 0)] if len(at) else 0, 0)

    of_base = np.minimum(starts(base), np.arange(len(batches)))
    count = {"entries": np.array([len(offsets)]), "time_entries": np.array([len(times)])}
    return Held(
        replace(_of_base(batches, of_base, otherwise.parts), **count),
        replace(_of_every(batches, of_base, starts(batches["last_offset"]), by_base_offset, otherwise.every_offset), **count),
        replace(_of_times(batches, times, starts, otherwise.timestamps), **count),
        cold_reads.of_starts(batches, of_base, otherwise.cold.intervals, by_base_offset, read_ahead_bytes),
        gaps(batches["position"], batches["size_bytes"], at, otherwise.gaps.interval_bytes),
    )  # fmt: skip


def gaps(positions: np.ndarray, sizes: np.ndarray, at: np.ndarray, interval_bytes: int) -> Gaps:
    """at: the rows of the batches that have an entry."""
    rows = np.arange(len(positions))
    slot = np.searchsorted(at, rows, "left") - 1  # of the entry before
    since = positions - np.where(slot >= 0, positions[at[np.maximum(slot, 0)]] if len(at) else 0, 0)
    is_indexed = np.zeros(len(positions), bool)
    is_indexed[at] = True
    late = ~is_indexed & (since > interval_bytes)
    return Gaps(
        interval_bytes, len(at), len(np.unique(slot[late])), int(since[late].max(initial=0)),
        int((since[is_indexed] <= interval_bytes).sum()), int(sizes.max(initial=0)),
    )  # fmt: skip


def _of_base(batches: np.ndarray, starts: np.ndarray, like: SweepParts) -> SweepParts:
    rows = np.arange(len(batches))
    return _summed(like, np.bincount(rows - starts + 1), batches["position"] - batches["position"][starts])


def _of_every(batches: np.ndarray, starts: np.ndarray, of_last: np.ndarray, by_base_offset: bool, like: SweepParts) -> SweepParts:
    """Of a batch only the last offset can start from the batch's own entry; how many headers it takes beyond is the sweep's own rule."""
    rows = np.arange(len(batches))
    of_last = np.minimum(of_last, rows)
    targets = sweep.every_offset(batches, by_base_offset)
    near, far = targets["near"] - targets["near_last"], targets["far"] - targets["far_last"]
    weighed = ((near, starts, 0), (far, starts, 1), (targets["near_last"], of_last, 0), (targets["far_last"], of_last, 1))
    counts, skipped = np.zeros(1, np.int64), []
    for weights, start, more in weighed:
        counts = sweep.added(counts, np.bincount(rows - start + 1 + more, weights).astype(np.int64))
        skipped.append(weights * (batches["position"] - batches["position"][start]))
    return _summed(like, counts, np.concatenate(skipped))


def _of_times(batches: np.ndarray, times: np.ndarray, starts: Callable[[np.ndarray], np.ndarray], like: SweepParts) -> SweepParts:
    newest = np.maximum.accumulate(batches["max_timestamp_ms"])
    targets = targets_of(batches)
    answers = np.searchsorted(newest, targets)
    slot = np.searchsorted(times["timestamp_ms"], targets, "right") - 1
    known = times["offset"][np.maximum(slot, 0)] if len(times) else np.zeros(len(slot), np.int64)
    start = np.where(slot >= 0, starts(known), 0)
    answers = np.maximum(answers, start)
    return _summed(like, np.bincount(answers - start + 1), batches["position"][answers] - batches["position"][start])


def _summed(like: SweepParts, counts: np.ndarray, skipped: np.ndarray) -> SweepParts:
    counts = np.trim_zeros(counts.astype(np.int64), "b")
    return replace(like, headers=counts, starts=np.array([0, len(counts)]), skipped_bytes=np.array([int(skipped.sum())]))
