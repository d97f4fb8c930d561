"""The results of tasks: one summary per split, merged for each segment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from kafkaviz.analysis.inference import IntervalEvidence
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.ingest.batch_statistics import BatchStatistics, merge


@dataclass(frozen=True)
class SlotCounts:
    """The slots of both indexes.

    A value is None if the file does not exist or could not be read.
    """

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True, kw_only=True)
class SplitSummary:
    """The results of the pass over a split, and where its rows were written.

    Attributes:
        end_position: the end of the scan, or None without a .log.
        problems: the files that could not be read.
        check_json: the result of the segment's checks (check_cache.to_json); only the first split
            has it.
    """

    number: int  # the number of the segment in this run
    start: int
    stop: int
    end_position: int | None
    content: BatchStatistics = field(default_factory=BatchStatistics)
    evidence: IntervalEvidence = field(default_factory=IntervalEvidence)
    slots: SlotCounts = field(default_factory=SlotCounts)
    spans: Mapping[str, RowRange] = field(default_factory=dict)  # by table
    problems: tuple[Problem, ...] = ()
    check_json: str | None = None

    @property
    def ended_at_stop(self) -> bool:
        """Whether the scan ended exactly where the next split begins.

        Then the two scans together equal a single one.
        """
        return self.end_position == self.stop


@dataclass(frozen=True, kw_only=True)
class SegmentSummary:
    content: BatchStatistics
    evidence: IntervalEvidence
    slots: SlotCounts
    end_position: int | None
    spans: Mapping[str, tuple[RowRange, ...]]  # by table, in order
    problems: tuple[Problem, ...]  # one per file, though several splits may have met it
    check_json: str | None = None


def merge_splits(summaries: Iterable[SplitSummary]) -> SegmentSummary | None:
    """Merges the splits, as if the segment had been read as a whole.

    Returns:
        None if a split did not end where the next one begins.
    """
    summaries = sorted(summaries, key=lambda summary: summary.start)
    if any(not summary.ended_at_stop for summary in summaries[:-1]):
        return None
    spans = {
        table: tuple(part.spans[table] for part in summaries if table in part.spans)
        for table in TASK_TABLES
    }
    return SegmentSummary(
        content=merge(summary.content for summary in summaries),
        evidence=reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        slots=summaries[0].slots,
        end_position=summaries[-1].end_position,
        spans={table: ranges for table, ranges in spans.items() if ranges},
        problems=tuple(
            {
                problem.path: problem for summary in summaries for problem in summary.problems
            }.values()
        ),
        check_json=summaries[0].check_json,
    )
