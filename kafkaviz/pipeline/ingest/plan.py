"""Plans the tasks of an ingest.

Small segments share a task. A large segment is split at batches to which index entries point: 1 GiB
becomes four tasks of 256 MiB. Since an index may be wrong, each split must begin with a complete
batch, and its scan must end where the next split begins. Otherwise the whole segment is read again.

A checked segment is read by one task. For a large compressed segment, this task might still run
after all other tasks have ended. So other tasks first decode splits of the segment
(segment_splits.py). The task with the highest cost starts first.

The cost of a segment is its estimated reading time, found from the headers of a few batches. The
unit is the time to read one byte of uncompressed .log. Example: with zstd, a byte costs 6 and a
batch 14 000. In batches of 6000 bytes, each byte costs 6 + 14 000 / 6000 = 8.3. So a segment of
1 GiB costs as much as 8.3 GiB without compression.
"""

import pickle
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import offset_index
from kafkaviz.format.batch import MAGIC_2, codec
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.pipeline.ingest.merge_files import MergeTask
from kafkaviz.pipeline.ingest.segment_splits import (
    DecodedSplit,
    DecodeTask,
    IngestTask,
    SegmentSplit,
)
from kafkaviz.pipeline.read.tasks import SEGMENT_COST_BYTES, SegmentTask, pack_by_cost

if TYPE_CHECKING:
    from kafkaviz.analysis.batching.advice import BatchingTopic, TopicQuota
    from kafkaviz.pipeline.ingest.log_startup import LogStartup


# Bytes of .log per task. Starting a task costs Spark about as much as reading 100 MiB, and starting
# a worker costs more. So small tasks share a worker.
MAX_BYTES = 256 << 20
MIN_BYTES = 128 << 20
TASKS_PER_CORE = 3  # with several tasks per core, all cores finish at about the same time
# A segment is decoded in splits only if its cost per byte is above this, because the decoded
# batches must also be written to files and read again.
DIVIDED_FROM_COST = 2
# cost per byte and per batch, by codec id, as measured in benchmarks/README.md (deep scan)
COSTS_PER_BYTE = np.array([1, 12, 4, 3, 6, 1, 1, 1])
COSTS_PER_BATCH = np.array([0, 2_000, 2_000, 10_000, 14_000, 0, 0, 0])
SAMPLES = 4
SAMPLED_FROM_BYTES = 1 << 20  # sampling a smaller segment costs about as much as reading it
ENTRY_BYTES = offset_index.ENTRY.itemsize


@dataclass(frozen=True)
class StartupTask:
    """Predicts for several logs what broker start-up does to them."""

    startups: tuple["LogStartup", ...]
    cost: int = 0
    log_bytes: int = 0  # 0, because an IngestTask counts the bytes of these logs


@dataclass(frozen=True)
class AdviceTask:
    """Computes the batching and codec advice for one topic."""

    topic: "BatchingTopic"
    quota: "TopicQuota"
    cost: int = MIN_BYTES

    @property
    def log_bytes(self) -> int:
        return self.topic.log_bytes


Task = IngestTask | DecodeTask | StartupTask | MergeTask | AdviceTask


@dataclass(frozen=True)
class PackedTask:
    """A task in the compressed form that is sent to a worker.

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


def startup_tasks(
    startups: Callable[[], Iterable["LogStartup"]], cores: int
) -> Iterator[StartupTask]:
    """Groups logs into start-up tasks of about equal cost. Calls `startups` twice."""
    costs = array("q", map(_startup_cost, startups()))
    target = min(max(sum(costs) // (cores * TASKS_PER_CORE), MIN_BYTES), MAX_BYTES)
    for group, cost in pack_by_cost(zip(startups(), costs, strict=True), target):
        yield StartupTask(tuple(group), cost)


def plan(segment_tasks: Iterable[SegmentTask], cores: int) -> Iterator[IngestTask | DecodeTask]:
    """Yields the tasks that read these segments. Each byte of a .log is in exactly one task.

    Iterates over `segment_tasks` twice. Each split of a large segment costs about 64 MiB or more.
    After a segment's DecodeTasks, one more task must check the segment (`tasks_per_segment`).
    """
    costs = array("q", map(_task_cost, segment_tasks))
    share = max(sum(costs) // (cores * TASKS_PER_CORE), MIN_BYTES)
    decode_tasks: list[DecodeTask] = []

    def undivided() -> Iterator[tuple[SegmentTask, int]]:
        for segment_task, cost in zip(segment_tasks, costs, strict=True):
            divided = _decode_tasks(segment_task, cost, share)
            decode_tasks.extend(divided)
            if not divided:
                yield segment_task, cost

    for splits, cost in _group_splits(undivided(), min(share, MAX_BYTES)):
        yield IngestTask(tuple(splits), cost)
    yield from decode_tasks


def sort_by_cost(tasks: Iterable[AnyTask]) -> list[AnyTask]:
    """Sorts tasks, most expensive first, so that no long task starts near the end."""
    return sorted(tasks, key=lambda task: -task.cost)


def tasks_per_segment(
    segment_tasks: Iterable[SegmentTask],
    decoded: Mapping[int, tuple[DecodedSplit, ...]] = MappingProxyType({}),
) -> Iterator[IngestTask]:
    """Yields one task per segment. `decoded` has the decoded splits by segment number."""
    for segment_task in segment_tasks:
        splits = decoded.get(segment_task.number, ())
        # for a decoded segment, most of the work is done already
        cost = segment_task.log_bytes if splits else _task_cost(segment_task)
        split = SegmentSplit(segment_task, 0, segment_task.log_bytes, splits)
        yield IngestTask((split,), cost)


def cuts(segment: Segment, target_bytes: int) -> list[int]:
    """Returns where to split a .log: at verified index entries about `target_bytes` apart."""
    if not isinstance(segment, LogSegment) or segment.index is None:
        return []
    size_bytes = segment.log.size_bytes
    count = ceil(size_bytes / target_bytes)
    goals = [size_bytes * number // count for number in range(1, count)]
    if not goals:
        return []
    try:
        with open_batch_starts(segment) as batch_starts:
            positions = [batch_starts.find_first(goal, size_bytes) for goal in goals]
    except CannotOpen:
        return []
    return sorted({position for position in positions if position is not None})


def _startup_cost(startup: "LogStartup") -> int:
    """Estimates how many bytes a broker reads to load a log at start-up."""
    live = startup.log.partition.live
    cost = SEGMENT_COST_BYTES * (1 + len(live))
    if startup.clean:
        return cost
    return cost + sum(
        segment.log.size_bytes
        for segment in live
        if segment.base_offset >= startup.log.recovery_point or segment is live[-1]
    )


def _task_cost(segment_task: SegmentTask) -> int:
    segment = segment_task.segment
    if segment_task.is_decoded and isinstance(segment, LogSegment):
        return check_cost(segment)
    return segment_task.log_bytes


def _decode_tasks(segment_task: SegmentTask, cost: int, share: int) -> list[DecodeTask]:
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
    """Yields (splits, cost) for each task: first groups of small segments, then large segments.

    Each split of a large segment is a task of its own. If the segment's index was wrong, the rows
    that these tasks wrote are dropped.
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


def check_cost(segment: LogSegment) -> int:
    """Estimates the cost of checking a segment, in units of checking one uncompressed byte.

    For a small or unreadable .log, returns the size of the .log in bytes.
    """
    log = segment.log
    if log.size_bytes < SAMPLED_FROM_BYTES:
        return log.size_bytes
    try:
        batches = _sample(segment)
    except KafkavizError:
        return log.size_bytes
    sizes = batches["size_bytes"]
    if not len(batches):
        return log.size_bytes
    codec_ids = codec(batches)
    costs = COSTS_PER_BYTE[codec_ids] * sizes + COSTS_PER_BATCH[codec_ids]
    return int(log.size_bytes * (int(costs.sum()) / int(sizes.sum())))


def _sample(segment: LogSegment) -> np.ndarray:
    log = segment.log
    index = segment.index
    entries = index.size_bytes // ENTRY_BYTES if index else 0
    positions = [0]
    if index is not None:
        for sample in range(1, SAMPLES):
            data = file.read(index.path, entries * sample // SAMPLES * ENTRY_BYTES, ENTRY_BYTES)
            positions += offset_index.parse(data)["position"].tolist()
    with file.reader(log.path) as read:
        rows = [batch_at(read, position, log.size_bytes) for position in sorted(set(positions))]
    batches = [row for row in rows if row is not None and 0 <= row["magic"] <= MAGIC_2]
    return np.array(batches) if batches else np.empty(0, [("size_bytes", "i8")])
