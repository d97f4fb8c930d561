"""Stores the results of tasks in Parquet files next to the rows.

A task first writes its rows. Then it writes its results to a file, and renames the file once it is
complete. The driver receives only the file's name. If the ingest is killed, the next one takes over
valid results:

    OUT/.staging-RUN/batches/batches-3f.parquet   rows of segments 0, 500 and 900
    OUT/.staging-RUN/results/7c.parquet           their summaries, each with a digest of all inputs

Say segment 900 has grown since then, so its digest differs. The rows of segments 0 and 500 are
moved to a file of the new run, and segment 900 is read again. Result files are sorted by segment
number, so the driver can merge them with little memory. They hold JSON rather than pickles, because
anyone may have written them.
"""

import heapq
import json
import os
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import accumulate, groupby, repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.analysis.inferred_settings import IntervalEvidence
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.log.broker import Problem
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog import arrow_columns
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, RowRange, version
from kafkaviz.pipeline.catalog.schema import LONG, STRING, TASK_TABLES
from kafkaviz.pipeline.ingest.commit import link_file
from kafkaviz.pipeline.ingest.log_startup import StartupResult
from kafkaviz.pipeline.ingest.merge_files import slice_rows, write_rows
from kafkaviz.pipeline.ingest.segment_splits import SplitSummary, merge_splits
from kafkaviz.pipeline.ingest.stored_checks import DIGITS, digest_of
from kafkaviz.pipeline.read.segment_scan import BatchStatistics, SlotCounts
from kafkaviz.pipeline.read.tasks import SegmentTask

FOLDER = "results"
STARTUPS_FOLDER = "loads"
ROWS_AT_ONCE = 128
RESULTS = pa.schema(
    [
        ("digest", STRING),
        ("number", LONG),
        ("start", LONG),
        ("stop", LONG),
        ("end_position", LONG),
        ("json", STRING),  # JSON: statistics, evidence, slots, problems
        ("spans", STRING),
        ("check_json", STRING),
    ]
)
COPIED_COLUMNS = ("number", "start", "stop", "end_position", "check_json")
Numbered = TypeVar("Numbered", SplitSummary, StartupResult)
STARTUPS = pa.schema([("number", LONG), ("text", STRING)])


@dataclass(frozen=True)
class ResultFile:
    """A file with segment summaries."""

    name: str
    first_number: int  # the number of the first segment in the file
    is_partial: bool = False  # whether some splits of a segment are in other files


@dataclass(frozen=True)
class StartupFile:
    """A file with the predicted start-up of logs."""

    name: str
    first_number: int  # the number of the first log in the file


def digest(segment_task: SegmentTask) -> str:
    """Returns a digest of everything that the result of reading a segment depends on.

    The current time is left out; see stored_checks.is_still_valid.
    """
    segment = segment_task.segment
    facts = segment_task.facts
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
    summaries: Iterable[SplitSummary],
    digests: Mapping[int, str],
    staging: Path,
    *,
    is_partial: bool = False,
) -> ResultFile:
    """Writes summaries to a new file. Their rows must have been written before.

    `digests` has the digest of each segment, by segment number.
    """
    rows: list[dict[str, Any]] = [
        {
            "digest": digests[summary.number],
            **{name: getattr(summary, name) for name in COPIED_COLUMNS},
            "json": json.dumps(_to_json(summary), separators=(",", ":")),
            "spans": json.dumps(to_plain(dict(summary.spans)), separators=(",", ":")),
        }
        for summary in sorted(summaries, key=attrgetter("number", "start"))
    ]
    name = _write_file(arrow_columns.table(rows, RESULTS), staging / FOLDER)
    return ResultFile(name, rows[0]["number"] if rows else 0, is_partial)


def write_startups(results: Iterable[StartupResult], staging: Path) -> StartupFile:
    rows: list[dict[str, Any]] = [
        {"number": result.number, "text": result.text} for result in results
    ]
    name = _write_file(arrow_columns.table(rows, STARTUPS), staging / STARTUPS_FOLDER)
    return StartupFile(name, rows[0]["number"])


def _write_file(rows: pa.Table, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    name = f"{uuid.uuid4().hex}.parquet"
    part = folder / f"{name}.part"
    pq.write_table(rows, part, compression="zstd", row_group_size=ROWS_AT_ONCE)
    os.replace(part, folder / name)
    return name


def read(staging: Path, result_file: ResultFile) -> Iterator[SplitSummary]:
    return (summary for _, summary in _read(staging / FOLDER / result_file.name))


def read_startups(staging: Path, startup_file: StartupFile) -> Iterator[StartupResult]:
    rows = _rows(staging / STARTUPS_FOLDER / startup_file.name, STARTUPS.names)
    return (StartupResult(row["number"], row["text"]) for row in rows)


class SummaryFiles:
    """The summaries of all tasks, segment by segment."""

    def __init__(self, staging: Path) -> None:
        self._staging = staging
        self._files: list[tuple[ResultFile, Callable[[int], bool]]] = []

    def add(
        self, files: Iterable[ResultFile], is_used: Callable[[int], bool] = lambda _number: True
    ) -> None:
        """Adds result files. `is_used(number)` returns whether a segment's results are used."""
        self._files += [(file, is_used) for file in files]

    def summaries(self) -> Iterator[tuple[int, list[SplitSummary]]]:
        """Yields (segment number, summaries of the splits) for each segment, in ascending order."""
        summaries = merge_by_number(
            (file.first_number, self._reader(file, is_used)) for file, is_used in self._files
        )
        for number, parts in groupby(summaries, key=attrgetter("number")):
            yield number, list(parts)

    def spans(self) -> Iterator[tuple[int, dict[str, RowRange]]]:
        """Yields (segment number, row ranges by table) for each split."""
        for file, is_used in self._files:
            for row in _rows(self._staging / FOLDER / file.name, ["number", "spans"]):
                if is_used(row["number"]):
                    yield row["number"], _parse_spans(json.loads(row["spans"]))

    def _reader(
        self, file: ResultFile, is_used: Callable[[int], bool]
    ) -> Callable[[], Iterator[SplitSummary]]:
        return lambda: (summary for summary in read(self._staging, file) if is_used(summary.number))


def merge_by_number(
    sources: Iterable[tuple[int, Callable[[], Iterator[Numbered]]]],
) -> Iterator[Numbered]:
    """Merges sorted sources into one stream that is sorted by number.

    `sources` are pairs (least, open). `open` returns an iterator, whose numbers are at least
    `least`, and is called only when the iterator is needed.
    """
    heap: list[tuple[int, int, Numbered | None, Iterator[Numbered]]] = []
    openers = []
    for place, (first_number, opener) in enumerate(sources):
        openers.append(opener)
        heap.append((first_number, place, None, iter(())))
    heapq.heapify(heap)
    while heap:
        _, place, value, rest = heapq.heappop(heap)
        if value is None:
            rest = openers[place]()
        else:
            yield value
        following = next(rest, None)
        if following is not None:
            heapq.heappush(heap, (following.number, place, following, rest))


class TaskIndex:
    """Finds segments by digest, among the segments that this run reads."""

    def __init__(self, segment_tasks: Iterable[SegmentTask]) -> None:
        digests = bytearray()
        numbers = []
        sizes = []
        for segment_task in segment_tasks:
            digests += digest(segment_task).encode()
            numbers.append(segment_task.number)
            sizes.append(segment_task.log_bytes)
        unordered = np.frombuffer(digests, f"S{DIGITS}") if digests else np.empty(0, "S1")
        order = np.argsort(unordered)
        self._digests = unordered[order]
        self._numbers, self._sizes = (np.array(values, "i8")[order] for values in (numbers, sizes))

    def find(self, text: str) -> tuple[int, int] | None:
        """Returns the number and .log size of the segment whose digest is `text`, or None."""
        value = np.bytes_(text.encode("ascii", "replace"))
        place = int(np.searchsorted(self._digests, value))
        if place == len(self._digests) or self._digests[place] != value:
            return None
        return int(self._numbers[place]), int(self._sizes[place])


def take_over(folders: Iterable[Path], index: TaskIndex, staging: Path) -> list[ResultFile]:
    """Moves valid results from the staging folders of killed runs to `staging`, this run's folder.

    Writes new result files there, in case this run is also killed. Ignores unreadable files.
    """
    known: set[int] = set()
    results: list[ResultFile] = []
    for folder in folders:
        in_pieces: list[list[_KnownSummary]] = []
        for path in sorted((folder / FOLDER).glob("*.parquet")):
            summaries = _known_summaries(path, index, known)
            if any(summary.is_partial for summary in summaries):
                in_pieces.append(summaries)
            else:
                known |= {summary.number for summary in summaries}
                if moved := _move_rows(summaries, folder, staging):
                    results.append(_write_known(moved, staging))
        complete = _complete(in_pieces)
        known |= complete
        results += _move_partial_segments(in_pieces, complete, folder, staging)
    return results


@dataclass(frozen=True)
class _KnownSummary:
    """A summary from a killed run. `summary.number` is the segment's number in this run."""

    digest: str
    summary: SplitSummary
    log_bytes: int

    @property
    def number(self) -> int:
        return self.summary.number

    @property
    def is_partial(self) -> bool:
        return (self.summary.start, self.summary.stop) != (0, self.log_bytes)


def _known_summaries(path: Path, index: TaskIndex, known: Collection[int]) -> list[_KnownSummary]:
    summaries: dict[tuple[int, int], _KnownSummary] = {}
    try:
        for text, summary in _read(path):
            place = index.find(text)
            if place and place[0] not in known and not summary.problems:
                number, log_bytes = place
                summaries[number, summary.start] = _KnownSummary(
                    text, replace(summary, number=number), log_bytes
                )
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError):
        return []
    return list(summaries.values())


def _complete(pieces: Iterable[Iterable[_KnownSummary]]) -> set[int]:
    parts: dict[int, list[_KnownSummary]] = defaultdict(list)
    for piece in pieces:
        for part in piece:
            parts[part.number].append(part)
    return {
        number
        for number, known in parts.items()
        if _covers([part.summary for part in known], known[0].log_bytes)
        and merge_splits(part.summary for part in known) is not None
    }


def _move_partial_segments(
    pieces: Iterable[Sequence[_KnownSummary]],
    complete: Collection[int],
    folder: Path,
    staging: Path,
) -> list[ResultFile]:
    """Moves the rows of segments whose splits are in several files.

    A segment is moved only if the rows of all its splits can be read.
    """
    moved = [
        (piece, _move_rows([part for part in piece if part.number in complete], folder, staging))
        for piece in pieces
    ]
    lost = {
        part.number
        for piece, known in moved
        for part in piece
        if part.number in complete
        and (part.number, part.summary.start)
        not in {(other.number, other.summary.start) for other in known}
    }
    files = [[part for part in known if part.number not in lost] for _, known in moved]
    return [_write_known(known, staging) for known in files if known]


def _write_known(known: Sequence[_KnownSummary], staging: Path) -> ResultFile:
    digests = {part.number: part.digest for part in known}
    is_partial = any(part.is_partial for part in known)
    return write((part.summary for part in known), digests, staging, is_partial=is_partial)


def _covers(summaries: list[SplitSummary], log_bytes: int) -> bool:
    """Returns whether each byte of the .log is in exactly one split, and no split is empty.

    The only split of an empty .log may be empty.
    """
    edges = sorted((summary.start, summary.stop) for summary in summaries)
    starts = [start for start, _ in edges]
    stops = [stop for _, stop in edges]
    has_empty = any(start >= stop for start, stop in edges)
    return [*starts, log_bytes] == [0, *stops] and (len(edges) == 1 or not has_empty)


def _move_rows(
    summaries: Sequence[_KnownSummary], folder: Path, staging: Path
) -> list[_KnownSummary]:
    """Copies rows into new files, and returns the summaries with the new locations.

    A summary is left out if its rows cannot be read.
    """
    by_file: dict[tuple[str, str], dict[RowRange, int]] = defaultdict(dict)
    for part in summaries:
        for table, span in part.summary.spans.items():
            by_file[table, span.file][span] = part.number
    new_ranges: dict[tuple[str, RowRange], RowRange] = {}
    lost: set[int] = set()
    for (table, name), owners in by_file.items():
        in_order = sorted(owners, key=attrgetter("first_row"))
        try:
            spans = _move_spans(in_order, folder / table / name, staging)
        except (pa.ArrowException, OSError, IndexError):
            lost |= set(owners.values())
        else:
            new_ranges |= {(table, span): new for span, new in spans}
    moved = []
    for part in summaries:
        if part.number not in lost:
            spans = {table: new_ranges[table, span] for table, span in part.summary.spans.items()}
            moved.append(replace(part, summary=replace(part.summary, spans=spans)))
    return moved


def _move_spans(
    spans: Sequence[RowRange], path: Path, staging: Path
) -> Iterator[tuple[RowRange, RowRange]]:
    table = path.parent.name
    rows = pq.read_metadata(path).num_rows
    if sum(span.rows for span in spans) == rows:
        link_file(path, staging / table / path.name)
        return zip(spans, spans, strict=True)
    if spans[-1].first_row + spans[-1].rows > rows:
        raise IndexError(path)
    name = f"{table}-{uuid.uuid4().hex}.parquet"
    runs = [(span.first_row, span.first_row + span.rows) for span in spans]
    write_rows(staging / table / name, table, slice_rows(path, runs))
    counts = [span.rows for span in spans]
    new_spans = map(RowRange, repeat(name), accumulate(counts[:-1], initial=0), counts)
    return zip(spans, new_spans, strict=True)


def _to_json(summary: SplitSummary) -> list[Any]:
    return [
        to_plain(summary.content),
        to_plain(summary.evidence),
        to_plain(summary.slots),
        [[str(problem.path), problem.what.to_json(), problem.kind] for problem in summary.problems],
    ]


def _parse_spans(plain: Any) -> dict[str, RowRange]:
    spans = from_plain(dict[str, RowRange], plain)
    for table, span in spans.items():
        is_of_table = re.fullmatch(rf"{table}-[0-9a-f]+\.parquet", span.file)
        if table not in TASK_TABLES or not is_of_table or span.first_row < 0 or span.rows <= 0:
            raise ValueError(f"{span} is no part of table {table}")
    return spans


def _rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(columns), use_threads=False):
            yield from batch.to_pylist()


def _read(path: Path) -> Iterator[tuple[str, SplitSummary]]:
    for row in _rows(path, RESULTS.names):
        content, evidence, slots, problems = json.loads(row["json"])
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
                spans=_parse_spans(json.loads(row["spans"])),
                problems=tuple(
                    Problem(Path(text), Message.from_json(what), kind)
                    for text, what, kind in problems
                ),
                check_json=row["check_json"],
            ),
        )
