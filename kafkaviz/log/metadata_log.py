"""The state that a cluster metadata log describes: topic ids, settings, features and more.

A KRaft broker loads the newest snapshot (.checkpoint). Then it replays the .log from the snapshot's
end offset on. A later record replaces an earlier one, and a null value removes a setting.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.errors import CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.format import batch, batch_records, checkpoint, control, metadata, names
from kafkaviz.format.control import ControlType
from kafkaviz.format.message import Values
from kafkaviz.format.metadata import (
    BROKER_RESOURCE,
    NO_LEADER,
    TOPIC_RESOURCE,
    DirectoryAssignment,
    PartitionLeader,
    ReplicaAssignment,
)
from kafkaviz.format.walk import FEW_BYTES, few_batches
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.file import FileInfo, read, read_text
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

DIRECTORY = names.METADATA_DIRECTORY
PARTITION_NUMBERS = {metadata.PARTITION_NUMBER, metadata.PARTITION_CHANGE_NUMBER}
BEGIN = "BEGIN_TRANSACTION_RECORD"
END = "END_TRANSACTION_RECORD"
ABORT = "ABORT_TRANSACTION_RECORD"
TOPIC = metadata.TOPIC
CONFIG = metadata.CONFIG
REMOVE_TOPIC = metadata.REMOVE_TOPIC
FEATURE_LEVEL = metadata.FEATURE_LEVEL
BROKER_TYPES = (metadata.REGISTER_BROKER, metadata.UNREGISTER_BROKER, metadata.CHANGE_BROKER)
_APPLIED_TYPES = {BEGIN, END, ABORT, TOPIC, CONFIG, REMOVE_TOPIC, FEATURE_LEVEL, *BROKER_TYPES}
# A registration larger than this is skipped: a broker has few listeners and directories.
REGISTRATION_BYTES = 1 << 16
_APPLIED_NUMBERS = np.array(
    [
        number
        for number, type_ in metadata.RECORD_TYPES.items()
        if type_.name in _APPLIED_TYPES or number in PARTITION_NUMBERS
    ],
    np.uint8,
)
_BROKER_NUMBERS = frozenset(
    number for number, type_ in metadata.RECORD_TYPES.items() if type_.name in BROKER_TYPES
)
# the limit for the records of a compressed batch: KafkaRaftClient.MAX_BATCH_SIZE_BYTES, 4.3.1
BATCH_BYTES = 8 << 20
# The limit for the compressed batches of a log together: a broker compresses none, and a few KB can
# hold millions of records.
COMPRESSED_RECORDS = 100_000
# what MetadataLoader of 4.3.1 and 4.4.0 throws after it has read all records
NO_METADATA_VERSION = (
    "java.lang.IllegalStateException: Unknown metadata version for FeaturesImage: "
    "metadataVersion(Optional.empty)"
)
MAX_PROBLEMS = 100  # the most problems with single records that are kept
Resource = tuple[int, str]  # (ConfigResource.Type, name); "" names the default of all brokers


class ConfigValue(NamedTuple):
    value: str
    file: str  # a name in the directory of the metadata log
    offset: int  # the record's offset; in a snapshot, offsets count from 0


@dataclass(kw_only=True)
class MetadataImage:
    """The parts of the cluster's state that kafkaviz uses, after the last record."""

    topic_ids: dict[str, str] = field(default_factory=dict)  # the existing topics, by name
    # by resource, then by name
    configs: dict[Resource, dict[str, ConfigValue]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    # the metadata log's file that sets each feature
    feature_files: dict[str, str] = field(default_factory=dict)
    # the node ids of a partition's replicas, by topic id, then by partition number
    replicas: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    # the ids of the replicas' log directories, in the order of `replicas`
    directories: dict[str, dict[int, tuple[str, ...]]] = field(default_factory=dict)
    # the ids of a broker's registered log directories, by node id
    log_directories: dict[int, tuple[str, ...]] = field(default_factory=dict)
    # the current or last leader with the current leader epoch, by topic id, then by partition;
    # filled only if asked for
    leaders: dict[str, dict[int, PartitionLeader]] = field(default_factory=dict)
    # the ids of the controllers, from quorum-state, else the newest record with voters, else
    # controller.quorum.voters in server.properties; empty if unknown
    voters: tuple[int, ...] = ()
    snapshot: str | None = None  # the name of the file that was loaded first
    # whether the snapshot is complete; if not, its last records may be missing
    has_footer: bool = False
    # the broker's exception, if the log needs a record from the missing end of the snapshot
    refusal: str | None = None
    end_offset: int = 0  # the offset after the last record that was applied
    problems: list[Problem] = field(default_factory=list)

    def topic_configs(self, topic: str) -> dict[str, ConfigValue]:
        return self.configs.get((TOPIC_RESOURCE, topic), {})

    def assigned_directory(self, topic_id: str, partition: int, node_id: int) -> str | None:
        replicas = self.replicas.get(topic_id, {}).get(partition, ())
        directories = self.directories.get(topic_id, {}).get(partition, ())
        if node_id not in replicas or len(directories) != len(replicas):
            return None
        return directories[replicas.index(node_id)]

    def broker_configs(self, node_id: str | None) -> dict[str, ConfigValue]:
        """Returns the dynamic settings of one broker, or of all brokers if `node_id` is ""."""
        return {} if node_id is None else self.configs.get((BROKER_RESOURCE, node_id), {})


def read_image(broker: Broker, *, has_leaders: bool = False) -> MetadataImage:
    """Returns the state in the broker's metadata log.

    The result is empty if the directory has no metadata log: the broker uses ZooKeeper, or the
    metadata log is in another log directory. `has_leaders` tracks the leader of each partition,
    which is slower.
    """
    try:
        partition = find_partition(broker)
    except KafkavizError as fault:
        return MetadataImage(problems=[Problem.from_fault(broker.path / DIRECTORY, fault)])
    return build_image(partition, has_leaders=has_leaders) if partition else MetadataImage()


def find_partition(broker: Broker) -> Partition | None:
    """Returns the metadata log, even if `broker.partitions` lacks it. None: it does not exist.

    Raises KafkavizError if the directory of the metadata log cannot be read.
    """
    path = broker.path / DIRECTORY
    if not path.is_dir():
        return None
    for partition in broker.partitions:
        if partition.path == path:
            return partition
    return open_partition(path, cast("names.PartitionName", names.parse_directory(DIRECTORY)))


def build_image(partition: Partition, *, has_leaders: bool = False) -> MetadataImage:
    """Loads the newest readable snapshot and replays the log. `problems` lists unreadable files."""
    state = MetadataImage()
    problems = []
    budget = _RecordBudget()
    quorum_voters = _read_quorum_voters(partition)
    for snapshot, end_offset in snapshots(partition):
        try:
            state = _load_snapshot(snapshot, end_offset, budget, has_leaders=has_leaders)
            break
        except KafkavizError as fault:
            problems.append(Problem.from_fault(snapshot.path, fault))
    state.problems += problems
    is_cut = state.snapshot is not None and not state.has_footer
    replay = _Replay(state, has_leaders=has_leaders, is_cut=is_cut)
    replay_start = state.end_offset
    for segment in partition.live:
        try:
            for records, next_offset in _batches(segment, budget, state):
                if next_offset > state.end_offset:
                    for offset, value in records:
                        if offset >= state.end_offset:
                            replay.apply(offset, value, segment.log)
                    state.end_offset = next_offset
        # a broker recovers this log at every start-up and truncates it here
        except KafkavizError as fault:
            state.problems.append(Problem.from_fault(segment.log.path, fault))
            break
    state.voters = quorum_voters or state.voters
    if is_cut and state.end_offset > replay_start and "metadata.version" not in state.features:
        state.refusal = state.refusal or NO_METADATA_VERSION
    return state


def _read_quorum_voters(partition: Partition) -> tuple[int, ...]:
    """Returns the voters' ids in quorum-state. Only static voters are listed there."""
    try:
        return checkpoint.parse_quorum_state(read_text(partition.path / names.QUORUM_STATE))
    except KafkavizError:
        return ()


def snapshots(partition: Partition) -> Iterator[tuple[FileInfo, int]]:
    """Yields each finished snapshot and its end offset, newest first."""
    named_files = ((names.parse_file(info.name), info) for info in partition.other_files)
    candidates = [
        (name, info)
        for name, info in named_files
        if name and (name.kind, name.suffix) == ("checkpoint", "")
    ]
    for name, info in sorted(
        candidates, key=lambda pair: (pair[0].base_offset, pair[0].epoch), reverse=True
    ):
        yield info, name.base_offset


def _load_snapshot(
    snapshot: FileInfo, end_offset: int, budget: "_RecordBudget", *, has_leaders: bool
) -> MetadataImage:
    """Returns the state in a snapshot. Raises KafkavizError if part of it cannot be read."""
    state = MetadataImage(snapshot=snapshot.name, end_offset=end_offset)
    replay = _Replay(state, has_leaders=has_leaders)
    segment = LogSegment(base_offset=0, state="closed", log=snapshot)
    has_header = False
    for records, _ in _batches(segment, budget, state):
        has_header = True
        for offset, value in records:
            replay.apply(offset, value, snapshot)
    if not has_header:
        raise CorruptFile(snapshot.path, 0, message("corrupt.no_metadata_snapshot"))
    return state


class _RecordBudget:
    """How many records in compressed batches may still be read from a metadata log."""

    def __init__(self) -> None:
        self._remaining = COMPRESSED_RECORDS

    def spend(self, row: np.void, path: Path) -> None:
        """Subtracts a compressed batch's record count from the records that may still be read.

        Raises CorruptFile if the batch has more records. Ignores batches that are not compressed.
        """
        self._remaining -= int(row["record_count"]) if row["attributes"] & batch.CODEC_MASK else 0
        if self._remaining < 0:
            problem = message("corrupt.too_many_metadata_records", count=COMPRESSED_RECORDS)
            raise CorruptFile(path, int(row["position"]), problem)


def _batches(
    segment: LogSegment, budget: _RecordBudget, state: MetadataImage
) -> Iterator[tuple[Iterator[tuple[int, bytes]], int]]:
    """Yields (records, end offset) for each batch of a .log or .checkpoint.

    `records` yields (offset, value) of each record to apply. The end offset is the batch's last
    offset plus 1. For a control batch, `records` is empty and the end offset is 0: its voters are
    stored in `state`. Raises CorruptFile if a checksum is wrong, or if no broker writes such a
    batch.
    """
    log = segment.log
    is_small = log.size_bytes <= FEW_BYTES
    log_bytes = read(log.path, 0, log.size_bytes) if is_small else b""
    batches = few_batches(log_bytes)[0] if is_small else segment.batches()
    for row in batches:
        position = int(row["position"])
        end = position + int(row["size_bytes"])
        data = log_bytes[position:end] if is_small else segment.batch_bytes(position)
        if not batch_records.is_crc_valid(data):
            raise CorruptFile(log.path, position, message("corrupt.metadata_checksum"))
        if row["magic"] < batch.MAGIC_2:
            what = message("corrupt.metadata_magic", magic=int(row["magic"]))
            raise CorruptFile(log.path, position, what)
        budget.spend(row, log.path)
        if batch.is_control(row):
            _apply_control(data, log.path, position, state)
            yield iter(()), 0
            continue
        records = _applied_records(data, log.path, position, is_small=is_small)
        yield records, int(row["last_offset"]) + 1


def _apply_control(data: bytes, path: Path, position: int, state: MetadataImage) -> None:
    """Stores the voters that a control batch lists. Sets `has_footer` if it has a snapshot footer.

    The voters are in a KRaftVotersRecord (KIP-853) or in the LeaderChangeMessage of an election.
    """
    try:
        records = batch_records.few_records(data) or [
            (record.offset, record.key, record.value)
            for record in batch_records.iterate(data, BATCH_BYTES)
        ]
        for _, key, value in records:
            decoded = control.decode(key, value)
            if decoded.type in (ControlType.KRAFT_VOTERS, ControlType.LEADER_CHANGE):
                state.voters = tuple(voter["voterId"] for voter in decoded.values["voters"])
            state.has_footer |= decoded.type is ControlType.SNAPSHOT_FOOTER
    except CorruptBytes as fault:
        raise fault.in_file(path, position) from None


def _applied_records(
    data: bytes, path: Path, position: int, *, is_small: bool
) -> Iterator[tuple[int, bytes]]:
    few_records = batch_records.few_records(data) if is_small else None
    if few_records is not None:
        for offset, _, value in few_records:
            if value and len(value) > 1 and value[1] in _APPLIED_NUMBERS:
                yield offset, value
        return
    try:
        for record in batch_records.iterate(data, BATCH_BYTES, _select_applied):
            yield record.offset, cast("bytes", record.value)  # _select_applied skips null values
    except CorruptBytes as fault:
        raise fault.in_file(path, position) from None


def _select_applied(data: bytes | memoryview, rows: np.ndarray) -> np.ndarray:
    has_type = rows["value_size_bytes"] > 1
    types = np.frombuffer(data, np.uint8)[np.where(has_type, rows["value_position"] + 1, 0)]
    return has_type & np.isin(types, _APPLIED_NUMBERS)


class _Replay:
    """Applies records to an image. The records of a metadata transaction are applied at its end."""

    def __init__(self, state: MetadataImage, *, has_leaders: bool, is_cut: bool = False) -> None:
        """Prepares the replay. `is_cut`: the end of the snapshot is missing."""
        self._state = state
        self._is_cut = is_cut
        self._has_leaders = has_leaders
        self._pending: list[Callable[[], None]] | None = None  # the changes of the open transaction
        self._handlers: dict[str, Callable[[Values, str, int], None]] = {
            TOPIC: self._add_topic,
            CONFIG: self._set_config,
            REMOVE_TOPIC: self._remove_topic,
            FEATURE_LEVEL: self._set_feature_level,
            metadata.REGISTER_BROKER: self._register_directories,
            metadata.CHANGE_BROKER: self._register_directories,
            metadata.UNREGISTER_BROKER: self._unregister,
        }
        self._names_by_id: dict[str, set[str]] = {}  # the topic names by topic id
        for name, topic_id in state.topic_ids.items():
            self._names_by_id.setdefault(topic_id, set()).add(name)

    def apply(self, offset: int, value: bytes, file: FileInfo) -> None:
        """Applies a record if kafkaviz uses its type. An unreadable record goes into `problems`."""
        try:
            if value[1] in PARTITION_NUMBERS:
                if self._is_cut:
                    self._refuse_partition(metadata.partition_topic(value))
                if assignment := metadata.assignment(value):
                    self._apply_or_defer(partial(self._assign, assignment))
                if directories := metadata.directory_assignment(value):
                    self._apply_or_defer(partial(self._assign_directories, directories))
                if self._has_leaders and (leader := metadata.partition_leader(value)):
                    self._apply_or_defer(partial(self._elect, leader))
                return
            if value[1] in _BROKER_NUMBERS and len(value) > REGISTRATION_BYTES:
                return
            metadata_record = metadata.decode(value)
            if self._is_cut and metadata_record.type.name == metadata.CHANGE_BROKER:
                self._refuse_change(metadata_record.values["brokerId"])
        except CorruptBytes as fault:
            if len(self._state.problems) < MAX_PROBLEMS:
                what = message("corrupt.at_record", offset=offset, problem=fault.what)
                self._state.problems.append(Problem(file.path, what))
            return
        name = metadata_record.type.name
        if name in self._handlers:
            self._apply_or_defer(
                partial(self._handlers[name], metadata_record.values, file.name, offset)
            )
            return
        changes = self._pending or []
        self._pending = [] if name == BEGIN else None
        for change in changes if name == END else ():
            change()

    def _refuse_partition(self, topic_id: str) -> None:
        """Stores the exception that TopicsDelta of 4.3.1 throws for an unknown topic."""
        if topic_id not in self._names_by_id and not self._state.refusal:
            self._state.refusal = "java.lang.NullPointerException"

    def _refuse_change(self, broker_id: int) -> None:
        """Stores what ClusterDelta of 4.3.1 and 4.4.0 throws for an unknown broker."""
        if broker_id not in self._state.log_directories and not self._state.refusal:
            words = f"Tried to change broker {broker_id}, but that broker was not registered."
            self._state.refusal = f"java.lang.IllegalStateException: {words}"

    def _apply_or_defer(self, change: Callable[[], None]) -> None:
        change() if self._pending is None else self._pending.append(change)

    def _assign(self, assignment: ReplicaAssignment) -> None:
        by_partition = self._state.replicas.setdefault(assignment.topic_id, {})
        by_partition[assignment.partition] = assignment.replicas
        # a change of replicas without directories leaves them unassigned (PartitionRegistration)
        self._state.directories.get(assignment.topic_id, {}).pop(assignment.partition, None)

    def _assign_directories(self, assignment: DirectoryAssignment) -> None:
        by_partition = self._state.directories.setdefault(assignment.topic_id, {})
        by_partition[assignment.partition] = assignment.directory_ids

    def _register_directories(self, values: Values, _file: str, _offset: int) -> None:
        """Stores a broker's log directories. A record without log directories changes nothing."""
        if values.get("logDirs"):
            self._state.log_directories[values["brokerId"]] = tuple(values["logDirs"])

    def _unregister(self, values: Values, _file: str, _offset: int) -> None:
        self._state.log_directories.pop(values["brokerId"], None)

    def _elect(self, change: PartitionLeader) -> None:
        """Stores a partition's leader. A partition without a leader keeps the previous leader."""
        leaders = self._state.leaders.setdefault(change.topic_id, {})
        before = leaders.get(change.partition)
        epoch = change.epoch
        if epoch is None:
            epoch = before.epoch + 1 if before and before.epoch is not None else 0
        leader = change.leader
        if leader == NO_LEADER and before:
            leader = before.leader
        elif leader == NO_LEADER and len(change.candidates) == 1:
            leader = change.candidates[0]
        leaders[change.partition] = replace(change, leader=leader, epoch=epoch)

    def _add_topic(self, values: Values, _file: str, _offset: int) -> None:
        self._state.topic_ids[values["name"]] = values["topicId"]
        self._names_by_id.setdefault(values["topicId"], set()).add(values["name"])

    def _set_config(self, values: Values, file: str, offset: int) -> None:
        resource = self._state.configs.setdefault(
            (values["resourceType"], values["resourceName"]), {}
        )
        if values["value"] is None:
            resource.pop(values["name"], None)
        else:
            resource[values["name"]] = ConfigValue(values["value"], file, offset)

    def _remove_topic(self, values: Values, _file: str, _offset: int) -> None:
        for name in self._names_by_id.pop(values["topicId"], ()):
            # otherwise a newer topic has this name
            if self._state.topic_ids.get(name) == values["topicId"]:
                del self._state.topic_ids[name]
                self._state.configs.pop((TOPIC_RESOURCE, name), None)
        self._state.replicas.pop(values["topicId"], None)
        self._state.directories.pop(values["topicId"], None)
        self._state.leaders.pop(values["topicId"], None)

    def _set_feature_level(self, values: Values, file: str, _offset: int) -> None:
        if values["featureLevel"]:
            self._state.features[values["name"]] = values["featureLevel"]
            self._state.feature_files[values["name"]] = file
        else:
            self._state.features.pop(values["name"], None)
            self._state.feature_files.pop(values["name"], None)
