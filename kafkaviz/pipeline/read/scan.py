"""Runs an ingest task: reads each split once and writes its rows.

The rows go to Parquet files in the staging folder. Sending the rows through the JVM would take more
processes and memory than reading the segments. If a segment is checked, only the checks read it.
They pass the batches to observers, which write the rows and estimate the costs of each
index.interval.bytes.
"""

import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kafkaviz.analysis.checks import segment as checks
from kafkaviz.analysis.inferred_settings import ChunkedEvidence, entries_between
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.analysis.sweep import Sweeper
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import NONE as NO_FAULT
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.broker import Problem
from kafkaviz.log.scans import BatchWalk, SharedScan
from kafkaviz.log.segment import OFFSET_ENTRY, Index, LogSegment, Segment
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import DICTIONARY, TABLES, TASK_TABLES
from kafkaviz.pipeline.read import check_cache
from kafkaviz.pipeline.read.rows import batch_columns, entry_columns, entry_slots, table
from kafkaviz.pipeline.read.tasks import (
    BatchStatisticsBuilder,
    DecodedWalk,
    IngestTask,
    SegmentSplit,
    SegmentTask,
    SlotCounts,
    SplitSummary,
)

if TYPE_CHECKING:
    import pyarrow.parquet as pq

ROWS_AT_ONCE = 65_536
NO_NUMBERS = np.empty(0, int)


def scan(task: IngestTask, staging: Path) -> list[SplitSummary]:
    """Reads the task's splits in order, and writes their rows.

    The written rows are valid only after the driver has received the summaries. A file that cannot
    be read becomes a problem in the summary. If Spark repeats a task, it writes other files.

    Args:
        staging: the ingest's staging folder, with a subfolder per table.
    """
    with ExitStack() as stack:
        files = {name: stack.enter_context(RowFile(name, staging / name)) for name in TASK_TABLES}
        return [
            _scan_split(
                split, files, DecodedWalk(split.decoded, staging) if split.decoded else None
            )
            for split in task.splits
        ]


def scan_segment(segment_task: SegmentTask) -> SplitSummary:
    """Reads an entire segment and returns its summary. Writes no rows and runs no checks."""
    return _scan_split(SegmentSplit(segment_task, 0, segment_task.log_bytes), {})


class RowFile:
    """A Parquet file that a task fills with rows of one table. The first row creates the file."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.rows = 0
        self._path = folder / f"{name}-{uuid.uuid4().hex}.parquet"
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[tuple[SegmentTask, np.ndarray, np.ndarray, np.ndarray]] = []
        self._waiting_rows = 0

    def __enter__(self) -> "RowFile":
        return self

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self._write()
        if self._writer is not None:
            self._writer.close()

    def add(
        self,
        owner: SegmentTask,
        rows: np.ndarray,
        entry_slots: np.ndarray = NO_NUMBERS,
        uncompressed_bytes: np.ndarray = NO_NUMBERS,
    ) -> None:
        """Adds rows of one segment. The rows are written later, in large groups.

        Args:
            rows: batches or index entries.
            entry_slots: only for batches: the slot of the entry that points to each batch.
            uncompressed_bytes: only for batches: the uncompressed size of the records, or `NONE`.
        """
        self._waiting.append((owner, rows, entry_slots, uncompressed_bytes))
        self._waiting_rows += len(rows)
        self.rows += len(rows)
        if self._waiting_rows >= ROWS_AT_ONCE:
            self._write()

    def span(self, first_row: int) -> RowRange | None:
        """Returns the range of the rows from `first_row` on, or None if the file has none."""
        if self.rows > first_row:
            return RowRange(self._path.name, first_row, self.rows - first_row)
        return None

    def _write(self) -> None:
        if not self._waiting_rows:
            return
        owners, parts, slots, uncompressed_bytes = zip(*self._waiting, strict=True)
        rows = np.concatenate(parts)
        if self.name == "batches":
            sizes = np.concatenate(uncompressed_bytes)
            columns = batch_columns(rows, np.concatenate(slots), sizes)
        else:
            columns = entry_columns(rows)
        if self._writer is None:
            import pyarrow.parquet as pq  # most readers write no Parquet, and it takes 14 MB

            self._writer = pq.ParquetWriter(
                self._path, TABLES[self.name], compression="zstd", use_dictionary=DICTIONARY
            )
        self._writer.write_table(table(columns, owners, list(map(len, parts)), TABLES[self.name]))
        self._waiting = []
        self._waiting_rows = 0


class BatchRows(BatchObserver[None]):
    """Writes a row for each batch of a segment, with the slot of the batch's index entry."""

    def __init__(self, file: RowFile, owner: SegmentTask, entries: np.ndarray) -> None:
        """Takes the entries of the .index, sorted by position."""
        self._file = file
        self._owner = owner
        self._entries = entries
        self._checked: np.ndarray | None = None

    def take_checked(self, rows: np.ndarray) -> None:
        """Takes the check results (CHECKED_BATCH) of the batches that `observe` gets next."""
        self._checked = rows

    def observe(self, batches: np.ndarray) -> None:
        slots = entry_slots(batches, entries_between(self._entries, batches))
        self._file.add(self._owner, batches, slots, _uncompressed_bytes(batches, self._checked))
        self._checked = None

    def result(self) -> None:
        """Returns None; the rows are in the file."""


def _uncompressed_bytes(batches: np.ndarray, checked: np.ndarray | None) -> np.ndarray:
    if checked is None:
        return np.full(len(batches), NONE)
    # a check of only headers or checksums leaves `records_bytes` at 0
    is_read = (checked["records_bytes"] > 0) | (checked["record_count"] == 0)
    return np.where(is_read & (checked["fault"] == NO_FAULT), checked["records_bytes"], NONE)


def _scan_split(
    split: SegmentSplit, files: Mapping[str, RowFile], first_walk: BatchWalk | None = None
) -> SplitSummary:
    """Reads a split, and for the first split of a segment also the indexes.

    A segment with `is_checked` or `needs_sweep` has only one split.

    Args:
        first_walk: the batches of the split, if other tasks have decoded them.
    """
    segment_task = split.segment_task
    problems = []
    if segment_task.skips_rows:
        return SplitSummary(
            number=segment_task.number,
            start=split.start,
            stop=split.stop,
            end_position=None,
            check_json=_check(segment_task, None, first_walk),
        )
    # a copy of the segment, so that cached index contents are freed with the copy
    segment = replace(segment_task.segment)
    # a .deleted, .cleaned or .swap file repeats rows of another file
    files = files if segment.is_in_use else {}
    first_rows = {name: file.rows for name, file in files.items()}
    offsets = _index(segment, "offset_slots", problems)
    slots = SlotCounts()
    if split.start == 0:
        slots = _slots(segment_task, segment, offsets, files, problems)
    observers = _Observers(segment_task, _sort_by_position(offsets), files)
    end, check_json = _read_log(split, segment, observers, problems, first_walk)
    if observers.sweeper and (sums := observers.sweeper.result()).batches:
        files["sweep"].add(segment_task, sums.sweep())
    spans = {name: span for name, file in files.items() if (span := file.span(first_rows[name]))}
    return SplitSummary(
        number=segment_task.number,
        start=split.start,
        stop=split.stop,
        end_position=end,
        content=observers.statistics.result(),
        evidence=observers.gaps.result(),
        slots=slots,
        spans=spans,
        problems=tuple(problems),
        check_json=check_json,
    )


class _Observers:
    def __init__(
        self, segment_task: SegmentTask, entries: np.ndarray, files: Mapping[str, RowFile]
    ) -> None:
        self.statistics = BatchStatisticsBuilder()
        self.gaps = ChunkedEvidence(entries)
        self.sweeper = Sweeper() if segment_task.needs_sweep and "sweep" in files else None
        self.all: list[BatchObserver[Any]] = [self.statistics, self.gaps]
        if self.sweeper:
            self.all.append(self.sweeper)
        self.rows: BatchRows | None = None
        if "batches" in files:
            self.rows = BatchRows(files["batches"], segment_task, entries)
            self.all.append(self.rows)


def _read_log(
    split: SegmentSplit,
    segment: Segment,
    observers: _Observers,
    problems: list[Problem],
    first_walk: BatchWalk | None,
) -> tuple[int | None, str | None]:
    """Reads the batches of a split, and runs the segment's checks if required.

    Returns:
        The byte where the scan ended (None: nothing could be read); and the check result as JSON
        (None: the segment is not checked).
    """
    segment_task = split.segment_task
    if not isinstance(segment, LogSegment):
        return None, _check(segment_task)
    if not segment_task.is_checked:
        scan = segment.scan(split.start, split.stop, fill_wrapper_fields=True)
        try:
            observe_scan(scan, *observers.all)
        except KafkavizError as fault:
            problems.append(Problem.from_fault(segment.log.path, fault))
            return observers.statistics.end_position, _check(segment_task)
        return scan.end.position, _check(segment_task)
    take_checked = observers.rows.take_checked if observers.rows else None
    shared_scan = SharedScan(segment, *observers.all, take_checked=take_checked)
    check_json = _check(segment_task, shared_scan, first_walk)
    try:
        return shared_scan.result(), check_json
    except KafkavizError as fault:
        problems.append(Problem.from_fault(segment.log.path, fault))
        return observers.statistics.end_position, check_json


def _check(
    segment_task: SegmentTask,
    observer: BatchObserver[Any] | None = None,
    first_walk: BatchWalk | None = None,
) -> str | None:
    facts = segment_task.facts
    if facts is None:
        return None
    return check_cache.to_json(checks.check(segment_task.segment, facts, observer, first_walk))


def _slots(
    segment_task: SegmentTask,
    segment: Segment,
    offsets: Index | None,
    files: Mapping[str, RowFile],
    problems: list[Problem],
) -> SlotCounts:
    times = _index(segment, "time_slots", problems)
    for name, index in (("offset_entries", offsets), ("time_entries", times)):
        if index is not None and name in files:
            files[name].add(segment_task, index.entries)
    return SlotCounts(
        len(offsets.entries) if offsets else None,
        len(times.entries) if times else None,
        offsets.unwritten_slots if offsets else None,
        times.unwritten_slots if times else None,
    )


def _index(segment: Segment, which: str, problems: list[Problem]) -> Index | None:
    file = segment.index if which == "offset_slots" else segment.timeindex
    if file is None:
        return None
    try:
        return getattr(segment, which)
    except KafkavizError as fault:
        problems.append(Problem.from_fault(file.path, fault))
        return None


def _sort_by_position(index: Index | None) -> np.ndarray:
    entries = index.entries if index else np.empty(0, OFFSET_ENTRY)
    return entries[np.argsort(entries["position"], kind="stable")]
