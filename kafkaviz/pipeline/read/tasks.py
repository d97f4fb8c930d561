"""The tasks of an ingest, and their results.

A task reads splits of segments. It returns one summary per split, and the driver merges them for
each segment.

Large compressed segments are decoded in parallel, because a check spends most time on decompression
and checksums. Several tasks each decode a split of the .log into a file of batches
(format.deep_scan.CHECKED_BATCH). Then one task reads these files in order, runs the checks and
writes the rows, which takes little time:

    bytes 0 to 268 437 120             decoded by one task      8 193 batches
    bytes 268 437 120 to 536 870 912   decoded by another task  8 190 batches
    the whole segment                  read by a third task     16 383 batches

If a split has a fault, or does not end where the next split begins, one task reads the whole
segment instead. The result is the same.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TypeVar

import numpy as np

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.inferred_settings import IntervalEvidence
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import UNKNOWN, codec, has_delete_horizon, is_log_append_time
from kafkaviz.format.deep_scan import CHECKED_BATCH, CheckLevel, DeepScan
from kafkaviz.format.walk import MAX_ROWS, BatchObserver, WalkEnd
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog.catalog_info import FirstBatch, RowRange
from kafkaviz.pipeline.catalog.schema import TASK_TABLES

FOLDER = "decoded"
# cost of opening the files of a segment, in bytes that can be read in the same time
SEGMENT_COST_BYTES = 256 << 10
Item = TypeVar("Item")


@dataclass(frozen=True)
class DecodeTask:
    """A task that decodes a split of a .log. `number` is the segment's number in this ingest."""

    number: int
    log: Path
    start: int
    stop: int
    cost: int

    @property
    def log_bytes(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class DecodedSplit:
    """The result of decoding a split."""

    number: int
    start: int
    stop: int
    file: str | None = None  # name of the file with the batches; None: the split has a fault
    end: WalkEnd | None = None  # where the batches ended, and why; None: the split has a fault


@dataclass(frozen=True, kw_only=True)
class SegmentTask:
    """A segment that an ingest reads, and the work to do with its data."""

    number: int  # the number of the segment in this ingest
    broker: str
    topic: str
    partition: int
    segment: Segment
    facts: PartitionFacts | None = None  # what the checks depend on; None: no checks
    skips_rows: bool = False  # no rows are written, because the catalog has them already
    # the cost of lookups is estimated for many values of index.interval.bytes
    needs_sweep: bool = False

    @property
    def log_bytes(self) -> int:
        return self.segment.log.size_bytes if self.segment.log else 0

    @property
    def is_checked(self) -> bool:
        """Whether checks read the .log. If so, the segment is not split."""
        return self.facts is not None and self.segment.is_in_use and self.segment.log is not None

    @property
    def is_decoded(self) -> bool:
        return self.is_checked and self.facts is not None and self.facts.level == CheckLevel.RECORDS

    @property
    def is_divisible(self) -> bool:
        """Whether the .log may be read in several splits."""
        return not (self.skips_rows or self.is_checked or self.needs_sweep)


@dataclass(frozen=True)
class SegmentSplit:
    """A byte range of a segment's .log.

    The task of the split at byte 0 also reads the indexes and runs the checks.
    """

    segment_task: SegmentTask
    start: int
    stop: int
    decoded: tuple[DecodedSplit, ...] = ()  # if other tasks have decoded the batches

    @property
    def log_bytes(self) -> int:
        return 0 if self.decoded else self.stop - self.start

    @property
    def is_partial(self) -> bool:
        return (self.start, self.stop) != (0, self.segment_task.log_bytes)


@dataclass(frozen=True)
class IngestTask:
    """The splits that one Spark task reads, in order."""

    splits: tuple[SegmentSplit, ...]
    cost: int = 0

    @property
    def log_bytes(self) -> int:
        return sum(split.log_bytes for split in self.splits)


def pack_by_cost(
    items: Iterable[tuple[Item, int]], target_cost: int
) -> Iterator[tuple[list[Item], int]]:
    """Yields (consecutive items, their cost). The cost of several items is at most the target."""
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


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    folder = staging / FOLDER
    folder.mkdir(exist_ok=True)
    name = uuid.uuid4().hex
    failed = DecodedSplit(task.number, task.start, task.stop)
    try:
        with file.reader(task.log) as read, open(folder / name, "wb") as out:
            scan = DeepScan(read, task.start, task.stop)
            for batches in scan:
                if batches["fault"].any() or not batches["crc_valid"].all():
                    return failed
                batches.tofile(out)
    except KafkavizError:
        return failed
    return DecodedSplit(task.number, task.start, task.stop, name, scan.end)


def is_whole(ranges: Sequence[DecodedSplit]) -> bool:
    """Returns whether these splits, in order, have the same batches as a scan of the segment."""
    return all(part.file is not None for part in ranges) and all(
        part.end == WalkEnd(part.stop, "end") for part in ranges[:-1]
    )


class DecodedWalk:
    """Yields the batches of a segment that other tasks decoded, as a log.scans.BatchWalk does."""

    def __init__(self, ranges: Sequence[DecodedSplit], staging: Path) -> None:
        """Takes the decoded splits, for which `is_whole` must be true."""
        self._ranges = ranges
        self._folder = staging / FOLDER

    @property
    def end(self) -> WalkEnd:
        end = self._ranges[-1].end
        assert end is not None
        return end

    def __iter__(self) -> Iterator[np.ndarray]:
        for part in self._ranges:
            with open(self._folder / str(part.file), "rb") as rows:
                while len(batches := np.fromfile(rows, CHECKED_BATCH, MAX_ROWS)):
                    yield batches


@dataclass(frozen=True, kw_only=True)
class BatchStatistics:
    """Statistics of consecutive batches.

    A value is None without batches, or if their format lacks the field.
    `min_timestamp_ms` comes from the batch headers, which have only the first record's timestamp,
    or the append time.
    """

    batches: int = 0
    records: int | None = 0
    first_offset: int | None = None
    last_offset: int | None = None
    min_timestamp_ms: int | None = None
    max_timestamp_ms: int | None = None
    first_batch: FirstBatch | None = None
    codecs: int = 0  # bit n is set if any batch has the codec with id n


def content(batches: np.ndarray) -> BatchStatistics:
    if not len(batches):
        return BatchStatistics()
    first = batches[0]
    counts = batches["record_count"]
    hidden = (counts == UNKNOWN) & (batches["magic"] < 2)
    return BatchStatistics(
        batches=len(batches),
        records=None if hidden.any() else int(counts.sum(dtype=np.int64)),
        first_offset=None if hidden[0] else int(first["base_offset"]),
        last_offset=int(batches["last_offset"][-1]),
        min_timestamp_ms=_smallest_timestamp(_earliest_ms(batches).tolist()),
        max_timestamp_ms=_most(batches["max_timestamp_ms"][~no_timestamp(batches)].tolist()),
        first_batch=FirstBatch(*(int(first[field.name]) for field in fields(FirstBatch))),
        codecs=int(np.bitwise_or.reduce(1 << codec(batches).astype(np.int64))),
    )


class BatchStatisticsBuilder(BatchObserver[BatchStatistics]):
    """Collects the statistics of a split. `end_position`: the byte after the last batch."""

    def __init__(self) -> None:
        self._content = BatchStatistics()
        self.end_position: int | None = None

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        self._content = merge((self._content, content(batches)))
        self.end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchStatistics:
        return self._content


def merge(parts: Iterable[BatchStatistics]) -> BatchStatistics:
    """Merges the statistics of consecutive parts of a segment.

    Example: one part has two batches, offsets 0-9 and 10-19. The next part has one, 20-24. The
    result is 3 batches, 25 records, first offset 0 and last offset 24.
    """
    parts = [part for part in parts if part.batches]
    if not parts:
        return BatchStatistics()
    first = parts[0]
    counts = [part.records for part in parts if part.records is not None]
    return BatchStatistics(
        batches=sum(part.batches for part in parts),
        records=sum(counts) if len(counts) == len(parts) else None,
        first_offset=first.first_offset,
        last_offset=parts[-1].last_offset,
        min_timestamp_ms=_smallest_timestamp(part.min_timestamp_ms for part in parts),
        max_timestamp_ms=_most(part.max_timestamp_ms for part in parts),
        first_batch=first.first_batch,
        codecs=reduce(or_, (part.codecs for part in parts)),
    )


def _earliest_ms(batches: np.ndarray) -> np.ndarray:
    hidden = (batches["magic"] < 2) & (batches["record_count"] == UNKNOWN)
    by_largest = is_log_append_time(batches) | has_delete_horizon(batches) | hidden
    earliest_ms = np.where(by_largest, batches["max_timestamp_ms"], batches["base_timestamp_ms"])
    return earliest_ms[~no_timestamp(batches)]


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    return batches["magic"] < 1


def _smallest_timestamp(values: Iterable[int | None]) -> int | None:
    """Returns the smallest timestamp. -1 (no timestamp) counts only if all values are -1."""
    present = [value for value in values if value is not None]
    return min((value for value in present if value >= 0), default=min(present, default=None))


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


@dataclass(frozen=True)
class SlotCounts:
    """The number of slots in each index. None: the index does not exist or could not be read."""

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True, kw_only=True)
class ScanSummary:
    """The results of reading the batches and indexes of a segment, or of a split of it."""

    end_position: int | None = None  # the byte where the scan ended; None: there is no .log
    content: BatchStatistics = field(default_factory=BatchStatistics)
    evidence: IntervalEvidence = field(default_factory=IntervalEvidence)
    slots: SlotCounts = field(default_factory=SlotCounts)
    problems: tuple[Problem, ...] = ()  # the files that could not be read, each once


@dataclass(frozen=True, kw_only=True)
class SplitSummary(ScanSummary):
    """The results of reading a split, and where its rows were written."""

    number: int  # the number of the segment in this run
    start: int
    stop: int
    spans: Mapping[str, RowRange] = field(default_factory=dict)  # where the rows are, by table
    # the result of the segment's checks (check_cache.to_json), in the first split only
    check_json: str | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentSummary(ScanSummary):
    """The results of reading all splits of a segment."""

    spans: Mapping[str, tuple[RowRange, ...]]  # by table, in order
    check_json: str | None = None


def merge_splits(summaries: Iterable[SplitSummary]) -> SegmentSummary | None:
    """Merges the summaries of a segment's splits. None: one did not end where the next begins."""
    summaries = sorted(summaries, key=lambda summary: summary.start)
    if any(summary.end_position != summary.stop for summary in summaries[:-1]):
        return None
    spans = {
        table: tuple(part.spans[table] for part in summaries if table in part.spans)
        for table in TASK_TABLES
    }
    problems = {problem.path: problem for summary in summaries for problem in summary.problems}
    return SegmentSummary(
        content=merge(summary.content for summary in summaries),
        evidence=reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        slots=summaries[0].slots,
        end_position=summaries[-1].end_position,
        spans={table: ranges for table, ranges in spans.items() if ranges},
        problems=tuple(problems.values()),
        check_json=summaries[0].check_json,
    )
