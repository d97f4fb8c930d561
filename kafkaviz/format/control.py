"""Control records: transaction markers, and KRaft records such as a change of leader.

A key is an i16 version (0) and an i16 type. The type decides the fields of the value. A commit and
a change of leader, each with the output of kafka-dump-log 4.3.1:

    0000 0001 | 0000 00000009
        endTxnMarker: COMMIT coordinatorEpoch: 9
    0000 0002 | 0000 00000001 02 00000001 00 02 ... 00 00
        LeaderChange: {"version":0,"leaderId":1,"voters":[...],...}

Follows ControlRecordType, EndTransactionMarker, ControlRecordUtils and DumpLogSegments, 4.3.1.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from kafkaviz.format import message
from kafkaviz.format.java import INVALID_RECORD
from kafkaviz.format.message import Structure, Values

KEY_BYTES = 4
_NO_VALUE = {  # Kafka's error for a null value, by whether the type has the flexible form
    False: 'Cannot invoke "java.nio.ByteBuffer.getShort()" because "value" is null',
    True: 'Cannot invoke "java.nio.ByteBuffer.slice()" because "data" is null',
}
NULL_POINTER = "java.lang.NullPointerException"


class ControlType(IntEnum):
    """The types of control records (Kafka's ControlRecordType)."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


@dataclass(frozen=True)
class ControlRecordSchema:
    """The fields of a control record's value, for one type."""

    label: str  # the text before the value in kafka-dump-log, such as "LeaderChange"
    body: Structure
    is_flexible: bool = True


@dataclass(frozen=True)
class ControlRecord:
    """A control record. `values` is empty for an unknown type."""

    number: int
    type: ControlType | None
    values: Values

    @property
    def name(self) -> str:
        """Kafka's name of the type, such as COMMIT or UNKNOWN(99)."""
        return self.type.name if self.type is not None else f"UNKNOWN({self.number})"

    @property
    def text(self) -> str:
        """The text that kafka-dump-log prints after the record's metadata."""
        if self.type is None:
            return f"controlType: {self.name}"
        schema = RECORD_TYPES[self.type]
        if not schema.is_flexible:
            return f"{schema.label} {self.name} coordinatorEpoch: {self.values['coordinatorEpoch']}"
        return f"{schema.label} {schema.body.text(self.values, self.values['version'])}"


_VOTERS = "[{voterId i32, voterDirectoryId uuid v1+}]"
_MARKER = ControlRecordSchema(
    "endTxnMarker:", message.schema("version i16, coordinatorEpoch i32"), is_flexible=False
)
RECORD_TYPES: dict[ControlType, ControlRecordSchema] = {
    ControlType.ABORT: _MARKER,
    ControlType.COMMIT: _MARKER,
    ControlType.LEADER_CHANGE: ControlRecordSchema(
        "LeaderChange:",
        message.schema(f"version i16, leaderId i32, voters {_VOTERS}, grantingVoters {_VOTERS}"),
    ),
    ControlType.SNAPSHOT_HEADER: ControlRecordSchema(
        "SnapshotHeader", message.schema("version i16, lastContainedLogTimestamp i64")
    ),
    ControlType.SNAPSHOT_FOOTER: ControlRecordSchema(
        "SnapshotFooter", message.schema("version i16")
    ),
    ControlType.KRAFT_VERSION: ControlRecordSchema(
        "KRaftVersion", message.schema("version i16, kRaftVersion i16")
    ),
    ControlType.KRAFT_VOTERS: ControlRecordSchema(
        "KRaftVoters",
        message.schema(
            "version i16, voters [{voterId i32, voterDirectoryId uuid, endpoints [{name str, host "
            "str, port u16}], kRaftVersionFeature {minSupportedVersion i16, maxSupportedVersion "
            "i16}}]"
        ),
    ),
}


def decode(key: bytes | None, value: bytes | None) -> ControlRecord:
    """Decodes a control record.

    Like Kafka, reads a value of types 2 to 6 with the fields of version 0. The version in the value
    only decides which of these fields are printed.

    Raises:
        KafkaParseError: Kafka cannot read the record. kafka-dump-log stops there with this error.
    """
    number = _type(key)
    if number not in RECORD_TYPES:
        return ControlRecord(number, None, {})
    type_ = ControlType(number)
    schema = RECORD_TYPES[type_]
    if value is None:
        raise message.kafka_error(0, _NO_VALUE[schema.is_flexible], NULL_POINTER)
    values = message.read(schema.body, value)[0] if schema.is_flexible else _marker(value)
    return ControlRecord(number, type_, values)


def dump_text(key: bytes | None, value: bytes | None) -> str:
    """Returns the text that kafka-dump-log prints for a control record after its metadata.

    Raises KafkaParseError if kafka-dump-log stops at the record with an error.
    """
    return decode(key, value).text


def _type(key: bytes | None) -> int:
    """Returns the type in a key. Raises KafkaParseError if Kafka refuses the key."""
    if key is None:
        text = 'Cannot invoke "java.nio.ByteBuffer.duplicate()" because "key" is null'
        raise message.kafka_error(0, text, NULL_POINTER)
    if len(key) < KEY_BYTES:
        text = (
            f"Invalid value size found for control record key. Must have at least {KEY_BYTES} "
            f"bytes, but found only {len(key)}"
        )
        raise message.kafka_error(0, text, INVALID_RECORD)
    version, number = struct.unpack_from(">hh", key)
    if version < 0:
        text = f"Invalid version found for control record: {version}. May indicate data corruption"
        raise message.kafka_error(0, text, INVALID_RECORD)
    return number


def _marker(value: bytes) -> Values:
    """Returns the fields of a transaction marker. Like Kafka, reads a version above 0 as 0."""
    values, _ = message.read(message.schema("version i16"), value, flexible=False)
    if values["version"] < 0:
        text = (
            f"Invalid version found for end transaction marker: {values['version']}. May indicate "
            "data corruption"
        )
        raise message.kafka_error(0, text, INVALID_RECORD)
    return message.read(_MARKER.body, value, flexible=False)[0]
