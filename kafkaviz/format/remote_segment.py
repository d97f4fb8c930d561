"""The names of remote log segments, and Aiven's manifest of a segment (.rsm-manifest).

LocalTieredStorage of Kafka 3.6 to 4.3 has a folder per topic-partition and a file per index:

    orders-0-goH9ontlS-uQ6q8sq1Nrgg/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.timeindex
    topic, partition, topic id      start offset        , segment id

Aiven's plugin 1.1.1 (ObjectKeyFactory) stores all indexes in one object, under any prefix:

    kafka/orders-goH9ontlS-uQ6q8sq1Nrgg/0/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.rsm-manifest

The manifest says where the bytes of a segment are stored. SegmentManifestV1 writes it as JSON:

    {"version": "1",
     "chunkIndex": {"type": "variable", "originalChunkSize": 4194304, "originalFileSize": 6291456,
                    "transformedChunks": "KLUv/SAJRQ…"},
     "segmentIndexes": {"offset": {"position": 0, "size": 160}, "timestamp": {…},
                        "producerSnapshot": {…}, "leaderEpoch": {…}, "transaction": null},
     "compression": true, "remoteLogSegmentMetadata": {…}}

The .log is cut into chunks of originalChunkSize bytes; the last chunk may be shorter. Each chunk
may be compressed (as its own zstd frame) and encrypted, which changes its size:

    type "fixed"      each chunk has transformedChunkSize bytes, the last one
                      finalTransformedChunkSize: the chunks are unchanged, or only encrypted
    type "variable"   transformedChunks: their sizes in binary, zstd, base64

The binary form: the number of sizes; the smallest size, ignoring the last one; bytes per size; each
size except the last, minus the smallest; the last size in full. The sizes 1000, 1010, 1300 and 7:

    00000004 000003e8 02 0000 000a 012c 00000007

The object .indexes holds all indexes, uncompressed. If the manifest has "encryption", .log and
.indexes are encrypted, and only the broker can decrypt the key.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes, KafkavizError, NotRead
from kafkaviz.format.names import MAX_OFFSET, MAX_PARTITION
from kafkaviz.messages import message
from kafkaviz.units import excerpt

LOCAL_TIERED_STORAGE = "LocalTieredStorage"
AIVEN = "Aiven"
# the folder that LocalTieredStorage creates in its configured directory
LOCAL_ROOT = "kafka-tiered-storage"
# the kinds of remote files; kinds that a partition directory also has are named as there
LEADER_EPOCHS = "leader_epoch_checkpoint"
INDEXES = "indexes"
MANIFEST = "rsm-manifest"
LOCAL_KINDS = ("log", "index", "timeindex", "txnindex", "snapshot", LEADER_EPOCHS)
AIVEN_KINDS = ("log", INDEXES, MANIFEST)

MAX_TOPIC = 249  # Topic.MAX_NAME_LENGTH, in characters

_UUID = "[a-zA-Z0-9_-]{22}"
_TOPIC_PARTITION_ID = re.compile(rf"([a-zA-Z0-9._-]+)-([0-9]+)-({_UUID})")
_TOPIC_ID = re.compile(rf"([a-zA-Z0-9._-]+)-({_UUID})")
_SEGMENT = re.compile(rf"([0-9]{{20}})-({_UUID})\.([a-z_-]+)")


@dataclass(frozen=True)
class TopicIdPartition:
    """A topic-partition and the id of its topic. A re-created topic has a new id."""

    topic: str
    partition: int
    topic_id: str

    @property
    def directory(self) -> str:
        """The name of the partition directory, such as orders-0."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True)
class RemoteSegmentName:
    start_offset: int
    segment_id: str
    kind: str


def name_partition(topic: str, partition: int, topic_id: str) -> TopicIdPartition:
    """Returns a TopicIdPartition whose values are safe as parts of a path.

    Raises ValueError if a broker does not allow one of the values.
    """
    name = TopicIdPartition(topic, partition, topic_id)
    if len(topic) > MAX_TOPIC or parse_partition_folder(f"{name.directory}-{topic_id}") != name:
        raise ValueError(excerpt(repr((topic, partition, topic_id))))
    return name


def parse_partition_folder(name: str) -> TopicIdPartition | None:
    match = _TOPIC_PARTITION_ID.fullmatch(name)
    if not match or len(match[2]) > len(str(MAX_PARTITION)) or int(match[2]) > MAX_PARTITION:
        return None
    return TopicIdPartition(match[1], int(match[2]), match[3])


def parse_topic_folder(name: str) -> tuple[str, str] | None:
    """Returns the topic and topic id in Aiven's name of a topic folder, or None."""
    match = _TOPIC_ID.fullmatch(name)
    return (match[1], match[2]) if match else None


def parse_partition_number(name: str) -> int | None:
    """Parses Aiven's name of a partition folder; None for any other name."""
    is_number = name.isascii() and name.isdecimal() and len(name) <= len(str(MAX_PARTITION))
    return int(name) if is_number and int(name) <= MAX_PARTITION else None


def parse_segment_file(name: str) -> RemoteSegmentName | None:
    """Parses the name of a remote file; None for any other name."""
    match = _SEGMENT.fullmatch(name)
    if not match or int(match[1]) > MAX_OFFSET or match[3] not in {*LOCAL_KINDS, *AIVEN_KINDS}:
        return None
    return RemoteSegmentName(int(match[1]), match[2], match[3])


VERSION = "1"
# a segment of 2 GiB has 512 chunks of the plugin's 4 MiB
MAX_CHUNKS = 100_000
# Python raises these if the JSON does not have the expected shape
MALFORMED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    struct.error,
)
MAX_BYTES = 2**31 - 1  # sizes and positions are Java's int
SIZES_HEAD_BYTES = 9  # count, smallest size and bytes per size
CHUNK: np.dtype = np.dtype(
    [
        ("position", "i8"),  # in the .log
        ("size_bytes", "i8"),
        ("object_position", "i8"),  # in the object that holds it
        ("object_size_bytes", "i8"),
    ]
)
# in the order of the .indexes object, with the suffix or name of the file on the broker
INDEX_KINDS = {
    "offset": "index",
    "timestamp": "timeindex",
    "producerSnapshot": "snapshot",
    "leaderEpoch": "leader_epoch_checkpoint",
    "transaction": "txnindex",
}


@dataclass(frozen=True)
class ManifestMetadata:
    """The segment's metadata at the time of its upload."""

    partition: TopicIdPartition
    start_offset: int
    end_offset: int
    max_timestamp_ms: int
    leader_epochs: Mapping[int, int]  # first offset of each epoch in this segment


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmentManifest:
    """The content of a manifest.

    Attributes:
        log_bytes: size of the .log on the broker.
        object_bytes: size of the .log in the store.
        indexes: position and size of each index in the .indexes object, by file suffix.
    """

    log_bytes: int
    object_bytes: int
    chunk_index: Mapping[str, Any]
    indexes: Mapping[str, tuple[int, int]]
    is_compressed: bool
    is_encrypted: bool
    metadata: ManifestMetadata | None = None

    @property
    def chunks(self) -> np.ndarray:
        """The chunks as an array of CHUNK, in order and without gaps.

        Computed at each access: a store has many manifests, and each may describe many chunks.
        """
        return _chunks(self.chunk_index)


def parse_manifest(data: bytes) -> SegmentManifest:
    """Parses a manifest.

    Raises:
        CorruptBytes: the bytes are not JSON, have an unknown version, or lack a valid field.
        NotRead (a kind of CorruptBytes): the segment has more than MAX_CHUNKS chunks.
    """
    try:
        fields = json.loads(data)
        if str(fields["version"]) != VERSION:
            version = excerpt(repr(fields["version"]))
            raise CorruptBytes(0, message("corrupt.manifest_version", version=version))
        chunk_index = fields["chunkIndex"]
        return SegmentManifest(
            log_bytes=int(chunk_index["originalFileSize"]),
            object_bytes=int(_chunks(chunk_index)["object_size_bytes"].sum()),
            chunk_index=chunk_index,
            indexes=_indexes(fields["segmentIndexes"]),
            is_compressed=bool(fields["compression"]),
            is_encrypted=fields.get("encryption") is not None,
            metadata=_metadata(fields.get("remoteLogSegmentMetadata")),
        )
    except MALFORMED as fault:
        reason = excerpt(repr(fault))
        raise CorruptBytes(0, message("corrupt.manifest", reason=reason)) from None


def decode_sizes(data: bytes) -> np.ndarray:
    """Decodes the sizes of chunks. Raises ValueError or struct.error if they are invalid."""
    (count,) = struct.unpack_from(">i", data)
    if count <= 1:
        sizes = np.frombuffer(data[4:], ">i4")
        if len(sizes) != count:
            raise ValueError(f"{count} sizes in {len(data)} bytes")
        return _refuse_negative(sizes.astype(np.int64))
    smallest, width = struct.unpack_from(">ib", data, 4)
    rows = np.frombuffer(data[9:-4], np.uint8)
    if not 1 <= width <= 4 or len(rows) != (count - 1) * width:
        raise ValueError(f"{count} sizes of {width} bytes in {len(data)} bytes")
    above = np.zeros((count - 1, 8), np.uint8)
    above[:, 8 - width :] = rows.reshape(count - 1, width)
    sizes = above.view(">i8").ravel().astype(np.int64) + smallest
    return _refuse_negative(np.append(sizes, struct.unpack(">i", data[-4:])))


def _refuse_negative(sizes: np.ndarray) -> np.ndarray:
    if (sizes < 0).any():
        raise ValueError(f"a chunk of {sizes.min()} bytes")
    return sizes


def _chunks(chunk_index: Mapping[str, Any]) -> np.ndarray:
    chunk_bytes = chunk_index["originalChunkSize"]
    log_bytes = chunk_index["originalFileSize"]
    if chunk_bytes <= 0 or log_bytes < 0:
        raise ValueError(f"chunks of {chunk_bytes} bytes of a file of {log_bytes}")
    count = -(-log_bytes // chunk_bytes)
    if log_bytes > MAX_BYTES:
        raise ValueError(f"{count} chunks of a file of {log_bytes} bytes")
    if count > MAX_CHUNKS:
        raise NotRead(0, message("corrupt.too_many_chunks", count=count, limit=MAX_CHUNKS))
    if chunk_index["type"] == "fixed":
        object_sizes = np.full(count, chunk_index["transformedChunkSize"], np.int64)
        object_sizes[-1:] = chunk_index["finalTransformedChunkSize"]
    elif chunk_index["type"] == "variable":
        object_sizes = decode_sizes(_unpacked_sizes(chunk_index["transformedChunks"], count))
    else:
        raise ValueError(f"chunkIndex of type {chunk_index['type']}")
    if len(object_sizes) != count:
        raise ValueError(f"{len(object_sizes)} chunks of {count}")
    # the plugin adds Java ints, which may overflow; and it never stores an empty chunk
    for size in (object_sizes.min(initial=1), object_sizes.max(initial=1)):
        if not 1 <= size <= MAX_BYTES:
            raise ValueError(f"a chunk of {size} bytes")
    chunks = np.empty(count, CHUNK)
    chunks["position"] = np.arange(count) * chunk_bytes
    chunks["size_bytes"] = np.minimum(chunk_bytes, log_bytes - chunks["position"])
    chunks["object_size_bytes"] = object_sizes
    chunks["object_position"] = np.cumsum(object_sizes) - object_sizes
    return chunks


def _unpacked_sizes(text: str, count: int) -> bytes:
    limit_bytes = SIZES_HEAD_BYTES + 4 * count
    try:
        return codec.decompress("zstd", base64.b64decode(text, validate=True), limit_bytes)
    except (binascii.Error, KafkavizError) as fault:
        raise ValueError(str(fault)) from None


def _indexes(fields: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    ranges = {
        kind: (int(fields[name]["position"]), int(fields[name]["size"]))
        for name, kind in INDEX_KINDS.items()
        if fields.get(name) is not None
    }
    if any(min(both) < 0 or max(both) > MAX_BYTES for both in ranges.values()):
        raise ValueError(f"segmentIndexes of {ranges}")
    return ranges


def _metadata(fields: Mapping[str, Any] | None) -> ManifestMetadata | None:
    if fields is None:
        return None
    topic_id_partition = fields["remoteLogSegmentId"]["topicIdPartition"]
    topic_partition = topic_id_partition["topicPartition"]
    return ManifestMetadata(
        name_partition(
            str(topic_partition["topic"]),
            int(topic_partition["partition"]),
            str(topic_id_partition["topicId"]),
        ),
        _long(fields["startOffset"]),
        _long(fields["endOffset"]),
        _long(fields["maxTimestampMs"]),
        {_long(epoch): _long(offset) for epoch, offset in fields["segmentLeaderEpochs"].items()},
    )


def _long(number: Any) -> int:
    whole_number = int(number)
    if not ~MAX_OFFSET <= whole_number <= MAX_OFFSET:
        raise ValueError("a number that no long holds")
    return whole_number
