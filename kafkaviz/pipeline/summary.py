"""What a task sends back: one summary a stretch, and what the stretches of a segment tell
together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from kafkaviz.analyse.infer import IntervalEvidence
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.catalog_info import Span
from kafkaviz.pipeline.content import Content, merged
from kafkaviz.pipeline.schema import TASK_TABLES


@dataclass(frozen=True)
class Slots:
    """The slots of both indexes; None where there is no such file, or where it could not be
    read.
    """

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True)
class Summary:
    """What the pass over a stretch found, and where it wrote the rows.

    end_position: where the scan ended; None if there is no .log. problems: the files that could not
    be read. checked: what the checks of the segment found, as pipeline.kept.to_json has it; the
    first stretch tells.
    """

    number: int  # of the segment in this run
    start: int
    stop: int
    end_position: int | None
    content: Content = field(default_factory=Content)
    evidence: IntervalEvidence = field(default_factory=IntervalEvidence)
    slots: Slots = field(default_factory=Slots)
    spans: Mapping[str, Span] = field(default_factory=dict)  # by table
    problems: tuple[Problem, ...] = ()
    checked: str | None = None

    @property
    def ended_at_stop(self) -> bool:
        """Whether the scan ended exactly where the next stretch begins, so that both together are
        one walk.
        """
        return self.end_position == self.stop


@dataclass(frozen=True)
class SegmentRead:
    """What the stretches of one segment tell together."""

    content: Content
    evidence: IntervalEvidence
    slots: Slots
    end_position: int | None
    spans: Mapping[str, tuple[Span, ...]]  # by table, in order
    problems: tuple[Problem, ...]  # one a file, though several stretches may have met it
    checked: str | None = None


def whole(summaries: Iterable[Summary]) -> SegmentRead | None:
    """The segment as if it had been read in one piece; None where a stretch did not end where the
    next one begins.
    """
    summaries = sorted(summaries, key=lambda summary: summary.start)
    if any(not summary.ended_at_stop for summary in summaries[:-1]):
        return None
    spans = {
        table: tuple(one.spans[table] for one in summaries if table in one.spans)
        for table in TASK_TABLES
    }
    return SegmentRead(
        merged(summary.content for summary in summaries),
        reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        summaries[0].slots,
        summaries[-1].end_position,
        {table: found for table, found in spans.items() if found},
        tuple(
            {
                problem.path: problem for summary in summaries for problem in summary.problems
            }.values()
        ),
        summaries[0].checked,
    )
