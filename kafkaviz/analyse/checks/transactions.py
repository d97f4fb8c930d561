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
from typing import cast

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import is_transactional
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

ABORT, COMMIT = 0, 1
TYPE_AT, TYPE_END = 2, 4  # in the key of a control record, behind its version


@dataclass(frozen=True)
class Begun:
    """The first batch of a producer's transaction, and the time of its last one so far."""

    offset: int
    position: int
    last_ms: int


@dataclass(frozen=True)
class Marker:
    """The end of a transaction, told by a control record.

    stable_offset: where the oldest of the other transactions begins that began in this segment and
    are open here; None without one.
    """

    offset: int
    position: int
    producer_id: int
    is_abort: bool
    stable_offset: int | None = None


Event = tuple[str, int, Begun | Marker]


class Transactions:
    """Takes the batches of a segment in order; .steps() gives what is to be kept of them.

    stable_begins: the offsets among those asked for at which a transaction begins.
    """

    def __init__(self, log: FileInfo, stable_offsets: Iterable[int]) -> None:
        """stable_offsets: those of the segment's .txnindex."""
        self._log, self._asked = log, frozenset(stable_offsets)
        self._steps: dict[int, Event] = {}
        self._count = 0
        self._open: dict[int, int] = {}  # the place in _steps where each producer began
        self._ended: set[int] = set()
        self.stable_begins: list[int] = []

    def steps(self) -> list[Event]:
        """("begin", producer, Begun) and ("end", producer, Marker), in order."""
        return list(self._steps.values())

    def add(self, batches: np.ndarray, control: np.ndarray) -> None:
        """The next batches; control: which of them hold a marker."""
        concerned = np.flatnonzero(
            (batches["producer_id"] >= 0) & (control | is_transactional(batches))
        )
        if not len(concerned):
            return
        markers = concerned[control[concerned]]
        firsts, last_ms = _written(batches, concerned, control)
        begun = dict(zip(firsts.tolist(), last_ms.tolist(), strict=True))
        for at in np.sort(np.concatenate((firsts, markers))).tolist():
            row, producer = batches[at], int(batches["producer_id"][at])
            if at in begun:
                self._begin(row, producer, begun[at])
            else:
                self._end(row, producer)

    def _begin(self, row: np.void, producer: int, last_ms: int) -> None:
        place, offset = self._open.get(producer), int(row["base_offset"])
        if place is not None:
            kind, _, step = self._steps[place]
            begun = cast(Begun, step)
            self._steps[place] = kind, producer, replace(begun, last_ms=max(begun.last_ms, last_ms))
            return
        self._open[producer] = self._keep(
            "begin", producer, Begun(offset, int(row["position"]), last_ms)
        )
        if offset in self._asked:
            self.stable_begins.append(offset)

    def _end(self, row: np.void, producer: int) -> None:
        kind = self._kind(row)
        if kind is None:
            return
        begun, is_first = self._open.pop(producer, None), producer not in self._ended
        self._ended.add(producer)
        if kind == COMMIT and begun is not None:
            del self._steps[begun]
        if kind == ABORT or is_first:
            stable = (
                min((self._steps[place][2].offset for place in self._open.values()), default=None)
                if kind == ABORT
                else None
            )
            marker = Marker(
                int(row["base_offset"]), int(row["position"]), producer, kind == ABORT, stable
            )
            self._keep("end", producer, marker)

    def _keep(self, kind: str, producer: int, step: Begun | Marker) -> int:
        self._count += 1
        self._steps[self._count] = kind, producer, step
        return self._count

    def _kind(self, row: np.void) -> int | None:
        """What a marker says, None where it says something else."""
        try:
            data = file.read(self._log.path, int(row["position"]), int(row["size_bytes"]))
            first = next(batch_records.iterate(data), None)
        except KafkavizError:
            return None
        key = (first.key if first else None) or b""
        kind = int.from_bytes(key[TYPE_AT:TYPE_END], "big")
        return kind if len(key) >= TYPE_END and kind in (ABORT, COMMIT) else None


def _written(
    batches: np.ndarray, concerned: np.ndarray, control: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the first row, the largest time) of what each producer wrote between two of its markers."""
    by_producer = concerned[np.argsort(batches["producer_id"][concerned], kind="stable")]
    marked = np.cumsum(control[by_producer])
    data = ~control[by_producer]
    rows, marked = by_producer[data], marked[data]
    if not len(rows):
        return rows, rows
    starts = np.flatnonzero(
        (np.diff(marked, prepend=-1) != 0)
        | (np.diff(batches["producer_id"][rows], prepend=-1) != 0)
    )
    return rows[starts], np.maximum.reduceat(batches["max_timestamp_ms"][rows], starts)
