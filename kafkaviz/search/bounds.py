"""Where a log starts and ends, and up to which offset its records may be seen.

A consumer with isolation read_committed sees nothing at or behind the last stable offset, the first
one of a transaction that is still open; to any other the limit is the log's end, since a directory
by itself has no followers to wait for.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, producer_snapshot
from kafkaviz.format.open_transactions import OpenTransactions
from kafkaviz.format.walk import Walk
from kafkaviz.search.batches import LogReader
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import translate

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
ISOLATIONS = (READ_UNCOMMITTED, READ_COMMITTED)


@dataclass(frozen=True)
class Bounds:
    """Offsets: of the log's start, one past its last record, and the first that may not be seen.

    limit_segment, limit_position: the segment that the limit lies in, by its base offset, and the
    byte of its .log.
    """

    start_offset: int
    end_offset: int
    limit_offset: int
    limit_segment: int
    limit_position: int


def find_bounds(log: LogView, profile: SearchProfile, isolation: str = READ_UNCOMMITTED) -> Bounds:
    """The bounds of a log to a consumer of that isolation; CorruptFile where the last .index leads
    to no batch that can be read.
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
    """One past the last offset of a segment, its base offset when it has none
    (LogSegment.readNextOffset).

    Kafka begins at the last slot of the index. Where that was never written it begins at byte 0; at
    the last written one the same batches end the log.
    """
    entries = segment.offset_slots[: offset_index.count_entries(segment.offset_slots)]
    relative_offset, start = entries[-1].item() if len(entries) else (0, 0)
    if len(entries) == len(segment.offset_slots):
        batch = translate(segment, segment.base_offset + relative_offset, profile)[1].batch
        return (
            cast("int", segment.run_search(lambda log: _end(log, batch.position)))
            if batch
            else segment.base_offset
        )
    ends = (
        segment.run_search(partial(_end, position=position))
        for position in (start, 0)
        if position >= 0
    )
    return next(filter(None, ends), segment.base_offset)


def last_stable_offset(log: LogView, end_offset: int) -> int:
    """The first offset of the first transaction that is open at the end, or the end.

    From the newest producer snapshot that can be read, and the batches behind it, as
    ProducerStateManager takes them.
    """
    since, transactions = _newest_snapshot(log, end_offset)
    for segment in log.segments[log.floor(since) or 0 :] if since < end_offset else ():
        with segment.log.open_reader() as read:
            for batches in Walk(read, 0, segment.size_bytes):
                transactions.take(None, batches[batches["last_offset"] >= since])
    first_offset = transactions.first_offset()
    return end_offset if first_offset is None else first_offset


def _end(log: LogReader, position: int) -> int | None:
    """One past the last batch.

    At a length that cannot be Kafka's start ends; what lies before it can be looked up all the
    same.
    """
    last = None
    with suppress(CorruptBytes):
        for batch in log.batches(position):
            last = batch
    return last.last_offset + 1 if last else None


def _newest_snapshot(log: LogView, end_offset: int) -> tuple[int, OpenTransactions]:
    """(its offset, the transactions that are open there); the log's start where there is none."""
    for offset in sorted(
        (offset for offset in log.snapshots if offset <= end_offset), reverse=True
    ):
        try:
            snapshot = producer_snapshot.parse(log.snapshots[offset].content())
        except CorruptBytes:
            continue
        return offset, OpenTransactions(snapshot.open_transactions)
    return log.log_start_offset, OpenTransactions()
