"""One fetch by a read_committed consumer, and how the consumer learns which records to skip.

The broker sends bytes from one .log, up to the last stable offset, and a list of the transactions
that were aborted in that range. The broker gets the list from the .txnindex files:

    fetch at offset 100, 800 bytes: batches up to offset 139; upper bound 150
    (7, 80 to 95)      ended before the fetch offset
    (8, 90 to 120)     overlaps, and is returned
    (9, 151 to 160)    begins at or above the upper bound
    the last stable offset of this entry, 161, reaches the bound, so the search ends

The bytes still have the records of the aborted transactions. From offset 90 on, the consumer skips
the batches of producer 8 until it reaches this producer's abort marker.

The rules are from LocalLog.addAbortedTransactions and TransactionIndex.collectAbortedTxns of Kafka
4.3.1, and from CompletedFetch of its consumer.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heapify, heappop
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.transactions.listing import (
    CommittedLog,
    Outcome,
    may_go_on,
    open_committed_log,
)
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.batch import MAGIC_2, is_control, is_transactional
from kafkaviz.format.batch_records import ensure_valid
from kafkaviz.format.control import ControlType
from kafkaviz.format.open_transactions import TransactionFault, marker
from kafkaviz.format.walk import Walk
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.search.fetch import (
    MAX_BYTES,
    AbortedSearch,
    Bounds,
    Fetch,
    aborted_transactions,
    fetch_offset,
)
from kafkaviz.search.log_view import LogView, SegmentView

# default of a broker's fetch.max.bytes: it sends at most this much, whatever a consumer asks for
MAX_FETCH_BYTES = 55 << 20
LISTED_STEPS = 1000  # at most this many of the last .txnindex entries are listed
LISTED_BATCHES = 10_000  # at most this many of the first batches are listed
OUTCOMES = {ControlType.ABORT: Outcome.ABORTED, ControlType.COMMIT: Outcome.COMMITTED}


class FetchEnd(StrEnum):
    """Why the fetched bytes end at their position."""

    MAX_BYTES = "max-bytes"
    SEGMENT_END = "segment-end"  # a fetch reads one segment
    LAST_STABLE_OFFSET = "last-stable-offset"


class BoundSource(StrEnum):
    """Where the upper bound for aborted transactions comes from."""

    INDEX_ENTRY = "index-entry"  # the first .index entry at or after the end of the bytes
    NEXT_SEGMENT = "next-segment"  # no such entry: the base offset of the next segment
    LOG_END = "log-end"  # no such entry, and no next segment


class EntryDecision(StrEnum):
    """Whether a .txnindex entry is returned to the consumer, and why."""

    RETURNED = "returned"
    ENDED_BEFORE = "ended-before"  # the transaction's marker is below the fetch offset
    BEGINS_AFTER = "begins-after"  # the transaction begins at or above the upper bound


class BatchFate(StrEnum):
    """The decision of the consumer about a batch."""

    DELIVERED = "delivered"
    ABORTED = "aborted"  # skipped
    CONTROL = "control"  # a transaction marker; the application never gets it


@dataclass(frozen=True, kw_only=True)
class IndexStep:
    """A .txnindex entry that the broker reads.

    Attributes:
        segment_base_offset: the base offset of the segment with this .txnindex.
        last_offset: the offset of the abort marker.
        ends_search: whether the entry's last stable offset reaches the upper bound, so that no
            later entry can overlap the fetched range.
    """

    segment_base_offset: int
    slot: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    decision: EntryDecision
    ends_search: bool


class AbortedRange(NamedTuple):
    """An aborted transaction in a fetch response. The response does not have its end."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, kw_only=True)
class FetchedBatch:
    """A batch in the fetched bytes.

    Attributes:
        first_offset: the first offset that the consumer uses from the batch. A fetch returns whole
            batches, so the first batch may begin below the fetch offset.
        producer_id: -1 for a batch without a producer id.
        newly_aborted: the transactions in the returned list that the consumer marks as aborted
            before this batch, because they begin at or below its last offset.
        ends: the outcome in a transaction marker; None for other batches. After an abort marker,
            the producer's batches are no longer skipped.
    """

    base_offset: int
    first_offset: int
    last_offset: int
    position: int
    size_bytes: int
    producer_id: int
    is_transactional: bool
    fate: BatchFate
    newly_aborted: tuple[AbortedRange, ...] = ()
    ends: Outcome | None = None


@dataclass(frozen=True, kw_only=True)
class CommittedFetch:
    """One fetch of a read_committed consumer.

    Attributes:
        segment_base_offset: the segment from which bytes are read; None if nothing is read.
        position: the position of the fetched bytes in the .log of that segment.
        size_bytes: the number of fetched bytes.
        end: why the bytes end there; None if nothing is read.
        upper_bound_offset: transactions that begin at or above this offset are not returned; None
            if nothing is read.
        bound_slot: the slot of the .index entry that gives the upper bound, or None.
        steps: the last .txnindex entries that the broker reads, at most LISTED_STEPS.
        step_count: the number of all entries that the broker reads.
        returned: the aborted transactions that the consumer gets, in the order of the entries.
        batches: the first complete batches, at most LISTED_BATCHES.
        batch_count: the number of all complete batches.
        may_go_on: whether the active segment is missing here. The fetch is then computed as if the
            log ended with this copy.
        next_offset: the offset of the consumer's next fetch.
        error: the exception that the consumer throws at the batch after `batches`; None if it can
            read all.
    """

    partition: str
    offset: int
    log_start_offset: int
    log_end: int
    last_stable_offset: int
    segment_base_offset: int | None = None
    position: int | None = None
    size_bytes: int = 0
    end: FetchEnd | None = None
    upper_bound_offset: int | None = None
    bound_source: BoundSource | None = None
    bound_slot: int | None = None
    steps: tuple[IndexStep, ...] = ()
    step_count: int = 0
    returned: tuple[AbortedRange, ...] = ()
    batches: tuple[FetchedBatch, ...] = ()
    batch_count: int = 0
    may_go_on: bool = False
    next_offset: int
    error: str | None = None

    @property
    def delivered(self) -> tuple[tuple[int, int], ...]:
        """The offsets whose records reach the application, as (first, last) ranges."""
        return self._ranges(BatchFate.DELIVERED)

    @property
    def skipped(self) -> tuple[tuple[int, int], ...]:
        """The offsets of aborted records, which the consumer skips, as (first, last) ranges."""
        return self._ranges(BatchFate.ABORTED)

    def _ranges(self, fate: BatchFate) -> tuple[tuple[int, int], ...]:
        ranges: list[tuple[int, int]] = []
        for batch in self.batches:
            if batch.fate != fate:
                continue
            first = batch.first_offset
            if ranges and ranges[-1][1] + 1 == first:
                first = ranges.pop()[0]
            ranges.append((first, batch.last_offset))
        return tuple(ranges)


def explain_committed_fetch(
    partition: Partition,
    offset: int,
    max_bytes: int = MAX_BYTES,
    *,
    version: str | None = None,
    as_is: bool = False,
    broker: Broker | None = None,
) -> CommittedFetch:
    """Returns one fetch by a read_committed consumer, with each decision.

    The log is opened with open_committed_log.

    Args:
        max_bytes: max.partition.fetch.bytes of the consumer. If the first batch is larger, it is
            sent whole. At most MAX_FETCH_BYTES are read.
        version: the Kafka release; the default is the assumed one.
        as_is: whether to read the files as a broker start finds them, not as it leaves them.
        broker: the broker with all log directories that were opened.

    Raises:
        CannotOpen: there is no .log, or a file cannot be read.
        OffsetOutOfRange: the offset is outside the log.
        FailedRead: Kafka refuses to read a .log or a .txnindex.
    """
    committed = open_committed_log(partition, version, as_is=as_is, broker=broker)
    log, profile, bounds = committed
    fetch = fetch_offset(log, offset, profile, bounds, min(max_bytes, MAX_FETCH_BYTES))
    if fetch.fault:
        raise fetch.fault
    nothing = CommittedFetch(
        partition=log.name,
        offset=offset,
        log_start_offset=bounds.start_offset,
        log_end=bounds.end_offset,
        last_stable_offset=bounds.limit_offset,
        may_go_on=may_go_on(partition),
        next_offset=offset,
    )
    if fetch.batch is None:
        return nothing
    return _consume(_answer(nothing, committed, fetch), log, fetch)


def _answer(explained: CommittedFetch, committed: CommittedLog, fetch: Fetch) -> CommittedFetch:
    """Adds what the broker reads and returns."""
    log, profile, bounds = committed
    search = aborted_transactions(log, fetch, profile, bounds.end_offset)
    returned = search.entries[["producer_id", "first_offset"]].tolist()
    has_entry = search.bound_search.entry is not None
    is_last = fetch.segment_base_offset == log.active.base_offset
    without_entry = BoundSource.LOG_END if is_last else BoundSource.NEXT_SEGMENT
    return replace(
        explained,
        segment_base_offset=fetch.segment_base_offset,
        position=fetch.position,
        size_bytes=fetch.size_bytes,
        end=_fetch_end(log, fetch, bounds),
        upper_bound_offset=search.upper_bound_offset,
        bound_source=BoundSource.INDEX_ENTRY if has_entry else without_entry,
        bound_slot=search.bound_search.slot_search.slot if has_entry else None,
        steps=tuple(_steps(search, fetch.offset)),
        step_count=sum(len(index_read.entries) for _, index_read in search.reads),
        returned=tuple(AbortedRange(*aborted_range) for aborted_range in returned),
    )


def _consume(explained: CommittedFetch, log: LogView, fetch: Fetch) -> CommittedFetch:
    """Adds what the consumer does to each batch."""
    consumer = _Consumer(explained.offset, explained.returned)
    consumer.read(_segment(log, fetch), fetch)
    return replace(
        explained,
        batches=tuple(consumer.batches),
        batch_count=consumer.batch_count,
        next_offset=consumer.next_offset,
        error=consumer.error,
    )


def _segment(log: LogView, fetch: Fetch) -> SegmentView:
    """Returns the segment that has the fetched bytes."""
    return next(
        segment for segment in log.segments if segment.base_offset == fetch.segment_base_offset
    )


def _fetch_end(log: LogView, fetch: Fetch, bounds: Bounds) -> FetchEnd:
    end = fetch.position + fetch.size_bytes
    is_limit = (fetch.segment_base_offset, end) == (bounds.limit_base_offset, bounds.limit_position)
    if is_limit and bounds.limit_offset < bounds.end_offset:
        return FetchEnd.LAST_STABLE_OFFSET
    is_all = end == _segment(log, fetch).size_bytes
    return FetchEnd.SEGMENT_END if is_all else FetchEnd.MAX_BYTES


def _steps(search: AbortedSearch, fetch_offset: int) -> Iterator[IndexStep]:
    """Yields the last entries that the broker reads, at most LISTED_STEPS."""
    left_out = sum(len(index_read.entries) for _, index_read in search.reads) - LISTED_STEPS
    for base_offset, index_read in search.reads:
        count = len(index_read.entries)
        for slot in range(max(0, left_out), count):
            entry = index_read.entries[slot]
            decision = EntryDecision.RETURNED
            if not index_read.is_collected[slot]:
                has_ended = entry["last_offset"] < fetch_offset
                decision = EntryDecision.ENDED_BEFORE if has_ended else EntryDecision.BEGINS_AFTER
            yield IndexStep(
                segment_base_offset=base_offset,
                slot=slot,
                producer_id=int(entry["producer_id"]),
                first_offset=int(entry["first_offset"]),
                last_offset=int(entry["last_offset"]),
                last_stable_offset=int(entry["last_stable_offset"]),
                decision=decision,
                ends_search=index_read.is_complete and slot == count - 1,
            )
        left_out -= count


class _Consumer:
    """A consumer that processes the batches of a fetch like CompletedFetch.nextFetchedRecord."""

    def __init__(self, offset: int, returned: tuple[AbortedRange, ...]) -> None:
        self._queue = [(first_offset, producer_id) for producer_id, first_offset in returned]
        heapify(self._queue)
        self._aborted_producers: set[int] = set()
        self.batches: list[FetchedBatch] = []
        self.batch_count = 0
        self.next_offset = offset
        self.error: str | None = None

    def read(self, segment: SegmentView, fetch: Fetch) -> None:
        """Processes the complete batches in the fetched bytes, up to an unreadable one."""
        with segment.log.open_reader() as read:
            stop = fetch.position + fetch.size_bytes
            for rows in Walk(read, fetch.position, stop):
                for number, row in enumerate(rows):
                    try:
                        self._take(read, row, number)
                    except CorruptBytes as fault:
                        self.error = str(fault.what)
                        return
                    except TransactionFault as fault:
                        self.error = fault.message
                        return

    def _take(self, read: ReadInto, row: np.void, number: int) -> None:
        producer_id = int(row["producer_id"])
        last_offset = int(row["last_offset"])
        _check(read, row)
        newly_aborted = ()
        kind = None
        if producer_id >= 0:
            newly_aborted = tuple(self._begin_aborted(last_offset))
            if is_control(row) and row["record_count"]:
                kind = marker(read, row, number).kind
            if kind == ControlType.ABORT:
                self._aborted_producers.discard(producer_id)
        fate = BatchFate.DELIVERED
        if is_control(row):
            fate = BatchFate.CONTROL
        elif is_transactional(row) and producer_id in self._aborted_producers:
            fate = BatchFate.ABORTED
        self.batch_count += 1
        if self.batch_count <= LISTED_BATCHES:
            fetched_batch = FetchedBatch(
                base_offset=int(row["base_offset"]),
                first_offset=max(int(row["base_offset"]), self.next_offset),
                last_offset=last_offset,
                position=int(row["position"]),
                size_bytes=int(row["size_bytes"]),
                producer_id=producer_id,
                is_transactional=bool(is_transactional(row)),
                fate=fate,
                newly_aborted=newly_aborted,
                ends=OUTCOMES.get(kind) if kind is not None else None,
            )
            self.batches.append(fetched_batch)
        self.next_offset = last_offset + 1

    def _begin_aborted(self, last_offset: int) -> Iterator[AbortedRange]:
        """Marks the producers in the returned list as aborted, up to an offset."""
        while self._queue and self._queue[0][0] <= last_offset:
            first_offset, producer_id = heappop(self._queue)
            self._aborted_producers.add(producer_id)
            yield AbortedRange(producer_id, first_offset)


def _check(read: ReadInto, row: np.void) -> None:
    """Raises CorruptBytes if the consumer refuses a batch because of its checksum."""
    if row["magic"] < MAGIC_2:
        return
    data = np.empty(int(row["size_bytes"]), np.uint8)
    ensure_valid(data[: read(int(row["position"]), data)].tobytes())
