"""A catalog: a folder of Parquet tables, and the _catalog.json that says which files are in it and what they were read from.

    OUT/_catalog.json
    OUT/partitions/  segments/  batches/  offset_entries/  time_entries/   each with *.parquet

Readers go by _catalog.json, which one rename replaces: whatever lies there besides belongs to a run that has not ended, or
never did. Nothing here needs Spark.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.pipeline.schema import TABLES

if TYPE_CHECKING:
    from kafkaviz.log.broker import Broker

NAME = "_catalog.json"
FORMAT = 1
Stamp = tuple[int, int]  # a file's size in bytes and its mtime in ns


@dataclass(frozen=True)
class Source:
    """A broker directory as it was when it was read."""

    broker: str  # the name in the tables
    path: Path
    given: Path  # the same, or the archive it was unpacked from
    node_id: str | None
    cluster_id: str | None
    directories: tuple[str, ...]  # of its partitions
    files: Mapping[str, Stamp]  # the small files, by path from the directory


@dataclass(frozen=True)
class Span:
    """Rows of a segment in a Parquet file of a table: `rows` of them from first_row on."""

    file: str
    first_row: int
    rows: int


@dataclass(frozen=True)
class StoredSegment:
    """A segment as it was when it was read, and where its rows are; the n-th one's own row is the n-th of table segments."""

    broker: str
    directory: str
    base_offset: int
    suffix: str  # "", deleted, cleaned or swap
    files: Mapping[str, Stamp]  # by path from the broker directory
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)  # by table, in order
    first_batch: tuple[int, int, int] | None = None  # its bytes, largest timestamp and last offset
    problem: str | None = None  # what could not be read
    unreadable: bool = False  # for want of permission, which no stamp shows

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What tells it from every other segment of the catalog."""
        return self.broker, self.directory, self.base_offset, self.suffix


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and so has no rows."""

    path: str
    what: str


@dataclass(frozen=True)
class CatalogInfo:
    """All that _catalog.json says."""

    kafkaviz: str  # the version that wrote it
    sources: tuple[Source, ...]
    tables: Mapping[str, Mapping[str, int]]  # each table's files and the rows in each
    segments: tuple[StoredSegment, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table: sum(files.values()) for table, files in self.tables.items()}


class Catalog:
    """The tables of a catalog, as its last run left them."""

    def __init__(self, path: Path, info: CatalogInfo) -> None:
        self.path, self.info = path, info

    def table(self, name: str, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        """A table, or the columns and the rows of it that are asked for.

        filters: as pyarrow.parquet.read_table takes them: [("topic", "==", "orders")]. A run that replaces the catalog
        meanwhile is no error: the new one is read then.
        """
        import pyarrow.parquet as pq

        if name not in TABLES:
            raise KafkavizError(f"a catalog has no table {name}; it has {', '.join(TABLES)}")
        files = [self.path / name / file for file in self.info.tables.get(name, {})]
        if not files:
            return TABLES[name].empty_table().select(columns or TABLES[name].names)
        try:
            return pq.read_table(files, columns=columns, filters=filters, schema=TABLES[name])
        except FileNotFoundError:
            info = read_info(self.path)
            if info == self.info:
                raise CannotOpen(self.path, "lacks files that it names", "run kafkaviz ingest --full", kind="missing") from None
            self.info = info
            return self.table(name, columns, filters)

    def is_fresh(self, brokers: "Iterable[Broker]") -> bool:
        """Whether these directories, no more and no fewer, lie there as they were read."""
        from kafkaviz.pipeline.inventory import inventory

        return inventory(brokers).is_in(self.info)


def read(path: Path | str) -> Catalog:
    """The catalog in this folder. Raises CannotOpen of kind "missing" where there is none."""
    path = Path(path)
    return Catalog(path, read_info(path))


def read_info(path: Path) -> CatalogInfo:
    """What _catalog.json says; CannotOpen where there is none, or none that this version understands."""
    try:
        found = json.loads((path / NAME).read_bytes())
        if found["format"] != FORMAT:
            raise CannotOpen(path, f"is a catalog of format {found['format']}, not {FORMAT}", "run kafkaviz ingest again", kind="file")
        return from_json(found)
    except FileNotFoundError:
        raise CannotOpen(path, "is no catalog", "make one: kafkaviz ingest DIR --catalog OUT", kind="missing") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CannotOpen(path / NAME, "is not a catalog's description", "run kafkaviz ingest again", kind="file") from None


def to_json(info: CatalogInfo) -> dict:
    """The description as it is stored."""
    return {
        "format": FORMAT,
        "kafkaviz": info.kafkaviz,
        "sources": [vars(source) | {"path": str(source.path), "given": str(source.given)} for source in info.sources],
        "tables": {table: {"rows": info.rows[table], "files": dict(files)} for table, files in info.tables.items()},
        "problems": [vars(problem) for problem in info.problems],
        "segments": [_segment_json(segment) for segment in info.segments],
    }


def from_json(found: Mapping) -> CatalogInfo:
    """The description that was stored so."""
    return CatalogInfo(
        found["kafkaviz"],
        tuple(_source(source) for source in found["sources"]),
        {table: facts["files"] for table, facts in found["tables"].items()},
        tuple(_segment(segment) for segment in found["segments"]),
        tuple(Problem(**problem) for problem in found["problems"]),
    )


def version() -> str:
    """The version of kafkaviz that runs; a catalog of another one is read anew."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


def _source(found: Mapping) -> Source:
    paths = {"path": Path(found["path"]), "given": Path(found["given"])}
    return Source(**(found | paths | {"directories": tuple(found["directories"]), "files": _stamps(found["files"])}))


def _segment_json(segment: StoredSegment) -> dict:
    spans = {table: [[span.file, span.first_row, span.rows] for span in spans] for table, spans in segment.spans.items()}
    return vars(segment) | {"spans": spans}


def _segment(found: Mapping) -> StoredSegment:
    spans = {table: tuple(Span(*span) for span in spans) for table, spans in found["spans"].items()}
    first_batch = found["first_batch"] and tuple(found["first_batch"])
    return StoredSegment(**(found | {"files": _stamps(found["files"]), "spans": spans, "first_batch": first_batch}))


def _stamps(files: Mapping[str, Sequence[int]]) -> dict[str, Stamp]:
    return {path: (size, mtime_ns) for path, (size, mtime_ns) in files.items()}
