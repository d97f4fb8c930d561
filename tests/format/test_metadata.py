"""Records of the metadata log, compared with lines that kafka-dump-log of Kafka 4.3.1 printed."""

import pytest

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import metadata
from kafkaviz.format.metadata import FeatureLevel
from tests.format.bodies import from_hex

ID, DIRECTORY = "AAAAAAAAQACAAAAAAAAAAQ", "tpx8pd1IQDqJwMfGzXj6GA"
FEATURE = "01 0c 00 11 6d657461646174612e76657273696f6e 001d 00"
PARTITION = f'"partitionId":0,"topicId":"{ID}"'


@pytest.mark.parametrize(
    ("value", "name", "version", "data"),
    [
        (FEATURE, "FEATURE_LEVEL_RECORD", 0, '"name":"metadata.version","featureLevel":29'),
        ("01 02 00 07 6f7264657273 U 00", "TOPIC_RECORD", 0, f'"name":"orders","topicId":"{ID}"'),
        (
            "01 03 01 00000000 U 02 00000001 02 00000001 01 01 00000001 00000000 00000000 02 D 00",
            "PARTITION_RECORD",
            1,
            f'{PARTITION},"replicas":[1],"isr":[1],"removingReplicas":[],"addingReplicas":[],"leader":1,"leaderEpoch":0,'
            f'"partitionEpoch":0,"directories":["{DIRECTORY}"]',
        ),
        (
            (
                "01 03 02 00000000 U 03 00000001 00000002 02 00000001 01 01 00000001 00000000 "
                "00000000 03 D U 02 00 01 01 01 05 02 00000002"
            ),
            "PARTITION_RECORD",
            2,
            f'{PARTITION},"replicas":[1,2],"isr":[1],"removingReplicas":[],"addingReplicas":[],"leader":1,"leaderRecoveryState":1,'
            f'"leaderEpoch":0,"partitionEpoch":0,"directories":["{DIRECTORY}","{ID}"],"eligibleLeaderReplicas":[2]',
        ),
        (
            "01 05 00 00000000 U 01 01 04 00000002",
            "PARTITION_CHANGE_RECORD",
            0,
            f'{PARTITION},"leader":2',
        ),
        (
            (
                "01 05 02 00000000 U 05 00 09 03 00000001 00000002 01 04 ffffffff 06 01 01 07 05 "
                "02 00000001 08 11 02 D"
            ),
            "PARTITION_CHANGE_RECORD",
            2,
            f'{PARTITION},"isr":[1,2],"leader":-1,"directories":["{DIRECTORY}"],"eligibleLeaderReplicas":[],"lastKnownElr":[1]',
        ),
        (
            "01 04 00 02 07 6f7264657273 0e 7365676d656e742e6279746573 08 31303438353736 00",
            "CONFIG_RECORD",
            0,
            '"resourceType":2,"resourceName":"orders","name":"segment.bytes","value":"1048576"',
        ),
        (
            "01 04 00 04 01 02 78 00 00",
            "CONFIG_RECORD",
            0,
            '"resourceType":4,"resourceName":"","name":"x","value":null',
        ),
        (
            "01 00 03 00000001 00 U 0000000000000008 02 0a504c41494e54455854 0a6c6f63616c686f7374 "
            "2384 0000 00 02 116d657461646174612e76657273696f6e 0007 001d 00 00 01 00 01 00 11 02 "
            "D",
            "REGISTER_BROKER_RECORD",
            3,
            f'"brokerId":1,"isMigratingZkBroker":false,"incarnationId":"{ID}","brokerEpoch":8,"endPoints":[{{"name":"PLAINTEXT",'
            '"host":"localhost","port":9092,"securityProtocol":0}],"features":[{"name":"metadata.version","minSupportedVersion":7,'
            f'"maxSupportedVersion":29}}],"rack":null,"fenced":true,"inControlledShutdown":false,"logDirs":["{DIRECTORY}"]',
        ),
        (
            "01 11 01 00000001 0000000000000008 01 00 01 ff",
            "BROKER_REGISTRATION_CHANGE_RECORD",
            1,
            '"brokerId":1,"brokerEpoch":8,"fenced":-1',
        ),
        (
            "01 0f 00 00000001 0000000000000008 00000000000003e8 00",
            "PRODUCER_IDS_RECORD",
            0,
            '"brokerId":1,"brokerEpoch":8,"nextProducerId":1000',
        ),
        ("01 09 00 U 00", "REMOVE_TOPIC_RECORD", 0, f'"topicId":"{ID}"'),
        (
            "01 12 00 U 02 022a 03 0b557365723a616c696365 022a 03 03 00",
            "ACCESS_CONTROL_ENTRY_RECORD",
            0,
            f'"id":"{ID}","resourceType":2,"resourceName":"*","patternType":3,"principal":"User:alice","host":"*","operation":3,'
            '"permissionType":3',
        ),
        ("01 14 00 00", "NO_OP_RECORD", 0, ""),
        (
            "01 17 00 01 00 12 12426f6f747374726170207265636f726473",
            "BEGIN_TRANSACTION_RECORD",
            0,
            '"name":"Bootstrap records"',
        ),
        (
            (
                "01 0e 00 02 0575736572 00 00 1370726f64756365725f627974655f72617465 "
                "4130000000000000 00 00"
            ),
            "CLIENT_QUOTA_RECORD",
            0,
            '"entity":[{"entityType":"user","entityName":null}],"key":"producer_byte_rate","value":1048576.0,"remove":false',
        ),
        # of 4.4.0's classes
        ("01 1d 00 00000bb8 00", "UNREGISTER_CONTROLLER_RECORD", 0, '"controllerId":3000'),
        ("01 1d 00 7fffffff 00", "UNREGISTER_CONTROLLER_RECORD", 0, '"controllerId":2147483647'),
        (
            "01 0b 00 0275 01 04010203 05fffefdfc 01 00001000 00",
            "USER_SCRAM_CREDENTIAL_RECORD",
            0,
            '"name":"u","mechanism":1,"salt":"AQID","storedKey":"//79/A==","serverKey":"","iterations":4096',
        ),
    ],
)
def test_a_record(value, name, version, data):
    assert (
        metadata.dump_text(from_hex(value), 0)
        == f'payload: {{"type":"{name}","version":{version},"data":{{{data}}}}}'
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "Error while reading frame version"),
        ("01", "Error while reading type"),
        ("01 02", "Error while reading version"),
        (
            "00",
            "Could not deserialize metadata record with frame version 0. Note that upgrades "
            "from the preview release of KRaft in 2.8 to newer versions are not supported.",
        ),
        (
            "76 61",
            (
                "Could not deserialize metadata record due to unknown frame version 118(only frame "
                "version 1 is supported)"
            ),
        ),
        ("01 ffff07 00", "Value for type was too large."),
        (
            "01 63 00",
            "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 99",
        ),
        ("01 02 00 07", "Failed to deserialize record with type 2"),
        ("01 14 00 00 ff", "Found 1 byte(s) of garbage after 20"),
    ],
)
def test_what_cannot_be_read_says_so(value, words):
    assert metadata.dump_text(from_hex(value), 7) == f"payload: Error at 7, skipping. {words}"


def test_no_value_is_as_an_empty_one():
    assert (
        metadata.dump_text(None, 7)
        == "payload: Error at 7, skipping. Error while reading frame version"
    )


def test_a_feature_level_is_given_as_such():
    assert metadata.feature_level(from_hex(FEATURE)) == FeatureLevel("metadata.version", 29)
    assert metadata.feature_level(from_hex("01 09 00 U 00")) is None
    assert metadata.feature_level(from_hex(FEATURE)[:-3]) is None


# leader 2, replicas [5, 1]
CHANGED = "01 05 02 00000003 U 02 01 04 00000002 02 09 03 00000005 00000001"


@pytest.mark.parametrize(
    ("value", "replicas"),
    [
        (
            (
                "01 03 01 00000003 U 03 00000001 00000002 02 00000001 01 01 00000001 00000000 "
                "00000000 02 D 00"
            ),
            (1, 2),
        ),
        (CHANGED, (5, 1)),
        ("01 05 00 00000003 U 01 01 04 00000002", None),  # a leader alone
        ("01 05 02 00000003 U 01 06 01 01", None),  # an eligible leader's list alone
        ("01 05 02 00000003 U 00", None),
        ("01 02 00 07 6f7264657273 U 00", None),  # another record
    ],
)
def test_the_replicas_of_a_partition(value, replicas):
    """Reading the replicas alone gives what reading the whole record gives."""
    assignment = metadata.assignment(from_hex(value))
    assert assignment == (replicas and metadata.ReplicaAssignment(ID, 3, replicas))
    if replicas:
        values = metadata.decode(from_hex(value)).values
        assert (values["topicId"], values["partitionId"], tuple(values["replicas"])) == (
            ID,
            3,
            replicas,
        )


@pytest.mark.parametrize("cut", range(1, len(from_hex(CHANGED))))
def test_replicas_that_are_cut_off_are_a_fault(cut):
    with pytest.raises(CorruptBytes):
        metadata.assignment(from_hex(CHANGED)[:cut])
