"""Open and aborted transactions of a log: what its batches and markers make of the producers'
state.

As ProducerAppendInfo and ProducerStateManager of Kafka 4.3.1, of whose state a transaction index
needs this much alone. Producer 7 begins at offset 10, producer 8 at 20, and 7 aborts at 30: the
entry (7, 10, 30, 20), since below 20 everything is decided.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, control, record, txn_index

ABORT, COMMIT = 0, 1
TYPE_AT, TYPE_END = 2, 4  # in the key of a control record, behind its version
EPOCH_AT, EPOCH_END = 2, 6  # in the value of a marker, behind its version


class TransactionFault(Exception):
    """What ends a recovery at a batch: an exception of Kafka's (class, message), or a marker that
    cannot be read.
    """

    def __init__(self, batch_number: int, class_name: str | None = None, message: str = "") -> None:
        super().__init__(message)
        self.batch, self.class_name, self.message = batch_number, class_name, message


class OpenTransactions:
    """The transactions that are open at one place of a log, and those aborted on the way there."""

    def __init__(self, first_offsets: dict[int, int] | None = None) -> None:
        """first_offsets: of each producer with an open transaction, its first offset."""
        self._first_offsets = dict(first_offsets or {})
        self._aborted: list[tuple[int, int, int, int, int]] = []

    def open(self) -> MappingProxyType[int, int]:
        """Of each producer with an open transaction its first offset."""
        return MappingProxyType(dict(self._first_offsets))

    def aborted(self) -> np.ndarray:
        """The entries of the transaction index, in their order."""
        return np.array(self._aborted, txn_index.ENTRY)

    def take_aborted(self) -> np.ndarray:
        """As aborted(), and those are forgotten: they go into the index of the segment that was
        written to.
        """
        aborted = self.aborted()
        self._aborted.clear()
        return aborted

    def take(self, read: ReadInto, batches: np.ndarray, stem: str = "") -> None:
        """The next batches (format.batch.BATCH), of which markers are read; TransactionFault where
        Kafka's recovery ends.
        """
        is_control = batch.is_control(batches)
        is_relevant = (batches["producer_id"] >= 0) & (is_control | batch.is_transactional(batches))
        for row in np.flatnonzero(is_relevant).tolist():
            producer_id, base_offset = (
                int(batches["producer_id"][row]),
                int(batches["base_offset"][row]),
            )
            if not is_control[row]:
                self.begin(producer_id, base_offset)
            elif batches["record_count"][row]:
                self.end(
                    producer_id,
                    base_offset,
                    marker(read, batches[row], row).kind,
                    batch_number=row,
                    stem=stem,
                )

    def begin(self, producer_id: int, offset: int) -> None:
        """A transactional batch: the first one of a producer begins its transaction."""
        self._first_offsets.setdefault(producer_id, offset)

    def end(
        self,
        producer_id: int,
        marker_offset: int,
        kind: int,
        *,
        batch_number: int = 0,
        stem: str = "",
        next_begin: int | None = None,
    ) -> None:
        """A marker, ABORT or COMMIT; TransactionFault where the transaction index refuses it.

        batch_number: the batch; stem: the segment it is in. next_begin: where the next transaction
        begins in the same append, if one does.
        """
        first_offset = self._first_offsets.pop(producer_id, None)
        if first_offset is None or kind != ABORT:
            return
        last = self._aborted[-1][3] if self._aborted else None
        if last is not None and marker_offset <= last:
            words = (
                "The last offset of appended transactions must increase sequentially, but "
                f"{marker_offset} is not greater than"
            )
            raise TransactionFault(
                batch_number,
                "java.lang.IllegalArgumentException",
                f"{words} current last offset {last} of index {stem}.txnindex",
            )
        stable = min(
            self._first_offsets.values(),
            default=marker_offset + 1 if next_begin is None else next_begin,
        )
        self._aborted.append((txn_index.VERSION, producer_id, first_offset, marker_offset, stable))


@dataclass(frozen=True)
class EndTransactionMarker:
    """The end of a transaction. kind: ABORT or COMMIT; coordinator_epoch: of the transaction
    coordinator, -1 if it cannot be read.
    """

    kind: int
    coordinator_epoch: int


def marker(read: ReadInto, header: np.void, batch_number: int) -> EndTransactionMarker:
    """What a control batch's first record says; TransactionFault, with the number of the batch,
    where Kafka cannot read it.
    """
    data = np.empty(int(header["size_bytes"]) - batch.HEADER_BYTES, np.uint8)
    if read(int(header["position"]) + batch.HEADER_BYTES, data) < len(data):
        raise TransactionFault(batch_number)
    try:
        runs = record.runs(
            data.tobytes(),
            int(header["attributes"] & batch.CODEC_MASK),
            int(header["record_count"]),
        )
        marker_record = next(
            candidate
            for plain, table in runs
            for candidate in record.records_from_rows(plain, table[:1])
        )
    except CorruptBytes as fault:
        raise TransactionFault(batch_number, None, str(fault.what)) from None
    if marker_record.key is None or len(marker_record.key) < TYPE_END:
        try:
            control.decode(marker_record.key, marker_record.value)
        except CorruptBytes as fault:
            raise TransactionFault(batch_number, None, str(fault.what)) from None
    epoch = (marker_record.value or b"")[EPOCH_AT:EPOCH_END]
    kind = int.from_bytes(cast(bytes, marker_record.key)[TYPE_AT:TYPE_END], "big", signed=True)
    return EndTransactionMarker(
        kind,
        int.from_bytes(epoch, "big", signed=True) if len(epoch) == EPOCH_END - EPOCH_AT else -1,
    )
