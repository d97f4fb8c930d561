"""A catalog: a folder of Parquet tables, and its _catalog.json.

That says which files are in it and what they were read from.

    OUT/_catalog.json
    OUT/partitions/  segments/  batches/  offset_entries/  time_entries/  sweep/  findings/
    restart_steps/  retention/  checked/  stamps/
        each with *.parquet

All of these are links to .current/…, and .current is one to the folder of the last run, which one
rename replaces (commit.py): who lists a table's folder reads what _catalog.json names, each row
once, and both change at the same instant. Nothing here needs Spark.
"""

import json
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkaviz.analysis.findings.finding import SEVERITIES
from kafkaviz.errors import CannotOpen, KafkavizError, system_problem
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import CATALOG_FILE
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, READ_FORMATS, CatalogInfo, from_json
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.catalog.stamps import StampRow, StoredSegment, from_row, segments_of

if TYPE_CHECKING:
    from kafkaviz.log.broker import Broker
    from kafkaviz.pipeline.ingest.findings import StoredHealth

NAME = CATALOG_FILE
ROWS_AT_ONCE = 1024  # of a table that is gone through
FULL_INGEST = message("errors.full_ingest")


class Catalog:
    """The tables of a catalog, as its last run left them."""

    def __init__(self, path: Path, info: CatalogInfo) -> None:
        self.path, self.info = path, info

    def table(
        self, name: str, columns: Sequence[str] | None = None, filters: Any = None
    ) -> pa.Table:
        """A table, or the columns and the rows of it that are asked for.

        A run that replaces the catalog meanwhile is no error: the new one is read then.

        Args:
            filters: as pyarrow.parquet.read_table takes them: [("topic", "==", "orders")].

        Raises:
            CannotOpen: files of it are missing or damaged.
        """
        return self._read(name, columns, filters)[1]

    def batches(
        self, name: str, columns: Sequence[str] | None = None, rows_at_once: int = ROWS_AT_ONCE
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a table in their order, some at a time.

        Raises:
            CannotOpen: files of it are missing or damaged, or the catalog was replaced meanwhile.
        """
        import pyarrow.parquet as pq

        with self._translate_faults(name):
            for file in self.info.tables[name]:
                with pq.ParquetFile(self.path / name / file) as rows:
                    yield from rows.iter_batches(rows_at_once, columns=columns, use_threads=False)

    def stamps(self) -> Iterator[StampRow]:
        """What was read, as it was then: table stamps, row by row.

        Raises:
            CannotOpen: as of `batches`; a row that holds something else.
        """
        columns = ["broker", "base_offset", "suffix", "json"]
        with self._translate_faults("stamps"):
            for batch in self.batches("stamps", columns):
                yield from (from_row(row, self.info) for row in batch.to_pylist())

    def segments(self, columns: Sequence[str]) -> tuple[list[StoredSegment], pa.Table]:
        """All segments as they were read, and columns of table segments of the same run.

        The n-th of them is the n-th row.

        Raises:
            CannotOpen: something that must be read cannot be.
        """
        info, rows = self._read("segments", columns)
        stored_segments = list(segments_of(Catalog(self.path, info).stamps()))
        if rows.num_rows != len(stored_segments):
            raise CannotOpen(
                self.path / "segments",
                message(
                    "errors.wrong_row_count", rows=rows.num_rows, segments=len(stored_segments)
                ),
                FULL_INGEST,
            )
        return stored_segments, rows

    def is_fresh(self, brokers: "Iterable[Broker]", level: CheckLevel | None = None) -> bool:
        """Whether the catalog is of these directories as they are now, and its files exist.

        No more directories and no fewer.

        Args:
            level: of the checks that it must hold too.
        """
        from kafkaviz.pipeline.ingest.inventory import inventory

        return inventory(brokers).is_in(self, level) and not missing_files(self.path, self.info)

    def health(self, broker: str) -> "StoredHealth":
        """What was found about a broker, by its name in the tables.

        What analysis.health.broker_health.check says of it.

        Raises:
            CannotOpen: of kind "missing", the catalog was made without findings, or not of this
                broker.
        """
        from kafkaviz.pipeline.ingest.findings import stored_health

        broker_filter = [("broker", "==", broker)]
        while True:
            info, findings = self._read("findings", filters=broker_filter)
            (steps_info, steps), (retention_info, retention) = (
                self._read(name, filters=broker_filter) for name in ("restart_steps", "retention")
            )
            if steps_info == info == retention_info:
                break
        source = next((candidate for candidate in info.sources if candidate.broker == broker), None)
        if source is None or source.checked is None:
            raise CannotOpen(
                self.path,
                message("errors.no_findings_of", broker=broker),
                message("errors.ingest_with_findings"),
                kind="missing",
            )
        try:
            return stored_health(source.checked, findings, steps, retention)
        except ValueError:
            raise CannotOpen(
                self.path / "findings", message("errors.unknown_findings"), FULL_INGEST
            ) from None

    def severities(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        counts = Counter(
            severity
            for batch in self.batches("findings", ["severity"])
            for severity in batch["severity"].to_pylist()
        )
        return {severity: counts[severity] for severity in SEVERITIES}

    def _read(
        self, name: str, columns: Sequence[str] | None = None, filters: Any = None
    ) -> tuple[CatalogInfo, pa.Table]:
        """The rows, and the description that named their files."""
        if name not in TABLES:
            raise KafkavizError(message("errors.no_such_table", name=name, names=tuple(TABLES)))
        info = self.info
        try:
            return info, _rows(self.path, info, name, columns, filters)
        except FileNotFoundError:
            self.info = read_info(self.path)
            if self.info == info:
                raise CannotOpen(
                    self.path, message("errors.lacks_files"), FULL_INGEST, kind="missing"
                ) from None
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
        return CannotOpen(
            self.path / name,
            message("errors.cannot_be_read", reason=_first_line(fault)),
            FULL_INGEST,
        )


def read(path: Path | str) -> Catalog:
    """The catalog in this folder.

    Raises:
        CannotOpen: of kind "missing", there is none.
    """
    path = Path(path)
    return Catalog(path, read_info(path))


def read_info(path: Path) -> CatalogInfo:
    """What _catalog.json says.

    Raises:
        CannotOpen: there is none, or none that this version understands.
    """
    try:
        document = json.loads((path / NAME).read_bytes())
        if document["format"] not in READ_FORMATS:
            raise CannotOpen(
                path,
                message(
                    "errors.other_catalog_format",
                    format=str(document["format"]),
                    expected=FORMAT,
                ),
                message("errors.ingest_again"),
                kind="file",
            )
        return from_json(document)
    except FileNotFoundError:
        raise CannotOpen(
            path, message("errors.is_no_catalog"), message("errors.make_a_catalog"), kind="missing"
        ) from None
    except OSError as error:
        raise CannotOpen(
            path / NAME, system_problem(error), message("errors.ingest_again")
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CannotOpen(
            path / NAME,
            message("errors.is_no_description"),
            message("errors.ingest_again"),
            kind="file",
        ) from None


def missing_files(path: Path, info: CatalogInfo) -> set[tuple[str, str]]:
    """The Parquet files that the description names and that are missing or damaged.

    Each one's table and name.

    Of most only the footer is read; the tables of segments and of stamps, which every run needs,
    are read completely.
    """
    stored_files = [
        (table, file, rows) for table, files in info.tables.items() for file, rows in files.items()
    ]
    missing = {
        (table, file)
        for table, file, rows in stored_files
        if not _is_intact(path, table, file, rows)
    }
    if any(table == "stamps" for table, _ in missing):
        return missing
    try:
        count = sum(1 for _ in segments_of(Catalog(path, info).stamps()))
    except CannotOpen:
        return missing | {("stamps", NAME)}
    # rows of other segments
    return missing if info.rows["segments"] == count else missing | {("segments", NAME)}


def _rows(
    path: Path, info: CatalogInfo, name: str, columns: Sequence[str] | None, filters: Any
) -> pa.Table:
    import pyarrow.parquet as pq

    files = info.tables[name]
    if not files:
        return TABLES[name].empty_table().select(columns or TABLES[name].names)
    rows = pq.read_table(
        [path / name / file for file in files],
        columns=columns,
        filters=filters,
        schema=TABLES[name],
    )
    if filters is None and rows.num_rows != sum(files.values()):
        raise pa.ArrowInvalid(f"there are {rows.num_rows} rows, not {sum(files.values())}")
    return rows


def _is_intact(path: Path, table: str, file: str, rows: int) -> bool:
    """Whether the file can be read and has so many rows."""
    import pyarrow.parquet as pq

    try:
        if table == "segments":
            with pq.ParquetFile(path / table / file) as parquet:
                batches = parquet.iter_batches(ROWS_AT_ONCE, use_threads=False)
                return sum(batch.num_rows for batch in batches) == rows and (
                    parquet.schema_arrow.equals(TABLES[table])
                )
        return pq.read_metadata(path / table / file).num_rows == rows
    except (pa.ArrowException, OSError):
        return False


def _first_line(fault: Exception) -> str:
    return next(iter(str(fault).splitlines()), type(fault).__name__)
