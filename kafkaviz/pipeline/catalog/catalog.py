"""A catalog: a folder of Parquet tables with a description, _catalog.json.

    OUT/_catalog.json     lists the table files and the directories that were read
    OUT/partitions/  segments/  batches/  offset_entries/  time_entries/  sweep/  findings/
        restart_steps/  retention/  checked/  stamps/
            each with *.parquet

All of these are links into the folder of the last ingest. The next ingest replaces them all with
one rename (commit.py), so the tables always fit _catalog.json. Reading a catalog does not need
Spark.
"""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkaviz.analysis.findings import SEVERITIES
from kafkaviz.errors import CannotOpen, KafkavizError, system_problem
from kafkaviz.format.names import CATALOG_FILE
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, CatalogInfo, StampRow, StoredSegment
from kafkaviz.pipeline.catalog.schema import TABLES

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog.findings import StoredHealth

NAME = CATALOG_FILE
ROWS_AT_ONCE = 1024  # most rows of a table that are read at once
HEALTH_TABLES = ("findings", "restart_steps", "retention", "partitions")
FULL_INGEST = message("errors.full_ingest")
INGEST_AGAIN = message("errors.ingest_again")


class Catalog:
    def __init__(self, path: Path, info: CatalogInfo) -> None:
        self.path = path
        self.info = info

    def table(
        self, name: str, columns: Sequence[str] | None = None, filters: Any = None
    ) -> pa.Table:
        """Returns a table, or some of its columns and rows.

        If an ingest has replaced the catalog since it was opened, the new catalog is read. The
        `filters` are passed to pyarrow.parquet.read_table, such as [("topic", "==", "orders")].
        Raises CannotOpen if files of the table are missing or damaged.
        """
        return self._read(name, columns, filters)[1]

    def batches(
        self, name: str, columns: Sequence[str] | None = None, rows_at_once: int = ROWS_AT_ONCE
    ) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a table in order, as Arrow batches.

        Raises CannotOpen if files of the table are missing or damaged, or the catalog was replaced.
        """
        import pyarrow.parquet as pq

        with self._translate_faults(name):
            for file in self.info.tables[name]:
                with pq.ParquetFile(self.path / name / file) as rows:
                    yield from rows.iter_batches(rows_at_once, columns=columns, use_threads=False)

    def stamps(self) -> Iterator[StampRow]:
        """Yields the rows of table `stamps`: the size and time of each file when it was read.

        Raises CannotOpen if the table cannot be read, or a row is invalid.
        """
        columns = ["broker", "base_offset", "suffix", "json"]
        with self._translate_faults("stamps"):
            for batch in self.batches("stamps", columns):
                yield from (catalog_info.from_row(row, self.info) for row in batch.to_pylist())

    def segments(self, columns: Sequence[str]) -> tuple[list[StoredSegment], pa.Table]:
        """Returns (stored segments, table `segments`). Row n of the table is for stored segment n.

        Raises CannotOpen if a file cannot be read, or the tables differ in the number of segments.
        """
        info, rows = self._read("segments", columns)
        stored_segments = list(catalog_info.segments_of(Catalog(self.path, info).stamps()))
        if rows.num_rows != len(stored_segments):
            count = len(stored_segments)
            what = message("errors.wrong_row_count", rows=rows.num_rows, segments=count)
            raise CannotOpen(self.path / "segments", what, FULL_INGEST)
        return stored_segments, rows

    def health(self, broker: str) -> "StoredHealth":
        """Returns a broker's findings, as analysis.broker_health.check returns them.

        Raises CannotOpen if a table cannot be read, or the catalog has no findings of this broker
        (kind "missing").
        """
        from kafkaviz.pipeline.catalog.findings import stored_health

        broker_filter = [("broker", "==", broker)]
        while True:
            tables = [self._read(name, filters=broker_filter) for name in HEALTH_TABLES]
            info, _ = tables[0]
            if all(table_info == info for table_info, _ in tables):
                break
        source = next((candidate for candidate in info.sources if candidate.broker == broker), None)
        if source is None or source.checked is None:
            what = message("errors.no_findings_of", broker=broker)
            advice = message("errors.ingest_with_findings")
            raise CannotOpen(self.path, what, advice, kind="missing")
        try:
            return stored_health(source.checked, *(table for _, table in tables))
        except ValueError:
            what = message("errors.unknown_findings")
            raise CannotOpen(self.path / "findings", what, FULL_INGEST) from None

    def severities(self) -> dict[str, int]:
        counts = Counter(
            severity
            for batch in self.batches("findings", ["severity"])
            for severity in batch["severity"].to_pylist()
        )
        return {severity: counts[severity] for severity in SEVERITIES}

    def _read(
        self, name: str, columns: Sequence[str] | None = None, filters: Any = None
    ) -> tuple[CatalogInfo, pa.Table]:
        if name not in TABLES:
            raise KafkavizError(message("errors.no_such_table", name=name, names=tuple(TABLES)))
        info = self.info
        try:
            return info, _rows(self.path, info, name, columns, filters)
        except FileNotFoundError:
            self.info = read_info(self.path)
            if self.info == info:
                raise lacks_files(self.path) from None
            return self._read(name, columns, filters)
        except (pa.ArrowException, OSError) as fault:
            raise self._unreadable(name, fault) from None

    @contextmanager
    def _translate_faults(self, name: str) -> Generator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, ValueError) as fault:
            raise self._unreadable(name, fault) from None

    def _unreadable(self, name: str, fault: Exception) -> CannotOpen:
        reason = next(iter(str(fault).splitlines()), type(fault).__name__)
        what = message("errors.cannot_be_read", reason=reason)
        return CannotOpen(self.path / name, what, FULL_INGEST)


def lacks_files(path: Path) -> CannotOpen:
    return CannotOpen(path, message("errors.lacks_files"), FULL_INGEST, kind="missing")


def read(path: Path | str) -> Catalog:
    """Opens a catalog. Raises CannotOpen if it is unreadable, or missing (kind "missing")."""
    path = Path(path)
    return Catalog(path, read_info(path))


def read_info(path: Path) -> CatalogInfo:
    """Reads _catalog.json. Raises CannotOpen if it is missing, invalid or of another format."""
    try:
        document = json.loads((path / NAME).read_bytes())
        if document["format"] not in catalog_info.READ_FORMATS:
            catalog_format = str(document["format"])
            what = message("errors.other_catalog_format", format=catalog_format, expected=FORMAT)
            raise CannotOpen(path, what, INGEST_AGAIN)
        return catalog_info.from_json(document)
    except FileNotFoundError:
        advice = message("errors.make_a_catalog")
        raise CannotOpen(path, message("errors.is_no_catalog"), advice, kind="missing") from None
    except OSError as error:
        raise CannotOpen(path / NAME, system_problem(error), INGEST_AGAIN) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        what = message("errors.is_no_description")
        raise CannotOpen(path / NAME, what, INGEST_AGAIN) from None


def missing_files(path: Path, info: CatalogInfo) -> set[tuple[str, str]]:
    """Returns (table, file name) of each Parquet file that is missing or damaged.

    Tables `segments` and `stamps` are read completely, because every ingest needs them. For other
    tables, only the Parquet footers are read.
    """
    missing = {
        (table, file)
        for table, files in info.tables.items()
        for file, rows in files.items()
        if not _is_intact(path, table, file, rows)
    }
    if any(table == "stamps" for table, _ in missing):
        return missing
    try:
        count = sum(1 for _ in catalog_info.segments_of(Catalog(path, info).stamps()))
    except CannotOpen:
        return missing | {("stamps", NAME)}
    # if the counts differ, `segments` and `stamps` have rows of different segments
    return missing if info.rows["segments"] == count else missing | {("segments", NAME)}


def _rows(
    path: Path, info: CatalogInfo, name: str, columns: Sequence[str] | None, filters: Any
) -> pa.Table:
    import pyarrow.parquet as pq

    files = info.tables[name]
    if not files:
        return TABLES[name].empty_table().select(columns or TABLES[name].names)
    paths = [path / name / file for file in files]
    rows = pq.read_table(paths, columns=columns, filters=filters, schema=TABLES[name])
    if filters is None and rows.num_rows != sum(files.values()):
        raise pa.ArrowInvalid(f"there are {rows.num_rows} rows, not {sum(files.values())}")
    return rows


def _is_intact(path: Path, table: str, file: str, rows: int) -> bool:
    import pyarrow.parquet as pq

    try:
        if table == "segments":
            with pq.ParquetFile(path / table / file) as parquet:
                batches = parquet.iter_batches(ROWS_AT_ONCE, use_threads=False)
                count = sum(batch.num_rows for batch in batches)
                return count == rows and parquet.schema_arrow.equals(TABLES[table])
        return pq.read_metadata(path / table / file).num_rows == rows
    except (pa.ArrowException, OSError):
        return False
