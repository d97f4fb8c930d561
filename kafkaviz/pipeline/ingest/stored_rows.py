"""The old catalog's rows of each partition directory, read when the run gets to it.

The rows of a directory are consecutive in each table, so only their start is stored. A run
processes the directories in the order of their names, like the previous run did. So each row group
is read once.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kafkaviz.errors import CannotOpen
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, CatalogInfo, RowRange, version
from kafkaviz.pipeline.catalog.schema import FILE_KINDS, TABLES
from kafkaviz.pipeline.catalog.stamps import StoredSegment, from_row, storable_name
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry, has_same_content
from kafkaviz.pipeline.read.segment_tables import STATISTICS_COLUMNS, SegmentStatistics

Owner = tuple[str, str]  # broker, and directory as written by storable_name
SegmentKey = tuple[int | None, str]  # base offset (None for the directory), suffix


class CheckedText(NamedTuple):
    """An earlier result, and the digest of the facts it depends on."""

    digest: str
    text: str


@dataclass(frozen=True)
class StoredPartition:
    """The segments of a directory in the old catalog that can be kept."""

    segments: Mapping[SegmentKey, StoredSegment]
    statistics: Mapping[SegmentKey, SegmentStatistics]

    def find(self, entry: InventoryEntry) -> StoredSegment | None:
        """Returns the stored segment if its files have not changed, or None."""
        old = self.segments.get((entry.stored.base_offset, entry.stored.suffix))
        return old if old is not None and has_same_content(entry, old) else None

    def get(self, entry: InventoryEntry) -> tuple[StoredSegment, SegmentStatistics]:
        """Returns the stored segment that `find` returned, and its statistics."""
        key = entry.stored.base_offset, entry.stored.suffix
        return self.segments[key], self.statistics[key]


FINDINGS_AT_ONCE = 256  # findings are long
NOTHING = StoredPartition({}, {})
# tables whose rows are copied for an unchanged directory
COPIED_TABLES = ("partitions", "segments", "stamps", "checked", "retention")
SEGMENT_COLUMNS = [*STATISTICS_COLUMNS, *(f"{kind}_allocated_bytes" for kind in FILE_KINDS)]
STAMP_COLUMNS = ["broker", "base_offset", "suffix", "json"]
CHECKED_COLUMNS = ["base_offset", "suffix", "digest", "json"]
RETENTION_COLUMNS = ["until_ms", "now_ms", "limits_json"]


class DirectoryTables(NamedTuple):
    """The rows of a directory in the tables that the driver writes, except findings and steps.

    Attributes:
        stamps: the row of the directory, then one row per segment.
    """

    partitions: pa.Table
    segments: pa.Table
    stamps: pa.Table
    checked: pa.Table
    retention: pa.Table


class _Rows(NamedTuple):
    """Where the rows of a directory are.

    Attributes:
        number: the index of the directory in the table, counted from 0.
    """

    first_row: int
    rows: int
    number: int


class _RowGroup(NamedTuple):
    rows: int
    file: pq.ParquetFile
    number: int


class TableRows:
    """Slices of a table of the old catalog; one row group is in memory at a time."""

    def __init__(self, catalog: Catalog, name: str, columns: Sequence[str] | None = None) -> None:
        """Reads only the footers of the files.

        Args:
            columns: the columns to read, by default all.
        """
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
    """The rows of the old catalog, by partition directory."""

    def __init__(
        self,
        catalog: Catalog,
        inventory: Inventory,
        missing: Collection[tuple[str, str]] = (),
        *,
        needs_sweep: bool = False,
    ) -> None:
        """Finds where the rows of each directory begin.

        Args:
            missing: the table and name of each missing file of the catalog. Its contents must be
                read again, except those of table partitions, which need no reading.
            needs_sweep: whether the rows of a sweep must be present too.
        """
        self._catalog = catalog
        self._missing = missing
        self._needs_sweep = needs_sweep
        self.info: CatalogInfo = catalog.info
        lost = {table for table, _ in missing}
        if catalog.info.kafkaviz != version():
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
            with suppress(CannotOpen):  # its results are found again
                self._checked = _places(catalog, "checked")
                self._checked_rows = TableRows(catalog, "checked", CHECKED_COLUMNS)
        self._can_copy = False
        self._compared_rows: list[TableRows] = []  # in the order of DirectoryTables
        self._copied_rows: list[TableRows] = []
        if catalog.info.format != FORMAT:  # a column is missing
            lost |= set(COPIED_TABLES)
        if self._stamps and self._checked_rows and not lost & {*COPIED_TABLES, "findings"}:
            self._compared_rows = [
                TableRows(catalog, "partitions"),
                self._segment_rows,
                self._stamp_rows,
                self._checked_rows,
                TableRows(catalog, "retention", RETENTION_COLUMNS),
            ]
            with suppress(CannotOpen):  # its results are found again
                self._retention = _places(catalog, "retention")
                self._can_copy = catalog.info.rows["partitions"] == len(self._stamps)

    def partition(self, broker: str, directory: str) -> StoredPartition:
        place = self._stamps.get((broker, storable_name(directory)))
        if place is None or broker not in self._brokers:
            return NOTHING
        # the first row is that of the directory, which table segments lacks
        rows = self._stamp_rows.slice(place.first_row + 1, place.rows - 1).to_pylist()
        segments = [from_row(row, self.info) for row in rows]
        values = (
            self._segment_rows.slice(place.first_row - place.number, place.rows - 1)
            .select(STATISTICS_COLUMNS)
            .to_pylist()
        )
        segment_rows = [
            ((segment.base_offset, segment.suffix), segment, row)
            for segment, row in zip(segments, values, strict=True)
            if isinstance(segment, StoredSegment) and self.has_rows(segment.spans)
        ]
        return StoredPartition(
            {key: segment for key, segment, _ in segment_rows},
            {
                key: SegmentStatistics(**row, first_batch=segment.first_batch)
                for key, segment, row in segment_rows
            },
        )

    def checked(self, broker: str, directory: str) -> dict[SegmentKey, CheckedText]:
        """Returns the earlier check results of a directory and its segments."""
        place = self._checked.get((broker, storable_name(directory)))
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

    def compared(self, broker: str, directory: str) -> DirectoryTables | None:
        """Returns the columns that show whether a directory's rows may be copied, or None.

        None means that they cannot be read.
        """
        if not self._can_copy or broker not in self._brokers:
            return None
        return self._tables((broker, storable_name(directory)), self._compared_rows)

    def copied(self, broker: str, directory: str) -> DirectoryTables | None:
        """Returns all rows of a directory, or None if they cannot be read."""
        if not self._copied_rows:
            self._copied_rows = [rows.with_columns() for rows in self._compared_rows]
        return self._tables((broker, storable_name(directory)), self._copied_rows)

    def _tables(self, owner: Owner, tables: Iterable[TableRows]) -> DirectoryTables | None:
        place = self._stamps.get(owner)
        if place is None:
            return None
        partitions, segments, stamps, checked, retention = tables
        with suppress(pa.ArrowException, OSError):
            return DirectoryTables(
                partitions=partitions.slice(place.number, 1),
                # the first row of stamps is that of the directory, which table segments lacks
                segments=segments.slice(place.first_row - place.number, place.rows - 1),
                stamps=stamps.slice(place.first_row, place.rows),
                checked=_slice(checked, self._checked.get(owner)),
                retention=_slice(retention, self._retention.get(owner)),
            )
        return None

    def findings(self) -> Iterator[pa.Table]:
        """Yields the findings of all brokers in order, in parts.

        Raises:
            CannotOpen: they cannot be read.
        """
        for batch in self._catalog.batches("findings", rows_at_once=FINDINGS_AT_ONCE):
            yield pa.Table.from_batches([batch])

    def has_rows(self, spans: Mapping[str, Sequence[RowRange]]) -> bool:
        """Returns whether all files with the rows of a segment exist."""
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
    places: dict[Owner, _Rows] = {}
    owner = None
    first_row = 0
    row_number = 0
    for batch in catalog.batches(name, ["broker", "directory"]):
        columns = (column.to_pylist() for column in batch.columns)
        for next_owner in zip(*columns, strict=True):
            if next_owner != owner:
                if owner is not None:
                    places[owner] = _Rows(first_row, row_number - first_row, len(places))
                owner = next_owner
                first_row = row_number
            row_number += 1
    if owner is not None:
        places[owner] = _Rows(first_row, row_number - first_row, len(places))
    return places
