"""Deletes and writes producer snapshots as broker start-up does.

Follows ProducerStateManager and UnifiedLog.rebuildProducerState of Kafka 4.3.1. For each
producer, only the open transaction is tracked.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot
from kafkaviz.format.java import EXCEPTIONS
from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery import BrokerException

OpenOffsets = dict[int, int]  # first offset of each open transaction, by producer id
Replay = Callable[[int, int, OpenTransactions, int | None], None]


class UnwritableSnapshot(Exception):
    """Raised if a snapshot must be written, but a folder has the snapshot's name."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass
class SnapshotFiles:
    """The .snapshot files of a directory by offset, and the changes to them."""

    # a function that reads the file; for a file written by start-up, its open transactions
    contents: dict[int, Callable[[], bytes] | OpenOffsets]
    deletion_reasons: dict[int, Message] = field(default_factory=dict)  # by offset
    written_offsets: set[int] = field(default_factory=set)
    folders: frozenset[int] = frozenset()  # offsets of folders that are named like a snapshot

    def delete(self, offset: int, why: Message) -> None:
        if self.contents.pop(offset, None) is not None:
            self.deletion_reasons[offset] = why
            self.written_offsets.discard(offset)

    def write(self, offset: int, open_transactions: OpenOffsets) -> None:
        """Writes a snapshot. Raises UnwritableSnapshot if a folder has the snapshot's name."""
        if offset in self.folders:
            raise UnwritableSnapshot(offset)
        self.contents[offset] = open_transactions
        self.written_offsets.add(offset)

    def open_at(self, offset: int) -> OpenOffsets | None:
        """Returns the open transactions in the snapshot at `offset`; None if Kafka refuses it."""
        content = self.contents[offset]
        if isinstance(content, dict):
            return content
        try:
            return producer_snapshot.parse(content()).open_transactions
        except CorruptBytes:
            return None


class ProducerState:
    """The open transactions of a log, from all batches below an offset.

    Computed from the latest snapshot below the offset and the batches after the snapshot.
    """

    def __init__(self, files: SnapshotFiles) -> None:
        self._files = files
        self.transactions = OpenTransactions()
        self.is_unread = False
        self._end_offset = self._snapshot_offset = 0

    @property
    def has_unstable_offset(self) -> bool:
        """Whether the loaded log has a first unstable offset (ProducerStateManager of 4.3.1).

        True if a transaction is open, or if a replayed batch ended a transaction. Kafka counts an
        ended transaction as unstable until the high watermark is above the transaction.
        """
        return bool(self.transactions.begins) or self.transactions.has_ended_any

    def start_at(self, offset: int) -> None:
        """Deletes all producers and snapshots, and starts at `offset` (truncateFullyAndStartAt)."""
        for snapshot_offset in list(self._files.contents):
            self._files.delete(snapshot_offset, message("start.log_starts_anew"))
        self._end_offset = offset
        self._snapshot_offset = 0
        self.transactions = OpenTransactions()

    def end(self, offset: int) -> None:
        """Notes that batches below `offset` were read. Writes a snapshot if none is up to date."""
        self._end_offset = offset
        self._take()

    def rebuild(
        self, bases: list[int], log_start: int, offset: int, *, clean: bool, replay: Replay
    ) -> None:
        """Computes the open transactions below `offset` (rebuildProducerState).

        Args:
            bases: the base offsets of the log's segments.
            clean: whether the broker was shut down cleanly. If so, and if the directory has
                no snapshots, writes empty snapshots and reads no batch.
            replay: a function; replay(start, base, transactions, end) adds the transactions of the
                segment with base offset `base`. It reads the batches from offset `start` up to
                offset `end`; None: up to the segment's end.
        """
        snapshot_at = {*bases[-2:], offset}
        if clean and not self._files.contents:
            self.is_unread = True
            for snapshot_offset in sorted(snapshot_at):
                self.end(snapshot_offset)
            return
        is_known = self._end_offset >= offset
        self._reload(log_start, offset)
        if offset > self._end_offset and not is_known:
            for base in _segments_between(bases, self._end_offset, offset):
                self._end_offset = max(base, self._end_offset, log_start)
                if base in snapshot_at:
                    self._take()
                is_last = base == max((other for other in bases if other <= offset), default=None)
                replay(self._end_offset, base, self.transactions, offset if is_last else None)
        self.end(offset)

    def _reload(self, log_start: int, offset: int) -> None:
        """Deletes snapshots up to `log_start` or above `offset`. Loads the latest readable one."""
        for snapshot_offset in list(self._files.contents):
            if snapshot_offset > offset:
                self._files.delete(snapshot_offset, message("start.above_offset", offset=offset))
            elif snapshot_offset <= log_start:
                self._files.delete(snapshot_offset, message("start.at_or_below_log_start"))
        if offset == self._end_offset:
            self._end_offset = max(offset, log_start)
            self._snapshot_offset = max(self._files.contents, default=log_start)
            return
        self.transactions = OpenTransactions()
        self._end_offset = log_start
        self._snapshot_offset = log_start
        for snapshot_offset in sorted(self._files.contents, reverse=True):
            open_transactions = self._files.open_at(snapshot_offset)
            if open_transactions is not None:
                self.transactions = OpenTransactions(open_transactions)
                self._end_offset = self._snapshot_offset = snapshot_offset
                return
            self._files.delete(snapshot_offset, message("start.content_damaged"))

    def _take(self) -> None:
        if self._end_offset > self._snapshot_offset:
            self._files.write(self._end_offset, dict(self.transactions.open()))
            self._snapshot_offset = self._end_offset


def refusal(fault: TransactionFault) -> BrokerException:
    """Returns Kafka's exception for a fault in a transaction. The exception ends loading."""
    return BrokerException(fault.class_name or EXCEPTIONS[fault.kind], fault.message)


def remove_strays(files: SnapshotFiles, bases: Iterable[int]) -> None:
    """Deletes each snapshot whose offset is not in `bases`, the base offsets of the segments.

    If the latest snapshot has an offset above all of `bases`, it stays. Follows
    ProducerStateManager.removeStraySnapshots.
    """
    segment_offsets = set(bases)
    strays = sorted(files.contents.keys() - segment_offsets)
    if segment_offsets and strays and strays[-1] >= max(segment_offsets):
        strays.pop()
    for offset in strays:
        files.delete(offset, message("start.of_no_segment"))


def _segments_between(bases: list[int], start: int, stop: int) -> Iterator[int]:
    first = int(np.searchsorted(np.array(bases, np.int64), start, "right")) - 1
    yield from (base for base in bases[max(first, 0) :] if base < stop and start < stop)
