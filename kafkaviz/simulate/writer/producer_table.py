"""The state of each producer of a log, for producer snapshots and the transaction index.

Follows ProducerStateManager and ProducerAppendInfo of Kafka 4.3.1. Only a producer's last batch is
kept: sequences 4 to 6 at offsets 898 to 900 are stored as last sequence 6, last offset 900, offset
delta 2.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import batch, producer_snapshot
from kafkaviz.format.open_transactions import (
    EndTransactionMarker,
    OpenTransactions,
    TransactionBegin,
    bounding_rows,
    marker,
)
from kafkaviz.format.producer_snapshot import PRODUCER

NONE = -1
MIN_BUCKETS = 16


@dataclass(kw_only=True)
class _Producer:
    """A producer: the fields of its row in a .snapshot file, except the open transaction."""

    epoch: int
    last_sequence: int = NONE
    last_offset: int = NONE
    offset_delta: int = 0
    timestamp_ms: int = NONE
    coordinator_epoch: int = NONE


class ProducerTable:
    """The producers of a log below an offset, and their open and aborted transactions."""

    def __init__(self, snapshot: bytes | None = None) -> None:
        """Loads the producers of a .snapshot file. Without a file, starts empty.

        Raises CorruptBytes if Kafka would ignore the file.
        """
        if snapshot is None:
            snapshot = producer_snapshot.build(np.empty(0, PRODUCER))
        known = producer_snapshot.parse(snapshot)
        self._producers = {
            int(row["producer_id"]): _Producer(
                epoch=int(row["producer_epoch"]),
                last_sequence=int(row["last_sequence"]),
                last_offset=int(row["last_offset"]),
                offset_delta=int(row["offset_delta"]),
                timestamp_ms=int(row["timestamp_ms"]),
                coordinator_epoch=int(row["coordinator_epoch"]),
            )
            for row in known.producers
        }
        self.transactions = OpenTransactions(known.open_transactions)

    def take(self, batches: np.ndarray, read: ReadInto | None) -> None:
        """Updates the producers from the next batches, rows of BATCH or appends.INCOMING.

        If `read` is None, the kind of a marker (commit or abort) is taken from the row, and
        coordinator epochs stay unknown.
        """
        relevant_rows = bounding_rows(batches).tolist()
        for place, row_number in enumerate(relevant_rows):
            row = batches[row_number]
            if not batch.is_control(row):
                self._append(row)
            elif row["record_count"]:
                if read is None:
                    end_marker = EndTransactionMarker(int(row["marker"]), NONE)
                else:
                    end_marker = marker(read, row, row_number)
                self._end(row, end_marker, self._next_begin(batches, relevant_rows[place:]))

    def snapshot(self) -> bytes:
        """Returns the current state as a .snapshot file, in the order of Java's HashMap."""
        open_transactions = self.transactions.open()
        rows = np.empty(len(self._producers), PRODUCER)
        for row_number, producer_id in enumerate(_hash_order(self._producers)):
            producer = self._producers[producer_id]
            rows[row_number] = (
                producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_offset,
                producer.offset_delta,
                producer.timestamp_ms,
                producer.coordinator_epoch,
                open_transactions.get(producer_id, NONE),
            )
        return producer_snapshot.build(rows)

    def _append(self, row: np.void) -> None:
        producer = self._find_producer(row)
        producer.last_offset = int(row["last_offset"])
        producer.offset_delta = int(row["last_offset"]) - int(row["base_offset"])
        producer.last_sequence = (int(row["base_sequence"]) + producer.offset_delta) % (1 << 31)
        producer.timestamp_ms = int(row["max_timestamp_ms"])
        if batch.is_transactional(row):
            begin = TransactionBegin(int(row["base_offset"]))
            self.transactions.begin(int(row["producer_id"]), begin)

    def _end(self, row: np.void, end_marker: EndTransactionMarker, next_begin: int | None) -> None:
        producer = self._find_producer(row)
        producer.coordinator_epoch = end_marker.coordinator_epoch
        producer.timestamp_ms = int(row["max_timestamp_ms"])
        self.transactions.take_marker(
            int(row["producer_id"]), int(row["base_offset"]), end_marker.kind, next_begin=next_begin
        )

    def _next_begin(self, batches: np.ndarray, relevant_rows: list[int]) -> int | None:
        """Returns the base offset of the next transactional batch of a different producer, or None.

        `relevant_rows[0]` is a transaction marker. Only batches of the same append are searched,
        because Kafka registers all transactions of an append before it ends the first.
        """
        if "append" not in field_names(batches.dtype):
            return None
        marker_row = batches[relevant_rows[0]]
        for row_number in relevant_rows[1:]:
            row = batches[row_number]
            if row["append"] != marker_row["append"]:
                return None
            is_begin = batch.is_transactional(row) and not batch.is_control(row)
            if is_begin and row["producer_id"] != marker_row["producer_id"]:
                return int(row["base_offset"])
        return None

    def _find_producer(self, row: np.void) -> _Producer:
        """Returns the producer of a batch. Clears the producer's last batch if the epoch is new."""
        producer_id = int(row["producer_id"])
        epoch = int(row["producer_epoch"])
        producer = self._producers.setdefault(producer_id, _Producer(epoch=epoch))
        if producer.epoch != epoch:
            producer.epoch = epoch
            producer.last_sequence = producer.last_offset = NONE
            producer.offset_delta = 0
        return producer


def _hash_order(producer_ids: dict[int, _Producer]) -> list[int]:
    """Returns the ids in the order of a java.util.HashMap<Long, ...>."""
    buckets = MIN_BUCKETS
    while len(producer_ids) > buckets * 3 // 4:
        buckets *= 2
    return sorted(producer_ids, key=lambda producer_id: _spread(producer_id) % buckets)


def _spread(number: int) -> int:
    folded_number = (number ^ number >> 32) & 0xFFFFFFFF
    return folded_number ^ folded_number >> 16
