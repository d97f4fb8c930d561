"""The transactions in a partition: where each begins and ends, and which one delays consumers.

A consumer with isolation.level=read_committed reads up to the last stable offset. This is the first
offset of the oldest open transaction. For example:

    producer 7   offsets 10 to 18   committed, marker at 21
    producer 8   offsets 12 to 30   aborted, marker at 31
    producer 9   offsets 25 to 40   open: the last stable offset is 25

The rules are from ProducerStateManager of Kafka 4.3.1. If a transaction began below the log
start offset, a producer snapshot or a .txnindex may show its first offset.
"""

import shlex
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.lookup.served_log import open_log_view
from kafkaviz.analysis.opened_path import broker_around
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names, txn_index
from kafkaviz.format.batch import (
    has_delete_horizon,
    is_control,
    is_log_append_time,
    is_transactional,
)
from kafkaviz.format.control import ControlType
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.open_transactions import TransactionFault, bounding_rows, marker
from kafkaviz.format.walk import Walk
from kafkaviz.log import file, lone_files
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Settings
from kafkaviz.messages import Message, message
from kafkaviz.search.fetch import READ_COMMITTED, Bounds, find_bounds
from kafkaviz.search.log_view import LogView
from kafkaviz.versions import SearchProfile, search_profile

ABORT = "kafka-transactions.sh --bootstrap-server BROKER:9092 abort"
LISTED_TRANSACTIONS = 10_000  # at most this many ended transactions are listed, and all open ones


class Outcome(StrEnum):
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


def name_producer(producer_id: int, transactional_id: str | None) -> Message:
    if transactional_id is None:
        return message("finding.producer", producer=producer_id)
    return message("finding.transactional_producer", producer=producer_id, id=transactional_id)


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """A transaction of one producer, in one partition.

    Attributes:
        transactional_id: None if the opened files do not show it.
        first_offset: the transaction's first offset, according to the opened files.
        last_offset: the offset of its last record; None if the opened files have no record of it.
        start_ms: the timestamp of its first batch; None if the opened files have no batch of it.
        end_ms: the timestamp of its marker; None if the transaction is open.
        begins_before_log: whether the transaction began below the log start offset. None: unknown,
            and the true first offset may be lower than `first_offset`.
    """

    producer_id: int
    producer_epoch: int
    transactional_id: str | None
    first_offset: int
    last_offset: int | None
    outcome: Outcome
    start_ms: int | None
    end_ms: int | None = None
    marker_offset: int | None = None
    begins_before_log: bool | None = False

    @property
    def producer_name(self) -> Message:
        return name_producer(self.producer_id, self.transactional_id)

    def abort_command(self, partition: str) -> str:
        return abort_command(partition, self.first_offset)


def abort_command(partition: str, first_offset: int) -> str:
    """Returns the command that aborts a hanging transaction on brokers since 3.0.

    `partition` is the name of a partition directory, such as "payments-0".
    """
    return f"{_abort_partition(partition)} --start-offset {first_offset}"


def abort_command_before_3_0(partition: str, producer: np.void) -> str:
    """Returns the command that aborts a hanging transaction on brokers before 3.0.

    The command runs the kafka-transactions.sh of a release from 3.0 on, because older releases have
    none. The command must name the producer, because an older broker cannot find the producer by
    the first offset. `producer` is a row of producer_snapshot.PRODUCER. If its coordinator epoch is
    unknown, the command has epoch 0.
    """
    coordinator_epoch = max(0, int(producer["coordinator_epoch"]))
    return (
        f"{_abort_partition(partition)} --producer-id {producer['producer_id']}"
        f" --producer-epoch {producer['producer_epoch']} --coordinator-epoch {coordinator_epoch}"
    )


def _abort_partition(partition: str) -> str:
    topic, _, number = partition.rpartition("-")
    return f"{ABORT} --topic {shlex.quote(topic)} --partition {number}"


class Verdict(StrEnum):
    """Whether an open transaction hangs, according to its coordinator."""

    ONGOING = "ongoing"
    OVERDUE = "overdue"  # still ongoing although its timeout is over
    ENDING = "ending"  # the coordinator is about to write its markers
    HANGING = "hanging"  # for the coordinator, it has ended or does not include this partition
    ABSENT = "absent"  # __transaction_state in this copy has no record of its producer
    UNKNOWN = "unknown"  # this copy has no __transaction_state


@dataclass(frozen=True, kw_only=True)
class Hold:
    """The coordinator's view of the transaction that delays consumers.

    Attributes:
        open_ms: the time from the transaction's first batch to the newest time in the opened files;
            None if the opened files may lack the first batch.
        coordinator_state, timeout_ms, coordinator_start_ms: as in the producer's newest record in
            __transaction_state; None if no record was found.
        until_ms: the time at which the coordinator aborts the transaction; None if the transaction
            is not ongoing.
    """

    verdict: Verdict
    open_ms: int | None
    coordinator_state: str | None = None
    timeout_ms: int | None = None
    coordinator_start_ms: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class PartitionTransactions:
    """The transactions of a partition. An offset is None if Kafka could not compute it.

    Attributes:
        may_go_on: whether the opened files may lack the active segment. If so, `log_end` is the end
            of the opened files, and `last_stable_offset` and `held_by` are None.
        held_by: the open transaction that holds back the last stable offset.
        hold: the coordinator's view of `held_by`, from `transactions.coordinator.judge`.
        transactions: all open transactions and the last LISTED_TRANSACTIONS others, by first
            offset.
        markers_alone: the number of markers of transactions without a record in the opened files.
        problem: a fault that makes attributes unknown or wrong: the log or a .txnindex could not be
            read to its end, or a broker would truncate the log. None: no fault.
    """

    partition: str
    log_start_offset: int | None = None
    log_end: int | None = None
    last_stable_offset: int | None = None
    held_by: Transaction | None = None
    transactions: tuple[Transaction, ...] = ()
    counts: Mapping[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    markers_alone: int = 0
    may_go_on: bool = False
    problem: Message | None = None
    hold: Hold | None = None

    @cached_property
    def transaction_count(self) -> int:
        return sum(self.counts.values())


@dataclass(kw_only=True)
class _TransactionScan:
    log_start_offset: int
    transactional_ids: Mapping[int, str]
    # from this offset on, all open transactions are known
    known_from: int
    open_transactions: dict[int, Transaction]
    ended: deque[Transaction] = field(default_factory=lambda: deque(maxlen=LISTED_TRANSACTIONS))
    counts: Counter[Outcome] = field(default_factory=Counter)
    markers_alone: int = 0
    ended_producers: set[int] = field(default_factory=set)
    end_offset: int = 0  # the last offset plus 1

    def take(self, batches: np.ndarray, read: ReadInto, aborted: "_IndexedAborts") -> None:
        if len(batches):
            self.end_offset = int(batches["last_offset"][-1]) + 1
        batches = batches[is_transactional(batches) | is_control(batches)]
        for number in bounding_rows(batches).tolist():
            row = batches[number]
            if not is_control(row):
                self._append(row)
            elif row["record_count"]:
                kind = marker(read, row, number).kind
                if kind in (ControlType.ABORT, ControlType.COMMIT):
                    self._end(row, aborted if kind == ControlType.ABORT else None)

    def _append(self, row: np.void) -> None:
        producer_id = int(row["producer_id"])
        transaction = self.open_transactions.get(producer_id)
        if transaction is None:
            first_offset = int(row["base_offset"])
            is_known = first_offset >= self.known_from or producer_id in self.ended_producers
            transaction = replace(
                _begun_transaction(row, first_offset, self.transactional_ids),
                begins_before_log=first_offset < self.log_start_offset if is_known else None,
            )
        self.open_transactions[producer_id] = replace(
            transaction,
            producer_epoch=int(row["producer_epoch"]),
            last_offset=int(row["last_offset"]),
            start_ms=start_ms(row) if transaction.start_ms is None else transaction.start_ms,
        )

    def _end(self, row: np.void, aborted: "_IndexedAborts | None") -> None:
        producer_id = int(row["producer_id"])
        marker_offset = int(row["base_offset"])
        transaction = self.open_transactions.pop(producer_id, None)
        self.ended_producers.add(producer_id)
        if marker_offset < self.log_start_offset:
            return
        first_offset = None
        if aborted is not None:
            first_offset = aborted.first_offset(producer_id, marker_offset)
        if transaction is None:
            if first_offset is None:
                self.markers_alone += 1
                return
            transaction = _begun_transaction(row, first_offset, self.transactional_ids)
        if first_offset is not None and first_offset <= transaction.first_offset:
            is_before = first_offset < self.log_start_offset
            transaction = replace(
                transaction, first_offset=first_offset, begins_before_log=is_before
            )
        outcome = Outcome.COMMITTED if aborted is None else Outcome.ABORTED
        self.counts[outcome] += 1
        end_ms = int(row["max_timestamp_ms"])
        self.ended.append(
            replace(transaction, outcome=outcome, marker_offset=marker_offset, end_ms=end_ms)
        )


def _begun_transaction(
    row: np.void, first_offset: int, transactional_ids: Mapping[int, str]
) -> Transaction:
    """Returns an open transaction of the producer in `row` (a batch or a row of a snapshot)."""
    producer_id = int(row["producer_id"])
    return Transaction(
        producer_id=producer_id,
        producer_epoch=int(row["producer_epoch"]),
        transactional_id=transactional_ids.get(producer_id),
        first_offset=first_offset,
        last_offset=None,
        outcome=Outcome.OPEN,
        start_ms=None,
    )


def start_ms(row: np.void) -> int:
    """Returns the time of a batch's first record. If it is not stored, returns the largest time."""
    is_stored = not is_log_append_time(row) and not has_delete_horizon(row)
    return int(row["base_timestamp_ms" if is_stored else "max_timestamp_ms"])


class _IndexedAborts:
    """The aborted transactions in a .txnindex. Empty if `problem` is set.

    An entry has a transaction's first offset, even if its first records were removed.
    """

    def __init__(self, segment: LogSegment) -> None:
        self._entries = np.empty(0, txn_index.ENTRY)
        self.problem: Message | None = None
        try:
            entries = segment.txn_index
            txn_index.check(entries, segment.base_offset)
            self._entries = entries
        except KafkavizError as fault:
            self.problem = message(
                "transactions.unread_index",
                file=segment.file_name("txnindex"),
                problem=getattr(fault, "what", fault.message),
            )
        self._markers = self._entries["last_offset"].astype(np.int64)

    def first_offset(self, producer_id: int, marker_offset: int) -> int | None:
        slot = int(np.searchsorted(self._markers, marker_offset))
        if slot == len(self._markers) or self._markers[slot] != marker_offset:
            return None
        entry = self._entries[slot]
        return int(entry["first_offset"]) if entry["producer_id"] == producer_id else None


class CommittedLog(NamedTuple):
    log: LogView
    profile: SearchProfile
    bounds: Bounds


def open_committed_log(
    partition: Partition,
    version: str | None = None,
    *,
    as_is: bool = False,
    broker: Broker | None = None,
    settings: Settings | None = None,
) -> CommittedLog:
    """Returns a log after broker start-up, with the offsets that limit a consumer.

    The high watermark is ignored, as if all records were replicated.

    Args:
        version: the Kafka release; by default the assumed release.
        as_is: whether to read the files in their current state, not as start-up leaves them.
        broker: the broker with all log directories that were opened.
        settings: the broker's settings. None: they are read if start-up recovers the log.

    Raises:
        CannotOpen: there is no .log, or a file cannot be read.
        FailedRead: Kafka refuses to read a .log.
    """
    if not version:
        version = assume_release(broker or broker_around(partition)).version
    log = open_log_view(partition, version, as_is=as_is, broker=broker, settings=settings)
    profile = search_profile(version)
    return CommittedLog(log, profile, find_bounds(log, profile, READ_COMMITTED))


def may_go_on(partition: Partition) -> bool:
    """Returns whether the opened files may lack the active segment of the log.

    True if only remote segments were opened. Also true if single files were opened, and their
    folder is not a partition directory or has a later .log.
    """
    folder = lone_files.folder_of(partition.path)
    if partition.is_remote_alone:
        return True
    if folder == partition.path or not partition.live:
        return False
    if not names.parse_directory(folder.name):
        return True
    parsed_names = (names.parse_file(info.name) for info in file.list_files(folder))
    bases = [
        name.base_offset
        for name in parsed_names
        if name and (name.kind, name.suffix) == ("log", "")
    ]
    return max(bases, default=0) > partition.live[-1].base_offset


def list_transactions(
    partition: Partition,
    transactional_ids: Mapping[int, str],
    on_progress: Callable[[str, float], None] = lambda _partition, _share: None,
    *,
    version: str | None = None,
    broker: Broker | None = None,
    settings: Settings | None = None,
) -> PartitionTransactions:
    """Returns the transactions in a partition, from the batches and markers in its .log.

    `log_end` and `last_stable_offset` are those after the next broker start-up, as in `lookup`.
    `open_committed_log` explains the other arguments.

    Args:
        transactional_ids: the transactional ids by producer id.
        on_progress: called with the directory's name and the share (0 to 1) that has been read.

    Raises:
        CannotOpen: the partition has no .log.
    """
    if not partition.live:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    scan = _begin_scan(partition, transactional_ids)
    problem = None
    index_problem = None
    read_bytes = 0
    for segment in partition.live:
        on_progress(partition.directory, read_bytes / max(1, partition.live_log_bytes))
        aborted = _IndexedAborts(segment)
        index_problem = index_problem or aborted.problem
        problem = _take_segment(scan, segment, aborted)
        read_bytes += segment.log.size_bytes
        if problem:
            break
    goes_on = may_go_on(partition)
    log_end = None
    last_stable_offset = None
    try:
        bounds = open_committed_log(partition, version, broker=broker, settings=settings).bounds
        log_end = bounds.end_offset
        last_stable_offset = None if goes_on else bounds.limit_offset
    except KafkavizError as fault:
        problem = problem or message("errors.unread_log", error=str(fault))
    if not problem and log_end != max(scan.end_offset, scan.log_start_offset):
        problem = message("transactions.ends_elsewhere", end=log_end, last=scan.end_offset)
    by_first_offset = attrgetter("first_offset")
    open_transactions = sorted(scan.open_transactions.values(), key=by_first_offset)
    held_by = None
    for transaction in open_transactions:
        if max(transaction.first_offset, scan.log_start_offset) == last_stable_offset:
            held_by = transaction
            break
    counts = {**scan.counts, Outcome.OPEN: len(open_transactions)}
    return PartitionTransactions(
        partition=partition.directory,
        log_start_offset=scan.log_start_offset,
        log_end=log_end,
        last_stable_offset=last_stable_offset,
        held_by=held_by,
        transactions=tuple(sorted([*scan.ended, *open_transactions], key=by_first_offset)),
        counts={outcome: counts.get(outcome, 0) for outcome in Outcome},
        markers_alone=scan.markers_alone,
        may_go_on=goes_on,
        problem=problem or index_problem,
    )


def _begin_scan(partition: Partition, transactional_ids: Mapping[int, str]) -> _TransactionScan:
    """Returns a scan with the transactions that were open before the log's first batch.

    These transactions are from the first readable producer snapshot at or after that batch. If the
    snapshot is later than the batch, transactions that ended before the snapshot are missing.
    """
    first_base = partition.live[0].base_offset
    log_start_offset = partition.log_start_offset or 0
    open_transactions = {}
    known_from = 0 if first_base == 0 else MAX_OFFSET
    for offset in sorted(partition.snapshots) if first_base else ():
        if offset < first_base:
            continue
        try:
            producers = partition.snapshot(offset).producers
        except KafkavizError:
            continue
        first_offsets = producers["current_txn_first_offset"]
        for row in producers[(first_offsets >= 0) & (first_offsets < first_base)]:
            first_offset = int(row["current_txn_first_offset"])
            begun = _begun_transaction(row, first_offset, transactional_ids)
            open_transactions[begun.producer_id] = replace(begun, begins_before_log=True)
        known_from = offset
        break
    return _TransactionScan(
        log_start_offset=log_start_offset,
        transactional_ids=transactional_ids,
        known_from=known_from,
        open_transactions=open_transactions,
    )


def _take_segment(
    scan: _TransactionScan, segment: LogSegment, aborted: _IndexedAborts
) -> Message | None:
    """Adds a segment's batches to the scan, and returns why it is unreadable, or None."""
    scan.end_offset = max(scan.end_offset, segment.base_offset)
    try:
        with file.reader(segment.log.path) as read:
            walk = Walk(read, 0, segment.log.size_bytes)
            for batches in walk:
                scan.take(batches, read, aborted)
    except TransactionFault as fault:
        return message(
            "transactions.marker_unreadable", file=segment.log.name, problem=fault.message
        )
    except KafkavizError as fault:
        return message("errors.unread_log", error=str(fault))
    if walk.end.reason != "end":
        return message("transactions.unread_from", file=segment.log.name, byte=walk.end.position)
    return None
