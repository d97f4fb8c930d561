"""Infers the range of index.interval.bytes from which batches have an index entry.

Kafka writes an entry for a batch if more than index.interval.bytes were appended since the last
entry.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from kafkaviz.format.batch import BATCH
from kafkaviz.format.walk import BatchObserver

# the longest gaps are kept, because those that a broker restart made longer are ignored later
MAX_GAPS = 64
EVIDENCE_COLUMNS = ["position", "last_offset"]  # the columns that interval_evidence uses
EVIDENCE = np.dtype([(name, BATCH[name]) for name in EVIDENCE_COLUMNS])
MAX_WAITING = 65_536  # if a gap has more batches, those without evidence are dropped


@dataclass(frozen=True)
class IntervalBounds:
    """The smallest and the largest possible index.interval.bytes, inclusive. None: unknown."""

    low_bytes: int | None
    high_bytes: int | None
    # whether an entry covers an append of several batches (on followers up to 3.9.0, and in 4.0.0)
    per_append: bool = False
    # gaps that are too long for these bounds, because a broker restart set Kafka's counter to 0
    restarts: int = 0


@dataclass(frozen=True)
class IntervalEvidence:
    """The evidence about index.interval.bytes from one part of a log."""

    least_indexed_bytes: int | None = None  # fewest bytes from an entry to the next one
    # most bytes after which a batch still got no entry, one value per gap, in descending order
    longest_unindexed_bytes: tuple[int, ...] = ()
    # the same, only for batches that certainly begin an append
    longest_after_append_bytes: tuple[int, ...] = ()
    per_append: bool = False

    def merge(self, other: "IntervalEvidence") -> "IntervalEvidence":
        least = [
            evidence_bytes
            for evidence_bytes in (self.least_indexed_bytes, other.least_indexed_bytes)
            if evidence_bytes is not None
        ]
        return IntervalEvidence(
            min(least, default=None),
            _largest(self.longest_unindexed_bytes + other.longest_unindexed_bytes),
            _largest(self.longest_after_append_bytes + other.longest_after_append_bytes),
            self.per_append or other.per_append,
        )

    def bounds(self) -> IntervalBounds:
        """Returns the range of possible intervals.

        Ignores gaps between entries that contradict the others: a broker restart made them longer.
        The range is unknown without entries, because the segment may be a single append.
        """
        if self.least_indexed_bytes is None:
            return IntervalBounds(None, None)
        high = self.least_indexed_bytes - 1
        longest = (
            self.longest_after_append_bytes if self.per_append else self.longest_unindexed_bytes
        )
        fitting = [gap_bytes for gap_bytes in longest if gap_bytes <= high]
        return IntervalBounds(
            max(fitting, default=None), high, self.per_append, len(longest) - len(fitting)
        )


def interval_bounds(batches: np.ndarray, entries: np.ndarray) -> IntervalBounds:
    return interval_evidence(batches, entries).bounds()


def interval_evidence(
    batches: np.ndarray, entries: np.ndarray, entry_before: int = 0
) -> IntervalEvidence:
    """Returns the evidence from consecutive batches and their entries.

    `entry_before` is the position of the last entry before the batches, or 0.
    """
    if not len(batches):
        return IntervalEvidence()
    positions, slots = np.unique(entries["position"], return_index=True)
    key = entries["offset"][slots]
    floor_slots = _floor_slots(positions, np.ascontiguousarray(batches["position"]))
    is_indexed = (
        (floor_slots >= 0) & (positions[np.maximum(floor_slots, 0)] == batches["position"])
        if len(positions)
        else np.zeros(len(batches), bool)
    )
    slots_before = floor_slots - is_indexed
    appended_bytes = batches["position"] - np.where(
        slots_before >= 0,
        positions[np.maximum(slots_before, 0)] if len(positions) else 0,
        entry_before,
    )
    starts_append = _follows_append(batches, slots_before, key)
    # if a key is above the last offset of its batch, the entry is for an append of several batches
    keys = key[floor_slots[is_indexed]] if len(positions) else key
    is_per_append = keys > batches["last_offset"][is_indexed]
    return IntervalEvidence(
        int(appended_bytes[is_indexed].min()) if is_indexed.any() else None,
        _gap_maxima(appended_bytes, slots_before, ~is_indexed),
        _gap_maxima(appended_bytes, slots_before, ~is_indexed & starts_append),
        bool(is_per_append.any()),
    )


def _floor_slots(positions: np.ndarray, batch_positions: np.ndarray) -> np.ndarray:
    """Returns the slot of the last entry at or before each batch, or -1. `positions` ascend.

    Looks up entries among the batches, not the reverse, because there are fewer entries.
    """
    first_rows = np.searchsorted(batch_positions, positions)
    return np.cumsum(np.bincount(first_rows, minlength=len(batch_positions) + 1)[:-1]) - 1


def _follows_append(batches: np.ndarray, slots_before: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Returns which batches come right after the offset of an entry, and so begin an append."""
    starts = np.zeros(len(batches), bool)
    has_entry = slots_before[1:] >= 0
    starts[1:][has_entry] = (
        batches["last_offset"][:-1][has_entry] == key[slots_before[1:][has_entry]]
    )
    return starts


def _gap_maxima(
    appended_bytes: np.ndarray, gap: np.ndarray, is_unindexed: np.ndarray
) -> tuple[int, ...]:
    if not is_unindexed.any():
        return ()
    gaps = gap[is_unindexed]
    values = appended_bytes[is_unindexed]
    firsts = np.flatnonzero(np.diff(gaps, prepend=gaps[0] - 1))
    return _largest(np.maximum.reduceat(values, firsts).tolist())


def _largest(values: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(values), reverse=True)[:MAX_GAPS])


class ChunkedEvidence(BatchObserver[IntervalEvidence]):
    """Collects evidence about index.interval.bytes while a log is read in chunks.

    Keeps the batches after the last entry of a chunk, because the gap continues in the next chunk.
    """

    def __init__(self, entries: np.ndarray) -> None:
        """Takes all entries of the index (log.segment.OFFSET_ENTRY), ordered by position."""
        self._entries = entries
        self._keys = np.sort(entries["offset"])
        self._pending: list[np.ndarray] = []
        self._evidence = IntervalEvidence()

    def observe(self, batches: np.ndarray) -> None:
        if not len(self._entries):
            return
        # keep only the needed columns of pending batches, to save memory
        batches = batches[EVIDENCE_COLUMNS].astype(EVIDENCE)
        last_indexed = _last_indexed_row(entries_between(self._entries, batches), batches)
        if last_indexed is not None:
            self._add_evidence([*self._pending, batches[:last_indexed]])
            self._pending = []
            batches = batches[last_indexed:]
        self._pending.append(batches)
        if sum(map(len, self._pending)) > MAX_WAITING:
            self._pending = [self._append_borders(np.concatenate(self._pending))]

    def _append_borders(self, batches: np.ndarray) -> np.ndarray:
        """Returns the first and the last batch, and all batches that begin or end an append.

        The others give no evidence, because at most the first of `batches` has an entry.
        """
        slot = np.minimum(np.searchsorted(self._keys, batches["last_offset"]), len(self._keys) - 1)
        ends = self._keys[slot] == batches["last_offset"]
        ends[0] = ends[-1] = True
        return batches[ends | np.append(True, ends[:-1])]

    def result(self) -> IntervalEvidence:
        self._add_evidence(self._pending)
        return self._evidence

    def _add_evidence(self, pieces: list[np.ndarray]) -> None:
        batches = np.concatenate(pieces) if pieces else cast(np.ndarray, np.empty(0))
        if not len(batches):
            return
        slot_before = np.searchsorted(self._entries["position"], batches["position"][0]) - 1
        entry_before = int(self._entries["position"][slot_before]) if slot_before >= 0 else 0
        self._evidence = self._evidence.merge(
            interval_evidence(batches, entries_between(self._entries, batches), entry_before)
        )


def _last_indexed_row(entries: np.ndarray, batches: np.ndarray) -> int | None:
    positions = np.ascontiguousarray(batches["position"])
    rows = np.searchsorted(positions, entries["position"])
    pointed_rows = rows[positions[rows] == entries["position"]]
    return int(pointed_rows[-1]) if len(pointed_rows) else None


def entries_between(entries: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """Returns the entries from the first to the last of these batches.

    `entries` must be ordered by position.
    """
    if not len(batches):
        return entries[:0]
    first = np.searchsorted(entries["position"], batches["position"][0])
    return entries[first : np.searchsorted(entries["position"], batches["position"][-1], "right")]
