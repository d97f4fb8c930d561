"""The splits of segments that the tasks of an ingest read, and their results.

A task returns one summary per split, and the driver merges them for each segment. A check spends
most time on decompression and checksums, so several tasks decode a large compressed segment: each
writes the batches of a split (format.deep_scan.CHECKED_BATCH) to a file. Then one task reads these
files in order, runs the checks and writes the rows, which takes little time:

    bytes 0 to 268 437 120             decoded by one task      8 193 batches
    bytes 268 437 120 to 536 870 912   decoded by another task  8 190 batches
    the whole segment                  read by a third task     16 383 batches

If a split has a fault, or does not end where the next split begins, one task reads the whole
segment instead. The result is the same.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

import numpy as np

from kafkaviz.analysis.inferred_settings import IntervalEvidence
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CHECKED_BATCH, DeepScan
from kafkaviz.format.walk import MAX_ROWS, WalkEnd
from kafkaviz.log import file
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.read import segment_scan
from kafkaviz.pipeline.read.segment_scan import ScanSummary
from kafkaviz.pipeline.read.tasks import SegmentTask

DECODED_FOLDER = "decoded"


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


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    folder = staging / DECODED_FOLDER
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
        self._folder = staging / DECODED_FOLDER

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


@dataclass(frozen=True)
class SegmentSplit:
    """A byte range of a segment's .log.

    The task of the split at byte 0 also reads the indexes and runs the checks.
    """

    segment_task: SegmentTask
    start: int
    stop: int
    decoded: tuple[DecodedSplit, ...] = ()  # from other tasks; empty: this task decodes the batches

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


@dataclass(frozen=True, kw_only=True)
class SplitSummary(ScanSummary):
    """The results of reading a split, and where its rows were written."""

    number: int  # the segment's number in this ingest
    start: int
    stop: int
    spans: Mapping[str, RowRange] = field(default_factory=dict)  # where the rows are, by table
    # the result of the segment's checks (stored_checks.to_json), in the first split only
    check_json: str | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentSummary(ScanSummary):
    """The results of reading all splits of a segment."""

    spans: Mapping[str, tuple[RowRange, ...]]  # where the rows are, by table, in order
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
        content=segment_scan.merge(summary.content for summary in summaries),
        evidence=reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        slots=summaries[0].slots,
        end_position=summaries[-1].end_position,
        spans={table: ranges for table, ranges in spans.items() if ranges},
        problems=tuple(problems.values()),
        check_json=summaries[0].check_json,
    )
