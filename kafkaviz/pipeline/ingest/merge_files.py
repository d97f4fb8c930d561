"""Merges small files of a table into large ones, and drops rows of deleted segments.

Each task writes its own files, and each later ingest adds more. The used rows of a table are merged
into files of about 128 MiB. A file of at least 64 MiB stays unchanged if all of its rows are used:

    batches-0a.parquet   90 MiB, all rows used         stays, with its name
    batches-0b.parquet    8 MiB, all rows used         ⎫
    batches-0c.parquet    9 MiB, one segment dropped   ⎬ one new file, a row group at a time
    batches-0d.parquet    2 MiB, all rows used         ⎭

So a table has at most one file below 64 MiB, and the next ingest rewrites at most that file.
"""

import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import DICTIONARY, TABLES

FILE_BYTES = 128 << 20  # least size of a merged file, except for the last one
LARGE_BYTES = FILE_BYTES // 2  # a file of this size stays unchanged if all rows are used
# Writing a byte of rows takes as long as reading this many bytes of uncompressed .log: writing 4 MB
# took as long as reading 0.6 GiB.
WRITTEN_COST = 150
ROWS_AT_ONCE = 1 << 17  # rows of a row group: about 20 MB of table batches
Run = tuple[int, int]  # index of the first row, and of the last one plus 1


class RowRuns:
    """The used rows of a file, as runs of consecutive rows.

    Consecutive segments form one run. So a file whose rows are all used has one run, no matter how
    many segments it holds.
    """

    def __init__(self) -> None:
        self._runs: list[list[int]] = []

    def add(self, span: RowRange) -> None:
        """Adds a range of rows. No row may be added twice."""
        if self._runs and self._runs[-1][1] == span.first_row:
            self._runs[-1][1] += span.rows
        else:
            self._runs.append([span.first_row, span.first_row + span.rows])

    def joined(self) -> tuple[Run, ...]:
        joined: list[Run] = []
        for start, end in sorted(map(tuple, self._runs)):
            if joined and joined[-1][1] == start:
                joined[-1] = joined[-1][0], end
            else:
                joined.append((start, end))
        return tuple(joined)


@dataclass(frozen=True)
class RowSource:
    path: Path
    runs: tuple[Run, ...]
    total_rows: int
    file_bytes: int

    @property
    def rows(self) -> int:
        return sum(end - start for start, end in self.runs)

    @property
    def size_bytes(self) -> int:
        return self.file_bytes * self.rows // max(self.total_rows, 1)

    @property
    def is_complete(self) -> bool:
        return self.rows == self.total_rows


@dataclass(frozen=True)
class MergeTask:
    """Merges several files into one, on Spark or in the driver."""

    table: str
    name: str
    sources: tuple[RowSource, ...]
    log_bytes: int = 0  # 0, because no .log is read; IngestTask has the same field

    @property
    def cost(self) -> int:
        """The estimated time, in units of the time to read one byte of uncompressed .log."""
        return WRITTEN_COST * sum(source.size_bytes for source in self.sources)

    @property
    def rows(self) -> int:
        return sum(source.rows for source in self.sources)


@dataclass
class TableLayout:
    """Where the rows of a table are after this ingest."""

    unchanged: list[RowSource] = field(default_factory=list)  # the files that stay unchanged
    merges: list[MergeTask] = field(default_factory=list)  # the files that must be written
    _starts: dict[str, list[int]] = field(default_factory=dict)  # first row of each run, by file
    _targets: dict[str, list[RowRange]] = field(default_factory=dict)  # new place of each run

    def find(self, span: RowRange) -> RowRange:
        """Returns where rows will be after the merges."""
        if span.file not in self._starts:
            return span
        run = bisect_right(self._starts[span.file], span.first_row) - 1
        target = self._targets[span.file][run]
        start = self._starts[span.file][run]
        return RowRange(target.file, target.first_row + span.first_row - start, span.rows)

    def add_merge(self, table: str, sources: Sequence[RowSource]) -> None:
        """Plans to merge files into one. A single file without unused rows stays unchanged."""
        if len(sources) == 1 and sources[0].is_complete:
            self.unchanged.append(sources[0])
            return
        name = f"{table}-{uuid.uuid4().hex}.parquet"
        row = 0
        for source in sources:
            self._starts[source.path.name] = [start for start, _ in source.runs]
            targets = self._targets.setdefault(source.path.name, [])
            for start, end in source.runs:
                targets.append(RowRange(name, row, end - start))
                row += end - start
        self.merges.append(MergeTask(table, name, tuple(sources)))


def plan_layout(table: str, sources: Iterable[RowSource]) -> TableLayout:
    """Decides which files of a table stay unchanged and which are merged."""
    layout = TableLayout()
    group: list[RowSource] = []
    for source in sources:
        if source.is_complete and source.file_bytes >= LARGE_BYTES:
            layout.unchanged.append(source)
            continue
        group.append(source)
        if sum(member.size_bytes for member in group) >= FILE_BYTES:
            layout.add_merge(table, group)
            group = []
    if group:
        layout.add_merge(table, group)
    return layout


def merge(task: MergeTask, staging: Path) -> str:
    """Writes a merged file and returns its name. A repeated Spark task overwrites the file."""
    folder = staging / task.table
    part = folder / f"{task.name}.{uuid.uuid4().hex}"
    rows = (rows for source in task.sources for rows in slice_rows(source.path, source.runs))
    write_rows(part, task.table, rows)
    part.replace(folder / task.name)
    return task.name


def write_rows(path: Path, table: str, parts: Iterable[pa.Table]) -> None:
    with pq.ParquetWriter(
        path, TABLES[table], compression="zstd", use_dictionary=DICTIONARY
    ) as writer:
        waiting: list[pa.Table] = []
        for rows in parts:
            waiting.append(rows)
            if sum(part.num_rows for part in waiting) >= ROWS_AT_ONCE:
                writer.write_table(pa.concat_tables(waiting), ROWS_AT_ONCE)
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting), ROWS_AT_ONCE)


def slice_rows(path: Path, runs: Sequence[Run]) -> Iterator[pa.Table]:
    """Yields the rows in these runs of a Parquet file, one row group at a time."""
    with pq.ParquetFile(path) as file:
        first_row = 0
        for group in range(file.num_row_groups):
            end_row = first_row + file.metadata.row_group(group).num_rows
            row_ranges = [(max(start, first_row), min(end, end_row)) for start, end in runs]
            row_ranges = [(start, end) for start, end in row_ranges if start < end]
            if row_ranges:
                rows = file.read_row_group(group, use_threads=False)
                yield pa.concat_tables(
                    rows.slice(start - first_row, end - start) for start, end in row_ranges
                )
            first_row = end_row
