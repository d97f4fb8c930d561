"""Shows which segments can be uploaded to remote storage, and why the others cannot.

Only the leader uploads. Every remote.log.manager.task.interval.ms it makes a pass over the segments
after the last uploaded offset, the oldest first, and stops at the first segment that fails. For
example, orders-0 has the segments 0, 100, 200 and 300, and offsets up to 99 are uploaded:

    0      uploaded
    100    snapshot-missing   00000000000000000200.snapshot does not exist
    200    waiting            for 100, although nothing is wrong with segment 200
    300    active

The rules come from RemoteLogManager.RLMCopyTask (candidateLogSegments, isEligibleForUpload and
copyLogSegment) and UnifiedLog.isRemoteLogEnabled, 3.6 to 4.4.0:

- A segment is a candidate if it is closed and ends at or below the last stable offset.
- 4.4 waits until remote.copy.lag.ms or remote.copy.lag.bytes allows the upload (KIP-1241).
- Without a producer snapshot at the segment's end, ProducerStateManager (3.6.0 to 3.7.0) or
  copyLogSegment (since 3.7.1, KAFKA-16209) throws a NullPointerException. Since 3.7.1, each attempt
  first records COPY_SEGMENT_STARTED.
- A segment needs at least one leader epoch: RemoteLogSegmentMetadata refuses an empty map.
- Indexes are uploaded unchecked. RemoteIndexCache checks an index when it is first read.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafkaviz import versions
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.compaction.decision import read_log_state
from kafkaviz.analysis.retention import (
    NO_LIMIT,
    LogRetention,
    RetentionLimits,
    SegmentAge,
    log_retention,
)
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.format.remote_segment import TopicIdPartition
from kafkaviz.log import file
from kafkaviz.log.metadata_log import read_image
from kafkaviz.log.partition import Partition
from kafkaviz.log.tiered.remote_log_metadata import read_metadata
from kafkaviz.log.tiered.tiered_partition import TieredPartition, join_partition
from kafkaviz.log.tiered.tiered_view import TieredState, highest_remote_offset
from kafkaviz.messages import Message, message
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.config import release_behaviour
from kafkaviz.simulate.segment_check import find_recovery_reason
from kafkaviz.units import file_stem, moment


class UploadState(StrEnum):
    """Whether a segment can be uploaded, or the first reason against it."""

    UPLOADED = "uploaded"
    READY = "ready"  # the next pass of the leader uploads it
    # the next pass uploads segments in these two states, but they cannot be read completely then
    INDEX_DAMAGED = "index-damaged"
    EPOCHS_LATE = "epochs-late"  # the first leader epoch begins after the segment's base offset
    NOT_ENABLED = "not-enabled"  # remote.storage.enable is not set
    COPY_DISABLED = "copy-disabled"  # remote.log.copy.disable, since 3.9
    BELOW_LOG_START = "below-log-start"  # it will be deleted without being uploaded
    ABOVE_STABLE = "above-last-stable-offset"
    COPY_LAG = "copy-lag"  # remote.copy.lag.ms and remote.copy.lag.bytes, since 4.4
    EPOCHS_MISSING = "epochs-missing"  # no leader epoch covers any of its offsets
    SNAPSHOT_MISSING = "snapshot-missing"
    WAITING = "waiting"  # each pass ends at an older segment
    ACTIVE = "active"
    UNKNOWN = "unknown"  # neither a store nor metadata shows whether it was uploaded


# These states do not end by themselves: each pass fails at the same segment.
FAILING_STATES = (UploadState.EPOCHS_MISSING, UploadState.SNAPSHOT_MISSING)
UPLOADABLE_STATES = (UploadState.READY, UploadState.INDEX_DAMAGED, UploadState.EPOCHS_LATE)


@dataclass(frozen=True, kw_only=True)
class UploadRules:
    """The settings that decide about uploads.

    Attributes:
        is_enabled: whether the topic has remote storage. None: unknown.
        lag_ms, lag_bytes: remote.copy.lag.ms and remote.copy.lag.bytes. If a setting is -1, the
            value is the local retention limit. If a value is 0, every upload is allowed at once. A
            value of -1 (the local limit is -1 too, or unknown) allows no upload by itself.
    """

    is_enabled: bool | None = True
    is_copy_disabled: bool = False
    lag_ms: int = 0
    lag_bytes: int = NO_LIMIT


@dataclass(frozen=True, kw_only=True)
class UploadFacts:
    """The segments, leader epochs and offsets of a log that decide which segments are uploaded.

    Attributes:
        segments: the local segments, by base offset. The last segment is active.
        snapshots: the offsets in the names of the producer snapshots.
        epochs: pairs (leader epoch, first offset) in leader-epoch-checkpoint. None: unreadable.
        last_stable_offset: the last stable offset or the high watermark in the checkpoint,
            whichever is smaller. None: no checkpoint has a high watermark.
        highest_remote_offset: the last uploaded offset. -1: nothing is uploaded. None: unknown.
    """

    segments: Sequence[SegmentView]
    snapshots: Collection[int]
    epochs: Sequence[tuple[int, int]] | None
    log_start_offset: int = 0
    last_stable_offset: int | None = None
    highest_remote_offset: int | None = None
    now_ms: int = 0
    release: versions.Release = ()


@dataclass(frozen=True, kw_only=True)
class SegmentUpload:
    """Whether one local segment can be uploaded, and if not, the reason.

    Attributes:
        end_offset: the last offset. None: the active segment.
        blocked_by: the base offset of the segment that must be uploaded first.
        offset: the offset of the missing snapshot if the state is SNAPSHOT_MISSING, the last stable
            offset if ABOVE_STABLE, or the start of the first leader epoch if EPOCHS_LATE.
        until_ms: the time at which remote.copy.lag.ms allows the upload. None: no such limit.
    """

    start_offset: int
    end_offset: int | None
    size_bytes: int
    state: UploadState
    blocked_by: int | None = None
    offset: int | None = None
    until_ms: int | None = None
    why: Message | None = None


@dataclass(frozen=True, kw_only=True)
class PartitionUpload:
    """Which segments of one local log can be uploaded.

    Attributes:
        is_leader: whether the metadata log names this broker as the leader. None: unknown.
        kept_segments: the base offsets of segments that local retention keeps only because they are
            not uploaded (KAFKA-19952).
    """

    partition: str
    log_directory: str | None
    now_ms: int
    is_leader: bool | None
    last_stable_offset: int | None
    highest_remote_offset: int | None
    segments: tuple[SegmentUpload, ...]
    kept_segments: tuple[int, ...]
    kept_bytes: int

    @property
    def counts(self) -> dict[str, int]:
        counts = Counter(segment.state for segment in self.segments)
        return {state.value: counts[state] for state in UploadState if counts[state]}

    def reason(self, segment: SegmentUpload) -> Message:
        """Returns the state of a segment in words, with the reason against its upload if any."""
        key = f"upload.{segment.state}"
        match segment.state:
            case UploadState.ABOVE_STABLE | UploadState.EPOCHS_LATE:
                return message(key, offset=segment.offset)
            case UploadState.COPY_LAG if segment.until_ms is not None:
                return message("upload.copy-lag_until", when=moment(segment.until_ms))
            case UploadState.SNAPSHOT_MISSING:
                return message(key, file=f"{file_stem(segment.offset or 0)}.snapshot")
            case UploadState.WAITING if self.failing is None:
                return message("upload.waiting_lag", segment=segment.blocked_by)
            case UploadState.WAITING:
                return message(key, segment=segment.blocked_by)
            case UploadState.INDEX_DAMAGED:
                return message(key, why=segment.why)
            case _:
                return message(key)

    @property
    def failing(self) -> SegmentUpload | None:
        """The first segment whose upload fails at every attempt, or None."""
        return next((item for item in self.segments if item.state in FAILING_STATES), None)


def tiered_directories(plan: CheckPlan) -> tuple[str, ...]:
    """Returns the partition directories of topics with remote.storage.enable."""
    return tuple(
        partition.directory
        for partition in plan.partitions
        if partition.state == "current" and upload_rules(plan, partition).is_enabled
    )


def tiered_uploads(
    plan: CheckPlan, state: TieredState
) -> tuple[tuple[PartitionUpload, ...], tuple[KafkavizError, ...]]:
    """Returns a PartitionUpload per local log in `state`, and the errors of unreadable logs."""
    locals_by_name = {
        (partition.directory, partition.topic_id): partition
        for partition in plan.partitions
        if partition.state == "current" and partition.live
    }
    leaders = read_image(plan.broker, has_leaders=True).leaders
    uploads = []
    problems = []
    for tiered in state.partitions:
        partition = locals_by_name.get((tiered.directory, tiered.topic_id or None))
        if partition is None:
            continue
        leader = leaders.get(partition.topic_id or "", {}).get(partition.partition)
        is_leader = None if leader is None else leader.leader == plan.broker.node_number
        highest = _highest_remote_offset(state, tiered)
        try:
            uploads.append(
                partition_upload(
                    plan, partition, highest_remote_offset=highest, is_leader=is_leader
                )
            )
        except KafkavizError as fault:
            problems.append(fault)
    return tuple(uploads), tuple(problems)


def failing_uploads(plan: CheckPlan) -> Iterator[PartitionUpload]:
    """Yields a PartitionUpload for each log with a segment whose upload fails at every attempt.

    Leaves out a log if its last uploaded offset is unknown.
    """
    directories = tiered_directories(plan)
    if not directories:
        return
    metadata = read_metadata(plan.broker.partitions)
    for partition in plan.partitions:
        local = partition.without_remote()
        if partition.directory not in directories or not local.live or not partition.topic_id:
            continue
        highest = highest_remote_offset(partition.path)
        name = TopicIdPartition(partition.topic, partition.partition, partition.topic_id)
        if highest is None and name in metadata.caches:
            recorded = join_partition(name, (), metadata, local, has_store=False)
            highest = -1 if recorded.latest_tiered is None else recorded.latest_tiered
        if highest is not None:
            upload = partition_upload(plan, partition, highest_remote_offset=highest)
            if upload.failing:
                yield upload


def _highest_remote_offset(state: TieredState, tiered: TieredPartition) -> int | None:
    if tiered.latest_tiered is not None:
        return tiered.latest_tiered
    return -1 if state.store is not None or tiered.events is not None else None


def with_reasons(log: LogRetention, plan: CheckPlan, partition: Partition) -> LogRetention:
    """Returns `log` with `why` set for each segment kept only because it is not uploaded."""
    if not log.bytes_by_state().get("not-uploaded"):
        return log
    try:
        upload = partition_upload(plan, partition, highest_remote_offset=log.highest_remote_offset)
    except KafkavizError:  # the checks of the .log report the fault
        return log
    reasons = {segment.start_offset: upload.reason(segment) for segment in upload.segments}
    segments = (
        replace(segment, why=reasons[segment.age.base_offset])
        if segment.state == "not-uploaded"
        else segment
        for segment in log.segments
    )
    return replace(log, segments=tuple(segments))


def partition_upload(
    plan: CheckPlan,
    partition: Partition,
    *,
    highest_remote_offset: int | None,
    is_leader: bool | None = None,
) -> PartitionUpload:
    """Returns which local segments can be uploaded. Raises KafkavizError for unreadable files."""
    partition = partition.without_remote()
    log = read_log_state(
        partition, now_ms=plan.now_ms, producer_expiration_ms=plan.producer_expiration_ms
    )
    limits = plan.limits(partition)
    has_watermark = partition.high_watermark is not None
    stable_offset = log.facts.last_stable_offset if has_watermark else None
    facts = UploadFacts(
        segments=log.views,
        snapshots=partition.snapshots,
        epochs=_read_epochs(partition),
        log_start_offset=partition.log_start_offset or 0,
        last_stable_offset=stable_offset,
        highest_remote_offset=highest_remote_offset,
        now_ms=plan.now_ms,
        release=plan.assumed_release.release,
    )
    retention = log_retention(
        partition.directory,
        [_age(view) for view in log.views],
        limits,
        now_ms=plan.now_ms,
        log_start_offset=partition.log_start_offset,
        high_watermark=partition.high_watermark,
        log_end_offset=log.facts.log_end_offset,
        highest_remote_offset=highest_remote_offset,
    )
    kept_ages = [item.age for item in retention.segments if item.state == "not-uploaded"]
    return PartitionUpload(
        partition=partition.directory,
        log_directory=plan.log_directory(partition),
        now_ms=plan.now_ms,
        is_leader=is_leader,
        last_stable_offset=stable_offset,
        highest_remote_offset=highest_remote_offset,
        segments=segment_uploads(facts, upload_rules(plan, partition, limits)),
        kept_segments=tuple(age.base_offset for age in kept_ages),
        kept_bytes=sum(age.size_bytes for age in kept_ages),
    )


def upload_rules(
    plan: CheckPlan, partition: Partition, limits: RetentionLimits | None = None
) -> UploadRules:
    release = plan.assumed_release.release
    topic = partition.topic
    if not versions.TIERED_STORAGE.applies_to(release):
        return UploadRules(is_enabled=False)
    enable = plan.settings.find(topic, "remote.storage.enable")
    if not enable.is_known:
        return UploadRules(is_enabled=None)
    if not enable.value:
        return UploadRules(is_enabled=False)
    is_copy_disabled = (
        versions.TIERED_COPY_STOPPED.applies_to(release)
        and plan.settings.find(topic, "remote.log.copy.disable").value is True
    )
    lag_ms = 0
    lag_bytes = NO_LIMIT
    if versions.COPY_LAG.applies_to(release):
        limits = limits or plan.limits(partition)
        lag_ms = _lag(plan, topic, "remote.copy.lag.ms", limits.retention_ms)
        lag_bytes = _lag(plan, topic, "remote.copy.lag.bytes", limits.retention_bytes)
    return UploadRules(is_copy_disabled=is_copy_disabled, lag_ms=lag_ms, lag_bytes=lag_bytes)


def _lag(plan: CheckPlan, topic: str, name: str, local_limit: int | None) -> int:
    """Returns the value of a lag setting. -1 means the local limit (remoteCopyLagMs, 4.4.0)."""
    value = plan.settings.find(topic, name).value
    if value is None:
        return 0
    if value == NO_LIMIT:
        return NO_LIMIT if local_limit is None else local_limit
    return int(value)


def _read_epochs(partition: Partition) -> list[tuple[int, int]] | None:
    path = partition.path / LEADER_EPOCHS
    if not file.is_there(path):
        return []
    try:
        return checkpoint.parse_leader_epochs(file.read_text(path))
    except CorruptBytes:
        return None


def _age(view: SegmentView) -> SegmentAge:
    counted_by = "entry" if view.max_timestamp[0] >= 0 else "mtime"
    return SegmentAge(view.base_offset, view.size_bytes, view.largest_timestamp_ms, counted_by)


def segment_uploads(facts: UploadFacts, rules: UploadRules) -> tuple[SegmentUpload, ...]:
    uploads: list[SegmentUpload] = []
    blocked_by = None
    lagging = _lagging_segments(facts, rules)
    ends = [*(view.base_offset for view in facts.segments[1:]), None]
    for view, end in zip(facts.segments, ends, strict=True):
        upload = _decide(view, end, facts, rules, lagging)
        if upload.state in UPLOADABLE_STATES and blocked_by is not None:
            upload = replace(upload, state=UploadState.WAITING, blocked_by=blocked_by)
        elif blocked_by is None and upload.state in (*FAILING_STATES, UploadState.COPY_LAG):
            blocked_by = view.base_offset
        if upload.state in UPLOADABLE_STATES and facts.highest_remote_offset is None:
            upload = replace(upload, state=UploadState.UNKNOWN)
        uploads.append(upload)
    return tuple(uploads)


def _decide(
    view: SegmentView,
    end: int | None,
    facts: UploadFacts,
    rules: UploadRules,
    lagging: Collection[int],
) -> SegmentUpload:
    """Returns the upload state of a segment, as if no older segment blocked the upload."""
    upload = SegmentUpload(
        start_offset=view.base_offset,
        end_offset=None if end is None else end - 1,
        size_bytes=view.size_bytes,
        state=UploadState.READY,
    )
    highest = facts.highest_remote_offset
    stable = facts.last_stable_offset
    if end is not None and highest is not None and end - 1 <= highest:
        return replace(upload, state=UploadState.UPLOADED)
    if rules.is_enabled is False:
        return replace(upload, state=UploadState.NOT_ENABLED)
    if end is None:
        return replace(upload, state=UploadState.ACTIVE)
    if rules.is_copy_disabled:
        return replace(upload, state=UploadState.COPY_DISABLED)
    if end <= facts.log_start_offset:
        return replace(upload, state=UploadState.BELOW_LOG_START)
    if stable is not None and end > stable:
        return replace(upload, state=UploadState.ABOVE_STABLE, offset=stable)
    if view.base_offset in lagging:
        until_ms = view.largest_timestamp_ms + rules.lag_ms if rules.lag_ms > 0 else None
        return replace(upload, state=UploadState.COPY_LAG, until_ms=until_ms)
    if facts.epochs is not None and not any(start < end for _, start in facts.epochs):
        return replace(upload, state=UploadState.EPOCHS_MISSING)
    if end not in facts.snapshots:
        return replace(upload, state=UploadState.SNAPSHOT_MISSING, offset=end)
    fault = _index_fault(view, facts.release)
    if fault is not None:
        return replace(upload, state=UploadState.INDEX_DAMAGED, why=fault)
    if facts.epochs and facts.epochs[0][1] > view.base_offset:
        return replace(upload, state=UploadState.EPOCHS_LATE, offset=facts.epochs[0][1])
    return upload


def _lagging_segments(facts: UploadFacts, rules: UploadRules) -> set[int]:
    """Returns the base offsets of segments whose upload must wait.

    They wait for remote.copy.lag.ms or remote.copy.lag.bytes. The rule is isEligibleForUpload of
    4.4.0.
    """
    if rules.lag_ms == 0 or rules.lag_bytes == 0:
        return set()
    first_offset = facts.log_start_offset
    if facts.highest_remote_offset is not None:
        first_offset = max(facts.highest_remote_offset + 1, first_offset)
    lagging = set()
    later_bytes = 0
    end = None
    for view in reversed(facts.segments):
        if end is not None and end <= first_offset:
            break
        age_ms = facts.now_ms - view.largest_timestamp_ms
        is_old = rules.lag_ms > 0 and (age_ms < 0 or age_ms >= rules.lag_ms)
        is_far = rules.lag_bytes > 0 and later_bytes >= rules.lag_bytes
        if not is_old and not is_far:
            lagging.add(view.base_offset)
        later_bytes += view.size_bytes
        end = view.base_offset
    return lagging


def _index_fault(view: SegmentView, release: versions.Release) -> Message | None:
    """Returns the fault that RemoteIndexCache will find in an index of a segment, or None.

    RemoteIndexCache calls each index's method sanityCheck, as broker start-up did up to 2.2.
    """
    behaviour = replace(release_behaviour(release), checks_indexes=True, first_offset_keys=False)
    try:
        distrusted = find_recovery_reason(
            lambda kind: getattr(view, kind), view.base_offset, behaviour
        )
    except CorruptBytes as fault:
        return fault.what
    return distrusted.why if distrusted else None
