"""Retention: which record keeps each segment of a log, by which rule, and until when.

    retention.ms 7 days, three segments: the newest record of the first is of 2027-11-25, of the
    others 2026-10-20
    a broker deletes from the oldest on and stops at the first that is too young: the first holds
    back both until 2027-12-02

As UnifiedLog.deleteOldSegments (4.3.1), one rule after another:
deleteLogStartOffsetBreachedSegments, which compacted topics have too,
deleteRetentionSizeBreachedSegments, deleteRetentionMsBreachedSegments. The last segment goes like
the others, after a roll, unless it is empty.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.restart.recovery_scope import recovered_bases
from kafkaviz.config_def import DAY_MS, LONG_MAX
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import Message
from kafkaviz.versions import Release

NO_LIMIT = -1
DUE_STATES = ("log-start", "size", "time")  # what the next pass deletes, by the rule that does
# what keeps a segment
KEPT_STATES = (
    "until",
    "behind",
    "bytes",
    "unlimited",
    "compacted",
    "high-watermark",
    "empty",
    "unknown",
)
STATES = (*DUE_STATES, *KEPT_STATES)
COUNTED_BY = ("record", "entry", "unwritten", "mtime", "unknown")


@dataclass(frozen=True, kw_only=True)
class RetentionLimits:
    """What a log is kept by.

    Each setting has its value (-1: no limit, None: unknown) and, in words, where that came from.

    Attributes:
        is_tiered: closed segments go only once they were copied to remote storage, which these
            files do not show; the limits are those of local.retention.ms and local.retention.bytes
            then.
    """

    deletes: bool | None
    policy_source: Message | None = None
    retention_ms: int | None = NO_LIMIT
    ms_source: Message | None = None
    retention_bytes: int | None = NO_LIMIT
    bytes_source: Message | None = None
    is_tiered: bool = False

    @property
    def is_known(self) -> bool:
        """Whether all of these settings are known; else no rule but the log start is."""
        return None not in (self.deletes, self.retention_ms, self.retention_bytes)

    @property
    def has_size_limit(self) -> bool:
        """Whether retention.bytes is known and takes segments."""
        return self.is_known and bool(self.deletes) and cast(int, self.retention_bytes) >= 0

    @property
    def has_time_limit(self) -> bool:
        """Whether retention.ms is known and takes segments."""
        return self.is_known and bool(self.deletes) and cast(int, self.retention_ms) >= 0

    @property
    def is_time_assumed(self) -> bool:
        """Whether no file tells how long records are kept: Kafka's default is taken."""
        source = self.ms_source
        is_default = source is not None and source.key == "setting_source.default"
        return is_default and self.deletes is True


@dataclass(frozen=True)
class SegmentAge:
    """A segment as retention sees it: LogSegment.size and largestTimestamp.

    Attributes:
        timestamp_ms: the newest time; None where it is not known.
        counted_by: "record": one of the .log, `offset` (or in the batch that ends so, where its
            records cannot be read); "entry": the last entry of the .timeindex, at odds with the
            .log; "unwritten": a slot of it that was never written, and reads 0; "mtime": the .log's
            modification time, as there is no time entry.
    """

    base_offset: int
    size_bytes: int
    timestamp_ms: int | None
    counted_by: str
    offset: int | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentRetention:
    """What keeps a segment, or takes it.

    Attributes:
        state: one of STATES.
        until_ms: when it is old enough by itself, the last moment that it is kept.
        gone_ms: when those before it are, too; None without a limit of time.
        blocked_by: the base offset of the one it waits for.
        more_bytes: how much must be appended until retention.bytes takes it, None without that
            limit.
    """

    age: SegmentAge
    state: str
    until_ms: int | None = None
    gone_ms: int | None = None
    blocked_by: int | None = None
    more_bytes: int | None = None

    @property
    def is_due(self) -> bool:
        """Whether the next pass deletes it."""
        return self.state in DUE_STATES


@dataclass(frozen=True)
class LogRetention:
    """The segments of a log, the oldest first.

    Attributes:
        partition: the directory's name.
        now_ms: when the pass is made.
        log_directory: as of a finding.
    """

    partition: str
    limits: RetentionLimits
    now_ms: int
    segments: tuple[SegmentRetention, ...]
    log_directory: str | None = field(default=None, compare=False)

    @property
    def log_bytes(self) -> int:
        """Of all segments."""
        return sum(kept_segment.age.size_bytes for kept_segment in self.segments)

    @property
    def over_bytes(self) -> int | None:
        """By how much the log is above retention.bytes, negative where it is below.

        None without that limit.
        """
        limit = self.limits.retention_bytes
        return None if limit is None or limit < 0 else self.log_bytes - limit


def segment_age(summary: CheckSummary, *, is_recovered: bool) -> SegmentAge:
    """A segment that was read.

    Args:
        is_recovered: the next start reads its .log anew: its time entries do not count, and its
            tail is cut.
    """
    log, newest = summary.segment.log, summary.newest
    base_offset = summary.segment.base_offset
    size_bytes = summary.end_bytes if is_recovered and not summary.read_fault else log.size_bytes
    if summary.read_fault or ("timeindex" in summary.unreadable_indexes and not is_recovered):
        return SegmentAge(base_offset, size_bytes, None, "unknown")
    largest_ms = (newest[0] if newest else None) if is_recovered else summary.last_time_ms
    if largest_ms is None or largest_ms < 0:
        return SegmentAge(base_offset, size_bytes, log.mtime_ns // 1_000_000, "mtime")
    if newest and newest[0] == largest_ms:
        return SegmentAge(
            base_offset,
            size_bytes,
            largest_ms,
            "record",
            newest[1] if summary.newest_offset is None else summary.newest_offset,
        )
    return SegmentAge(base_offset, size_bytes, largest_ms, "entry" if largest_ms else "unwritten")


def segment_ages(
    summaries: Sequence[CheckSummary],
    *,
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> list[SegmentAge]:
    """The segments of a log that was read, as the next start leaves them.

    Args:
        clean: as of recovered.
        recovery_point: as of recovered.
        release: as of recovered.
    """
    recovered_offsets = recovered_bases(
        [summary.segment for summary in summaries],
        clean=clean,
        recovery_point=recovery_point,
        release=release,
    )
    return [
        segment_age(summary, is_recovered=summary.segment.base_offset in recovered_offsets)
        for summary in summaries
    ]


def log_retention(
    partition: str,
    segments: Sequence[SegmentAge],
    limits: RetentionLimits,
    *,
    now_ms: int,
    log_start_offset: int | None = None,
    high_watermark: int | None = None,
    log_end_offset: int | None = None,
    log_directory: str | None = None,
) -> LogRetention:
    """What a pass at now_ms deletes of a log, and what keeps the rest.

    Args:
        segments: the oldest first; None: not known, and not asked for.
    """
    end_offsets = [*(segment.base_offset for segment in segments[1:]), log_end_offset]

    def is_deletable(number: int) -> bool:
        """Whether UnifiedLog.deletableSegments may take a segment.

        Nothing at or beyond the high watermark goes, and no last segment that is empty.
        """
        end = end_offsets[number]
        is_below_watermark = high_watermark is None or end is None or end <= high_watermark
        return is_below_watermark and (
            number + 1 < len(segments) or segments[number].size_bytes > 0
        )

    due = _due_rules(segments, limits, now_ms, log_start_offset or 0, is_deletable)
    due_without_watermark = _due_rules(
        segments,
        limits,
        now_ms,
        log_start_offset or 0,
        lambda number: number + 1 < len(segments) or segments[number].size_bytes > 0,
    )
    kept_segments = segments[len(due) :]
    due_retentions = [
        SegmentRetention(
            age=segment,
            state=rule,
            until_ms=_until_ms(segment, limits),
            gone_ms=_until_ms(segment, limits),
        )
        for segment, rule in zip(segments, due, strict=False)
    ]
    kept_retentions = _kept_retentions(kept_segments, limits, len(due_without_watermark) - len(due))
    retentions = (*due_retentions, *kept_retentions)
    return LogRetention(partition, limits, now_ms, retentions, log_directory)


def _due_rules(
    segments: Sequence[SegmentAge],
    limits: RetentionLimits,
    now_ms: int,
    log_start_offset: int,
    is_deletable: Callable[[int], bool],
) -> list[str]:
    """By which rule the first ones go; as many as do."""
    due: list[str] = []
    while (
        len(due) + 1 < len(segments)
        and segments[len(due) + 1].base_offset <= log_start_offset
        and is_deletable(len(due))
    ):
        due.append("log-start")
    if not limits.deletes:
        return due
    over_bytes = sum(segment.size_bytes for segment in segments[len(due) :]) - (
        limits.retention_bytes or 0
    )
    while limits.has_size_limit and len(due) < len(segments) and is_deletable(len(due)):
        over_bytes -= segments[len(due)].size_bytes
        if over_bytes < 0:
            break
        due.append("size")
    while (
        len(due) < len(segments)
        and _is_expired(segments[len(due)], limits, now_ms)
        and is_deletable(len(due))
    ):
        due.append("time")
    return due


def _is_expired(segment: SegmentAge, limits: RetentionLimits, now_ms: int) -> bool:
    until_ms = _until_ms(segment, limits)
    return until_ms is not None and now_ms > until_ms


def _until_ms(segment: SegmentAge, limits: RetentionLimits) -> int | None:
    """The last moment that retention.ms keeps it."""
    if not limits.has_time_limit or segment.timestamp_ms is None:
        return None
    return min(segment.timestamp_ms + cast(int, limits.retention_ms), LONG_MAX)


def _kept_retentions(
    segments: Sequence[SegmentAge], limits: RetentionLimits, watermark_count: int
) -> Iterator[SegmentRetention]:
    """What keeps those that stay.

    Args:
        watermark_count: how many of them stay for the high watermark alone.
    """
    over_bytes = sum(segment.size_bytes for segment in segments) - (limits.retention_bytes or 0)
    latest_ms, blocking_offset, is_known = None, 0, True
    for number, (segment, bytes_up_to) in enumerate(
        zip(segments, accumulate(segment.size_bytes for segment in segments), strict=True)
    ):
        until_ms, is_known = (
            _until_ms(segment, limits),
            is_known and segment.timestamp_ms is not None,
        )
        if until_ms is not None and (latest_ms is None or until_ms > latest_ms):
            latest_ms, blocking_offset = until_ms, segment.base_offset
        gone_ms = latest_ms if is_known else None
        more_bytes = max(0, bytes_up_to - over_bytes) if limits.has_size_limit else None
        blocked_by = (
            blocking_offset if gone_ms is not None and gone_ms > cast(int, until_ms) else None
        )
        state = (
            "high-watermark"
            if number < watermark_count
            else _retention_state(
                segment,
                limits,
                is_last=number + 1 == len(segments),
                gone_ms=gone_ms,
                blocked_by=blocked_by,
            )
        )
        yield SegmentRetention(
            age=segment,
            state=state,
            until_ms=until_ms,
            gone_ms=gone_ms,
            blocked_by=blocked_by,
            more_bytes=more_bytes,
        )


def _retention_state(
    segment: SegmentAge,
    limits: RetentionLimits,
    *,
    is_last: bool,
    gone_ms: int | None,
    blocked_by: int | None,
) -> str:
    if not limits.is_known:
        return "unknown"
    if not limits.deletes:
        return "compacted"
    if is_last and not segment.size_bytes:
        return "empty"
    if not limits.has_time_limit:
        return "bytes" if limits.has_size_limit else "unlimited"
    if gone_ms is None:
        return "unknown"
    return "until" if blocked_by is None else "behind"


def sort_by_urgency(logs: Iterable[LogRetention]) -> list[tuple[LogRetention, SegmentRetention]]:
    """All segments.

    What the next pass takes, what waits for an older one, what a file's time decides; of each what
    goes first.
    """

    def sort_key(pair: tuple[LogRetention, SegmentRetention]) -> tuple:
        log, retention = pair
        is_waiting = (
            retention.state == "behind"
            and cast(int, retention.gone_ms) - cast(int, retention.until_ms) > DAY_MS
        )
        is_odd = retention.state in ("unknown", "high-watermark") or (
            retention.age.counted_by in ("entry", "mtime") and retention.gone_ms is not None
        )
        rank = 0 if retention.is_due else 1 if is_waiting else 2 if is_odd else 3
        is_endless = 1 if retention.gone_ms is None else 0
        return (
            rank,
            is_endless,
            retention.gone_ms or 0,
            STATES.index(retention.state),
            natural_sort_key(log.partition),
            retention.age.base_offset,
        )

    return sorted(((log, retention) for log in logs for retention in log.segments), key=sort_key)
