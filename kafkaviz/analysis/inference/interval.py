"""index.interval.bytes, bounded by which batches have an entry and which have none.

Kafka writes an entry for a batch when more than the interval was appended since the batch of the
entry before (LogSegment 4.3.1, `bytesSinceLastIndexEntry`). Batches of 1000 bytes with entries at
5000 and 10000: the batch at 4000 got none, the one at 5000 did, so the interval was 4000 to 4999.
"""

from dataclasses import dataclass

import numpy as np

# of the largest runs without an entry: enough to pass over those that a restart made longer
MAX_GAPS = 64


@dataclass(frozen=True)
class IntervalBounds:
    """The least and the greatest interval that fit, both inclusive.

    None where nothing bounds it.
    """

    low_bytes: int | None
    high_bytes: int | None
    # entries stand for complete appends (3.9.0, 4.0.0 and older, on followers)
    per_append: bool = False
    # gaps too long for any fitting interval: the counter starts at 0 again after a restart
    restarts: int = 0


@dataclass(frozen=True)
class IntervalEvidence:
    """What a stretch of a log says.

    Stretches that follow one another merge into what all of it would say.
    """

    least_indexed_bytes: int | None = None  # appended before an entry was written
    # appended, and still no entry: the largest of each gap, descending
    longest_unindexed_bytes: tuple[int, ...] = ()
    longest_after_append_bytes: tuple[int, ...] = ()  # the same where an append surely starts
    per_append: bool = False

    def merge(self, other: "IntervalEvidence") -> "IntervalEvidence":
        """Both together."""
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
        """The intervals that fit.

        A gap longer than the least indexed one was cut by a restart and says nothing.

        Without any entry nothing is known: the entire segment may have come as one append, which
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
    """The intervals that fit an entire segment, from its BATCH rows and its OFFSET_ENTRY rows."""
    return interval_evidence(batches, entries).bounds()


def interval_evidence(
    batches: np.ndarray, entries: np.ndarray, entry_before: int = 0
) -> IntervalEvidence:
    """The evidence of a stretch of batches and the entries that point into it.

    Args:
        entry_before: the position of the entry before the stretch; 0 at the start of the segment,
            where the counter starts.
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
    """The last of the positions, which grow, that is not above each of the batches'; -1 for none.

    There are fewer entries than batches: each is looked up, and the batches are counted through.
    """
    first_rows = np.searchsorted(batch_positions, positions)
    return np.cumsum(np.bincount(first_rows, minlength=len(batch_positions) + 1)[:-1]) - 1


def _stands_for_append(indexed_batches: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Whether an entry's key lies beyond the batch it points to.

    It is the last offset of an append of several batches.
    """
    return key > indexed_batches["last_offset"]


def _follows_append(batches: np.ndarray, slots_before: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The batches that surely start an append: those right behind the one an entry stands for."""
    starts = np.zeros(len(batches), bool)
    has_entry = slots_before[1:] >= 0
    starts[1:][has_entry] = (
        batches["last_offset"][:-1][has_entry] == key[slots_before[1:][has_entry]]
    )
    return starts


def _gap_maxima(
    appended_bytes: np.ndarray, gap: np.ndarray, is_unindexed: np.ndarray
) -> tuple[int, ...]:
    """The most bytes appended without an entry in each gap between two entries, descending."""
    if not is_unindexed.any():
        return ()
    gaps, values = gap[is_unindexed], appended_bytes[is_unindexed]
    firsts = np.flatnonzero(np.diff(gaps, prepend=gaps[0] - 1))
    return _largest(np.maximum.reduceat(values, firsts).tolist())


def _largest(values: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(values), reverse=True)[:MAX_GAPS])
