"""Which records of a topic-partition a consumer with isolation.level=read_committed is not given.

Those of aborted transactions, by the .txnindex files, and by the markers in what is read for the
rest: from the newest producer snapshot, which names the transactions open there, to the end of the
log. What is open at the end hides everything from its first offset on, the last stable offset. As a
broker started on these files has it (4.3.1), but for the high watermark, which needs followers.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen, CorruptBytes, KafkavizError
from kafkaviz.format import producer_snapshot, txn_index
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.log.entry_points import (
    chunk_bytes,
    ends_before,
    entry_points,
    sound_end_offset,
)
from kafkaviz.log.partition import Partition, log_end_offset
from kafkaviz.log.resync_scan import HeaderScan, Hole
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.messages import message

# up to the marker
ABORTED: np.dtype = np.dtype([("producer_id", "i8"), ("first_offset", "i8"), ("last_offset", "i8")])
NO_ABORTED = np.empty(0, ABORTED)


@dataclass(frozen=True)
class PartitionTransactions:
    """The aborted transactions, and the open ones.

    Attributes:
        aborted: ABORTED, by producer, then first offset.
    """

    aborted: np.ndarray = field(default_factory=lambda: NO_ABORTED)
    open: dict[int, int] = field(default_factory=dict)

    @property
    def stable_offset(self) -> float:
        """The first offset that is not decided; infinite where all are."""
        return min(self.open.values(), default=inf)

    def in_range(self, first_offset: float, last_offset: float) -> "PartitionTransactions":
        """Those that touch a range of offsets."""
        touches = (self.aborted["last_offset"] >= first_offset) & (
            self.aborted["first_offset"] <= last_offset
        )
        return PartitionTransactions(self.aborted[touches], self.open)

    def are_aborted(self, batches: np.ndarray) -> np.ndarray:
        """Whether the records of each batch (format.batch.BATCH) belong to an aborted transaction.

        A marker belongs to none.
        """
        mask, transactional = np.zeros(len(batches), bool), _is_in_transaction(batches)
        for producer_id in (
            np.unique(batches["producer_id"][transactional]) if len(self.aborted) else ()
        ):
            entries = self.aborted[self.aborted["producer_id"] == producer_id]
            rows = np.flatnonzero(transactional & (batches["producer_id"] == producer_id))
            place = (
                np.searchsorted(entries["first_offset"], batches["base_offset"][rows], "right") - 1
            )
            if len(entries):
                mask[rows] = (place >= 0) & (
                    batches["base_offset"][rows] <= entries["last_offset"][place]
                )
        return mask

    def are_open(self, batches: np.ndarray) -> np.ndarray:
        """Whether the records of each batch belong to an open transaction."""
        mask, transactional = np.zeros(len(batches), bool), _is_in_transaction(batches)
        for producer_id, first_offset in self.open.items():
            mask |= (
                transactional
                & (batches["producer_id"] == producer_id)
                & (batches["base_offset"] >= first_offset)
            )
        return mask


NO_TRANSACTIONS = PartitionTransactions()


def read_transactions(
    partition: Partition, last_offset: float = inf, first_offset: float = -inf
) -> tuple[PartitionTransactions, list[Problem]]:
    """The transactions of a topic-partition that concern offsets from the first to the last one.

    What of them cannot be read is given too. Nothing is read before the segment of the first
    offset, whose markers are the first that can decide about it, nor behind an offset from which on
    no other marker can: where a .txnindex tells that all was decided, no producer snapshot either.
    """
    aborted, problems = [], []
    for place, segment in enumerate(partition.live):
        following = partition.live[place + 1 : place + 2]
        if segment.txnindex is None or (following and following[0].base_offset <= first_offset):
            continue
        try:
            entries = _entries(segment)
        except KafkavizError as fault:
            problems.append(Problem.from_fault(segment.txnindex.path, fault))
            continue
        entries, is_complete = txn_index.collect(entries, first_offset, last_offset + 1)
        aborted.append(_as_aborted(entries))
        if is_complete and not problems:
            return PartitionTransactions(np.unique(np.concatenate(aborted))), problems
    # else the markers of the .log alone say it
    newest = (
        None
        if problems
        else _deciding_snapshot(partition, last_offset)
        or _newest_snapshot(partition, first_offset, last_offset)
    )
    since, open_since = newest or (-1, {})
    open_transactions = OpenTransactions(open_since)
    for place, segment in enumerate(partition.live):
        following = partition.live[place + 1 : place + 2]
        if following and following[0].base_offset <= since:
            continue
        if _is_decided(open_transactions, max(since, segment.base_offset), last_offset):
            break
        try:
            _follow(segment, since, last_offset, open_transactions)
        except TransactionFault as fault:
            what = message(
                "errors.marker_not_taken",
                reason=fault.message or message("errors.marker_unreadable"),
            )
            problems.append(Problem(segment.log.path, what, "file"))  # what it decides nobody knows
        except CannotOpen as fault:
            problems.append(Problem.from_fault(segment.log.path, fault))
    aborted.append(_as_aborted(open_transactions.aborted()))
    return PartitionTransactions(
        np.unique(np.concatenate(aborted)), dict(open_transactions.open())
    ), problems


def _is_in_transaction(batches: np.ndarray) -> np.ndarray:
    return is_transactional(batches) & ~is_control(batches)


def _entries(segment: Segment) -> np.ndarray:
    """The entries of a .txnindex.

    Raises:
        CorruptFile: for one that Kafka refuses to read.
    """
    if not segment.txnindex or not segment.txnindex.size_bytes:
        return np.empty(0, txn_index.ENTRY)
    try:
        return txn_index.ensure_readable(replace(segment).txn_index)
    except CorruptBytes as fault:
        raise fault.in_file(segment.txnindex.path) from None


def _as_aborted(entries: np.ndarray) -> np.ndarray:
    aborted = np.empty(len(entries), ABORTED)
    for name in field_names(ABORTED):
        aborted[name] = entries[name]
    return aborted


def _deciding_snapshot(
    partition: Partition, last_offset: float
) -> tuple[int, dict[int, int]] | None:
    """The producer snapshot of the last roll, where it decides about all up to the last offset.

    None of the transactions open there has any of them, so neither a newer snapshot nor the end of
    the log need be read, each of which is some requests to an object store.
    """
    offset = partition.active.base_offset if partition.active else -1
    if offset <= last_offset or offset not in partition.snapshots:
        return None
    with suppress(KafkavizError):
        open_since = partition.snapshot(offset).open_transactions
        if _is_decided(OpenTransactions(open_since), offset, last_offset):
            return offset, open_since
    return None


def _newest_snapshot(
    partition: Partition, first_offset: float, last_offset: float
) -> tuple[int, dict[int, int]] | None:
    """The offset of the newest producer snapshot that can be read, and what was open there.

    Args:
        first_offset: that will be read, as the last one: a store gives the end of the log by the
            same request, where that is near.
    """
    end = _stored_end_offset(partition, first_offset, last_offset)
    if end is None:
        end = end_offset(partition) if partition.snapshots else -1
    return producer_snapshot.find_newest(
        partition.snapshots, end, partition.snapshot, passed_over=KafkavizError
    )


def _stored_end_offset(partition: Partition, first_offset: float, last_offset: float) -> int | None:
    """The log end offset of a log in a store, where no .index need be asked for it.

    The .log comes whole, or ends at the newest snapshot, as after a clean stop.
    """
    active = partition.active
    if active is None or not partition.snapshots:
        return None
    with suppress(CannotOpen):
        with file.reader(active.log.path) as read:
            end = sound_end_offset(active, read)
        if end is not None:
            return end
        if active.base_offset < first_offset and last_offset < inf:
            with entry_points(active, first_offset=first_offset, last_offset=last_offset):
                pass  # they are here now
        newest = max(partition.snapshots)
        return newest if ends_before(active, newest) else None
    return None


def end_offset(partition: Partition) -> int:
    """The log end offset, without the .index where that cannot be opened; -1 without a .log."""
    active = partition.active
    for segment in (replace(active), replace(active, index=None)) if active else ():
        with suppress(CannotOpen):
            return log_end_offset(segment)
    return -1


def _is_decided(open_transactions: OpenTransactions, offset: int, last_offset: float) -> bool:
    """Whether no marker from an offset on decides about any record up to the last one."""
    return offset > last_offset and all(
        first > last_offset for first in open_transactions.open().values()
    )


def _follow(
    segment: LogSegment, since: int, last_offset: float, open_transactions: OpenTransactions
) -> None:
    """Takes the batches of a segment from an offset on.

    Of large ones the headers alone are read, and the markers.
    """
    with entry_points(segment, is_index_needed=False) as points:
        start = points.position_before_offset(since) if since > segment.base_offset else 0
        for batches in HeaderScan(
            points, start, segment.log.size_bytes, chunk_bytes(points, start)
        ):
            if isinstance(batches, Hole):
                continue
            open_transactions.take(points.read, batches[batches["last_offset"] >= since])
            if len(batches) and _is_decided(
                open_transactions, int(batches["last_offset"][-1]) + 1, last_offset
            ):
                return
