"""The transactions of a segment: begins and ends, as far as the segments around it and its
.txnindex need to know them.

What was begun and committed inside one segment is forgotten at once, so that what is kept grows
with the producers and the aborted transactions, and not with the log. Producer 7 writes at 10,
producer 8 at 20, 8 commits at 25, 7 aborts at 30:

    ("begin", 7, Begun(10)), ("end", 8, Marker(25)), ("end", 7, Marker(30, is_abort, stable_offset
    None))

The commit at 25 stays since it is the first end of producer 8: it may have begun in the segment
before.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.batch_observer import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

ABORT, COMMIT = 0, 1
TYPE_AT, TYPE_END = 2, 4  # in the key of a control record, behind its version


@dataclass(frozen=True)
class TransactionBegin:
    """The first batch of a producer's transaction, and the time of its last one so far."""

    offset: int
    position: int
    last_ms: int


@dataclass(frozen=True)
class TransactionEnd:
    """The end of a transaction, told by a control record.

    stable_offset: where the oldest of the other transactions begins that began in this segment and
    are open here; None without one.
    """

    offset: int
    position: int
    producer_id: int
    is_abort: bool
    stable_offset: int | None = None


TransactionEvent = tuple[str, int, TransactionBegin | TransactionEnd]


class SegmentTransactions(NamedTuple):
    """What is to be kept of a segment's transactions.

    steps: ("begin", producer, TransactionBegin) and ("end", producer, TransactionEnd), in order.
    stable_begins: the offsets among those asked for at which a transaction begins.
    """

    steps: list[TransactionEvent]
    stable_begins: list[int]


class TransactionTracker(BatchObserver[SegmentTransactions]):
    """Follows the transactions of a segment."""

    def __init__(self, log: FileInfo, stable_offsets: Iterable[int]) -> None:
        """stable_offsets: those of the segment's .txnindex."""
        self._log, self._stable_offsets = log, frozenset(stable_offsets)
        self._steps: dict[int, TransactionEvent] = {}
        self._count = 0
        self._open_numbers: dict[int, int] = {}  # the place in _steps where each producer began
        self._ended_producers: set[int] = set()
        self._stable_begins: list[int] = []

    def result(self) -> SegmentTransactions:
        """What is to be kept."""
        return SegmentTransactions(list(self._steps.values()), self._stable_begins)

    def observe(self, batches: np.ndarray) -> None:
        """The next batches; markers among them are read."""
        control = is_control(batches)
        transactional_rows = np.flatnonzero(
            (batches["producer_id"] >= 0) & (control | is_transactional(batches))
        )
        if not len(transactional_rows):
            return
        markers = transactional_rows[control[transactional_rows]]
        first_rows, last_ms = _producer_runs(batches, transactional_rows, control)
        last_ms_by_row = dict(zip(first_rows.tolist(), last_ms.tolist(), strict=True))
        for index in np.sort(np.concatenate((first_rows, markers))).tolist():
            row, producer = batches[index], int(batches["producer_id"][index])
            if index in last_ms_by_row:
                self._begin(row, producer, last_ms_by_row[index])
            else:
                self._end(row, producer)

    def _begin(self, row: np.void, producer: int, last_ms: int) -> None:
        number, offset = self._open_numbers.get(producer), int(row["base_offset"])
        if number is not None:
            kind, _, step = self._steps[number]
            begin = cast(TransactionBegin, step)
            self._steps[number] = (
                kind,
                producer,
                replace(begin, last_ms=max(begin.last_ms, last_ms)),
            )
            return
        self._open_numbers[producer] = self._keep(
            "begin", producer, TransactionBegin(offset, int(row["position"]), last_ms)
        )
        if offset in self._stable_offsets:
            self._stable_begins.append(offset)

    def _end(self, row: np.void, producer: int) -> None:
        marker_type = self._marker_type(row)
        if marker_type is None:
            return
        begin_number, is_first = (
            self._open_numbers.pop(producer, None),
            producer not in self._ended_producers,
        )
        self._ended_producers.add(producer)
        if marker_type == COMMIT and begin_number is not None:
            del self._steps[begin_number]
        if marker_type == ABORT or is_first:
            stable_offset = (
                min(
                    (self._steps[number][2].offset for number in self._open_numbers.values()),
                    default=None,
                )
                if marker_type == ABORT
                else None
            )
            marker = TransactionEnd(
                int(row["base_offset"]),
                int(row["position"]),
                producer,
                marker_type == ABORT,
                stable_offset,
            )
            self._keep("end", producer, marker)

    def _keep(self, kind: str, producer: int, step: TransactionBegin | TransactionEnd) -> int:
        self._count += 1
        self._steps[self._count] = kind, producer, step
        return self._count

    def _marker_type(self, row: np.void) -> int | None:
        """What a marker says, None where it says something else."""
        try:
            data = file.read(self._log.path, int(row["position"]), int(row["size_bytes"]))
            first = next(batch_records.iterate(data), None)
        except KafkavizError:
            return None
        key = (first.key if first else None) or b""
        marker_type = int.from_bytes(key[TYPE_AT:TYPE_END], "big")
        return marker_type if len(key) >= TYPE_END and marker_type in (ABORT, COMMIT) else None


def _producer_runs(
    batches: np.ndarray, transactional_rows: np.ndarray, control: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the first row, the largest time) of what each producer wrote between two of its markers."""
    by_producer = transactional_rows[
        np.argsort(batches["producer_id"][transactional_rows], kind="stable")
    ]
    marker_counts = np.cumsum(control[by_producer])
    data = ~control[by_producer]
    rows, marker_counts = by_producer[data], marker_counts[data]
    if not len(rows):
        return rows, rows
    starts = np.flatnonzero(
        (np.diff(marker_counts, prepend=-1) != 0)
        | (np.diff(batches["producer_id"][rows], prepend=-1) != 0)
    )
    return rows[starts], np.maximum.reduceat(batches["max_timestamp_ms"][rows], starts)
