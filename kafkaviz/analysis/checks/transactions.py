"""The transactions of a segment that the checks of .txnindex and of other segments need.

For example, producer 7 begins a transaction at offset 10, and producer 8 at 20. Producer 8 commits
at 25. Producer 7 aborts at 30. These steps are kept:

    ("begin", 7, TransactionBegin(10))
    ("end", 8, TransactionEnd(25))
    ("end", 7, TransactionEnd(30, is_abort, stable_offset None))

A commit is kept only if it is the first by its producer, because its transaction may have begun in
an earlier segment. So memory grows with the producers and aborts, not with the log.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import KafkavizError
from kafkaviz.format import open_transactions
from kafkaviz.format.batch import HEADER_BYTES, is_control, is_transactional
from kafkaviz.format.control import ControlType
from kafkaviz.format.open_transactions import (
    OpenTransactions,
    TransactionBegin,
    TransactionFault,
    transaction_rows,
)
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo


@dataclass(frozen=True)
class TransactionEnd:
    """The end of a transaction, from a control record.

    Attributes:
        stable_offset: the first offset of the oldest transaction that is open after an abort and
            began in this segment; None: no such transaction, or a commit.
    """

    offset: int
    position: int
    producer_id: int
    is_abort: bool
    stable_offset: int | None = None


TransactionEvent = tuple[str, int, TransactionBegin | TransactionEnd]


class SegmentTransactions(NamedTuple):
    """The kept transactions of a segment.

    Attributes:
        steps: ("begin", producer id, TransactionBegin) or ("end", producer id, TransactionEnd).
        stable_begins: the .txnindex's last stable offsets at which a transaction begins.
        aborted_bytes: the size of the data batches that markers of this segment abort, without
            headers.
        open_bytes: (producer id, size of the data batches after its last marker, without headers).
    """

    steps: list[TransactionEvent]
    stable_begins: list[int]
    aborted_bytes: int
    open_bytes: list[tuple[int, int]]


class TransactionTracker(BatchObserver[SegmentTransactions]):
    def __init__(self, log: FileInfo, stable_offsets: Iterable[int]) -> None:
        self._log = log
        self._stable_offsets = frozenset(stable_offsets)
        self._steps: dict[int, TransactionEvent] = {}  # by position of the batch
        self._transactions = OpenTransactions()
        self._ended_producers: set[int] = set()
        self._stable_begins: list[int] = []
        self._aborted_bytes = 0
        self._open_bytes: dict[int, int] = defaultdict(int)

    def result(self) -> SegmentTransactions:
        return SegmentTransactions(
            list(self._steps.values()),
            self._stable_begins,
            self._aborted_bytes,
            [(producer, size) for producer, size in self._open_bytes.items() if size],
        )

    def observe(self, batches: np.ndarray) -> None:
        rows = list(transaction_rows(batches))
        marker_rows = [index for index, last_ms in rows if last_ms is None]
        kinds = dict(zip(marker_rows, self._marker_kinds(batches[marker_rows]), strict=True))
        self._count_bytes(batches, kinds)
        for index, last_ms in rows:
            row = batches[index]
            producer = int(batches["producer_id"][index])
            if last_ms is not None:
                begin = TransactionBegin(int(row["base_offset"]), int(row["position"]), last_ms)
                open_begin = self._transactions.begin(producer, begin)
                if open_begin is begin and begin.offset in self._stable_offsets:
                    self._stable_begins.append(begin.offset)
                self._steps[open_begin.position] = "begin", producer, open_begin
            elif (kind := kinds[index]) is not None:
                self._end(row, producer, kind)

    def _count_bytes(self, batches: np.ndarray, kinds: Mapping[int, ControlType | None]) -> None:
        is_data = is_transactional(batches) & ~is_control(batches)
        rows = np.flatnonzero(is_data)
        rows = np.sort(
            np.concatenate([rows, [row for row, kind in kinds.items() if kind is not None]])
        )
        rows = rows.astype(np.intp)
        rows = rows[np.argsort(batches["producer_id"][rows], kind="stable")]
        if not len(rows):
            return
        producers = batches["producer_id"][rows]
        is_marker = ~is_data[rows]
        # cut the rows after each marker and after the last row of each producer
        ends = np.flatnonzero(is_marker | np.append(np.diff(producers) != 0, True))
        sizes = np.where(is_marker, 0, batches["size_bytes"][rows] - HEADER_BYTES)
        part_bytes = np.add.reduceat(sizes, np.concatenate(([0], ends[:-1] + 1)))
        for end, size in zip(ends.tolist(), part_bytes.tolist(), strict=True):
            producer = int(producers[end])
            self._open_bytes[producer] += size
            if is_marker[end]:
                ended_bytes = self._open_bytes.pop(producer)
                if kinds[int(rows[end])] == ControlType.ABORT:
                    self._aborted_bytes += ended_bytes

    def _end(self, row: np.void, producer: int, kind: ControlType) -> None:
        begin = self._transactions.end(producer)
        is_first = producer not in self._ended_producers
        self._ended_producers.add(producer)
        is_abort = kind == ControlType.ABORT
        if begin and not is_abort:
            del self._steps[begin.position]
        if is_abort or is_first:
            offset = int(row["base_offset"])
            position = int(row["position"])
            stable_offset = self._transactions.first_offset() if is_abort else None
            marker = TransactionEnd(offset, position, producer, is_abort, stable_offset)
            self._steps[position] = "end", producer, marker

    def _marker_kinds(self, markers: np.ndarray) -> list[ControlType | None]:
        if not len(markers):
            return []
        with file.reader(self._log.path) as read:
            return [_marker_kind(read, marker) for marker in markers]


def _marker_kind(read: ReadInto, marker: np.void) -> ControlType | None:
    if not marker["record_count"]:
        return None
    try:
        kind = open_transactions.marker(read, marker, 0).kind
    except (KafkavizError, TransactionFault):
        return None
    is_end = kind in (ControlType.ABORT, ControlType.COMMIT)
    return ControlType(kind) if is_end else None
