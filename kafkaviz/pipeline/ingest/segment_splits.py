"""The splits of segments that the tasks of an ingest read, and their results.

A task returns one summary per split, and the driver merges them for each segment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from kafkaviz.analysis.inferred_settings import IntervalEvidence
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.ingest.decoded_batches import DecodedSplit
from kafkaviz.pipeline.read import batch_statistics
from kafkaviz.pipeline.read.segment_scan import ScanSummary
from kafkaviz.pipeline.read.tasks import SegmentTask


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
        content=batch_statistics.merge(summary.content for summary in summaries),
        evidence=reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        slots=summaries[0].slots,
        end_position=summaries[-1].end_position,
        spans={table: ranges for table, ranges in spans.items() if ranges},
        problems=tuple(problems.values()),
        check_json=summaries[0].check_json,
    )
