"""Finds the records of a partition that a consumer with isolation.level=read_committed skips.

These are the records of aborted transactions, and all records from the last stable offset on. The
last stable offset is the first offset of the earliest open transaction. The .txnindex files list
aborted transactions, and the newest producer snapshot lists open ones. For offsets after the
snapshot, the markers in the .log show both. A broker on these files does the same (4.3.1). It also
knows the high watermark, which depends on followers.
"""

from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen, CorruptBytes, KafkavizError
from kafkaviz.format import open_transactions, producer_snapshot, txn_index
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.control import ControlType
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.open_transactions import OpenTransactions
from kafkaviz.log import file
from kafkaviz.log.batch_starts import ends_before, open_batch_starts, sound_end_offset
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition, RemoteGap, log_end_offset
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.datasource.transaction_tail import (
    TransactionTail,
    is_decided,
    transaction_tail,
)

# `last_offset` is the offset of the transaction's marker
ABORTED: np.dtype = np.dtype([("producer_id", "i8"), ("first_offset", "i8"), ("last_offset", "i8")])
NO_ABORTED = np.empty(0, ABORTED)


@dataclass(frozen=True)
class UncommittedTransactions:
    """The known aborted and open transactions of a topic-partition."""

    # rows of `ABORTED`, sorted by producer, then by first offset
    aborted: np.ndarray = field(default_factory=lambda: NO_ABORTED)
    # the first offset of each open transaction, by producer
    open: dict[int, int] = field(default_factory=dict)
    # the part of the log that must still be read to find other transactions
    tail: TransactionTail | None = None

    @property
    def stable_offset(self) -> float:
        """The first offset of the earliest open transaction; infinity if all have ended."""
        return min(self.open.values(), default=inf)

    def in_range(
        self, first_offset: float, last_offset: float, last_requested: float
    ) -> "UncommittedTransactions":
        """Returns a copy with only the aborted transactions that overlap a range of offsets.

        The range is `first_offset` to `last_offset`. The copy has no `tail` if no marker in the
        tail can commit or abort a record up to `last_requested`.
        """
        touches = self.aborted["last_offset"] >= first_offset
        touches &= self.aborted["first_offset"] <= last_offset
        if self.tail is None or self.tail.decides(last_requested):
            return replace(self, aborted=self.aborted[touches])
        return UncommittedTransactions(self.aborted[touches], dict(self.tail.open_since))

    def follow_tail(
        self, last_offset: float, first_offset: float = -inf
    ) -> tuple["UncommittedTransactions", list[Problem]]:
        """Reads `tail`, and returns all transactions and the unreadable ranges of `tail`.

        Reading stops when the transactions up to `last_offset` have ended. Aborted transactions
        that ended before `first_offset` are left out.
        """
        if self.tail is None:
            return self, []
        state = self.tail.follow(last_offset)
        aborted = np.unique(np.concatenate([self.aborted, _as_aborted(state.aborted)]))
        aborted = aborted[aborted["last_offset"] >= first_offset]
        return UncommittedTransactions(aborted, state.open), list(state.problems)

    def are_aborted(self, batches: np.ndarray) -> np.ndarray:
        """Returns whether the records of each batch (format.batch.BATCH) were aborted.

        Batches with markers do not count as part of a transaction.
        """
        mask = np.zeros(len(batches), bool)
        if not len(self.aborted):
            return mask
        transactional = _is_in_transaction(batches)
        for producer_id in np.unique(batches["producer_id"][transactional]):
            entries = self.aborted[self.aborted["producer_id"] == producer_id]
            rows = np.flatnonzero(transactional & (batches["producer_id"] == producer_id))
            offsets = batches["base_offset"][rows]
            place = np.searchsorted(entries["first_offset"], offsets, "right") - 1
            if len(entries):
                mask[rows] = (place >= 0) & (offsets <= entries["last_offset"][place])
        return mask

    def are_open(self, batches: np.ndarray) -> np.ndarray:
        """Returns whether the records of each batch belong to an open transaction."""
        mask = np.zeros(len(batches), bool)
        transactional = _is_in_transaction(batches)
        for producer_id, first_offset in self.open.items():
            is_later = batches["base_offset"] >= first_offset
            mask |= transactional & is_later & (batches["producer_id"] == producer_id)
        return mask


NO_TRANSACTIONS = UncommittedTransactions()


class ObservedTransactions:
    """The transactions that the batches and markers of a .log show.

    Used to verify a .txnindex, which may be readable but wrong: an entry may be changed or lost, or
    the file may belong to another log.
    """

    def __init__(self) -> None:
        self._transactions = OpenTransactions()
        self._abort_markers: set[tuple[int, int]] = set()  # producer id, offset of the marker
        self._first_offset = inf
        self._last_offset = -inf

    def take(self, read: ReadInto, batches: np.ndarray) -> None:
        """Adds the next batches of the .log. Raises TransactionFault if a marker is unreadable."""
        if not len(batches):
            return
        self._first_offset = min(self._first_offset, int(batches["base_offset"][0]))
        self._last_offset = int(batches["last_offset"][-1])
        for row, last_ms in open_transactions.transaction_rows(batches):
            batch = batches[row]
            producer_id = int(batch["producer_id"])
            offset = int(batch["base_offset"])
            if last_ms is not None:
                self._transactions.begin(producer_id, open_transactions.TransactionBegin(offset))
            elif batch["record_count"]:
                kind = open_transactions.marker(read, batch, row).kind
                if kind == ControlType.ABORT:
                    self._abort_markers.add((producer_id, offset))
                self._transactions.take_marker(producer_id, offset, kind, batch_number=row)

    def have_ended(self, ignored: Container[int]) -> bool:
        """Returns whether all transactions have ended, except those of `ignored` producers."""
        return all(producer_id in ignored for producer_id in self._transactions.begins)

    def correct(
        self, claimed: UncommittedTransactions, batches: np.ndarray
    ) -> UncommittedTransactions:
        """Returns `claimed` if the markers confirm it, else the transactions that they show.

        Args:
            claimed: the transactions according to the .txnindex files and producer snapshots.
            batches: the batches for which `claimed` is verified. `take` must have added them.
        """
        aborted = np.unique(_as_aborted(self._transactions.aborted()))
        observed = UncommittedTransactions(aborted, dict(self._transactions.open()))
        is_pending = observed.are_open(batches)
        is_wrong = (observed.are_aborted(batches) != claimed.are_aborted(batches)) & ~is_pending
        is_wrong &= batches["record_count"] > 0  # compaction may empty a batch and drop its marker
        last_offsets = claimed.aborted["last_offset"]
        is_here = (last_offsets >= self._first_offset) & (last_offsets <= self._last_offset)
        is_unknown = any(
            (int(entry["producer_id"]), int(entry["last_offset"])) not in self._abort_markers
            for entry in claimed.aborted[is_here]
        )
        if not is_wrong.any() and not is_unknown:
            return claimed
        later = claimed.aborted[last_offsets > self._last_offset]
        # The markers show how transactions in these batches ended. Only a transaction that is still
        # open after them can be aborted later.
        later = later[np.isin(later["producer_id"], list(observed.open))]
        later["first_offset"] = [
            max(int(entry["first_offset"]), observed.open[int(entry["producer_id"])])
            for entry in later
        ]
        aborted = np.unique(np.concatenate([observed.aborted, later]))
        return UncommittedTransactions(aborted, claimed.open)


def plan_transactions(
    partition: Partition, last_offset: float = inf, first_offset: float = -inf
) -> tuple[UncommittedTransactions, list[Problem]]:
    """Returns the transactions of a topic-partition that overlap a range of offsets.

    Segments before the segment of `first_offset` are not read, because transactions that ended
    there do not overlap the range. If a .txnindex shows that all transactions of the range have
    ended, neither later files nor producer snapshots are read.

    Returns the transactions according to the .txnindex files and producer snapshots, and the files
    that could not be read. The part of the log in the attribute `tail` may show more transactions.
    """
    aborted = [NO_ABORTED]
    problems = []
    gap = next((gap for gap in partition.remote_gaps if gap.first_offset > last_offset), None)
    for place, segment in enumerate(partition.live):
        following = partition.live[place + 1 : place + 2]
        if gap and segment.base_offset > gap.first_offset:
            break
        if segment.txnindex is None or (following and following[0].base_offset <= first_offset):
            continue
        try:
            end_offset = segment.base_offset + MAX_RELATIVE_OFFSET + 1
            entries = _entries(segment, following[0].base_offset if following else end_offset)
        except KafkavizError as fault:
            problems.append(Problem.from_fault(segment.txnindex.path, fault))
            continue
        entries, is_complete = txn_index.collect(entries, first_offset, last_offset + 1)
        aborted.append(_as_aborted(entries))
        if is_complete and not problems:
            return UncommittedTransactions(np.unique(np.concatenate(aborted))), problems
    if gap:
        problems += _problems_of_gap(partition, gap, last_offset)
    if problems:  # the rest can be found only by the markers in the .log
        tail = transaction_tail(partition)
    else:
        tail = _tail_of_active_segment(partition, last_offset)
        tail = tail or _tail_of_newest_snapshot(partition, first_offset, last_offset)
    known = UncommittedTransactions(np.unique(np.concatenate(aborted)), tail=tail)
    return known.in_range(-inf, inf, last_offset), problems


def _problems_of_gap(partition: Partition, gap: RemoteGap, last_offset: float) -> list[Problem]:
    """Returns a problem if an unreadable remote segment may hide a marker that is needed.

    A marker is needed if a transaction with an offset up to `last_offset` is open where the segment
    begins. The producer snapshot at the segment's first offset shows the open transactions. If this
    snapshot is missing or unreadable, the result is empty.
    """
    if gap.first_offset not in partition.snapshots:
        return []
    try:
        open_since = partition.snapshot(gap.first_offset).open_transactions
    except KafkavizError:
        return []
    if is_decided(OpenTransactions(open_since), gap.first_offset, last_offset):
        return []
    return [Problem(gap.path, gap.what, gap.kind)]


def _is_in_transaction(batches: np.ndarray) -> np.ndarray:
    return is_transactional(batches) & ~is_control(batches)


def _entries(segment: Segment, end_offset: float) -> np.ndarray:
    if not segment.txnindex or not segment.txnindex.size_bytes:
        return np.empty(0, txn_index.ENTRY)
    entries = replace(segment).txn_index
    try:
        txn_index.check(entries, segment.base_offset)
        txn_index.check_written(entries, segment.txnindex.size_bytes, end_offset)
    except CorruptBytes as fault:
        raise fault.in_file(segment.txnindex.path) from None
    return entries


def _as_aborted(entries: np.ndarray) -> np.ndarray:
    aborted = np.empty(len(entries), ABORTED)
    for name in field_names(ABORTED):
        aborted[name] = entries[name]
    return aborted


def _tail_of_active_segment(partition: Partition, last_offset: float) -> TransactionTail | None:
    """Returns the active segment as a tail, if no marker in it affects records up to `last_offset`.

    Returns None if one may, or if the segment has no readable snapshot at its base offset. With
    this tail, neither a newer snapshot nor the end of the log has to be read, which saves requests
    to an object store.
    """
    offset = partition.active.base_offset if partition.active else -1
    if offset <= last_offset or offset not in partition.snapshots:
        return None
    with suppress(KafkavizError):
        tail = transaction_tail(partition, offset, partition.snapshot(offset).open_transactions)
        if not tail.decides(last_offset):
            return tail
    return None


def _tail_of_newest_snapshot(
    partition: Partition, first_offset: float, last_offset: float
) -> TransactionTail:
    """Returns the part of the log after the newest readable producer snapshot, or the whole log.

    If the range of offsets is near the end of the log, one request to an object store fetches the
    batches of the range and the end of the log.
    """
    snapshots = partition.snapshots
    active = partition.active
    if not snapshots or active is None:
        return transaction_tail(partition)
    end = None  # no snapshot is after the active segment's base offset
    if max(snapshots) > active.base_offset:
        end = _stored_end_offset(partition, first_offset, last_offset)
        end = end_offset(partition) if end is None else end
    newest = producer_snapshot.find_newest(
        snapshots,
        active.base_offset if end is None else end,
        partition.snapshot,
        unreadable_error=KafkavizError,
    )
    if newest is None:
        return transaction_tail(partition)
    return transaction_tail(partition, *newest, end_offset=end)


def _stored_end_offset(partition: Partition, first_offset: float, last_offset: float) -> int | None:
    """Returns the log end offset if one request for the .log in a store can prove it, else None.

    One request is enough if it can fetch the whole .log, or if the .log ends at the newest producer
    snapshot, as after a clean shutdown.
    """
    active = partition.active
    if active is None:
        return None
    with suppress(CannotOpen):
        with file.reader(active.log.path) as read:
            end = sound_end_offset(active, read)
        if end is not None:
            return end
        if active.base_offset < first_offset and last_offset < inf:
            with open_batch_starts(active, first_offset=first_offset, last_offset=last_offset):
                pass  # entering the with block has fetched the bytes
        newest = max(partition.snapshots)
        return newest if ends_before(active, newest) else None
    return None


def end_offset(partition: Partition) -> int:
    """Returns the log end offset, or -1 without a .log. Does not need a readable .index."""
    active = partition.active
    for segment in (replace(active), replace(active, index=None)) if active else ():
        with suppress(CannotOpen):
            return log_end_offset(segment)
    return -1
