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
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.recovered import recovered
from kafkaviz.config_def import DAY_MS, Release
from kafkaviz.format.names import counting

NO_LIMIT, MOST_MS = -1, 2**63 - 1
DUE = ("log-start", "size", "time")  # what the next pass deletes, by the rule that does
# what keeps a segment
HELD = ("until", "behind", "bytes", "unlimited", "compacted", "high-watermark", "empty", "unknown")
STATES = (*DUE, *HELD)
COUNTED_BY = ("record", "entry", "unwritten", "mtime", "unknown")


@dataclass(frozen=True)
class Limits:
    """What a log is kept by.

    Each setting has its value (-1: no limit) and, in words, where that came from.

    is_tiered: closed segments go only once they were copied to remote storage, which these files do
    not tell; the limits are those of local.retention.ms and local.retention.bytes then.
    """

    deletes: bool
    policy_source: str
    retention_ms: int = NO_LIMIT
    ms_source: str = ""
    retention_bytes: int = NO_LIMIT
    bytes_source: str = ""
    is_tiered: bool = False


@dataclass(frozen=True)
class Aged:
    """A segment as retention sees it: LogSegment.size and largestTimestamp, and what that is
    counted by.

    timestamp_ms: the newest time; None where it is not known. counted_by: "record": one of the
    .log, `offset` (or in the batch that ends so, where its records cannot be read); "entry": the
    last entry of the .timeindex, at odds with the .log; "unwritten": a slot of it that was never
    written, and reads 0; "mtime": the .log's modification time, as there is no time entry.
    """

    base_offset: int
    size_bytes: int
    timestamp_ms: int | None
    counted_by: str
    offset: int | None = None


@dataclass(frozen=True)
class Kept:
    """What keeps a segment, or takes it.

    state: one of STATES. until_ms: when it is old enough by itself, the last moment that it is
    kept; gone_ms: when those before it are, too; None without a limit of time. blocked_by: the base
    offset of the one it waits for. more_bytes: how much must be appended until retention.bytes
    takes it, None without that limit.
    """

    aged: Aged
    state: str
    until_ms: int | None = None
    gone_ms: int | None = None
    blocked_by: int | None = None
    more_bytes: int | None = None

    @property
    def is_due(self) -> bool:
        """Whether the next pass deletes it."""
        return self.state in DUE


@dataclass(frozen=True)
class LogRetention:
    """The segments of a log, the oldest first. partition: the directory's name; now_ms: when the
    pass is made that is told.
    """

    partition: str
    limits: Limits
    now_ms: int
    segments: tuple[Kept, ...]

    @property
    def log_bytes(self) -> int:
        """Of all segments."""
        return sum(one.aged.size_bytes for one in self.segments)

    @property
    def over_bytes(self) -> int | None:
        """By how much the log is above retention.bytes, negative where it is below; None without
        that limit.
        """
        return (
            self.log_bytes - self.limits.retention_bytes
            if self.limits.retention_bytes >= 0
            else None
        )


def aged(told: Summary, is_recovered: bool) -> Aged:
    """A segment that was read. is_recovered: the next start reads its .log anew: its time entries
    do not count, and its tail is cut.
    """
    log, newest = existing(told.segment.log), told.newest
    base_offset = told.segment.base_offset
    size_bytes = told.end_bytes if is_recovered and not told.unreadable else log.size_bytes
    if told.unreadable or ("timeindex" in told.hidden and not is_recovered):
        return Aged(base_offset, size_bytes, None, "unknown")
    largest = (newest[0] if newest else None) if is_recovered else told.last_time_ms
    if largest is None or largest < 0:
        return Aged(base_offset, size_bytes, log.mtime_ns // 1_000_000, "mtime")
    if newest and newest[0] == largest:
        return Aged(
            base_offset,
            size_bytes,
            largest,
            "record",
            newest[1] if told.newest_offset is None else told.newest_offset,
        )
    return Aged(base_offset, size_bytes, largest, "entry" if largest else "unwritten")


def aged_segments(
    summaries: Sequence[Summary],
    clean: bool | None,
    recovery_point: int | None,
    release: Release = (),
) -> list[Aged]:
    """The segments of a log that was read, as the next start leaves them. clean, recovery_point,
    release: as of recovered.
    """
    anew = recovered([told.segment for told in summaries], clean, recovery_point, release)
    return [aged(told, told.segment.base_offset in anew) for told in summaries]


def of_log(
    partition: str,
    segments: Sequence[Aged],
    limits: Limits,
    now_ms: int,
    log_start_offset: int | None = None,
    high_watermark: int | None = None,
    log_end_offset: int | None = None,
) -> LogRetention:
    """What a pass at now_ms deletes of a log, and what keeps the rest. segments: the oldest first;
    None: not known, and not asked for.
    """
    ends = [*(one.base_offset for one in segments[1:]), log_end_offset]

    def may_go(at: int) -> bool:
        """deletableSegments: nothing at or beyond the high watermark goes, and no last segment that
        is empty.
        """
        end = ends[at]
        below = high_watermark is None or end is None or end <= high_watermark
        return below and (at + 1 < len(segments) or segments[at].size_bytes > 0)

    due = _due(segments, limits, now_ms, log_start_offset or 0, may_go)
    without = _due(
        segments,
        limits,
        now_ms,
        log_start_offset or 0,
        lambda at: at + 1 < len(segments) or segments[at].size_bytes > 0,
    )
    left = segments[len(due) :]
    first = [
        Kept(one, rule, _until(one, limits), _until(one, limits))
        for one, rule in zip(segments, due, strict=False)
    ]
    rest = _kept(left, limits, len(without) - len(due))
    return LogRetention(partition, limits, now_ms, (*first, *rest))


def _due(
    segments: Sequence[Aged],
    limits: Limits,
    now_ms: int,
    log_start_offset: int,
    may_go: Callable[[int], bool],
) -> list[str]:
    """By which rule the first ones go; as many as do."""
    due: list[str] = []
    while (
        len(due) + 1 < len(segments)
        and segments[len(due) + 1].base_offset <= log_start_offset
        and may_go(len(due))
    ):
        due.append("log-start")
    if not limits.deletes:
        return due
    over_bytes = sum(one.size_bytes for one in segments[len(due) :]) - limits.retention_bytes
    while limits.retention_bytes >= 0 and len(due) < len(segments) and may_go(len(due)):
        over_bytes -= segments[len(due)].size_bytes
        if over_bytes < 0:
            break
        due.append("size")
    while (
        len(due) < len(segments)
        and _is_old(segments[len(due)], limits, now_ms)
        and may_go(len(due))
    ):
        due.append("time")
    return due


def _is_old(one: Aged, limits: Limits, now_ms: int) -> bool:
    until = _until(one, limits)
    return until is not None and now_ms > until


def _until(one: Aged, limits: Limits) -> int | None:
    """The last moment that retention.ms keeps it."""
    is_limited = limits.deletes and limits.retention_ms >= 0 and one.timestamp_ms is not None
    return min(one.timestamp_ms + limits.retention_ms, MOST_MS) if is_limited else None


def _kept(segments: Sequence[Aged], limits: Limits, above: int) -> Iterator[Kept]:
    """What keeps those that stay. above: how many of them stay for the high watermark alone."""
    over_bytes = sum(one.size_bytes for one in segments) - limits.retention_bytes
    latest, by, is_known = None, 0, True
    for at, (one, taken) in enumerate(
        zip(segments, accumulate(one.size_bytes for one in segments), strict=True)
    ):
        until, is_known = _until(one, limits), is_known and one.timestamp_ms is not None
        if until is not None and (latest is None or until > latest):
            latest, by = until, one.base_offset
        gone = latest if is_known else None
        more = (
            max(0, taken - over_bytes) if limits.deletes and limits.retention_bytes >= 0 else None
        )
        blocked_by = by if gone is not None and gone > cast(int, until) else None
        state = (
            "high-watermark"
            if at < above
            else _state(one, limits, at + 1 == len(segments), gone, blocked_by)
        )
        yield Kept(one, state, until, gone, blocked_by, more)


def _state(
    one: Aged, limits: Limits, is_last: bool, gone_ms: int | None, blocked_by: int | None
) -> str:
    if not limits.deletes:
        return "compacted"
    if is_last and not one.size_bytes:
        return "empty"
    if limits.retention_ms < 0:
        return "unlimited" if limits.retention_bytes < 0 else "bytes"
    if gone_ms is None:
        return "unknown"
    return "until" if blocked_by is None else "behind"


def worst_first(logs: Iterable[LogRetention]) -> list[tuple[LogRetention, Kept]]:
    """All segments: what the next pass takes, what waits for an older one, what a file's time
    decides; of each what goes first.
    """

    def place(pair: tuple[LogRetention, Kept]) -> tuple:
        log, one = pair
        waits = one.state == "behind" and cast(int, one.gone_ms) - cast(int, one.until_ms) > DAY_MS
        odd = one.state in ("unknown", "high-watermark") or (
            one.aged.counted_by in ("entry", "mtime") and one.gone_ms is not None
        )
        rank = 0 if one.is_due else 1 if waits else 2 if odd else 3
        ends = 1 if one.gone_ms is None else 0
        return (
            rank,
            ends,
            one.gone_ms or 0,
            STATES.index(one.state),
            counting(log.partition),
            one.aged.base_offset,
        )

    return sorted(((log, one) for log in logs for one in log.segments), key=place)
