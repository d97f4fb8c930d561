"""A topic-partition directory: its segments in order, and the other files in it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names, producer_snapshot
from kafkaviz.format.names import PARTITION_METADATA, PartitionName
from kafkaviz.format.offset_index import find_log_end
from kafkaviz.format.producer_snapshot import ProducerSnapshot
from kafkaviz.format.walk import Walk
from kafkaviz.html import html_table
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import LogSegment, Segment, segment_of_files
from kafkaviz.messages import Message, message, say

SEGMENT_FILES = ("log", "index", "timeindex", "txnindex")


@dataclass(frozen=True)
class CheckpointOffsets:
    """A topic-partition's offsets in the checkpoint files. None: the file does not list it."""

    log_start: int | None = None
    high_watermark: int | None = None
    recovery_point: int | None = None


@dataclass(frozen=True, kw_only=True)
class RemoteGap:
    """Offsets whose remote segment is missing or cannot be read."""

    first_offset: int
    last_offset: int | None  # the last missing offset, or None if unknown
    path: Path  # the damaged file, or the path of the missing .log on the broker
    what: Message
    kind: str = ""  # the `kind` of the CannotOpen error; "" if bytes are damaged


@dataclass(frozen=True, kw_only=True)
class Partition:
    """One replica of a topic-partition on disk.

    The directory may be current, or renamed for deletion, for a move, or as a stray.
    """

    path: Path
    name: PartitionName
    # by base offset; of several with the same base offset, the one without a suffix comes first
    segments: tuple[Segment, ...]
    other_files: tuple[FileInfo, ...] = ()
    topic_id: str | None = None  # from partition.metadata
    checkpoints: CheckpointOffsets = field(default_factory=CheckpointOffsets)
    # the base offsets of segments that are only in tiered storage
    remote_bases: frozenset[int] = frozenset()
    # the offsets that should be in tiered storage but cannot be read, ascending
    remote_gaps: tuple[RemoteGap, ...] = ()

    def _repr_html_(self) -> str:
        files = ("log", "index", "timeindex")
        rows = (
            (segment.name, segment.state, *(_size_bytes(segment, kind) for kind in files))
            for segment in self.segments
        )
        title = say("html_table.partition_title", n=len(self.segments), name=self.directory)
        columns = (
            "common.segment",
            "common.state",
            "workshop.log_bytes",
            "html_table.index_bytes",
            "html_table.timeindex_bytes",
        )
        return html_table(title, columns, rows)

    @property
    def directory(self) -> str:
        return self.path.name

    @property
    def topic(self) -> str:
        """The topic. Kafka may truncate it in the name of a directory that it will delete."""
        return self.name.topic

    @property
    def partition(self) -> int:
        return self.name.partition

    @property
    def state(self) -> str:
        """The state in the directory's name: "current", "delete", "future" or "stray"."""
        return self.name.state

    @property
    def label(self) -> str:
        """Topic and number, without the random suffix of a renamed directory."""
        return f"{self.topic}-{self.partition}"

    @cached_property
    def live(self) -> tuple[LogSegment, ...]:
        """The segments that a broker uses: with a .log and without a suffix."""
        return tuple(segment for segment in self._with_log if segment.is_in_use)

    @cached_property
    def segments_with_log(self) -> tuple[LogSegment, ...]:
        """The segments with a .log, ordered by offset.

        If several segments share a base offset, keeps only the one that is first in `segments`.
        """
        first = {segment.base_offset: segment for segment in reversed(self._with_log)}
        return tuple(first[base_offset] for base_offset in sorted(first))

    @property
    def _with_log(self) -> list[LogSegment]:
        return [segment for segment in self.segments if isinstance(segment, LogSegment)]

    @cached_property
    def log_bytes(self) -> int:
        return sum(segment.log.size_bytes for segment in self._with_log)

    @cached_property
    def live_log_bytes(self) -> int:
        return sum(segment.log.size_bytes for segment in self.live)

    @property
    def is_remote_alone(self) -> bool:
        """Whether all segments are in tiered storage and none is local."""
        return bool(self.live) and all(
            segment.base_offset in self.remote_bases for segment in self.live
        )

    def without_remote(self) -> "Partition":
        """Returns the partition with its local segments only. A starting broker reads no others."""
        if not self.remote_bases and not self.remote_gaps:
            return self
        segments = tuple(
            segment for segment in self.segments if segment.base_offset not in self.remote_bases
        )
        first = min((segment.base_offset for segment in segments), default=names.MAX_OFFSET)
        other_files = tuple(
            info
            for info in self.other_files
            if not ((name := names.parse_file(info.name)) and name.base_offset < first)
        )
        return replace(
            self,
            segments=segments,
            other_files=other_files,
            remote_bases=frozenset(),
            remote_gaps=(),
        )

    @property
    def active(self) -> LogSegment | None:
        """The last segment, to which a broker would append."""
        return self.live[-1] if self.live else None

    @property
    def log_start_offset(self) -> int | None:
        """The larger of the checkpointed log start and the first base offset, or None.

        This is the rule of LogLoader in Kafka 4.3.1. A missing remote segment counts as present.
        """
        firsts = [segment.base_offset for segment in self.live[:1]]
        firsts += [gap.first_offset for gap in self.remote_gaps[:1]]
        candidates = (min(firsts, default=None), self.checkpoints.log_start)
        return max((offset for offset in candidates if offset is not None), default=None)

    @property
    def high_watermark(self) -> int | None:
        return self.checkpoints.high_watermark

    @property
    def recovery_point(self) -> int | None:
        """The checkpointed recovery point, or None. All offsets below it were flushed."""
        return self.checkpoints.recovery_point

    def segment(self, base_offset: int, state: str | None = None) -> Segment:
        """Returns the segment with this base offset, and with this state if one is given.

        If several match, returns the one without a suffix. Raises CannotOpen if none matches.
        """
        for segment in self.segments:
            if segment.base_offset == base_offset and state in (None, segment.state):
                return segment
        what = message("errors.no_such_segment", base_offset=base_offset)
        raise CannotOpen(self.path, what, kind="missing")

    @cached_property
    def snapshots(self) -> dict[int, FileInfo]:
        """The producer snapshots by offset. A snapshot describes the producers below its offset."""
        named_files = ((names.parse_file(info.name), info) for info in self.other_files)
        return {
            name.base_offset: info
            for name, info in named_files
            if name and (name.kind, name.suffix) == ("snapshot", "")
        }

    def snapshot(self, offset: int) -> ProducerSnapshot:
        """Returns the producer snapshot with this offset in its file name.

        Raises:
            CannotOpen: no snapshot has this offset.
            CorruptFile: the file is damaged, and Kafka would delete it.
        """
        if offset not in self.snapshots:
            what = message("errors.no_such_producer_snapshot", offset=offset)
            raise CannotOpen(self.path, what, kind="missing")
        return file.parse(self.snapshots[offset].path, producer_snapshot.parse)


def _size_bytes(segment: Segment, kind: str) -> int | None:
    info = getattr(segment, kind)
    return info.size_bytes if info else None


def log_end_offset(segment: LogSegment) -> int:
    """Returns the last offset of a segment plus 1. Reads the .log from the last index entry on."""
    slots = segment.offset_slots
    with file.reader(segment.log.path) as read:
        end = find_log_end(
            lambda position: (
                batches["last_offset"] for batches in Walk(read, position, segment.log.size_bytes)
            ),
            segment.base_offset,
            slots.entries[["offset", "position"]][-1].item() if len(slots.entries) else None,
            is_full=not slots.unwritten_slots,
        )
    return segment.base_offset if end is None else end


def open_partition(
    path: Path, name: PartitionName, checkpoints: CheckpointOffsets | None = None
) -> Partition:
    """Lists a topic-partition directory. Reads no file except partition.metadata."""
    groups: dict[tuple[int, str], dict[str, FileInfo]] = defaultdict(dict)
    other_files: list[FileInfo] = []
    for info in file.list_files(path):
        segment_name = names.parse_file(info.name)
        if segment_name and segment_name.kind in SEGMENT_FILES:
            groups[segment_name.base_offset, segment_name.suffix][segment_name.kind] = info
        else:
            other_files.append(info)
    return Partition(
        path=path,
        name=name,
        segments=_segments(groups),
        other_files=tuple(other_files),
        topic_id=_topic_id(path, other_files),
        checkpoints=checkpoints or CheckpointOffsets(),
    )


def _segments(groups: Mapping[tuple[int, str], Mapping[str, FileInfo]]) -> tuple[Segment, ...]:
    last_base_offset = max(
        (base for (base, suffix), files in groups.items() if not suffix and "log" in files),
        default=None,
    )
    return tuple(
        segment_of_files(
            base,
            suffix or ("active" if base == last_base_offset and "log" in files else "closed"),
            files,
        )
        for (base, suffix), files in sorted(groups.items(), key=lambda item: item[0])
    )


def _topic_id(path: Path, other_files: Iterable[FileInfo]) -> str | None:
    if not any(info.name == PARTITION_METADATA for info in other_files):
        return None
    try:
        return checkpoint.parse_partition_metadata(
            file.read_text(path / PARTITION_METADATA)
        ).topic_id
    except KafkavizError:
        return None
