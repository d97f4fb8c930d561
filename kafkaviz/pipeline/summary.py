"""What a task sends back: one row a stretch, and what the stretches of a segment tell together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import reduce
from pathlib import Path

import pyarrow as pa

from kafkaviz.analyse.infer import IntervalEvidence
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.catalog import Span
from kafkaviz.pipeline.content import Content, merged
from kafkaviz.pipeline.schema import BOOL, INT, LONG, ROW_TABLES, STRING

LONGS, STRINGS = pa.list_(LONG), pa.list_(STRING)


@dataclass(frozen=True)
class Slots:
    """The slots of both indexes; None where there is no such file, or where it could not be read."""

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True)
class Summary:
    """What the pass over a stretch found, and where it wrote the rows.

    end_position: where the scan ended; None if there is no .log. problems: the files that could not be read.
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

    @property
    def ended_at_stop(self) -> bool:
        """Whether the scan ended exactly where the next stretch begins, so that both together are one walk."""
        return self.end_position == self.stop


PARTS = {"content": Content, "evidence": IntervalEvidence, "slots": Slots}
SCHEMA = pa.schema([
    ("number", INT),
    *[(name, LONG) for name in ("start", "stop", "end_position")],
    *[(part.name, LONG) for part in fields(Content)],
    ("least_indexed_bytes", LONG),
    ("longest_unindexed_bytes", LONGS),
    ("longest_after_append_bytes", LONGS),
    ("per_append", BOOL),
    *[(part.name, LONG) for part in fields(Slots)],
    *[(f"{table}_{part}", kind) for table in ROW_TABLES for part, kind in (("file", STRING), ("first_row", LONG), ("rows", LONG))],
    *[(name, STRINGS) for name in ("problem_paths", "problem_whats")],
])


def to_arrow(summaries: Sequence[Summary]) -> pa.RecordBatch:
    """One row a summary, flat."""
    return pa.RecordBatch.from_pylist([_row(summary) for summary in summaries], SCHEMA)


def from_arrow(table: pa.Table) -> list[Summary]:
    """The summaries of these rows."""
    return [_summary(row) for row in table.to_pylist()]


@dataclass(frozen=True)
class SegmentRead:
    """What the stretches of one segment tell together."""

    content: Content
    evidence: IntervalEvidence
    slots: Slots
    end_position: int | None
    spans: Mapping[str, tuple[Span, ...]]  # by table, in order
    problems: tuple[Problem, ...]  # one a file, though several stretches may have met it


def whole(summaries: Iterable[Summary]) -> SegmentRead | None:
    """The segment as if it had been read in one piece; None where a stretch did not end where the next one begins."""
    summaries = sorted(summaries, key=lambda summary: summary.start)
    if any(not summary.ended_at_stop for summary in summaries[:-1]):
        return None
    spans = {table: tuple(one.spans[table] for one in summaries if table in one.spans) for table in ROW_TABLES}
    return SegmentRead(
        merged(summary.content for summary in summaries),
        reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        summaries[0].slots,
        summaries[-1].end_position,
        {table: found for table, found in spans.items() if found},
        tuple({problem.path: problem for summary in summaries for problem in summary.problems}.values()),
    )


def _row(summary: Summary) -> dict:
    row = {name: getattr(summary, name) for name in ("number", "start", "stop", "end_position")}
    row |= {"problem_paths": [str(one.path) for one in summary.problems], "problem_whats": [one.what for one in summary.problems]}
    for part in PARTS:
        row |= asdict(getattr(summary, part))
    return row | {f"{table}_{name}": value for table, span in summary.spans.items() for name, value in asdict(span).items()}


def _summary(row: Mapping) -> Summary:
    spans = {
        table: Span(row[f"{table}_file"], row[f"{table}_first_row"], row[f"{table}_rows"])
        for table in ROW_TABLES
        if row[f"{table}_file"] is not None
    }
    parts = {part: kind(**{one.name: _value(row[one.name]) for one in fields(kind)}) for part, kind in PARTS.items()}
    problems = tuple(Problem(Path(path), what) for path, what in zip(row["problem_paths"], row["problem_whats"], strict=True))
    return Summary(row["number"], row["start"], row["stop"], row["end_position"], **parts, spans=spans, problems=problems)


def _value(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
