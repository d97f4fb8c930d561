"""The index that is there: what lookups read in it, whoever wrote it, and whether the replay of its
interval would have written the same.

A follower that fetched a segment's first 98 KB at once appended them at once, and up to 3.9.0 wrote
no entry for any of it:

    interval 512, replayed batch by batch    405 entries, p99 of 4 headers
    the .index of that follower               82 entries, p99 of 245 headers

A restart or a truncation lets the writer count from 0 again, so that one gap grows to twice the
interval; nothing else makes gaps longer, and nothing makes one shorter.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from kafkaviz.analyse import cold_reads, sweep
from kafkaviz.analyse.cold_reads import ColdReads
from kafkaviz.analyse.sweep import Columns, SweepParts
from kafkaviz.analyse.sweep.columns import Growing
from kafkaviz.analyse.sweep.times import answers
from kafkaviz.format.batch import UNKNOWN

NOT_YET = np.iinfo(np.int64).max
BLOCK = 1 << 18  # lookups that are counted at once
# gaps that restarts may have made longer: so many, or this share of all
RESTARTS, RESTARTS_SHARE = 4, 0.05


@dataclass(frozen=True)
class Gaps:
    """How far entries lie apart, against an interval. `+` adds those of another segment.

    late: gaps in which a batch has none although more than the interval lies before it;
    longest_bytes: before the last such batch, 0 of none; early: entries that came before the
    interval was over; largest_batch_bytes: of the .log.
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
            self.interval_bytes,
            self.entries + other.entries,
            self.late + other.late,
            max(self.longest_bytes, other.longest_bytes),
            self.early + other.early,
            max(self.largest_batch_bytes, other.largest_batch_bytes),
        )

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
    """Lookups in the indexes that are there, summed over segments; each part is of one interval,
    today's. `+` adds.

    parts: of base offsets; every_offset, timestamps: of other targets; cold: the device reads of
    base offsets.
    """

    parts: SweepParts
    every_offset: SweepParts
    timestamps: SweepParts
    cold: ColdReads
    gaps: Gaps

    def __add__(self, other: "Held") -> "Held":
        """Both together."""
        return Held(
            self.parts + other.parts,
            self.every_offset + other.every_offset,
            self.timestamps + other.timestamps,
            self.cold + other.cold,
            self.gaps + other.gaps,
        )


def replayed(
    parts: SweepParts,
    every_offset: SweepParts,
    timestamps: SweepParts,
    cold: ColdReads,
    interval_bytes: int,
) -> Held:
    """What a replay says of one interval, where there is no index that could tell."""
    only = (one.only(interval_bytes) for one in (parts, every_offset, timestamps))
    return Held(*only, cold.only(interval_bytes), Gaps(interval_bytes))


class HeldSweeper:
    """Lookups in the indexes of one segment while its .log is read, chunk by chunk."""

    def __init__(
        self, offsets: np.ndarray, times: np.ndarray, interval_bytes: int, by_base_offset: bool
    ) -> None:
        """offsets, times: its entries, log.segment.OFFSET_ENTRY and TIME_ENTRY."""
        self._keys, self._positions = (
            np.ascontiguousarray(offsets[name]) for name in ("offset", "position")
        )
        self._times, self._by_base_offset = times, by_base_offset
        self._rows = np.full(len(offsets), NOT_YET)  # of the batches that the entries point to
        self._matched, self._is_usable = 0, not (np.diff(self._positions) < 1).any()
        self._gaps, self._late_slot = Gaps(interval_bytes), -2
        self._batches = self._next_offset = 0
        self._starts = Growing(np.int32)
        self._base, self._every = _Counted(), _Counted()

    def take(self, batches: np.ndarray, is_end: bool) -> None:
        """The next batches: format.batch.BATCH; is_end: whether they are the last."""
        self._is_usable = self._is_usable and self._match(batches["position"])
        if not self._is_usable:
            return
        rows, last = np.arange(self._batches, self._batches + len(batches)), batches["last_offset"]
        first = np.append(self._next_offset, last[:-1] + 1)
        base = np.where(batches["base_offset"] == UNKNOWN, first, batches["base_offset"])
        of_base, of_last = (
            self._near(targets, rows, batches["position"]) for targets in (base, last)
        )
        self._base.add(rows - of_base[0] + 1, batches["position"] - of_base[1])
        self._add_every(batches, rows, of_base, of_last, is_end)
        self._starts.add(of_base[0])
        self._add_gaps(batches)
        self._batches, self._next_offset = self._batches + len(batches), int(last[-1]) + 1

    def end(self, columns: Columns, otherwise: Held, read_ahead_bytes: int) -> Held | None:
        """columns: of the whole segment, whose times are not kept; otherwise: what the replay says
        of it.

        None where an entry points to no batch: such an index is built anew before it is used.
        """
        if not self._is_usable or self._matched < len(self._rows):
            return None
        count = {
            "entries": np.array([len(self._rows)]),
            "time_entries": np.array([len(self._times)]),
        }
        of_times = self._of_times(columns)
        columns.forget_times()
        return Held(
            replace(self._base.summed(otherwise.parts), **count),
            replace(self._every.summed(otherwise.every_offset), **count),
            replace(of_times.summed(otherwise.timestamps), **count),
            self._cold(columns.sizes["size_bytes"], otherwise.cold.intervals, read_ahead_bytes),
            self._gaps,
        )

    def _cold(self, sizes: np.ndarray, intervals: np.ndarray, read_ahead_bytes: int) -> ColdReads:
        positions = np.cumsum(sizes, dtype=np.int64)
        positions -= sizes
        return cold_reads.of_starts(
            positions, self._starts.end(), intervals, self._by_base_offset, read_ahead_bytes
        )

    def _match(self, positions: np.ndarray) -> bool:
        """Whether the entries up to the last of these batches each point to one; which one is
        noted.
        """
        stop = int(np.searchsorted(self._positions, positions[-1], "right"))
        wanted = self._positions[self._matched : stop]
        found = np.searchsorted(positions, wanted)
        self._rows[self._matched : stop] = self._batches + found
        self._matched = stop
        return bool((positions[found] == wanted).all())

    def _floor(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row, position) of the batch that the index sends each offset to; of a batch that was not
        read yet the row is NOT_YET.
        """
        slot = np.searchsorted(self._keys, targets, "right") - 1
        if not len(self._keys):
            return cast("tuple[np.ndarray, np.ndarray]", np.zeros((2, len(targets)), np.int64))
        is_found = slot >= 0
        return np.where(is_found, self._rows[slot], 0), np.where(is_found, self._positions[slot], 0)

    def _near(
        self, targets: np.ndarray, rows: np.ndarray, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same, no batch behind that of the target."""
        start, position = self._floor(targets)
        return np.minimum(start, rows), np.minimum(position, positions)

    def _add_every(
        self, batches: np.ndarray, rows: np.ndarray, of_base: tuple, of_last: tuple, is_end: bool
    ) -> None:
        """Of a batch only the last offset can start from its own entry; how many headers it takes
        beyond is the sweep's own rule.
        """
        targets = sweep.every_offset(batches, self._by_base_offset, is_end)
        near, far = targets["near"] - targets["near_last"], targets["far"] - targets["far_last"]
        weighed = (
            (near, of_base, 0),
            (far, of_base, 1),
            (targets["near_last"], of_last, 0),
            (targets["far_last"], of_last, 1),
        )
        for weights, (start, position), more in weighed:
            self._every.add(rows - start + 1 + more, batches["position"] - position, weights)

    def _add_gaps(self, batches: np.ndarray) -> None:
        found, slots = gaps(
            batches["position"], batches["size_bytes"], self._positions, self._gaps.interval_bytes
        )
        again = len(slots) and slots[0] == self._late_slot  # a gap that began before these batches
        self._gaps += replace(found, late=found.late - 1) if again else found
        self._late_slot = int(slots[-1]) if len(slots) else self._late_slot

    def _of_times(self, columns: Columns) -> "_Counted":
        counted, row, position = _Counted(), 0, 0
        for first in range(0, len(columns.targets_ms), BLOCK):
            targets = columns.targets_ms[first : first + BLOCK]
            rows, positions = answers(columns.sizes, columns.newest_ms, targets, row, position)
            row, position = int(rows[-1]), int(positions[-1])
            slot = np.searchsorted(self._times["timestamp_ms"], targets, "right") - 1
            known = self._times["offset"][slot] if len(self._times) else slot
            start, begin = (np.where(slot >= 0, one, 0) for one in self._floor(known))
            counted.add(np.maximum(rows, start) - start + 1, np.maximum(positions, begin) - begin)
        return counted


class _Counted:
    """How many lookups take how many headers, and the bytes that they skip."""

    def __init__(self) -> None:
        self._counts, self._skipped_bytes = np.zeros(0, np.int64), 0

    def add(
        self, headers: np.ndarray, skipped_bytes: np.ndarray, weights: np.ndarray | None = None
    ) -> None:
        """Of each batch, weighed by how many lookups it is the answer of."""
        self._counts = sweep.added(self._counts, np.bincount(headers, weights).astype(np.int64))
        self._skipped_bytes += int(
            (skipped_bytes if weights is None else skipped_bytes * weights).sum()
        )

    def summed(self, like: SweepParts) -> SweepParts:
        """In the place of a replay's lookups."""
        counts = np.trim_zeros(self._counts, "b")
        return replace(
            like,
            headers=counts,
            starts=np.array([0, len(counts)]),
            skipped_bytes=np.array([self._skipped_bytes]),
        )


def gaps(
    positions: np.ndarray, sizes: np.ndarray, entries: np.ndarray, interval_bytes: int
) -> tuple[Gaps, np.ndarray]:
    """(those of a stretch of batches, the slots before its late gaps). entries: the positions that
    the whole index points to, each of one batch.
    """
    slot = np.searchsorted(entries, positions, "left") - 1  # of the entry before
    since = positions - np.where(slot >= 0, entries[slot], 0) if len(entries) else positions
    within = entries[
        np.searchsorted(entries, positions[0]) : np.searchsorted(entries, positions[-1], "right")
    ]
    is_indexed = np.zeros(len(positions), bool)
    is_indexed[np.searchsorted(positions, within)] = True
    late = ~is_indexed & (since > interval_bytes)
    slots = np.unique(slot[late])
    found = Gaps(
        interval_bytes,
        len(within),
        len(slots),
        int(since[late].max(initial=0)),
        int((since[is_indexed] <= interval_bytes).sum()),
        int(sizes.max(initial=0)),
    )
    return found, slots
