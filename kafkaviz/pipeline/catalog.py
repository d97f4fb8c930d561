"""A catalog: a folder of Parquet tables, and the _catalog.json that says which files are in it and what they were read from.

    OUT/_catalog.json
    OUT/partitions/  segments/  batches/  offset_entries/  time_entries/  sweep/  findings/  restart_steps/  retention/  checked/
        each with *.parquet

Readers go by _catalog.json, which one rename replaces: whatever lies there besides belongs to a run that has not ended, or
never did. Nothing here needs Spark.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from kafkaviz.analyse.finding import SEVERITIES
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.schema import TABLES

if TYPE_CHECKING:
    from kafkaviz.log.broker import Broker
    from kafkaviz.pipeline.findings import Told

NAME = "_catalog.json"
FORMAT = 6
AGAIN = "run kafkaviz ingest --full"
Stamp = tuple[int, int]  # a file's size in bytes and its mtime in ns


@dataclass(frozen=True)
class Verdict:
    """How a broker directory was checked, and the start that is foretold: None where that could not be told."""

    assumed_version: str  # whose behaviour is told: 4.3.1
    because: str
    clean: bool | None = None
    starts: bool | None = None


@dataclass(frozen=True)
class Source:
    """A broker directory as it was when it was read."""

    broker: str  # the name in the tables
    path: Path
    given: Path  # the same, or the archive it was unpacked from
    node_id: str | None
    cluster_id: str | None
    directories: tuple[str, ...]  # of its partitions
    files: Mapping[str, Stamp]  # all but those of segments, by path from the directory
    checked: Verdict | None = field(default=None, compare=False)  # None where the findings were left out


@dataclass(frozen=True)
class Span:
    """Rows of a segment in a Parquet file of a table: `rows` of them from first_row on."""

    file: str
    first_row: int
    rows: int


class FirstBatch(NamedTuple):
    """What a roll before a segment is judged by."""

    size_bytes: int
    max_timestamp_ms: int
    last_offset: int


@dataclass(frozen=True)
class StoredSegment:
    """A segment as it was when it was read, and where its rows are; the n-th one's own row is the n-th of table segments."""

    broker: str
    directory: str
    base_offset: int
    suffix: str  # "", deleted, cleaned or swap
    files: Mapping[str, Stamp]  # by path from the broker directory
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)  # by table, in order
    first_batch: FirstBatch | None = None
    codecs: tuple[str, ...] = ()  # of its batches, as table batches names them
    problems: tuple[Problem, ...] = ()  # its files that could not be read
    unreadable: bool = False  # one of them for want of permission, which no stamp shows

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What tells it from every other segment of the catalog."""
        return self.broker, self.directory, self.base_offset, self.suffix


@dataclass(frozen=True)
class CatalogInfo:
    """All that _catalog.json says."""

    kafkaviz: str  # the version that wrote it
    sources: tuple[Source, ...]
    tables: Mapping[str, Mapping[str, int]]  # each table's files and the rows in each
    segments: tuple[StoredSegment, ...] = ()
    problems: tuple[Problem, ...] = ()  # whatever could not be read: of the directories, and of all segments

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
        meanwhile is no error: the new one is read then. Raises CannotOpen where files of it are missing or damaged.
        """
        return self._read(name, columns, filters)[1]

    def segments(self, columns: Sequence[str]) -> tuple[CatalogInfo, pa.Table]:
        """Columns of table segments, with the description of the same run: its n-th segment is the n-th row. Raises CannotOpen."""
        info, rows = self._read("segments", columns)
        if rows.num_rows != len(info.segments):
            raise CannotOpen(self.path / "segments", f"has {rows.num_rows} rows for {len(info.segments)} segments", AGAIN)
        return info, rows

    def is_fresh(self, brokers: "Iterable[Broker]", findings: bool = False) -> bool:
        """Whether these directories, no more and no fewer, lie there as they were read, and the catalog's files are all there.

        findings: whether those must be there too.
        """
        from kafkaviz.pipeline.inventory import inventory

        info = self.info
        return inventory(brokers).is_in(info, findings) and not lost(self.path, info)

    def health(self, broker: str) -> "Told":
        """What was found about a broker, by its name in the tables: what analyse.health.check says of it.

        Raises CannotOpen of kind "missing" where the catalog was made without findings, or not of this broker.
        """
        from kafkaviz.pipeline.findings import told

        own = [("broker", "==", broker)]
        while True:
            info, findings = self._read("findings", filters=own)
            (same, steps), (also, kept) = (self._read(name, filters=own) for name in ("restart_steps", "retention"))
            if same == info == also:
                break
        source = next((one for one in info.sources if one.broker == broker), None)
        if source is None or source.checked is None:
            raise CannotOpen(self.path, f"holds no findings of {broker}", "make it again, with findings: kafkaviz ingest", kind="missing")
        try:
            return told(source.checked, findings, steps, kept)
        except ValueError:
            raise CannotOpen(self.path / "findings", "holds what no check finds", AGAIN) from None

    def severities(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        told = self.table("findings", columns=["severity"])["severity"].to_pylist()
        return {severity: told.count(severity) for severity in SEVERITIES}

    def _read(self, name: str, columns: Sequence[str] | None = None, filters: Any = None) -> tuple[CatalogInfo, pa.Table]:
        """The rows, and the description that named their files."""
        if name not in TABLES:
            raise KafkavizError(f"a catalog has no table {name}; it has {', '.join(TABLES)}")
        info = self.info
        try:
            return info, _rows(self.path, info, name, columns, filters)
        except FileNotFoundError:
            self.info = read_info(self.path)
            if self.info == info:
                raise CannotOpen(self.path, "lacks files that it names", AGAIN, kind="missing") from None
            return self._read(name, columns, filters)
        except (pa.ArrowException, OSError) as fault:
            raise CannotOpen(self.path / name, f"cannot be read ({_first_line(fault)})", AGAIN) from None


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
    except OSError as error:
        raise CannotOpen(path / NAME, (error.strerror or str(error)).lower(), "run kafkaviz ingest again") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CannotOpen(path / NAME, "is not a catalog's description", "run kafkaviz ingest again", kind="file") from None


def lost(path: Path, info: CatalogInfo) -> set[tuple[str, str]]:
    """The Parquet files that the description names and that are missing or damaged: each one's table and name.

    Of most only the footer is read; the table of segments, which every reader needs, is read whole.
    """
    named = [(table, file, rows) for table, files in info.tables.items() for file, rows in files.items()]
    found = {(table, file) for table, file, rows in named if not _holds(path, table, file, rows)}
    return found if info.rows["segments"] == len(info.segments) else found | {("segments", NAME)}  # rows of other segments


def to_json(info: CatalogInfo) -> dict:
    """The description as it is stored."""
    return {
        "format": FORMAT,
        "kafkaviz": info.kafkaviz,
        "sources": [_source_json(source) for source in info.sources],
        "tables": {table: {"rows": info.rows[table], "files": dict(files)} for table, files in info.tables.items()},
        "problems": _problems_json(info.problems),
        "segments": [_segment_json(segment) for segment in info.segments],
    }


def from_json(found: Mapping) -> CatalogInfo:
    """The description that was stored so; ValueError, LookupError, TypeError or AttributeError where it is none."""
    tables = {table: _files(table, found["tables"][table]["files"]) for table in TABLES}
    segments = tuple(_segment(segment, tables) for segment in found["segments"])
    sources = tuple(_source(source) for source in found["sources"])
    return CatalogInfo(_is(str, found["kafkaviz"]), sources, tables, segments, _problems(found["problems"]))


def version() -> str:
    """The version of kafkaviz that runs; a catalog of another one is read anew."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


def _rows(path: Path, info: CatalogInfo, name: str, columns: Sequence[str] | None, filters: Any) -> pa.Table:
    import pyarrow.parquet as pq

    files = info.tables[name]
    if not files:
        return TABLES[name].empty_table().select(columns or TABLES[name].names)
    rows = pq.read_table([path / name / file for file in files], columns=columns, filters=filters, schema=TABLES[name])
    if filters is None and rows.num_rows != sum(files.values()):
        raise pa.ArrowInvalid(f"there are {rows.num_rows} rows, not {sum(files.values())}")
    return rows


def _holds(path: Path, table: str, file: str, rows: int) -> bool:
    """Whether the file can be read and has so many rows."""
    import pyarrow.parquet as pq

    try:
        if table == "segments":
            return pq.read_table(path / table / file, schema=TABLES[table]).num_rows == rows
        return pq.read_metadata(path / table / file).num_rows == rows
    except (pa.ArrowException, OSError):
        return False


def _first_line(fault: Exception) -> str:
    return next(iter(str(fault).splitlines()), type(fault).__name__)


def _is(kind: Any, value: Any) -> Any:
    """The value, if JSON gave one of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind}")
    return value


def _files(table: str, found: Mapping) -> dict[str, int]:
    """A table's files, which all lie in its folder, and the rows in each."""
    if not all(re.fullmatch(rf"{table}-[\w-]+\.parquet", file) for file in found):
        raise ValueError("a file has no name of this table")
    return {file: _is(int, rows) for file, rows in found.items()}


def _source_json(source: Source) -> dict:
    return vars(source) | {"path": str(source.path), "given": str(source.given), "checked": source.checked and vars(source.checked)}


def _source(found: Mapping) -> Source:
    _is(str, found["broker"])
    paths = {"path": Path(found["path"]), "given": Path(found["given"])}
    lists = {"directories": tuple(found["directories"]), "files": _stamps(found["files"])}
    return Source(**(found | paths | lists | {"checked": found["checked"] and _verdict(found["checked"])}))


def _verdict(found: Mapping) -> Verdict:
    version, because = _is(str, found["assumed_version"]), _is(str, found["because"])
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}", version):
        raise ValueError("a version has no number")
    return Verdict(version, because, _is(bool | None, found["clean"]), _is(bool | None, found["starts"]))


def _segment_json(segment: StoredSegment) -> dict:
    spans = {table: [[span.file, span.first_row, span.rows] for span in spans] for table, spans in segment.spans.items()}
    return vars(segment) | {"spans": spans, "problems": _problems_json(segment.problems)}


def _segment(found: Mapping, tables: Mapping[str, Mapping[str, int]]) -> StoredSegment:
    spans = {table: tuple(_span(span, tables[table]) for span in spans) for table, spans in found["spans"].items()}
    first_batch = found["first_batch"] and FirstBatch(*map(int, found["first_batch"]))
    codecs = tuple(_is(str, codec) for codec in found["codecs"])
    for kind, name in ((str, "broker"), (str, "directory"), (int, "base_offset"), (str, "suffix")):
        _is(kind, found[name])
    told = {"first_batch": first_batch, "codecs": codecs, "problems": _problems(found["problems"])}
    return StoredSegment(**(found | {"files": _stamps(found["files"]), "spans": spans} | told))


def _problems_json(problems: Iterable[Problem]) -> list[dict]:
    return [{"path": str(problem.path), "what": problem.what} for problem in problems]


def _problems(found: Iterable[Mapping]) -> tuple[Problem, ...]:
    return tuple(Problem(Path(problem["path"]), _is(str, problem["what"])) for problem in found)


def _span(found: Sequence, files: Mapping[str, int]) -> Span:
    file, first_row, rows = found
    if not 0 <= first_row <= first_row + rows <= files[file]:
        raise ValueError("a segment's rows lie outside their file")
    return Span(file, first_row, rows)


def _stamps(files: Mapping[str, Sequence[int]]) -> dict[str, Stamp]:
    return {path: (_is(int, size), _is(int, mtime_ns)) for path, (size, mtime_ns) in files.items()}
