"""Keys and values of __consumer_offsets, __transaction_state and __share_group_state.

A key is an i16 record type and its fields. A value is an i16 version and its fields; null deletes
the key. An offset commit, and the output of kafka-dump-log 4.3.1:

    key    0001 | 0002 6731 | 0006 6f7264657273 | 00000003
           type 1: group "g1", topic "orders", partition 3
    value  0003 | 000000000000002a | 00000005 | 0000 | ...
           version 3: offset 42, leader epoch 5, metadata "", time

    key: {"type":"1","data":{"group":"g1",...}} payload: {"version":"3","data":{"offset":42,...}}

Follows CoordinatorRecordSerde and the message parsers of DumpLogSegments, 4.3.1.
"""

from dataclasses import dataclass, replace
from typing import Any

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import message
from kafkaviz.format.message import KafkaParseError, Structure, Values

VERSION_BYTES = 2  # the i16 at the start of every key and value
TOMBSTONE = "<DELETE>"
GROUP_METADATA = 2
CONSUMER_PROTOCOL = "consumer"


@dataclass(frozen=True, kw_only=True)
class CoordinatorRecordType:
    """A type of record, with the fields of its key and value."""

    number: int
    name: str
    key: Structure
    value: Structure
    newest_version: int  # of the value
    flexible_from: int | None  # the value's first version in the flexible form, if any has it


@dataclass(frozen=True, kw_only=True)
class CoordinatorRecord:
    """A record of a coordinator's topic, and its text in kafka-dump-log.

    Attributes:
        key: the fields by name; None if they cannot be read.
        value: the fields by name; None for a tombstone, or if they cannot be read.
        key_text: the text after "key: ".
        payload_text: the text after "payload: "; None if the key or value cannot be read.
        problem: the error; None if the record can be read.
    """

    key_text: str
    type: CoordinatorRecordType | None = None
    version: int | None = None  # of the value
    key: Values | None = None
    value: Values | None = None
    is_tombstone: bool = False
    payload_text: str | None = None
    problem: str | None = None

    @property
    def text(self) -> str:
        """The line that kafka-dump-log prints: "key: ... payload: ..."."""
        if self.payload_text is None:
            return f"key: {self.key_text}"
        return f"key: {self.key_text} payload: {self.payload_text}"


def _types(text: str, parts: dict[str, str] | None = None) -> dict[int, CoordinatorRecordType]:
    """Parses a table of record types. An empty line ends a type.

    The first line of a type has its number, name, newest version and first flexible version ("-"
    for none). The second line has the fields of the key, and the other lines those of the value.
    `parts` has the types that the table mentions by name.
    """
    part_items = tuple((parts or {}).items())
    types = {}
    for block in text.strip().split("\n\n"):
        heading, key, *value = block.splitlines()
        number, name, newest, flexible = heading.split()
        types[int(number)] = CoordinatorRecordType(
            number=int(number),
            name=name,
            key=message.schema(key),
            value=message.schema(" ".join(value), part_items),
            newest_version=int(newest),
            flexible_from=None if flexible == "-" else int(flexible),
        )
    return types


# Types 3 to 8 and 16 are of consumer groups (KIP-848). In type 17, the fields #2 and #3 exist since
# Kafka 4.4.0.
OFFSETS = _types(
    """
    0 LegacyOffsetCommit 0 -
      group str, topic str, partition i32
      offset i64, metadata str, commitTimestamp i64

    1 OffsetCommit 4 4
      group str, topic str, partition i32
      offset i64, leaderEpoch i32 v3+, metadata str, commitTimestamp i64, expireTimestamp i64 v1,
      #0 topicId uuid v4+ =zero

    2 GroupMetadata 4 4
      group str
      protocolType str, generation i32, protocol str?, leader str?, currentStateTimestamp i64 v2+,
      members [{memberId str, groupInstanceId str? v3+, clientId str, clientHost str,
      rebalanceTimeout i32 v1+, sessionTimeout i32, subscription bytes, assignment bytes}]

    3 ConsumerGroupMetadata 0 0
      groupId str
      epoch i32, #0 metadataHash i64 =0

    4 ConsumerGroupPartitionMetadata 0 0
      groupId str
      topics [{topicId uuid, topicName str, numPartitions i32, partitionMetadata [{partition i32,
      racks [str]}]}]

    5 ConsumerGroupMemberMetadata 0 0
      groupId str, memberId str
      instanceId str?, rackId str?, clientId str, clientHost str, subscribedTopicNames [str],
      subscribedTopicRegex str?, rebalanceTimeoutMs i32, serverAssignor str?,
      #0 classicMemberMetadata {sessionTimeoutMs i32, supportedProtocols [{name str,
      metadata bytes}]}? =empty

    6 ConsumerGroupTargetAssignmentMetadata 0 0
      groupId str
      assignmentEpoch i32, #0 assignmentTimestamp i64 =0

    7 ConsumerGroupTargetAssignmentMember 0 0
      groupId str, memberId str
      topicPartitions [TopicPartitions]

    8 ConsumerGroupCurrentMemberAssignment 0 0
      groupId str, memberId str
      memberEpoch i32, previousMemberEpoch i32, state i8, assignedPartitions [AssignedPartitions],
      partitionsPendingRevocation [AssignedPartitions]

    16 ConsumerGroupRegularExpression 0 0
      groupId str, regularExpression str
      topics [str], version i64, timestamp i64

    10 ShareGroupMemberMetadata 0 0
      groupId str, memberId str
      rackId str?, clientId str, clientHost str, subscribedTopicNames [str]

    11 ShareGroupMetadata 0 0
      groupId str
      epoch i32, metadataHash i64

    12 ShareGroupTargetAssignmentMetadata 0 0
      groupId str
      assignmentEpoch i32, #0 assignmentTimestamp i64 =0

    13 ShareGroupTargetAssignmentMember 0 0
      groupId str, memberId str
      topicPartitions [TopicPartitions]

    14 ShareGroupCurrentMemberAssignment 0 0
      groupId str, memberId str
      memberEpoch i32, previousMemberEpoch i32, state i8, assignedPartitions [TopicPartitions]

    15 ShareGroupStatePartitionMetadata 0 0
      groupId str
      initializingTopics [NamedPartitions], initializedTopics [NamedPartitions],
      deletingTopics [{topicId uuid, topicName str}]

    17 StreamsGroupMetadata 0 0
      groupId str
      epoch i32, metadataHash i64, #0 validatedTopologyEpoch i32 =-1,
      #1 lastAssignmentConfigs [KeyValue]? =empty, #2 storedDescriptionTopologyEpoch i32 =-1,
      #3 failedDescriptionTopologyEpoch i32 =-1

    19 StreamsGroupMemberMetadata 0 0
      groupId str, memberId str
      instanceId str?, rackId str?, clientId str, clientHost str, rebalanceTimeoutMs i32,
      topologyEpoch i32, processId str, userEndpoint {host str, port u16}?, clientTags [KeyValue]

    20 StreamsGroupTargetAssignmentMetadata 0 0
      groupId str
      assignmentEpoch i32, #0 assignmentTimestamp i64 =0

    21 StreamsGroupTargetAssignmentMember 0 0
      groupId str, memberId str
      activeTasks [Task], standbyTasks [Task], warmupTasks [Task]

    22 StreamsGroupCurrentMemberAssignment 0 0
      groupId str, memberId str
      memberEpoch i32, previousMemberEpoch i32, state i8, activeTasks [AssignedTask],
      standbyTasks [AssignedTask], warmupTasks [AssignedTask],
      activeTasksPendingRevocation [AssignedTask], standbyTasksPendingRevocation [AssignedTask],
      warmupTasksPendingRevocation [AssignedTask]

    23 StreamsGroupTopology 0 0
      groupId str
      epoch i32, subtopologies [{subtopologyId str, sourceTopics [str], sourceTopicRegex [str],
      stateChangelogTopics [TopicInfo], repartitionSinkTopics [str],
      repartitionSourceTopics [TopicInfo], copartitionGroups [{sourceTopics [i16],
      sourceTopicRegex [i16], repartitionSourceTopics [i16]}]}]
    """,
    {
        "TopicPartitions": "{topicId uuid, partitions [i32]}",
        "AssignedPartitions": "{topicId uuid, partitions [i32], #0 assignmentEpochs [i32]? =empty}",
        "NamedPartitions": "{topicId uuid, topicName str, partitions [i32]}",
        "Task": "{subtopologyId str, partitions [i32]}",
        "AssignedTask": "{subtopologyId str, partitions [i32], #0 assignmentEpochs [i32]? =empty}",
        "TopicInfo": "{name str, partitions i32, replicationFactor i16, topicConfigs [KeyValue]}",
        "KeyValue": "{key str, value str}",
    },
)
TRANSACTIONS = _types(
    """
    0 TransactionLog 1 1
      transactionalId str
      producerId i64, #0 previousProducerId i64 v1+ =-1, #1 nextProducerId i64 v1+ =-1,
      producerEpoch i16, #3 nextProducerEpoch i16 v1+ =-1, transactionTimeoutMs i32,
      transactionStatus i8, transactionPartitions [{topic str, partitionIds [i32]}]?,
      transactionLastUpdateTimestampMs i64, transactionStartTimestampMs i64,
      #2 clientTransactionVersion i16 v1+ =0
    """
)
SHARE_STATE = _types(
    """
    0 ShareSnapshot 0 0
      groupId str, topicId uuid, partition i32
      snapshotEpoch i32, stateEpoch i32, leaderEpoch i32, startOffset i64,
      #0 deliveryCompleteCount i32 =-1, createTimestamp i64, writeTimestamp i64,
      stateBatches [StateBatch]

    1 ShareUpdate 0 0
      groupId str, topicId uuid, partition i32
      snapshotEpoch i32, leaderEpoch i32, startOffset i64, #0 deliveryCompleteCount i32 =-1,
      stateBatches [StateBatch]
    """,
    {"StateBatch": "{firstOffset i64, lastOffset i64, deliveryState i8, deliveryCount i16}"},
)
DECODERS = {"offsets": OFFSETS, "transactions": TRANSACTIONS, "share": SHARE_STATE}
DECODER_OF_TOPIC = {
    "__consumer_offsets": "offsets",
    "__transaction_state": "transactions",
    "__share_group_state": "share",
}
EMBEDDED_VERSION = 3  # the newest version of the messages in a consumer group's metadata
EMBEDDED = {  # always in the plain form, after an i16 version (ConsumerProtocol)
    "subscription": message.schema(
        "topics [str], userData bytes?, ownedPartitions [{topic str, partitions [i32]}] v1+, "
        "generationId i32 v2+, rackId str? v3+"
    ),
    "assignment": message.schema(
        "assignedPartitions [{topic str, partitions [i32]}], userData bytes?"
    ),
}


def decode(key: bytes | None, value: bytes | None, offset: int, decoder: str) -> CoordinatorRecord:
    """Decodes the key and value of a record, as values and as text.

    `decoder` is "offsets", "transactions" or "share". Raises KafkaParseError, a CorruptBytes,
    if the record has no key: kafka-dump-log ends there.
    """
    if key is None:
        problem = (
            f"Failed to decode message at offset {offset} using the specified decoder (message had "
            "a missing key)"
        )
        raise message.kafka_error(0, problem)
    if len(key) < VERSION_BYTES:
        return _skip(offset, "Could not read version from key's buffer.")
    number = _i16(key)
    type_ = DECODERS[decoder].get(number)
    if type_ is None:
        text = f"Unknown record type {number} at offset {offset}, skipping."
        return CoordinatorRecord(key_text=text, problem=f"Unknown record type {number}")
    try:
        key_values, _ = message.read(type_.key, key, flexible=False, position=VERSION_BYTES)
    except KafkaParseError as fault:
        return _skip(offset, _read_error_text(number, "key", fault), type_)
    key_text = f'{{"type":"{number}","data":{type_.key.text(key_values, 0)}}}'
    if value is None:
        return CoordinatorRecord(
            key_text=key_text, type=type_, key=key_values, is_tombstone=True, payload_text=TOMBSTONE
        )
    return _decode_value(type_, key_values, key_text, value, offset)


def dump_text(key: bytes | None, value: bytes | None, offset: int, decoder: str) -> str:
    """Returns what kafka-dump-log prints after the record's metadata: "key: ... payload: ...".

    Raises KafkaParseError if the record has no key.
    """
    return decode(key, value, offset, decoder).text


def _decode_value(
    type_: CoordinatorRecordType, key: Values, key_text: str, value: bytes, offset: int
) -> CoordinatorRecord:
    if len(value) < VERSION_BYTES:
        return _skip(offset, "Could not read version from value's buffer.", type_, key)
    version = _i16(value)
    if not 0 <= version <= type_.newest_version:
        return _skip(
            offset, f"Found an unknown record version {version} for {type_.number} type", type_, key
        )
    is_flexible = type_.flexible_from is not None and version >= type_.flexible_from
    try:
        values, _ = message.read(
            type_.value, value, version, flexible=is_flexible, position=VERSION_BYTES
        )
    except KafkaParseError as fault:
        return _skip(offset, _read_error_text(version, "value", fault), type_, key)
    schema = type_.value
    if type_ is OFFSETS[GROUP_METADATA] and values["protocolType"] == CONSUMER_PROTOCOL:
        schema = _GROUP_METADATA_VALUE  # shows each subscription and assignment as JSON
    return CoordinatorRecord(
        key_text=key_text,
        type=type_,
        version=version,
        key=key,
        value=values,
        payload_text=f'{{"version":"{version}","data":{schema.text(values, version)}}}',
    )


class _EmbeddedMessage(message.SizedValue):
    """A bytes field that holds a message, such as a group member's subscription."""

    name: str

    def __init__(self, name: str) -> None:
        super().__init__("bytes")
        object.__setattr__(self, "name", name)

    def text(self, value: Any, version: int) -> str:
        """Returns the message's JSON, or base64 if the bytes cannot be decoded."""
        try:
            values, embedded_version = decode_embedded(value, self.name)
        except CorruptBytes:
            return super().text(value, version)
        return EMBEDDED[self.name].text(values, embedded_version)


def decode_embedded(data: bytes, name: str) -> tuple[Values, int]:
    """Decodes a group member's "subscription" or "assignment"; returns values and version.

    Raises KafkaParseError if the bytes are not such a message.
    """
    version, position = message.read(message.schema("version i16"), data, flexible=False)
    values, _ = message.read(
        EMBEDDED[name],
        data,
        version["version"],
        flexible=False,
        position=position,
        newest_version=EMBEDDED_VERSION,
    )
    return values, version["version"]


def _replace_embedded(structure: Structure) -> Structure:
    fields = []
    for field in structure.fields:
        type_ = field.type
        if field.name in EMBEDDED:
            type_ = _EmbeddedMessage(field.name)
        elif isinstance(type_, message.Array) and isinstance(type_.item, Structure):
            type_ = message.Array(_replace_embedded(type_.item), type_.nullable)
        fields.append(replace(field, type=type_))
    return replace(structure, fields=tuple(fields))


_GROUP_METADATA_VALUE = _replace_embedded(OFFSETS[GROUP_METADATA].value)


def _skip(
    offset: int, problem: str, type_: CoordinatorRecordType | None = None, key: Values | None = None
) -> CoordinatorRecord:
    """Returns the CoordinatorRecord for an unreadable record; `key_text` is the error."""
    text = f"Error at offset {offset}, skipping. {problem}"
    return CoordinatorRecord(key_text=text, type=type_, key=key, problem=problem)


def _read_error_text(version: int, part: str, fault: KafkaParseError) -> str:
    text = "null" if fault.java_message is None else fault.java_message
    return f"Could not read record with version {version} from {part}'s buffer due to: {text}."


def _i16(data: bytes) -> int:
    return int.from_bytes(data[:VERSION_BYTES], "big", signed=True)
