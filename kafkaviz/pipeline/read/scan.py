"""Runs an ingest task: reads each split once and writes its rows.

The rows go to Parquet files in the staging folder. Sending the rows through the JVM would take more
processes and memory than reading the segments. A checked segment is read only by the checks. The
checks pass the batches to observers, which write the rows and estimate the costs of each
index.interval.bytes.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
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
from kafkaviz.log.scans import SharedScan
from kafkaviz.log.segment import OFFSET_ENTRY, Index, LogSegment, Segment
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import DICTIONARY, TABLES, TASK_TABLES
from kafkaviz.pipeline.read import check_cache, tasks
from kafkaviz.pipeline.read.rows import batch_columns, entry_columns, entry_slots, table
from kafkaviz.pipeline.read.tasks import (
    ScanSummary,
    SegmentSplit,
    SegmentTask,
    SlotCounts,
    SplitSummary,
)

if TYPE_CHECKING:
    import pyarrow.parquet as pq

ROWS_AT_ONCE = 65_536
NO_NUMBERS = np.empty(0, int)


def scan(task: tasks.IngestTask, staging: Path) -> list[SplitSummary]:
    """Reads the task's splits in order, and writes their rows.

    The written rows are valid only after the driver has received the summaries. A file that cannot
    be read becomes a problem in the summary. If Spark repeats a task, it writes other files. The
    staging folder must have a subfolder per table.
    """
    with ExitStack() as stack:
        files = {name: stack.enter_context(RowFile(name, staging / name)) for name in TASK_TABLES}
        return [_SplitScan(split, files, staging).summary() for split in task.splits]


def scan_segment(segment: Segment) -> ScanSummary:
    """Reads an entire segment."""
    scan = SegmentScan(segment)
    return scan.summary(scan.read_log())


class SegmentScan:
    """Reads the indexes and the batches of a segment, or of a split of it.

    A file that cannot be read becomes a problem in the summary.
    """

    def __init__(self, segment: Segment, start: int = 0, stop: int | None = None) -> None:
        """Reads the indexes. For a split that does not begin at byte 0, only the .index is read."""
        # a copy of the segment, so that cached index contents are freed with the copy
        self.segment = replace(segment)
        self._start = start
        self._stop = stop
        self._problems: list[Problem] = []
        self.offsets = self._index("offset_slots")
        self.times = self._index("time_slots") if start == 0 else None
        entries = self.offsets.entries if self.offsets else np.empty(0, OFFSET_ENTRY)
        self.entries_by_position = entries[np.argsort(entries["position"], kind="stable")]
        self._statistics = tasks.BatchStatisticsBuilder()
        self._gaps = ChunkedEvidence(self.entries_by_position)
        self.observers = (self._statistics, self._gaps)  # they must get all batches of the split

    def read_log(self, *observers: BatchObserver[Any]) -> int | None:
        """Passes the batches to `self.observers` and to the given observers.

        Returns the byte where the scan ended. None: nothing could be read.
        """
        if not isinstance(self.segment, LogSegment):
            return None
        scan = self.segment.scan(self._start, self._stop, fill_wrapper_fields=True)
        try:
            observe_scan(scan, *self.observers, *observers)
        except KafkavizError as fault:
            return self.stop_early(fault)
        return scan.end.position

    def stop_early(self, fault: KafkavizError) -> int | None:
        """Notes a problem of the .log. Returns the byte up to which batches were read."""
        self._problems.append(Problem.from_fault(self.segment.with_log().log.path, fault))
        return self._statistics.end_position

    def summary(self, end_position: int | None) -> ScanSummary:
        slots = SlotCounts()
        if self._start == 0:
            slots = SlotCounts(
                len(self.offsets.entries) if self.offsets else None,
                len(self.times.entries) if self.times else None,
                self.offsets.unwritten_slots if self.offsets else None,
                self.times.unwritten_slots if self.times else None,
            )
        return ScanSummary(
            end_position=end_position,
            content=self._statistics.result(),
            evidence=self._gaps.result(),
            slots=slots,
            problems=tuple(self._problems),
        )

    def _index(self, which: str) -> Index | None:
        segment = self.segment
        file = segment.index if which == "offset_slots" else segment.timeindex
        if file is None:
            return None
        try:
            return getattr(segment, which)
        except KafkavizError as fault:
            self._problems.append(Problem.from_fault(file.path, fault))
            return None


class RowFile(AbstractContextManager["RowFile"]):
    """A Parquet file that a task fills with rows of one table. The first row creates the file."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.rows = 0
        self._path = folder / f"{name}-{uuid.uuid4().hex}.parquet"
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[tuple[SegmentTask, np.ndarray, np.ndarray, np.ndarray]] = []
        self._waiting_rows = 0

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
        """Adds batches or index entries of one segment. They are written later, in large groups.

        Only for batches: `entry_slots` has the slot of the entry that points to each batch, and
        `uncompressed_bytes` the uncompressed size of its records, or `NONE`.
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


class _SplitScan:
    """Reads a split, writes its rows, and runs the checks of its segment.

    A segment with `is_checked` or `needs_sweep` has only one split.
    """

    def __init__(self, split: SegmentSplit, files: Mapping[str, RowFile], staging: Path) -> None:
        self._split = split
        self._segment_task = split.segment_task
        # a .deleted, .cleaned or .swap file repeats rows of another file
        self._files = files if split.segment_task.segment.is_in_use else {}
        self._staging = staging

    def summary(self) -> SplitSummary:
        split = self._split
        segment_task = self._segment_task
        files = self._files
        summary = SplitSummary(number=segment_task.number, start=split.start, stop=split.stop)
        if segment_task.skips_rows:
            return replace(summary, check_json=self._check())
        first_rows = {name: file.rows for name, file in files.items()}
        scan = SegmentScan(segment_task.segment, split.start, split.stop)
        if split.start == 0:
            self._add_entries(scan)
        observers: list[BatchObserver[Any]] = []
        sweeper = Sweeper() if segment_task.needs_sweep and "sweep" in files else None
        if sweeper:
            observers.append(sweeper)
        rows = None
        if "batches" in files:
            rows = BatchRows(files["batches"], segment_task, scan.entries_by_position)
            observers.append(rows)
        end_position, check_json = self._read_log(scan, observers, rows)
        if sweeper and (sums := sweeper.result()).batches:
            files["sweep"].add(segment_task, sums.sweep())
        spans = {name: file.span(first_rows[name]) for name, file in files.items()}
        return replace(
            summary,
            **vars(scan.summary(end_position)),
            spans={name: span for name, span in spans.items() if span},
            check_json=check_json,
        )

    def _add_entries(self, scan: SegmentScan) -> None:
        for name, index in (("offset_entries", scan.offsets), ("time_entries", scan.times)):
            if index is not None and name in self._files:
                self._files[name].add(self._segment_task, index.entries)

    def _read_log(
        self, scan: SegmentScan, observers: Sequence[BatchObserver[Any]], rows: BatchRows | None
    ) -> tuple[int | None, str | None]:
        """Reads the batches of the split, and runs the segment's checks if required.

        Returns the byte where the scan ended (None: nothing could be read); and the check result as
        JSON (None: the segment is not checked).
        """
        if not self._segment_task.is_checked:
            return scan.read_log(*observers), self._check()
        shared_scan = SharedScan(
            scan.segment.with_log(),
            *scan.observers,
            *observers,
            take_checked=rows.take_checked if rows else None,
        )
        check_json = self._check(shared_scan)
        try:
            return shared_scan.result(), check_json
        except KafkavizError as fault:
            return scan.stop_early(fault), check_json

    def _check(self, observer: BatchObserver[Any] | None = None) -> str | None:
        facts = self._segment_task.facts
        if facts is None:
            return None
        decoded = self._split.decoded
        walk = tasks.DecodedWalk(decoded, self._staging) if decoded else None
        return check_cache.to_json(checks.check(self._segment_task.segment, facts, observer, walk))
