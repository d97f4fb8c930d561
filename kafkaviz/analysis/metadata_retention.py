"""Computes the retention of the metadata log and its snapshots.

retention.ms and retention.bytes do not apply to the metadata log. A node makes a retention pass
every minute:

1. While metadata.max.retention.bytes is exceeded, delete the oldest snapshot, and the segments
   that end before the next snapshot.
2. While the oldest snapshot is older than metadata.max.retention.ms, delete this snapshot and the
   segments that end before the next snapshot.

The newest snapshot and the log after it always remain. The rules are from
KafkaMetadataLog.maybeClean (3.9). The class is called KafkaRaftLog since 4.1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import control
from kafkaviz.format.control import ControlType
from kafkaviz.log.broker import Broker
from kafkaviz.log.metadata_log import find_partition, snapshots
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Settings

SIZE = "size"
TIME = "time"


@dataclass(frozen=True, kw_only=True)
class MetadataLimits:
    """metadata.max.retention.bytes and metadata.max.retention.ms. Negative: no limit."""

    max_bytes: int
    max_ms: int


@dataclass(frozen=True, kw_only=True)
class MetadataSnapshot:
    """A snapshot of the cluster metadata."""

    name: str
    end_offset: int  # the snapshot has the state before this offset
    size_bytes: int
    timestamp_ms: int | None  # the time of its newest record, from its header; None: unreadable
    # the rule that deletes it in the next retention pass, SIZE or TIME; None: kept
    deleted_by: str | None = None


@dataclass(frozen=True, kw_only=True)
class MetadataRetention:
    """The metadata log before the next retention pass, and what this pass deletes."""

    limits: MetadataLimits
    now_ms: int
    snapshots: tuple[MetadataSnapshot, ...]
    deleted_segments: tuple[int, ...]
    log_bytes: int
    deleted_log_bytes: int

    @property
    def total_bytes(self) -> int:
        """The size that metadata.max.retention.bytes limits: the log and all snapshots."""
        return self.log_bytes + sum(snapshot.size_bytes for snapshot in self.snapshots)

    @property
    def deleted_snapshots(self) -> tuple[MetadataSnapshot, ...]:
        return tuple(snapshot for snapshot in self.snapshots if snapshot.deleted_by)

    @property
    def freed_bytes(self) -> int:
        deleted = sum(snapshot.size_bytes for snapshot in self.deleted_snapshots)
        return deleted + self.deleted_log_bytes


class _RetentionPass:
    def __init__(self, partition: Partition, snapshots_before: Sequence[MetadataSnapshot]) -> None:
        self.snapshots = list(snapshots_before)
        self.segments = list(partition.live)
        self.deleted: list[MetadataSnapshot] = []
        self._log_start = partition.log_start_offset or 0

    @property
    def total_bytes(self) -> int:
        log_bytes = sum(segment.log.size_bytes for segment in self.segments)
        return log_bytes + sum(snapshot.size_bytes for snapshot in self.snapshots)

    def delete_while(self, rule: str, is_due: Callable[[MetadataSnapshot], bool]) -> None:
        """Deletes due snapshots, oldest first, and segments before the next; keeps the newest."""
        while len(self.snapshots) > 1 and is_due(self.snapshots[0]):
            new_start = self.snapshots[1].end_offset
            if new_start <= self._log_start:
                return
            self._log_start = new_start
            self.deleted.append(replace(self.snapshots.pop(0), deleted_by=rule))
            while len(self.segments) > 1 and self.segments[1].base_offset <= new_start:
                self.segments.pop(0)


def metadata_retention(
    partition: Partition, limits: MetadataLimits, now_ms: int
) -> MetadataRetention:
    """Returns the result of a retention pass over the metadata log at `now_ms`."""
    before = tuple(
        MetadataSnapshot(
            name=info.name,
            end_offset=end_offset,
            size_bytes=info.size_bytes,
            timestamp_ms=_snapshot_timestamp(LogSegment(base_offset=0, state="closed", log=info)),
        )
        for info, end_offset in reversed(list(snapshots(partition)))
    )
    run = _RetentionPass(partition, before)
    if limits.max_bytes >= 0:
        run.delete_while(SIZE, lambda _: run.total_bytes > limits.max_bytes)
    if limits.max_ms >= 0:
        run.delete_while(TIME, lambda snapshot: _is_older(snapshot, now_ms - limits.max_ms))
    deleted_segments = partition.live[: len(partition.live) - len(run.segments)]
    return MetadataRetention(
        limits=limits,
        now_ms=now_ms,
        snapshots=(*run.deleted, *run.snapshots),
        deleted_segments=tuple(segment.base_offset for segment in deleted_segments),
        log_bytes=partition.live_log_bytes,
        deleted_log_bytes=sum(segment.log.size_bytes for segment in deleted_segments),
    )


def _is_older(snapshot: MetadataSnapshot, moment_ms: int) -> bool:
    return snapshot.timestamp_ms is not None and snapshot.timestamp_ms < moment_ms


def _snapshot_timestamp(snapshot: LogSegment) -> int | None:
    try:
        first = next(iter(snapshot.scan()), None)
        if first is None or not len(first):
            return None
        record = next(snapshot.iterate(int(first["position"][0])), None)
        if record is None:
            return None
        decoded = control.decode(record.key, record.value)
    except (KafkavizError, CorruptBytes):
        return None
    if decoded.type is not ControlType.SNAPSHOT_HEADER:
        return None
    return decoded.values["lastContainedLogTimestamp"]


def broker_metadata_retention(
    broker: Broker, settings: Settings, now_ms: int
) -> MetadataRetention | None:
    """Returns the result of a retention pass over a broker's metadata log at `now_ms`.

    Returns None if the broker has no metadata log, or if a limit is unknown.
    """
    partition = find_partition(broker)
    limits = [settings.find("", f"metadata.max.retention.{unit}") for unit in ("bytes", "ms")]
    if partition is None or not partition.live or not all(limit.is_known for limit in limits):
        return None
    max_bytes, max_ms = (int(limit.value) for limit in limits)
    return metadata_retention(partition, MetadataLimits(max_bytes=max_bytes, max_ms=max_ms), now_ms)
