"""Records of the cluster metadata log (KRaft): topics, partitions, brokers and settings.

A record has no key. Its value is a frame: unsigned varints for the frame version (1), the record
type and the record version, then the fields in the flexible form of format/message.py. A
FeatureLevelRecord of version 0, and the output of kafka-dump-log 4.3.1:

    01 0c 00 | 11 6d6574...6f6e | 001e | 00
               type 12; "metadata.version" (16 bytes); level 30; no tagged fields
    payload: {"type":"FEATURE_LEVEL_RECORD","version":0,"data":{"name":"metadata.version",...}}

Follows MetadataRecordSerde and DumpLogSegments, 4.3.1.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kafkaviz import messages
from kafkaviz.binary.varint import read_unsigned
from kafkaviz.errors import CorruptBytes, NotRead
from kafkaviz.format import message
from kafkaviz.format.message import KafkaParseError, Structure, Values

FRAME_VERSION = 1
LARGEST = 32_767  # limit for a frame version, a record type and a record version
# the two record types that list a partition's replicas, and the tag of that list in a change
PARTITION_NUMBER = 3
PARTITION_CHANGE_NUMBER = 5
REPLICAS_TAG = 2
DIRECTORIES_TAG = 8
FEATURE_LEVEL_NUMBER = 12
UUID_BYTES = 16
LEADER_TAG = 1  # tag of the leader in a PARTITION_CHANGE_RECORD
NO_LEADER = -1  # LeaderConstants.NO_LEADER, 4.3.1
MAX_TAGGED_FIELDS = 1000  # a partition's record has up to nine
METADATA_EXCEPTION = "org.apache.kafka.common.protocol.MetadataParseException"


_PARTITION_KEY = ">i16s"  # partitionId, topicId
_PARTITION_KEY_BYTES = struct.calcsize(_PARTITION_KEY)
FramedTypeT = TypeVar("FramedTypeT", bound="MetadataRecordType")


@dataclass(frozen=True)
class MetadataRecordType:
    """A type of record. Nested structures are refused in versions above `newest_version`."""

    number: int
    name: str
    newest_version: int
    body: Structure


@dataclass(frozen=True)
class MetadataRecord:
    """A decoded record.

    If it has no nested structures, `version` may exceed `type.newest_version`.
    """

    type: MetadataRecordType
    version: int
    values: Values

    @property
    def text(self) -> str:
        """The text that kafka-dump-log prints after "payload: "."""
        data = self.type.body.text(self.values, self.version)
        return f'{{"type":"{self.type.name}","version":{self.version},"data":{data}}}'


@dataclass(frozen=True)
class ReplicaAssignment:
    """The brokers that hold a partition's replicas, according to one record."""

    topic_id: str
    partition: int
    replicas: tuple[int, ...]  # node ids, the preferred leader first


@dataclass(frozen=True)
class DirectoryAssignment:
    """The log directories that hold a partition's replicas, according to one record."""

    topic_id: str
    partition: int
    directory_ids: tuple[str, ...]  # one directory.id per replica, in the order of the replicas


@dataclass(frozen=True)
class PartitionLeader:
    """The leader of a partition, according to one record of the metadata log.

    Attributes:
        leader: the leader's node id; NO_LEADER if there is none.
        epoch: the leader epoch; None for a PARTITION_CHANGE_RECORD, which makes it 1 higher.
        candidates: the nodes that may lead, according to a PARTITION_RECORD: isr, else
            eligibleLeaderReplicas, else lastKnownElr (the first list that is not empty).
    """

    topic_id: str
    partition: int
    leader: int
    epoch: int | None = None
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True)
class FeatureLevel:
    """A feature and its level; level 0 removes the feature."""

    name: str
    level: int


_END_POINTS = "endPoints [{name str, host str, port u16, securityProtocol i16}]"
_FEATURES = "features [{name str, minSupportedVersion i16, maxSupportedVersion i16}]"
RECORD_TYPES: dict[int, MetadataRecordType] = {
    number: MetadataRecordType(number, name, newest, message.schema(body))
    for number, name, newest, body in (
        (0, "REGISTER_BROKER_RECORD", 4,
         "brokerId i32, isMigratingZkBroker bool v2+, incarnationId uuid, brokerEpoch i64, "
         f"{_END_POINTS}, {_FEATURES}, rack str?, fenced bool, inControlledShutdown bool v1+, "
         "#0 logDirs [uuid] v3+ =[], #1 cordonedLogDirs [uuid]? v4+ =null"),
        (1, "UNREGISTER_BROKER_RECORD", 0, "brokerId i32, brokerEpoch i64"),
        (2, "TOPIC_RECORD", 0, "name str, topicId uuid"),
        (3, "PARTITION_RECORD", 2,
         "partitionId i32, topicId uuid, replicas [i32], isr [i32], removingReplicas [i32], "
         "addingReplicas [i32], leader i32, #0 leaderRecoveryState i8 =0, leaderEpoch i32, "
         "partitionEpoch i32, directories [uuid] v1+, #1 eligibleLeaderReplicas [i32]? v2+ "
         "=null, #2 lastKnownElr [i32]? v2+ =null"),
        (4, "CONFIG_RECORD", 0, "resourceType i8, resourceName str, name str, value str?"),
        (5, "PARTITION_CHANGE_RECORD", 2,
         "partitionId i32, topicId uuid, #0 isr [i32]? =null, #1 leader i32 =-2, #2 replicas "
         "[i32]? =null, #3 removingReplicas [i32]? =null, #4 addingReplicas [i32]? =null, #5 "
         "leaderRecoveryState i8 =-1, #8 directories [uuid]? v1+ =null, #6 "
         "eligibleLeaderReplicas [i32]? v2+ =null, #7 lastKnownElr [i32]? v2+ =null"),
        (7, "FENCE_BROKER_RECORD", 0, "id i32, epoch i64"),
        (8, "UNFENCE_BROKER_RECORD", 0, "id i32, epoch i64"),
        (9, "REMOVE_TOPIC_RECORD", 0, "topicId uuid"),
        (10, "DELEGATION_TOKEN_RECORD", 0,
         "owner str, requester str, renewers [str], issueTimestamp i64, maxTimestamp i64, "
         "expirationTimestamp i64, tokenId str"),
        (11, "USER_SCRAM_CREDENTIAL_RECORD", 0,
         "name str, mechanism i8, salt bytes, storedKey bytes, serverKey bytes, iterations i32"),
        (12, "FEATURE_LEVEL_RECORD", 0, "name str, featureLevel i16"),
        (14, "CLIENT_QUOTA_RECORD", 0,
         "entity [{entityType str, entityName str?}], key str, value f64, remove bool"),
        (15, "PRODUCER_IDS_RECORD", 0, "brokerId i32, brokerEpoch i64, nextProducerId i64"),
        (17, "BROKER_REGISTRATION_CHANGE_RECORD", 3,
         "brokerId i32, brokerEpoch i64, #0 fenced i8 =0, #1 inControlledShutdown i8 v1+ =0, #2 "
         "logDirs [uuid] v2+ =[], #3 cordonedLogDirs [uuid]? v3+ =null"),
        (18, "ACCESS_CONTROL_ENTRY_RECORD", 0,
         "id uuid, resourceType i8, resourceName str, patternType i8, principal str, host "
         "str, operation i8, permissionType i8"),
        (19, "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", 0, "id uuid"),
        (20, "NO_OP_RECORD", 0, ""),
        (21, "ZK_MIGRATION_STATE_RECORD", 0, "zkMigrationState i8"),
        (22, "REMOVE_USER_SCRAM_CREDENTIAL_RECORD", 0, "name str, mechanism i8"),
        (23, "BEGIN_TRANSACTION_RECORD", 0, "#0 name str? =null"),
        (24, "END_TRANSACTION_RECORD", 0, ""),
        (25, "ABORT_TRANSACTION_RECORD", 0, "#0 reason str? =null"),
        (26, "REMOVE_DELEGATION_TOKEN_RECORD", 0, "tokenId str"),
        (27, "REGISTER_CONTROLLER_RECORD", 0,
         f"controllerId i32, incarnationId uuid, zkMigrationReady bool, {_END_POINTS}, "
         f"{_FEATURES}"),
        (28, "CLEAR_ELR_RECORD", 0, "topicName str"),
        (29, "UNREGISTER_CONTROLLER_RECORD", 0, "controllerId i32"),  # 4.4.0
    )
}  # fmt: skip
TOPIC = "TOPIC_RECORD"
CONFIG = "CONFIG_RECORD"
REMOVE_TOPIC = "REMOVE_TOPIC_RECORD"
FEATURE_LEVEL = "FEATURE_LEVEL_RECORD"
REGISTER_BROKER = "REGISTER_BROKER_RECORD"
UNREGISTER_BROKER = "UNREGISTER_BROKER_RECORD"
CHANGE_BROKER = "BROKER_REGISTRATION_CHANGE_RECORD"
# ConfigResource.Type: the kind of resource that a CONFIG_RECORD is about
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4


def decode(value: bytes | None) -> MetadataRecord:
    """Decodes the value of a record. Raises KafkaParseError with the message of kafka-dump-log."""
    type_, version, values = read_framed_record(value or b"", RECORD_TYPES)
    return MetadataRecord(type_, version, values)


def dump_text(value: bytes | None, offset: int) -> str:
    """Returns what kafka-dump-log prints after the record's metadata: "payload: ...".

    If the record cannot be read, the text describes the error.
    """
    try:
        return f"payload: {decode(value).text}"
    except KafkaParseError as fault:
        return f"payload: Error at {offset}, skipping. {fault.java_message}"


def _unpack(layout: str, value: bytes, position: int, number: int) -> tuple:
    try:
        return struct.unpack_from(layout, value, position)
    except struct.error:
        raise _not_deserialized(position, number) from None


def partition_topic(value: bytes) -> str:
    """Returns the topic id in a PARTITION_RECORD or a PARTITION_CHANGE_RECORD.

    Raises CorruptBytes if the value is too short.
    """
    number, _, position = _frame(value)
    _, topic_id = _unpack(_PARTITION_KEY, value, position, number)
    return message.uuid_text(topic_id)


def assignment(value: bytes) -> ReplicaAssignment | None:
    """Returns the replicas in a PARTITION_RECORD or a PARTITION_CHANGE_RECORD.

    Returns None for a record without replicas. Raises CorruptBytes if the value is too short. Skips
    all other fields: a metadata log may hold millions of these records.
    """
    number, _, position = _frame(value)
    is_change = number == PARTITION_CHANGE_NUMBER
    if not is_change and number != PARTITION_NUMBER:
        return None
    partition, topic_id = _unpack(_PARTITION_KEY, value, position, number)
    position += _PARTITION_KEY_BYTES
    if is_change:
        position = _find_tagged_field(value, position, REPLICAS_TAG)
    if position is None:
        return None
    count, position = read_unsigned(value, position)
    replicas = _unpack(f">{count - 1}i", value, position, number) if count else ()
    return ReplicaAssignment(message.uuid_text(topic_id), partition, replicas)


def directory_assignment(value: bytes) -> DirectoryAssignment | None:
    """Returns the log directories in a PARTITION_RECORD or a PARTITION_CHANGE_RECORD.

    Returns None for a record without directories, such as any of version 0 (KIP-858). Raises
    CorruptBytes if the value is too short.
    """
    number, version, position = _frame(value)
    if number not in (PARTITION_NUMBER, PARTITION_CHANGE_NUMBER) or version == 0:
        return None
    partition, topic_id = _unpack(_PARTITION_KEY, value, position, number)
    position += _PARTITION_KEY_BYTES
    directories_position = (
        _find_tagged_field(value, position, DIRECTORIES_TAG)
        if number == PARTITION_CHANGE_NUMBER
        else _skip_to_directories(value, position)
    )
    if directories_position is None:
        return None
    count, start = read_unsigned(value, directories_position)
    end = start + UUID_BYTES * max(0, count - 1)
    if end > len(value):
        raise _not_deserialized(len(value), number)
    ids = [value[place : place + UUID_BYTES] for place in range(start, end, UUID_BYTES)]
    return DirectoryAssignment(
        message.uuid_text(topic_id), partition, tuple(map(message.uuid_text, ids))
    )


def _skip_to_directories(value: bytes, position: int) -> int:
    for _ in ("replicas", "isr", "removingReplicas", "addingReplicas"):
        count, position = read_unsigned(value, position)
        position += 4 * max(0, count - 1)
    return position + 12  # leader, leaderEpoch, partitionEpoch


def partition_leader(value: bytes) -> PartitionLeader | None:
    """Returns the leader in a PARTITION_RECORD or a PARTITION_CHANGE_RECORD.

    Returns None if the record does not set a leader. Raises CorruptBytes if the value is too short.
    """
    number, _, position = _frame(value)
    if number == PARTITION_NUMBER:
        values = decode(value).values
        candidates = (
            values["isr"] or values.get("eligibleLeaderReplicas") or values.get("lastKnownElr")
        )
        return PartitionLeader(
            values["topicId"],
            values["partitionId"],
            values["leader"],
            values["leaderEpoch"],
            tuple(candidates or ()),
        )
    if number != PARTITION_CHANGE_NUMBER:
        return None
    partition, topic_id = _unpack(_PARTITION_KEY, value, position, number)
    position = _find_tagged_field(value, position + _PARTITION_KEY_BYTES, LEADER_TAG)
    if position is None:
        return None
    (leader,) = _unpack(">i", value, position, number)
    return PartitionLeader(message.uuid_text(topic_id), partition, leader)


def _find_tagged_field(value: bytes, position: int, tag_number: int) -> int | None:
    """Returns the position of a tagged field's data; None if the field is absent.

    Raises NotRead if more than MAX_TAGGED_FIELDS tagged fields precede the field.
    """
    fields, position = read_unsigned(value, position)
    for place in range(fields):
        if place == MAX_TAGGED_FIELDS:
            what = messages.message("corrupt.too_many_values", limit=MAX_TAGGED_FIELDS)
            raise NotRead(position, what)
        tag, position = read_unsigned(value, position)
        size, position = read_unsigned(value, position)
        if tag == tag_number:
            return position
        if tag > tag_number:  # tags are in ascending order
            return None
        position += size
    return None


def feature_level(value: bytes) -> FeatureLevel | None:
    """Returns the feature in the value of a FEATURE_LEVEL_RECORD; None for any other value."""
    try:
        record = decode(value)
    except CorruptBytes:
        return None
    if record.type.name != FEATURE_LEVEL:
        return None
    return FeatureLevel(record.values["name"], record.values["featureLevel"])


def build_feature_level(feature: FeatureLevel) -> bytes:
    """Returns the value of a FEATURE_LEVEL_RECORD of version 0. The name has at most 126 bytes."""
    name = feature.name.encode()
    head = bytes([FRAME_VERSION, FEATURE_LEVEL_NUMBER, 0, len(name) + 1])
    # the last byte: no tagged fields
    return head + name + feature.level.to_bytes(2, "big") + b"\0"


def read_framed_record(
    data: bytes, types: Mapping[int, FramedTypeT]
) -> tuple[FramedTypeT, int, Values]:
    """Reads a value with its frame. Returns the type, the version and the fields.

    Raises KafkaParseError with AbstractApiMessageSerde's message if the value cannot be read.
    """
    number, version, position = _frame(data)
    type_ = types.get(number)
    if type_ is None:
        exception = "org.apache.kafka.common.errors.UnsupportedVersionException"
        raise _parse_error(1, f"{exception}: Unknown metadata id {number}")
    newest = type_.newest_version
    try:
        values, end = message.read(
            type_.body, data, version, position=position, newest_version=newest
        )
    except KafkaParseError as fault:
        raise _not_deserialized(fault.position, number) from fault
    if end < len(data):
        raise _parse_error(end, f"Found {len(data) - end} byte(s) of garbage after {number}")
    return type_, version, values


def _frame(data: bytes) -> tuple[int, int, int]:
    frame_version, position = _read_frame_number(data, 0, "frame version")
    if frame_version == 0:
        raise _parse_error(
            0,
            "Could not deserialize metadata record with frame version 0. Note "
            "that upgrades from the preview release of KRaft in 2.8 to newer versions are not "
            "supported.",
        )
    if frame_version != FRAME_VERSION:
        raise _parse_error(
            0,
            "Could not deserialize metadata record due to unknown frame version "
            f"{frame_version}(only frame version {FRAME_VERSION} is supported)",
        )
    number, position = _read_frame_number(data, position, "type")
    version, position = _read_frame_number(data, position, "version")
    return number, version, position


def _read_frame_number(data: bytes, position: int, field_name: str) -> tuple[int, int]:
    try:
        number, end = read_unsigned(data, position)
    except CorruptBytes:
        raise _parse_error(position, f"Error while reading {field_name}") from None
    if LARGEST < number < 2**31:
        raise _parse_error(position, f"Value for {field_name} was too large.")
    # Java holds 2^31 and more as negative ints, and casts them to short
    return (number + 2**15) % 2**16 - 2**15, end


def _not_deserialized(position: int, number: int) -> KafkaParseError:
    return _parse_error(position, f"Failed to deserialize record with type {number}")


def _parse_error(position: int, java_message: str) -> KafkaParseError:
    return message.kafka_error(position, java_message, METADATA_EXCEPTION)
