"""Reads the rows of the old catalog, one partition directory after the other.

In each table, the rows of a directory are consecutive. So a first row and a row count are enough to
find them. Directories are processed in the order of their names, as in the previous ingest. So each
row group is read once.
"""

import os
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.analysis.serialization import encode
from kafkaviz.errors import CannotOpen
from kafkaviz.log.tiered import tiered_view
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import RowRange, Spans, StoredSegment, version
from kafkaviz.pipeline.catalog.schema import FILE_KINDS, TABLES
from kafkaviz.pipeline.ingest import check_reuse, stored_checks
from kafkaviz.pipeline.ingest.check_reuse import CheckedText, IngestChecks, SegmentKey
from kafkaviz.pipeline.ingest.log_startup import LogStartup
from kafkaviz.pipeline.ingest.segment_rows import partition_columns
from kafkaviz.pipeline.read.inventory import (
    Inventory,
    InventoryEntry,
    PartitionEntries,
    has_same_content,
)
from kafkaviz.pipeline.read.rows import STATISTICS_COLUMNS, SegmentStatistics
from kafkaviz.units import replace_surrogates

Owner = tuple[str, str]  # broker, and directory as returned by `storable_name`


@dataclass(frozen=True)
class StoredPartition:
    """The segments in one directory whose rows in the old catalog can be kept."""

    segments: Mapping[SegmentKey, tuple[StoredSegment, SegmentStatistics]]

    def find(self, entry: InventoryEntry) -> StoredSegment | None:
        """Returns the old catalog's segment. None: the segment is new, or a file has changed."""
        old, _ = self.segments.get((entry.stored.base_offset, entry.stored.suffix), (None, None))
        return old if old is not None and has_same_content(entry, old) else None

    def get(self, entry: InventoryEntry) -> tuple[StoredSegment, SegmentStatistics]:
        return self.segments[entry.stored.base_offset, entry.stored.suffix]


FINDINGS_AT_ONCE = 256  # fewer rows than in other tables, because findings are long
NO_SEGMENTS = StoredPartition({})
# for an unchanged directory, the rows of these tables are copied
COPIED_TABLES = ("partitions", "segments", "stamps", "checked", "retention")
SEGMENT_COLUMNS = [*STATISTICS_COLUMNS, *(f"{kind}_allocated_bytes" for kind in FILE_KINDS)]
STAMP_COLUMNS = ["broker", "base_offset", "suffix", "json"]
CHECKED_COLUMNS = ["base_offset", "suffix", "digest", "json"]
RETENTION_COLUMNS = ["until_ms", "now_ms", "limits_json"]
# codes of findings that time or file permissions may change, even if all files stay the same
UNSTEADY_CODES = (
    "timestamp-in-future", "open-transaction", "hanging-transaction", "unreadable-file",
)  # fmt: skip


class DirectoryTables(NamedTuple):
    """The rows of one directory in five tables of the old catalog."""

    partitions: pa.Table
    segments: pa.Table
    stamps: pa.Table  # one row for the directory, then one row per segment
    checked: pa.Table
    retention: pa.Table


class _Rows(NamedTuple):
    """The first row and the row count of a directory in a table."""

    first_row: int
    rows: int
    number: int  # the number of directories that come before this one in the table


class _RowGroup(NamedTuple):
    rows: int
    file: pq.ParquetFile
    number: int


class TableRows:
    """Reads slices of a table, with one row group in memory at a time."""

    def __init__(self, catalog: Catalog, name: str, columns: Sequence[str] | None = None) -> None:
        """Prepares to read columns of a table. Reads only the footers of the table's files."""
        self._table = TABLES[name]
        self._columns = self._table.names if columns is None else list(columns)
        self._groups: list[_RowGroup] = []
        self._starts: list[int] = []  # the first row of each row group
        first_row = 0
        for name_of_file in catalog.info.tables[name]:
            file = pq.ParquetFile(catalog.path / name / name_of_file)
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                self._groups.append(_RowGroup(rows, file, group))
                self._starts.append(first_row)
                first_row += rows
        self._loaded: tuple[int, pa.Table] | None = None

    def with_columns(self) -> "TableRows":
        rows = copy(self)
        rows._columns = self._table.names
        rows._loaded = None
        return rows

    def slice(self, first_row: int, rows: int) -> pa.Table:
        end_row = first_row + rows
        parts = []
        place = max(bisect_right(self._starts, first_row) - 1, 0)
        while place < len(self._groups) and (start := self._starts[place]) < end_row:
            low = max(first_row, start)
            high = min(end_row, start + self._groups[place].rows)
            if low < high:
                parts.append(self._load(place).slice(low - start, high - low))
            place += 1
        return pa.concat_tables(parts) if parts else self._table.empty_table().select(self._columns)

    def _load(self, place: int) -> pa.Table:
        if self._loaded is None or self._loaded[0] != place:
            _, file, group = self._groups[place]
            self._loaded = place, file.read_row_group(group, self._columns, use_threads=False)
        return self._loaded[1]


class StoredRows:
    """Reads the rows of single partition directories from the old catalog."""

    def __init__(
        self,
        catalog: Catalog,
        inventory: Inventory,
        missing: Collection[tuple[str, str]] = (),
        *,
        needs_sweep: bool = False,
    ) -> None:
        """Finds the first row of each directory.

        `missing` has (table, file name) of each missing catalog file. The rows of these files are
        computed again. If `needs_sweep`, only segments with rows in table `sweep` are kept.
        """
        self._catalog = catalog
        self._missing = missing
        self._needs_sweep = needs_sweep
        self.info: catalog_info.CatalogInfo = catalog.info
        lost = {table for table, _ in missing}
        # everything is read again if another version wrote the rows, or if they lack a column
        if catalog.info.kafkaviz != version() or catalog.info.format != catalog_info.FORMAT:
            lost |= {"stamps", "checked"}
        paths = {source.broker: source.paths for source in catalog.info.sources}
        self._brokers = {
            source.broker
            for source in inventory.sources
            if paths.get(source.broker) == source.paths
        }
        self._stamps = {} if lost & {"stamps", "segments"} else _places(catalog, "stamps")
        if self._stamps:
            self._stamp_rows = TableRows(catalog, "stamps", STAMP_COLUMNS)
            self._segment_rows = TableRows(catalog, "segments", SEGMENT_COLUMNS)
        self._checked_rows: TableRows | None = None
        self._checked: dict[Owner, _Rows] = {}
        if "checked" not in lost:
            with suppress(CannotOpen):  # the results are computed again
                self._checked = _places(catalog, "checked")
                self._checked_rows = TableRows(catalog, "checked", CHECKED_COLUMNS)
        self._can_copy = False
        self._compared_rows: list[TableRows] = []  # in the order of the fields of `DirectoryTables`
        self._copied_rows: list[TableRows] = []
        if self._stamps and self._checked_rows and not lost & {*COPIED_TABLES, "findings"}:
            self._compared_rows = [
                TableRows(catalog, "partitions"),
                self._segment_rows,
                self._stamp_rows,
                self._checked_rows,
                TableRows(catalog, "retention", RETENTION_COLUMNS),
            ]
            with suppress(CannotOpen):  # the results are computed again
                self._retention = _places(catalog, "retention")
                self._can_copy = catalog.info.rows["partitions"] == len(self._stamps)

    def partition(self, broker: str, directory: str) -> StoredPartition:
        place = self._stamps.get((broker, catalog_info.storable_name(directory)))
        if place is None or broker not in self._brokers:
            return NO_SEGMENTS
        # the first row is about the directory itself; table `segments` has no such row
        rows = self._stamp_rows.slice(place.first_row + 1, place.rows - 1).to_pylist()
        segments = [catalog_info.from_row(row, self.info) for row in rows]
        values = self._segment_rows.slice(place.first_row - place.number, place.rows - 1)
        values = values.select(STATISTICS_COLUMNS).to_pylist()
        segments_by_key: dict[SegmentKey, tuple[StoredSegment, SegmentStatistics]] = {}
        for segment, row in zip(segments, values, strict=True):
            if isinstance(segment, StoredSegment) and self.has_rows(segment.spans):
                statistics = SegmentStatistics(**row, first_batch=segment.first_batch)
                segments_by_key[segment.base_offset, segment.suffix] = segment, statistics
        return StoredPartition(segments_by_key)

    def checked(self, broker: str, directory: str) -> dict[SegmentKey, CheckedText]:
        """Returns the stored check results of a directory and its segments."""
        place = self._checked.get((broker, catalog_info.storable_name(directory)))
        if place is None or self._checked_rows is None:
            return {}
        try:
            rows = self._checked_rows.slice(place.first_row, place.rows).to_pylist()
        except (pa.ArrowException, OSError):
            return {}
        return {
            (row["base_offset"], row["suffix"]): CheckedText(row["digest"], row["json"])
            for row in rows
        }

    def rows_to_compare(self, broker: str, directory: str) -> DirectoryTables | None:
        """Returns the rows that show whether a directory is unchanged. None: rows are missing."""
        if not self._can_copy or broker not in self._brokers:
            return None
        return self._tables((broker, catalog_info.storable_name(directory)), self._compared_rows)

    def rows_to_copy(self, broker: str, directory: str) -> DirectoryTables | None:
        """Returns a directory's rows with all columns, for copying. None: they are unreadable."""
        if not self._copied_rows:
            self._copied_rows = [rows.with_columns() for rows in self._compared_rows]
        return self._tables((broker, catalog_info.storable_name(directory)), self._copied_rows)

    def _tables(self, owner: Owner, tables: Iterable[TableRows]) -> DirectoryTables | None:
        place = self._stamps.get(owner)
        if place is None:
            return None
        partitions, segments, stamps, checked, retention = tables
        with suppress(pa.ArrowException, OSError):
            return DirectoryTables(
                partitions=partitions.slice(place.number, 1),
                # the first row of `stamps` is about the directory itself; `segments` has no such
                # row
                segments=segments.slice(place.first_row - place.number, place.rows - 1),
                stamps=stamps.slice(place.first_row, place.rows),
                checked=_slice(checked, self._checked.get(owner)),
                retention=_slice(retention, self._retention.get(owner)),
            )
        return None

    def findings(self) -> Iterator[pa.Table]:
        """Yields parts of the old table `findings`. Raises CannotOpen if it is damaged."""
        for batch in self._catalog.batches("findings", rows_at_once=FINDINGS_AT_ONCE):
            yield pa.Table.from_batches([batch])

    def has_rows(self, spans: Mapping[str, Sequence[RowRange]]) -> bool:
        """Returns whether all catalog files that contain these rows exist.

        With `needs_sweep`, a segment with rows in table `batches` must also have rows in `sweep`.
        """
        if self._needs_sweep and "batches" in spans and "sweep" not in spans:
            return False
        return not self._missing or not any(
            (table, span.file) in self._missing
            for table, table_spans in spans.items()
            for span in table_spans
        )


def _slice(table: TableRows, place: _Rows | None) -> pa.Table:
    return table.slice(place.first_row, place.rows) if place else table.slice(0, 0)


def _places(catalog: Catalog, name: str) -> dict[Owner, _Rows]:
    owners = (
        owner
        for batch in catalog.batches(name, ["broker", "directory"])
        for owner in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    places: dict[Owner, _Rows] = {}
    first_row = 0
    for owner, rows in groupby(owners):
        count = sum(1 for _ in rows)
        places[owner] = _Rows(first_row, count, len(places))
        first_row += count
    return places


class UnchangedDirectories:
    """Finds partition directories whose rows can be copied from the old catalog.

    Compares everything that the rows depend on: size and time of every file, checkpointed offsets,
    the PartitionFacts for the checks, and the retention limits. If findings depend on the clock,
    the directory is examined again.

        orders-0   all files unchanged                          its rows are copied
        orders-1   all files unchanged, a transaction is open   findings are made, nothing is read
        orders-2   a segment has grown                          the segment is read, findings made
    """

    def __init__(
        self, inventory: Inventory, stored: StoredRows, checks: IngestChecks | None
    ) -> None:
        self._stored = stored
        self._checks = checks
        self._brokers: set[str] = set()
        self._unsteady: set[tuple[str, str]] = set()  # pairs of broker and directory
        try:
            for findings in stored.findings():
                columns = (findings[name].to_pylist() for name in ("code", "broker", "directory"))
                self._unsteady.update(
                    (broker, directory)
                    for code, broker, directory in zip(*columns, strict=True)
                    if code in UNSTEADY_CODES
                )
        except CannotOpen:  # without findings, no directory counts as unchanged
            return
        self._brokers.update(
            name for name, broker in inventory.brokers if not tiered_view.sources(broker.path)
        )

    def spans(self, entries: PartitionEntries, startup: LogStartup | None) -> list[Spans] | None:
        """Returns where each segment's rows are. None: the directory must be examined again.

        `startup` is None if broker start-up does not load the log, or no checks are made.
        """
        directory = entries.stored.directory
        if (
            entries.broker not in self._brokers
            or directory != entries.partition.directory  # this name occurs in two log directories
            or entries.partition.remote_bases
            or entries.partition.remote_gaps
            or replace_surrogates(directory) != directory
            or catalog_info.storable_name(directory) != directory
        ):
            return None
        tables = self._stored.rows_to_compare(entries.broker, directory)
        if tables is None or not _has_same_facts(entries, tables):
            return None
        if self._checks is not None and not (
            (entries.broker, directory) not in self._unsteady
            and all(os.access(info.path, os.R_OK) for info in entries.partition.other_files)
            and _has_same_checks(entries, tables, self._checks, startup)
            and _has_same_retention(entries, tables.retention, self._checks)
        ):
            return None
        return self._segment_spans(entries, tables)

    def _segment_spans(
        self, entries: PartitionEntries, tables: DirectoryTables
    ) -> list[Spans] | None:
        texts = tables.stamps["json"].to_pylist()
        directory_text = catalog_info.directory_text(entries.stored)
        if len(texts) != len(entries.segments) + 1 or texts[0] != directory_text:
            return None
        spans = []
        for entry, text in zip(entries.segments, texts[1:], strict=True):
            segment_spans = catalog_info.unchanged_spans(text, entry.stored, self._stored.info)
            if segment_spans is None or not self._stored.has_rows(segment_spans):
                return None
            spans.append(segment_spans)
        return spans


def _has_same_facts(entries: PartitionEntries, tables: DirectoryTables) -> bool:
    (row,) = tables.partitions.to_pylist()
    return all(row[name] == value for name, value in partition_columns(entries).items()) and all(
        tables.segments[f"{kind}_allocated_bytes"].to_pylist()
        == [
            None if (info := getattr(entry.segment, kind)) is None else info.allocated_bytes
            for entry in entries.segments
        ]
        for kind in FILE_KINDS
    )


def _has_same_checks(
    entries: PartitionEntries,
    tables: DirectoryTables,
    checks: IngestChecks,
    startup: LogStartup | None,
) -> bool:
    columns = ("base_offset", "suffix", "digest", "json")
    keys, suffixes, digests, texts = (tables.checked[name].to_pylist() for name in columns)
    expected: list[tuple[int | None, str, str]] = [
        (entry.stored.base_offset, entry.stored.suffix, checks.digest(entry))
        for entry in entries.segments
        if check_reuse.is_read(entry)
    ]
    now_ms = checks.plans[entries.broker].now_ms
    count = len(expected)
    if startup is not None:
        expected.append((*check_reuse.STARTUP_KEY, startup.digest))
    return (
        list(zip(keys, suffixes, digests, strict=True)) == expected
        and stored_checks.is_independent_of_clock(texts[:count], now_ms)
        and all(map(check_reuse.has_steps, texts[count:]))
    )


def _has_same_retention(
    entries: PartitionEntries, retention: pa.Table, checks: IngestChecks
) -> bool:
    if not retention.num_rows:
        return True
    plan = checks.plans[entries.broker]
    first_ms, last_ms = sorted((plan.now_ms, retention["now_ms"][0].as_py()))
    return set(retention["limits_json"].to_pylist()) == {
        encode(plan.limits(entries.partition))
    } and not any(
        until_ms is not None and first_ms <= until_ms < last_ms
        for until_ms in retention["until_ms"].to_pylist()
    )
