"""Producer snapshots at a start: which are deleted, which are written, and what is open at a
segment's base offset.

As ProducerStateManager and UnifiedLog.rebuildProducerState of Kafka 4.3.1, of whose state the open
transactions are kept alone.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot
from kafkaviz.simulate.recovering.transactions import OpenTransactions

Open = dict[int, int]  # of each producer with an open transaction, its first offset
Replay = Callable[[int, int, OpenTransactions], None]


@dataclass
class SnapshotFiles:
    """The .snapshot files of a directory, by offset, and what became of them."""

    # its bytes; what is open, for one that was written on the way
    known: dict[int, Callable[[], bytes] | Open]
    deleted: dict[int, str] = field(default_factory=dict)  # why each was
    written: set[int] = field(default_factory=set)

    def delete(self, offset: int, why: str) -> None:
        """Takes a file away; one that is not there is no error."""
        if self.known.pop(offset, None) is not None:
            self.deleted[offset] = why
            self.written.discard(offset)

    def write(self, offset: int, open_transactions: Open) -> None:
        """Puts a file there."""
        self.known[offset] = open_transactions
        self.written.add(offset)

    def open_at(self, offset: int) -> Open | None:
        """What is open at the offset of a file; None of a file that Kafka would refuse."""
        found = self.known[offset]
        if isinstance(found, dict):
            return found
        try:
            producers = producer_snapshot.parse(found()).producers
        except CorruptBytes:
            return None
        begun = producers[producers["current_txn_first_offset"] >= 0]
        return dict(
            zip(
                begun["producer_id"].tolist(),
                begun["current_txn_first_offset"].tolist(),
                strict=True,
            )
        )


class ProducerState:
    """The state of one log's producers up to an offset, built from the latest snapshot below it and
    the batches behind that.
    """

    def __init__(self, files: SnapshotFiles) -> None:
        self._files, self.transactions, self.is_unread = files, OpenTransactions(), False
        self._end_offset = self._snapshot_offset = 0

    def start_at(self, offset: int) -> None:
        """Everything forgotten, every file deleted (truncateFullyAndStartAt)."""
        for known in list(self._files.known):
            self._files.delete(known, "the log starts anew behind it")
        self._end_offset, self._snapshot_offset, self.transactions = offset, 0, OpenTransactions()

    def end(self, offset: int) -> None:
        """Says up to which offset the state is known, and keeps that as a file."""
        self._end_offset = offset
        self._take()

    def rebuild(
        self, bases: list[int], log_start: int, offset: int, clean: bool, replay: Replay
    ) -> None:
        """The state below an offset, of a log with these base offsets (rebuildProducerState).

        replay(from offset, base offset, transactions) takes the batches of a segment from an offset
        on. clean: after a clean stop, a directory without any file gets empty ones and no batch is
        read.
        """
        snapshot_at = {*bases[-2:], offset}
        if clean and not self._files.known:
            self.is_unread = True
            for known in sorted(snapshot_at):
                self.end(known)
            return
        was_there = self._end_offset >= offset
        self._reload(log_start, offset)
        if offset > self._end_offset and not was_there:
            for base in _between(bases, self._end_offset, offset):
                self._end_offset = max(base, self._end_offset, log_start)
                if base in snapshot_at:
                    self._take()
                replay(self._end_offset, base, self.transactions)
        self.end(offset)

    def _reload(self, log_start: int, offset: int) -> None:
        """Forgets the files out of range, and loads the latest that is left (truncateAndReload)."""
        for known in [known for known in self._files.known if known > offset or known <= log_start]:
            self._files.delete(
                known,
                f"it lies above offset {offset}"
                if known > offset
                else "it lies at or below the log start",
            )
        if offset == self._end_offset:
            self._end_offset, self._snapshot_offset = (
                max(offset, log_start),
                max(self._files.known, default=log_start),
            )
            return
        self.transactions, self._end_offset, self._snapshot_offset = (
            OpenTransactions(),
            log_start,
            log_start,
        )
        for known in sorted(self._files.known, reverse=True):
            open_transactions = self._files.open_at(known)
            if open_transactions is not None:
                self.transactions = OpenTransactions(open_transactions)
                self._end_offset = self._snapshot_offset = known
                return
            self._files.delete(known, "its content is damaged")

    def _take(self) -> None:
        if self._end_offset > self._snapshot_offset:
            self._files.write(self._end_offset, dict(self.transactions.open()))
            self._snapshot_offset = self._end_offset


def remove_strays(files: SnapshotFiles, bases: Iterable[int]) -> None:
    """Deletes files that belong to no segment, except the latest above all base offsets
    (removeStraySnapshots).
    """
    with_segment = set(bases)
    strays = sorted(known for known in files.known if known not in with_segment)
    keep = strays[-1:] if with_segment and strays and strays[-1] >= max(with_segment) else []
    for offset in strays:
        if offset not in keep:
            files.delete(offset, "it belongs to no segment")


def _between(bases: list[int], start: int, stop: int) -> Iterator[int]:
    """The segments from the one that holds an offset up to another offset, not included
    (LogSegments.values).
    """
    at = int(np.searchsorted(np.array(bases, np.int64), start, "right")) - 1
    yield from (base for base in bases[max(at, 0) :] if base < stop and start < stop)
