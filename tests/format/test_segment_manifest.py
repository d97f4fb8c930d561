"""The manifest of a remote segment, and the names of its files."""

import base64
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes, NotRead
from kafkaviz.format import remote_segment
from kafkaviz.format.remote_segment import (
    RemoteSegmentName,
    TopicIdPartition,
    parse_partition_folder,
    parse_partition_number,
    parse_segment_file,
    parse_topic_folder,
)
from tests.format.manifests import FIXED, ID
from tests.support.tiered_storage import encode_sizes


def packed_sizes(sizes: list[int], above: int = 0) -> str:
    data = bytearray(encode_sizes(np.array(sizes, np.int64)))
    data[4:8] = (int.from_bytes(data[4:8], "big") + above).to_bytes(4, "big")
    return base64.b64encode(codec.compress("zstd", bytes(data))).decode()


def parse(**changed: object) -> remote_segment.SegmentManifest:
    return remote_segment.parse_manifest(json.dumps(FIXED | changed).encode())


def segment_metadata(topic: str, partition: int, topic_id: str, offset: int = 0) -> dict:
    named = {"topicId": topic_id, "topicPartition": {"topic": topic, "partition": partition}}
    return {
        "remoteLogSegmentId": {"topicIdPartition": named},
        "startOffset": offset,
        "endOffset": offset + 1,
        "maxTimestampMs": 1,
        "segmentLeaderEpochs": {"0": 0},
    }


def test_sizes_in_binary_are_as_documented():
    """ChunkSizesBinaryCodec of Aiven's plugin 1.1.1: count, base, width, values, the last in full."""
    data = bytes.fromhex("00000004 000003e8 02 0000 000a 012c 00000007")
    assert remote_segment.decode_sizes(data).tolist() == [1000, 1010, 1300, 7]
    assert encode_sizes(np.array([1000, 1010, 1300, 7])) == data
    assert encode_sizes(np.array([5])) == bytes.fromhex("00000001 00000005")
    assert encode_sizes(np.array([], np.int64)) == bytes(4)


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40))
def test_sizes_come_back(sizes):
    data = encode_sizes(np.array(sizes, np.int64))
    assert remote_segment.decode_sizes(data).tolist() == sizes


def test_chunks_of_fixed_size():
    """As the plugin describes them: 250 bytes in chunks of 100, stored in 110, 110 and 60."""
    manifest = parse()
    assert manifest.chunks.tolist() == [(0, 100, 0, 110), (100, 100, 110, 110), (200, 50, 220, 60)]
    assert manifest.indexes["leader_epoch_checkpoint"] == (30, 5)
    assert "txnindex" not in manifest.indexes
    assert not manifest.is_encrypted and manifest.metadata is None


@pytest.mark.parametrize(
    "change",
    [
        {"version": "2"},
        {"chunkIndex": FIXED["chunkIndex"] | {"originalChunkSize": 0}},
        {"chunkIndex": FIXED["chunkIndex"] | {"originalFileSize": 2**40}},
        {"chunkIndex": FIXED["chunkIndex"] | {"type": "other"}},
        {"chunkIndex": FIXED["chunkIndex"] | {"transformedChunkSize": -1}},
        {"chunkIndex": FIXED["chunkIndex"] | {"type": "variable", "transformedChunks": "!"}},
        {"segmentIndexes": {"offset": {"position": -1, "size": 8}}},
        {"segmentIndexes": 3},
        {"remoteLogSegmentMetadata": {}},
    ],
)
def test_a_broken_manifest_is_refused(change):
    with pytest.raises(CorruptBytes):
        parse(**change)


@given(st.binary(max_size=40))
@example(bytes.fromhex("00000001 ffffffff"))
@example(bytes.fromhex("00000002 ffffffff 01 00 00000007"))
def test_broken_sizes_are_refused(data):
    try:
        sizes = remote_segment.decode_sizes(data)
    except remote_segment.MALFORMED:
        return
    assert len(sizes) == int.from_bytes(data[:4], "big")
    assert (sizes >= 0).all()


def test_names_of_both_layouts():
    """A topic may hold dashes and dots; an id may hold dashes and underscores."""
    assert parse_partition_folder(f"a-1.b-7-{ID}") == TopicIdPartition("a-1.b", 7, ID)
    assert parse_topic_folder(f"a-1.b-{ID}") == ("a-1.b", ID)
    assert parse_partition_number("12") == 12
    assert parse_segment_file(f"{20:020}-{ID}.rsm-manifest") == RemoteSegmentName(
        20, ID, "rsm-manifest"
    )
    assert parse_segment_file(f"{20:020}-{ID}.leader_epoch_checkpoint")


@pytest.mark.parametrize("name", ["orders-0", f"-{ID}", f"t-{2**40}-{ID}", "1_0", "-1", "x" * 22])
def test_other_names_are_not_accepted(name):
    assert parse_partition_folder(name) is None
    assert parse_segment_file(f"{name}.log") is None
    assert parse_partition_number(name) is None


@pytest.mark.parametrize(
    "sizes",
    [
        {"transformedChunkSize": 0},
        {"finalTransformedChunkSize": 0},
        {"transformedChunkSize": -1},
        {"transformedChunkSize": 2**31},
        {"transformedChunkSize": 2**64 + 1},
        {"type": "variable", "transformedChunks": packed_sizes([5, 2**31 - 1, 5], above=1)},
        {"type": "variable", "transformedChunks": packed_sizes([1, 0, 1])},
        {"originalChunkSize": 0.5},
        {"originalFileSize": float("inf")},
    ],
)
def test_chunk_sizes_that_java_would_wrap_are_refused(sizes):
    with pytest.raises(CorruptBytes):
        parse(chunkIndex=FIXED["chunkIndex"] | sizes)


def test_more_chunks_than_are_read():
    """Ten million chunks in some hundred bytes: none of them is created."""
    many = {"originalChunkSize": 1, "originalFileSize": remote_segment.MAX_CHUNKS + 1}
    with pytest.raises(NotRead, match="more than the 100000 that are read"):
        parse(chunkIndex=FIXED["chunkIndex"] | many)


@pytest.mark.parametrize(
    "name",
    [
        ("a\0b", 0, ID),
        ("\ud800", 0, ID),
        ("../../a", 0, ID),
        ("", 0, ID),
        ("é", 0, ID),
        ("a" * 250, 0, ID),
        ("a", -1, ID),
        ("a", 2**31, ID),
        ("a", 0, "../x"),
        ("a", 0, "\ud800" * 22),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(CorruptBytes) as raised:
        parse(remoteLogSegmentMetadata=segment_metadata(*name))
    assert str(raised.value).encode()


def test_a_partition_has_the_name_of_its_directory():
    manifest = parse(remoteLogSegmentMetadata=segment_metadata("a.b-c_d", 7, ID))
    assert manifest.metadata.partition.directory == "a.b-c_d-7"


@pytest.mark.parametrize(
    "fields",
    [{"version": "\ud800" * 10_000}, {"chunkIndex": {"type": "\ud800", "originalFileSize": 1}}],
)
def test_what_is_quoted_of_a_manifest_can_be_printed(fields):
    with pytest.raises(CorruptBytes) as raised:
        parse(**fields)
    assert 0 < len(str(raised.value).encode()) < 500


def test_numbers_that_no_long_holds_are_refused():
    """Offsets of a segment are compared with those of arrays."""
    with pytest.raises(CorruptBytes, match="no long holds"):
        parse(remoteLogSegmentMetadata=segment_metadata("a", 0, ID, offset=10**30))
