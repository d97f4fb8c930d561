"""The state of a log, and whether the cleaner would clean the log now.

The state is what the broker would know after its next start-up. It is computed from the files. The
rules are from LogCleanerManager and LogToClean in Kafka 4.1 to 4.4.0.

For example, a log has segments at 0, 30 and 60, and an earlier cleaning ended at offset 30. Segment
0 is clean, segment 30 can be cleaned, and segment 60 is active. The dirty ratio is the size of
segment 30 divided by the size of segments 0 and 30. The log is cleaned if this ratio exceeds
min.cleanable.dirty.ratio.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter

import numpy as np

from kafkaviz.config_def import LONG_MAX
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot
from kafkaviz.format.open_transactions import TransactionFault
from kafkaviz.format.producer_snapshot import PRODUCER
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.partition import Partition, log_end_offset
from kafkaviz.log.segment import LogSegment
from kafkaviz.search.log_view import SegmentView, view_segment
from kafkaviz.simulate.writer.producer_table import ProducerTable

NEVER_MS = 2**62  # with this expiration time, no producer expires


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
    """The facts about a segment that determine whether its log is cleaned.

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
    """The facts about a log that determine whether it is cleaned."""

    segments: Sequence[CleanableSegment]  # one or more, by base offset; the last one is active
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    # the lower of the high watermark and the first offset of the oldest open transaction
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
        clean_bytes: the size of the segments that begin below `first_dirty_offset`. The segment
            that contains this offset also counts in `cleanable_bytes`.
        cleanable_ratio: `cleanable_bytes` / (`clean_bytes` + `cleanable_bytes`); None: both are 0.
        max_compaction_delay_ms: the time since max.compaction.lag.ms was exceeded; 0: not exceeded.
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
    """Returns the indices of segments with offsets in [start, stop), like LogSegments.values."""
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
    if rules.min_compaction_lag_ms > 0:
        for segment in dirty_segments:
            if segment.largest_timestamp_ms > now_ms - rules.min_compaction_lag_ms:
                return segment.base_offset
    return None


def _first_uncleanable(
    log: LogFacts, limits: CleaningLimits, first_dirty: int
) -> tuple[int, Barrier]:
    is_held = log.last_stable_offset < log.high_watermark
    stable_barrier = Barrier.OPEN_TRANSACTION if is_held else Barrier.HIGH_WATERMARK
    candidates = [(limits.active_segment, Barrier.ACTIVE_SEGMENT)]
    if limits.min_compaction_lag is not None:
        candidates.append((limits.min_compaction_lag, Barrier.MIN_COMPACTION_LAG))
    candidates.append((limits.last_stable_offset, stable_barrier))
    offset, barrier = min(candidates, key=itemgetter(0))
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


@dataclass(frozen=True, kw_only=True)
class OpenTransaction:
    producer_id: int
    first_offset: int


@dataclass(frozen=True, kw_only=True)
class LogState:
    """A partition's log as a running broker sees it."""

    views: Sequence[SegmentView]  # by base offset; the last one is active
    facts: LogFacts
    producers: np.ndarray  # those that a broker remembers, as producer_snapshot.PRODUCER
    oldest_transaction: OpenTransaction | None  # the open transaction that began first


def read_log_state(
    partition: Partition,
    *,
    now_ms: int,
    producer_expiration_ms: int,
    high_watermark: int | None = None,
) -> LogState:
    """Reads the state of a log. Reads no data records.

    `partition` has at least one segment. If `high_watermark` is None, it comes from the checkpoint;
    without a checkpoint, it is the log end. Raises KafkavizError if a file cannot be read.
    """
    segments = partition.without_remote().live
    log_start = partition.log_start_offset or 0
    log_end = log_end_offset(segments[-1])
    producers = _read_producers(partition, segments, log_start, log_end)
    if high_watermark is None:
        high_watermark = partition.high_watermark
    return open_log_state(
        [view_segment(segment) for segment in segments],
        producers,
        log_start_offset=log_start,
        log_end_offset=log_end,
        high_watermark=high_watermark,
        now_ms=now_ms,
        producer_expiration_ms=producer_expiration_ms,
    )


def open_log_state(
    views: Sequence[SegmentView],
    producers: np.ndarray,
    *,
    log_start_offset: int,
    log_end_offset: int,
    now_ms: int,
    producer_expiration_ms: int,
    high_watermark: int | None = None,
) -> LogState:
    """Returns the state of a log that is already open.

    Args:
        views: the segments, by base offset; the last one is active.
        producers: all producers of the log, an array of producer_snapshot.PRODUCER. The result
            lacks producers that have expired at `now_ms` without an open transaction.
        high_watermark: the default is the log end.
    """
    is_open = producers["current_txn_first_offset"] >= 0
    is_expired = now_ms - producers["timestamp_ms"] >= producer_expiration_ms
    producers = producers[is_open | ~is_expired]
    if high_watermark is None:
        high_watermark = log_end_offset
    high_watermark = min(max(high_watermark, log_start_offset), log_end_offset)
    stable = high_watermark
    oldest = None
    open_rows = producers[producers["current_txn_first_offset"] >= 0]
    if len(open_rows):
        row = open_rows[np.argmin(open_rows["current_txn_first_offset"])]
        first_offset = int(row["current_txn_first_offset"])
        oldest = OpenTransaction(producer_id=int(row["producer_id"]), first_offset=first_offset)
        stable = min(first_offset, high_watermark)
    facts = LogFacts(
        segments=[_segment_facts(view) for view in views],
        log_start_offset=log_start_offset,
        log_end_offset=log_end_offset,
        high_watermark=high_watermark,
        last_stable_offset=stable,
    )
    return LogState(views=views, facts=facts, producers=producers, oldest_transaction=oldest)


def _segment_facts(view: SegmentView) -> CleanableSegment:
    with view.log.open_reader() as read:
        first_batch = batch_at(read, 0, view.size_bytes)
    first_ms = None
    if first_batch is not None and first_batch["max_timestamp_ms"] >= 0:
        first_ms = int(first_batch["max_timestamp_ms"])
    return CleanableSegment(
        base_offset=view.base_offset,
        size_bytes=view.size_bytes,
        largest_timestamp_ms=view.largest_timestamp_ms,
        first_timestamp_ms=first_ms,
    )


def _read_producers(
    partition: Partition, segments: Sequence[LogSegment], log_start: int, log_end: int
) -> np.ndarray:
    """Returns the producers at the log end, as an array of PRODUCER.

    Reads them from the latest valid snapshot and from the batches after the snapshot
    (ProducerStateManager.truncateAndReload).
    """
    table, offset = _load_snapshot(partition, log_start, log_end)
    bases = [segment.base_offset for segment in segments]
    for index in segments_between(bases, offset, log_end):
        _take_batches(table, segments[index], offset)
    return producer_snapshot.parse(table.snapshot()).producers.astype(PRODUCER)


def _load_snapshot(partition: Partition, log_start: int, log_end: int) -> tuple[ProducerTable, int]:
    for offset in sorted(partition.snapshots, reverse=True):
        if log_start < offset <= log_end:
            try:
                return ProducerTable(file.read(partition.snapshots[offset].path)), offset
            except CorruptBytes:
                continue
    return ProducerTable(), log_start


def _take_batches(table: ProducerTable, segment: LogSegment, offset: int) -> None:
    entries = segment.offset_index
    before = entries[entries["offset"] < offset]
    position = int(before["position"].max(initial=0))
    with file.reader(segment.log.path) as read:
        for batches in segment.scan(position):
            try:
                table.take(batches[batches["last_offset"] >= offset], read)
            except TransactionFault:
                return
