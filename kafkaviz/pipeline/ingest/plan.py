"""The work list of a run.

Many small segments packed into one task, a big one cut where its index proves a batch starts.

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

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import HEADER_BYTES, LENGTH_END, MIN_LENGTH, rows
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment, Segment

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.ingest_checks import LogLoad

# of .log a task, which costs Spark about as much as reading 100 MiB
MOST_BYTES, LEAST_BYTES = 256 << 20, 128 << 20
TASKS_A_CORE = 3  # so that all cores end at about the same time
# opening the files of a segment takes as long as reading so much more
SEGMENT_COST_BYTES = 256 << 10
TRIES = 16  # entries looked at around each place for a cut


@dataclass(frozen=True)
class SegmentTask:
    """A segment to read: its number in this run, and whose it is.

    Attributes:
        facts: what its checks go by; None where nothing is found about it.
        skips_rows: its rows are known.
        needs_sweep: whether a sweep is wanted.
    """

    number: int
    broker: str
    topic: str
    partition: int
    segment: Segment
    facts: PartitionFacts | None = None
    skips_rows: bool = False
    needs_sweep: bool = False

    @property
    def log_bytes(self) -> int:
        """The size of its .log, 0 without one."""
        return self.segment.log.size_bytes if self.segment.log else 0

    @property
    def is_checked(self) -> bool:
        """Whether its .log is read by its checks: as one piece then, batch by batch."""
        return self.facts is not None and self.segment.is_in_use and self.segment.log is not None

    @property
    def is_divisible(self) -> bool:
        """Whether its .log may be read in pieces."""
        return not (self.skips_rows or self.is_checked or self.needs_sweep)


@dataclass(frozen=True)
class SegmentRange:
    """A segment's .log from one byte to another.

    That from byte 0 has the indexes and the checks with it.
    """

    segment_task: SegmentTask
    start: int
    stop: int


@dataclass(frozen=True)
class IngestTask:
    """What one Spark task reads, in order."""

    number: int
    ranges: tuple[SegmentRange, ...]

    @property
    def log_bytes(self) -> int:
        """The bytes of .log in it."""
        return sum(segment_range.stop - segment_range.start for segment_range in self.ranges)


@dataclass(frozen=True)
class LoadTask:
    """What one Spark task predicts: what a start would do to some logs."""

    loads: tuple["LogLoad", ...]
    # as of an IngestTask; what a load reads of a .log, a task with its segment in it has read
    log_bytes: int = 0


def load_tasks(loads: Sequence["LogLoad"], cores: int) -> list[LoadTask]:
    """The tasks that load these logs.

    Few of large ones, many of small ones, so that all take about as long.
    """
    costs = [_load_cost(load) for load in loads]
    target = min(max(sum(costs) // (cores * TASKS_A_CORE), LEAST_BYTES), MOST_BYTES)
    tasks: list[list[LogLoad]] = []
    remaining = 0
    for load, cost in zip(loads, costs, strict=True):
        if not tasks or cost > remaining:
            tasks.append([])
            remaining = target
        tasks[-1].append(load)
        remaining -= cost
    return [LoadTask(tuple(task)) for task in tasks]


def plan(segment_tasks: Sequence[SegmentTask], cores: int) -> list[IngestTask]:
    """The tasks that read these segments; every byte of every .log is in exactly one.

    A segment longer than a task is cut into equal pieces, so none is shorter than half a task: 64
    MiB.
    """
    total_bytes = sum(task.log_bytes for task in segment_tasks)
    target_bytes = min(max(total_bytes // (cores * TASKS_A_CORE), LEAST_BYTES), MOST_BYTES)
    return [
        IngestTask(number, tuple(ranges))
        for number, ranges in enumerate(_pack(segment_tasks, target_bytes))
    ]


def tasks_per_segment(segment_tasks: Iterable[SegmentTask]) -> list[IngestTask]:
    """A task a segment, none cut."""
    return [
        IngestTask(number, (SegmentRange(segment_task, 0, segment_task.log_bytes),))
        for number, segment_task in enumerate(segment_tasks)
    ]


def cuts(segment: Segment, target_bytes: int) -> list[int]:
    """Where to cut a .log, at most about target_bytes apart.

    Positions of index entries that a look at the .log does not refute.
    """
    if not isinstance(segment, LogSegment) or segment.index is None:
        return []
    pieces = ceil(segment.log.size_bytes / target_bytes)
    goals = [segment.log.size_bytes * piece // pieces for piece in range(1, pieces)]
    entries = _entries(segment) if goals else np.empty(0)
    positions = [_first_start(segment, entries, goal) for goal in goals if len(entries)]
    return sorted({position for position in positions if position is not None})


def _load_cost(load: "LogLoad") -> int:
    """About the bytes that a start reads.

    Of the segments that it would recover, and something for each that it opens.
    """
    live = load.log.partition.live
    sizes = (
        []
        if load.clean
        else [
            segment.log.size_bytes
            for segment in live
            if segment.base_offset >= load.log.recovery_point or segment is live[-1]
        ]
    )
    return SEGMENT_COST_BYTES * (1 + len(live)) + sum(sizes)


def _pack(segment_tasks: Iterable[SegmentTask], target_bytes: int) -> Iterator[list[SegmentRange]]:
    """Small segments together, in order.

    The stretches of one that was cut alone, so that their files can be dropped alone.
    """
    group: list[SegmentRange] = []
    cost = 0
    for segment_task in segment_tasks:
        edges = [
            0,
            *(cuts(segment_task.segment, target_bytes) if segment_task.is_divisible else []),
            segment_task.log_bytes,
        ]
        if len(edges) > 2:
            yield from (
                [SegmentRange(segment_task, start, stop)] for start, stop in pairwise(edges)
            )
            continue
        if group and cost + segment_task.log_bytes + SEGMENT_COST_BYTES > target_bytes:
            yield group
            group, cost = [], 0
        group.append(SegmentRange(segment_task, 0, segment_task.log_bytes))
        cost += segment_task.log_bytes + SEGMENT_COST_BYTES
    if group:
        yield group


def _entries(segment: Segment) -> np.ndarray:
    """The index's entries by position.

    Read of a copy, since a segment keeps what it reads and this one will be sent to a worker.
    """
    try:
        entries = replace(segment).offset_index
    except CannotOpen:
        return np.empty(0)
    return entries[np.argsort(entries["position"], kind="stable")]


def _first_start(segment: LogSegment, entries: np.ndarray, goal: int) -> int | None:
    """The first entry from the goal on whose position looks like the start of its batch."""
    first = int(np.searchsorted(entries["position"], goal))
    for entry in entries[first : first + TRIES]:
        if _looks_like_start(segment, int(entry["position"]), int(entry["offset"])):
            return int(entry["position"])
    return None


def _looks_like_start(segment: LogSegment, position: int, offset: int) -> bool:
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
    fits = LENGTH_END + MIN_LENGTH <= batch["size_bytes"] <= segment.log.size_bytes - position
    return bool(fits and 0 <= batch["magic"] <= 2 and batch["base_offset"] <= offset)
