"""Where a log starts and ends, and up to which offset its records may be seen.

A consumer with isolation read_committed sees nothing at or behind the last stable offset, the first
one of a transaction that is still open; to any other the limit is the log's end, since a directory
by itself has no followers to wait for.
"""

from dataclasses import dataclass

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, producer_snapshot
from kafkaviz.format.log_end import find_log_end
from kafkaviz.format.open_transactions import OpenTransactions
from kafkaviz.format.walk import Walk
from kafkaviz.search import index
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import translate

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
ISOLATIONS = (READ_UNCOMMITTED, READ_COMMITTED)


@dataclass(frozen=True)
class Bounds:
    """Where a log starts and ends, and the first offset that may not be seen.

    Attributes:
        start_offset: of the log.
        end_offset: one past the last record.
        limit_offset: the first offset that may not be seen.
        limit_segment: the segment that the limit lies in, by its base offset.
        limit_position: the byte of that segment's .log.
    """

    start_offset: int
    end_offset: int
    limit_offset: int
    limit_segment: int
    limit_position: int


def find_bounds(log: LogView, profile: SearchProfile, isolation: str = READ_UNCOMMITTED) -> Bounds:
    """The bounds of a log to a consumer of that isolation.

    Raises:
        CorruptFile: the last .index leads to no batch that can be read.
    """
    start, end = (
        log.log_start_offset,
        max(log_end_offset(log.active, profile), log.log_start_offset),
    )
    end_bounds = Bounds(start, end, end, log.active.base_offset, log.active.size_bytes)
    if isolation == READ_UNCOMMITTED:
        return end_bounds
    stable_offset = last_stable_offset(log, end)
    place = log.floor(stable_offset)
    for segment in log.segments[place:] if stable_offset < end and place is not None else ():
        batch = translate(segment, stable_offset, profile)[1].batch
        if batch:
            return Bounds(start, end, stable_offset, segment.base_offset, batch.position)
    return end_bounds


def log_end_offset(segment: SegmentView, profile: SearchProfile) -> int:
    """One past the last offset of a segment, by its last index entry (format.log_end).

    At a length that cannot be, Kafka's start ends; what lies before it can still be looked up.

    Raises:
        CorruptFile: the entry leads to no batch that can be read.
    """
    entries = segment.offset_slots[: offset_index.count_entries(segment.offset_slots)]
    relative_offset, position = entries[-1].item() if len(entries) else (0, 0)
    is_full = len(entries) == len(segment.offset_slots)
    offset = segment.base_offset + relative_offset
    if is_full:  # Kafka looks the entry up
        position = index.position_of(index.find_offset(segment, offset, profile), segment)
    with segment.log.open_reader() as read:
        end = find_log_end(
            read, segment.size_bytes, segment.base_offset, (offset, position), is_full=is_full
        )
    if is_full and not end.is_reached:
        translate(segment, offset, profile)  # raises where a length cannot be
    return end.offset


def last_stable_offset(log: LogView, end_offset: int) -> int:
    """The first offset of the first transaction that is open at the end, or the end.

    From the newest producer snapshot that can be read, and the batches behind it, as
    ProducerStateManager takes them.
    """
    newest = producer_snapshot.find_newest(
        log.snapshots,
        end_offset,
        lambda offset: producer_snapshot.parse(log.snapshots[offset].content()),
        passed_over=CorruptBytes,
    )
    since, open_since = newest or (log.log_start_offset, {})
    transactions = OpenTransactions(open_since)
    for segment in log.segments[log.floor(since) or 0 :] if since < end_offset else ():
        with segment.log.open_reader() as read:
            for batches in Walk(read, 0, segment.size_bytes):
                transactions.take(None, batches[batches["last_offset"] >= since])
    first_offset = transactions.first_offset()
    return end_offset if first_offset is None else first_offset
