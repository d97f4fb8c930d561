"""What tasks found, in Parquet files beside the rows that they wrote.

A task writes one once its rows are in their files, under a name that it gets when it is complete:
the driver is sent that name, not the summaries. A run that was killed leaves them behind, and the
next one takes over what still holds:

    OUT/.staging-RUN/batches/batches-3f.parquet      rows of segments 0, 500 and 900
    OUT/.staging-RUN/results/7c.parquet              their summaries, each with a digest of what the
    segment was read by: paths, sizes, times, settings, options, version

Since then segment 900 has grown, so that its digest is another one: the rows of 0 and 500 go into a
file of the new run, and 900 is read. JSON and no pickle, as wherever a file is read that may come
from anywhere.
"""

import json
import os
import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.analysis.inference import IntervalEvidence
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.log.broker import Problem
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, RowRange, version
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.ingest.batch_statistics import BatchStatistics
from kafkaviz.pipeline.ingest.check_cache import digest_of
from kafkaviz.pipeline.ingest.commit import link_file, slice_rows, write_rows
from kafkaviz.pipeline.ingest.plan import SegmentTask
from kafkaviz.pipeline.ingest.summary import SlotCounts, SplitSummary, merge_splits

FOLDER = "results"
RESULTS = pa.schema(
    [
        ("digest", pa.string()),
        ("number", pa.int64()),
        ("start", pa.int64()),
        ("stop", pa.int64()),
        ("end_position", pa.int64()),
        ("json", pa.string()),  # statistics, evidence, slots, spans, problems
        ("check_json", pa.string()),
    ]
)


@dataclass(frozen=True)
class ResultFile:
    """The name of a file with a task's summaries."""

    name: str


def digest(segment_task: SegmentTask) -> str:
    """A text that is another one where reading a segment would give something else.

    The time that counts as now is no part of it, see check_cache.is_still_valid.
    """
    segment, facts = segment_task.segment, segment_task.facts
    return digest_of(
        FORMAT,
        version(),
        segment_task.broker,
        segment.state,
        [(str(file.path), file.size_bytes, file.mtime_ns) for file in segment.files],
        astuple(replace(facts, now_ms=0)) if facts else None,
        segment_task.skips_rows,
        segment_task.needs_sweep,
    )


def write(
    summaries: Iterable[SplitSummary], tasks: Mapping[int, SegmentTask], staging: Path
) -> ResultFile:
    """Writes what was found, once the rows that it names are there.

    Args:
        tasks: the segments, by number.
    """
    rows = [
        {
            "digest": digest(tasks[summary.number]),
            **{name: getattr(summary, name) for name in ("number", "start", "stop")},
            "end_position": summary.end_position,
            "json": json.dumps(_to_json(summary), separators=(",", ":")),
            "check_json": summary.check_json,
        }
        for summary in summaries
    ]
    folder = staging / FOLDER
    folder.mkdir(exist_ok=True)
    name = f"{uuid.uuid4().hex}.parquet"
    part = folder / f"{name}.part"
    pq.write_table(pa.Table.from_pylist(rows, RESULTS), part, compression="zstd")
    os.replace(part, folder / name)
    return ResultFile(name)


def read(staging: Path, result_file: ResultFile) -> Iterator[SplitSummary]:
    """What a task of this run found."""
    for _, summary in _read(staging / FOLDER / result_file.name):
        yield summary


def take_over(
    folders: Iterable[Path], segment_tasks: Sequence[SegmentTask], staging: Path
) -> dict[int, list[SplitSummary]]:
    """What tasks of killed runs found in these segments, by number, where that still holds.

    Their rows come into the staging folder of this run, and are named there again, should it be
    killed too. What cannot be read is not there.

    Args:
        folders: the staging folders of these runs.
    """
    by_digest = {digest(segment_task): segment_task for segment_task in segment_tasks}
    known: dict[int, list[SplitSummary]] = {}
    for folder in folders:
        complete = _complete(folder, by_digest)
        new = {number: parts for number, parts in complete.items() if number not in known}
        known |= _move_rows(new, folder, staging)
    if known:
        tasks = {segment_task.number: segment_task for segment_task in segment_tasks}
        write((summary for parts in known.values() for summary in parts), tasks, staging)
    return known


def _complete(folder: Path, by_digest: Mapping[str, SegmentTask]) -> dict[int, list[SplitSummary]]:
    """The segments of which all splits are known, by number."""
    parts: dict[int, list[SplitSummary]] = defaultdict(list)
    for path in sorted((folder / FOLDER).glob("*.parquet")):
        try:
            for text, summary in _read(path):
                if (segment_task := by_digest.get(text)) and not summary.problems:
                    parts[segment_task.number].append(replace(summary, number=segment_task.number))
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError):
            continue
    sizes = {segment_task.number: segment_task.log_bytes for segment_task in by_digest.values()}
    return {
        number: summaries
        for number, summaries in parts.items()
        if _covers(summaries, sizes[number]) and merge_splits(summaries) is not None
    }


def _covers(summaries: list[SplitSummary], log_bytes: int) -> bool:
    """Whether splits are all of a .log, each once."""
    edges = sorted((summary.start, summary.stop) for summary in summaries)
    starts, stops = [0, *(stop for _, stop in edges)], [start for start, _ in edges]
    return starts == [*stops, log_bytes] and (len(edges) == 1 or min(b - a for a, b in edges) > 0)


def _move_rows(
    by_number: Mapping[int, list[SplitSummary]], folder: Path, staging: Path
) -> dict[int, list[SplitSummary]]:
    """The same, with their rows in files of the new folder; nothing of the old one changes.

    A segment of which a file cannot be read is left out.
    """
    by_file: dict[tuple[str, str], dict[RowRange, int]] = defaultdict(dict)
    for number, summaries in by_number.items():
        for summary in summaries:
            for table, span in summary.spans.items():
                by_file[table, span.file][span] = number
    new_ranges: dict[tuple[str, RowRange], RowRange] = {}
    lost: set[int] = set()
    for (table, name), owners in by_file.items():
        try:
            spans = _move_spans(sorted(owners, key=_first_row), folder / table / name, staging)
        except (pa.ArrowException, OSError, IndexError):
            lost |= set(owners.values())
        else:
            new_ranges |= {(table, span): new for span, new in spans}
    return {
        number: [
            replace(
                summary,
                spans={table: new_ranges[table, span] for table, span in summary.spans.items()},
            )
            for summary in summaries
        ]
        for number, summaries in by_number.items()
        if number not in lost
    }


def _move_spans(
    spans: Sequence[RowRange], path: Path, staging: Path
) -> Iterator[tuple[RowRange, RowRange]]:
    """Each span, in order, and where its rows are from now on.

    Raises:
        ArrowException: the file cannot be read; or OSError.
        IndexError: it has fewer rows.
    """
    table, rows = path.parent.name, pq.read_metadata(path).num_rows
    if sum(span.rows for span in spans) == rows:
        link_file(path, staging / table / path.name)
        return zip(spans, spans, strict=True)
    if spans[-1].first_row + spans[-1].rows > rows:
        raise IndexError(path)
    name = write_rows(staging, table, slice_rows(path, spans))
    counts = [span.rows for span in spans]
    return zip(
        spans,
        map(RowRange, repeat(name), accumulate(counts[:-1], initial=0), counts),
        strict=True,
    )


def _first_row(span: RowRange) -> int:
    return span.first_row


def _to_json(summary: SplitSummary) -> list[Any]:
    return [
        to_plain(summary.content),
        to_plain(summary.evidence),
        to_plain(summary.slots),
        to_plain(dict(summary.spans)),
        [[str(problem.path), problem.what.to_json(), problem.kind] for problem in summary.problems],
    ]


def _parse_spans(plain: Any) -> dict[str, RowRange]:
    """Rows in files that lie in their tables' folders.

    Raises:
        ValueError: they lie elsewhere.
    """
    spans = from_plain(dict[str, RowRange], plain)
    for table, span in spans.items():
        is_of_table = re.fullmatch(rf"{table}-[0-9a-f]+\.parquet", span.file)
        if table not in TASK_TABLES or not is_of_table or span.first_row < 0 or span.rows <= 0:
            raise ValueError(f"{span} is no part of table {table}")
    return spans


def _read(path: Path) -> Iterator[tuple[str, SplitSummary]]:
    """Each summary of a file, with its digest."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1024):
            for row in batch.to_pylist():
                content, evidence, slots, spans, problems = json.loads(row["json"])
                yield (
                    row["digest"],
                    SplitSummary(
                        number=row["number"],
                        start=row["start"],
                        stop=row["stop"],
                        end_position=row["end_position"],
                        content=from_plain(BatchStatistics, content),
                        evidence=from_plain(IntervalEvidence, evidence),
                        slots=from_plain(SlotCounts, slots),
                        spans=_parse_spans(spans),
                        problems=tuple(
                            Problem(Path(text), Message.from_json(what), kind)
                            for text, what, kind in problems
                        ),
                        check_json=row["check_json"],
                    ),
                )
