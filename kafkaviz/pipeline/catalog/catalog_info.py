"""The content of _catalog.json: the directories that were read, and the table files.

Segments are in table `stamps` (stamps.py). As JSON, a hundred thousand would take 75 MB.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from kafkaviz.analysis.findings.finding import UNCHECKED_CODES
from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.broker import Problem
from kafkaviz.log.remote import address
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog.schema import TABLES

FORMAT = 14
# format 11 has neither log directories nor the column log_directory; 12 has no bytes per use; 13
# has no uncompressed bytes of batches
READ_FORMATS = (11, 12, 13, FORMAT)
Stamp = tuple[int, int]  # of a file: size in bytes, and modification time in ns


@dataclass(frozen=True)
class SourceCheck:
    """How a broker was checked, and whether its next start-up is predicted to succeed.

    `clean`: whether the broker was shut down cleanly. `starts`: whether it will start. None: the
    prediction is unknown.
    """

    assumed_release: AssumedRelease  # the release whose start is predicted
    clean: bool | None = None
    starts: bool | None = None
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
    path: Path  # main log directory: the one with the metadata log, or else the first one
    given: Path  # the opened path: `path`, or a folder or archive that contains it
    node_id: str | None
    cluster_id: str | None
    # names of the partition directories; if two are equal, with their folder: disk-b/orders-0
    directories: tuple[str, ...]
    # the files outside of partition directories, by their path relative to `path`
    files: Mapping[str, Stamp]
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
    # all files and directories that could not be read
    problems: tuple[Problem, ...] = ()
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

    Raises:
        ValueError, LookupError, TypeError or AttributeError: the document is invalid.
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
    """Returns `value`. Raises a TypeError if it is not of type `kind`."""
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
    return SourceCheck(
        AssumedRelease(
            tuple(map(int, version.split("."))),
            from_plain(tuple[Message, ...], document["traces"]),
        ),
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
