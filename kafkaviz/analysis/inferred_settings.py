"""Infers settings of a log from its files, and why its segments rolled.

index.interval.bytes is inferred from which batches have an index entry: Kafka writes an entry for a
batch if more than index.interval.bytes were appended since the last entry.

The limits of segments are inferred from the segments' sizes, times and numbers of index entries. A
segment rolls when a value would exceed its limit. So an unknown limit is at least the largest value
without a roll, and less than the smallest value with a roll. For example, two segments have
1 047 315 and 1 048 043 bytes. The next batches have 2871 and 1200 bytes. So segment.bytes was from
1 048 043 to 1 049 242. The roundest number in this range is 1 048 576.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from kafkaviz import versions
from kafkaviz.config_def import setting
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import BATCH
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.walk import BatchObserver
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

# this many of the longest gaps are kept: those that a restart made longer are ignored later
MAX_GAPS = 64
EVIDENCE_COLUMNS = ["position", "last_offset"]  # the columns that interval_evidence uses
EVIDENCE = np.dtype([(name, BATCH[name]) for name in EVIDENCE_COLUMNS])
MAX_WAITING = 65_536  # if a gap has more batches, those without evidence are dropped


@dataclass(frozen=True)
class IntervalBounds:
    """The smallest and the largest possible index.interval.bytes, inclusive. None: unknown."""

    low_bytes: int | None
    high_bytes: int | None
    # one entry covers an append of several batches, as on followers up to 3.9.0 and in 4.0.0
    per_append: bool = False
    # how many gaps are too long for these bounds: a broker restart set Kafka's counter to 0
    restarts: int = 0


@dataclass(frozen=True)
class IntervalEvidence:
    """The evidence about index.interval.bytes from one part of a log."""

    least_indexed_bytes: int | None = None  # fewest bytes from an entry to the next one
    # per gap between two entries: the bytes from the first entry to the last batch without one, in
    # descending order
    longest_unindexed_bytes: tuple[int, ...] = ()
    # as above, but counting only batches that certainly begin an append
    longest_after_append_bytes: tuple[int, ...] = ()
    per_append: bool = False

    def merge(self, other: "IntervalEvidence") -> "IntervalEvidence":
        both = (self.least_indexed_bytes, other.least_indexed_bytes)
        least = [indexed_bytes for indexed_bytes in both if indexed_bytes is not None]
        return IntervalEvidence(
            min(least, default=None),
            _largest(self.longest_unindexed_bytes + other.longest_unindexed_bytes),
            _largest(self.longest_after_append_bytes + other.longest_after_append_bytes),
            self.per_append or other.per_append,
        )

    def bounds(self) -> IntervalBounds:
        """Returns the range of possible values of index.interval.bytes.

        Ignores gaps between entries that are too long for the range: a broker restart caused them.
        Without entries, the range is unknown: all batches may be from a single append.
        """
        if self.least_indexed_bytes is None:
            return IntervalBounds(None, None)
        high = self.least_indexed_bytes - 1
        longest = self.longest_unindexed_bytes
        if self.per_append:
            longest = self.longest_after_append_bytes
        fitting = [gap_bytes for gap_bytes in longest if gap_bytes <= high]
        low = max(fitting, default=None)
        return IntervalBounds(low, high, self.per_append, len(longest) - len(fitting))


def interval_bounds(batches: np.ndarray, entries: np.ndarray) -> IntervalBounds:
    return interval_evidence(batches, entries).bounds()


def interval_evidence(
    batches: np.ndarray, entries: np.ndarray, entry_before: int = 0
) -> IntervalEvidence:
    """Returns what consecutive batches and their entries show about index.interval.bytes.

    `entry_before` is the position of the last entry before the batches, or 0.
    """
    if not len(batches):
        return IntervalEvidence()
    positions, slots = np.unique(entries["position"], return_index=True)
    key = entries["offset"][slots]
    # the slot of the last entry at or before each batch; -1: no such entry
    first_rows = np.searchsorted(np.ascontiguousarray(batches["position"]), positions)
    floor_slots = np.cumsum(np.bincount(first_rows, minlength=len(batches) + 1)[:-1]) - 1
    # slot -1, before the first entry, is the last row
    starts = np.append(positions, entry_before)
    is_indexed = (floor_slots >= 0) & (starts[floor_slots] == batches["position"])
    slots_before = floor_slots - is_indexed
    appended_bytes = batches["position"] - starts[slots_before]
    starts_append = _follows_append(batches, slots_before, key)
    # if a key is above the last offset of its batch, the entry is for an append of several batches
    is_per_append = key[floor_slots[is_indexed]] > batches["last_offset"][is_indexed]
    return IntervalEvidence(
        int(appended_bytes[is_indexed].min()) if is_indexed.any() else None,
        _gap_maxima(appended_bytes, slots_before, ~is_indexed),
        _gap_maxima(appended_bytes, slots_before, ~is_indexed & starts_append),
        bool(is_per_append.any()),
    )


def _follows_append(batches: np.ndarray, slots_before: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Returns a mask of the batches that certainly begin an append.

    For such a batch, the last offset of the previous batch is the key of an index entry.
    """
    starts = np.zeros(len(batches), bool)
    rows = 1 + np.flatnonzero(slots_before[1:] >= 0)
    starts[rows] = batches["last_offset"][rows - 1] == key[slots_before[rows]]
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

    Keeps the batches after the last entry of a chunk until the next entry is read.
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
        positions = np.ascontiguousarray(batches["position"])
        entry_positions = entries_between(self._entries, batches)["position"]
        rows = np.searchsorted(positions, entry_positions)
        indexed_rows = rows[positions[rows] == entry_positions]
        if len(indexed_rows):
            last_indexed = int(indexed_rows[-1])
            self._add_evidence([*self._pending, batches[:last_indexed]])
            self._pending = []
            batches = batches[last_indexed:]
        self._pending.append(batches)
        if sum(map(len, self._pending)) > MAX_WAITING:
            self._pending = [self._append_borders(np.concatenate(self._pending))]

    def _append_borders(self, batches: np.ndarray) -> np.ndarray:
        """Drops the batches that say nothing about index.interval.bytes, and returns the rest.

        Keeps the first and the last batch, each batch whose last offset is in the index, and the
        batch after it. Only the first of `batches` may have an index entry.
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


def entries_between(entries: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """Returns the index entries with positions from the first to the last of `batches`.

    `entries` must be ordered by position.
    """
    if not len(batches):
        return entries[:0]
    first = np.searchsorted(entries["position"], batches["position"][0])
    return entries[first : np.searchsorted(entries["position"], batches["position"][-1], "right")]


# ---- why segments rolled, and at which limits


OFFSET_ENTRY_BYTES = offset_index.ENTRY.itemsize
TIME_ENTRY_BYTES = time_index.ENTRY.itemsize
DEFAULT_SEGMENT_BYTES, DEFAULT_SEGMENT_MS = (
    cast("int", setting(name).default(versions.NEWEST_RELEASE))
    for name in ("segment.bytes", "segment.ms")
)
MIN_FULL = 3  # fewer entries than this may be equal in all segments by chance
CAUSES = tuple(RollCause)
SIZE, TIME, OFFSET_INDEX, TIME_INDEX, _ = RollCause
SETTING = {
    SIZE: "segment.bytes",
    TIME: "segment.ms",
    OFFSET_INDEX: "segment.index.bytes",
    TIME_INDEX: "segment.index.bytes",
}
ROUND_MS = (DAY_MS, HOUR_MS, 10 * MINUTE_MS, MINUTE_MS, 10 * SECOND_MS, SECOND_MS)


@dataclass(frozen=True)
class FirstBatch:
    """The first batch of a segment. It shows why Kafka rolled the previous segment.

    The timestamp is -1 if unknown.
    """

    size_bytes: int
    max_timestamp_ms: int
    last_offset: int

    @classmethod
    def from_row(cls, row: np.void) -> "FirstBatch":
        """Takes a row of format.batch.BATCH."""
        return cls(int(row["size_bytes"]), int(row["max_timestamp_ms"]), int(row["last_offset"]))


NO_BATCH = FirstBatch(0, -1, -1)


@dataclass(frozen=True, kw_only=True)
class SegmentFacts:
    """The numbers of a segment from which the cause of a roll is inferred.

    Timestamps are -1 if unknown.
    """

    base_offset: int
    log_bytes: int
    first_batch: FirstBatch
    max_timestamp_ms: int
    offset_entries: int
    time_entries: int


@dataclass(frozen=True)
class _FittingCause:
    reason: RollCause
    rolls: frozenset[int]
    low: int
    high: int

    def strength(self) -> tuple[int, int, int]:
        """Returns a sort key: the number of rolls, the likelihood, the order of Kafka's checks."""
        likeliness = _likeliness(self.reason, self.low, self.high)
        return len(self.rolls), likeliness, -CAUSES.index(self.reason)


def roll_reasons(segments: Sequence[SegmentFacts]) -> list[RollCause | None]:
    """Returns why each segment was rolled. The active segment is the last.

    The reason is None for the last segment. It is also None if no cause fits, for example because
    the log was compacted or truncated.
    """
    causes = sorted(
        filter(None, (_size_cause(segments), _time_cause(segments), *_index_causes(segments))),
        key=_FittingCause.strength,
        reverse=True,
    )
    reasons: list[RollCause | None] = [None] * len(segments)
    for roll, (segment, next_segment) in enumerate(pairwise(segments)):
        if next_segment.first_batch.last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
            reasons[roll] = RollCause.OFFSET_OVERFLOW
        elif next_segment.log_bytes:
            reasons[roll] = next((cause.reason for cause in causes if roll in cause.rolls), None)
    return reasons


def _size_cause(segments: Sequence[SegmentFacts]) -> _FittingCause | None:
    """Returns segment.bytes as the cause of rolls; None if it explains no roll.

    segment.bytes is at least the size of the largest segment. It explains a roll if the rolled
    segment and the next segment's first batch are together larger than the largest segment.
    """
    largest = max((segment.log_bytes for segment in segments), default=0)
    reached_bytes = {
        roll: segment.log_bytes + next_segment.first_batch.size_bytes - 1
        for roll, (segment, next_segment) in enumerate(pairwise(segments))
        if segment.log_bytes
    }
    fitting = {roll: high for roll, high in reached_bytes.items() if high >= largest}
    if fitting:
        return _FittingCause(SIZE, frozenset(fitting), largest, min(fitting.values()))
    return None


def _time_cause(segments: Sequence[SegmentFacts]) -> _FittingCause | None:
    """Returns segment.ms as the cause of rolls; None if it explains no roll.

    segment.ms is at least the longest time span of a segment. It explains a roll if the time from
    the rolled segment's first batch to the next segment's first batch is longer than this span.
    """
    spans_ms = [
        segment.max_timestamp_ms - segment.first_batch.max_timestamp_ms
        for segment in segments
        if _has_timestamp(segment)
    ]
    longest_ms = max(spans_ms, default=0)
    waited_ms = {
        roll: next_segment.first_batch.max_timestamp_ms - segment.first_batch.max_timestamp_ms
        for roll, (segment, next_segment) in enumerate(pairwise(segments))
        if _has_timestamp(segment) and _has_timestamp(next_segment)
    }
    fitting = {roll: high for roll, high in waited_ms.items() if high > max(longest_ms, 0)}
    if fitting:
        return _FittingCause(TIME, frozenset(fitting), longest_ms, min(fitting.values()) - 1)
    return None


def _index_causes(segments: Sequence[SegmentFacts]) -> list[_FittingCause]:
    """Returns which full indexes explain rolls: the offset index, the time index, or both.

    An index counts as full in the segments where it has the most entries. A full index explains
    rolls only if there are several such segments.
    """
    closed = list(enumerate(segments[:-1]))
    most_entries = max((segment.offset_entries for segment in segments), default=0)
    most_times = max((segment.time_entries for segment in segments), default=0)
    by_offset = frozenset(
        roll for roll, segment in closed if segment.offset_entries == most_entries
    )
    # Kafka reserves the last slot for the entry that the roll adds. If the roll adds none, a full
    # time index has one entry less. The two indexes then differ by at most 1 entry.
    by_time = frozenset(
        roll
        for roll, segment in closed
        if segment.time_entries in (most_times, most_times - 1)
        and abs(segment.time_entries - segment.offset_entries) <= 1
    )
    causes = []
    low = most_entries * OFFSET_ENTRY_BYTES
    if len(by_offset) > 1 and most_entries and most_times <= low // TIME_ENTRY_BYTES - 1:
        high = low + OFFSET_ENTRY_BYTES - 1
        causes.append(_FittingCause(OFFSET_INDEX, by_offset, low, high))
    if len(by_time) > 1 and most_times >= MIN_FULL:
        low = most_times * TIME_ENTRY_BYTES
        high = low + 2 * TIME_ENTRY_BYTES - 1
        causes.append(_FittingCause(TIME_INDEX, by_time, low, high))
    return causes


def _has_timestamp(segment: SegmentFacts) -> bool:
    return segment.first_batch.max_timestamp_ms >= 0


def _likeliness(reason: RollCause, low: int, high: int) -> int:
    """Returns how likely it is that someone chose a value from `low` to `high` for a setting.

    3: the range has the default. 2: a power of two, or 1, 6, 12, 24 or 48 hours. 1: a number that
    1000, 1024, a minute or ten seconds divides. 0: none of these. For an index, always 1.
    """
    powers = [1 << power for power in range(14, 31)]
    hours = [HOUR_MS * hours for hours in (1, 6, 12, 24, 48)]
    default, round_values, round_steps = {
        SIZE: (DEFAULT_SEGMENT_BYTES, powers, [1024, 1000]),
        TIME: (DEFAULT_SEGMENT_MS, hours, [MINUTE_MS, 10 * SECOND_MS]),
    }.get(reason, (-1, [], [1]))
    if low <= default <= high:
        return 3
    if any(low <= value <= high for value in round_values):
        return 2
    return int(any(high // step * step >= low for step in round_steps))


@dataclass(frozen=True)
class InferredLimit:
    """The range of possible values of a setting. `value` is the roundest value in the range."""

    low: int
    high: int
    value: int


def inferred_limits(
    segments: Sequence[SegmentFacts], reasons: Sequence[RollCause | None]
) -> Mapping[str, InferredLimit]:
    """Returns the range of each limit that caused rolls, by setting name ("segment.bytes")."""
    rolls = [(*pair, reason) for pair, reason in zip(pairwise(segments), reasons, strict=False)]
    limits = {}
    for cause in (SIZE, TIME, OFFSET_INDEX, TIME_INDEX):
        rolls_of_cause = [
            (segment, next_segment) for segment, next_segment, reason in rolls if reason == cause
        ]
        low, high = _bounds(cause, segments, rolls_of_cause) if rolls_of_cause else (1, 0)
        if low <= high:
            roundest = _roundest_ms if cause == TIME else _roundest
            limits[SETTING[cause]] = InferredLimit(low, high, roundest(low, high))
    return limits


def _bounds(
    cause: str, segments: Sequence[SegmentFacts], rolls: Sequence[tuple[SegmentFacts, SegmentFacts]]
) -> tuple[int, int]:
    if cause == SIZE:
        reached = [segment.log_bytes + newer.first_batch.size_bytes for segment, newer in rolls]
        return max(segment.log_bytes for segment in segments), min(reached) - 1
    if cause == TIME:
        longest_ms = max(
            segment.max_timestamp_ms - segment.first_batch.max_timestamp_ms for segment in segments
        )
        waited_ms = [
            newer.first_batch.max_timestamp_ms - segment.first_batch.max_timestamp_ms
            for segment, newer in rolls
        ]
        return max(longest_ms, 1), min(waited_ms) - 1
    if cause == OFFSET_INDEX:
        max_entries = max(segment.offset_entries for segment in segments)
        entry_bytes = OFFSET_ENTRY_BYTES
    else:
        max_entries = max(segment.time_entries for segment in segments)
        entry_bytes = TIME_ENTRY_BYTES
    return max_entries * entry_bytes, (max_entries + 1) * entry_bytes - 1


def _roundest(low: int, high: int) -> int:
    """Returns a power of two in the range, if any; else the number with the most trailing zeros."""
    power = 1 << (high.bit_length() - 1)
    if power >= low:
        return power
    step = next(
        10**digits
        for digits in range(len(str(high)), -1, -1)
        if high // 10**digits * 10**digits >= low
    )
    return high // step * step


def _roundest_ms(low: int, high: int) -> int:
    step = next((unit_ms for unit_ms in ROUND_MS if high // unit_ms * unit_ms >= low), 1)
    return high // step * step
