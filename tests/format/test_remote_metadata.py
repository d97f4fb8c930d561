"""Records of tiered storage, compared with lines that kafka-dump-log of Kafka 4.3.1 printed."""

import pytest

from kafkaviz.format import remote_metadata
from tests.format.bodies import from_hex

ID = "07 6f7264657273 U 00000003 00"
SEGMENT_NAME = "AAAAAAAAQACAAAAAAAAAAQ:orders-3"
SEGMENT_ID = f"RemoteLogSegmentId{{topicIdPartition={SEGMENT_NAME}, id=tpx8pd1IQDqJwMfGzXj6GA}}"
SEGMENT = (
    f"01 00 00 {ID} D 00 0000000000000000 0000000000000063 00000001 0000018bcfe56800 "
    "0000018bcfe56be8 03 00000000 0000000000000000 00 00000002 0000000000000032 00 00100000 03 "
    "0102 01 01 00 01 01"
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            SEGMENT,
            f"RemoteLogSegmentMetadata{{remoteLogSegmentId={SEGMENT_ID}, startOffset=0, endOffset=99, brokerId=1, "
            "maxTimestampMs=1700000000000, eventTimestampMs=1700000001000, segmentLeaderEpochs={0=0, 2=50}, segmentSizeInBytes=1048576, "
            "customMetadata=Optional[CustomMetadata{2 bytes}], state=COPY_SEGMENT_FINISHED, txnIdxEmpty=true}",
        ),
        (
            f"01 01 00 {ID} D 00 00000001 0000018bcfe56fd0 00 01 00",
            f"RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={SEGMENT_ID}, customMetadata=Optional.empty, state=COPY_SEGMENT_FINISHED, "
            "eventTimestampMs=1700000002000, brokerId=1}",
        ),
        (
            f"01 02 00 {ID} 00000001 0000018bcfe573b8 00 00",
            f"RemotePartitionDeleteMetadata{{topicPartition={SEGMENT_NAME}, state=DELETE_PARTITION_MARKED, eventTimestampMs=1700000003000, "
            "brokerId=1}",
        ),
        (None, f"Error at offset 5, skipping. {remote_metadata.NO_VALUE}"),
        (f"01 02 00 {ID} 00000001 0000018bcfe573b8 03 00", "Error at offset 5, skipping. null"),
    ],
)
def test_a_record(value, text):
    """Java's toString of each, or its output for one that cannot be read."""
    assert (
        remote_metadata.dump_text(None if value is None else from_hex(value), 5)
        == f"payload: {text}"
    )
