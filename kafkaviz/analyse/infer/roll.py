"""Why each closed segment was rolled, inferred from sizes, times and entry counts of its partition.

Each cause is a threshold: a roll by it happened above, everything that did not roll stayed below.
Segments of 1 047 315 and 1 048 043 bytes followed by batches of 2871 and 1200: segment.bytes lay
between 1 048 043 and 1 049 242, both rolls fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafkaviz.config_def import DAY_MS
from kafkaviz.format.offset_index import MOST_RELATIVE

DEFAULT_SEGMENT_BYTES, DEFAULT_SEGMENT_MS = 1 << 30, 7 * DAY_MS
OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES = 8, 12
LEAST_FULL = 3  # fewer entries are alike by chance
# in LogSegment.shouldRoll's order
REASONS = ("size", "time", "offset-index-full", "time-index-full", "offset-overflow")


@dataclass(frozen=True)
class SegmentFacts:
    """What the inference needs of one segment; timestamps are −1 where there are none."""

    base_offset: int
    log_bytes: int
    first_batch_bytes: int
    first_batch_max_timestamp_ms: int
    first_batch_last_offset: int
    max_timestamp_ms: int
    offset_entries: int
    time_entries: int


@dataclass(frozen=True)
class _Cause:
    """One setting that fits: the rolls it explains, and the values it may have had."""

    reason: str
    rolls: frozenset[int]
    low: int
    high: int

    def strength(self) -> tuple[int, int, int]:
        """More rolls explained, then a likelier value, then the order in which Kafka asks."""
        return (
            len(self.rolls),
            _likeliness(self.reason, self.low, self.high),
            -REASONS.index(self.reason),
        )


def roll_reasons(segments: Sequence[SegmentFacts]) -> list[str | None]:
    """One reason a segment, in order; None for the last one, and where no cause fits (compacted,
    truncated).

    segments: those of one partition by base offset, the active one last.
    """
    rolls = range(len(segments) - 1)
    causes = sorted(
        filter(None, (_size(segments), _time(segments), *_index(segments))),
        key=_Cause.strength,
        reverse=True,
    )
    reasons: list[str | None] = [None] * len(segments)
    for roll in rolls:
        if segments[roll + 1].first_batch_last_offset - segments[roll].base_offset > MOST_RELATIVE:
            reasons[roll] = "offset-overflow"
        elif segments[roll + 1].log_bytes:
            reasons[roll] = next((cause.reason for cause in causes if roll in cause.rolls), None)
    return reasons


def _size(segments: Sequence[SegmentFacts]) -> _Cause | None:
    """segment.bytes: no segment is larger, and the next batch would have made this one so."""
    largest = max((one.log_bytes for one in segments), default=0)
    reach = {
        roll: one.log_bytes + next_one.first_batch_bytes - 1
        for roll, (one, next_one) in _pairs(segments)
        if one.log_bytes
    }
    fits = {roll: high for roll, high in reach.items() if high >= largest}
    return _Cause("size", frozenset(fits), largest, min(fits.values())) if fits else None


def _time(segments: Sequence[SegmentFacts]) -> _Cause | None:
    """segment.ms: no batch came later after its segment's first one, and the next one would
    have.
    """
    longest = max(
        (
            one.max_timestamp_ms - one.first_batch_max_timestamp_ms
            for one in segments
            if _timed(one)
        ),
        default=0,
    )
    waited = {
        roll: next_one.first_batch_max_timestamp_ms - one.first_batch_max_timestamp_ms
        for roll, (one, next_one) in _pairs(segments)
        if _timed(one) and _timed(next_one)
    }
    fits = {roll: high for roll, high in waited.items() if high > max(longest, 0)}
    return _Cause("time", frozenset(fits), longest, min(fits.values()) - 1) if fits else None


def _index(segments: Sequence[SegmentFacts]) -> list[_Cause]:
    """segment.index.bytes: every segment that rolled by it has the same number of entries, and none
    has more.
    """
    closed = list(segments[:-1])
    offset_full = max((one.offset_entries for one in segments), default=0)
    time_most = max((one.time_entries for one in segments), default=0)
    by_offset = frozenset(
        roll for roll, one in enumerate(closed) if one.offset_entries == offset_full
    )
    # The last slot is kept for the entry of the roll, so a full time index ends with one entry
    # less, or with all.
    by_time = frozenset(
        roll
        for roll, one in enumerate(closed)
        if one.time_entries in (time_most, time_most - 1) and _all_timed(one)
    )
    found = []
    if (
        len(by_offset) > 1
        and offset_full
        and time_most <= offset_full * OFFSET_ENTRY_BYTES // TIME_ENTRY_BYTES - 1
    ):
        found.append(
            _Cause(
                "offset-index-full",
                by_offset,
                offset_full * OFFSET_ENTRY_BYTES,
                (offset_full + 1) * OFFSET_ENTRY_BYTES - 1,
            )
        )
    if len(by_time) > 1 and time_most >= LEAST_FULL:
        found.append(
            _Cause(
                "time-index-full",
                by_time,
                time_most * TIME_ENTRY_BYTES,
                (time_most + 2) * TIME_ENTRY_BYTES - 1,
            )
        )
    return found


def _all_timed(one: SegmentFacts) -> bool:
    """Whether each index entry came with a time entry, as it must when the time index is the one
    that fills.
    """
    return one.time_entries - 1 <= one.offset_entries <= one.time_entries + 1


def _pairs(segments: Sequence[SegmentFacts]) -> enumerate:
    """Each roll: its number, and the segments before and after it."""
    return enumerate(pairwise(segments))


def _timed(one: SegmentFacts) -> bool:
    return one.first_batch_max_timestamp_ms >= 0


def _likeliness(reason: str, low: int, high: int) -> int:
    """3: the default fits; 2: a power of two, or a whole hour; 1: a round number; 0: none does."""
    default, strong, weak = {
        "size": (DEFAULT_SEGMENT_BYTES, [1 << power for power in range(14, 31)], [1024, 1000]),
        "time": (
            DEFAULT_SEGMENT_MS,
            [3_600_000 * hours for hours in (1, 6, 12, 24, 48)],
            [60_000, 10_000],
        ),
    }.get(reason, (-1, [], [1]))
    if low <= default <= high:
        return 3
    if any(low <= one <= high for one in strong):
        return 2
    return int(any(high // step * step >= low for step in weak))
