"""The work list of a run: many small segments packed into one task, a big one cut where its index
proves a batch starts.

Segments of 40, 50 and 30 MiB become one task; one of 1 GiB becomes four of 256 MiB, each from an
indexed batch to an indexed batch. The index may be wrong, so the planner looks at each place first,
and the scan of a stretch must end exactly where the next one begins: else that segment is read
again in one piece.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import HEADER_BYTES, LEAST_LENGTH, LENGTH_END, rows
from kafkaviz.log import file
from kafkaviz.log.segment import Segment

if TYPE_CHECKING:
    from kafkaviz.pipeline.checking import Load

# of .log a task, which costs Spark about as much as reading 100 MiB
MOST_BYTES, LEAST_BYTES = 256 << 20, 128 << 20
TASKS_A_CORE = 3  # so that all cores end at about the same time
# opening the files of a segment takes as long as reading so much more
SEGMENT_COST_BYTES = 256 << 10
TRIES = 16  # entries looked at around each place for a cut


@dataclass(frozen=True)
class Wanted:
    """A segment to read: its number in this run, and whose it is.

    facts: what its checks go by; None where it is not checked. only_checked: its rows are known.
    swept: whether a sweep is wanted.
    """

    number: int
    broker: str
    topic: str
    partition: int
    segment: Segment
    facts: Facts | None = None
    only_checked: bool = False
    swept: bool = False

    @property
    def log_bytes(self) -> int:
        """The size of its .log, 0 without one."""
        return self.segment.log.size_bytes if self.segment.log else 0


@dataclass(frozen=True)
class Stretch:
    """A segment's .log from one byte to another; that from byte 0 has the indexes and the checks
    with it.
    """

    wanted: Wanted
    start: int
    stop: int

    @property
    def is_whole(self) -> bool:
        """Whether no other stretch belongs to the same segment."""
        return self.start == 0 and self.stop == self.wanted.log_bytes


@dataclass(frozen=True)
class Task:
    """What one Spark task reads, in order."""

    number: int
    stretches: tuple[Stretch, ...]

    @property
    def log_bytes(self) -> int:
        """The bytes of .log in it."""
        return sum(stretch.stop - stretch.start for stretch in self.stretches)


@dataclass(frozen=True)
class LoadTask:
    """What one Spark task foretells: what a start would do to some logs."""

    loads: tuple["Load", ...]
    # as of a Task; what a load reads of a .log, a task with its segment in it has read
    log_bytes: int = 0


def load_tasks(loads: Sequence["Load"], cores: int) -> list[LoadTask]:
    """The tasks that load these logs: few of large ones, many of small ones, so that all take about
    as long.
    """
    costs = [_load_cost(load) for load in loads]
    target = min(max(sum(costs) // (cores * TASKS_A_CORE), LEAST_BYTES), MOST_BYTES)
    tasks: list[list[Load]] = []
    left = 0
    for load, cost in zip(loads, costs, strict=True):
        if not tasks or cost > left:
            tasks.append([])
            left = target
        tasks[-1].append(load)
        left -= cost
    return [LoadTask(tuple(task)) for task in tasks]


def plan(wanted: Sequence[Wanted], cores: int) -> list[Task]:
    """The tasks that read these segments; every byte of every .log is in exactly one.

    A segment longer than a task is cut into equal pieces, so none is shorter than half a task: 64
    MiB.
    """
    total_bytes = sum(one.log_bytes for one in wanted)
    target_bytes = min(max(total_bytes // (cores * TASKS_A_CORE), LEAST_BYTES), MOST_BYTES)
    return [
        Task(number, tuple(stretches))
        for number, stretches in enumerate(_packed(wanted, target_bytes))
    ]


def in_one_piece(wanted: Iterable[Wanted]) -> list[Task]:
    """A task a segment, none cut."""
    return [Task(number, (Stretch(one, 0, one.log_bytes),)) for number, one in enumerate(wanted)]


def cuts(segment: Segment, target_bytes: int) -> list[int]:
    """Where to cut a .log, at most about target_bytes apart: positions of index entries that a look
    at the .log does not refute.
    """
    if segment.log is None or segment.index is None:
        return []
    pieces = ceil(segment.log.size_bytes / target_bytes)
    goals = [segment.log.size_bytes * piece // pieces for piece in range(1, pieces)]
    entries = _entries(segment) if goals else np.empty(0)
    found = [_first_start(segment, entries, goal) for goal in goals if len(entries)]
    return sorted({position for position in found if position is not None})


def _load_cost(load: "Load") -> int:
    """About the bytes that a start reads: of the segments that it would recover, and something for
    each that it opens.
    """
    live = load.log.partition.live
    read = (
        []
        if load.clean
        else [
            one.log.size_bytes
            for one in live
            if one.base_offset >= load.log.recovery_point or one is live[-1]
        ]
    )
    return SEGMENT_COST_BYTES * (1 + len(live)) + sum(read)


def _packed(wanted: Iterable[Wanted], target_bytes: int) -> Iterator[list[Stretch]]:
    """Small segments together, in order; the stretches of one that was cut alone, so that their
    files can be dropped alone.
    """
    together: list[Stretch] = []
    cost = 0
    for one in wanted:
        edges = [0, *([] if one.only_checked else cuts(one.segment, target_bytes)), one.log_bytes]
        if len(edges) > 2:
            yield from ([Stretch(one, start, stop)] for start, stop in pairwise(edges))
            continue
        if together and cost + one.log_bytes + SEGMENT_COST_BYTES > target_bytes:
            yield together
            together, cost = [], 0
        together.append(Stretch(one, 0, one.log_bytes))
        cost += one.log_bytes + SEGMENT_COST_BYTES
    if together:
        yield together


def _entries(segment: Segment) -> np.ndarray:
    """The index's entries by position; read of a copy, since a segment keeps what it reads and this
    one will be sent to a worker.
    """
    try:
        entries = replace(segment).offset_index
    except CannotOpen:
        return np.empty(0)
    return entries[np.argsort(entries["position"], kind="stable")]


def _first_start(segment: Segment, entries: np.ndarray, goal: int) -> int | None:
    """The first entry from the goal on whose position looks like the start of its batch."""
    first = int(np.searchsorted(entries["position"], goal))
    for entry in entries[first : first + TRIES]:
        if _looks_like_start(segment, int(entry["position"]), int(entry["offset"])):
            return int(entry["position"])
    return None


def _looks_like_start(segment: Segment, position: int, offset: int) -> bool:
    """Whether a whole batch could begin at this byte, one that does not begin behind the entry's
    offset.
    """
    try:
        header = file.read(segment.log.path, position, HEADER_BYTES)
    except CannotOpen:
        return False
    if len(header) < HEADER_BYTES:
        return False
    batch = rows(np.array([position]), np.frombuffer(header, np.uint8).reshape(1, -1))[0]
    fits = LENGTH_END + LEAST_LENGTH <= batch["size_bytes"] <= segment.log.size_bytes - position
    return bool(fits and 0 <= batch["magic"] <= 2 and batch["base_offset"] <= offset)
