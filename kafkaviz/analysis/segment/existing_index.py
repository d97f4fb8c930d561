"""Computes the cost of lookups in an existing index.

A replay of the same batches in the simulated broker may write a different index. For example, a
follower appended the first 98 KB of a segment at once. Up to Kafka 3.9.0, a follower wrote no entry
for a batch in these bytes:

    interval 512, replayed batch by batch    405 entries, 99 % of lookups read up to 4 headers
    the .index of that follower               82 entries, 99 % of lookups read up to 245 headers

Restarts and truncations also make gaps longer, up to twice the interval. Only a smaller interval
makes gaps shorter.
"""

from dataclasses import dataclass, replace

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost import cold_reads
from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.sweep import Columns, SweepParts
from kafkaviz.analysis.sweep.times import GrowingColumn, find_answers
from kafkaviz.format.batch import UNKNOWN
from kafkaviz.format.walk import BatchObserver

UNREAD_ROW = np.iinfo(np.int64).max
BLOCK = 1 << 18  # this many lookups are counted at once
# restarts can explain this number of long gaps, or this share of all gaps
RESTARTS = 4
RESTARTS_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class EntryGaps:
    """The gaps between the entries of an index, compared with an index.interval.bytes.

    Attributes:
        late: the number of gaps with a batch that should have an entry but has none.
        longest_bytes: the most .log bytes from an entry to a batch that should have an entry but
            has none. 0: no such batch.
        early: how many entries follow the previous entry by at most `interval_bytes`.
    """

    interval_bytes: int
    entries: int = 0
    late: int = 0
    longest_bytes: int = 0
    early: int = 0
    largest_batch_bytes: int = 0

    def __add__(self, other: "EntryGaps") -> "EntryGaps":
        return EntryGaps(
            interval_bytes=self.interval_bytes,
            entries=self.entries + other.entries,
            late=self.late + other.late,
            longest_bytes=max(self.longest_bytes, other.longest_bytes),
            early=self.early + other.early,
            largest_batch_bytes=max(self.largest_batch_bytes, other.largest_batch_bytes),
        )

    @property
    def is_coarse(self) -> bool:
        """Whether the entries are farther apart than restarts can explain.

        Either one gap is too long, or too many gaps are `late`.
        """
        too_long = self.longest_bytes > 2 * self.interval_bytes + self.largest_batch_bytes
        return too_long or self.late > max(RESTARTS, RESTARTS_SHARE * self.entries)

    @property
    def is_dense(self) -> bool:
        return self.early > 0


@dataclass(frozen=True)
class ExistingIndexCost:
    """The cost of lookups in the existing indexes, summed over segments.

    Each SweepParts has one interval: the current index.interval.bytes.
    """

    parts: SweepParts  # lookups of the base offset of each batch
    every_offset: SweepParts
    timestamps: SweepParts
    cold: ColdReads  # lookups of base offsets, if nothing is in memory
    gaps: EntryGaps

    def __add__(self, other: "ExistingIndexCost") -> "ExistingIndexCost":
        return ExistingIndexCost(
            self.parts + other.parts,
            self.every_offset + other.every_offset,
            self.timestamps + other.timestamps,
            self.cold + other.cold,
            self.gaps + other.gaps,
        )

    def scaled(self, log_bytes: int, segments: int, first_lookups: int) -> "ExistingIndexCost":
        """Returns the estimate for a larger log (`SweepParts.scaled`). `gaps` does not change."""
        return replace(
            self,
            parts=self.parts.scaled(log_bytes, segments, first_lookups),
            every_offset=self.every_offset.scaled(log_bytes, segments),
            timestamps=self.timestamps.scaled(log_bytes, segments),
            cold=self.cold.scaled(log_bytes / max(1, self.parts.log_bytes), first_lookups),
        )


class ExistingIndexSweeper(BatchObserver[bool]):
    """Counts lookups in a segment's existing indexes while its .log is read in chunks.

    `offsets` and `times` are arrays of OFFSET_ENTRY and TIME_ENTRY of log.segment.
    """

    def __init__(
        self, offsets: np.ndarray, times: np.ndarray, interval_bytes: int, *, by_base_offset: bool
    ) -> None:
        self._keys = np.ascontiguousarray(offsets["offset"])
        self._positions = np.ascontiguousarray(offsets["position"])
        # the rows of the batches to which the entries point
        self._rows = np.full(len(offsets), UNREAD_ROW)
        self._times = times
        self._by_base_offset = by_base_offset
        self._matched_entries = 0
        self._is_usable = not (np.diff(self._positions) < 1).any()
        self._gaps = EntryGaps(interval_bytes=interval_bytes)
        self._late_slot = -2
        self._batches = self._next_offset = 0
        # the row at which a scan for each batch's base offset starts
        self._starts = GrowingColumn(np.int32)
        self._base_counter = _HeaderCounter()
        self._every_counter = _HeaderCounter()
        # not counted until it is known whether more batches follow
        self._last_batches: np.ndarray | None = None

    def observe(self, batches: np.ndarray) -> None:
        if self._last_batches is not None:
            self._count(self._last_batches, is_end=False)
        self._last_batches = batches

    def result(self) -> bool:
        """Returns whether entries point to batch starts, in order. If not, `cost` is unknown."""
        if self._last_batches is not None:
            self._count(self._last_batches, is_end=True)
        return self._is_usable and self._matched_entries == len(self._rows)

    def cost(self, columns: Columns, replay_cost: ExistingIndexCost) -> ExistingIndexCost:
        """Returns the cost of lookups in the existing index, once all batches were observed.

        Also deletes the times in `columns`, to save memory. Sums that do not depend on the index
        come from `replay_cost`.
        """
        time_counter = self._count_times(columns)
        columns.forget_times()
        sizes = columns.sizes["size_bytes"]
        batch_positions = np.cumsum(sizes, dtype=np.int64)
        batch_positions -= sizes
        return ExistingIndexCost(
            self._replace_counts(replay_cost.parts, self._base_counter),
            self._replace_counts(replay_cost.every_offset, self._every_counter),
            self._replace_counts(replay_cost.timestamps, time_counter),
            cold_reads.cold_reads_from_starts(
                batch_positions,
                self._starts.end(),
                replay_cost.cold.intervals,
                by_base_offset=self._by_base_offset,
            ),
            self._gaps,
        )

    def _replace_counts(self, swept: SweepParts, counter: "_HeaderCounter") -> SweepParts:
        counts = np.trim_zeros(counter.counts, "b")
        return replace(
            swept,
            entries=np.array([len(self._rows)]),
            time_entries=np.array([len(self._times)]),
            last_times=np.zeros(1, np.int64),
            batches_to_entry=self._rows[-1:] if len(self._rows) else np.zeros(1, int),
            headers=counts,
            starts=np.array([0, len(counts)]),
            skipped_bytes=np.array([counter.skipped_bytes]),
        )

    def _count_times(self, columns: Columns) -> "_HeaderCounter":
        counter = _HeaderCounter()
        row = 0
        position = 0
        for first in range(0, len(columns.targets_ms), BLOCK):
            targets = columns.targets_ms[first : first + BLOCK]
            rows, positions = find_answers(columns.sizes, columns.newest_ms, targets, row, position)
            row = int(rows[-1])
            position = int(positions[-1])
            slot = np.searchsorted(self._times["timestamp_ms"], targets, "right") - 1
            offsets = self._times["offset"][slot] if len(self._times) else slot
            start, start_position = (
                np.where(slot >= 0, column, 0) for column in self._floor(offsets)
            )
            counter.add(
                np.maximum(rows, start) - start + 1,
                np.maximum(positions, start_position) - start_position,
            )
        return counter

    def _floor(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the row and position of the batch at which each offset's search starts."""
        if not len(self._keys):
            return np.zeros(len(targets), np.int64), np.zeros(len(targets), np.int64)
        slot = np.searchsorted(self._keys, targets, "right") - 1
        has_slot = slot >= 0
        return np.where(has_slot, self._rows[slot], 0), np.where(has_slot, self._positions[slot], 0)

    def _count(self, batches: np.ndarray, *, is_end: bool) -> None:
        self._is_usable = self._is_usable and self._match_entries(batches["position"])
        if not self._is_usable:
            return
        rows = np.arange(self._batches, self._batches + len(batches))
        last = batches["last_offset"]
        first = np.append(self._next_offset, last[:-1] + 1)
        base = np.where(batches["base_offset"] == UNKNOWN, first, batches["base_offset"])
        from_base, from_last = (
            self._clamped_floor(targets, rows, batches["position"]) for targets in (base, last)
        )
        self._base_counter.add(rows - from_base[0] + 1, batches["position"] - from_base[1])
        self._count_every_offset(batches, rows, from_base, from_last, is_end=is_end)
        self._starts.add(from_base[0])
        self._add_gaps(batches)
        self._batches += len(batches)
        self._next_offset = int(last[-1]) + 1

    def _match_entries(self, positions: np.ndarray) -> bool:
        """Stores each entry's batch; returns whether every entry points to a batch."""
        stop = int(np.searchsorted(self._positions, positions[-1], "right"))
        expected = self._positions[self._matched_entries : stop]
        rows = np.searchsorted(positions, expected)
        self._rows[self._matched_entries : stop] = self._batches + rows
        self._matched_entries = stop
        return bool((positions[rows] == expected).all())

    def _clamped_floor(
        self, targets: np.ndarray, rows: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns each target's `_floor`, or the target's own batch if that comes first."""
        start, position = self._floor(targets)
        return np.minimum(start, rows), np.minimum(position, positions)

    def _count_every_offset(
        self,
        batches: np.ndarray,
        rows: np.ndarray,
        from_base: tuple,
        from_last: tuple,
        *,
        is_end: bool,
    ) -> None:
        """Counts the headers that are read if every offset in `batches` is looked up once.

        `from_base` has, for each batch, the row and position at which the lookup of its base offset
        begins to read. `from_last` has the same for its last offset: that lookup may begin at the
        batch itself, because the last offset is the key of the batch's index entry.
        """
        targets = sweep.every_offset(batches, by_base_offset=self._by_base_offset, is_end=is_end)
        near = targets["near"] - targets["near_last"]
        far = targets["far"] - targets["far_last"]
        weighted_starts = (
            (near, from_base, 0),
            (far, from_base, 1),
            (targets["near_last"], from_last, 0),
            (targets["far_last"], from_last, 1),
        )
        for weights, (start, position), extra_headers in weighted_starts:
            self._every_counter.add(
                rows - start + 1 + extra_headers, batches["position"] - position, weights
            )

    def _add_gaps(self, batches: np.ndarray) -> None:
        interval_bytes = self._gaps.interval_bytes
        entry_gaps, slots = measure_gaps(batches, self._positions, interval_bytes)
        # a late gap that began before these batches was counted already
        is_continued = len(slots) and slots[0] == self._late_slot
        self._gaps += replace(entry_gaps, late=entry_gaps.late - 1) if is_continued else entry_gaps
        self._late_slot = int(slots[-1]) if len(slots) else self._late_slot


class _HeaderCounter:
    def __init__(self) -> None:
        self.counts = np.zeros(0, np.int64)
        self.skipped_bytes = 0

    def add(
        self, headers: np.ndarray, skipped_bytes: np.ndarray, weights: np.ndarray | None = None
    ) -> None:
        counts = np.bincount(headers, weights).astype(np.int64)
        self.counts = sweep.add_histograms(self.counts, counts)
        weighted_bytes = skipped_bytes if weights is None else skipped_bytes * weights
        self.skipped_bytes += int(weighted_bytes.sum())


def measure_gaps(
    batches: np.ndarray, entries: np.ndarray, interval_bytes: int
) -> tuple[EntryGaps, np.ndarray]:
    """Measures the gaps between entries in a part of a log.

    `entries` has the .log positions of all index entries; a batch begins at each. Returns the gaps,
    and the slot of the entry before each late gap (`EntryGaps.late`); -1: no entry.
    """
    positions = batches["position"]
    slot = np.searchsorted(entries, positions, "left") - 1  # slot of the previous entry
    bytes_since_entry = positions
    if len(entries):
        bytes_since_entry = positions - np.where(slot >= 0, entries[slot], 0)
    first = np.searchsorted(entries, positions[0])
    own_entries = entries[first : np.searchsorted(entries, positions[-1], "right")]
    is_indexed = np.zeros(len(positions), bool)
    is_indexed[np.searchsorted(positions, own_entries)] = True
    is_late = ~is_indexed & (bytes_since_entry > interval_bytes)
    slots = np.unique(slot[is_late])
    entry_gaps = EntryGaps(
        interval_bytes=interval_bytes,
        entries=len(own_entries),
        late=len(slots),
        longest_bytes=int(bytes_since_entry[is_late].max(initial=0)),
        early=int((bytes_since_entry[is_indexed] <= interval_bytes).sum()),
        largest_batch_bytes=int(batches["size_bytes"].max(initial=0)),
    )
    return entry_gaps, slots
