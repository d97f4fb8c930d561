"""Reads the offsets that consumer groups committed, from __consumer_offsets.

The key of a commit is a group and a topic-partition. The value is an offset. A group continues at
its last valid commit. Older commits remain until the log cleaner removes them:

    offset 12   orders-0 -> 200   replaced
    offset 31   orders-0 -> 225   current: the group continues at 225
    offset 40   orders-0 -> 240   pending: its transaction has not ended

As in OffsetMetadataManager (4.3.1), a transactional commit counts after its transaction has
committed. A record without a value deletes the commit.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

import numpy as np

from kafkaviz.analysis.compaction.compaction import log_transactions
from kafkaviz.analysis.compaction.decision import NEVER_MS, read_log_state
from kafkaviz.analysis.compaction.record_fates import NONE, match_keys
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.lookup import lookup
from kafkaviz.errors import KafkavizError
from kafkaviz.format import coordinator_records
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.coordinator_records import CoordinatorRecord
from kafkaviz.format.message import ZERO_UUID
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.search.fetch import READ_COMMITTED, OffsetOutOfRange
from kafkaviz.search.lookup import Lookup
from kafkaviz.simulate.cleaner.batch_chunks import (
    DECOMPRESSED,
    BatchChunk,
    BatchChunks,
    CleaningFailed,
)

CONSUMER_OFFSETS = "__consumer_offsets"
LISTED_COMMITS = 1000  # at most this many of the last commits of a partition are listed
TYPE_BYTES = 2  # a key begins with the number of its record type
OFFSET_COMMITS = (0, 1)
# a group of this type has a record with this number as long as the group exists
GROUP_TYPES = {2: "classic", 3: "consumer", 11: "share", 17: "streams"}


class CommitFate(StrEnum):
    """Whether a commit is valid, or why it is not."""

    CURRENT = "current"
    REPLACED = "replaced"  # by a later commit or deletion
    PENDING = "pending"  # its transaction has not ended
    ABORTED = "aborted"
    DELETION = "deletion"  # a record that deletes the commit: it expired, or the group was deleted


class CommitState(StrEnum):
    """Where the committed offset is in the partition's log, or why this is unknown."""

    BEHIND = "behind"
    AT_END = "at-end"
    ONLY_MARKERS = "only-markers"  # only transaction markers follow, so the lag does not shrink
    NO_RECORD = "no-record"  # compaction removed all later records, so the lag does not shrink
    ONLY_UNCOMMITTED = "only-uncommitted"  # only aborted or open transactions follow
    BELOW_START = "below-start"  # auto.offset.reset decides where the group continues
    BEYOND_END = "beyond-end"
    OTHER_TOPIC = "other-topic"  # the log is of a later topic with the same name
    NO_COMMIT = "no-commit"
    NO_LOG = "no-log"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit in __consumer_offsets."""

    at_offset: int  # the offset of the commit's record in __consumer_offsets
    timestamp_ms: int  # the time of the commit, or of the deletion if `offset` is None
    offset: int | None  # the committed offset; None: a deletion
    leader_epoch: int | None  # the leader epoch of the last consumed record; None: not stored
    topic_id: str | None  # the topic's id; None: the commit was written before 4.1
    metadata: str
    fate: CommitFate


@dataclass(frozen=True, kw_only=True)
class CommittedPartition:
    """A group's commits for one topic-partition.

    The log's offsets are None if `state` is NO_COMMIT, NO_LOG, OTHER_TOPIC or UNREADABLE.
    """

    partition: str
    commits: tuple[Commit, ...]  # the last LISTED_COMMITS commits, ordered by `at_offset`
    commit_count: int
    committed: Commit | None  # the valid commit; None: there is none
    state: CommitState
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    # the first offset that a read_committed consumer does not get
    last_stable_offset: int | None = None
    lag: int | None = None  # `log_end_offset` minus the committed offset
    # the offset of the next record that a read_uncommitted consumer gets; None: no record follows
    next_offset: int | None = None
    # the offset of the next record that a read_committed consumer gets; None: no record follows
    next_committed_offset: int | None = None
    problem: Message | None = None

    @property
    def has_open_transaction(self) -> bool:
        """Whether read_committed consumers cannot read to the end because a transaction is open."""
        if self.last_stable_offset is None or self.log_end_offset is None:
            return False
        return self.last_stable_offset < self.log_end_offset


@dataclass(frozen=True, kw_only=True)
class GroupCommits:
    """A consumer group in __consumer_offsets."""

    group: str
    type: str | None  # "classic", "consumer", "share" or "streams"; None: no record says so
    kept_in: str  # the partition with the group's records, such as "__consumer_offsets-2"
    record_count: int  # the number of records about the group and its members
    partitions: tuple[CommittedPartition, ...]


@dataclass(frozen=True, kw_only=True)
class Commits:
    groups: tuple[GroupCommits, ...]
    problems: tuple[tuple[str, Message], ...]


@dataclass(kw_only=True)
class _PartitionCommits:
    commits: deque[Commit] = field(default_factory=lambda: deque(maxlen=LISTED_COMMITS))
    count: int = 0
    current: Commit | None = None


@dataclass(kw_only=True)
class _Group:
    kept_in: str
    type: str | None = None
    record_count: int = 0
    commits_by_partition: dict[tuple[str, int], _PartitionCommits] = field(default_factory=dict)


def read_commits(
    broker: Broker,
    group: str | None = None,
    on_progress: Callable[[str, float], None] = lambda _partition, _share: None,
) -> Commits:
    """Returns the commits of a group. `group=None` means all groups.

    `on_progress` gets the name of a partition directory, and how much of it was read (0 to 1).

    Raises:
        CannotOpen: a directory cannot be read.
    """
    groups: dict[str, _Group] = {}
    problems = []
    for partition in broker.partitions:
        if partition.topic != CONSUMER_OFFSETS or partition.state != "current":
            continue
        if not partition.without_remote().live:
            continue
        try:
            _add_records(groups, partition, group, on_progress)
        except (CleaningFailed, KafkavizError) as fault:
            problems.append((partition.directory, message("errors.unread_log", error=str(fault))))
    logs = {
        (partition.topic, partition.partition): partition
        for partition in broker.partitions
        if partition.state == "current" and partition.live
    }
    version = assume_release(broker).version
    group_commits = [
        GroupCommits(
            group=name,
            type=collected.type,
            kept_in=collected.kept_in,
            record_count=collected.record_count,
            partitions=tuple(
                _committed_partition(f"{key[0]}-{key[1]}", commits, logs.get(key), version)
                for key, commits in sorted(collected.commits_by_partition.items())
            ),
        )
        for name, collected in sorted(groups.items())
    ]
    return Commits(groups=tuple(group_commits), problems=tuple(problems))


def _add_records(
    groups: dict[str, _Group],
    partition: Partition,
    group: str | None,
    on_progress: Callable[[str, float], None],
) -> None:
    state = read_log_state(partition, now_ms=0, producer_expiration_ms=NEVER_MS)
    transactions = log_transactions(state)
    open_producers = state.producers[state.producers["current_txn_first_offset"] >= 0]
    open_since = dict(open_producers[["producer_id", "current_txn_first_offset"]].tolist())
    name = (group or "").encode()
    part = len(name).to_bytes(2, "big") + name if group is not None else b""
    key_part = np.frombuffer(part, np.uint8)
    read_bytes = 0
    for view in state.views:
        for chunk in BatchChunks(view.log):
            is_aborted, _ = transactions.take(chunk)
            matches, fault = match_keys(chunk, key_part, TYPE_BYTES, is_part=True)
            in_transaction = is_transactional(chunk.batches)
            for match in matches:
                batch = chunk.batches[match["batch"]]
                fate = CommitFate.CURRENT
                if is_aborted[match["batch"]]:
                    fate = CommitFate.ABORTED
                elif in_transaction[match["batch"]]:
                    first = open_since.get(int(batch["producer_id"]))
                    if first is not None and match["offset"] >= first:
                        fate = CommitFate.PENDING
                key, value = _key_and_value(chunk, match)
                record = coordinator_records.decode(key, value, int(match["offset"]), "offsets")
                _add_record(groups, partition.label, record, fate, match)
            if fault != NONE:
                raise chunk.fault_of(fault)
            read_bytes += int(chunk.batches["size_bytes"].sum())
            on_progress(partition.directory, read_bytes / max(1, partition.live_log_bytes))


def _key_and_value(chunk: BatchChunk, match: np.void) -> tuple[bytes, bytes | None]:
    is_decompressed = chunk.bodies["place"][match["batch"]] == DECOMPRESSED
    source = chunk.decompressed if is_decompressed else chunk.data
    start = match["key_position"]
    key = source[start : start + match["key_bytes"]].tobytes()
    if match["value_bytes"] < 0:
        return key, None
    start = match["value_position"]
    return key, source[start : start + match["value_bytes"]].tobytes()


def _add_record(
    groups: dict[str, _Group],
    kept_in: str,
    record: CoordinatorRecord,
    fate: CommitFate,
    match: np.void,
) -> None:
    """Adds a record to its group. `match` is the result of `match_keys` for this record.

    `fate` takes no account of later records, which may replace this record.
    """
    if record.type is None or record.key is None or record.problem is not None:
        return
    name = record.key.get("group", record.key.get("groupId"))
    if name is None:
        return
    group = groups.setdefault(name, _Group(kept_in=kept_in))
    group.record_count += 1
    counts = fate == CommitFate.CURRENT
    if record.type.number in GROUP_TYPES and counts:
        kind = GROUP_TYPES[record.type.number]
        if not record.is_tombstone:
            group.type = kind
        elif group.type == kind:
            group.type = None
    if record.type.number not in OFFSET_COMMITS:
        return
    partition_commits = group.commits_by_partition.setdefault(
        (record.key["topic"], record.key["partition"]), _PartitionCommits()
    )
    commit = _commit(record, fate, match)
    partition_commits.count += 1
    partition_commits.commits.append(commit)
    if counts:
        partition_commits.current = None if record.is_tombstone else commit


def _commit(record: CoordinatorRecord, fate: CommitFate, match: np.void) -> Commit:
    values = record.value or {}
    epoch = values.get("leaderEpoch", -1)
    topic_id = values.get("topicId", ZERO_UUID)
    is_deletion = record.is_tombstone and fate == CommitFate.CURRENT
    return Commit(
        at_offset=int(match["offset"]),
        timestamp_ms=values.get("commitTimestamp", int(match["timestamp_ms"])),
        offset=values.get("offset"),
        leader_epoch=epoch if epoch >= 0 else None,
        topic_id=None if topic_id == ZERO_UUID else topic_id,
        metadata=values.get("metadata", ""),
        fate=CommitFate.DELETION if is_deletion else fate,
    )


def _committed_partition(
    name: str, partition_commits: _PartitionCommits, log: Partition | None, version: str
) -> CommittedPartition:
    current = partition_commits.current
    commits = tuple(
        replace(commit, fate=CommitFate.REPLACED)
        if commit.fate == CommitFate.CURRENT and commit is not current
        else commit
        for commit in partition_commits.commits
    )
    known = partial(
        CommittedPartition,
        partition=name,
        commits=commits,
        commit_count=partition_commits.count,
        committed=current,
    )
    if current is None or current.offset is None:
        return known(state=CommitState.NO_COMMIT)
    if log is None:
        return known(state=CommitState.NO_LOG)
    if current.topic_id and log.topic_id and current.topic_id != log.topic_id:
        return known(state=CommitState.OTHER_TOPIC)
    try:
        look_up = partial(lookup, log, offset=current.offset, version=version, as_is=True)
        uncommitted = look_up()
        committed = look_up(isolation=READ_COMMITTED)
        if uncommitted.error is not None and not isinstance(uncommitted.error, OffsetOutOfRange):
            raise uncommitted.error
    except KafkavizError as fault:
        what = message("errors.unread_log", error=str(fault))
        return known(state=CommitState.UNREADABLE, problem=what)
    bounds = uncommitted.bounds
    return known(
        state=_state_in_log(log, current.offset, uncommitted, committed),
        log_start_offset=bounds.start_offset,
        log_end_offset=bounds.end_offset,
        last_stable_offset=committed.bounds.limit_offset,
        lag=bounds.end_offset - current.offset,
        next_offset=uncommitted.record.offset if uncommitted.record else None,
        next_committed_offset=committed.record.offset if committed.record else None,
    )


def _state_in_log(
    log: Partition, offset: int, uncommitted: Lookup, committed: Lookup
) -> CommitState:
    end_offset = uncommitted.bounds.end_offset
    if uncommitted.error is not None:
        return CommitState.BEYOND_END if offset > end_offset else CommitState.BELOW_START
    if offset == end_offset:
        return CommitState.AT_END
    if uncommitted.record is None:
        is_markers = _only_markers_follow(log, offset)
        return CommitState.ONLY_MARKERS if is_markers else CommitState.NO_RECORD
    return CommitState.ONLY_UNCOMMITTED if committed.record is None else CommitState.BEHIND


def _only_markers_follow(log: Partition, offset: int) -> bool:
    following = [segment.base_offset > offset for segment in log.live]
    first = max(following.index(True) if any(following) else len(following), 1) - 1
    for segment in log.live[first:]:
        for batches in segment.scan(0, segment.log.size_bytes):
            if not is_control(batches[batches["last_offset"] >= offset]).all():
                return False
    return True
