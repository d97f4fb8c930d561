"""Bounds of index.interval.bytes, from the batches that have an entry and those that do not.

Kafka writes an entry for a batch when more than the interval was appended since the batch of the
previous entry (LogSegment 4.3.1, `bytesSinceLastIndexEntry`). For example, with batches of 1000
bytes and entries at 5000 and 10000, the batch at 4000 got no entry and the one at 5000 did. So the
interval was 4000 to 4999.
"""

from dataclasses import dataclass

import numpy as np

# number of the longest runs kept; restarts make some runs longer, and those are skipped later
MAX_GAPS = 64


@dataclass(frozen=True)
class IntervalBounds:
    """The least and greatest interval that fit, both inclusive; None for an unknown bound."""

    low_bytes: int | None
    high_bytes: int | None
    # an entry covers a whole append of several batches (3.9.0, 4.0.0 and older, on followers)
    per_append: bool = False
    # number of gaps too long for any fitting interval: a restart resets the counter to 0
    restarts: int = 0


@dataclass(frozen=True)
class IntervalEvidence:
    """The evidence of a stretch of a log.

    Merging the evidence of consecutive stretches gives the evidence of the whole.
    """

    least_indexed_bytes: int | None = None  # fewest bytes after which an entry was written
    # per gap, the most bytes after which a batch still got no entry, descending
    longest_unindexed_bytes: tuple[int, ...] = ()
    # the same, counting only batches that surely start an append
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
        """Returns the intervals that fit.

        A gap that is longer than the least indexed one was made by a restart and is ignored.

        Without any entry nothing is known: the whole segment may have come as one append, which
        never gets an entry.
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
    """Returns the evidence of a stretch of batches and the entries that point into it.

    Args:
        entry_before: the position of the last entry before the stretch; 0 at the start of the
            segment, where Kafka starts counting.
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
    return IntervalEvidence(
        int(appended_bytes[is_indexed].min()) if is_indexed.any() else None,
        _gap_maxima(appended_bytes, slots_before, ~is_indexed),
        _gap_maxima(appended_bytes, slots_before, ~is_indexed & starts_append),
        bool(
            _stands_for_append(
                batches[is_indexed], key[floor_slots[is_indexed]] if len(positions) else key
            ).any()
        ),
    )


def _floor_slots(positions: np.ndarray, batch_positions: np.ndarray) -> np.ndarray:
    """Returns the slot of the last position that is not above each batch's; -1 if there is none.

    There are fewer entries than batches, so each entry is looked up among the batches.

    Args:
        positions: ascending.
    """
    first_rows = np.searchsorted(batch_positions, positions)
    return np.cumsum(np.bincount(first_rows, minlength=len(batch_positions) + 1)[:-1]) - 1


def _stands_for_append(indexed_batches: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Returns whether each entry's key is above the last offset of the batch it points to.

    Such a key is the last offset of an append of several batches.
    """
    return key > indexed_batches["last_offset"]


def _follows_append(batches: np.ndarray, slots_before: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Returns which batches surely start an append: those right after the key of an entry."""
    starts = np.zeros(len(batches), bool)
    has_entry = slots_before[1:] >= 0
    starts[1:][has_entry] = (
        batches["last_offset"][:-1][has_entry] == key[slots_before[1:][has_entry]]
    )
    return starts


def _gap_maxima(
    appended_bytes: np.ndarray, gap: np.ndarray, is_unindexed: np.ndarray
) -> tuple[int, ...]:
    """Returns the most bytes appended without an entry in each gap, descending."""
    if not is_unindexed.any():
        return ()
    gaps = gap[is_unindexed]
    values = appended_bytes[is_unindexed]
    firsts = np.flatnonzero(np.diff(gaps, prepend=gaps[0] - 1))
    return _largest(np.maximum.reduceat(values, firsts).tolist())


def _largest(values: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(values), reverse=True)[:MAX_GAPS])
