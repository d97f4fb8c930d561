"""Computes which remote segments the next retention pass deletes, and why it keeps the others.

Every remote.log.manager.task.interval.ms, the leader of a topic-partition makes a pass over its
remote segments. For each leader epoch of its own log, it visits the segments, the oldest first. It
stops at the first segment that stays:

    0 – 19    deleted: its newest record is older than retention.ms
    20 – 41   deleted: the log is larger than retention.bytes
    42 – 63   stays, and so do all later segments

It skips segments whose leader epochs do not fit those of the log. At the end, it deletes segments
whose epochs are all before the first epoch of the log.

The rules are from RemoteLogManager.RLMExpirationTask in Kafka 4.4.0. The rules of 3.6 to 4.3 differ
a little (Behaviour REMOTE_... in versions.py). A segment's newest timestamp counts even if it is in
the future. KAFKA-20609, which is in no release up to 4.4.0, changes this for local segments only.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import cast

from kafkaviz import versions
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.retention import RetentionLimits
from kafkaviz.config_def import LONG_MAX
from kafkaviz.errors import KafkavizError
from kafkaviz.log.partition import log_end_offset
from kafkaviz.log.settings import Settings
from kafkaviz.log.tiered.remote_log_metadata import COPY_FINISHED, COPY_STARTED, DELETE_STARTED
from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment
from kafkaviz.log.tiered.tiered_view import TieredState
from kafkaviz.versions import Release


class RemoteState(StrEnum):
    """The rule by which the next retention pass deletes a segment, or why it keeps the segment."""

    LOG_START = "log-start"
    TIME = "time"
    SIZE = "size"
    RETRIED = "retried"  # its deletion was not finished
    EPOCHS = "epochs"  # all its epochs are before the first epoch of the log
    UNTIL = "until"  # it stays until its own age exceeds retention.ms
    BEHIND = "behind"  # an older segment keeps it
    BYTES = "bytes"  # only retention.bytes can delete it
    UNLIMITED = "unlimited"
    OTHER_EPOCHS = "other-epochs"  # its epochs do not fit those of the log
    STOPPED = "stopped"  # an exception ends each pass
    DISABLED = "disabled"  # the topic has no remote storage
    UNKNOWN = "unknown"  # a limit or a time is unknown


DUE_STATES = (
    RemoteState.LOG_START,
    RemoteState.TIME,
    RemoteState.SIZE,
    RemoteState.RETRIED,
    RemoteState.EPOCHS,
)
Epochs = Sequence[tuple[int, int]]  # (leader epoch, first offset), in order


@dataclass(frozen=True, kw_only=True)
class RemoteSegmentRetention:
    """Why a remote segment is deleted or kept.

    Attributes:
        until_ms: the time until which the segment is too young for retention.ms.
        gone_ms: the latest `until_ms` of this segment and all earlier ones. None: no limit, or the
            age of one of them is unknown.
        blocked_by: the first offset of an earlier segment that delays the deletion. None: no delay.
        more_bytes: the bytes to append until retention.bytes deletes the segment. None: no limit.
    """

    segment: TieredSegment
    state: RemoteState
    until_ms: int | None = None
    gone_ms: int | None = None
    blocked_by: int | None = None
    more_bytes: int | None = None

    @property
    def is_due(self) -> bool:
        return self.state in DUE_STATES


@dataclass(frozen=True, kw_only=True)
class RemoteRetention:
    """The result of a retention pass at `now_ms` over a topic-partition's remote segments.

    Attributes:
        limits: the limits of the complete log, local and remote.
        local_bytes: the size of the local segments that are not uploaded. retention.bytes limits
            `local_bytes` plus `remote_bytes`.
        remote_bytes: the size of the remote segments, without those that Kafka does not count.
        next_log_start: the log start offset that the pass sets. None: it stays the same.
        doubled_segments: the first offsets of segments that this pass keeps, but that a new leader
            would delete. A new leader counts uploaded local segments twice at first (KAFKA-20732).
    """

    partition: str
    topic_id: str | None
    limits: RetentionLimits
    now_ms: int
    local_bytes: int
    remote_bytes: int
    segments: tuple[RemoteSegmentRetention, ...]
    next_log_start: int | None = None
    doubled_segments: tuple[int, ...] = ()

    @property
    def over_bytes(self) -> int:
        if not self.limits.has_size_limit:
            return 0
        limit = cast(int, self.limits.retention_bytes)
        return max(0, self.local_bytes + self.remote_bytes - limit)


def remote_retentions(plan: CheckPlan, state: TieredState) -> tuple[RemoteRetention, ...]:
    """Returns the result of the next retention pass per topic-partition with metadata and a log.

    Returns an empty tuple if part of the metadata could not be read.
    """
    if not state.is_metadata_whole:
        return ()
    retentions = []
    for partition in state.partitions:
        if not partition.has_directory:
            continue
        local = plan.broker.partition(partition.directory)
        end_offset = None
        with suppress(KafkavizError):
            end_offset = log_end_offset(local.live[-1].with_log()) if local.live else None
        retention = remote_retention(
            partition,
            remote_limits(plan.settings, local.topic),
            release=plan.assumed_release.release,
            now_ms=plan.now_ms,
            log_end_offset=end_offset,
        )
        if retention:
            retentions.append(retention)
    return tuple(retentions)


def remote_limits(settings: Settings, topic: str) -> RetentionLimits:
    """Returns the limits for a topic's complete log, local and remote.

    The limits delete nothing if remote.storage.enable is false. If it is true, Kafka requires the
    cleanup.policy "delete"; this is not checked here.
    """
    is_enabled = settings.find(topic, "remote.storage.enable")
    retention_ms = settings.find(topic, "retention.ms")
    retention_bytes = settings.find(topic, "retention.bytes")
    return RetentionLimits(
        deletes=bool(is_enabled.value) if is_enabled.is_known else True,
        policy_source=is_enabled.source,
        retention_ms=_int_or_none(retention_ms.value),
        ms_source=retention_ms.source,
        retention_bytes=_int_or_none(retention_bytes.value),
        bytes_source=retention_bytes.source,
        is_tiered=True,
    )


def _int_or_none(value: object) -> int | None:
    return None if value is None else int(cast(int, value))


def remote_retention(
    partition: TieredPartition,
    limits: RetentionLimits,
    *,
    release: Release,
    now_ms: int,
    log_end_offset: int | None = None,
) -> RemoteRetention | None:
    """Returns what the leader's next retention pass deletes, and why it keeps other segments.

    Returns None if metadata, leader epochs or the local log is missing.
    """
    if partition.events is None or not partition.lineage or not partition.has_directory:
        return None
    remote = [segment for segment in partition.segments if segment.leader_epochs and segment.state]
    retention_pass = _RetentionPass(
        partition=partition,
        epochs=_epochs_with_records(partition.lineage),
        end_offset=log_end_offset,
        limits=limits,
        release=release,
        now_ms=now_ms,
    )
    remote_bytes = retention_pass.counted_bytes(remote)
    local_bytes = _local_bytes(partition, partition.latest_tiered)
    due = retention_pass.due_rules(remote, local_bytes + remote_bytes)
    due_segments = [segment for segment in remote if _id(segment) in due]
    kept_segments = [segment for segment in remote if _id(segment) not in due]
    retentions = [
        RemoteSegmentRetention(
            segment=segment,
            state=due[_id(segment)],
            until_ms=retention_pass.until_ms(segment),
            gone_ms=retention_pass.until_ms(segment),
        )
        for segment in due_segments
    ] + retention_pass.kept_retentions(kept_segments, local_bytes)
    ends = [
        cast(int, segment.end_offset) + 1
        for segment in due_segments
        if due[_id(segment)] in (RemoteState.TIME, RemoteState.SIZE)
    ]
    doubled: list[int] = []
    if versions.REMOTE_SIZE_DOUBLED.applies_to(release):
        more = retention_pass.due_rules(remote, _local_bytes(partition, None) + remote_bytes)
        doubled = [segment.start_offset for segment in kept_segments if _id(segment) in more]
    return RemoteRetention(
        partition=partition.directory,
        topic_id=partition.topic_id,
        limits=limits,
        now_ms=now_ms,
        local_bytes=local_bytes,
        remote_bytes=remote_bytes,
        segments=tuple(sorted(retentions, key=lambda item: _order(item.segment))),
        next_log_start=max(ends, default=None),
        doubled_segments=tuple(sorted(doubled)),
    )


@dataclass(frozen=True, kw_only=True)
class _RetentionPass:
    """One retention pass of a leader over its log, by the rules of its release."""

    partition: TieredPartition
    epochs: Epochs
    end_offset: int | None
    limits: RetentionLimits
    release: Release
    now_ms: int

    @cached_property
    def _starts(self) -> dict[int, int]:
        return dict(self.epochs)

    @cached_property
    def _following(self) -> dict[int, tuple[int, int]]:
        """For each epoch, the next epoch and its first offset."""
        epochs = [epoch for epoch, _ in self.epochs]
        return dict(zip(epochs, self.epochs[1:], strict=False))

    def fits_epochs(self, segment: TieredSegment) -> bool:
        """Returns the result of RemoteLogManager.isRemoteSegmentWithinLeaderEpochs."""
        own = _epochs_with_records(sorted(segment.leader_epochs.items()))
        first_epoch = self.epochs[0][0]
        last_epoch = self.epochs[-1][0]
        if not first_epoch <= own[-1][0] <= last_epoch:
            return False
        starts = self._starts
        if versions.REMOTE_OVERLAPS_FIT.applies_to(self.release):
            own = [pair for pair in own if pair[0] >= first_epoch]
            may_begin_before = own[0][0] == first_epoch
        elif own[0][0] < first_epoch:
            return False
        else:
            may_begin_before = False
        if own[0][0] in starts and own[0][1] < starts[own[0][0]] and not may_begin_before:
            return False
        end_offset = cast(int, segment.end_offset)
        for pair, next_pair in zip(own, [*own[1:], None], strict=True):
            if pair[0] not in starts:
                return False
            log_pair = self._following.get(pair[0])
            if next_pair is not None and next_pair != log_pair:
                return False
            if next_pair is None and log_pair is not None and end_offset >= log_pair[1]:
                return False
        return self.end_offset is None or end_offset < self.end_offset

    def counted_bytes(self, segments: Sequence[TieredSegment]) -> int:
        return sum(
            _size(segment)
            for segment in segments
            if self.fits_epochs(segment) and self.is_counted(segment)
        )

    def is_counted(self, segment: TieredSegment) -> bool:
        if segment.state == COPY_STARTED:
            return versions.REMOTE_COPIES_COUNTED.applies_to(self.release)
        if segment.state == DELETE_STARTED:
            return not self.is_retried(segment)
        return segment.state == COPY_FINISHED

    def is_retried(self, segment: TieredSegment) -> bool:
        retries_deletions = versions.REMOTE_DELETIONS_RETRIED.applies_to(self.release)
        return retries_deletions and segment.state == DELETE_STARTED

    @property
    def is_stopped(self) -> bool:
        """Whether an exception ends each pass before it deletes anything (KAFKA-17995)."""
        return (
            self.limits.has_time_limit
            and cast(int, self.limits.retention_ms) > self.now_ms
            and not versions.REMOTE_LARGE_LIMIT.applies_to(self.release)
        )

    def until_ms(self, segment: TieredSegment) -> int | None:
        if not self.limits.has_time_limit or segment.max_timestamp_ms is None:
            return None
        until_ms = segment.max_timestamp_ms + cast(int, self.limits.retention_ms)
        is_strict = versions.REMOTE_TIME_STRICT.applies_to(self.release)
        return min(until_ms if is_strict else until_ms - 1, LONG_MAX)

    def is_expired(self, segment: TieredSegment) -> bool:
        until_ms = self.until_ms(segment)
        if until_ms is None or cast(int, self.limits.retention_ms) > self.now_ms:
            return False
        return self.now_ms > until_ms

    def is_below_start(self, segment: TieredSegment) -> bool:
        first_epoch = self.epochs[0][0]
        return (
            all(epoch <= first_epoch for epoch in segment.leader_epochs)
            and cast(int, segment.end_offset) < self.partition.log_start
        )

    def due_rules(self, remote: Sequence[TieredSegment], size_bytes: int) -> dict[str, RemoteState]:
        if not self.limits.deletes or self.is_stopped:
            return {}
        due = self._due_in_order(remote, size_bytes)
        first_epoch = self.partition.lineage[0][0]
        for segment in remote:
            if all(epoch < first_epoch for epoch in segment.leader_epochs):
                due.setdefault(_id(segment), RemoteState.EPOCHS)
        return due

    def _due_in_order(
        self, remote: Sequence[TieredSegment], size_bytes: int
    ) -> dict[str, RemoteState]:
        limit_bytes = cast(int, self.limits.retention_bytes) if self.limits.has_size_limit else None
        over_bytes = 0 if limit_bytes is None else max(0, size_bytes - limit_bytes)
        visits_twice = versions.REMOTE_VISITED_TWICE.applies_to(self.release)
        due: dict[str, RemoteState] = {}
        for segment in self.visited(remote):
            if self.is_retried(segment):
                due.setdefault(_id(segment), RemoteState.RETRIED)
                continue
            if _id(segment) in due and not visits_twice:
                continue
            rule = RemoteState.LOG_START if self.is_below_start(segment) else None
            is_fitting = rule is None and self.fits_epochs(segment)
            if is_fitting and self.is_expired(segment):
                rule = RemoteState.TIME
                over_bytes = max(0, over_bytes - _size(segment))
            elif is_fitting and over_bytes > 0 and _size(segment) <= over_bytes:
                rule = RemoteState.SIZE
                over_bytes -= _size(segment)
            if rule:
                due.setdefault(_id(segment), rule)
            elif is_fitting:
                break
        return due

    def visited(self, remote: Sequence[TieredSegment]) -> list[TieredSegment]:
        """Returns the segments in the order of a pass: by epoch, then the oldest first.

        A segment with two epochs occurs twice.
        """
        by_epoch: dict[int, list[TieredSegment]] = {}
        for segment in sorted(remote, key=_order):
            for epoch in segment.leader_epochs:
                by_epoch.setdefault(epoch, []).append(segment)
        return [segment for epoch, _ in self.epochs for segment in by_epoch.get(epoch, ())]

    def kept_retentions(
        self, remaining: Sequence[TieredSegment], local_bytes: int
    ) -> list[RemoteSegmentRetention]:
        fitting = {
            _id(segment): segment
            for segment in self.visited(remaining)
            if self.is_retried(segment) or self.fits_epochs(segment)
        }
        sizes = [_size(segment) if self.is_counted(segment) else 0 for segment in fitting.values()]
        over_bytes = sum(sizes) + local_bytes - (self.limits.retention_bytes or 0)
        latest_ms = None
        blocking_offset = 0
        is_known = True
        retentions = []
        for segment, bytes_up_to in zip(fitting.values(), accumulate(sizes), strict=True):
            is_retried = self.is_retried(segment)
            until_ms = None if is_retried else self.until_ms(segment)
            is_known = is_known and (is_retried or segment.max_timestamp_ms is not None)
            if until_ms is not None and (latest_ms is None or until_ms > latest_ms):
                latest_ms = until_ms
                blocking_offset = segment.start_offset
            gone_ms = latest_ms if is_known else None
            is_blocked = gone_ms is not None and (until_ms is None or gone_ms > until_ms)
            more_bytes = max(0, bytes_up_to - over_bytes) if self.limits.has_size_limit else None
            retentions.append(
                RemoteSegmentRetention(
                    segment=segment,
                    state=self._kept_state(gone_ms, is_blocked=is_blocked),
                    until_ms=until_ms,
                    gone_ms=gone_ms,
                    blocked_by=blocking_offset if is_blocked else None,
                    more_bytes=more_bytes,
                )
            )
        others = [segment for segment in remaining if _id(segment) not in fitting]
        state = RemoteState.OTHER_EPOCHS
        if not self.limits.deletes or self.is_stopped:
            state = self._kept_state(None)
        return retentions + [RemoteSegmentRetention(segment=other, state=state) for other in others]

    def _kept_state(self, gone_ms: int | None, *, is_blocked: bool = False) -> RemoteState:
        if not self.limits.deletes:
            return RemoteState.DISABLED
        if not self.limits.is_known:
            return RemoteState.UNKNOWN
        if self.is_stopped:
            return RemoteState.STOPPED
        if not self.limits.has_time_limit:
            return RemoteState.BYTES if self.limits.has_size_limit else RemoteState.UNLIMITED
        if gone_ms is None:
            return RemoteState.UNKNOWN
        return RemoteState.BEHIND if is_blocked else RemoteState.UNTIL


def _epochs_with_records(epochs: Epochs) -> list[tuple[int, int]]:
    """Returns the epochs with records. The others start at the same offset as the next epoch."""
    starts = [start for _, start in epochs[1:]]
    return [
        pair
        for pair, next_start in zip(epochs, [*starts, None], strict=True)
        if pair[1] != next_start
    ]


def _local_bytes(partition: TieredPartition, highest_remote_offset: int | None) -> int:
    """Returns the bytes of all local segments, or of those from `highest_remote_offset` on."""
    sizes: Mapping[int, int] = {
        segment.start_offset: _size(segment)
        for segment in partition.segments
        if segment.is_local
        and (highest_remote_offset is None or segment.start_offset >= highest_remote_offset)
    }
    return sum(sizes.values())


def _size(segment: TieredSegment) -> int:
    return segment.log_bytes or 0


def _id(segment: TieredSegment) -> str:
    return cast(str, segment.segment_id)


def _order(segment: TieredSegment) -> tuple[int, str]:
    return segment.start_offset, _id(segment)
