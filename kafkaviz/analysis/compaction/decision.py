"""The decision whether the log cleaner would clean a log now, and which part of the log.

The rules are from LogCleanerManager and LogToClean in Kafka 4.1 to 4.4.0. For example, a log has
segments at 0, 30 and 60, and the checkpoint 30. Segment 0 is clean, segment 30 can be cleaned, and
segment 60 is active. The log is cleaned if segment 30 has a larger share of the bytes in segments 0
and 30 than min.cleanable.dirty.ratio.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafkaviz.config_def import LONG_MAX


class DecisionReason(StrEnum):
    """Why the cleaner would clean a log now, or why it would not."""

    RATIO = "ratio"
    MAX_LAG = "max compaction lag"
    BOTH = "max compaction lag and ratio"
    RATIO_TOO_LOW = "ratio not above min.cleanable.dirty.ratio"
    NOTHING_CLEANABLE = "nothing below the first uncleanable offset"


class Barrier(StrEnum):
    ACTIVE_SEGMENT = "active segment"
    MIN_COMPACTION_LAG = "min.compaction.lag.ms"
    OPEN_TRANSACTION = "open transaction"
    HIGH_WATERMARK = "high watermark"
    CHECKPOINT = "checkpoint"  # the log was already cleaned beyond what the limits allow now


@dataclass(frozen=True, kw_only=True)
class CompactionRules:
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX


@dataclass(frozen=True, kw_only=True)
class CleanableSegment:
    """The facts about a segment on which the decision depends.

    Attributes:
        largest_timestamp_ms: the timestamp of the last time entry. Without an entry, the time when
            the .log was last written (LogSegment.largestTimestamp).
        first_timestamp_ms: the largest timestamp in the first batch; None: no batch or timestamp.
    """

    base_offset: int
    size_bytes: int
    largest_timestamp_ms: int
    first_timestamp_ms: int | None


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """The facts about a log on which the decision depends.

    Attributes:
        segments: one or more, by base offset; the last one is active.
        last_stable_offset: the lower of the high watermark and the first offset of the oldest open
            transaction.
    """

    segments: Sequence[CleanableSegment]
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    last_stable_offset: int

    @property
    def active_base_offset(self) -> int:
        return self.segments[-1].base_offset


@dataclass(frozen=True, kw_only=True)
class CleaningLimits:
    """The offsets below which a cleaning must stay.

    Attributes:
        active_segment: the base offset of the active segment.
        min_compaction_lag: the base offset of the first segment that is younger than
            min.compaction.lag.ms; None: no such segment.
    """

    last_stable_offset: int
    active_segment: int
    min_compaction_lag: int | None


@dataclass(frozen=True, kw_only=True)
class CleaningDecision:
    """Whether the cleaner would clean a log now, and which part.

    Attributes:
        checkpointed: the offset in cleaner-offset-checkpoint; None: this log is not listed.
        force_update_checkpoint: whether the checkpointed offset is outside the log. Kafka then
            writes `first_dirty_offset` to the checkpoint at once.
        held_by: the limit that decides `first_uncleanable_offset`.
        first_uncleanable_segment: the base offset of the segment with `first_uncleanable_offset`.
            Kafka cleans complete segments, so the cleaning ends before this segment.
        clean_bytes: the size of the segments that begin below `first_dirty_offset`. A segment
            that contains this offset is also counted in `cleanable_bytes`.
        cleanable_ratio: `cleanable_bytes` / (`clean_bytes` + `cleanable_bytes`); None: both are 0.
        max_compaction_delay_ms: how long max.compaction.lag.ms has been exceeded; 0: it is not.
    """

    checkpointed: int | None
    first_dirty_offset: int
    force_update_checkpoint: bool
    first_uncleanable_offset: int
    limits: CleaningLimits
    held_by: Barrier
    first_uncleanable_segment: int
    clean_bytes: int
    cleanable_bytes: int
    cleanable_ratio: float | None
    max_compaction_delay_ms: int
    is_eligible: bool
    reason: DecisionReason

    @property
    def total_bytes(self) -> int:
        return self.clean_bytes + self.cleanable_bytes


def segments_between(bases: Sequence[int], start: int, stop: int) -> range:
    """Returns the indices of the segments with offsets from `start` up to `stop`.

    `stop` is excluded (LogSegments.values).
    """
    if start >= stop:
        return range(0)
    first = max(0, sum(base <= start for base in bases) - 1)
    return range(first, sum(base < stop for base in bases))


def decide(
    log: LogFacts, checkpointed: int | None, rules: CompactionRules, now_ms: int
) -> CleaningDecision:
    """Returns what LogCleanerManager.grabFilthiestCompactedLog decides about a log."""
    bases = [segment.base_offset for segment in log.segments]
    first_dirty = log.log_start_offset if checkpointed is None else checkpointed
    is_outside = not log.log_start_offset <= first_dirty <= log.log_end_offset
    if is_outside:
        first_dirty = log.log_start_offset
    dirty_segments = [
        log.segments[index]
        for index in segments_between(bases, first_dirty, log.active_base_offset)
    ]
    limits = CleaningLimits(
        last_stable_offset=log.last_stable_offset,
        active_segment=log.active_base_offset,
        min_compaction_lag=_first_young_segment(dirty_segments, rules, now_ms),
    )
    first_uncleanable, held_by = _first_uncleanable(log, limits, first_dirty)
    uncleanable_range = segments_between(bases, first_uncleanable, log.active_base_offset)
    first_uncleanable_segment = bases[uncleanable_range[0] if uncleanable_range else -1]
    cleanable_range = segments_between(
        bases, min(first_dirty, first_uncleanable_segment), first_uncleanable_segment
    )
    clean_bytes = sum(
        segment.size_bytes for segment in log.segments if segment.base_offset < first_dirty
    )
    cleanable_bytes = sum(log.segments[index].size_bytes for index in cleanable_range)
    total_bytes = clean_bytes + cleanable_bytes
    ratio = cleanable_bytes / total_bytes if total_bytes else None
    delay_ms = _max_compaction_delay_ms(dirty_segments, rules, now_ms)
    reason = _find_reason(ratio, rules, is_late=delay_ms > 0 and cleanable_bytes > 0)
    return CleaningDecision(
        checkpointed=checkpointed,
        first_dirty_offset=first_dirty,
        force_update_checkpoint=is_outside,
        first_uncleanable_offset=first_uncleanable,
        limits=limits,
        held_by=held_by,
        first_uncleanable_segment=first_uncleanable_segment,
        clean_bytes=clean_bytes,
        cleanable_bytes=cleanable_bytes,
        cleanable_ratio=ratio,
        max_compaction_delay_ms=delay_ms,
        is_eligible=reason in (DecisionReason.RATIO, DecisionReason.MAX_LAG, DecisionReason.BOTH),
        reason=reason,
    )


def _first_young_segment(
    dirty_segments: Sequence[CleanableSegment], rules: CompactionRules, now_ms: int
) -> int | None:
    if rules.min_compaction_lag_ms <= 0:
        return None
    for segment in dirty_segments:
        if segment.largest_timestamp_ms > now_ms - rules.min_compaction_lag_ms:
            return segment.base_offset
    return None


def _first_uncleanable(
    log: LogFacts, limits: CleaningLimits, first_dirty: int
) -> tuple[int, Barrier]:
    stable_barrier = Barrier.HIGH_WATERMARK
    if log.last_stable_offset < log.high_watermark:
        stable_barrier = Barrier.OPEN_TRANSACTION
    candidates = [(limits.active_segment, Barrier.ACTIVE_SEGMENT)]
    if limits.min_compaction_lag is not None:
        candidates.append((limits.min_compaction_lag, Barrier.MIN_COMPACTION_LAG))
    candidates.append((limits.last_stable_offset, stable_barrier))
    offset, barrier = min(candidates, key=lambda candidate: candidate[0])
    if offset < first_dirty:
        return first_dirty, Barrier.CHECKPOINT
    return offset, barrier


def _max_compaction_delay_ms(
    dirty_segments: Sequence[CleanableSegment], rules: CompactionRules, now_ms: int
) -> int:
    first_timestamps = [
        segment.first_timestamp_ms
        for segment in dirty_segments
        if segment.first_timestamp_ms is not None and segment.first_timestamp_ms > 0
    ]
    clean_until_ms = now_ms - max(rules.max_compaction_lag_ms, 0)
    return max(0, clean_until_ms - min(first_timestamps, default=LONG_MAX))


def _find_reason(ratio: float | None, rules: CompactionRules, *, is_late: bool) -> DecisionReason:
    if ratio is None:
        return DecisionReason.NOTHING_CLEANABLE
    is_dirty = ratio > rules.min_cleanable_dirty_ratio
    if is_late:
        return DecisionReason.BOTH if is_dirty else DecisionReason.MAX_LAG
    return DecisionReason.RATIO if is_dirty else DecisionReason.RATIO_TOO_LOW
