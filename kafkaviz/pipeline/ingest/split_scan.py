"""Runs an ingest task: reads each split once and writes its rows.

The rows go to Parquet files in the staging folder. Sending the rows through the JVM would take more
processes and memory than reading the segments. A checked segment is read only by the checks. The
checks pass the batches to observers. These write the rows, and compute what lookups would cost with
each index.interval.bytes.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafkaviz.analysis.checks import segment as checks
from kafkaviz.analysis.sweep import Sweeper
from kafkaviz.errors import KafkavizError
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log.scans import SharedScan
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.ingest import stored_checks
from kafkaviz.pipeline.ingest.row_file import BatchRows, RowFile
from kafkaviz.pipeline.ingest.segment_splits import (
    DecodedWalk,
    IngestTask,
    SegmentSplit,
    SplitSummary,
)
from kafkaviz.pipeline.read.segment_scan import SegmentScan


def scan(task: IngestTask, staging: Path) -> list[SplitSummary]:
    """Reads the task's splits in order, and writes their rows.

    The written rows are valid only after the driver has received the summaries. A file that cannot
    be read becomes a problem in the summary. If Spark repeats a task, it writes other files. The
    staging folder must have a subfolder per table.
    """
    with ExitStack() as stack:
        files = {name: stack.enter_context(RowFile(name, staging / name)) for name in TASK_TABLES}
        return [_SplitScan(split, files, staging).summary() for split in task.splits]


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
        walk = DecodedWalk(decoded, self._staging) if decoded else None
        return stored_checks.to_json(
            checks.check(self._segment_task.segment, facts, observer, walk)
        )
