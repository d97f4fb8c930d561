"""A table of a broker's segments with sums, and the sizes of its topics.

Names and sizes come from the directory listing. `with_entries` reads the numbers of index entries,
and `with_batches` reads the numbers of batches from a catalog. Until then these numbers are
UNKNOWN. A sum is unknown if one of its numbers is unknown.

Lookups do not read inactive segments. The mark of a segment says why it is inactive, for example:

- `.deleted`: Kafka has renamed the files and will soon delete them
- `-delete`: Kafka has renamed the whole directory and will delete it
- no `.log`: only other files are left; the broker removes them at start-up
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen
from kafkaviz.format import offset_index, time_index
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import Message, message
from kafkaviz.units import escape_controls

UNKNOWN = -1
# a segment of a deleted topic counts as deleted
KINDS = ("closed", "active", "deleted", "cleaned", "swap")
SEGMENT: np.dtype = np.dtype(
    [
        ("partition", "i4"),  # index into BrokerOverview.partitions
        ("base_offset", "i8"),
        ("kind", "i1"),  # index into KINDS
        ("log_bytes", "i8"),
        ("length_bytes", "i8"),  # total length of the segment's files, including holes
        ("allocated_bytes", "i8"),  # disk space that the segment's files take
        ("left_out", "?"),  # a file is unreadable, so sums of counts skip the segment
        ("offset_entries", "i8"),  # this column and all below are UNKNOWN until read
        ("time_entries", "i8"),
        ("batches", "i8"),
        ("records", "i8"),
        ("valid_bytes", "i8"),  # bytes of the .log up to the end of its last complete batch
        ("torn_bytes", "i8"),  # bytes of the .log after its last complete batch
        ("last_offset", "i8"),
        ("max_timestamp_ms", "i8"),
    ]
)
COUNT_COLUMNS = field_names(SEGMENT)[field_names(SEGMENT).index("offset_entries") :]
COUNT_FILES = {  # the file from which each count comes; if the file is missing, the count is 0
    "batches": "log",
    "records": "log",
    "valid_bytes": "log",
    "torn_bytes": "log",
    "offset_entries": "index",
    "time_entries": "timeindex",
}
# the columns that identify a row of a catalog's segments table
CATALOG_KEY = ("directory", "base_offset", "suffix", "log_bytes", "log_mtime_ns")
READ_BYTES = 64 << 20  # larger indexes are read only by the pipeline
READ_FILES = 4000


class Sums(NamedTuple):
    """Sums over some segments. None: a number is unknown, or no segment could be read."""

    segments: int
    log_bytes: int
    length_bytes: int  # of all files of the segments
    allocated_bytes: int  # the disk space of these files
    covered_bytes: int  # .log bytes of the segments that are not left out
    offset_entries: int | None
    time_entries: int | None
    batches: int | None
    records: int | None
    torn_bytes: int | None
    newest_ms: int | None

    @property
    def index_bytes(self) -> int | None:
        """The size of the entries in .index and .timeindex files, without preallocated space."""
        if self.offset_entries is None or self.time_entries is None:
            return None
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )

    @property
    def bytes_per_entry(self) -> float | None:
        """The mean number of .log bytes per offset entry. None: unknown, or no entries."""
        return self.covered_bytes / self.offset_entries if self.offset_entries else None

    @property
    def index_share(self) -> float | None:
        if self.covered_bytes and self.index_bytes is not None:
            return self.index_bytes / self.covered_bytes
        return None


@dataclass(frozen=True, kw_only=True)
class PartitionRow:
    directory: str  # orders-0
    label: str  # the directory's name, without the random part if it was renamed
    state: str  # "current", "delete", "future" or "stray"
    log_start_offset: int | None
    sums: Sums
    last_offset: int | None = None
    codecs: tuple[str, ...] | None = None
    remote_bases: frozenset[int] = frozenset()  # base offsets of segments only in tiered storage
    log_directory: str = ""  # the name of the log directory; "" if the broker has only one
    address_name: str = ""  # the name in a URL: disk-b/orders-0 if two log directories have it

    @property
    def is_internal(self) -> bool:
        return self.directory.startswith("__")


class EntryPositions(NamedTuple):
    """The positions of all .index entries, one row per entry, ordered by topic-partition."""

    partition: np.ndarray
    position: np.ndarray  # in bytes, as if all .log files of the topic-partition were one file


@dataclass(frozen=True)
class BrokerOverview:
    broker: Broker
    segments: np.ndarray  # SEGMENT, ordered by topic-partition and base offset
    entries: EntryPositions | None = None
    codecs: Mapping[str, tuple[str, ...]] | None = None  # by Broker.partition_name
    problems: tuple[Problem, ...] = ()  # files that could not be read

    @cached_property
    def starts(self) -> np.ndarray:
        """The first row of each topic-partition in `segments`. The last value is the row count."""
        numbers = np.arange(len(self.broker.partitions) + 1)
        return np.searchsorted(self.segments["partition"], numbers)

    def segment_rows(self, partition: int) -> np.ndarray:
        return self.segments[self.starts[partition] : self.starts[partition + 1]]

    @cached_property
    def partitions(self) -> tuple[PartitionRow, ...]:
        return tuple(
            self._partition_row(partition_number, partition)
            for partition_number, partition in enumerate(self.broker.partitions)
        )

    def _partition_row(self, partition_number: int, partition: Partition) -> PartitionRow:
        rows = self.segment_rows(partition_number)
        known_offsets = rows["last_offset"][rows["last_offset"] >= 0]
        name = self.broker.partition_name(partition)
        directories = self.broker.directory_names
        log_directory = directories.get(partition.path.parent, "") if len(directories) > 1 else ""
        return PartitionRow(
            directory=escape_controls(partition.directory),
            label=escape_controls(partition.label),
            state=partition.state,
            log_start_offset=partition.log_start_offset,
            sums=_sums(rows),
            last_offset=int(known_offsets.max()) if len(known_offsets) else None,
            codecs=None if self.codecs is None else self.codecs.get(name, ()),
            remote_bases=partition.remote_bases,
            log_directory=escape_controls(log_directory),
            address_name=escape_controls(name),
        )

    def directory_sums(self, log_directory: str) -> Sums:
        numbers = [
            number
            for number, row in enumerate(self.partitions)
            if row.log_directory == log_directory
        ]
        return _sums(self.segments[np.isin(self.segments["partition"], numbers)])

    @cached_property
    def total(self) -> Sums:
        return _sums(self.segments)

    def count_kind(self, kind: str) -> int:
        return int(np.count_nonzero(self.segments["kind"] == KINDS.index(kind)))


def torn_mask(segments: np.ndarray) -> np.ndarray:
    """Returns a mask of the segments whose .log ends with an incomplete batch.

    The mask is False for segments with a suffix such as .deleted.
    """
    return (segments["torn_bytes"] > 0) & np.isin(
        segments["kind"], [KINDS.index("closed"), KINDS.index("active")]
    )


def largest_segment(overview: BrokerOverview) -> tuple[str, int] | None:
    """Returns the topic-partition's name in URLs and the base offset of the longest .log.

    Returns None without segments.
    """
    if not len(overview.segments):
        return None
    longest = overview.segments[overview.segments["log_bytes"].argmax()]
    return overview.partitions[longest["partition"]].address_name, int(longest["base_offset"])


def inventory(broker: Broker) -> BrokerOverview:
    """Returns the overview that a directory listing gives. Opens no file."""
    rows = [
        (
            partition_number,
            segment.base_offset,
            KINDS.index(segment_kind(partition, segment)),
            segment.log.size_bytes if segment.log else 0,
            sum(info.size_bytes for info in segment.files),
            sum(info.allocated_bytes for info in segment.files),
            False,
            *(UNKNOWN for _ in COUNT_COLUMNS),
        )
        for partition_number, partition in enumerate(broker.partitions)
        for segment in partition.segments
    ]
    return BrokerOverview(broker, np.array(rows, SEGMENT), problems=broker.problems)


def segment_kind(partition: Partition, segment: Segment) -> str:
    return "deleted" if segment.is_in_use and partition.state == "delete" else segment.state


def is_readable(broker: Broker) -> bool:
    """Returns whether the index files are few and small enough to read them all."""
    segments = [segment for partition in broker.partitions for segment in partition.segments]
    files = [info for segment in segments for info in (segment.index, segment.timeindex) if info]
    return (
        len(files) <= READ_FILES
        and sum(min(info.size_bytes, info.allocated_bytes) for info in files) <= READ_BYTES
    )


def with_entries(overview: BrokerOverview) -> BrokerOverview:
    """Adds the numbers and positions of entries, read from the index files.

    Segments with an unreadable index are marked in the column "left_out".
    """
    segments = overview.segments.copy()
    partition_numbers = [np.empty(0, np.int32)]
    entry_positions = [np.empty(0, np.int64)]
    problems = list(overview.problems)
    for partition_number, partition in enumerate(overview.broker.partitions):
        log_bytes_before = 0
        first, end = overview.starts[partition_number : partition_number + 2]
        for row, segment in zip(segments[first:end], partition.segments, strict=True):
            try:
                copy = replace(segment)  # a segment keeps the bytes that it has read
                positions = copy.offset_index["position"]
                row["time_entries"] = len(copy.time_index)
                row["offset_entries"] = len(positions)
                positions = positions[(positions >= 0) & (positions < row["log_bytes"])]
                entry_positions.append(positions + log_bytes_before)
                partition_numbers.append(np.full(len(positions), partition_number, np.int32))
            except CannotOpen as error:
                row["left_out"] = True
                problems.append(Problem(error.path, error.what))
            log_bytes_before += int(row["log_bytes"])
    return replace(
        overview,
        segments=segments,
        entries=EntryPositions(np.concatenate(partition_numbers), np.concatenate(entry_positions)),
        problems=tuple(problems),
    )


def with_batches(overview: BrokerOverview, catalog: Mapping[str, Sequence]) -> BrokerOverview:
    """Adds the numbers of batches and records from a catalog.

    Uses a catalog row only if the .log has the same length and modification time. Segments with a
    problem in the catalog are marked in the column "left_out".

    Args:
        catalog: columns of the catalog's table of segments, such as `directory` and `codecs`.
    """
    row_numbers = {
        key: number
        for number, key in enumerate(zip(*(catalog[name] for name in CATALOG_KEY), strict=True))
    }
    segments = overview.segments.copy()
    codecs: dict[str, set[str]] = defaultdict(set)
    problems: list[Problem] = []
    for row, (key, segment) in zip(segments, _catalog_keys(overview.broker), strict=True):
        number = row_numbers.get(key)
        if number is None:
            continue
        codecs[key[0]].update(catalog["codecs"][number])
        problems += catalog["problems"][number]
        row["left_out"] = row["left_out"] or bool(catalog["problems"][number])
        for name in COUNT_COLUMNS:
            row[name] = _count(segment, name, catalog[name][number])
    problem_by_path = {problem.path: problem for problem in [*problems, *overview.problems]}
    by_directory = {directory: tuple(sorted(names)) for directory, names in codecs.items()}
    return replace(
        overview, segments=segments, codecs=by_directory, problems=tuple(problem_by_path.values())
    )


def _count(segment: Segment, name: str, value: int | None) -> int:
    if value is not None:
        return value
    return 0 if name in COUNT_FILES and getattr(segment, COUNT_FILES[name]) is None else UNKNOWN


def _catalog_keys(broker: Broker) -> Iterator[tuple[tuple, Segment]]:
    """Yields pairs of a segment's CATALOG_KEY and the segment."""
    for partition in broker.partitions:
        name = broker.partition_name(partition)
        for segment in partition.segments:
            suffix = "" if segment.is_in_use else segment.state
            log = segment.log
            size_and_mtime = (log.size_bytes, log.mtime_ns) if log else (None, None)
            yield (name, segment.base_offset, suffix, *size_and_mtime), segment


def _sums(rows: np.ndarray) -> Sums:
    readable_rows = rows[~rows["left_out"]]
    newest = int(readable_rows["max_timestamp_ms"].max(initial=UNKNOWN))
    return Sums(
        len(rows),
        *(int(rows[name].sum()) for name in ("log_bytes", "length_bytes", "allocated_bytes")),
        int(readable_rows["log_bytes"].sum()),
        *(
            _sum(readable_rows[name], len(rows))
            for name in ("offset_entries", "time_entries", "batches", "records", "torn_bytes")
        ),
        newest if newest >= 0 else None,
    )


def _sum(column: np.ndarray, rows: int) -> int | None:
    """Returns the sum of a column. None: a value is unknown, or no segment could be read."""
    return None if (column == UNKNOWN).any() or (rows and not len(column)) else int(column.sum())


NO_LOG = message("inactive_segments.mark_no_log")


class InactiveSegment(NamedTuple):
    """A segment that no lookup reads."""

    path: str
    mark: str | Message  # the suffix of the file or directory, such as ".deleted"; or NO_LOG


def inactive_segments(partitions: Iterable[Partition]) -> Iterator[InactiveSegment]:
    """Yields segments with a suffix, in a renamed directory, or without a .log."""
    for partition in partitions:
        for segment in partition.segments:
            if not segment.is_in_use:
                mark = f".{segment.state}"
            elif partition.state != "current":
                mark = f"-{partition.state}"
            elif not segment.log:
                mark = NO_LOG
            else:
                continue
            path = f"{partition.directory}/{segment.files[0].path.name}"
            yield InactiveSegment(escape_controls(path), mark)


def distinct_marks(inactive: Iterable[InactiveSegment]) -> tuple[str | Message, ...]:
    return tuple(sorted({segment.mark for segment in inactive}, key=str))


INDEX_KINDS = ("index", "timeindex", "txnindex")


@dataclass(frozen=True)
class TopicSize:
    """The size of a topic's files in all partition directories, even in -delete ones.

    Preallocated index files may take less space on disk than `index_bytes`.
    """

    topic: str
    partitions: int
    log_bytes: int
    index_bytes: int

    @property
    def size_bytes(self) -> int:
        return self.log_bytes + self.index_bytes


def topic_sizes(broker: Broker) -> tuple[TopicSize, ...]:
    """Returns the size of each topic, the largest first. Counts only local segments."""
    directories = defaultdict(list)
    for partition in broker.partitions:
        directories[partition.topic].append(partition.without_remote())
    sizes = []
    for topic, partitions in directories.items():
        segments = [segment for partition in partitions for segment in partition.segments]
        indexes = [getattr(segment, kind) for segment in segments for kind in INDEX_KINDS]
        log_bytes = sum(segment.log.size_bytes for segment in segments if segment.log)
        index_bytes = sum(index.size_bytes for index in indexes if index)
        sizes.append(TopicSize(topic, len(partitions), log_bytes, index_bytes))
    return tuple(sorted(sizes, key=lambda size: (-size.size_bytes, size.topic)))
