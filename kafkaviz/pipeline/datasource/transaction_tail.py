"""Reads the tail of a log, to find out how the last transactions ended.

The tail is the part after the newest producer snapshot, usually the active segment. Markers in
the tail commit or abort transactions that are open in the snapshot. If batches are small, all bytes
of the tail must be read, so the planning does not read the tail. A task reads the tail until the
transactions of the task's records have ended. A process reads the tail once per query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from uuid import uuid4

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.log import file
from kafkaviz.log.batch_starts import chunk_bytes, open_batch_starts
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.log.remote import address
from kafkaviz.log.scans import HeaderScan, Hole
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

MAX_SENT_SEGMENTS = 8  # each task lists the segments of a longer tail itself
MAX_FOLLOWED = 4  # number of tails whose state a process keeps
MARKER = "marker"  # kind of a problem: a marker cannot be read, although the .log can be opened


@dataclass(frozen=True, kw_only=True)
class TransactionTail:
    """The part of a topic-partition's log after a producer snapshot."""

    since: int = field(compare=False)  # the offset of the snapshot; -1: the tail is the whole log
    # the first offset of each transaction that is open at `since`, by producer
    open_since: Mapping[int, int] = field(compare=False)
    # the segments of the tail; only the last one, if they are too many to send
    segments: tuple[LogSegment, ...] = field(compare=False)
    # used to list the segments that were not sent; None: all were sent
    partition: Partition | None = field(default=None, compare=False)
    first_base: int = field(default=0, compare=False)  # the base offset of the tail's first segment
    # identifies the tail and the query in the cache of a process
    key: str = field(default_factory=lambda: uuid4().hex)

    def decides(self, last_offset: float) -> bool:
        """Returns whether a marker in the tail may commit or abort records up to `last_offset`."""
        open_transactions = OpenTransactions(self.open_since)
        return bool(self.segments) and not is_decided(open_transactions, self.since, last_offset)

    def follow(self, last_offset: float = inf) -> "TailState":
        """Reads the tail until all transactions with records up to `last_offset` have ended.

        If a process calls `follow` for several offsets, it reads each batch only once.
        """
        state = _state(self)
        state.follow(last_offset)
        return state


def transaction_tail(
    partition: Partition,
    since: int = -1,
    open_since: Mapping[int, int] | None = None,
    end_offset: int | None = None,
) -> TransactionTail:
    """Returns the part of a log after `since`, the offset of a producer snapshot."""
    ends = [*(segment.base_offset for segment in partition.live[1:]), end_offset or inf]
    segments = tuple(
        segment
        for segment, end in zip(partition.live, ends, strict=False)
        if segment.log.size_bytes and end > since
    )
    tail = TransactionTail(since=since, open_since=open_since or {}, segments=segments)
    is_stored = any(address.mirrored_file(segment.log.path) for segment in segments)
    if len(segments) <= MAX_SENT_SEGMENTS or partition.remote_bases or is_stored:
        return tail
    return replace(
        tail,
        segments=segments[-1:],
        partition=replace(partition, segments=(), other_files=()),
        first_base=segments[0].base_offset,
    )


class TailState:
    """The transactions in the part of a `TransactionTail` that was read so far."""

    def __init__(self, tail: TransactionTail) -> None:
        self.problems: list[Problem] = []  # the unreadable ranges, which may have markers
        self._since = self._end_offset = tail.since
        self._transactions = OpenTransactions(tail.open_since)
        # position in the first of `_segments`; -1 before any of it is read
        self._segments = self._list_segments(tail)
        self._position = -1

    @property
    def aborted(self) -> np.ndarray:
        """The aborted transactions, as format.txn_index.ENTRY."""
        return self._transactions.aborted()

    @property
    def open(self) -> dict[int, int]:
        """The first offset of each open transaction, by producer."""
        return dict(self._transactions.open())

    def follow(self, last_offset: float) -> None:
        while self._segments:
            segment = self._segments[0]
            if self._position < 0:
                self._end_offset = max(self._since, segment.base_offset)
            if is_decided(self._transactions, self._end_offset, last_offset):
                return
            try:
                self._read_segment(segment, last_offset)
            except TransactionFault as fault:
                reason = fault.message or message("errors.marker_unreadable")
                what = message("errors.marker_not_taken", reason=reason)
                self.problems.append(Problem(segment.log.path, what, MARKER))
                self._leave_segment()
            except CannotOpen as fault:
                self.problems.append(Problem.from_fault(segment.log.path, fault))
                self._leave_segment()

    def _read_segment(self, segment: LogSegment, last_offset: float) -> None:
        size_bytes = file.info(segment.log.path).size_bytes
        if size_bytes < segment.log.size_bytes:
            cut = message("errors.log_cut", size=size_bytes, expected=segment.log.size_bytes)
            raise CannotOpen(segment.log.path, cut)
        with open_batch_starts(segment, is_index_needed=False) as batch_starts:
            start = max(self._position, 0)
            if self._position < 0 and self._since > segment.base_offset:
                start = batch_starts.position_before_offset(self._since)
            scan = HeaderScan(
                batch_starts, start, segment.log.size_bytes, chunk_bytes(batch_starts, start)
            )
            for batches in scan:
                if isinstance(batches, Hole) or not len(batches):
                    continue
                last = batches[-1]
                self._position = int(last["position"]) + int(last["size_bytes"])
                self._end_offset = int(last["last_offset"]) + 1
                self._transactions.take(
                    batch_starts.read, batches[batches["last_offset"] >= self._since]
                )
                if is_decided(self._transactions, self._end_offset, last_offset):
                    return
        self._leave_segment()

    def _leave_segment(self) -> None:
        self._segments = self._segments[1:]
        self._position = -1

    def _list_segments(self, tail: TransactionTail) -> tuple[LogSegment, ...]:
        if tail.partition is None:
            return tail.segments
        (last,) = tail.segments
        path = tail.partition.path
        first_base = tail.first_base
        try:
            partition = open_partition(path, tail.partition.name)
            partition.segment(first_base)
        except CannotOpen as fault:
            self.problems.append(Problem.from_fault(path, fault))
            return ()
        segments = (
            segment
            for segment in partition.live
            if first_base <= segment.base_offset < last.base_offset
        )
        return (*segments, last)


@lru_cache(maxsize=MAX_FOLLOWED)
def _state(tail: TransactionTail) -> TailState:
    return TailState(tail)


def is_decided(open_transactions: OpenTransactions, offset: int, last_offset: float) -> bool:
    """Returns whether all transactions with records up to `last_offset` ended before `offset`."""
    return offset > last_offset and all(
        first > last_offset for first in open_transactions.open().values()
    )
