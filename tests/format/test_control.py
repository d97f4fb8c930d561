"""Control records, held to lines that kafka-dump-log of Kafka 4.3.1 printed."""

import pytest

from kafkaviz.format import control
from kafkaviz.format.control import ControlType
from kafkaviz.format.message import KafkaParseError
from tests.format.bodies import from_hex
from tests.support.batch_reading import all_records

VOTERS = (
    "KRaftVoters "
    '{"version":0,"voters":[{"voterId":1,"voterDirectoryId":"tpx8pd1IQDqJwMfGzXj6GA","endpoints":[{"name":"CONTROLLER","host":"localhost","port":9093}],"kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]}'
)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("0000 0001", "0000 00000009", "endTxnMarker: COMMIT coordinatorEpoch: 9"),
        ("0005 0000 ff", "0007 ffffffff 00", "endTxnMarker: ABORT coordinatorEpoch: -1"),
        (
            "0000 0002",
            "0000 00000001 02 00000001 00 02 00000001 00 00",
            (
                "LeaderChange: "
                '{"version":0,"leaderId":1,"voters":[{"voterId":1}],"grantingVoters":[{"voterId":1}]}'
            ),
        ),
        (
            "0000 0003",
            "0000 0000018bcfe56800 00",
            'SnapshotHeader {"version":0,"lastContainedLogTimestamp":1700000000000}',
        ),
        ("0000 0004", "0000 00", 'SnapshotFooter {"version":0}'),
        ("0000 0005", "0000 0001 00", 'KRaftVersion {"version":0,"kRaftVersion":1}'),
        (
            "0000 0006",
            (
                "0000 02 00000001 D 02 0b434f4e54524f4c4c4552 0a6c6f63616c686f7374 2385 00 0000 "
                "0001 00 00 00"
            ),
            VOTERS,
        ),
        ("0000 0063", "", "controlType: UNKNOWN(99)"),
    ],
)
def test_a_control_record(key, value, text):
    assert control.dump_text(from_hex(key), from_hex(value)) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "3a 00 00 00 08 00000002 26 0000 00000001 02 00000001 00 02 00000001 00 00 00",
            "LeaderChange: ",
        ),
        ("2a 00 00 00 08 00000003 16 0000 0000018bcfe56800 00 00", "SnapshotHeader "),
        ("1e 00 00 00 08 00000005 0a 0000 0001 00 00", "KRaftVersion "),
        ("1a 00 00 00 08 00000004 06 0000 00 00", "SnapshotFooter "),
    ],
)
def test_a_complete_record(body, text):
    (control_record,) = all_records(from_hex(body), 0, 1)
    assert control.dump_text(control_record.key, control_record.value).startswith(text)


@pytest.mark.parametrize(
    ("key", "value", "java"),
    [
        (
            "0000 00",
            "",
            "org.apache.kafka.common.InvalidRecordException: Invalid value size found "
            "for control record key. Must have at least 4 bytes, but found only 3",
        ),
        (
            "ffff 0001",
            "",
            "org.apache.kafka.common.InvalidRecordException: Invalid version found "
            "for control record: -1. May indicate data corruption",
        ),
        (
            "0000 0001",
            "ffff 00000000",
            "org.apache.kafka.common.InvalidRecordException: Invalid "
            "version found for end transaction marker: -1. May indicate data corruption",
        ),
        ("0000 0001", "0000 0000", "java.nio.BufferUnderflowException"),
        (
            "0000 0002",
            "0000 00000001 05",
            "java.lang.RuntimeException: Tried to allocate a "
            "collection of size 4, but there are only 0 bytes remaining.",
        ),
    ],
)
def test_a_malformed_one_ends_the_run(key, value, java):
    with pytest.raises(KafkaParseError) as ended:
        control.dump_text(from_hex(key), from_hex(value))
    assert ended.value.java_text == java


def test_values_come_as_python():
    decoded = control.decode(from_hex("0000 0001"), from_hex("0000 00000009"))
    assert (decoded.type, decoded.name, decoded.values["coordinatorEpoch"]) == (
        ControlType.COMMIT,
        "COMMIT",
        9,
    )
    assert control.decode(from_hex("0000 0063"), b"").values == {}
