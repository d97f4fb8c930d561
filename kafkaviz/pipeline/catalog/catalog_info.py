"""Describes the Kafka files that an ingest read, and where their rows are in the catalog.

_catalog.json describes the directories that were read, and the files of all tables. Table `stamps`
has the size and time of each file when it was read, and the location of each segment's rows. In
_catalog.json, this would take 75 MB for a hundred thousand segments.

In table `stamps`, each directory has one row for files that belong to no segment, then one row per
segment. The directories are sorted by name. So the next ingest can compare rows and directories one
by one, without holding all of them in memory.

    directory  base_offset  suffix  json
    orders-0   null         ""      {"files": {"orders-0/leader-epoch-checkpoint": [13, 17…]}, ...}
    orders-0   0            ""      {"files": {"orders-0/000….log": [990, 17…], ...},
                                     "spans": {"batches": [["batches-3f.parquet", 0, 9]], ...}, ...}
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from kafkaviz.analysis.findings import UNCHECKED_CODES
from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.inferred_settings import FirstBatch
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.format import names
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.broker import Problem
from kafkaviz.log.remote import address
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.units import replace_surrogates

FORMAT = 14
# format 11 has neither log directories nor the column log_directory; 12 has no bytes per use; 13
# has no uncompressed bytes of batches
READ_FORMATS = (11, 12, 13, FORMAT)
Stamp = tuple[int, int]  # size of a file in bytes, and its modification time in ns


@dataclass(frozen=True)
class SourceCheck:
    """How a broker was checked, and whether its next start-up is predicted to succeed."""

    assumed_release: AssumedRelease  # the release whose start is predicted
    clean: bool | None = None  # whether the broker was shut down cleanly; None: unknown
    starts: bool | None = None  # whether the broker will start; None: unknown
    level: CheckLevel = CheckLevel.RECORDS


@dataclass(frozen=True, kw_only=True)
class StoredLogDirectory:
    path: Path
    directory_id: str | None
    has_metadata_log: bool


@dataclass(frozen=True, kw_only=True)
class CatalogSource:
    """A broker, with the size and time of its files when they were read."""

    broker: str  # name of the broker in the tables
    path: Path  # main log directory: the one with the metadata log; if none has it, the first one
    given: Path  # the opened path: `path`, or a folder or archive that contains it
    node_id: str | None
    cluster_id: str | None
    # names of the partition directories; if two are equal, with their folder: disk-b/orders-0
    directories: tuple[str, ...]
    files: Mapping[str, Stamp]  # outside of partition directories, by path (inventory._files)
    log_directories: tuple[StoredLogDirectory, ...] = ()  # empty in catalogs up to format 11
    # None if the catalog was made without findings
    checked: SourceCheck | None = field(default=None, compare=False)

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(directory.path for directory in self.log_directories) or (self.path,)


@dataclass(frozen=True)
class RowRange:
    """The rows `first_row` to `first_row + rows - 1` of a Parquet file."""

    file: str
    first_row: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class CatalogInfo:
    kafkaviz: str  # the version that wrote the catalog
    sources: tuple[CatalogSource, ...]
    tables: Mapping[str, Mapping[str, int]]  # by table: the files, and the number of rows in each
    problems: tuple[Problem, ...] = ()  # all files and directories that could not be read
    # number of segments that are not in use, by file suffix
    suffixes: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT  # version of the format, one of `READ_FORMATS`

    @property
    def rows(self) -> dict[str, int]:
        return {table: sum(files.values()) for table, files in self.tables.items()}


def to_json(info: CatalogInfo) -> dict:
    return {
        "format": FORMAT,
        "kafkaviz": info.kafkaviz,
        "sources": [_source_json(source) for source in info.sources],
        "tables": {
            table: {"rows": info.rows[table], "files": dict(files)}
            for table, files in info.tables.items()
        },
        "problems": problems_json(info.problems),
        "suffixes": dict(info.suffixes),
    }


def from_json(document: dict[str, Any]) -> CatalogInfo:
    """Parses a document that `to_json` returned.

    Raises ValueError, LookupError, TypeError or AttributeError if the document is invalid.
    """
    tables = {table: _parse_files(table, document["tables"][table]["files"]) for table in TABLES}
    sources = tuple(_parse_source(source) for source in document["sources"])
    return CatalogInfo(
        kafkaviz=ensure_type(str, document["kafkaviz"]),
        sources=sources,
        tables=tables,
        problems=parse_problems(document["problems"]),
        suffixes={
            ensure_type(str, suffix): ensure_type(int, count)
            for suffix, count in document["suffixes"].items()
        },
        format=document["format"],
    )


def version() -> str:
    """Returns the installed version of kafkaviz, or "unknown"."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


def ensure_type(kind: Any, value: Any) -> Any:
    """Returns `value`. Raises TypeError if it is not of type `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind}")
    return value


def _parse_files(table: str, row_counts: Mapping) -> dict[str, int]:
    if not all(re.fullmatch(rf"{table}-[\w-]+\.parquet", file) for file in row_counts):
        raise ValueError("a file has no name of this table")
    return {file: ensure_type(int, rows) for file, rows in row_counts.items()}


def _source_json(source: CatalogSource) -> dict:
    return vars(source) | {
        "path": address.display(source.path),
        "given": address.display(source.given),
        "log_directories": [
            vars(directory) | {"path": address.display(directory.path)}
            for directory in source.log_directories
        ],
        "checked": source.checked and _check_json(source.checked),
    }


def _parse_source(document: dict[str, Any]) -> CatalogSource:
    return CatalogSource(
        broker=ensure_type(str, document["broker"]),
        path=address.local_path(document["path"]),
        given=address.local_path(document["given"]),
        node_id=document["node_id"],
        cluster_id=document["cluster_id"],
        directories=tuple(document["directories"]),
        files=parse_stamps(document["files"]),
        log_directories=tuple(
            StoredLogDirectory(
                path=address.local_path(directory["path"]),
                directory_id=ensure_type(str | None, directory["directory_id"]),
                has_metadata_log=ensure_type(bool, directory["has_metadata_log"]),
            )
            for directory in document.get("log_directories", ())
        ),
        checked=document["checked"] and _parse_source_check(document["checked"]),
    )


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
    version = ensure_type(str, document["assumed_version"])
    if not re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}", version):
        raise ValueError("a version has no number")
    traces = from_plain(tuple[Message, ...], document["traces"])
    return SourceCheck(
        AssumedRelease(tuple(map(int, version.split("."))), traces),
        ensure_type(bool | None, document["clean"]),
        ensure_type(bool | None, document["starts"]),
        CheckLevel(document["level"]),
    )


def problems_json(problems: Iterable[Problem]) -> list[dict]:
    return [
        {
            "path": address.display(problem.path),
            "what": str(problem.what),
            "message": problem.what.to_json(),
        }
        for problem in problems
    ]


def parse_problems(documents: Iterable[Mapping]) -> tuple[Problem, ...]:
    """Parses what `problems_json` returned. `Problem.kind` is not stored."""
    return tuple(
        Problem(address.local_path(problem["path"]), Message.from_json(problem["message"]))
        for problem in documents
    )


def parse_stamps(files: Mapping[str, Sequence[int]]) -> dict[str, Stamp]:
    return {
        path: (ensure_type(int, size), ensure_type(int, mtime_ns))
        for path, (size, mtime_ns) in files.items()
    }


Spans = Mapping[str, tuple[RowRange, ...]]  # by table: the row ranges, in order
_to_text = json.JSONEncoder(separators=(",", ":")).encode
DECODER = json.JSONDecoder()
SPANS = ',"spans":'
READABLE = '"unreadable":false}'


@dataclass(frozen=True, kw_only=True)
class StoredSegment:
    """A segment as an ingest found it, and where its rows are in the tables."""

    broker: str
    directory: str
    base_offset: int
    suffix: str  # "", deleted, cleaned or swap
    files: Mapping[str, Stamp]  # by path from the broker directory
    spans: Spans = field(default_factory=dict)
    first_batch: FirstBatch | None = None
    codecs: tuple[str, ...] = ()  # the names of the codecs of its batches
    problems: tuple[Problem, ...] = ()  # files that could not be read
    unreadable: bool = False  # whether access to a file was denied, which a `Stamp` does not show

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.broker, self.directory, self.base_offset, self.suffix


@dataclass(frozen=True)
class StoredDirectory:
    """The files of a partition directory that belong to no segment."""

    broker: str
    directory: str
    files: Mapping[str, Stamp]  # by path from the broker directory


StampRow = StoredDirectory | StoredSegment


def storable_name(directory: str) -> str:
    """Escapes bytes that are not UTF-8, so that different names stay different."""
    return directory.encode("utf-8", "backslashreplace").decode()


def owner_columns(broker: str, directory: str) -> dict[str, Any]:
    """Returns the columns broker, topic, partition and directory of `stamps` and `checked`."""
    name = names.parse_directory(directory.rpartition("/")[2])
    partition = (
        {"topic": replace_surrogates(name.topic), "partition": name.partition} if name else {}
    )
    return {"broker": broker, **partition, "directory": storable_name(directory)}


def to_row(stored: StampRow) -> dict[str, Any]:
    owner = owner_columns(stored.broker, stored.directory)
    if isinstance(stored, StoredDirectory):
        return {**owner, "base_offset": None, "suffix": "", "json": directory_text(stored)}
    document = {
        "directory": stored.directory,
        "files": stored.files,
        "spans": _spans_json(stored.spans),
        "first_batch": stored.first_batch and astuple(stored.first_batch),
        "codecs": stored.codecs,
        "problems": problems_json(stored.problems),
        "unreadable": stored.unreadable,
    }
    key = {"base_offset": stored.base_offset, "suffix": stored.suffix}
    return {**owner, **key, "json": _to_text(document)}


def from_row(row: Mapping[str, Any], info: CatalogInfo) -> StampRow:
    """Parses a row that `to_row` returned. `info` must be from the ingest that wrote the row.

    Raises ValueError if the row is invalid.
    """
    try:
        document = json.loads(row["json"])
        directory = ensure_type(str, document["directory"])
        files = parse_stamps(document["files"])
        if row["base_offset"] is None:
            return StoredDirectory(row["broker"], directory, files)
        return StoredSegment(
            broker=row["broker"],
            directory=directory,
            base_offset=row["base_offset"],
            suffix=ensure_type(str, row["suffix"]),
            files=files,
            spans=_parse_spans(document["spans"], info),
            first_batch=document["first_batch"] and FirstBatch(*map(int, document["first_batch"])),
            codecs=tuple(ensure_type(str, codec) for codec in document["codecs"]),
            problems=parse_problems(document["problems"]),
            unreadable=ensure_type(bool, document["unreadable"]),
        )
    except (LookupError, TypeError, AttributeError, RecursionError) as fault:
        raise ValueError(f"no stamps: {fault}") from None


def directory_text(stored: StoredDirectory) -> str:
    return _to_text({"directory": stored.directory, "files": stored.files})


def unchanged_spans(text: str, stored: StoredSegment, info: CatalogInfo) -> Spans | None:
    """Returns where a segment's rows are. None: the segment must be read again.

    It must be read again if a file has changed, or was unreadable when the row was written. `text`
    is column `json` of the segment's row in table `stamps`, and `stored` is the segment in its
    present state. Raises ValueError if `text` is invalid.
    """
    files = _to_text({"directory": stored.directory, "files": stored.files})[:-1] + SPANS
    if not text.startswith(files) or not text.endswith(READABLE):
        return None
    spans, _ = DECODER.raw_decode(text, len(files))
    try:
        return _parse_spans(spans, info)
    except (LookupError, TypeError, AttributeError) as fault:
        raise ValueError(f"no stamps: {fault}") from None


class MovedSegment(NamedTuple):
    text: str
    first_batch: FirstBatch | None
    problems: tuple[Problem, ...]


def move_segment(text: str, move: Callable[[Spans], Spans], info: CatalogInfo) -> MovedSegment:
    """Replaces the row ranges in `text`, which is column `json` of a row of table `stamps`."""
    start = text.index(SPANS) + len(SPANS)  # in a file's name, quotes are escaped with backslashes
    spans, end = DECODER.raw_decode(text, start)
    moved = _spans_json(move(_parse_spans(spans, info)))
    rest = json.loads("{" + text[end + 1 :])
    return MovedSegment(
        text[:start] + _to_text(moved) + text[end:],
        rest["first_batch"] and FirstBatch(*rest["first_batch"]),
        parse_problems(rest["problems"]),
    )


def segments_of(stamps: Iterator[StampRow]) -> Iterator[StoredSegment]:
    """Yields the segments in table `stamps`. Segment n is row n of table `segments`."""
    return (stored for stored in stamps if isinstance(stored, StoredSegment))


def _spans_json(spans: Spans) -> dict[str, list[list[str | int]]]:
    return {
        table: [[span.file, span.first_row, span.rows] for span in table_spans]
        for table, table_spans in spans.items()
    }


def _parse_spans(spans: Mapping[str, Sequence], info: CatalogInfo) -> Spans:
    return {
        table: tuple(_parse_row_range(span, info.tables[table]) for span in table_spans)
        for table, table_spans in spans.items()
    }


def _parse_row_range(values: Sequence, files: Mapping[str, int]) -> RowRange:
    file, first_row, rows = values
    if not 0 <= first_row <= first_row + rows <= files[file]:
        raise ValueError("a segment's rows lie outside their file")
    return RowRange(file, first_row, rows)
