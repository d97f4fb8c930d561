"""What _catalog.json says of a catalog, and how it is stored.

It says which directories were read and which files the tables have. What each segment was when it
was read, and where its rows are, stands in table stamps (stamps.py): as text here it had 75 MB of a
hundred thousand segments.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from kafkaviz.analysis.findings.finding import UNCHECKED_CODES
from kafkaviz.analysis.inference.version import AssumedRelease
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.broker import Problem
from kafkaviz.log.remote import address
from kafkaviz.messages import Message
from kafkaviz.pipeline.catalog.schema import TABLES

FORMAT = 12
READ_FORMATS = (11, FORMAT)  # 11 has no log directories, and no column log_directory
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
class StoredLogDirectory:
    """One of a broker's log directories."""

    path: Path
    directory_id: str | None
    has_metadata_log: bool


@dataclass(frozen=True, kw_only=True)
class CatalogSource:
    """A broker as it was when it was read."""

    broker: str  # the name in the tables
    path: Path  # of the log directory with the metadata log, else of the first one
    given: Path  # the same, or the folder or archive that it is in
    node_id: str | None
    cluster_id: str | None
    # of its partitions; of two of one name with the folder, disk-b/orders-0
    directories: tuple[str, ...]
    # its own, beside the partitions; by path from the directory `path`
    files: Mapping[str, Stamp]
    log_directories: tuple[StoredLogDirectory, ...] = ()  # none up to format 11
    # None where the findings were left out
    checked: SourceCheck | None = field(default=None, compare=False)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of its log directories."""
        return tuple(directory.path for directory in self.log_directories) or (self.path,)


@dataclass(frozen=True)
class RowRange:
    """Rows of a segment in a Parquet file of a table: `rows` of them from first_row on."""

    file: str
    first_row: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class CatalogInfo:
    """All that _catalog.json says."""

    kafkaviz: str  # the version that wrote it
    sources: tuple[CatalogSource, ...]
    tables: Mapping[str, Mapping[str, int]]  # each table's files and the rows in each
    # whatever could not be read: of the directories, and of all segments
    problems: tuple[Problem, ...] = ()
    # how many segments are not in use, by the suffix of their files
    suffixes: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT  # of READ_FORMATS

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {table: sum(files.values()) for table, files in self.tables.items()}


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
        "problems": problems_json(info.problems),
        "suffixes": dict(info.suffixes),
    }


def from_json(document: dict[str, Any]) -> CatalogInfo:
    """The description that was stored so.

    Raises:
        ValueError: the document is no description; so with LookupError, TypeError and
            AttributeError.
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
    """The version of kafkaviz that runs; a catalog of another one is read anew."""
    try:
        return metadata.version("kafkaviz")
    except metadata.PackageNotFoundError:
        return "unknown"


def ensure_type(kind: Any, value: Any) -> Any:
    """The value, if JSON gave one of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind}")
    return value


def _parse_files(table: str, row_counts: Mapping) -> dict[str, int]:
    """A table's files, which all lie in its folder, and the rows in each."""
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
    ensure_type(str, document["broker"])
    paths = {name: address.local_path(document[name]) for name in ("path", "given")}
    lists = {
        "directories": tuple(document["directories"]),
        "files": parse_stamps(document["files"]),
        "log_directories": tuple(
            StoredLogDirectory(
                path=address.local_path(directory["path"]),
                directory_id=ensure_type(str | None, directory["directory_id"]),
                has_metadata_log=ensure_type(bool, directory["has_metadata_log"]),
            )
            for directory in document.get("log_directories", ())
        ),
    }
    checked = {"checked": document["checked"] and _parse_source_check(document["checked"])}
    values: dict[str, Any] = document | paths | lists | checked
    return CatalogSource(**values)


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
    """Problems as they are stored."""
    return [
        {
            "path": address.display(problem.path),
            "what": str(problem.what),
            "message": problem.what.to_json(),
        }
        for problem in problems
    ]


def parse_problems(documents: Iterable[Mapping]) -> tuple[Problem, ...]:
    """Those that were stored so; their kind is not."""
    return tuple(
        Problem(address.local_path(problem["path"]), Message.from_json(problem["message"]))
        for problem in documents
    )


def parse_stamps(files: Mapping[str, Sequence[int]]) -> dict[str, Stamp]:
    """Size and mtime of files, by path."""
    return {
        path: (ensure_type(int, size), ensure_type(int, mtime_ns))
        for path, (size, mtime_ns) in files.items()
    }
