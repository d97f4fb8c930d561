"""Computes which rule deletes each segment of a log, or what keeps the segment.

In a retention pass, a broker deletes the oldest segments and stops at the first segment that is too
young. For example, retention.ms is 7 days, and the first segment has a record of 2027-11-25. All
later segments are then kept until 2027-12-02, even if their records are from 2026.

UnifiedLog.deleteOldSegments (4.3.1) applies these rules in order:

1. deleteLogStartOffsetBreachedSegments, also for compacted topics
2. deleteRetentionSizeBreachedSegments
3. deleteRetentionMsBreachedSegments

The last segment is rolled and deleted like the others, unless it is empty.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import cast

from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.restart.recovery_scope import recovered_bases
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.config_def import LONG_MAX
from kafkaviz.errors import CannotOpen
from kafkaviz.format import time_index
from kafkaviz.format.names import METADATA_TOPIC, natural_sort_key
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import Message
from kafkaviz.units import DAY_MS
from kafkaviz.versions import Release

NO_LIMIT = -1
DUE_STATES = ("log-start", "size", "time")  # the rule that deletes it in the pass
# the reasons why a segment is kept
KEPT_STATES = (
    "until",
    "behind",
    "bytes",
    "unlimited",
    "compacted",
    "high-watermark",
    "not-uploaded",
    "empty",
    "unknown",
)
STATES = (*DUE_STATES, *KEPT_STATES)
COUNTED_BY = ("record", "entry", "unwritten", "mtime", "unknown")
ENTRY_BYTES = time_index.ENTRY.itemsize


@dataclass(frozen=True, kw_only=True)
class RetentionLimits:
    """The settings that limit the retention of a log, each with its source.

    Limits of -1 mean no limit. None means unknown.
    """

    deletes: bool | None  # whether cleanup.policy contains "delete"
    policy_source: Message | None = None
    retention_ms: int | None = NO_LIMIT
    ms_source: Message | None = None
    retention_bytes: int | None = NO_LIMIT
    bytes_source: Message | None = None
    # whether the topic has remote storage. If so, the limits apply to the local log, and only
    # uploaded segments are deleted.
    is_tiered: bool = False

    @property
    def is_known(self) -> bool:
        """Whether all limits are known. If not, only the log start offset deletes segments."""
        return None not in (self.deletes, self.retention_ms, self.retention_bytes)

    @property
    def has_size_limit(self) -> bool:
        return self.is_known and bool(self.deletes) and cast(int, self.retention_bytes) >= 0

    @property
    def has_time_limit(self) -> bool:
        return self.is_known and bool(self.deletes) and cast(int, self.retention_ms) >= 0

    @property
    def is_time_assumed(self) -> bool:
        """Whether Kafka's default of retention.ms is assumed, because no file sets it."""
        source = self.ms_source
        is_default = source is not None and source.key == "setting_source.default"
        return is_default and self.deletes is True


@dataclass(frozen=True)
class SegmentAge:
    """A segment's size and newest time, as in LogSegment.size and largestTimestamp.

    `counted_by` says where `timestamp_ms` comes from:

    - "record": the record at `offset`. If its batch is damaged, another record of this batch.
    - "entry": the last entry of the .timeindex, if its time is not the newest time in the .log.
    - "unwritten": a slot of the .timeindex that was never written, with time 0.
    - "mtime": the modification time of the .log, if the segment has no time entry.
    - "unknown": a file cannot be read, and `timestamp_ms` is None.
    """

    base_offset: int
    size_bytes: int
    timestamp_ms: int | None
    counted_by: str
    offset: int | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentRetention:
    """Why a segment is kept or deleted."""

    age: SegmentAge
    state: str  # one of STATES
    until_ms: int | None = None  # the time until which the segment is too young for retention.ms
    # the time until which this segment or an earlier one is too young; None: no time limit, or an
    # age is unknown
    gone_ms: int | None = None
    # the base offset of an earlier segment that delays the deletion; None: no delay
    blocked_by: int | None = None
    # bytes to be appended before retention.bytes deletes the segment; None: no such limit
    more_bytes: int | None = None
    # why the segment is not uploaded; None: unknown, or the state is not "not-uploaded"
    why: Message | None = field(default=None, compare=False)

    @property
    def is_due(self) -> bool:
        return self.state in DUE_STATES

    @property
    def is_waiting_long(self) -> bool:
        """Whether an earlier segment delays this segment's deletion by more than a day."""
        if self.state != "behind" or self.gone_ms is None or self.until_ms is None:
            return False
        return self.gone_ms - self.until_ms > DAY_MS


@dataclass(frozen=True)
class LogRetention:
    """The retention of a log's segments, the oldest first. Offsets are None if unknown."""

    partition: str
    limits: RetentionLimits
    now_ms: int
    segments: tuple[SegmentRetention, ...]
    _: KW_ONLY
    log_directory: str | None = field(default=None, compare=False)
    log_start_offset: int | None = field(default=None, compare=False)
    high_watermark: int | None = field(default=None, compare=False)
    log_end_offset: int | None = field(default=None, compare=False)
    highest_remote_offset: int | None = field(default=None, compare=False)

    @property
    def log_bytes(self) -> int:
        return sum(segment.age.size_bytes for segment in self.segments)

    @property
    def due_bytes(self) -> int:
        return sum(segment.age.size_bytes for segment in self.segments if segment.is_due)

    def bytes_by_state(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for segment in self.segments:
            sizes[segment.state] = sizes.get(segment.state, 0) + segment.age.size_bytes
        return sizes

    @property
    def not_uploaded_bytes(self) -> int | None:
        """The .log bytes not in remote storage. None: unknown, or the topic is not tiered."""
        if not self.limits.is_tiered or self.highest_remote_offset is None:
            return None
        following = [segment.age.base_offset for segment in self.segments[1:]]
        uploaded = sum(base_offset - 1 <= self.highest_remote_offset for base_offset in following)
        return sum(segment.age.size_bytes for segment in self.segments[uploaded:])

    @property
    def over_bytes(self) -> int | None:
        """The log's size minus retention.bytes; may be negative. None: no limit, or unknown."""
        limit = self.limits.retention_bytes
        return None if limit is None or limit < 0 else self.log_bytes - limit


def segment_age(summary: CheckSummary, *, is_recovered: bool) -> SegmentAge:
    """Returns the size and newest time of a segment that a check has read.

    If start-up recovers the segment (`is_recovered`), the time comes from its batches, and bytes
    after the last batch do not count for the size.
    """
    log = summary.segment.log
    newest = summary.newest
    base_offset = summary.segment.base_offset
    size_bytes = summary.end_bytes if is_recovered and not summary.read_fault else log.size_bytes
    if summary.read_fault or ("timeindex" in summary.unreadable_indexes and not is_recovered):
        return SegmentAge(base_offset, size_bytes, None, "unknown")
    largest_ms = summary.last_time_ms
    if is_recovered:
        largest_ms = newest[0] if newest else None
    if newest and newest[0] == largest_ms and largest_ms >= 0:
        offset = newest[1] if summary.newest_offset is None else summary.newest_offset
        return SegmentAge(base_offset, size_bytes, largest_ms, "record", offset)
    return _age(base_offset, size_bytes, -1 if largest_ms is None else largest_ms, log.mtime_ns)


def segment_ages(
    summaries: Sequence[CheckSummary],
    *,
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> list[SegmentAge]:
    """Returns the SegmentAge that each segment has after the next broker start-up.

    Args:
        clean: whether the broker was shut down cleanly. None: unknown.
        release: the release of the broker, such as (4, 3, 1). Empty: unknown.
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
    highest_remote_offset: int | None = None,
    log_directory: str | None = None,
) -> LogRetention:
    """Returns which segments a retention pass at `now_ms` deletes, and why others stay.

    An offset of None is unknown. A rule that needs an unknown offset is not applied.

    Args:
        segments: the ages of all segments, the oldest first.
        highest_remote_offset: the last offset in remote storage; -1 if nothing was uploaded. Used
            only for a tiered log.
    """
    end_offsets = [*(segment.base_offset for segment in segments[1:]), log_end_offset]
    log_start = log_start_offset or 0

    def is_not_empty(number: int) -> bool:
        return number + 1 < len(segments) or segments[number].size_bytes > 0

    def is_replicated(number: int) -> bool:
        end = end_offsets[number]
        is_below_watermark = high_watermark is None or end is None or end <= high_watermark
        return is_not_empty(number) and is_below_watermark

    def is_deletable(number: int) -> bool:
        """Returns whether retention may delete the segment: it is uploaded, or need not be.

        The rule is UnifiedLog.isSegmentEligibleForDeletion.
        """
        if not is_replicated(number):
            return False
        if not limits.is_tiered or highest_remote_offset is None:
            return True
        if number + 1 == len(segments):
            return False  # the active segment must be rolled before it is uploaded
        end = segments[number + 1].base_offset
        return end - 1 <= highest_remote_offset or end <= log_start

    find_due = partial(_due_rules, segments, limits, now_ms, log_start)
    due = find_due(is_deletable)
    retentions = []
    for segment, rule in zip(segments, due, strict=False):
        until_ms = _until_ms(segment, limits)
        retention = SegmentRetention(age=segment, state=rule, until_ms=until_ms, gone_ms=until_ms)
        retentions.append(retention)
    retentions += _kept_retentions(
        segments[len(due) :],
        limits,
        upload_count=len(find_due(is_replicated)) - len(due),
        watermark_count=len(find_due(is_not_empty)) - len(due),
    )
    return LogRetention(
        partition,
        limits,
        now_ms,
        tuple(retentions),
        log_directory=log_directory,
        log_start_offset=log_start_offset,
        high_watermark=high_watermark,
        log_end_offset=log_end_offset,
        highest_remote_offset=highest_remote_offset,
    )


def with_limits(log: LogRetention, limits: RetentionLimits) -> LogRetention:
    return log_retention(
        log.partition,
        [segment.age for segment in log.segments],
        limits,
        now_ms=log.now_ms,
        log_start_offset=log.log_start_offset,
        high_watermark=log.high_watermark,
        log_end_offset=log.log_end_offset,
        highest_remote_offset=log.highest_remote_offset,
        log_directory=log.log_directory,
    )


def _due_rules(
    segments: Sequence[SegmentAge],
    limits: RetentionLimits,
    now_ms: int,
    log_start_offset: int,
    is_deletable: Callable[[int], bool],
) -> list[str]:
    """Returns one of DUE_STATES per segment that a retention pass deletes, the oldest first."""
    due: list[str] = []
    while (
        len(due) + 1 < len(segments)
        and segments[len(due) + 1].base_offset <= log_start_offset
        and is_deletable(len(due))
    ):
        due.append("log-start")
    if not limits.deletes:
        return due
    over_bytes = sum(segment.size_bytes for segment in segments[len(due) :])
    over_bytes -= limits.retention_bytes or 0
    while limits.has_size_limit and len(due) < len(segments) and is_deletable(len(due)):
        over_bytes -= segments[len(due)].size_bytes
        if over_bytes < 0:
            break
        due.append("size")
    while len(due) < len(segments) and is_deletable(len(due)):
        until_ms = _until_ms(segments[len(due)], limits)
        if until_ms is None or now_ms <= until_ms:
            break
        due.append("time")
    return due


def _until_ms(segment: SegmentAge, limits: RetentionLimits) -> int | None:
    if not limits.has_time_limit or segment.timestamp_ms is None:
        return None
    return min(segment.timestamp_ms + cast(int, limits.retention_ms), LONG_MAX)


def _kept_retentions(
    segments: Sequence[SegmentAge],
    limits: RetentionLimits,
    *,
    upload_count: int,
    watermark_count: int,
) -> Iterator[SegmentRetention]:
    """Yields why each segment is kept by the retention pass.

    Args:
        segments: the segments that the pass does not delete, the oldest first.
        upload_count: how many of the oldest segments are kept only because they are not uploaded.
        watermark_count: how many of the oldest segments are kept only because they are not uploaded
            or not below the high watermark.
    """
    over_bytes = sum(segment.size_bytes for segment in segments) - (limits.retention_bytes or 0)
    latest_ms = None
    blocking_offset = 0
    is_known = True
    bytes_up_to = 0
    for number, segment in enumerate(segments):
        bytes_up_to += segment.size_bytes
        until_ms = _until_ms(segment, limits)
        is_known = is_known and segment.timestamp_ms is not None
        if until_ms is not None and (latest_ms is None or until_ms > latest_ms):
            latest_ms = until_ms
            blocking_offset = segment.base_offset
        gone_ms = latest_ms if is_known else None
        more_bytes = max(0, bytes_up_to - over_bytes) if limits.has_size_limit else None
        is_blocked = gone_ms is not None and gone_ms > cast(int, until_ms)
        blocked_by = blocking_offset if is_blocked else None
        if number < upload_count:
            state = "not-uploaded"
        elif number < watermark_count:
            state = "high-watermark"
        else:
            is_last = number + 1 == len(segments)
            state = _retention_state(
                segment, limits, is_last=is_last, gone_ms=gone_ms, blocked_by=blocked_by
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
    """Returns all segments of the logs, the most urgent first.

    The segments form four groups, in this order. In each group, the earliest date of deletion comes
    first.

    1. segments that the next retention pass deletes
    2. segments whose deletion an earlier segment delays by more than a day
    3. segments whose date is unknown or uncertain, such as those that must be uploaded first
    4. all others
    """

    def sort_key(pair: tuple[LogRetention, SegmentRetention]) -> tuple:
        log, retention = pair
        is_odd = retention.state in ("unknown", "high-watermark", "not-uploaded") or (
            retention.age.counted_by in ("entry", "mtime") and retention.gone_ms is not None
        )
        if retention.is_due:
            rank = 0
        elif retention.is_waiting_long:
            rank = 1
        elif is_odd:
            rank = 2
        else:
            rank = 3
        return (
            rank,
            retention.gone_ms is None,
            retention.gone_ms or 0,
            STATES.index(retention.state),
            natural_sort_key(log.partition),
            retention.age.base_offset,
        )

    return sorted(((log, retention) for log in logs for retention in log.segments), key=sort_key)


def segment_retention(
    partition: Partition, anatomy: Anatomy, limits: RetentionLimits, *, clean: bool, now_ms: int
) -> tuple[LogRetention, SegmentRetention] | None:
    """Returns the retention of a log, and the retention of the segment in `anatomy`.

    Reads only the last time entry (12 bytes) of each earlier segment. `kafkaviz check` reads every
    .log instead. It gets a different result only if a time index is damaged.

    Returns None if the segment or its directory is not in use, or belongs to the metadata log.
    """
    live = partition.live
    bases = [segment.base_offset for segment in live]
    if (
        anatomy.segment.base_offset not in bases
        or not anatomy.segment.is_in_use
        or partition.state != "current"
        or partition.topic == METADATA_TOPIC
    ):
        return None
    number = bases.index(anatomy.segment.base_offset)
    is_recovered = not clean and anatomy.segment.state == "active"
    later_ages = [
        SegmentAge(later.base_offset, later.log.size_bytes, None, "unknown")
        for later in live[number + 1 :]
    ]
    last = anatomy.counts.last
    end_offset = anatomy.segment.base_offset if last is None else int(last["last_offset"]) + 1
    log = log_retention(
        partition.directory,
        [
            *map(_age_from_last_entry, live[:number]),
            _age_from_anatomy(anatomy, is_recovered=is_recovered),
            *later_ages,
        ],
        limits,
        now_ms=now_ms,
        log_start_offset=partition.log_start_offset,
        high_watermark=partition.high_watermark,
        log_end_offset=None if number + 1 < len(live) else end_offset,
        highest_remote_offset=tiered_view.highest_remote_offset(partition.path),
    )
    return log, log.segments[number]


def _age_from_last_entry(segment: LogSegment) -> SegmentAge:
    log = segment.log
    last_ms = -1
    if segment.timeindex is not None:
        slots = segment.timeindex.size_bytes // ENTRY_BYTES
        position = max(0, slots - 1) * ENTRY_BYTES
        try:
            entries = time_index.parse(file.read(segment.timeindex.path, position, ENTRY_BYTES))
        except CannotOpen:
            return SegmentAge(segment.base_offset, log.size_bytes, None, "unknown")
        if len(entries):
            last_ms = int(entries["timestamp_ms"][-1])
    return _age(segment.base_offset, log.size_bytes, last_ms, log.mtime_ns)


def _age_from_anatomy(anatomy: Anatomy, *, is_recovered: bool) -> SegmentAge:
    """Returns the size and newest time of the segment in `anatomy`.

    If `is_recovered`, the time comes from the segment's batches, not from its time entries.
    """
    times = anatomy.times
    log = anatomy.segment.log
    base_offset = anatomy.segment.base_offset
    if is_recovered:
        return _age(base_offset, anatomy.end.position, anatomy.counts.newest_ms, log.mtime_ns)
    if times.unwritten_slots:
        last_ms = 0
    elif len(times.entries):
        last_ms = int(times.entries["timestamp_ms"][-1])
    else:
        last_ms = -1
    return _age(base_offset, log.size_bytes, last_ms, log.mtime_ns)


def _age(base_offset: int, size_bytes: int, last_ms: int, mtime_ns: int) -> SegmentAge:
    if last_ms < 0:
        return SegmentAge(base_offset, size_bytes, mtime_ns // 1_000_000, "mtime")
    return SegmentAge(base_offset, size_bytes, last_ms, "entry" if last_ms else "unwritten")
