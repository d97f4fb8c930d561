"""Tracks the open and aborted transactions of a log, from its batches and markers.

Follows ProducerAppendInfo and ProducerStateManager of Kafka 4.3.1. For example, producer 7 begins
at offset 10, producer 8 begins at 20, and 7 aborts at 30. The entry for the .txnindex has producer
7, first offset 10, last offset 30, and the last stable offset 20, because producer 8 has not ended.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.format import batch, control, names, record, txn_index
from kafkaviz.format.control import ControlType
from kafkaviz.format.java import ILLEGAL_ARGUMENT, INVALID_TXN_STATE, without_place

# in the key of a control record, after the version
TYPE_AT = 2
TYPE_END = control.KEY_BYTES
# in the value of a marker, after the version
EPOCH_AT = 2
EPOCH_END = 6


class TransactionFault(Exception):
    """The error for a batch at which Kafka's recovery of a segment fails.

    Has the class and message of Kafka's exception. If a marker cannot be read, `class_name` is
    None, and format.java.EXCEPTIONS gives the class for `kind`.
    """

    def __init__(
        self,
        batch_number: int,
        class_name: str | None = None,
        message: str = "",
        kind: FaultKind = FaultKind.RECORD,
    ) -> None:
        super().__init__(message)
        self.batch = batch_number
        self.class_name = class_name
        self.message = message
        self.kind = kind


@dataclass(frozen=True, slots=True)
class TransactionBegin:
    """Where a producer's transaction begins. -1 for values that are unknown."""

    offset: int  # the first offset of the transaction
    position: int = -1
    last_ms: int = -1  # the largest timestamp of the transaction so far


class OpenTransactions:
    """The transactions of a log up to some offset: those still open, and those aborted so far.

    `first_offsets` has the first offsets of the initially open transactions, by producer id.
    """

    def __init__(self, first_offsets: Mapping[int, int] | None = None) -> None:
        self._begins = {
            producer_id: TransactionBegin(offset)
            for producer_id, offset in (first_offsets or {}).items()
        }
        self._aborted: list[tuple[int, int, int, int, int]] = []
        self.has_ended_any = False  # whether a marker ended a transaction

    @property
    def begins(self) -> Mapping[int, TransactionBegin]:
        return MappingProxyType(self._begins)

    def open(self) -> MappingProxyType[int, int]:
        """Returns the first offset of each open transaction, by producer id."""
        offsets = {producer_id: begin.offset for producer_id, begin in self._begins.items()}
        return MappingProxyType(offsets)

    def first_offset(self, below: int | None = None) -> int | None:
        """Returns the first offset of the oldest open transaction; None if none is open.

        Args:
            below: if given, only transactions that begin below this offset count.
        """
        offsets = (begin.offset for begin in self._begins.values())
        return min((offset for offset in offsets if below is None or offset < below), default=None)

    def aborted(self) -> np.ndarray:
        """Returns the aborted transactions as an array of txn_index.ENTRY, in order."""
        return np.array(self._aborted, txn_index.ENTRY)

    def take_aborted(self) -> np.ndarray:
        """Returns and forgets the aborted transactions, an array of txn_index.ENTRY."""
        aborted = self.aborted()
        self._aborted.clear()
        return aborted

    def take(self, read: ReadInto | None, batches: np.ndarray, stem: str = "") -> None:
        """Updates the transactions from the next batches and their markers.

        Args:
            read: reads the bytes of the .log. None: every marker counts as a commit.
            batches: rows of format.batch.BATCH.
            stem: the segment's path without its ending. If given, a non-transactional batch of a
                producer with an open transaction is an error. A broker fails there at start-up.

        Raises:
            TransactionFault: Kafka's recovery fails at a batch.
        """
        fields = ("producer_id", "base_offset", "record_count")
        producer_ids, base_offsets, record_counts = (batches[name].tolist() for name in fields)
        rows: Iterable[tuple[int, int | None]] = transaction_rows(batches)
        other_rows = self._non_transactional_rows(batches) if stem else frozenset()
        if other_rows:
            rows = sorted([*rows, *((row, None) for row in other_rows)])
        for row, last_ms in rows:
            if row in other_rows:
                if producer_ids[row] in self._begins:
                    raise _non_transactional_fault(row, producer_ids[row], base_offsets[row], stem)
            elif last_ms is not None:
                self.begin(producer_ids[row], TransactionBegin(base_offsets[row]))
            elif record_counts[row]:
                kind = ControlType.COMMIT if read is None else marker(read, batches[row], row).kind
                self.take_marker(
                    producer_ids[row], base_offsets[row], kind, batch_number=row, stem=stem
                )

    def _non_transactional_rows(self, batches: np.ndarray) -> frozenset[int]:
        """Returns the non-transactional rows whose producer also has or begins a transaction."""
        has_producer = batches["producer_id"] >= 0
        is_plain = has_producer & ~batch.is_control(batches) & ~batch.is_transactional(batches)
        if not is_plain.any():
            return frozenset()
        is_begun = has_producer & batch.is_transactional(batches)
        suspects = [*self._begins, *np.unique(batches["producer_id"][is_begun]).tolist()]
        is_plain &= np.isin(batches["producer_id"], suspects)
        return frozenset(np.flatnonzero(is_plain).tolist())

    def begin(self, producer_id: int, begin: TransactionBegin) -> TransactionBegin:
        """Adds a transactional batch. Returns the open transaction that the batch belongs to."""
        known_begin = self._begins.get(producer_id, begin)
        if begin.last_ms > known_begin.last_ms:
            known_begin = replace(known_begin, last_ms=begin.last_ms)
        self._begins[producer_id] = known_begin
        return known_begin

    def end(self, producer_id: int) -> TransactionBegin | None:
        """Closes a producer's open transaction and returns it; returns None if none is open."""
        begin = self._begins.pop(producer_id, None)
        if begin is not None:
            self.has_ended_any = True
        return begin

    def take_marker(
        self,
        producer_id: int,
        marker_offset: int,
        kind: int,
        *,
        batch_number: int = 0,
        stem: str = "",
        next_begin: int | None = None,
    ) -> None:
        """Ends a producer's transaction at its marker.

        Args:
            kind: ControlType.ABORT or ControlType.COMMIT.
            batch_number: the number of the marker's batch, for errors.
            stem: the segment's path without its ending, for errors.
            next_begin: the offset at which another producer begins a transaction, after the marker
                and in the same append; None if there is none.

        Raises:
            TransactionFault: an abort marker's offset is not above the previous abort marker's.
        """
        begin = self.end(producer_id)
        if begin is None or kind != ControlType.ABORT:
            return
        last = self._aborted[-1][3] if self._aborted else None
        if last is not None and marker_offset <= last:
            words = (
                "The last offset of appended transactions must increase sequentially, but "
                f"{marker_offset} is not greater than current last offset {last} of index "
                f"{stem}.txnindex"
            )
            raise TransactionFault(batch_number, ILLEGAL_ARGUMENT, words)
        stable = self.first_offset()
        if stable is None:
            stable = marker_offset + 1 if next_begin is None else next_begin
        self._aborted.append((txn_index.VERSION, producer_id, begin.offset, marker_offset, stable))


def _non_transactional_fault(
    row: int, producer_id: int, offset: int, stem: str
) -> TransactionFault:
    """Returns the error of Kafka 4.3.1 for a non-transactional batch during a transaction."""
    directory = names.parse_directory(stem.split("/")[-2]) if "/" in stem else None
    partition = f"{directory.topic}-{directory.partition}" if directory else stem
    words = (
        f"Expected transactional write from producer {producer_id} at offset (offset={offset}, "
        f"segment=[-1:-1]) in partition {partition}"
    )
    return TransactionFault(row, INVALID_TXN_STATE, words)


def transaction_rows(batches: np.ndarray) -> Iterator[tuple[int, int | None]]:
    """Yields the numbers of the rows that begin or end transactions, in ascending order.

    Yields:
        (row, None) for a marker. (row, largest timestamp in ms) for a producer's batches between
        two of its markers: `row` is the first of these batches.
    """
    is_control = batch.is_control(batches)
    is_relevant = (batches["producer_id"] >= 0) & (is_control | batch.is_transactional(batches))
    rows = np.flatnonzero(is_relevant)
    if not len(rows):
        return
    by_producer = rows[np.argsort(batches["producer_id"][rows], kind="stable")]
    is_data = ~is_control[by_producer]
    marker_counts = np.cumsum(~is_data)[is_data]
    data_rows = by_producer[is_data]
    times: dict[int, int] = {}
    if len(data_rows):
        starts = np.flatnonzero(
            (np.diff(marker_counts, prepend=-1) != 0)
            | (np.diff(batches["producer_id"][data_rows], prepend=-1) != 0)
        )
        last_ms = np.maximum.reduceat(batches["max_timestamp_ms"][data_rows], starts)
        times = dict(zip(data_rows[starts].tolist(), last_ms.tolist(), strict=True))
    for row in sorted([*times, *rows[is_control[rows]].tolist()]):
        yield row, times.get(row)


def bounding_rows(batches: np.ndarray) -> np.ndarray:
    """Returns the rows of all markers, and of some batches of each producer.

    A producer's markers divide the producer's batches into runs. The result has the first and the
    last batch of each run.
    """
    producer_rows = np.flatnonzero(batches["producer_id"] >= 0)
    if not len(producer_rows):
        return producer_rows
    producer = batches["producer_id"][producer_rows]
    order = np.argsort(producer, kind="stable")
    ordered = producer_rows[order]
    producer = producer[order]
    control = batch.is_control(batches)[ordered]
    is_first = np.concatenate([[True], (producer[1:] != producer[:-1]) | control[:-1]])
    is_last = np.concatenate([is_first[1:] | control[1:], [True]])
    return np.sort(ordered[control | is_first | is_last])


@dataclass(frozen=True)
class EndTransactionMarker:
    """A transaction marker."""

    kind: int  # ControlType.ABORT or ControlType.COMMIT
    coordinator_epoch: int  # -1 if it cannot be read


def marker(read: ReadInto, header: np.void, batch_number: int) -> EndTransactionMarker:
    """Reads a control batch's first record as a marker.

    Raises TransactionFault if the record cannot be read, as Kafka's recovery then fails.
    """
    size_bytes = int(header["size_bytes"]) - batch.HEADER_BYTES
    data = np.empty(max(size_bytes, 0), np.uint8)
    if read(int(header["position"]) + batch.HEADER_BYTES, data) < len(data):
        raise TransactionFault(batch_number)
    codec_id = int(header["attributes"] & batch.CODEC_MASK)
    try:
        runs = record.runs(data.tobytes(), codec_id, int(header["record_count"]))
        marker_record = next(
            candidate
            for plain, table in runs
            for candidate in record.records_from_rows(plain, table[:1])
        )
    except CorruptBytes as fault:
        words = str(without_place(fault.what))
        raise TransactionFault(batch_number, None, words, fault.kind) from None
    if marker_record.key is None or len(marker_record.key) < TYPE_END:
        try:
            control.decode(marker_record.key, marker_record.value)
        except CorruptBytes as fault:
            raise TransactionFault(batch_number, None, str(fault.what), fault.kind) from None
    kind = int.from_bytes(cast(bytes, marker_record.key)[TYPE_AT:TYPE_END], "big", signed=True)
    value = marker_record.value or b""
    if len(value) < EPOCH_END:
        return EndTransactionMarker(kind, -1)
    epoch = int.from_bytes(value[EPOCH_AT:EPOCH_END], "big", signed=True)
    return EndTransactionMarker(kind, epoch)
