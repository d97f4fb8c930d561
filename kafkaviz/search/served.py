"""A partition as a broker has it open: what a search reads, wherever the bytes come from.

Made of the files as they lie there (as_they_are), or, by a floor above, of what a recovery would
leave of them.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.log import file
from kafkaviz.log.file import WHOLE_BYTES, FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search.batches import LogReader, Read
from kafkaviz.units import file_stem

Found = TypeVar("Found")

NO_TIMESTAMP = -1
ON_DISK, RECOVERED = "disk", "recovered"


@dataclass(frozen=True)
class ServedFile:
    """A file: opened is a context manager that gives read(position, buffer) while it is open.

    path: for messages; the name where there is no more to say. source: "disk" where these are the
    bytes that lie there, "recovered" where a start would leave others under this name.
    """

    name: str
    size_bytes: int
    opened: Callable[[], AbstractContextManager[Read]]
    modified_ms: int = 0
    path: str = ""
    source: str = ON_DISK

    def content(self, position: int = 0, size_bytes: int | None = None) -> bytes:
        """A stretch of its bytes, by default all; fewer where it ends.

        CannotOpen where they are more than WHOLE_BYTES.
        """
        left = max(0, self.size_bytes - position)
        wanted = left if size_bytes is None else min(size_bytes, left)
        if wanted > WHOLE_BYTES:
            raise CannotOpen(
                self.path or self.name,
                f"holds {wanted} bytes, more than the {WHOLE_BYTES} that are read",
                kind="large",
            )
        buffer = np.empty(wanted, np.uint8)
        with self.opened() as read:
            return buffer[: read(position, buffer)].tobytes()


class Keys:
    """A column of an index with the base offset added to each value when it is asked for; a search
    reads some twenty of them.
    """

    def __init__(self, column: np.ndarray, base: int = 0) -> None:
        self._column, self._base = column, base

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, slot: int) -> int:
        return int(self._column[slot]) + self._base


@dataclass(frozen=True)
class ServedSegment:
    """A segment that a broker has open.

    An index that has no file has no entries; one that has believes every slot of it.

    start_error: Kafka's exception where the start that would recover the log ends with one, else
    None; no broker has it open then.
    """

    base_offset: int
    log: ServedFile
    index: ServedFile | None = None
    timeindex: ServedFile | None = None
    txnindex: ServedFile | None = None
    start_error: str | None = None

    @property
    def size_bytes(self) -> int:
        """Of the .log."""
        return self.log.size_bytes

    @property
    def recovered(self) -> tuple[str, ...]:
        """The names of its files that hold other bytes than those on disk."""
        files = (self.log, self.index, self.timeindex, self.txnindex)
        return tuple(one.name for one in files if one and one.source == RECOVERED)

    def file_name(self, kind: str) -> str:
        """The name of its index or timeindex, whether there is one or not."""
        return f"{file_stem(self.base_offset)}.{kind}"

    @cached_property
    def offset_slots(self) -> np.ndarray:
        """Every whole slot of the .index (offset_index.ENTRY), written or not."""
        return offset_index.parse(self.index.content() if self.index else b"")

    @cached_property
    def time_slots(self) -> np.ndarray:
        """Every whole slot of the .timeindex (time_index.ENTRY), written or not."""
        return time_index.parse(self.timeindex.content() if self.timeindex else b"")

    @cached_property
    def aborted(self) -> np.ndarray:
        """The entries of the .txnindex (txn_index.ENTRY)."""
        return txn_index.parse(self.txnindex.content() if self.txnindex else b"")

    @cached_property
    def max_timestamp(self) -> tuple[int, int]:
        """(largest timestamp, its offset) that the broker remembers: of the last slot of the time
        index, (-1, base offset) without one.

        LogSegment.readMaxTimestampAndOffsetSoFar from 2.3 on. Earlier releases read the batches
        behind the last entry too, which comes to the same where the segment was closed.
        """
        entry_bytes = time_index.ENTRY.itemsize
        slots = self.timeindex.size_bytes // entry_bytes if self.timeindex else 0
        last = (
            time_index.parse(self.timeindex.content((slots - 1) * entry_bytes, entry_bytes))
            if self.timeindex and slots
            else ()
        )
        return (
            (int(last[0]["timestamp_ms"]), int(last[0]["relative_offset"]) + self.base_offset)
            if len(last)
            else (-1, self.base_offset)
        )

    @property
    def largest_timestamp_ms(self) -> int:
        """What decides whether a timestamp is looked for in here (LogSegment.largestTimestamp): the
        time of the file if none is known.
        """
        return self.max_timestamp[0] if self.max_timestamp[0] >= 0 else self.log.modified_ms

    def reading(self, search: Callable[[LogReader], Found]) -> Found:
        """What a search in the open .log gives; CorruptFile where the bytes break their format."""
        with self.log.opened() as read:
            try:
                return search(LogReader(read, self.log.size_bytes))
            except CorruptBytes as fault:
                raise fault.in_file(self.log.path or self.log.name) from None


@dataclass(frozen=True)
class ServedLog:
    """A partition: its segments by base offset, at least one.

    checkpointed_start: what log-start-offset-checkpoint says. snapshots: the producer snapshots by
    their offset.
    """

    name: str
    segments: tuple[ServedSegment, ...]
    checkpointed_start: int | None = None
    snapshots: Mapping[int, ServedFile] = field(default_factory=dict)

    @property
    def log_start_offset(self) -> int:
        """The larger of the checkpointed log start and the first base offset."""
        return max(self.segments[0].base_offset, self.checkpointed_start or 0)

    @property
    def recovered(self) -> tuple[str, ...]:
        """The names of the files that hold other bytes than those on disk."""
        return tuple(name for one in self.segments for name in one.recovered)

    @property
    def start_error(self) -> str | None:
        """As of its segments."""
        return self.segments[0].start_error

    @property
    def active(self) -> ServedSegment:
        """The last segment."""
        return self.segments[-1]

    def floor(self, offset: int) -> int | None:
        """Which segment has the greatest base offset that is not above an offset; None where all
        are.
        """
        return max(
            (place for place, one in enumerate(self.segments) if one.base_offset <= offset),
            default=None,
        )


def as_they_are(partition: Partition) -> ServedLog:
    """A partition with the bytes that lie there, wrong ones included: what a broker makes of a
    directory that was stopped cleanly.
    """
    segments = tuple(map(of_segment, partition.live))
    snapshots = {offset: of_file(found) for offset, found in partition.snapshots.items()}
    return ServedLog(partition.directory, segments, partition.checkpoints.log_start, snapshots)


def of_segment(segment: Segment) -> ServedSegment:
    """A segment with the bytes that lie there; it has a .log."""
    index, timeindex, txnindex = (
        of_file(found) if found else None
        for found in (segment.index, segment.timeindex, segment.txnindex)
    )
    return ServedSegment(segment.base_offset, of_file(segment.log), index, timeindex, txnindex)


def of_file(found: FileInfo) -> ServedFile:
    """A file on disk."""
    return ServedFile(
        found.name,
        found.size_bytes,
        lambda: file.reader(found.path),
        found.mtime_ns // 1_000_000,
        str(found.path),
    )


def of_files(
    name: str, files: Mapping[str, ServedFile], checkpointed_start: int | None = None
) -> ServedLog:
    """A partition of files by their names, those of its segments that have a .log."""
    parsed = ((names.parse_file(one), found) for one, found in files.items())
    found = {(one.base_offset, one.kind): door for one, door in parsed if one and not one.suffix}
    segments = tuple(
        ServedSegment(
            base,
            log,
            found.get((base, "index")),
            found.get((base, "timeindex")),
            found.get((base, "txnindex")),
        )
        for (base, kind), log in sorted(found.items(), key=lambda one: one[0])
        if kind == "log"
    )
    return ServedLog(
        name,
        segments,
        checkpointed_start,
        {base: door for (base, kind), door in found.items() if kind == "snapshot"},
    )
