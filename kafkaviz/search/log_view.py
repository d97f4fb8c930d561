"""A partition as a running broker sees it: the files that a search reads, on disk or predicted.

A LogView has one SegmentView per segment. view_partition builds a LogView from files on disk.
view_files builds it from other files, such as those that a simulated recovery leaves.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kafkaviz.binary.file_view import AFTER_RECOVERY, FileView, ReadInto, reader
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import TieredOffsets
from kafkaviz.units import file_stem

NO_TIMESTAMP = -1


@dataclass(eq=False)
class KeyColumn:
    """A column of an index. Adds the base offset to a value when the value is read.

    A search reads only about twenty values, so converting the whole column would waste time.
    """

    _column: np.ndarray
    _base: int = 0

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, slot: int) -> int:
        return int(self._column[slot]) + self._base


@dataclass(frozen=True, kw_only=True)
class SegmentView:
    """A segment that a broker has open.

    A missing index counts as empty. Every slot of an index counts as an entry, as in Kafka.
    """

    base_offset: int
    log: FileView
    index: FileView | None = None
    timeindex: FileView | None = None
    txnindex: FileView | None = None
    # Kafka's exception if start-up fails before it has recovered this log; else None
    start_error: str | None = None
    # whether the topic's interval is unknown, so that indexes were rebuilt with Kafka's default
    has_assumed_settings: bool = False

    @property
    def size_bytes(self) -> int:
        return self.log.size_bytes

    @property
    def recovered_files(self) -> tuple[str, ...]:
        """The names of the files that are shown as they will be after recovery."""
        files = (self.log, self.index, self.timeindex, self.txnindex)
        return tuple(view.name for view in files if view and view.source == AFTER_RECOVERY)

    def file_name(self, kind: str) -> str:
        return f"{file_stem(self.base_offset)}.{kind}"

    @cached_property
    def offset_slots(self) -> np.ndarray:
        """All complete slots of the .index, written or not, as an array of offset_index.ENTRY."""
        return offset_index.parse(self.index.array() if self.index else b"")

    @cached_property
    def time_slots(self) -> np.ndarray:
        """All complete slots of the .timeindex, written or not, as an array of time_index.ENTRY."""
        return time_index.parse(self.timeindex.array() if self.timeindex else b"")

    @cached_property
    def aborted(self) -> np.ndarray:
        """The entries of the .txnindex as an array of txn_index.ENTRY."""
        return txn_index.parse(self.txnindex.content() if self.txnindex else b"")

    @cached_property
    def max_timestamp(self) -> tuple[int, int]:
        """The (timestamp, offset) in the last slot of the time index, or (-1, base offset).

        A broker keeps this pair in memory (LogSegment.readMaxTimestampAndOffsetSoFar since 2.3).
        Earlier releases also read the batches after the last entry.
        """
        entry_bytes = time_index.ENTRY.itemsize
        slots = self.timeindex.size_bytes // entry_bytes if self.timeindex else 0
        if self.timeindex and slots:
            data = self.timeindex.content((slots - 1) * entry_bytes, entry_bytes)
            entries = time_index.parse(data)
            if len(entries):
                last = entries[0]
                return int(last["timestamp_ms"]), int(last["relative_offset"]) + self.base_offset
        return -1, self.base_offset

    @property
    def largest_timestamp_ms(self) -> int:
        """The largest timestamp (LogSegment.largestTimestamp).

        It is the .log's modification time if the time index has no timestamp.
        """
        return self.max_timestamp[0] if self.max_timestamp[0] >= 0 else self.log.modified_ms


@dataclass(frozen=True)
class LogView:
    """A partition: at least one segment, sorted by base offset."""

    name: str
    segments: tuple[SegmentView, ...]
    checkpointed_start: int | None = None  # the value in log-start-offset-checkpoint
    # the producer snapshots by offset
    snapshots: Mapping[int, FileView] = field(default_factory=dict)
    # the offsets in tiered storage; None if the partition has no remote segments
    tiered: TieredOffsets | None = None

    @property
    def log_start_offset(self) -> int:
        """The checkpointed log start offset, or the first base offset if that is larger."""
        return max(self.segments[0].base_offset, self.checkpointed_start or 0)

    @property
    def recovered_files(self) -> tuple[str, ...]:
        return tuple(name for segment in self.segments for name in segment.recovered_files)

    @property
    def start_error(self) -> str | None:
        return self.segments[0].start_error

    @property
    def active(self) -> SegmentView:
        return self.segments[-1]

    def place_of(self, base_offset: int) -> int:
        """Returns the index of the segment with this base offset."""
        return [segment.base_offset for segment in self.segments].index(base_offset)

    def floor_segment(self, offset: int) -> int | None:
        """Returns the index of the last segment that begins at or below `offset`, or None.

        This is LogSegments.floorSegment.
        """
        return max(
            (place for place, segment in enumerate(self.segments) if segment.base_offset <= offset),
            default=None,
        )


def view_partition(partition: Partition) -> LogView:
    """Returns a partition on disk, as a broker sees it after a clean shutdown."""
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
    """Returns a segment with the bytes that are on disk. The segment must have a .log."""
    return SegmentView(
        base_offset=segment.base_offset,
        log=file.view(segment.log),
        index=_view_index(segment, "index"),
        timeindex=_view_index(segment, "timeindex"),
        txnindex=file.view(segment.txnindex) if segment.txnindex else None,
    )


def _view_index(segment: LogSegment, kind: str) -> FileView | None:
    """Returns an index, or None if the file does not exist.

    The index of an active segment may grow. Entries appended after the .log was listed are left
    out.
    """
    info = segment.index if kind == "index" else segment.timeindex
    if info is None:
        return None
    view = file.view(info)
    if segment.state != "active" or address.mirrored_file(str(info.path)):
        return view

    @contextmanager
    def open_reader() -> Generator[ReadInto]:
        data, _ = file.read_data(info.path)
        current_segment = replace(segment)  # a copy without cached content
        if current_segment.has_changed():
            layout = offset_index if kind == "index" else time_index
            index = current_segment.offset_slots
            if kind == "timeindex":
                index = current_segment.time_slots
            data = data[: len(index.entries) * layout.ENTRY.itemsize]
        yield reader(data + bytes(max(0, info.size_bytes - len(data))))

    return replace(view, open_reader=open_reader)


def view_files(
    name: str, files: Mapping[str, FileView], checkpointed_start: int | None = None
) -> LogView:
    """Builds a partition from files by name. Segments without a .log are left out."""
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
