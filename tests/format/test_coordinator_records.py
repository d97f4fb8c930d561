"""Keys and values of the coordinators' topics, compared with kafka-dump-log 4.3.1."""

import pytest

from kafkaviz.format import coordinator_records
from kafkaviz.format.message import KafkaParseError
from tests.format.bodies import from_hex

COMMIT_KEY = "0001 0002 6731 0006 6f7264657273 00000003"
GROUP = (
    "0003 0008 {protocol} 00000004 0005 72616e6765 0003 632d31 0000018bcfe56800 00000001 | 0003 "
    "632d31 0002 6931 0001 63 000a 2f3132372e302e302e31 000493e0 0000afc8 00000030 [0003 00000001 "
    "0006 6f7264657273 ffffffff 00000001 0006 6f7264657273 00000002 00000000 00000001 00000004 "
    "ffff] 0000001e [0003 00000001 0006 6f7264657273 00000002 00000000 00000001 ffffffff]"
)
MEMBER_TEXT = (
    '{"memberId":"c-1","groupInstanceId":"i1","clientId":"c","clientHost":"/127.0.0.1","rebalanceTimeout":300000,'
    '"sessionTimeout":45000,"subscription":{"topics":["orders"],"userData":null,"ownedPartitions":[{"topic":"orders",'
    '"partitions":[0,1]}],"generationId":4,"rackId":null},"assignment":{"assignedPartitions":[{"topic":"orders",'
    '"partitions":[0,1]}],"userData":null}}'
)


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        (
            "0000 000000000000002a 0000 0000018bcfe56800",
            '{"version":"0","data":{"offset":42,"metadata":"","commitTimestamp":1700000000000}}',
        ),
        (
            "0001 000000000000002a 00016d 0000018bcfe56800 0000018bcfe6eab8",
            '{"version":"1","data":{"offset":42,"metadata":"m","commitTimestamp":1700000000000,"expireTimestamp":1700000099000}}',
        ),
        (
            "0003 000000000000002a 00000005 0000 0000018bcfe56800",
            '{"version":"3","data":{"offset":42,"leaderEpoch":5,"metadata":"","commitTimestamp":1700000000000}}',
        ),
        (
            "0004 000000000000002a 00000005 01 0000018bcfe56800 00",
            '{"version":"4","data":{"offset":42,"leaderEpoch":5,"metadata":"","commitTimestamp":1700000000000}}',
        ),
        (
            "0004 000000000000002a ffffffff 0b6122625c63c3a90a012f 0000018bcfe56800 01 00 10 U",
            '{"version":"4","data":{"offset":42,"leaderEpoch":-1,"metadata":"a\\"b\\\\cé\\n\\u0001/","commitTimestamp":1700000000000,'
            '"topicId":"AAAAAAAAQACAAAAAAAAAAQ"}}',
        ),
    ],
)
def test_an_offset_commit(value, payload):
    """Versions 0 to 4. The tag is left out at its default."""
    line = coordinator_records.dump_text(from_hex(COMMIT_KEY), from_hex(value), 0, "offsets")
    assert line == (
        f'key: {{"type":"1","data":{{"group":"g1","topic":"orders","partition":3}}}} payload: '
        f"{payload}"
    )


def test_a_group_of_consumers_shows_what_its_members_asked_for_and_got():
    """The embedded subscription and assignment are decoded for the protocol type consumer only."""
    line = coordinator_records.dump_text(
        from_hex("0002 00026731"), from_hex(GROUP.format(protocol=b"consumer".hex())), 0, "offsets"
    )
    assert line == (
        'key: {"type":"2","data":{"group":"g1"}} payload: {"version":"3","data":{"protocolType":"consumer","generation":4,'
        f'"protocol":"range","leader":"c-1","currentStateTimestamp":1700000000000,"members":[{MEMBER_TEXT}]}}}}'
    )
    other = coordinator_records.dump_text(
        from_hex("0002 00026731"), from_hex(GROUP.format(protocol=b"connects".hex())), 0, "offsets"
    )
    assert (
        '"subscription":"AAMAAAABAAZvcmRlcnP/////' in other
        and '"assignment":"AAMAAAABAAZvcmRlcnMAAAACAAAAAAAAAAH/////"' in other
    )


def test_values_come_as_python():
    """The embedded bytes stay bytes; embedded() reads them."""
    decoded = coordinator_records.decode(
        from_hex("0002 00026731"), from_hex(GROUP.format(protocol=b"consumer".hex())), 0, "offsets"
    )
    member = decoded.value["members"][0]
    assert (decoded.key, decoded.version, decoded.type.name) == (
        {"group": "g1"},
        3,
        "GroupMetadata",
    )
    subscription, version = coordinator_records.decode_embedded(
        member["subscription"], "subscription"
    )
    assert (version, subscription["topics"], subscription["generationId"]) == (3, ["orders"], 4)


SHARE_KEY = "0000 00027331 U 00000000"


@pytest.mark.parametrize(
    ("decoder", "key", "value", "payload"),
    [
        (
            "offsets",
            "0003 00026731",
            "0000 00000007 01 00 08 fffffffffffffffb",
            '{"version":"0","data":{"epoch":7,"metadataHash":-5}}',
        ),
        (
            "offsets",
            "0005 00026731 00016d",
            (
                "0000 00 0272 0263 032f68 03 0261 0262 01 000493e0 00 01 00 13 01 0000afc8 02 "
                "0672616e6765 0501020304 00 00"
            ),
            '{"version":"0","data":{"instanceId":null,"rackId":"r","clientId":"c","clientHost":"/h","subscribedTopicNames":["a","b"],'
            '"subscribedTopicRegex":"","rebalanceTimeoutMs":300000,"serverAssignor":null,"classicMemberMetadata":{"sessionTimeoutMs":45000,'
            '"supportedProtocols":[{"name":"range","metadata":"AQIDBA=="}]}}}',
        ),
        (
            "offsets",
            "0005 00026731 00016d",
            "0000 00 00 0263 032f68 01 01 000493e0 00 01 00 01 00",
            '{"version":"0","data":{"instanceId":null,"rackId":null,"clientId":"c","clientHost":"/h","subscribedTopicNames":[],'
            '"subscribedTopicRegex":"","rebalanceTimeoutMs":300000,"serverAssignor":null,"classicMemberMetadata":null}}',
        ),
        (
            "offsets",
            "0008 00026731 00016d",
            (
                "0000 00000007 00000006 00 03 U 03 00000000 00000001 01 00 09 03 00000007 00000007 "
                "U 02 00000002 00 01 00"
            ),
            '{"version":"0","data":{"memberEpoch":7,"previousMemberEpoch":6,"state":0,"assignedPartitions":[{"topicId":'
            '"AAAAAAAAQACAAAAAAAAAAQ","partitions":[0,1],"assignmentEpochs":[7,7]},{"topicId":"AAAAAAAAQACAAAAAAAAAAQ","partitions":[2]}],'
            '"partitionsPendingRevocation":[]}}',
        ),
        (
            "transactions",
            "0000 0004 74782d31",
            "0000 00000000000003e8 0002 0000ea60 00 ffffffff 0000018bcfe56800 ffffffffffffffff",
            '{"version":"0","data":{"producerId":1000,"producerEpoch":2,"transactionTimeoutMs":60000,"transactionStatus":0,'
            '"transactionPartitions":null,"transactionLastUpdateTimestampMs":1700000000000,"transactionStartTimestampMs":-1}}',
        ),
        (
            "transactions",
            "0000 0004 74782d31",
            "0001 00000000000003e8 0002 0000ea60 01 02 076f7264657273 03 00000000 00000003 00 "
            "0000018bcfe56800 0000018bcfe56800 02 00 08 0000000000000384 02 02 0002",
            '{"version":"1","data":{"producerId":1000,"previousProducerId":900,"producerEpoch":2,"transactionTimeoutMs":60000,'
            '"transactionStatus":1,"transactionPartitions":[{"topic":"orders","partitionIds":[0,3]}],'
            '"transactionLastUpdateTimestampMs":1700000000000,"transactionStartTimestampMs":1700000000000,"clientTransactionVersion":2}}',
        ),
        (
            "share",
            SHARE_KEY,
            "0000 00000001 00000002 00000003 0000000000000004 0000000000000006 0000000000000007 02 "
            "0000000000000004 0000000000000005 02 0001 00 01 00 04 00000005",
            '{"version":"0","data":{"snapshotEpoch":1,"stateEpoch":2,"leaderEpoch":3,"startOffset":4,"deliveryCompleteCount":5,'
            '"createTimestamp":6,"writeTimestamp":7,"stateBatches":[{"firstOffset":4,"lastOffset":5,"deliveryState":2,"deliveryCount":1}]}}',
        ),
    ],
)
def test_a_payload(decoder, key, value, payload):
    assert (
        coordinator_records.decode(from_hex(key), from_hex(value), 0, decoder).payload_text
        == payload
    )


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("0009 0000", "0000", "Unknown record type 9 at offset 5, skipping."),
        ("00", None, "Error at offset 5, skipping. Could not read version from key's buffer."),
        (
            COMMIT_KEY,
            "00",
            "Error at offset 5, skipping. Could not read version from value's buffer.",
        ),
        (
            COMMIT_KEY,
            "0005",
            "Error at offset 5, skipping. Found an unknown record version 5 for 1 type",
        ),
        (
            "0001 0002 67",
            "0000",
            "Error at offset 5, skipping. Could not read record with version "
            "1 from key's buffer due to: Error reading byte array of 2 byte(s): only 1 byte(s) "
            "available.",
        ),
        (
            COMMIT_KEY,
            "0000 00",
            (
                "Error at offset 5, skipping. Could not read record with version 0 from value's "
                "buffer due to: null."
            ),
        ),
        (
            COMMIT_KEY,
            "0000 000000000000002a ffff",
            "Error at offset 5, skipping. Could not read "
            "record with version 0 from value's buffer due to: non-nullable field metadata was "
            "serialized as null.",
        ),
        (
            "0002 00026731",
            "0000 0000 00000000 ffff ffff 7fffffff",
            "Error at offset 5, skipping. "
            "Could not read record with version 0 from value's buffer due to: Tried to allocate a "
            "collection of size 2147483647, but there are only 0 bytes remaining..",
        ),
    ],
)
def test_what_cannot_be_read_says_so_in_place_of_the_key(key, value, text):
    decoded = coordinator_records.decode(
        from_hex(key), None if value is None else from_hex(value), 5, "offsets"
    )
    assert (decoded.text, decoded.payload_text) == (f"key: {text}", None)
    assert decoded.problem in text


def test_a_tombstone_deletes():
    decoded = coordinator_records.decode(from_hex("0003 00026731"), None, 0, "offsets")
    assert (decoded.is_tombstone, decoded.text) == (
        True,
        'key: {"type":"3","data":{"groupId":"g1"}} payload: <DELETE>',
    )


def test_a_record_without_a_key_ends_the_run():
    with pytest.raises(KafkaParseError) as ended:
        coordinator_records.decode(None, b"\0\0", 7, "share")
    assert ended.value.java_text == (
        "java.lang.RuntimeException: Failed to decode message at offset 7 using the specified "
        "decoder (message had a missing key)"
    )


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("0000 0000000c 000000003ade68b1 00", ""),
        ("0000 0000000c 000000003ade68b1 01 02 04 00000004", ',"storedDescriptionTopologyEpoch":4'),
        (
            "0000 0000000c 000000003ade68b1 02 02 04 fffffffe 03 04 00000003",
            ',"storedDescriptionTopologyEpoch":-2,"failedDescriptionTopologyEpoch":3',
        ),
        (
            "0000 0000000c 000000003ade68b1 04 00 04 00000005 01 19 "
            "02156e756d2e7374616e6462792e7265706c69636173 0231 00 02 04 00000007 03 04 00000007",
            ',"validatedTopologyEpoch":5,"lastAssignmentConfigs":[{"key":"num.standby.replicas","value":"1"}],'
            '"storedDescriptionTopologyEpoch":7,"failedDescriptionTopologyEpoch":7',
        ),
        ("0000 0000000c 000000003ade68b1 01 03 04 00000000", ',"failedDescriptionTopologyEpoch":0'),
    ],
)
def test_the_metadata_of_a_streams_group(value, data):
    """Kafka 4.4.0 wrote and printed its tagged fields; the last two are new there."""
    key = from_hex("0011 0002 6731")
    text = coordinator_records.dump_text(key, from_hex(value), 0, "offsets")
    assert text.endswith(
        f'payload: {{"version":"0","data":{{"epoch":12,"metadataHash":987654321{data}}}}}'
    )
