"""The broker's side of a fetch by offset: the segment, the index entry, and the bytes to send.

This is LocalLog.read and LogSegment.read of Kafka 1.1 to 4.3.1. For example, with segments 0, 100
and 200 and offset 140:

- Segment 100 has the greatest base offset that is not above 140.
- Its index gives a position in the .log.
- The scan goes from there to the first batch that reaches 140.
- If compaction left no such batch, the search continues in segment 200.

A read_committed consumer sees nothing from the last stable offset on, which is the first offset of
the first open transaction. Other consumers see everything up to the log end, because a single
directory has no followers to wait for.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import offset_index, producer_snapshot, txn_index
from kafkaviz.format.offset_index import find_log_end
from kafkaviz.format.open_transactions import OpenTransactions
from kafkaviz.format.txn_index import IndexRead
from kafkaviz.format.walk import Walk
from kafkaviz.messages import verbatim
from kafkaviz.search import index_search
from kafkaviz.search.index_search import IndexSearch
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.scan import (
    Batch,
    FailedRead,
    ForwardScan,
    LogReader,
    failed_read,
    run_search,
    translate,
)
from kafkaviz.versions import BATCH_BASE, SearchProfile

MAX_BYTES = 1 << 20  # max.partition.fetch.bytes
OUT_OF_RANGE = "org.apache.kafka.common.errors.OffsetOutOfRangeException"
READ_UNCOMMITTED = "read_uncommitted"
READ_COMMITTED = "read_committed"
ISOLATIONS = (READ_UNCOMMITTED, READ_COMMITTED)


@dataclass(frozen=True)
class Bounds:
    """The start and end of a log, and the first offset that the consumer cannot see."""

    start_offset: int
    end_offset: int  # the last record's offset plus 1
    limit_offset: int  # the first offset that is not visible
    limit_base_offset: int  # the base offset of the segment with the limit
    limit_position: int  # the limit's position in that segment's .log


class FailedBounds(FailedRead):
    """Kafka's exception if the end or last stable offset of a log cannot be determined.

    Kafka throws it in LogSegment.readNextOffset at broker start-up, or in
    UnifiedLog.fetchLastStableOffsetMetadata during a fetch (according to the source of 4.3.1).
    `search` and `scan` are the steps that lead to the damaged bytes.
    """

    def __init__(self, fault: FailedRead, search: IndexSearch, scan: ForwardScan) -> None:
        super().__init__(fault.path, fault.position, fault.what, fault.kind)
        self.search = search
        self.scan = scan


def find_bounds(log: LogView, profile: SearchProfile, isolation: str = READ_UNCOMMITTED) -> Bounds:
    """Returns the start and end of a log, and the first offset that the consumer cannot see.

    Raises FailedBounds if an .index leads to bytes that Kafka does not accept as a batch.
    """
    start = log.log_start_offset
    end = max(log_end_offset(log.active, profile), log.log_start_offset)
    end_bounds = Bounds(start, end, end, log.active.base_offset, log.active.size_bytes)
    if isolation == READ_UNCOMMITTED:
        return end_bounds
    stable_offset = last_stable_offset(log, end)
    place = log.floor_segment(stable_offset)
    for segment in log.segments[place:] if stable_offset < end and place is not None else ():
        search, scan = translate(segment, stable_offset, profile)
        if scan.fault:
            raise FailedBounds(scan.fault, search, scan)
        if scan.batch:
            return Bounds(start, end, stable_offset, segment.base_offset, scan.batch.position)
    return end_bounds


def log_end_offset(segment: SegmentView, profile: SearchProfile) -> int:
    """Returns the last offset of a segment plus 1, found from the last index entry.

    If a batch length is invalid, only the batches before it count. Kafka would not start, but
    kafkaviz can still look up earlier offsets. Exception: raises FailedBounds if the index is full
    and no batch before the invalid length reaches the last entry's offset.
    """
    entries = segment.offset_slots[: offset_index.count_entries(segment.offset_slots)]
    relative_offset, position = entries[-1].item() if len(entries) else (0, 0)
    is_full = len(entries) == len(segment.offset_slots)
    offset = segment.base_offset + relative_offset
    if is_full:  # Kafka looks up the entry
        position = index_search.position_of(index_search.find_offset(segment, offset, profile))
    end = run_search(
        segment,
        lambda reader: find_log_end(
            partial(_last_offsets, reader), segment.base_offset, (offset, position), is_full=is_full
        ),
    )
    if is_full and end is None:
        search, scan = translate(segment, offset, profile)
        if scan.fault:  # an invalid batch length
            raise FailedBounds(scan.fault, search, scan)
    return segment.base_offset if end is None else end


def _last_offsets(reader: LogReader, position: int) -> Iterator[np.ndarray]:
    """Yields the last offset of each batch, up to the first invalid batch length."""
    with suppress(CorruptBytes):
        for batch in reader.batches(position):
            yield np.array([batch.last_offset])


def last_stable_offset(log: LogView, end_offset: int) -> int:
    """Returns the first offset of the first open transaction; `end_offset` if none is open.

    The result is never below the log start offset (maybeIncrementFirstUnstableOffset of UnifiedLog,
    4.3.1). Like Kafka's ProducerStateManager, reads the newest readable producer snapshot and the
    batches after it.
    """
    newest = producer_snapshot.find_newest(
        log.snapshots,
        end_offset,
        lambda offset: producer_snapshot.parse(log.snapshots[offset].content()),
        unreadable_error=CorruptBytes,
    )
    since, open_since = newest or (log.log_start_offset, {})
    transactions = OpenTransactions(open_since)
    for segment in log.segments[log.floor_segment(since) or 0 :] if since < end_offset else ():
        with segment.log.open_reader() as read:
            for batches in Walk(read, 0, segment.size_bytes):
                transactions.take(None, batches[batches["last_offset"] >= since])
    first_offset = transactions.first_offset()
    if first_offset is None:
        return end_offset
    return max(first_offset, log.log_start_offset)


class OffsetOutOfRange(KafkavizError):
    """Kafka's answer for an offset below the log start or above the log end."""

    class_name = OUT_OF_RANGE


@dataclass(frozen=True, kw_only=True)
class Fetch:
    """A fetch and its result: bytes of a .log that begin with a batch."""

    offset: int
    segment_base_offset: int  # the base offset of the segment where the bytes begin
    position: int  # the position in that .log where the bytes begin
    metadata_offset: int  # the offset in the result's LogOffsetMetadata
    searches: tuple[IndexSearch, ...] = ()  # one search per segment that was tried
    scans: tuple[ForwardScan, ...] = ()  # one scan per segment that was tried
    batch: Batch | None = None  # the batch found, or None if no segment has one
    size_bytes: int = 0  # the size of the result; 0 if the consumer cannot see `offset`
    # whether the bytes end within their first batch, as in Kafka's FetchDataInfo. Tests compare it
    # with the answers of Kafka's own classes.
    is_incomplete: bool = False

    @property
    def fault(self) -> FailedRead | None:
        return self.scans[-1].fault if self.scans else None


def fetch_offset(
    log: LogView,
    offset: int,
    profile: SearchProfile,
    bounds: Bounds,
    max_bytes: int = MAX_BYTES,
    *,
    at_least_one: bool = True,
) -> Fetch:
    """Returns the bytes that a broker reads for an offset. Raises OffsetOutOfRange as Kafka does.

    `at_least_one`: return the first batch even if it exceeds max_bytes (Kafka's minOneMessage).
    """
    place = _in_range(log, offset, bounds)
    fetch = Fetch(
        offset=offset,
        segment_base_offset=log.active.base_offset,
        position=log.active.size_bytes,
        metadata_offset=offset,
    )
    if offset >= bounds.limit_offset:
        return fetch
    searches = []
    scans = []
    for segment in log.segments[place:]:
        search, scan = translate(segment, offset, profile)
        searches.append(search)
        scans.append(scan)
        if scan.fault or scan.batch:
            break
    fetch = replace(fetch, searches=tuple(searches), scans=tuple(scans))
    batch = scans[-1].batch
    if batch is None:
        return replace(fetch, metadata_offset=bounds.end_offset)
    last_segment = log.segments[place + len(scans) - 1]
    is_limited = last_segment.base_offset == bounds.limit_base_offset
    stop = bounds.limit_position if is_limited else last_segment.size_bytes
    most_bytes = max(max_bytes, batch.size_bytes) if at_least_one else max_bytes
    return replace(
        fetch,
        batch=batch,
        segment_base_offset=last_segment.base_offset,
        position=batch.position,
        size_bytes=min(max(0, stop - batch.position), most_bytes),
        metadata_offset=batch.base_offset if profile.metadata_offset == BATCH_BASE else offset,
        is_incomplete=0 < most_bytes < batch.size_bytes,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AbortedSearch:
    """The search for the aborted transactions that a read_committed fetch returns.

    Attributes:
        bound_search: the search of the offset index for `upper_bound_offset`.
        upper_bound_offset: transactions that begin at or above this offset are left out.
        reads: (base offset, entries read from the .txnindex) per segment that was read, in order.
    """

    bound_search: IndexSearch
    upper_bound_offset: int
    reads: tuple[tuple[int, IndexRead], ...]

    @property
    def entries(self) -> np.ndarray:
        """The aborted transactions that the consumer gets, as an array of txn_index.ENTRY."""
        return np.concatenate(
            [index_read.entries[index_read.is_collected] for _, index_read in self.reads]
        )


def aborted_transactions(
    log: LogView, fetch_result: Fetch, profile: SearchProfile, end_offset: int
) -> AbortedSearch:
    """Finds the aborted transactions that a read_committed fetch returns.

    Transactions that begin at or above an upper bound are left out. The bound is an offset after
    the fetched bytes. As in LocalLog.addAbortedTransactions, it comes from the .index, which has
    few entries. So the bound may be larger than needed.

    Raises:
        FailedRead: Kafka refuses to read a .txnindex.
    """
    place = log.place_of(fetch_result.segment_base_offset)
    bound_search = index_search.upper_bound(
        log.segments[place], fetch_result.position, fetch_result.size_bytes, profile
    )
    following = log.segments[place + 1].base_offset if place + 1 < len(log.segments) else end_offset
    bound = bound_search.entry[0] if bound_search.entry else following
    reads = []
    for segment in log.segments[place:]:
        try:
            index_read = txn_index.read_entries(segment.aborted, fetch_result.offset, bound)
        except CorruptBytes as fault:
            txnindex_file = cast("FileView", segment.txnindex)  # not None: it has entries
            raise failed_read(txnindex_file.path or txnindex_file.name, fault) from None
        reads.append((segment.base_offset, index_read))
        if index_read.is_complete:
            break
    return AbortedSearch(bound_search=bound_search, upper_bound_offset=bound, reads=tuple(reads))


def _in_range(log: LogView, offset: int, bounds: Bounds) -> int:
    words = (
        f"Received request for offset {offset} for partition {log.name}, but we only have log "
        "segments "
    )
    if offset < bounds.start_offset:
        raise OffsetOutOfRange(verbatim(f"{words}starting from offset: {bounds.start_offset}."))
    place = log.floor_segment(offset)
    if offset > bounds.end_offset or place is None:
        raise OffsetOutOfRange(verbatim(f"{words}upto {bounds.end_offset}."))
    return place
