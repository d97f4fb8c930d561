"""The retention of one segment, inferred from the last time entry of each segment up to it.

A broker knows only that entry of a closed segment, 12 bytes at the end of its .timeindex. So no
.log needs to be read. A check that reads every .log gets the same result, except if a time index is
damaged: it then shows the log as the next start leaves it.
"""

from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.retention import policy
from kafkaviz.analysis.retention.policy import LogRetention, SegmentAge, SegmentRetention
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.errors import CannotOpen
from kafkaviz.format import time_index
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment

ENTRY_BYTES = time_index.ENTRY.itemsize


def segment_retention(
    check_plan: CheckPlan, partition: Partition, anatomy: Anatomy
) -> tuple[LogRetention, SegmentRetention] | None:
    """Returns the retention of the log and of the segment that was read.

    Args:
        check_plan: the plan for the whole directory.

    Returns:
        None if no limit applies to the segment.
    """
    live = partition.live
    number = next(
        (
            place
            for place, live_segment in enumerate(live)
            if live_segment.base_offset == anatomy.segment.base_offset
        ),
        None,
    )
    if (
        number is None
        or not anatomy.segment.is_in_use
        or partition.state != "current"
        or partition.topic == METADATA_TOPIC
    ):
        return None
    is_recovered = not check_plan.is_clean and anatomy.segment.state == "active"
    later_ages = (
        SegmentAge(live_segment.base_offset, live_segment.log.size_bytes, None, "unknown")
        for live_segment in live[number + 1 :]
    )
    ages = [
        *map(age_from_last_entry, live[:number]),
        _age_from_anatomy(anatomy, is_recovered=is_recovered),
        *later_ages,
    ]
    log = policy.log_retention(
        partition.directory,
        ages,
        check_plan.limits(partition),
        now_ms=check_plan.now_ms,
        log_start_offset=partition.log_start_offset,
        high_watermark=partition.high_watermark,
        log_end_offset=None if number + 1 < len(live) else _log_end_offset(anatomy),
    )
    return log, log.segments[number]


def age_from_last_entry(segment: LogSegment) -> SegmentAge:
    log = segment.log
    times = segment.timeindex
    try:
        data = (
            b""
            if times is None
            else file.read(
                times.path, max(0, _aligned_bytes(times.size_bytes) - ENTRY_BYTES), ENTRY_BYTES
            )
        )
    except CannotOpen:
        return SegmentAge(segment.base_offset, log.size_bytes, None, "unknown")
    entries = time_index.parse(data)
    last_ms = int(entries["timestamp_ms"][-1]) if len(entries) else -1
    return _age(segment.base_offset, log.size_bytes, last_ms, log.mtime_ns)


def _log_end_offset(anatomy: Anatomy) -> int:
    if anatomy.counts.last is not None:
        return int(anatomy.counts.last["last_offset"]) + 1
    return anatomy.segment.base_offset


def _aligned_bytes(size_bytes: int) -> int:
    return size_bytes - size_bytes % ENTRY_BYTES


def _age_from_anatomy(anatomy: Anatomy, *, is_recovered: bool) -> SegmentAge:
    """Returns the age of the segment that was read.

    Args:
        is_recovered: whether the next start recovers it; then its batches count instead of its time
            entries.
    """
    times = anatomy.times
    log = anatomy.segment.log
    if times.unwritten_slots:
        last_ms = 0
    elif len(times.entries):
        last_ms = int(times.entries["timestamp_ms"][-1])
    else:
        last_ms = -1
    if is_recovered:
        last_ms = anatomy.counts.newest_ms
    size_bytes = anatomy.end.position if is_recovered else log.size_bytes
    return _age(anatomy.segment.base_offset, size_bytes, last_ms, log.mtime_ns)


def _age(base_offset: int, size_bytes: int, last_ms: int, mtime_ns: int) -> SegmentAge:
    if last_ms < 0:
        return SegmentAge(base_offset, size_bytes, mtime_ns // 1_000_000, "mtime")
    return SegmentAge(base_offset, size_bytes, last_ms, "entry" if last_ms else "unwritten")
