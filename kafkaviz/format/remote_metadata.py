"""Records of __remote_log_metadata: the segments in tiered storage and their states.

A value is framed as in format/metadata.py, but kafka-dump-log prints the toString of Kafka's
classes instead of JSON. An example of type 2 from 4.3.1:

    01 02 00 | 07 6f7264657273 <16 bytes> 00000003 00 | 00000001 0000018bcfe573b8 00 00
    payload: RemotePartitionDeleteMetadata{topicPartition=AAAAAAAAQACAAAAAAAAAAQ:orders-3,
        state=DELETE_PARTITION_MARKED, ...}
"""

from collections.abc import Callable
from dataclasses import dataclass

from kafkaviz import messages
from kafkaviz.format import message, metadata
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.format.message import KafkaParseError, Values

SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
DELETE_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")
NO_VALUE = (
    'Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of '
    '"org.apache.kafka.common.record.internal.Record.value()" is null'
)


@dataclass(frozen=True)
class RemoteRecordType(metadata.MetadataRecordType):
    show: Callable[[Values], str]


@dataclass(frozen=True)
class RemoteRecord:
    type: RemoteRecordType
    version: int
    values: Values
    text: str


def decode(value: bytes | None) -> RemoteRecord:
    """Decodes the value of a record. Raises KafkaParseError with the message of kafka-dump-log."""
    if value is None:
        raise message.kafka_error(0, NO_VALUE, "java.lang.NullPointerException")
    type_, version, values = metadata.read_framed_record(value, RECORD_TYPES)
    return RemoteRecord(type_, version, values, type_.show(values))


def dump_text(value: bytes | None, offset: int) -> str:
    """Returns what kafka-dump-log prints after the record's metadata: "payload: ...".

    If the record cannot be read, the text describes the error.
    """
    try:
        return f"payload: {decode(value).text}"
    except KafkaParseError as fault:
        text = "null" if fault.java_message is None else fault.java_message
        return f"payload: Error at offset {offset}, skipping. {text}"


def _segment(values: Values) -> str:
    start_offset = values["startOffset"]
    end_offset = values["endOffset"]
    if start_offset < 0:
        raise _refusal(
            f"Unexpected start offset = {start_offset}. StartOffset for a remote segment cannot be "
            "negative"
        )
    if end_offset < start_offset:
        raise _refusal(
            f"Unexpected end offset = {end_offset}. EndOffset for a remote segment "
            f"cannot be less than startOffset = {start_offset}"
        )
    return (
        f"RemoteLogSegmentMetadata{{remoteLogSegmentId={_segment_id(values)}, "
        f"startOffset={start_offset}, endOffset={end_offset}, brokerId={values['brokerId']}, "
        f"maxTimestampMs={values['maxTimestampMs']}, "
        f"eventTimestampMs={values['eventTimestampMs']}, {_epochs_and_size(values)}, "
        f"state={_state(SEGMENT_STATES, values['remoteLogSegmentState'])}, "
        f"txnIdxEmpty={str(values['txnIndexEmpty']).lower()}}}"
    )


def _update(values: Values) -> str:
    return (
        f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={_segment_id(values)}, "
        f"customMetadata={_custom_metadata(values)}, state="
        f"{_state(SEGMENT_STATES, values['remoteLogSegmentState'])}, "
        f"eventTimestampMs={values['eventTimestampMs']}, brokerId={values['brokerId']}}}"
    )


def _delete(values: Values) -> str:
    return (
        f"RemotePartitionDeleteMetadata{{topicPartition="
        f"{_topic_partition(values['topicIdPartition'])}, "
        f"state={_state(DELETE_STATES, values['remotePartitionDeleteState'], java_message=None)}, "
        f"eventTimestampMs={values['eventTimestampMs']}, brokerId={values['brokerId']}}}"
    )


def _snapshot(values: Values) -> str:
    state = _state(SEGMENT_STATES, values["remoteLogSegmentState"])
    return (
        f"RemoteLogSegmentMetadataSnapshot{{segmentId={values['segmentId']}, "
        f"startOffset={values['startOffset']}, endOffset={values['endOffset']}, "
        f"maxTimestampMs={values['maxTimestampMs']}, {_epochs_and_size(values)}, state={state}, "
        f"txnIdxEmpty={str(values['txnIndexEmpty']).lower()}}}"
    )


def _epochs_and_size(values: Values) -> str:
    epochs = {entry["leaderEpoch"]: entry["offset"] for entry in values["segmentLeaderEpochs"]}
    if not epochs:
        raise _refusal("segmentLeaderEpochs can not be null or empty")
    pairs = ", ".join(f"{epoch}={offset}" for epoch, offset in sorted(epochs.items()))
    return (
        f"segmentLeaderEpochs={{{pairs}}}, segmentSizeInBytes={values['segmentSizeInBytes']}, "
        f"customMetadata={_custom_metadata(values)}"
    )


def _refusal(java_message: str) -> KafkaParseError:
    return message.kafka_error(0, java_message, ILLEGAL_ARGUMENT)


def _state(
    names: tuple[str, ...], number: int, java_message: str | None = "state can not be null"
) -> str:
    if 0 <= number < len(names):
        return names[number]
    raise KafkaParseError(
        0,
        messages.message("corrupt.no_state", number=number),
        "java.lang.NullPointerException",
        java_message,
    )


def _segment_id(values: Values) -> str:
    segment = values["remoteLogSegmentId"]
    return (
        f"RemoteLogSegmentId{{topicIdPartition={_topic_partition(segment['topicIdPartition'])}, "
        f"id={segment['id']}}}"
    )


def _topic_partition(values: Values) -> str:
    return f"{values['id']}:{values['name']}-{values['partition']}"


def _custom_metadata(values: Values) -> str:
    custom_metadata = values["customMetadata"]
    if custom_metadata is None:
        return "Optional.empty"
    return f"Optional[CustomMetadata{{{len(custom_metadata)} bytes}}]"


_PARTITION_ID = "topicIdPartition {name str, id uuid, partition i32}"
_SEGMENT_ID = f"remoteLogSegmentId {{{_PARTITION_ID}, id uuid}}"
_SEGMENT = (
    "startOffset i64, endOffset i64, brokerId i32, maxTimestampMs i64, eventTimestampMs i64, "
    "segmentLeaderEpochs [{leaderEpoch i32, offset i64}], segmentSizeInBytes i32, "
    "customMetadata bytes?, remoteLogSegmentState i8, #0 txnIndexEmpty bool =false"
)
RECORD_TYPES: dict[int, RemoteRecordType] = {
    number: RemoteRecordType(number, name, 0, message.schema(body), show)
    for number, name, show, body in (
        (0, "RemoteLogSegmentMetadataRecord", _segment, f"{_SEGMENT_ID}, {_SEGMENT}"),
        (1, "RemoteLogSegmentMetadataUpdateRecord", _update,
         f"{_SEGMENT_ID}, brokerId i32, eventTimestampMs i64, customMetadata bytes?, "
         "remoteLogSegmentState i8"),
        (2, "RemotePartitionDeleteMetadataRecord", _delete,
         f"{_PARTITION_ID}, brokerId i32, eventTimestampMs i64, remotePartitionDeleteState i8"),
        # 4.3.1 reads this type, but never writes it into the topic
        (3, "RemoteLogSegmentMetadataSnapshotRecord", _snapshot, f"segmentId uuid, {_SEGMENT}"),
    )
}  # fmt: skip
