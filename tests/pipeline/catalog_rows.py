"""The rows of a catalog, compared with those of the in-process reader."""

from pathlib import Path

import pyarrow.parquet as pq

from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.catalog_info import StoredSegment, segments_of
from kafkaviz.pipeline.catalog.schema import CHECK_TABLES, DISK_COLUMNS, OWN_TABLES, TABLES
from tests.pipeline.plain_rows import tables_of

ORDER = (
    "broker",
    "topic",
    "partition",
    "segment_base_offset",
    "position",
    "slot",
    "base_offset",
    "state",
    "directory",
)


def rows(out: Path, table: str) -> list[dict]:
    """Returns a table's rows in the order of their keys."""
    return in_order(catalog.read(out).table(table).to_pylist())


def stored_segments(out: Path) -> list[StoredSegment]:
    """Returns the segments of a catalog."""
    return list(segments_of(catalog.read(out).stamps()))


def without_checked(rows_: list[dict]) -> list[dict]:
    """Returns the rows without the columns that only checks fill."""
    checked = (*DISK_COLUMNS, "uncompressed_bytes")
    return [{name: row[name] for name in row if name not in checked} for row in rows_]


def in_order(rows_: list[dict]) -> list[dict]:
    return sorted(
        rows_, key=lambda row: tuple((row.get(name) is not None, row.get(name)) for name in ORDER)
    )


def assert_catalog_holds(out: Path, *directories: Path) -> None:
    """Asserts that the catalog has the rows of the in-process reader, and that its description
    lists all of its files with their rows. The columns that a check fills are left out.
    """
    expected = [tables_of(directory) for directory in directories]
    for table in [table_ for table_ in TABLES if table_ not in (*CHECK_TABLES, *OWN_TABLES)]:
        plain_rows = in_order([row for row_ in expected for row in row_[table]])
        assert without_checked(rows(out, table)) == without_checked(plain_rows)
    files = catalog.read(out).info.tables
    for table in TABLES:
        row_counts = {
            path.name: pq.read_metadata(path).num_rows for path in (out / table).iterdir()
        }
        assert row_counts == files[table]
    names = {path.name for path in out.iterdir()}
    assert {name for name in names if not name.startswith(".run-")} == {
        *TABLES,
        "_catalog.json",
        "_catalog.lock",
        ".current",
    }
