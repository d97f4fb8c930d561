"""Writes the tables that the driver computes, one partition directory after the other.

The rows of an unchanged directory are copied from the old catalog (stored_rows.py). For other
directories, three sorted streams are joined: the present files, the old catalog's rows, and the
task results. Findings are sorted per broker in a temporary file.

    orders-0   segments 0 to 49    48 old rows, 2 task results    ->  50 rows in table segments, ...
    orders-1   segments 50 to 99   50 old rows                    ->  50 rows in table segments, ...
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.analysis import broker_health, finding_rows
from kafkaviz.analysis.checks import state, unreadable_files
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.checks.state import RESTART_CODES
from kafkaviz.analysis.disk import DiskShare
from kafkaviz.analysis.findings import Finding, place_key, sort_key
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import Problem
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.arrow_columns import column
from kafkaviz.pipeline.catalog.catalog import FULL_INGEST
from kafkaviz.pipeline.catalog.catalog_info import SourceCheck, StoredSegment
from kafkaviz.pipeline.catalog.findings import (
    disk_columns,
    finding_row,
    retention_rows,
    source_check,
    step_row,
)
from kafkaviz.pipeline.catalog.schema import BOOL, LONG, SEGMENTS, STRING
from kafkaviz.pipeline.ingest import check_reuse
from kafkaviz.pipeline.ingest.check_reuse import STARTUP_KEY, IngestChecks, SegmentKey
from kafkaviz.pipeline.ingest.commit import CatalogTransaction, RowWriter
from kafkaviz.pipeline.ingest.log_startup import DirectoryStartup, StartupResult
from kafkaviz.pipeline.ingest.segment_rows import (
    SegmentBytes,
    note_stored_rolls,
    partition_row,
    segment_rows,
)
from kafkaviz.pipeline.ingest.segment_splits import SegmentSummary, SplitSummary, merge_splits
from kafkaviz.pipeline.ingest.spools import SortedSpool
from kafkaviz.pipeline.ingest.stored_rows import NO_SEGMENTS, StoredRows
from kafkaviz.pipeline.read.inventory import (
    Inventory,
    InventoryEntry,
    PartitionEntries,
    is_readable,
)
from kafkaviz.pipeline.read.rows import SegmentStatistics, codec_names, statistics_of_read
from kafkaviz.simulate.startup.restart import Restart
from kafkaviz.simulate.steps import StartupStep

T = TypeVar("T")
SEGMENTS_PART = "segments.part"  # table `segments` without the last columns
KEY_COLUMNS = ["severity", "directory", "file", "position", "code"]
LIMIT_COLUMNS = ("segment_bytes", "segment_bytes_source")
CHECK_WRITERS = ("findings", "restart_steps", "retention", "checked")


@dataclass(frozen=True, kw_only=True)
class TableInputs:
    """The data from which `write_tables` writes the tables of a catalog.

    The number of a directory or segment is its position in the inventory.
    """

    inventory: Inventory
    stored: StoredRows | None  # the old catalog's rows; None: no row may be kept
    checks: IngestChecks | None  # None: the segments are not checked
    # yields (segment number, summaries of its splits) for each segment that was read, ascending
    summaries: Callable[[], Iterator[tuple[int, list[SplitSummary]]]]
    # the number of a directory's first segment, by directory number, except for directories whose
    # rows are copied from the old catalog
    first_segments: Mapping[int, int]
    # the log of a directory, by directory number, if the next broker start-up loads the log
    directory_startups: Mapping[int, DirectoryStartup]
    # yields what broker start-up does to each log, by ascending number of the log
    startup_results: Callable[[], Iterator[StartupResult]]
    # takes a segment's number; True: a task has read the segment and written its rows, False: the
    # old catalog has the rows
    has_new_rows: Callable[[int], bool]
    settings: dict[str, Settings]  # by the name of a broker


def write_tables(transaction: CatalogTransaction, inputs: TableInputs) -> catalog_info.CatalogInfo:
    """Writes all tables that tasks have not written, and commits the catalog."""
    limits = SegmentBytes(inputs.settings)
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(transaction.writer(name))
            for name in ("partitions", "stamps", *(CHECK_WRITERS if inputs.checks else ()))
        }
        part = RowWriter(transaction.staging / SEGMENTS_PART, SEGMENTS)
        stack.callback(part.close)
        tables_writer = _TablesWriter(transaction, inputs, {**writers, "segments": part}, limits)
        checks = {name: tables_writer.write_broker(name) for name, _ in inputs.inventory.brokers}
    with transaction.writer("segments") as segments:
        for rows in _fill_segment_bytes(part.path, limits):
            segments.add_table(rows)
    sources = [
        replace(source, checked=checks[source.broker]) for source in inputs.inventory.sources
    ]
    return transaction.commit(
        sources, [*inputs.inventory.problems, *tables_writer.problems], dict(tables_writer.suffixes)
    )


class _TablesWriter:
    """Writes the tables while iterating over all directories once."""

    def __init__(
        self,
        transaction: CatalogTransaction,
        inputs: TableInputs,
        writers: dict[str, RowWriter],
        limits: SegmentBytes,
    ) -> None:
        self._transaction = transaction
        self._inputs = inputs
        self._writers = writers
        self._limits = limits
        self._entries = inputs.inventory.entries_at(inputs.first_segments)
        self._directories = 0  # number of directories written so far
        self._summaries = Cursor(inputs.summaries(), lambda item: item[0])
        self._startup_results = Cursor(inputs.startup_results(), lambda result: result.number)
        self.problems: list[Problem] = []  # files of segments that could not be read
        self.suffixes: Counter[str] = Counter()  # number of segments per suffix, such as "deleted"

    def write_broker(self, name: str) -> SourceCheck | None:
        """Writes all rows of a broker.

        Returns how the broker was checked and whether its next start-up succeeds. None: no checks.
        """
        checks = self._inputs.checks
        health = _BrokerHealth(checks.plans[name]) if checks else None
        (source,) = (source for source in self._inputs.inventory.sources if source.broker == name)
        copied = []
        for place, directory in enumerate(source.directories):
            if self._directories in self._inputs.first_segments:
                entries = next(self._entries)
                row, texts = self._write_segments(entries)
                if checks and health:
                    row |= disk_columns(self._write_checks(entries, texts, checks, health))
                self._writers["partitions"].add([row])
            else:
                self._copy(name, place, directory, health)
                copied.append(directory)
            self._directories += 1
        if checks is None or health is None:
            return None
        restart, findings = health.finish()
        self._write_findings(name, findings, copied)
        if restart is not None:
            self._writers["restart_steps"].add(step_row(name, step) for step in restart.steps)
        return source_check(health.plan.assumed_release, restart, checks.level)

    def _copy(self, name: str, place: int, directory: str, health: "_BrokerHealth | None") -> None:
        """Copies the old rows of `directory`. `place` is its index in the broker's `partitions`."""
        stored = self._inputs.stored
        tables = stored.rows_to_copy(name, directory) if stored else None
        if stored is None or tables is None:  # they were readable when the work was planned
            raise CannotOpen(self._transaction.path, message("errors.lacks_files"), FULL_INGEST)
        texts = tables.stamps["json"].to_pylist()
        move = self._transaction.moved
        moved = [catalog_info.move_segment(text, move, stored.info) for text in texts[1:]]
        json_column = column([texts[0], *(segment.text for segment in moved)], STRING)
        self._writers["stamps"].add_table(set_column(tables.stamps, "json", json_column))
        self._writers["partitions"].add_table(tables.partitions)
        self._writers["segments"].add_table(tables.segments)
        note_stored_rolls(tables.segments, [segment.first_batch for segment in moved], self._limits)
        self.problems += (problem for segment in moved for problem in segment.problems)
        self.suffixes.update(filter(None, tables.stamps["suffix"].to_pylist()))
        if health is None:
            return
        self._writers["checked"].add_table(tables.checked)
        times = column([health.plan.now_ms] * tables.retention.num_rows, LONG)
        self._writers["retention"].add_table(set_column(tables.retention, "now_ms", times))
        for row in tables.checked.select(["base_offset", "json"]).to_pylist():
            if row["base_offset"] is None:
                path = health.path_of(health.plan.broker.partitions[place])
                health.add_steps(path, row["json"])

    def _write_findings(
        self, name: str, findings: Iterable[Finding], copied: Sequence[str]
    ) -> None:
        writer = self._writers["findings"]
        waiting = iter(findings)
        finding = next(waiting, None)
        stored = self._inputs.stored
        directories = frozenset(copied)
        for rows in stored.findings() if stored and copied else ():
            columns = (rows[key].to_pylist() for key in ("broker", "directory", "code"))
            is_kept = [
                broker == name and directory in directories and code not in RESTART_CODES
                for broker, directory, code in zip(*columns, strict=True)
            ]
            copied_rows = rows.filter(column(is_kept, BOOL))
            numbers = range(copied_rows.num_rows)
            rows_key = partial(_row_key, copied_rows)
            row = 0
            while finding is not None:
                place = bisect_left(numbers, sort_key(finding), row, key=rows_key)
                if place == copied_rows.num_rows:
                    break
                writer.add_table(copied_rows.slice(row, place - row))
                writer.add([finding_row(name, finding)])
                row = place
                finding = next(waiting, None)
            writer.add_table(copied_rows.slice(row))
        if finding is not None:
            writer.add(finding_row(name, finding) for finding in chain([finding], waiting))

    def _write_segments(
        self, entries: PartitionEntries
    ) -> tuple[dict[str, Any], dict[int, str | None]]:
        """Writes a directory's rows of tables `segments` and `stamps`.

        Returns two values: the directory's row of table `partitions`, without disk use; and the
        check results (JSON) of the segments that were read in this run, by segment number.
        """
        old_rows = self._inputs.stored
        owner = (entries.broker, entries.stored.directory)
        stored = old_rows.partition(*owner) if old_rows else NO_SEGMENTS
        texts: dict[int, str | None] = {}
        statistics: list[SegmentStatistics] = []
        stamps: list[StoredSegment] = []
        for entry in entries.segments:
            parts = [part for _, parts in self._summaries.take(entry.number) for part in parts]
            summary = merge_splits(parts) if parts else None
            if summary is not None:
                texts[entry.number] = summary.check_json
            if not self._inputs.has_new_rows(entry.number):
                old, values = stored.get(entry)
                spans = self._transaction.moved(old.spans)
                statistics.append(values)
                stamps.append(replace(old, files=entry.stored.files, spans=spans))
            else:
                assert summary is not None, entry.stored.key
                statistics.append(statistics_of_read(entry.segment, summary))
                stamps.append(self._new_stamp(entry, summary))
        self._writers["segments"].add(segment_rows(entries, statistics, self._limits))
        self._writers["stamps"].add(map(catalog_info.to_row, (entries.stored, *stamps)))
        self.problems += (problem for stamp in stamps for problem in stamp.problems)
        self.suffixes.update(stamp.suffix for stamp in stamps if stamp.suffix)
        return partition_row(entries, statistics), texts

    def _write_checks(
        self,
        entries: PartitionEntries,
        texts: dict[int, str | None],
        checks: IngestChecks,
        health: "_BrokerHealth",
    ) -> DiskShare:
        """Writes rows of tables `retention` and `checked`, and adds findings and steps to `health`.

        Returns the partition's disk use.
        """
        partition = entries.partition
        facts = checks.facts(entries.broker, partition)
        stored = self._inputs.stored
        earlier = stored.checked(entries.broker, entries.stored.directory) if stored else {}
        results = []
        rows = []
        owner = catalog_info.owner_columns(entries.broker, entries.stored.directory)
        for entry in entries.segments:
            key = entry.stored.base_offset, entry.stored.suffix
            text = texts.get(entry.number)
            if text is None and key in earlier:
                text = earlier[key].text
            if check_reuse.is_read(entry) and text is not None:
                rows.append(_checked_row(owner, key, checks.digest(entry), text))
            results.append(checks.result(entry, text))
        findings = broker_health.partition_findings(
            partition, facts, results, lambda: health.plan.transactional_ids
        )
        health.add_findings(findings)
        for log in broker_health.partition_retention(health.plan, partition, results):
            self._writers["retention"].add(retention_rows(entries.broker, log))
        startup = self._inputs.directory_startups.get(entries.number)
        if startup is not None:
            text = (
                earlier[STARTUP_KEY].text
                if startup.is_known
                else self._startup_text(startup.number)
            )
            health.add_steps(health.path_of(partition), text)
            if text is not None:
                rows.append(_checked_row(owner, STARTUP_KEY, startup.digest, text))
        self._writers["checked"].add(rows)
        return broker_health.partition_share(health.plan, partition, results)

    def _startup_text(self, number: int) -> str | None:
        return next((result.text for result in self._startup_results.take(number)), None)

    def _new_stamp(self, entry: InventoryEntry, summary: SegmentSummary) -> StoredSegment:
        return replace(
            entry.stored,
            spans=self._transaction.moved(summary.spans),
            first_batch=summary.content.first_batch,
            codecs=codec_names(summary.content.codecs),
            problems=summary.problems,
            unreadable=bool(summary.problems) and not is_readable(entry.segment),
        )


class _BrokerHealth:
    def __init__(self, plan: CheckPlan) -> None:
        self.plan = plan
        self._findings = SortedSpool[Finding](sort_key)
        self._steps: list[tuple[str, tuple[StartupStep, ...]]] | None = []
        self._hides_start = False

    def add_findings(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._hides_start |= unreadable_files.prevents_prediction(finding)
            self._findings.add([finding])

    def path_of(self, partition: Partition) -> str:
        log_directory = self.plan.log_directory(partition)
        name = partition.directory
        return name if log_directory is None else f"{log_directory}/{name}"

    def add_steps(self, directory: str, text: str | None) -> None:
        """Adds the start-up steps in one directory. `text`: JSON, or None if they are unknown."""
        if text is None:
            self._steps = None
        elif self._steps is not None:
            self._steps.append((directory, finding_rows.steps_from_json(text)))

    def finish(self) -> tuple[Restart | None, Iterable[Finding]]:
        """Returns the predicted start-up and all findings, most severe first."""
        self.add_findings(broker_health.plan_findings(self.plan))
        restart = None
        if not self._hides_start and self._steps is not None:
            restart = self.plan.restart(self._steps)
        if restart is None:
            return restart, self._findings
        self.add_findings(state.check_restart(restart, self.plan.assumed_release.release))
        return restart, broker_health.fit_to_start(self._findings, restart)


class Cursor(Generic[T]):
    """Reads a sorted stream of values, one key after the other."""

    def __init__(self, values: Iterator[T], key: Callable[[T], Any]) -> None:
        self._values = values
        self._key = key
        self._next = next(values, None)

    def take(self, key: Any) -> Iterator[T]:
        """Yields the next values of the stream, up to the first value with a different key."""
        while self._next is not None and self._key(self._next) == key:
            value = self._next
            self._next = next(self._values, None)
            yield value


def _row_key(findings: pa.Table, place: int) -> tuple:
    (row,) = findings.slice(place, 1).select(KEY_COLUMNS).to_pylist()
    return place_key(**row)


def set_column(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), values)


def _checked_row(owner: dict[str, Any], key: SegmentKey, digest: str, text: str) -> dict[str, Any]:
    base_offset, suffix = key
    return owner | {"base_offset": base_offset, "suffix": suffix, "digest": digest, "json": text}


def _fill_segment_bytes(path: Path, limits: SegmentBytes) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, use_threads=False)
            columns = (rows[name].to_pylist() for name in ("broker", "topic", "partition"))
            owners = list(zip(*columns, strict=True))
            owner_limits = {owner: limits.find(*owner) for owner in set(owners)}
            for place, name in enumerate(LIMIT_COLUMNS):
                values = [owner_limits[owner][place] for owner in owners]
                rows = set_column(rows, name, column(values, SEGMENTS.field(name).type))
            yield rows
