"""A partition as a broker has it open: what a search reads, wherever the bytes come from.

Built from the files as they are (view_partition), or, above this package, from what a recovery
would leave of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kafkaviz.binary.file_view import AFTER_RECOVERY, FileView
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import TieredOffsets
from kafkaviz.units import file_stem

NO_TIMESTAMP = -1


class KeyColumn:
    """A column of an index with the base offset added to each value that is read.

    A search reads some twenty of them.
    """

    def __init__(self, column: np.ndarray, base: int = 0) -> None:
        self._column, self._base = column, base

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, slot: int) -> int:
        return int(self._column[slot]) + self._base


@dataclass(frozen=True, kw_only=True)
class SegmentView:
    """A segment that a broker has open.

    An index that has no file has no entries; of one that has, every slot is trusted.

    Attributes:
        start_error: Kafka's exception where the start that would recover the log ends with one, and
            no broker has it open; else None.
    """

    base_offset: int
    log: FileView
    index: FileView | None = None
    timeindex: FileView | None = None
    txnindex: FileView | None = None
    start_error: str | None = None

    @property
    def size_bytes(self) -> int:
        """The size of the .log."""
        return self.log.size_bytes

    @property
    def recovered_files(self) -> tuple[str, ...]:
        """The names of its files that hold other bytes than those on disk."""
        files = (self.log, self.index, self.timeindex, self.txnindex)
        return tuple(view.name for view in files if view and view.source == AFTER_RECOVERY)

    def file_name(self, kind: str) -> str:
        """The name of its index or timeindex, whether there is one or not."""
        return f"{file_stem(self.base_offset)}.{kind}"

    @cached_property
    def offset_slots(self) -> np.ndarray:
        """Every complete slot of the .index, written or not.

        Returns:
            An array of offset_index.ENTRY.
        """
        return offset_index.parse(self.index.content() if self.index else b"")

    @cached_property
    def time_slots(self) -> np.ndarray:
        """Every complete slot of the .timeindex, written or not.

        Returns:
            An array of time_index.ENTRY.
        """
        return time_index.parse(self.timeindex.content() if self.timeindex else b"")

    @cached_property
    def aborted(self) -> np.ndarray:
        """The entries of the .txnindex.

        Returns:
            An array of txn_index.ENTRY.
        """
        return txn_index.parse(self.txnindex.content() if self.txnindex else b"")

    @cached_property
    def max_timestamp(self) -> tuple[int, int]:
        """The largest timestamp that the broker remembers: that of the last slot of the time index.

        LogSegment.readMaxTimestampAndOffsetSoFar from 2.3 on. Earlier releases read the batches
        behind the last entry too, which comes to the same where the segment was closed.

        Returns:
            The timestamp and its offset; (-1, base offset) without a slot.
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
        """The largest timestamp (LogSegment.largestTimestamp): the file's time if none is known.

        It decides whether this segment is searched for a timestamp.
        """
        return self.max_timestamp[0] if self.max_timestamp[0] >= 0 else self.log.modified_ms


@dataclass(frozen=True)
class LogView:
    """A partition: its segments by base offset, at least one.

    Attributes:
        checkpointed_start: what log-start-offset-checkpoint says.
        snapshots: the producer snapshots by their offset.
        tiered: of a partition with remote segments; None without tiered storage.
    """

    name: str
    segments: tuple[SegmentView, ...]
    checkpointed_start: int | None = None
    snapshots: Mapping[int, FileView] = field(default_factory=dict)
    tiered: TieredOffsets | None = None

    @property
    def log_start_offset(self) -> int:
        """The larger of the checkpointed log start and the first base offset."""
        return max(self.segments[0].base_offset, self.checkpointed_start or 0)

    @property
    def recovered_files(self) -> tuple[str, ...]:
        """The names of the files that hold other bytes than those on disk."""
        return tuple(name for segment in self.segments for name in segment.recovered_files)

    @property
    def start_error(self) -> str | None:
        """The start error of its segments."""
        return self.segments[0].start_error

    @property
    def active(self) -> SegmentView:
        """The last segment."""
        return self.segments[-1]

    def floor(self, offset: int) -> int | None:
        """Which segment has the greatest base offset that is not above an offset.

        Returns:
            None where all are above it.
        """
        return max(
            (place for place, segment in enumerate(self.segments) if segment.base_offset <= offset),
            default=None,
        )


def view_partition(partition: Partition) -> LogView:
    """A partition with the bytes on disk, wrong ones included.

    So a broker sees a directory that was stopped cleanly.
    """
    segments = tuple(map(view_segment, partition.live))
    snapshots = {offset: file.view(info) for offset, info in partition.snapshots.items()}
    return LogView(
        partition.directory,
        segments,
        partition.checkpoints.log_start,
        snapshots,
        tiered_view.tiered_offsets(partition.path),
    )


def view_segment(segment: LogSegment) -> SegmentView:
    """A segment with a .log, with the bytes on disk."""
    index, timeindex, txnindex = (
        file.view(info) if info else None
        for info in (segment.index, segment.timeindex, segment.txnindex)
    )
    return SegmentView(
        base_offset=segment.base_offset,
        log=file.view(segment.log),
        index=index,
        timeindex=timeindex,
        txnindex=txnindex,
    )


def view_files(
    name: str, files: Mapping[str, FileView], checkpointed_start: int | None = None
) -> LogView:
    """A partition from files by their names; only segments with a .log are in it."""
    parsed_names = ((names.parse_file(file_name), view) for file_name, view in files.items())
    views = {
        (parsed_name.base_offset, parsed_name.kind): view
        for parsed_name, view in parsed_names
        if parsed_name and not parsed_name.suffix
    }
    segments = tuple(
        SegmentView(
            base_offset=base,
            log=log,
            index=views.get((base, "index")),
            timeindex=views.get((base, "timeindex")),
            txnindex=views.get((base, "txnindex")),
        )
        for (base, kind), log in sorted(views.items(), key=lambda item: item[0])
        if kind == "log"
    )
    return LogView(
        name,
        segments,
        checkpointed_start,
        {base: view for (base, kind), view in views.items() if kind == "snapshot"},
    )
