"""What _catalog.json says of a catalog, and how it is stored.

It says what was read, as it was then, and where its rows are. Of a hundred thousand segments it has
75 MB.
"""

import gc
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from kafkaviz.analysis.findings.finding import UNCHECKED_CODES
from kafkaviz.analysis.inference.version import AssumedRelease
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.broker import Problem
from kafkaviz.log.remote import address
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog.schema import TABLES

FORMAT = 11
Stamp = tuple[int, int]  # a file's size in bytes and its mtime in ns


@dataclass(frozen=True)
class SourceCheck:
    """How a broker directory was checked, and the start that is predicted.

    None where that could not be known.
    """

    assumed_release: AssumedRelease  # whose behaviour it is
    clean: bool | None = None
    starts: bool | None = None
    level: CheckLevel = CheckLevel.RECORDS


@dataclass(frozen=True, kw_only=True)
class CatalogSource:
    """A broker directory as it was when it was read."""

    broker: str  # the name in the tables
    path: Path
    given: Path  # the same, or the archive it was unpacked from
    node_id: str | None
    cluster_id: str | None
    directories: tuple[str, ...]  # of its partitions
    files: Mapping[str, Stamp]  # all but those of segments, by path from the directory
    # None where the findings were left out
    checked: SourceCheck | None = field(default=None, compare=False)


@dataclass(frozen=True)
class RowRange:
    """Rows of a segment in a Parquet file of a table: `rows` of them from first_row on."""

    file: str
    first_row: int
    rows: int


class FirstBatch(NamedTuple):
    """What a roll before a segment is judged by."""

    size_bytes: int
    max_timestamp_ms: int
    last_offset: int


@dataclass(frozen=True, kw_only=True)
class StoredSegment:
    """A segment as it was when it was read, and where its rows are.

    The n-th one's own row is the n-th of table segments.
    """

    broker: str
    directory: str
    base_offset: int
    suffix: str  # "", deleted, cleaned or swap
    files: Mapping[str, Stamp]  # by path from the broker directory
    spans: Mapping[str, tuple[RowRange, ...]] = field(default_factory=dict)  # by table, in order
    first_batch: FirstBatch | None = None
    codecs: tuple[str, ...] = ()  # of its batches, as table batches names them
    problems: tuple[Problem, ...] = ()  # its files that could not be read
    unreadable: bool = False  # one of them for want of permission, which no stamp shows

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What distinguishes it from every other segment of the catalog."""
        return self.broker, self.directory, self.base_offset, self.suffix


@dataclass(frozen=True)
class CatalogInfo:
    """All that _catalog.json says."""

    kafkaviz: str  # the version that wrote it
    sources: tuple[CatalogSource, ...]
    tables: Mapping[str, Mapping[str, int]]  # each table's files and the rows in each
    segments: tuple[StoredSegment, ...] = ()
    # whatever could not be read: of the directories, and of all segments
    problems: tuple[Problem, ...] = ()

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table: sum(files.values()) for table, files in self.tables.items()}


@contextmanager
def pause_gc() -> Generator[None]:
    """No search for garbage meanwhile.

    Of 100 000 segments it takes two thirds of the time, and all of it stays.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
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


def from_json(document: dict[str, Any]) -> CatalogInfo:
    """The description that was stored so.

    Raises:
        ValueError: the document is no description; so with LookupError, TypeError and
            AttributeError.
    """
    tables = {table: _parse_files(table, document["tables"][table]["files"]) for table in TABLES}
    segments = tuple(_parse_segment(segment, tables) for segment in document["segments"])
    sources = tuple(_parse_source(source) for source in document["sources"])
    return CatalogInfo(
        _ensure_type(str, document["kafkaviz"]),
        sources,
        tables,
        segments,
        _parse_problems(document["problems"]),
    )


def version() -> str:
    """The version of kafkaviz that runs; a catalog of another one is read anew."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


def _ensure_type(kind: Any, value: Any) -> Any:
    """The value, if JSON gave one of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind}")
    return value


def _parse_files(table: str, row_counts: Mapping) -> dict[str, int]:
    """A table's files, which all lie in its folder, and the rows in each."""
    if not all(re.fullmatch(rf"{table}-[\w-]+\.parquet", file) for file in row_counts):
        raise ValueError("a file has no name of this table")
    return {file: _ensure_type(int, rows) for file, rows in row_counts.items()}


def _source_json(source: CatalogSource) -> dict:
    return vars(source) | {
        "path": address.display(source.path),
        "given": address.display(source.given),
        "checked": source.checked and _check_json(source.checked),
    }


def _parse_source(document: dict[str, Any]) -> CatalogSource:
    _ensure_type(str, document["broker"])
    paths = {name: _parse_path(document[name]) for name in ("path", "given")}
    lists = {
        "directories": tuple(document["directories"]),
        "files": _parse_stamps(document["files"]),
    }
    checked = {"checked": document["checked"] and _parse_source_check(document["checked"])}
    values: dict[str, Any] = document | paths | lists | checked
    return CatalogSource(**values)


def _parse_path(text: str) -> Path:
    """A path as it was written; of a remote address the mirror on this machine."""
    remote = address.parse(text)
    return address.mirror_path(remote) if remote else Path(text)


def _check_json(check: SourceCheck) -> dict:
    return {
        "assumed_version": check.assumed_release.version,
        "because": str(check.assumed_release.reason),
        "traces": to_plain(check.assumed_release.traces),
        "clean": check.clean,
        "starts": check.starts,
        "level": check.level.value,
        "unchecked_codes": list(UNCHECKED_CODES[check.level]),
    }


def _parse_source_check(document: Mapping) -> SourceCheck:
    version = _ensure_type(str, document["assumed_version"])
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}", version):
        raise ValueError("a version has no number")
    return SourceCheck(
        AssumedRelease(
            tuple(map(int, version.split("."))),
            from_plain(tuple[Message, ...], document["traces"]),
        ),
        _ensure_type(bool | None, document["clean"]),
        _ensure_type(bool | None, document["starts"]),
        CheckLevel(document["level"]),
    )


def _segment_json(segment: StoredSegment) -> dict:
    spans = {
        table: [[span.file, span.first_row, span.rows] for span in spans]
        for table, spans in segment.spans.items()
    }
    return vars(segment) | {"spans": spans, "problems": _problems_json(segment.problems)}


def _parse_segment(
    document: dict[str, Any], tables: Mapping[str, Mapping[str, int]]
) -> StoredSegment:
    spans = {
        table: tuple(_parse_row_range(span, tables[table]) for span in spans)
        for table, spans in document["spans"].items()
    }
    first_batch = document["first_batch"] and FirstBatch(*map(int, document["first_batch"]))
    codecs = tuple(_ensure_type(str, codec) for codec in document["codecs"])
    for kind, name in ((str, "broker"), (str, "directory"), (int, "base_offset"), (str, "suffix")):
        _ensure_type(kind, document[name])
    contents = {
        "first_batch": first_batch,
        "codecs": codecs,
        "problems": _parse_problems(document["problems"]),
    }
    locations = {"files": _parse_stamps(document["files"]), "spans": spans}
    values: dict[str, Any] = document | locations | contents
    return StoredSegment(**values)


def _problems_json(problems: Iterable[Problem]) -> list[dict]:
    return [
        {
            "path": address.display(problem.path),
            "what": str(problem.what),
            "message": problem.what.to_json(),
        }
        for problem in problems
    ]


def _parse_problems(documents: Iterable[Mapping]) -> tuple[Problem, ...]:
    return tuple(
        Problem(_parse_path(problem["path"]), Message.from_json(problem["message"]))
        for problem in documents
    )


def _parse_row_range(values: Sequence, files: Mapping[str, int]) -> RowRange:
    file, first_row, rows = values
    if not 0 <= first_row <= first_row + rows <= files[file]:
        raise ValueError("a segment's rows lie outside their file")
    return RowRange(file, first_row, rows)


def _parse_stamps(files: Mapping[str, Sequence[int]]) -> dict[str, Stamp]:
    return {
        path: (_ensure_type(int, size), _ensure_type(int, mtime_ns))
        for path, (size, mtime_ns) in files.items()
    }
