"""Infers why segments rolled from their sizes, times and numbers of index entries.

A segment rolls when a value would exceed its limit. So an unknown limit is at least the largest
value without a roll, and less than the smallest value with a roll. For example, two segments have
1 047 315 and 1 048 043 bytes. The next batches have 2871 and 1200 bytes. So segment.bytes was from
1 048 043 to 1 049 242. The roundest number in this range is 1 048 576.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from kafkaviz import versions
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, setting
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.simulate.writer.roll_reason import RollCause

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


@dataclass(frozen=True, kw_only=True)
class SegmentFacts:
    """The facts about a segment that show why it rolled. Timestamps are -1 if unknown."""

    base_offset: int
    log_bytes: int
    first_batch_bytes: int
    first_batch_max_timestamp_ms: int
    first_batch_last_offset: int
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
        """Returns a sort key: explained rolls, how likely the value is, order of Kafka's checks."""
        return (
            len(self.rolls),
            _likeliness(self.reason, self.low, self.high),
            -CAUSES.index(self.reason),
        )


def roll_reasons(segments: Sequence[SegmentFacts]) -> list[RollCause | None]:
    """Returns why each segment was rolled. The active segment is the last.

    None: the last segment, or no cause fits, for example because the log was compacted or
    truncated.
    """
    causes = sorted(
        filter(None, (_size_cause(segments), _time_cause(segments), *_index_causes(segments))),
        key=_FittingCause.strength,
        reverse=True,
    )
    reasons: list[RollCause | None] = [None] * len(segments)
    for roll, (segment, next_segment) in enumerate(pairwise(segments)):
        if next_segment.first_batch_last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
            reasons[roll] = RollCause.OFFSET_OVERFLOW
        elif next_segment.log_bytes:
            reasons[roll] = next((cause.reason for cause in causes if roll in cause.rolls), None)
    return reasons


def _size_cause(segments: Sequence[SegmentFacts]) -> _FittingCause | None:
    """Returns segment.bytes as a cause; None if it explains no roll.

    It explains a roll if no segment exceeds the limit, but the rolled segment with the next batch
    would.
    """
    largest = max((segment.log_bytes for segment in segments), default=0)
    reached_bytes = {
        roll: segment.log_bytes + next_segment.first_batch_bytes - 1
        for roll, (segment, next_segment) in enumerate(pairwise(segments))
        if segment.log_bytes
    }
    fitting = {roll: high for roll, high in reached_bytes.items() if high >= largest}
    if fitting:
        return _FittingCause(RollCause.SIZE, frozenset(fitting), largest, min(fitting.values()))
    return None


def _time_cause(segments: Sequence[SegmentFacts]) -> _FittingCause | None:
    """Returns segment.ms as a cause; None if it explains no roll.

    segment.ms counts from a segment's first batch. It explains a roll if no segment exceeds the
    limit, but the rolled segment with the next batch would.
    """
    longest_ms = max(
        (
            segment.max_timestamp_ms - segment.first_batch_max_timestamp_ms
            for segment in segments
            if _has_timestamp(segment)
        ),
        default=0,
    )
    waited_ms = {
        roll: next_segment.first_batch_max_timestamp_ms - segment.first_batch_max_timestamp_ms
        for roll, (segment, next_segment) in enumerate(pairwise(segments))
        if _has_timestamp(segment) and _has_timestamp(next_segment)
    }
    fitting = {roll: high for roll, high in waited_ms.items() if high > max(longest_ms, 0)}
    if fitting:
        return _FittingCause(
            RollCause.TIME, frozenset(fitting), longest_ms, min(fitting.values()) - 1
        )
    return None


def _index_causes(segments: Sequence[SegmentFacts]) -> list[_FittingCause]:
    """Returns segment.index.bytes as a cause, for a full .index and for a full .timeindex.

    It explains the rolls of all segments with the most entries, if there are several.
    """
    closed_segments = list(segments[:-1])
    most_offset_entries = max((segment.offset_entries for segment in segments), default=0)
    most_time_entries = max((segment.time_entries for segment in segments), default=0)
    by_offset = frozenset(
        roll
        for roll, segment in enumerate(closed_segments)
        if segment.offset_entries == most_offset_entries
    )
    # Kafka reserves the last slot for the entry that the roll adds. If the roll adds none, a full
    # time index has one entry less.
    by_time = frozenset(
        roll
        for roll, segment in enumerate(closed_segments)
        if segment.time_entries in (most_time_entries, most_time_entries - 1)
        and _pairs_entries(segment)
    )
    causes = []
    if (
        len(by_offset) > 1
        and most_offset_entries
        and most_time_entries <= most_offset_entries * OFFSET_ENTRY_BYTES // TIME_ENTRY_BYTES - 1
    ):
        causes.append(
            _FittingCause(
                RollCause.OFFSET_INDEX_FULL,
                by_offset,
                most_offset_entries * OFFSET_ENTRY_BYTES,
                (most_offset_entries + 1) * OFFSET_ENTRY_BYTES - 1,
            )
        )
    if len(by_time) > 1 and most_time_entries >= MIN_FULL:
        causes.append(
            _FittingCause(
                RollCause.TIME_INDEX_FULL,
                by_time,
                most_time_entries * TIME_ENTRY_BYTES,
                (most_time_entries + 2) * TIME_ENTRY_BYTES - 1,
            )
        )
    return causes


def _pairs_entries(segment: SegmentFacts) -> bool:
    """Returns whether the numbers of time entries and offset entries differ by at most 1.

    This is so in every segment that rolled because its time index was full.
    """
    return segment.time_entries - 1 <= segment.offset_entries <= segment.time_entries + 1


def _has_timestamp(segment: SegmentFacts) -> bool:
    return segment.first_batch_max_timestamp_ms >= 0


def _likeliness(reason: RollCause, low: int, high: int) -> int:
    """Returns how likely a value from `low` to `high` is.

    3: the default. 2: a power of two, or whole hours. 1: a round number. 0: none of these.
    """
    default, round_values, round_steps = {
        RollCause.SIZE: (
            DEFAULT_SEGMENT_BYTES,
            [1 << power for power in range(14, 31)],
            [1024, 1000],
        ),
        RollCause.TIME: (
            DEFAULT_SEGMENT_MS,
            [3_600_000 * hours for hours in (1, 6, 12, 24, 48)],
            [60_000, 10_000],
        ),
    }.get(reason, (-1, [], [1]))
    if low <= default <= high:
        return 3
    if any(low <= value <= high for value in round_values):
        return 2
    return int(any(high // step * step >= low for step in round_steps))


@dataclass(frozen=True)
class InferredLimit:
    """The smallest and the largest possible value of a setting, and the roundest value between."""

    low: int
    high: int
    value: int


def inferred_limits(
    segments: Sequence[SegmentFacts], reasons: Sequence[RollCause | None]
) -> Mapping[str, InferredLimit]:
    """Returns the limits that the rolls show, by setting name. Only settings that caused a roll."""
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
        reached = [
            segment.log_bytes + next_segment.first_batch_bytes for segment, next_segment in rolls
        ]
        return max(segment.log_bytes for segment in segments), min(reached) - 1
    if cause == TIME:
        longest_ms = max(
            segment.max_timestamp_ms - segment.first_batch_max_timestamp_ms for segment in segments
        )
        waited_ms = [
            next_segment.first_batch_max_timestamp_ms - segment.first_batch_max_timestamp_ms
            for segment, next_segment in rolls
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
    """Returns a power of two in the range, or else a multiple of the largest power of ten."""
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
