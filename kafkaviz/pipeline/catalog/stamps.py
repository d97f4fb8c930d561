"""Table `stamps`: size and time of each file when it was read, and where its rows are.

Each directory has one row for files that belong to no segment, then one row per segment. The rows
are in the order of the names. So the next ingest can compare rows and directories one by one,
without holding all of them in memory.

    directory  base_offset  suffix  json
    orders-0   null         ""      {"files": {"orders-0/leader-epoch-checkpoint": [13, 17…]}, ...}
    orders-0   0            ""      {"files": {"orders-0/000….log": [990, 17…], ...},
                                     "spans": {"batches": [["batches-3f.parquet", 0, 9]], ...}, ...}
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kafkaviz.format import names
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.catalog.catalog_info import (
    CatalogInfo,
    RowRange,
    Stamp,
    ensure_type,
    parse_problems,
    parse_stamps,
    problems_json,
)
from kafkaviz.units import replace_surrogates

Spans = Mapping[str, tuple[RowRange, ...]]  # by table: the row ranges, in order
ENCODER = json.JSONEncoder(separators=(",", ":"))
DECODER = json.JSONDecoder()
SPANS = ',"spans":'
READABLE = '"unreadable":false}'


class FirstBatch(NamedTuple):
    """The first batch of a segment. It explains why Kafka rolled the segment before."""

    size_bytes: int
    max_timestamp_ms: int
    last_offset: int


@dataclass(frozen=True, kw_only=True)
class StoredSegment:
    """A segment as an ingest found it, and where its rows are."""

    broker: str
    directory: str
    base_offset: int
    suffix: str  # "", deleted, cleaned or swap
    files: Mapping[str, Stamp]  # by path from the broker directory
    spans: Spans = field(default_factory=dict)
    first_batch: FirstBatch | None = None
    codecs: tuple[str, ...] = ()  # statistics of the batches, named like columns of table `batches`
    problems: tuple[Problem, ...] = ()  # files that could not be read
    unreadable: bool = False  # access to a file was denied; `files` does not show that

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
    """Escapes bytes that are not UTF-8. Replacing them could make two names equal."""
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
        return owner | {"base_offset": None, "suffix": "", "json": directory_text(stored)}
    document = {
        "directory": stored.directory,
        "files": stored.files,
        "spans": _spans_json(stored.spans),
        "first_batch": stored.first_batch,
        "codecs": stored.codecs,
        "problems": problems_json(stored.problems),
        "unreadable": stored.unreadable,
    }
    key = {"base_offset": stored.base_offset, "suffix": stored.suffix}
    return owner | key | {"json": _to_text(document)}


def from_row(row: Mapping[str, Any], info: CatalogInfo) -> StampRow:
    """Parses a row that `to_row` returned.

    Args:
        info: the catalog's description, written by the same ingest.

    Raises:
        ValueError: the row is invalid.
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

    It must be read again if a file has changed, or was unreadable when the row was written.

    Args:
        text: column `json` of the segment's row in table `stamps`.
        stored: the segment in its present state.
        info: the catalog's description, written by the same ingest.

    Raises:
        ValueError: the text is invalid.
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
    """Returns a segment's row after its rows in other tables were moved.

    Args:
        text: column `json` of the segment's row in table `stamps`.
        move: returns the new locations of row ranges.
        info: the catalog's description, written by the same ingest.
    """
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
    """Yields only the segments. The n-th segment is row n of table `segments`."""
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


def _to_text(document: Mapping[str, Any]) -> str:
    return ENCODER.encode(document)
