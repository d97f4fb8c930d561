r"""The remote segments of each topic-partition, as __remote_log_metadata records them.

A record announces a segment, and later records update its state. An update that does not follow
these arrows is ignored:

    COPY_SEGMENT_STARTED  ->  COPY_SEGMENT_FINISHED  ->  DELETE_SEGMENT_STARTED  ->  ..._FINISHED
                         \________________________/^

The leader epoch decides which segment serves an offset. A segment with offsets 0 to 99, written in
epoch 0 up to 59 and then in epoch 2, serves offsets 0 to 59 of epoch 0 and 60 to 99 of epoch 2.

Two copies may overlap in an epoch. If the later copy ends at or after all earlier ones, it replaces
the earlier copies that begin at or after its own start: a copy of 0 to 99 replaces one of 20 to 59.
These are the rules of RemoteLogMetadataCache and RemoteLogLeaderEpochState in Kafka 4.3.1.

KIP-1266 proposes to compact the topic. Then its records have keys, and a tombstone marks a deleted
segment. No release up to 4.4.0 writes keys. If an update has no key and its segment was not
announced, Kafka and kafkaviz ignore the update.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from kafkaviz.errors import CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.format import batch_records, remote_metadata
from kafkaviz.format.batch import is_control
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.remote_metadata import SEGMENT_STATES
from kafkaviz.format.remote_segment import TopicIdPartition, name_partition
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

REMOTE_LOG_METADATA_TOPIC = "__remote_log_metadata"
COPY_STARTED, COPY_FINISHED, DELETE_STARTED, DELETE_FINISHED = SEGMENT_STATES
DELETE_PARTITION_FINISHED = remote_metadata.DELETE_STATES[-1]
_NEXT_STATES = {
    COPY_STARTED: (COPY_FINISHED, DELETE_STARTED),
    COPY_FINISHED: (DELETE_STARTED,),
    DELETE_STARTED: (DELETE_FINISHED,),
    DELETE_FINISHED: (),
}


@dataclass(frozen=True, kw_only=True)
class RemoteLogSegment:
    """A remote segment as its metadata describes it."""

    segment_id: str
    start_offset: int
    end_offset: int
    leader_epochs: Mapping[int, int]  # the first offset of each epoch in this segment
    state: str
    max_timestamp_ms: int | None = None  # of its records; None if unknown
    size_bytes: int | None = None  # of its .log; None if unknown

    @cached_property
    def _epochs(self) -> list[int]:
        return sorted(self.leader_epochs)

    @cached_property
    def _least_starts(self) -> list[int]:
        """For each epoch, in ascending order: the smallest first offset from this epoch on."""
        starts = [self.leader_epochs[epoch] for epoch in reversed(self._epochs)]
        return list(accumulate(starts, min))[::-1]

    def epoch_end_offset(self, epoch: int) -> int:
        place = bisect_right(self._epochs, epoch)
        return self._least_starts[place] - 1 if place < len(self._epochs) else self.end_offset


@dataclass
class _EpochSegments:
    starts: dict[int, str] = field(default_factory=dict)
    highest_offset: int = -1
    _ordered: list[int] = field(default_factory=list)  # the keys of `starts`, sorted

    def add(self, start_offset: int, segment_id: str, end_offset: int) -> None:
        if self.highest_offset <= end_offset:
            while self._ordered and self._ordered[-1] >= start_offset:
                del self.starts[self._ordered.pop()]
        if start_offset not in self.starts:
            insort(self._ordered, start_offset)
        self.starts[start_offset] = segment_id
        self.highest_offset = max(end_offset, self.highest_offset)

    def remove(self, start_offset: int) -> None:
        del self.starts[start_offset]
        del self._ordered[bisect_left(self._ordered, start_offset)]

    def floor(self, offset: int) -> str | None:
        place = bisect_right(self._ordered, offset)
        return self.starts[self._ordered[place - 1]] if place else None


@dataclass(frozen=True, kw_only=True)
class RemoteLogEvents:
    """How many records __remote_log_metadata has about the segments of a topic-partition."""

    total: int
    # replaced by a later record of the same segment, or about a deleted segment
    superseded: int


class RemoteLogMetadataCache:
    """The remote segments of one topic-partition, according to the metadata read so far."""

    def __init__(self) -> None:
        self.segments: dict[str, RemoteLogSegment] = {}  # not deleted yet, by segment id
        self.deleted: dict[str, RemoteLogSegment] = {}  # deletion finished, by segment id
        self.unannounced: dict[str, str] = {}  # the states of segments known from updates alone
        self.event_counts: Counter[str] = Counter()  # records by segment id
        self._epochs: dict[int, _EpochSegments] = {}

    @property
    def events(self) -> "RemoteLogEvents":
        live_ids = [*self.segments, *self.unannounced]
        needed = sum(self.event_counts[segment_id] > 0 for segment_id in live_ids)
        total = self.event_counts.total()
        return RemoteLogEvents(total=total, superseded=total - needed)

    def add(self, segment: RemoteLogSegment) -> None:
        """Adds an announced segment, unless the segment already has a later state."""
        known = self.segments.get(segment.segment_id)
        if segment.state == COPY_STARTED and (known is None or known.state == COPY_STARTED):
            self.segments[segment.segment_id] = segment
            self.unannounced.pop(segment.segment_id, None)

    def update(self, segment_id: str, state: str, *, is_keyed: bool = False) -> None:
        """Sets the state of a segment. Ignores a state that cannot follow the present one.

        If the segment was not announced, an update is ignored unless it has a key (`is_keyed`).
        """
        segment = self.segments.get(segment_id)
        if segment is None:
            if is_keyed and state != DELETE_FINISHED:
                self.unannounced[segment_id] = state
            elif is_keyed:
                self.unannounced.pop(segment_id, None)
            return
        if state not in (segment.state, *_NEXT_STATES[segment.state]):
            return
        self.segments[segment_id] = segment = replace(segment, state=state)
        for epoch, start_offset in segment.leader_epochs.items():
            epoch_segments = self._epochs.setdefault(epoch, _EpochSegments())
            if state == COPY_FINISHED:
                epoch_segments.add(start_offset, segment_id, segment.epoch_end_offset(epoch))
            elif epoch_segments.starts.get(start_offset) == segment_id:
                epoch_segments.remove(start_offset)
        if state == DELETE_FINISHED:
            self.deleted[segment_id] = self.segments.pop(segment_id)

    def remove(self, segment_id: str) -> None:
        """Moves a segment to `deleted`, because a tombstone marks it."""
        self.unannounced.pop(segment_id, None)
        segment = self.segments.pop(segment_id, None)
        if segment is None:
            return
        self.deleted[segment_id] = segment
        for epoch, start_offset in segment.leader_epochs.items():
            epoch_segments = self._epochs.get(epoch)
            if epoch_segments and epoch_segments.starts.get(start_offset) == segment_id:
                epoch_segments.remove(start_offset)

    def delete_all(self) -> None:
        """Moves all segments to `deleted`, because the partition was deleted.

        Follows RemotePartitionMetadataStore (4.3.1).
        """
        self.deleted |= self.segments
        self.segments = {}
        self.unannounced = {}
        self._epochs = {}

    def find(self, epoch: int, offset: int) -> RemoteLogSegment | None:
        """Returns the copied segment that serves an offset of an epoch, or None."""
        epoch_segments = self._epochs.get(epoch)
        segment_id = epoch_segments.floor(offset) if epoch_segments else None
        segment = self.segments.get(segment_id) if segment_id else None
        return segment if segment and offset <= segment.epoch_end_offset(epoch) else None


@dataclass(frozen=True)
class RemoteLogMetadata:
    """The contents of the __remote_log_metadata partitions on one broker."""

    caches: Mapping[TopicIdPartition, RemoteLogMetadataCache]  # the remote segments
    deletions: Mapping[TopicIdPartition, str] = field(default_factory=dict)  # current states
    problems: tuple[KafkavizError, ...] = ()  # of partitions that could not be read


def read_metadata(partitions: Iterable[Partition]) -> RemoteLogMetadata:
    """Reads all __remote_log_metadata partitions. Reads a damaged partition up to the damage."""
    caches: dict[TopicIdPartition, RemoteLogMetadataCache] = {}
    deletions: dict[TopicIdPartition, str] = {}
    problems = []
    for partition in partitions:
        if partition.topic != REMOTE_LOG_METADATA_TOPIC or partition.state != "current":
            continue
        try:
            key_segments: dict[bytes, tuple[TopicIdPartition, str]] = {}
            for segment, position, record in _records(partition):
                try:
                    _apply(record, caches, deletions, key_segments)
                except CorruptBytes as fault:
                    what = message("corrupt.at_record", offset=record.offset, problem=fault.what)
                    raise CorruptFile(segment.log.path, position, what) from None
        except KafkavizError as fault:
            problems.append(fault)
    return RemoteLogMetadata(caches, deletions, tuple(problems))


def _records(partition: Partition) -> Iterator[tuple[LogSegment, int, BatchRecord]]:
    for segment in partition.live:
        path = segment.log.path
        scan = segment.scan()
        for batches in scan:
            for position in batches["position"][~is_control(batches)].tolist():
                data = segment.batch_bytes(position)
                if not batch_records.is_crc_valid(data):
                    raise CorruptFile(path, position, message("corrupt.metadata_checksum"))
                try:
                    for record in batch_records.iterate(data):
                        yield segment, position, record
                except CorruptBytes as fault:
                    raise fault.in_file(path, position) from None
        rest_bytes = segment.log.size_bytes - scan.end.position
        if rest_bytes:
            raise CorruptFile(
                path, scan.end.position, message("corrupt.events_unread", size=rest_bytes)
            )


def _apply(
    record: BatchRecord,
    caches: dict[TopicIdPartition, RemoteLogMetadataCache],
    deletions: dict[TopicIdPartition, str],
    key_segments: dict[bytes, tuple[TopicIdPartition, str]],
) -> None:
    if record.value is None:
        if record.key in key_segments:
            partition, segment_id = key_segments[record.key]
            caches[partition].event_counts[segment_id] += 1
            caches[partition].remove(segment_id)
        return
    event = remote_metadata.decode(record.value)
    values = event.values
    if event.type.name == "RemotePartitionDeleteMetadataRecord":
        partition = _topic_partition(values["topicIdPartition"])
        state = remote_metadata.DELETE_STATES[values["remotePartitionDeleteState"]]
        deletions[partition] = state
        if state == DELETE_PARTITION_FINISHED:
            caches.setdefault(partition, RemoteLogMetadataCache()).delete_all()
    elif "remoteLogSegmentId" in values:
        partition = _topic_partition(values["remoteLogSegmentId"]["topicIdPartition"])
        cache = caches.setdefault(partition, RemoteLogMetadataCache())
        segment_id = values["remoteLogSegmentId"]["id"]
        state = SEGMENT_STATES[values["remoteLogSegmentState"]]
        cache.event_counts[segment_id] += 1
        if record.key is not None:
            key_segments[record.key] = (partition, segment_id)
        if event.type.name == "RemoteLogSegmentMetadataRecord":
            cache.add(_segment(segment_id, state, values))
        else:
            cache.update(segment_id, state, is_keyed=record.key is not None)


def _topic_partition(values: Mapping[str, Any]) -> TopicIdPartition:
    try:
        return name_partition(values["name"], values["partition"], values["id"])
    except ValueError as fault:
        raise CorruptBytes(0, message("corrupt.topic_partition", name=str(fault))) from None


def _segment(segment_id: str, state: str, values: Mapping[str, Any]) -> RemoteLogSegment:
    return RemoteLogSegment(
        segment_id=segment_id,
        start_offset=values["startOffset"],
        end_offset=values["endOffset"],
        leader_epochs={
            entry["leaderEpoch"]: entry["offset"] for entry in values["segmentLeaderEpochs"]
        },
        state=state,
        max_timestamp_ms=values["maxTimestampMs"],
        size_bytes=values["segmentSizeInBytes"],
    )
