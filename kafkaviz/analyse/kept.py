"""Until when retention keeps one segment, without reading its log: told from the last time entry of
each segment up to it.

A broker knows no more of a closed segment than that entry, 12 bytes at the end of its .timeindex.
What a check finds by reading every .log is the same, but for logs whose time index is damaged:
there retention tells what the next start makes of it.
"""

from kafkaviz.analyse import retention
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.health import Plan
from kafkaviz.analyse.retention import Aged, Kept, LogRetention
from kafkaviz.errors import CannotOpen
from kafkaviz.format import time_index
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment

ENTRY_BYTES = time_index.ENTRY.itemsize


def kept(planned: Plan, partition: Partition, anatomy: Anatomy) -> tuple[LogRetention, Kept] | None:
    """The log and what keeps the segment that was read; None of one that no limit concerns.
    planned: of the whole directory.
    """
    live = partition.live
    at = next(
        (place for place, one in enumerate(live) if one.base_offset == anatomy.segment.base_offset),
        None,
    )
    if (
        at is None
        or not anatomy.segment.in_use
        or partition.state != "current"
        or partition.topic == METADATA_TOPIC
    ):
        return None
    anew = not planned.clean and anatomy.segment.state == "active"
    later = (
        Aged(one.base_offset, existing(one.log).size_bytes, None, "unknown")
        for one in live[at + 1 :]
    )
    aged = [*map(glimpsed, live[:at]), _read(anatomy, anew), *later]
    end = None if at + 1 < len(live) else _end(anatomy)
    places = partition.log_start_offset, partition.high_watermark, end
    log = retention.of_log(
        partition.directory, aged, planned.limits(partition), planned.now_ms, *places
    )
    return log, log.segments[at]


def glimpsed(segment: Segment) -> Aged:
    """A segment by its last time entry; by the time of its .log where it has none."""
    log, times = existing(segment.log), segment.timeindex
    try:
        data = (
            b""
            if times is None
            else file.read(
                times.path, max(0, _whole_bytes(times.size_bytes) - ENTRY_BYTES), ENTRY_BYTES
            )
        )
    except CannotOpen:
        return Aged(segment.base_offset, log.size_bytes, None, "unknown")
    entries = time_index.parse(data)
    last_ms = int(entries["timestamp_ms"][-1]) if len(entries) else -1
    return _aged(segment.base_offset, log.size_bytes, last_ms, log.mtime_ns)


def _end(anatomy: Anatomy) -> int:
    """One past the last offset."""
    return (
        int(anatomy.batches["last_offset"][-1]) + 1
        if len(anatomy.batches)
        else anatomy.segment.base_offset
    )


def _whole_bytes(size_bytes: int) -> int:
    return size_bytes - size_bytes % ENTRY_BYTES


def _read(anatomy: Anatomy, is_recovered: bool) -> Aged:
    """The segment that was read; is_recovered: its batches count, and not its time entries."""
    times, batches = anatomy.times, anatomy.batches
    log = existing(anatomy.segment.log)
    last_ms = (
        0
        if times.unwritten
        else int(times.entries["timestamp_ms"][-1])
        if len(times.entries)
        else -1
    )
    if is_recovered:
        last_ms = int(batches["max_timestamp_ms"].max()) if len(batches) else -1
    size_bytes = anatomy.end.position if is_recovered else log.size_bytes
    return _aged(anatomy.segment.base_offset, size_bytes, last_ms, log.mtime_ns)


def _aged(base_offset: int, size_bytes: int, last_ms: int, mtime_ns: int) -> Aged:
    if last_ms < 0:
        return Aged(base_offset, size_bytes, mtime_ns // 1_000_000, "mtime")
    return Aged(base_offset, size_bytes, last_ms, "entry" if last_ms else "unwritten")
