"""Plans the tasks of a run.

Small segments share a task, and a large one is split at batches that its index points to: 1 GiB
becomes four tasks of 256 MiB. The index may be wrong, so a complete batch must begin at each split
(log/entry_points.py), and the scan of a split must end exactly where the next one begins. Otherwise
the segment is read again as a whole.

A segment that is checked is one task. If it is compressed and would keep one core busy after all
others are done, its batches are decoded in splits first (decoded_batches.py). The most expensive
task comes first.
"""

import pickle
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.entry_points import entry_points
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.pipeline.ingest.compaction import MergeTask
from kafkaviz.pipeline.ingest.decoded_batches import DecodedSplit, DecodeTask
from kafkaviz.pipeline.ingest.task_cost import check_cost

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.ingest_checks import LogStartup

Item = TypeVar("Item")

# Bytes of .log per task. Starting a task costs Spark about as much as reading 100 MiB, and its
# worker more, so smaller tasks share one.
MAX_BYTES = 256 << 20
MIN_BYTES = 128 << 20
TASKS_A_CORE = 3  # several tasks per core, so that all cores end at about the same time
# opening the files of a segment costs as much as reading this many bytes
SEGMENT_COST_BYTES = 256 << 10
# A segment is decoded in splits only if a byte costs more than two of uncompressed .log, because
# results of batches must be transferred.
DIVIDED_FROM_COST = 2


@dataclass(frozen=True, kw_only=True)
class SegmentTask:
    """A segment to read, with its number in this run and its owner.

    Attributes:
        facts: the facts for its checks, or None without checks.
        skips_rows: whether its rows are already known.
        needs_sweep: whether a sweep is required.
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
        """The size of its .log, or 0 without one."""
        return self.segment.log.size_bytes if self.segment.log else 0

    @property
    def is_checked(self) -> bool:
        """Whether its checks read its .log; it is then one split."""
        return self.facts is not None and self.segment.is_in_use and self.segment.log is not None

    @property
    def is_decoded(self) -> bool:
        return self.is_checked and self.facts is not None and self.facts.level == CheckLevel.RECORDS

    @property
    def is_divisible(self) -> bool:
        """Whether its .log may be read in splits."""
        return not (self.skips_rows or self.is_checked or self.needs_sweep)


@dataclass(frozen=True)
class SegmentSplit:
    """A byte range of a segment's .log.

    The split at byte 0 also includes the indexes and the checks.

    Attributes:
        decoded: the splits in which other tasks have decoded all its batches.
    """

    segment_task: SegmentTask
    start: int
    stop: int
    decoded: tuple[DecodedSplit, ...] = ()

    @property
    def log_bytes(self) -> int:
        """The bytes of .log that are read for it."""
        return 0 if self.decoded else self.stop - self.start

    @property
    def is_partial(self) -> bool:
        """Whether other splits have the rest of the segment."""
        return (self.start, self.stop) != (0, self.segment_task.log_bytes)


@dataclass(frozen=True)
class IngestTask:
    """The splits that one Spark task reads, in order."""

    number: int
    splits: tuple[SegmentSplit, ...]
    cost: int = 0

    @property
    def log_bytes(self) -> int:
        return sum(split.log_bytes for split in self.splits)


@dataclass(frozen=True)
class StartupTask:
    """The logs for which one Spark task predicts the effect of a start."""

    loads: tuple["LogStartup", ...]
    cost: int = 0
    # 0, because a task with its segment has read these bytes; see IngestTask
    log_bytes: int = 0


Task = IngestTask | DecodeTask | StartupTask | MergeTask


@dataclass(frozen=True)
class PackedTask:
    """A task in the form that is sent to a worker.

    A task with 500 small segments takes about 30 KB packed, and 1 MB as objects.
    """

    cost: int
    log_bytes: int
    data: bytes

    def unpack(self) -> Task:
        return pickle.loads(zlib.decompress(self.data))


AnyTask = TypeVar("AnyTask", Task, PackedTask)


def pack(task: Task) -> PackedTask:
    return PackedTask(task.cost, task.log_bytes, zlib.compress(pickle.dumps(task)))


def load_tasks(loads: Iterable["LogStartup"], cores: int) -> Iterator[StartupTask]:
    """Yields tasks that load these logs, grouped so that all take about as long.

    Args:
        loads: the loads; they are iterated twice.
    """
    costs = array("q", map(_load_cost, loads))
    target = min(max(sum(costs) // (cores * TASKS_A_CORE), MIN_BYTES), MAX_BYTES)
    for group, cost in pack_by_cost(zip(loads, costs, strict=True), target):
        yield StartupTask(tuple(group), cost)


def plan(segment_tasks: Iterable[SegmentTask], cores: int) -> Iterator[IngestTask | DecodeTask]:
    """Yields the tasks that read these segments; each byte of a .log is in exactly one.

    A segment larger than a task is split equally, so each split is at least half a task: 64 MiB. A
    segment that is decoded in splits is read from these after all tasks have ended.

    Args:
        segment_tasks: the segments; they are iterated twice.
    """
    costs = array("q", map(_task_cost, segment_tasks))
    share = max(sum(costs) // (cores * TASKS_A_CORE), MIN_BYTES)
    decode_tasks: list[DecodeTask] = []

    def undivided() -> Iterator[tuple[SegmentTask, int]]:
        for segment_task, cost in zip(segment_tasks, costs, strict=True):
            divided = _decode_tasks(segment_task, cost, share)
            decode_tasks.extend(divided)
            if not divided:
                yield segment_task, cost

    for number, (splits, cost) in enumerate(_group_splits(undivided(), min(share, MAX_BYTES))):
        yield IngestTask(number, tuple(splits), cost)
    yield from decode_tasks


def pack_by_cost(
    items: Iterable[tuple[Item, int]], target_cost: int
) -> Iterator[tuple[list[Item], int]]:
    """Groups items in order; a group costs at most the target, unless it is a single item.

    Yields:
        A group and its cost.
    """
    group: list[Item] = []
    group_cost = 0
    for item, cost in items:
        if group and group_cost + cost > target_cost:
            yield group, group_cost
            group = []
            group_cost = 0
        group.append(item)
        group_cost += cost
    if group:
        yield group, group_cost


def sort_by_cost(tasks: Iterable[AnyTask]) -> list[AnyTask]:
    """Sorts tasks, most expensive first, so that no long task starts near the end."""
    return sorted(tasks, key=lambda task: -task.cost)


def tasks_per_segment(
    segment_tasks: Iterable[SegmentTask],
    decoded: Mapping[int, tuple[DecodedSplit, ...]] = MappingProxyType({}),
) -> Iterator[IngestTask]:
    """Yields one task per segment, without splits.

    Args:
        decoded: the splits in which others have decoded a segment, by its number.
    """
    for number, segment_task in enumerate(segment_tasks):
        splits = decoded.get(segment_task.number, ())
        # all but the rows of a decoded segment is done
        cost = segment_task.log_bytes if splits else _task_cost(segment_task)
        yield IngestTask(
            number, (SegmentSplit(segment_task, 0, segment_task.log_bytes, splits),), cost
        )


def cuts(segment: Segment, target_bytes: int) -> list[int]:
    """Returns where to split a .log, about target_bytes apart, at verified index entries."""
    if not isinstance(segment, LogSegment) or segment.index is None:
        return []
    size_bytes = segment.log.size_bytes
    count = ceil(size_bytes / target_bytes)
    goals = [size_bytes * number // count for number in range(1, count)]
    if not goals:
        return []
    try:
        with entry_points(segment) as points:
            positions = [points.find_first(goal, size_bytes) for goal in goals]
    except CannotOpen:
        return []
    return sorted({position for position in positions if position is not None})


def _load_cost(load: "LogStartup") -> int:
    """Returns about how many bytes a start reads.

    These are the segments that it would recover, and a fixed cost for each segment it opens.
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


def _task_cost(segment_task: SegmentTask) -> int:
    """Returns the cost of reading a segment, in bytes of uncompressed .log."""
    segment = segment_task.segment
    if segment_task.is_decoded and isinstance(segment, LogSegment):
        return check_cost(segment)
    return segment_task.log_bytes


def _decode_tasks(segment_task: SegmentTask, cost: int, share: int) -> list[DecodeTask]:
    """Returns the splits of a compressed segment whose checks cost more than a task's share.

    It is empty if the segment is not split.
    """
    log_bytes = segment_task.log_bytes
    segment = segment_task.segment
    if not segment_task.is_decoded or cost <= max(share, DIVIDED_FROM_COST * log_bytes):
        return []
    inner_edges = cuts(segment, max(1, log_bytes * share // cost))
    if not inner_edges or segment.log is None:
        return []
    return [
        DecodeTask(
            segment_task.number, segment.log.path, start, stop, cost * (stop - start) // log_bytes
        )
        for start, stop in pairwise([0, *inner_edges, log_bytes])
    ]


def _group_splits(
    segment_tasks: Iterable[tuple[SegmentTask, int]], target: int
) -> Iterator[tuple[list[SegmentSplit], int]]:
    """Groups small segments in order, then yields each split of a large segment alone.

    Files of a task with a single split can be dropped separately. Each group comes with its cost.
    """
    cut: list[SegmentSplit] = []

    def uncut() -> Iterator[tuple[SegmentSplit, int]]:
        for segment_task, cost in segment_tasks:
            inner_edges = cuts(segment_task.segment, target) if segment_task.is_divisible else []
            splits = [
                SegmentSplit(segment_task, start, stop)
                for start, stop in pairwise([0, *inner_edges, segment_task.log_bytes])
            ]
            if inner_edges:
                cut.extend(splits)
            else:
                yield splits[0], cost + SEGMENT_COST_BYTES

    yield from pack_by_cost(uncut(), target)
    yield from (([split], split.log_bytes) for split in cut)
