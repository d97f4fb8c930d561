"""What the cluster metadata log of a broker directory says in the end: topic ids, settings,
features.

A KRaft broker starts from the newest snapshot (.checkpoint) and replays the .log from the
snapshot's end offset on; a later record replaces an earlier one, a null value takes a setting away,
and a removed topic loses all it had.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.errors import CorruptBytes, CorruptFile, KafkavizError
from kafkaviz.format import batch, batch_records, metadata, names
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.message import Values
from kafkaviz.format.metadata import BROKER_RESOURCE, TOPIC_RESOURCE, Assignment
from kafkaviz.log.broker import Broker, Problem
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.log.segment import Segment

DIRECTORY = names.METADATA_DIRECTORY
PARTITION_NUMBERS = {metadata.PARTITION_NUMBER, metadata.PARTITION_CHANGE_NUMBER}
BEGIN, END, ABORT = "BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD"
TOPIC, CONFIG, REMOVE_TOPIC, FEATURE_LEVEL = (
    metadata.TOPIC,
    metadata.CONFIG,
    metadata.REMOVE_TOPIC,
    metadata.FEATURE_LEVEL,
)
_WANTED = {BEGIN, END, ABORT, TOPIC, CONFIG, REMOVE_TOPIC, FEATURE_LEVEL}
_OF_USE = np.array(
    [
        number
        for number, type_ in metadata.RECORD_TYPES.items()
        if type_.name in _WANTED or number in PARTITION_NUMBERS
    ],
    np.uint8,
)
# of the records of a compressed batch: KafkaRaftClient.MAX_BATCH_SIZE_BYTES, 4.3.1
BATCH_BYTES = 8 << 20
# in the compressed batches of a log together: a broker compresses none, and some KB can hold
# millions
COMPRESSED_RECORDS = 100_000
MOST_PROBLEMS = 100  # with single records
Resource = tuple[int, str]  # (ConfigResource.Type, name); of brokers "" is the default of all


class Given(NamedTuple):
    """A setting's value as a CONFIG_RECORD gives it, and where that record lies."""

    value: str
    file: str  # in the directory of the metadata log
    offset: int  # of the record in that file; a snapshot counts its own from 0


@dataclass
class Image:
    """The state after the last record, as far as it is of use here.

    topic_ids: of the topics that are there, by name; configs: by resource, then by setting;
    features: their levels. replicas: the node ids that hold a partition, by topic id, then by the
    partition's number. snapshot: the name of the file it started from; end_offset: one past the
    last record that counts.
    """

    topic_ids: dict[str, str] = field(default_factory=dict)
    configs: dict[Resource, dict[str, Given]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    replicas: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    snapshot: str | None = None
    end_offset: int = 0
    problems: list[Problem] = field(default_factory=list)

    def of_topic(self, topic: str) -> dict[str, Given]:
        """The settings a topic was given."""
        return self.configs.get((TOPIC_RESOURCE, topic), {})

    def of_broker(self, node_id: str | None) -> dict[str, Given]:
        """The settings a broker was given while it ran; those of all brokers for ""."""
        return {} if node_id is None else self.configs.get((BROKER_RESOURCE, node_id), {})


def image(broker: Broker) -> Image:
    """What the broker's metadata log says; empty where the directory has none (ZooKeeper, or
    another log directory).
    """
    try:
        found = found_in(broker)
    except KafkavizError as fault:
        return Image(problems=[Problem.of(broker.path / DIRECTORY, fault)])
    return image_of(found) if found else Image()


def found_in(broker: Broker) -> Partition | None:
    """The metadata log of a broker directory; beside a partition that was opened alone too.

    KafkavizError if it cannot be listed.
    """
    found = next(
        (partition for partition in broker.partitions if partition.directory == DIRECTORY), None
    )
    if found is None and (broker.path / DIRECTORY).is_dir():
        name = cast("names.PartitionName", names.parse_directory(DIRECTORY))
        return open_partition(broker.path / DIRECTORY, name)
    return found


def image_of(partition: Partition) -> Image:
    """The newest snapshot that can be read, then the log; what could not be read is among the
    problems.
    """
    started, problems, room = Image(), [], _Room()
    for snapshot, end_offset in snapshots(partition):
        try:
            started = _from_snapshot(snapshot, end_offset, room)
            break
        except KafkavizError as fault:
            problems.append(Problem.of(snapshot.path, fault))
    started.problems += problems
    replay = _Replay(started)
    for segment in partition.live:
        try:
            for records, behind in _batches(segment, room):
                if behind > started.end_offset:
                    for record in records:
                        if record.offset >= started.end_offset:
                            replay.take(record, segment.log)
                    started.end_offset = behind
        # a broker recovers this log at every start, and cuts it there
        except KafkavizError as fault:
            started.problems.append(Problem.of(segment.log.path, fault))
            break
    return started


def snapshots(partition: Partition) -> Iterator[tuple[FileInfo, int]]:
    """(file, end offset) of the finished snapshots, the newest first."""
    parsed = ((names.parse_file(found.name), found) for found in partition.others)
    finished = [
        (name, found)
        for name, found in parsed
        if name and (name.kind, name.suffix) == ("checkpoint", "")
    ]
    for name, found in sorted(
        finished, key=lambda one: (one[0].base_offset, one[0].epoch), reverse=True
    ):
        yield found, name.base_offset


def _from_snapshot(found: FileInfo, end_offset: int, room: "_Room") -> Image:
    """The state a snapshot holds; KafkavizError if any of it cannot be read."""
    started = Image(snapshot=found.name, end_offset=end_offset)
    replay = _Replay(started)
    for records, _ in _batches(Segment(0, "closed", log=found), room):
        for record in records:
            replay.take(record, found)
    return started


class _Room:
    """How many records of compressed batches are still read of a log and its snapshots."""

    def __init__(self) -> None:
        self._left = COMPRESSED_RECORDS

    def take(self, row: np.void, path: Path) -> None:
        """Makes room for a batch; CorruptFile where there is none."""
        self._left -= int(row["record_count"]) if row["attributes"] & batch.CODEC_MASK else 0
        if self._left < 0:
            what = (
                f"the compressed batches of metadata hold more than {COMPRESSED_RECORDS} records, "
                "and no broker writes that"
            )
            raise CorruptFile(path, int(row["position"]), what)


def _batches(segment: Segment, room: _Room) -> Iterator[tuple[Iterator[BatchRecord], int]]:
    """(the records of use here, one past the last offset) of the batches of a .log or .checkpoint
    that are not control batches.

    CorruptFile at a batch whose checksum is wrong, and at one that no broker writes.
    """
    walked = segment.walk()
    for row in walked.batches[~batch.is_control(walked.batches)]:
        position = int(row["position"])
        data = segment.batch_bytes(position)
        if not batch_records.crc_valid(data):
            raise CorruptFile(
                segment.log.path, position, "the checksum of a batch of metadata is wrong"
            )
        if row["magic"] < batch.MAGIC_2:
            raise CorruptFile(
                segment.log.path,
                position,
                f"a batch of magic {row['magic']}, which is older than any metadata log",
            )
        room.take(row, segment.log.path)
        yield _of_batch(data, segment.log.path, position), int(row["last_offset"]) + 1


def _of_batch(data: bytes, path: Path, position: int) -> Iterator[BatchRecord]:
    try:
        yield from batch_records.iterate(data, BATCH_BYTES, _of_use)
    except CorruptBytes as fault:
        raise fault.in_file(path, position) from None


def _of_use(data: bytes | memoryview, rows: np.ndarray) -> np.ndarray:
    """Which records are of a type that is applied here; most records of a cluster are not."""
    has_type = rows["value_size_bytes"] > 1
    types = np.frombuffer(data, np.uint8)[np.where(has_type, rows["value_position"] + 1, 0)]
    return has_type & np.isin(types, _OF_USE)


class _Replay:
    """Applies records to an image, those of a metadata transaction once it ends."""

    def __init__(self, state: Image) -> None:
        self._state = state
        self._pending: list[Callable[[], None]] | None = None  # of the transaction that is open
        self._apply: dict[str, Callable[[Values, str, int], None]] = {
            TOPIC: self._topic,
            CONFIG: self._config,
            REMOVE_TOPIC: self._remove_topic,
            FEATURE_LEVEL: self._feature_level,
        }
        self._names: dict[str, set[str]] = {}  # of the topics by id
        for name, topic_id in state.topic_ids.items():
            self._names.setdefault(topic_id, set()).add(name)

    def take(self, record: BatchRecord, file: FileInfo) -> None:
        """One record of a type that is of use here; one that cannot be read is passed over."""
        try:
            value = cast("bytes", record.value)  # as _of_use chose it: not null
            if value[1] in PARTITION_NUMBERS:
                if assignment := metadata.assignment(value):
                    self._change(partial(self._assign, assignment))
                return
            decoded = metadata.decode(value)
        except CorruptBytes as fault:
            if len(self._state.problems) < MOST_PROBLEMS:
                self._state.problems.append(
                    Problem(file.path, f"record {record.offset}: {fault.what}")
                )
            return
        name = decoded.type.name
        if name in self._apply:
            self._change(partial(self._apply[name], decoded.values, file.name, record.offset))
            return
        finished, self._pending = self._pending or [], [] if name == BEGIN else None
        for change in finished if name == END else ():
            change()

    def _change(self, change: Callable[[], None]) -> None:
        """Makes a change, or keeps it for the end of the transaction that is open."""
        change() if self._pending is None else self._pending.append(change)

    def _assign(self, assignment: Assignment) -> None:
        self._state.replicas.setdefault(assignment.topic_id, {})[assignment.partition] = (
            assignment.replicas
        )

    def _topic(self, values: Values, file: str, offset: int) -> None:
        self._state.topic_ids[values["name"]] = values["topicId"]
        self._names.setdefault(values["topicId"], set()).add(values["name"])

    def _config(self, values: Values, file: str, offset: int) -> None:
        resource = self._state.configs.setdefault(
            (values["resourceType"], values["resourceName"]), {}
        )
        if values["value"] is None:
            resource.pop(values["name"], None)
        else:
            resource[values["name"]] = Given(values["value"], file, offset)

    def _remove_topic(self, values: Values, file: str, offset: int) -> None:
        for name in self._names.pop(values["topicId"], ()):
            # else another topic has the name by now
            if self._state.topic_ids.get(name) == values["topicId"]:
                del self._state.topic_ids[name]
                self._state.configs.pop((TOPIC_RESOURCE, name), None)
        self._state.replicas.pop(values["topicId"], None)

    def _feature_level(self, values: Values, file: str, offset: int) -> None:
        if values["featureLevel"]:
            self._state.features[values["name"]] = values["featureLevel"]
        else:
            self._state.features.pop(values["name"], None)
