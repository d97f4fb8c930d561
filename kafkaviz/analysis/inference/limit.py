"""The values of unknown settings, bounded by a partition's rolls.

Each limit is between the largest value that did not cause a roll and the least that did. For
example, segments of 1 047 315 and 1 048 043 bytes are followed by batches of 2871 and 1200 bytes.
So segment.bytes was between 1 048 043 and 1 049 242, and the roundest such number is 1 048 576.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafkaviz.analysis.inference.roll import SegmentFacts
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from kafkaviz.format import offset_index, time_index
from kafkaviz.roll_cause import RollCause

SIZE, TIME, OFFSET_INDEX, TIME_INDEX, _ = RollCause
SETTING = {
    SIZE: "segment.bytes",
    TIME: "segment.ms",
    OFFSET_INDEX: "segment.index.bytes",
    TIME_INDEX: "segment.index.bytes",
}
ROUND_MS = (DAY_MS, HOUR_MS, 10 * MINUTE_MS, MINUTE_MS, 10 * SECOND_MS, SECOND_MS)


@dataclass(frozen=True)
class InferredLimit:
    """The least and greatest value of a setting that fit, and the roundest between them.

    Both bounds are inclusive.
    """

    low: int
    high: int
    value: int


def inferred_limits(
    segments: Sequence[SegmentFacts], reasons: Sequence[RollCause | None]
) -> Mapping[str, InferredLimit]:
    """Returns the limits by setting name, for each cause of a roll.

    Args:
        reasons: the result of inference.roll.roll_reasons for these segments.
    """
    rolls = [(*pair, reason) for pair, reason in zip(pairwise(segments), reasons, strict=False)]
    limits = {}
    for cause in (SIZE, TIME, OFFSET_INDEX, TIME_INDEX):
        rolls_of_cause = [
            (segment, next_segment) for segment, next_segment, reason in rolls if reason == cause
        ]
        low, high = _bounds(cause, segments, rolls_of_cause) if rolls_of_cause else (1, 0)
        if low <= high:
            limits[SETTING[cause]] = InferredLimit(
                low, high, _roundest_ms(low, high) if cause == TIME else _roundest(low, high)
            )
    return limits


def _bounds(
    cause: str, segments: Sequence[SegmentFacts], rolls: Sequence[tuple[SegmentFacts, SegmentFacts]]
) -> tuple[int, int]:
    if cause == SIZE:
        return max(segment.log_bytes for segment in segments), min(
            segment.log_bytes + next_segment.first_batch_bytes for segment, next_segment in rolls
        ) - 1
    if cause == TIME:
        longest_ms = max(
            segment.max_timestamp_ms - segment.first_batch_max_timestamp_ms for segment in segments
        )
        return max(longest_ms, 1), min(
            next_segment.first_batch_max_timestamp_ms - segment.first_batch_max_timestamp_ms
            for segment, next_segment in rolls
        ) - 1
    if cause == OFFSET_INDEX:
        max_entries = max(segment.offset_entries for segment in segments)
        entry_bytes = offset_index.ENTRY.itemsize
    else:
        max_entries = max(segment.time_entries for segment in segments)
        entry_bytes = time_index.ENTRY.itemsize
    return max_entries * entry_bytes, (max_entries + 1) * entry_bytes - 1


def _roundest(low: int, high: int) -> int:
    """Returns a power of two, or else a multiple of the largest power of ten that fits."""
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
