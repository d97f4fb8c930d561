"""What _catalog.json says of a catalog: what was read, as it was then, and where its rows are; and
how it is stored.

Of a hundred thousand segments it has 75 MB.
"""

import gc
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.schema import TABLES

FORMAT = 8
Stamp = tuple[int, int]  # a file's size in bytes and its mtime in ns


@dataclass(frozen=True)
class Verdict:
    """How a broker directory was checked, and the start that is foretold: None where that could not
    be told.
    """

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
    # None where the findings were left out
    checked: Verdict | None = field(default=None, compare=False)


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
    """A segment as it was when it was read, and where its rows are; the n-th one's own row is the
    n-th of table segments.
    """

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
    # whatever could not be read: of the directories, and of all segments
    problems: tuple[Problem, ...] = ()

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table: sum(files.values()) for table, files in self.tables.items()}


@contextmanager
def no_garbage() -> Generator[None]:
    """No search for garbage meanwhile: of 100 000 segments it takes two thirds of the time, and all
    of it stays.
    """
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()


def to_json(info: CatalogInfo) -> dict:
    """The description as it is stored."""
    return {
        "format": FORMAT,
        "kafkaviz": info.kafkaviz,
        "sources": [_source_json(source) for source in info.sources],
        "tables": {
            table: {"rows": info.rows[table], "files": dict(files)}
            for table, files in info.tables.items()
        },
        "problems": _problems_json(info.problems),
        "segments": [_segment_json(segment) for segment in info.segments],
    }


def from_json(found: dict[str, Any]) -> CatalogInfo:
    """The description that was stored so; ValueError, LookupError, TypeError or AttributeError
    where it is none.
    """
    tables = {table: _files(table, found["tables"][table]["files"]) for table in TABLES}
    segments = tuple(_segment(segment, tables) for segment in found["segments"])
    sources = tuple(_source(source) for source in found["sources"])
    return CatalogInfo(
        _is(str, found["kafkaviz"]), sources, tables, segments, _problems(found["problems"])
    )


def version() -> str:
    """The version of kafkaviz that runs; a catalog of another one is read anew."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


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
    return vars(source) | {
        "path": str(source.path),
        "given": str(source.given),
        "checked": source.checked and vars(source.checked),
    }


def _source(found: dict[str, Any]) -> Source:
    _is(str, found["broker"])
    paths = {"path": Path(found["path"]), "given": Path(found["given"])}
    lists = {"directories": tuple(found["directories"]), "files": _stamps(found["files"])}
    checked = {"checked": found["checked"] and _verdict(found["checked"])}
    given: dict[str, Any] = found | paths | lists | checked
    return Source(**given)


def _verdict(found: Mapping) -> Verdict:
    version, because = _is(str, found["assumed_version"]), _is(str, found["because"])
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}", version):
        raise ValueError("a version has no number")
    return Verdict(
        version, because, _is(bool | None, found["clean"]), _is(bool | None, found["starts"])
    )


def _segment_json(segment: StoredSegment) -> dict:
    spans = {
        table: [[span.file, span.first_row, span.rows] for span in spans]
        for table, spans in segment.spans.items()
    }
    return vars(segment) | {"spans": spans, "problems": _problems_json(segment.problems)}


def _segment(found: dict[str, Any], tables: Mapping[str, Mapping[str, int]]) -> StoredSegment:
    spans = {
        table: tuple(_span(span, tables[table]) for span in spans)
        for table, spans in found["spans"].items()
    }
    first_batch = found["first_batch"] and FirstBatch(*map(int, found["first_batch"]))
    codecs = tuple(_is(str, codec) for codec in found["codecs"])
    for kind, name in ((str, "broker"), (str, "directory"), (int, "base_offset"), (str, "suffix")):
        _is(kind, found[name])
    told = {"first_batch": first_batch, "codecs": codecs, "problems": _problems(found["problems"])}
    stored = {"files": _stamps(found["files"]), "spans": spans}
    given: dict[str, Any] = found | stored | told
    return StoredSegment(**given)


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
