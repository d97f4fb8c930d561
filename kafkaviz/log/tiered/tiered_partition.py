"""Where each segment of a topic-partition is: on the broker, in the store, in both or in neither.

    orders-0    offsets      in the store   metadata                place
                0 to 19      yes            COPY_SEGMENT_FINISHED   remote
                356 to 379   yes            COPY_SEGMENT_FINISHED   both
                380 to       no             none                    local

An offset below the local log start is read from the remote segment of its leader epoch
(RemoteLogManager.read of Kafka 4.3.1). Every other offset is read from the local segments.
"""

from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from kafkaviz.errors import CannotOpen, CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.format.remote_segment import LOCAL_TIERED_STORAGE, MANIFEST, TopicIdPartition
from kafkaviz.log import file
from kafkaviz.log.partition import Partition, RemoteGap, log_end_offset
from kafkaviz.log.segment import segment_of_files
from kafkaviz.log.tiered.remote_log_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    RemoteLogEvents,
    RemoteLogMetadata,
    RemoteLogMetadataCache,
    RemoteLogSegment,
)
from kafkaviz.log.tiered.segment_store import RemoteSegmentFiles
from kafkaviz.messages import message
from kafkaviz.units import file_stem


class SegmentPlace(StrEnum):
    LOCAL = "local"
    BOTH = "both"
    REMOTE = "remote"
    UNFINISHED = "unfinished"  # its copy has started but not finished
    DANGLING = "dangling"  # in the store, but no reader asks for it any more
    LOST = "lost"  # copied according to the metadata, but in neither place


WITHOUT_METADATA = (SegmentPlace.REMOTE, SegmentPlace.UNFINISHED)  # in a store without metadata


@dataclass(frozen=True, kw_only=True)
class TieredSegment:
    """A segment as the local directory, the remote store and __remote_log_metadata describe it."""

    start_offset: int
    end_offset: int | None  # the last offset; None for the active segment, or if unknown
    place: SegmentPlace
    segment_id: str | None = None
    leader_epochs: Mapping[int, int] = field(default_factory=dict)
    log_bytes: int | None = None
    state: str | None = None  # according to __remote_log_metadata; None: no record, or deleted
    stored: RemoteSegmentFiles | None = None
    is_local: bool = False
    # the last offset that consumers read from the remote copy; None: they read none from it
    served_end_offset: int | None = None
    max_timestamp_ms: int | None = None
    event_count: int = 0  # records in __remote_log_metadata about the segment


@dataclass(frozen=True, kw_only=True)
class TieredPartition:
    """The local and remote segments of a topic-partition, by start offset."""

    directory: str
    topic_id: str | None
    segments: tuple[TieredSegment, ...]
    local_log_start: int | None = None
    log_start: int = 0  # the checkpointed log start offset
    has_directory: bool = False  # a local directory has this topic id
    deleted_segments: int = 0  # segments whose deletion has finished, according to the metadata
    deletion: str | None = None  # the state of the partition's deletion, or None
    lineage: tuple[tuple[int, int], ...] = ()  # the (leader epoch, first offset) pairs of the log
    events: RemoteLogEvents | None = None  # about its segments; None without metadata
    # stored segments that have updates in the metadata, but no announcement
    unannounced_segments: int = 0
    problems: tuple[KafkavizError, ...] = ()

    @property
    def serving_segments(self) -> tuple[TieredSegment, ...]:
        """The remote segments from which consumers read offsets that are no longer local."""
        return tuple(segment for segment in self.segments if segment.served_end_offset is not None)

    @property
    def latest_tiered(self) -> int | None:
        """The last offset that was copied and not deleted from the store, or None."""
        copied = (SegmentPlace.BOTH, SegmentPlace.REMOTE, SegmentPlace.LOST)
        ends = (segment.end_offset for segment in self.segments if segment.place in copied)
        return max((end for end in ends if end is not None), default=None)

    def gaps(self, folder: Path, faults: Mapping[str, KafkavizError]) -> tuple[RemoteGap, ...]:
        """Returns the offsets before the local log that no remote segment can give, in order.

        Offsets below the first known remote segment do not count. Retention may have deleted them.

        Args:
            folder: the partition directory where the missing segment would be.
            faults: the errors of the remote segments that should have these offsets, by segment id.
        """
        broken_segments = _broken_segments(self, folder, faults)
        broken = [gap for gap, _ in broken_segments]
        readable = [
            segment for segment in self.serving_segments if segment.segment_id not in faults
        ]
        starts = [gap.first_offset for gap in broken]
        starts += [segment.start_offset for segment in readable]
        if not starts:
            return ()
        position = max(self.log_start, min(starts))
        gaps = []
        ends = [(segment.start_offset, segment.served_end_offset) for segment in readable]
        if self.local_log_start is not None:
            ends.append((self.local_log_start, None))
        for start, end in sorted(ends, key=lambda pair: pair[0]):
            if start > position:
                gaps += _describe_gap(position, start - 1, broken, folder)
            if end is None:
                return tuple(gaps)
            position = max(position, end + 1)
        # In a store alone, an incomplete copy at its end may simply be in progress.
        later = [gap for gap, is_complete in broken_segments if is_complete]
        if later:
            gaps += _describe_gap(position, None, later, folder)
        return tuple(gaps)

    @property
    def counts(self) -> dict[str, int]:
        return {place.value: self.count(place) for place in SegmentPlace}

    def count(self, place: SegmentPlace) -> int:
        return sum(segment.place is place for segment in self.segments)


def _broken_segments(
    partition: TieredPartition, folder: Path, faults: Mapping[str, KafkavizError]
) -> list[tuple[RemoteGap, bool]]:
    """Returns (gap, whether the segment was copied completely) for each unreadable segment."""
    broken = []
    starts = [segment.start_offset for segment in partition.segments]
    for segment in partition.segments:
        fault = faults.get(segment.segment_id or "")
        is_complete = segment.place is SegmentPlace.LOST or fault is not None
        if segment.place is SegmentPlace.LOST and not segment.stored:
            what = message("tiered.lost", segment=segment.segment_id)
            fault = CannotOpen(_log_path(folder, segment.start_offset), what, kind="missing")
        elif segment.stored and segment.place is SegmentPlace.LOST:
            fault = _fault_of(segment.stored)
        elif segment.stored and segment.state is None and segment.place in WITHOUT_METADATA:
            if segment.served_end_offset is None:
                fault = _fault_of(segment.stored)
            is_complete = segment.stored.is_complete
        if isinstance(fault, CannotOpen | CorruptFile):
            last_offset = segment.end_offset
            if last_offset is None:
                later = (start - 1 for start in starts if start > segment.start_offset)
                last_offset = min(later, default=None)
            gap = RemoteGap(
                first_offset=segment.start_offset,
                last_offset=last_offset,
                path=fault.path,
                what=fault.what,
                kind=fault.kind if isinstance(fault, CannotOpen) else "",
            )
            broken.append((gap, is_complete))
    return broken


def _fault_of(stored: RemoteSegmentFiles) -> KafkavizError | None:
    try:
        stored.parts()
        stored.leader_epochs()
    except KafkavizError as fault:
        return fault
    if stored.manifest and not stored.manifest.metadata:
        return CannotOpen(stored.files[MANIFEST].path, message("tiered.no_offsets"))
    return None


def _describe_gap(
    first: int, last: int | None, broken: Sequence[RemoteGap], folder: Path
) -> Iterator[RemoteGap]:
    position = first
    for gap in broken:
        end = min((end for end in (gap.last_offset, last) if end is not None), default=None)
        start = max(position, gap.first_offset)
        if end is not None and start > end:
            continue
        if start > position:
            yield _unnamed_gap(position, start - 1, folder)
        yield replace(gap, first_offset=start, last_offset=end)
        if end is None:
            return
        position = end + 1
    if last is not None and position <= last:
        yield _unnamed_gap(position, last, folder)


def _unnamed_gap(first: int, last: int, folder: Path) -> RemoteGap:
    return RemoteGap(
        first_offset=first,
        last_offset=last,
        path=_log_path(folder, first),
        what=message("tiered.no_segment"),
        kind="missing",
    )


def _log_path(folder: Path, offset: int) -> Path:
    return folder / f"{file_stem(offset)}.log"


def join_partition(
    name: TopicIdPartition,
    stored: Sequence[RemoteSegmentFiles],
    metadata: RemoteLogMetadata,
    local: Partition | None,
    *,
    has_store: bool = True,
) -> TieredPartition:
    """Combines what store, metadata and local directory say about a topic-partition.

    Without a store (`has_store`), each copied segment counts as stored.
    """
    return _Join(name, stored, metadata, local, has_store=has_store).partition()


class _Join:
    """The segments of a partition in a store, in the metadata and in a directory, to be joined."""

    def __init__(
        self,
        name: TopicIdPartition,
        stored: Sequence[RemoteSegmentFiles],
        metadata: RemoteLogMetadata,
        local: Partition | None,
        *,
        has_store: bool,
    ) -> None:
        self._name = name
        self._stored = stored
        self._local = local
        self._has_store = has_store
        self._deletion = metadata.deletions.get(name)
        self._local_segments = local.live if local else ()
        self._local_start = self._local_segments[0].base_offset if self._local_segments else None
        self._log_start = (local.checkpoints.log_start or 0) if local else 0
        self._problems: list[KafkavizError] = []
        self._has_metadata = name in metadata.caches
        self._unannounced_count = 0
        if self._has_metadata:
            self._cache = metadata.caches[name]
            self._describe_unannounced()
        else:
            self._cache = self._cache_of_store()

    def partition(self) -> TieredPartition:
        lineage = self._lineage()
        rows = self._remote_rows(self._served_ends(lineage))
        rows += self._local_rows({row.start_offset for row in rows if row.is_local})
        return TieredPartition(
            directory=self._name.directory,
            topic_id=self._name.topic_id,
            segments=tuple(sorted(rows, key=lambda row: (row.start_offset, row.segment_id or ""))),
            local_log_start=self._local_start,
            log_start=self._log_start,
            has_directory=self._local is not None,
            deleted_segments=len(self._cache.deleted),
            deletion=self._deletion,
            lineage=tuple(lineage),
            events=self._cache.events if self._has_metadata else None,
            unannounced_segments=self._unannounced_count,
            problems=tuple(self._problems),
        )

    def _remote_rows(self, end_offsets: Mapping[str, int]) -> list[TieredSegment]:
        stored_by_id = {segment.segment_id: segment for segment in self._stored}
        local_bases = {segment.base_offset for segment in self._local_segments}
        rows = []
        for segment in self._cache.segments.values():
            in_store = stored_by_id.pop(segment.segment_id, None)
            is_local = self._local_start is not None and segment.start_offset >= self._local_start
            place = _place(
                segment.state,
                is_stored=not self._has_store or (in_store is not None and in_store.is_complete),
                is_local=is_local,
                is_needed=segment.end_offset >= self._log_start,
            )
            served_end = end_offsets.get(segment.segment_id)
            rows.append(
                TieredSegment(
                    start_offset=segment.start_offset,
                    end_offset=segment.end_offset,
                    place=place,
                    segment_id=segment.segment_id,
                    leader_epochs=segment.leader_epochs,
                    log_bytes=segment.size_bytes,
                    state=segment.state if self._has_metadata else None,
                    stored=in_store,
                    is_local=is_local and segment.start_offset in local_bases,
                    served_end_offset=served_end if place is SegmentPlace.REMOTE else None,
                    max_timestamp_ms=segment.max_timestamp_ms,
                    event_count=self._cache.event_counts[segment.segment_id],
                )
            )
        for segment in stored_by_id.values():
            deleted = self._cache.deleted.get(segment.segment_id)
            rows.append(
                TieredSegment(
                    start_offset=segment.start_offset,
                    end_offset=deleted.end_offset if deleted else None,
                    place=SegmentPlace.DANGLING if self._has_metadata else SegmentPlace.UNFINISHED,
                    segment_id=segment.segment_id,
                    log_bytes=_log_bytes(segment),
                    state=self._cache.unannounced.get(segment.segment_id),
                    stored=segment,
                    event_count=self._cache.event_counts[segment.segment_id],
                )
            )
        return rows

    def _local_rows(self, remote_starts: Container[int]) -> list[TieredSegment]:
        bases = [segment.base_offset for segment in self._local_segments]
        ends = [*(base - 1 for base in bases[1:]), None]
        return [
            TieredSegment(
                start_offset=segment.base_offset,
                end_offset=end,
                place=SegmentPlace.LOCAL,
                log_bytes=segment.log.size_bytes,
                is_local=True,
            )
            for segment, end in zip(self._local_segments, ends, strict=False)
            if segment.base_offset not in remote_starts
        ]

    def _served_ends(self, lineage: Sequence[tuple[int, int]]) -> dict[str, int]:
        """Returns the last offset that consumers read from each remote segment, by segment id.

        A segment may have later offsets, but consumers read these from the next segment.
        """
        stored_ids = {segment.segment_id for segment in self._stored if segment.is_complete}
        copied = _path(self._cache, lineage, self._local_start, self._log_start)
        path = [segment for segment in copied if segment.segment_id in stored_ids]
        next_starts = [*(segment.start_offset for segment in path), self._local_start][1:]
        ends = {}
        for segment, next_start in zip(path, next_starts, strict=False):
            end = segment.end_offset
            if next_start is not None:
                end = min(end, next_start - 1)
            if end >= segment.start_offset:
                ends[segment.segment_id] = end
        return ends

    def _lineage(self) -> list[tuple[int, int]]:
        """Returns the (leader epoch, first offset) pairs of the log.

        They come from the local directory, else from the stored segment with the latest epochs.
        """
        if self._local is not None:
            path = self._local.path / LEADER_EPOCHS
            try:
                if file.is_there(path):
                    return checkpoint.parse_leader_epochs(file.read_text(path))
            except CorruptBytes as fault:
                self._problems.append(fault.in_file(path))
            except KafkavizError as fault:
                self._problems.append(fault)
        return max(map(self._epochs, self._stored), key=lambda epochs: epochs[-1:], default=[])

    def _epochs(self, segment: RemoteSegmentFiles) -> list[tuple[int, int]]:
        try:
            return segment.leader_epochs() if segment.is_complete else []
        except KafkavizError as fault:
            self._problems.append(fault)
            return []

    def _cache_of_store(self) -> RemoteLogMetadataCache:
        """Returns metadata in which every complete segment of the store is a finished copy.

        The segments with the latest leader epochs are added last.
        """
        cache = RemoteLogMetadataCache()
        segments = [
            segment
            for stored_segment in self._stored
            if stored_segment.is_complete and (segment := self._described(stored_segment))
        ]
        for segment in sorted(segments, key=lambda segment: max(segment.leader_epochs, default=-1)):
            cache.add(segment)
            cache.update(segment.segment_id, COPY_FINISHED)
        return cache

    def _describe_unannounced(self) -> None:
        """Adds stored segments with updates in the metadata, but no announcement, to the cache.

        The last update must be COPY_SEGMENT_FINISHED. The offsets come from the store.
        """
        for stored_segment in self._stored:
            state = self._cache.unannounced.get(stored_segment.segment_id)
            if state == COPY_FINISHED and stored_segment.is_complete:
                segment = self._described(stored_segment)
                if segment:
                    self._cache.add(segment)
                    self._cache.update(segment.segment_id, COPY_FINISHED)
                    self._unannounced_count += 1

    def _described(self, stored: RemoteSegmentFiles) -> RemoteLogSegment | None:
        try:
            return _describe(stored)
        except KafkavizError as fault:
            self._problems.append(fault)
            return None


def _path(
    cache: RemoteLogMetadataCache,
    lineage: Sequence[tuple[int, int]],
    local_start: int | None,
    log_start: int,
) -> list[RemoteLogSegment]:
    """Returns the copied segments that serve the offsets before the local log, in order."""
    copied = [segment for segment in cache.segments.values() if segment.state == COPY_FINISHED]
    last = max((segment.end_offset for segment in copied), default=-1)
    if local_start is not None:
        last = min(last, local_start - 1)
    starts_of_epoch: dict[int, list[int]] = {}
    for segment in copied:
        for epoch, start_offset in segment.leader_epochs.items():
            starts_of_epoch.setdefault(epoch, []).append(start_offset)
    path: dict[str, RemoteLogSegment] = {}
    ends = [*(start - 1 for _, start in lineage[1:]), last]
    for (epoch, first), end in zip(lineage, ends, strict=False):
        offset = max(first, log_start)
        starts = sorted(starts_of_epoch.get(epoch, ()))
        while offset <= min(end, last):
            segment = cache.find(epoch, offset)
            if segment:
                path.setdefault(segment.segment_id, segment)
                offset = segment.epoch_end_offset(epoch) + 1
                continue
            place = bisect_right(starts, offset)
            offset = starts[place] if place < len(starts) else last + 1
    return list(path.values())


def _place(state: str, *, is_stored: bool, is_local: bool, is_needed: bool) -> SegmentPlace:
    if state == COPY_STARTED:
        return SegmentPlace.UNFINISHED
    if state != COPY_FINISHED:
        return SegmentPlace.DANGLING
    if is_stored:
        return SegmentPlace.BOTH if is_local else SegmentPlace.REMOTE
    if is_local:
        return SegmentPlace.LOCAL
    return SegmentPlace.LOST if is_needed else SegmentPlace.DANGLING


def _log_bytes(segment: RemoteSegmentFiles) -> int | None:
    try:
        return segment.log_bytes
    except KafkavizError:
        return None


def _describe(stored: RemoteSegmentFiles) -> RemoteLogSegment:
    """Returns the metadata that would describe a segment of the store.

    Raises KafkavizError if the files of the segment do not show the offsets.
    """
    if stored.manifest and stored.manifest.metadata:
        metadata = stored.manifest.metadata
        return RemoteLogSegment(
            segment_id=stored.segment_id,
            start_offset=metadata.start_offset,
            end_offset=metadata.end_offset,
            leader_epochs=metadata.leader_epochs,
            state=COPY_STARTED,
            max_timestamp_ms=metadata.max_timestamp_ms,
            size_bytes=stored.log_bytes,
        )
    if stored.layout != LOCAL_TIERED_STORAGE:
        raise CannotOpen(stored.files[MANIFEST].path, message("tiered.no_offsets"))
    epochs = stored.leader_epochs()
    files = {kind: stored.files[kind] for kind in ("log", "index")}
    segment = segment_of_files(stored.start_offset, "closed", files)
    end_offset = log_end_offset(segment.with_log()) - 1
    inside = {
        epoch: max(start, stored.start_offset)
        for place, (epoch, start) in enumerate(epochs)
        if start <= end_offset
        and (place + 1 == len(epochs) or epochs[place + 1][1] > stored.start_offset)
    }
    return RemoteLogSegment(
        segment_id=stored.segment_id,
        start_offset=stored.start_offset,
        end_offset=end_offset,
        leader_epochs=inside or {0: stored.start_offset},
        state=COPY_STARTED,
        size_bytes=stored.log_bytes,
    )
