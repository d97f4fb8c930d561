"""Which records a read_committed consumer gets: from one fetch, or from a whole segment.

For one fetch, the broker sends bytes of one .log, up to the last stable offset, and a list of
aborted transactions. These overlap the range from the fetch offset to an upper bound. The upper
bound is the offset of the first .index entry at or after the end of the sent bytes, or else the
end of the segment. The list is from the .txnindex
files, whose entries are shown here as (producer id, first to last offset):

    fetch at offset 100, 800 bytes: batches up to offset 139; upper bound 150
    (7, 80 to 95)      ended before the fetch offset
    (8, 90 to 120)     overlaps, and is returned
    (9, 151 to 160)    begins at or above the upper bound
                       the entry's last stable offset, 161, is above the bound: the search ends

The bytes still have the records of the aborted transactions. From offset 90 on, the consumer skips
the batches of producer 8, up to the abort marker of this producer. The rules are from
LocalLog.addAbortedTransactions and TransactionIndex.collectAbortedTxns of Kafka 4.3.1, and from
CompletedFetch of the consumer.

For a segment, only headers are read. For example, producer 8 aborts offsets 12 and 13 by a marker
at 16. The last stable offset is 20:

    10 to 11   delivered
    12 to 13   skipped: the broker sends them, and the consumer drops them
    14 to 15   delivered: from another producer
    16 to 16   a marker, which no application gets
    20 to 25   withheld until the open transaction at 20 ends
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heapify, heappop
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from kafkaviz.analysis.transactions.listing import (
    CommittedLog,
    Outcome,
    PartitionTransactions,
    Transaction,
    may_go_on,
    open_committed_log,
)
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format.batch import MAGIC_2, is_control, is_transactional
from kafkaviz.format.batch_records import ensure_valid
from kafkaviz.format.control import ControlType
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.open_transactions import TransactionFault, marker
from kafkaviz.format.walk import Walk
from kafkaviz.log.batch_starts import chunk_bytes, open_batch_starts
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.search.fetch import (
    MAX_BYTES,
    AbortedSearch,
    Bounds,
    Fetch,
    aborted_transactions,
    fetch_offset,
)
from kafkaviz.search.log_view import LogView, SegmentView

# default of fetch.max.bytes: a broker sends at most this much, whatever a consumer asks for
MAX_FETCH_BYTES = 55 << 20
LISTED_STEPS = 1000  # at most this many of the last .txnindex entries are listed
LISTED_BATCHES = 10_000  # at most this many of the first batches are listed
OUTCOMES = {ControlType.ABORT: Outcome.ABORTED, ControlType.COMMIT: Outcome.COMMITTED}
MAX_BATCHES = 500_000  # reading more batches takes longer than a second
MAX_RUNS = 2000  # with more runs, each would be narrower than a pixel
# called with the first offset of a range and the offset after the range
ReadRuns: TypeAlias = Callable[[int, int], "tuple[OffsetRun, ...]"]


class FetchEnd(StrEnum):
    """Why a fetch returns no further bytes: the limit that it reaches first."""

    MAX_BYTES = "max-bytes"
    SEGMENT_END = "segment-end"  # a fetch reads one segment
    LAST_STABLE_OFFSET = "last-stable-offset"


class BoundSource(StrEnum):
    """The source of `CommittedFetch.upper_bound_offset`."""

    INDEX_ENTRY = "index-entry"  # the first .index entry at or after the end of the bytes
    NEXT_SEGMENT = "next-segment"  # no such entry: the base offset of the next segment
    LOG_END = "log-end"  # no such entry, and no next segment


class EntryDecision(StrEnum):
    RETURNED = "returned"
    ENDED_BEFORE = "ended-before"  # the transaction's marker is below the fetch offset
    BEGINS_AFTER = "begins-after"  # the transaction begins at or above the upper bound


class BatchFate(StrEnum):
    DELIVERED = "delivered"
    ABORTED = "aborted"  # skipped
    CONTROL = "control"  # a transaction marker; the application never gets it


@dataclass(frozen=True, kw_only=True)
class IndexStep:
    """A .txnindex entry that the broker reads.

    Attributes:
        last_offset: the offset of the abort marker.
        ends_search: whether the entry's last stable offset is at or above the upper bound. If so,
            no later entry can overlap the fetched range.
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
    """An aborted transaction as in a fetch response, that is, without its last offset."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, kw_only=True)
class FetchedBatch:
    """A batch in the fetched bytes.

    Attributes:
        first_offset: the first offset that the consumer uses. A fetch returns whole batches, so the
            first batch may begin below the fetch offset.
        producer_id: -1 if the batch has no producer id.
        newly_aborted: the transactions in `CommittedFetch.returned` that begin at or below
            `last_offset`, except those in `newly_aborted` of an earlier batch.
        ends: the outcome that this batch marks, COMMITTED or ABORTED; None: it is not a marker.
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
        segment_base_offset: the segment from which bytes are read; None: nothing is read.
        upper_bound_offset: transactions that begin at or above this offset are not returned.
        bound_slot: the slot of the .index entry that gives `upper_bound_offset`, or None.
        steps: the last LISTED_STEPS .txnindex entries that the broker reads.
        returned: the aborted transactions that the consumer gets, in the order of the entries.
        batches: the first LISTED_BATCHES complete batches.
        may_go_on: whether the opened files may lack the active segment. If so, the fetch is
            computed as if the log ended with the opened files.
        error: the exception that the consumer throws after `batches`; None: no exception.
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
        """The ranges (first offset, last offset) of records that reach the application."""
        return self._ranges(BatchFate.DELIVERED)

    @property
    def skipped(self) -> tuple[tuple[int, int], ...]:
        """The ranges (first offset, last offset) of aborted records that the consumer skips."""
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
    """Returns one fetch by a read_committed consumer, with the broker's decisions.

    `open_committed_log` explains the other arguments.

    Args:
        max_bytes: max.partition.fetch.bytes of the consumer, up to MAX_FETCH_BYTES. If the first
            batch is larger, it is sent whole.

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
    answer = _answer(nothing, committed, fetch)
    consumer = _Consumer(offset, answer.returned)
    consumer.read(_segment(log, fetch), fetch)
    return replace(
        answer,
        batches=tuple(consumer.batches),
        batch_count=consumer.batch_count,
        next_offset=consumer.next_offset,
        error=consumer.error,
    )


def _answer(explained: CommittedFetch, committed: CommittedLog, fetch: Fetch) -> CommittedFetch:
    """Returns `explained` with the broker's response to the fetch added."""
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


def _segment(log: LogView, fetch: Fetch) -> SegmentView:
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
    """Decides which fetched batches a consumer skips, like CompletedFetch.nextFetchedRecord."""

    def __init__(self, offset: int, returned: tuple[AbortedRange, ...]) -> None:
        self._queue = [(first_offset, producer_id) for producer_id, first_offset in returned]
        heapify(self._queue)
        self._aborted_producers: set[int] = set()
        self.batches: list[FetchedBatch] = []
        self.batch_count = 0
        self.next_offset = offset
        self.error: str | None = None

    def read(self, segment: SegmentView, fetch: Fetch) -> None:
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
        if row["magic"] >= MAGIC_2:
            data = np.empty(int(row["size_bytes"]), np.uint8)
            ensure_valid(data[: read(int(row["position"]), data)].tobytes())
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
        """Yields the aborted transactions up to `last_offset` that were not yielded before."""
        while self._queue and self._queue[0][0] <= last_offset:
            first_offset, producer_id = heappop(self._queue)
            self._aborted_producers.add(producer_id)
            yield AbortedRange(producer_id, first_offset)


class OffsetFate(StrEnum):
    DELIVERED = "delivered"
    SKIPPED = "skipped"  # the record is from an aborted transaction
    MARKER = "marker"  # the record is a control record
    EMPTY = "empty"  # no batch has the offset: compaction removed the record
    UNREAD = "unread"  # unknown, because the log is damaged or has too many batches
    WITHHELD = "withheld"  # at or above the last stable offset


FATES = tuple(OffsetFate)


class OffsetRun(NamedTuple):
    """Consecutive offsets that a consumer treats alike; `end_offset` is excluded."""

    first_offset: int
    end_offset: int
    fate: OffsetFate


def count_offsets(runs: Iterable[OffsetRun]) -> Mapping[OffsetFate, int]:
    counts = Counter()
    for first_offset, end_offset, fate in runs:
        counts[fate] += end_offset - first_offset
    return {fate: counts[fate] for fate in OffsetFate if counts[fate]}


def read_runs(
    segment: Segment, transactions: PartitionTransactions, first_offset: int, end_offset: int
) -> tuple[OffsetRun, ...]:
    """Returns how a consumer treats each offset in a range, as OffsetRuns without gaps.

    The result is empty if the last stable offset is unknown.
    """
    if transactions.last_stable_offset is None:
        return ()
    builder = _RunBuilder(first_offset)
    stop_offset = min(max(transactions.last_stable_offset, first_offset), end_offset)
    aborted = [
        each
        for each in transactions.transactions
        if each.outcome == Outcome.ABORTED
        and each.first_offset < stop_offset
        and (each.marker_offset or 0) > first_offset
    ]
    is_read = builder.end_offset >= stop_offset
    if not is_read:
        with suppress(KafkavizError):
            is_read = _read(builder, segment.with_log(), aborted, stop_offset)
    builder.append(stop_offset, OffsetFate.EMPTY if is_read else OffsetFate.UNREAD)
    builder.append(end_offset, OffsetFate.WITHHELD)
    return tuple(builder.runs)


class _RunBuilder:
    def __init__(self, first_offset: int) -> None:
        self.runs: list[OffsetRun] = []
        self.end_offset = first_offset

    def append(self, end_offset: int, fate: OffsetFate) -> None:
        if end_offset <= self.end_offset:
            return
        first_offset = self.end_offset
        if self.runs and self.runs[-1].fate == fate:
            first_offset = self.runs.pop().first_offset
        self.runs.append(OffsetRun(first_offset, end_offset, fate))
        self.end_offset = end_offset


def _read(
    builder: _RunBuilder, segment: LogSegment, aborted: Iterable[Transaction], stop_offset: int
) -> bool:
    """Adds the runs below `stop_offset`. Returns False if some batches below it were not read."""
    batch_count = 0
    with open_batch_starts(segment) as batch_starts:
        start = batch_starts.position_before_offset(builder.end_offset)
        read_bytes = chunk_bytes(batch_starts, start)
    scan = segment.scan(start, None, read_bytes, fill_wrapper_fields=True)
    for batches in scan:
        fates = _fates(batches, aborted)
        is_split = np.diff(fates) != 0
        is_split |= batches["base_offset"][1:] != batches["last_offset"][:-1] + 1
        edges = [0, *(np.flatnonzero(is_split) + 1).tolist(), len(batches)]
        for first, end in pairwise(edges):
            base_offset = int(batches["base_offset"][first])
            builder.append(min(base_offset, stop_offset), OffsetFate.EMPTY)
            run_end = int(batches["last_offset"][end - 1]) + 1
            builder.append(min(run_end, stop_offset), FATES[fates[first]])
            if builder.end_offset >= stop_offset:
                return True
            if len(builder.runs) >= MAX_RUNS:
                return False
        batch_count += len(batches)
        if batch_count >= MAX_BATCHES:
            return False
    return scan.end.reason == "end"


def _fates(batches: np.ndarray, aborted: Iterable[Transaction]) -> np.ndarray:
    fates = np.full(len(batches), FATES.index(OffsetFate.DELIVERED))
    base_offsets = batches["base_offset"]
    for transaction in aborted:
        is_inside = (batches["producer_id"] == transaction.producer_id) & (
            base_offsets >= transaction.first_offset
        )
        is_inside &= base_offsets < (transaction.marker_offset or MAX_OFFSET)
        fates[is_inside & is_transactional(batches)] = FATES.index(OffsetFate.SKIPPED)
    fates[is_control(batches)] = FATES.index(OffsetFate.MARKER)
    return fates
