"""Names of remote log segments, in the two layouts of tiered storage that kafkaviz opens.

LocalTieredStorage of Kafka 3.6 to 4.3 (RemoteTopicPartitionDirectory, RemoteLogSegmentFileset), a
folder a topic-partition and a file an index:

    orders-0-goH9ontlS-uQ6q8sq1Nrgg/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.timeindex
    topic, partition, topic id      start offset        , segment id

Aiven's plugin 1.1.1 (ObjectKeyFactory), all indexes in one object, behind any prefix:

    kafka/orders-goH9ontlS-uQ6q8sq1Nrgg/0/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.rsm-manifest
"""

import re
from dataclasses import dataclass

from kafkaviz.format.names import MAX_OFFSET, MAX_PARTITION
from kafkaviz.units import excerpt

LOCAL_TIERED_STORAGE = "LocalTieredStorage"
AIVEN = "Aiven"
LOCAL_ROOT = (
    "kafka-tiered-storage"  # the folder that LocalTieredStorage makes in the one it is given
)
# the kinds by which a file of a segment is known here: those of a partition directory, and more
LEADER_EPOCHS, INDEXES, MANIFEST = "leader_epoch_checkpoint", "indexes", "rsm-manifest"
LOCAL_KINDS = ("log", "index", "timeindex", "txnindex", "snapshot", LEADER_EPOCHS)
AIVEN_KINDS = ("log", INDEXES, MANIFEST)

MAX_TOPIC = 249  # characters of a topic's name: Topic.MAX_NAME_LENGTH

_UUID = "[a-zA-Z0-9_-]{22}"
_TOPIC_PARTITION_ID = re.compile(rf"([a-zA-Z0-9._-]+)-([0-9]+)-({_UUID})")
_TOPIC_ID = re.compile(rf"([a-zA-Z0-9._-]+)-({_UUID})")
_SEGMENT = re.compile(rf"([0-9]{{20}})-({_UUID})\.([a-z_-]+)")


@dataclass(frozen=True)
class TopicIdPartition:
    """A topic-partition of one life of its topic: a topic made again has another id."""

    topic: str
    partition: int
    topic_id: str

    @property
    def directory(self) -> str:
        """The name of its partition directory: orders-0."""
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True)
class RemoteSegmentName:
    """What the name of a remote file says: of which segment it is, and what it holds."""

    start_offset: int
    segment_id: str
    kind: str


def name_partition(topic: str, partition: int, topic_id: str) -> TopicIdPartition:
    """The topic-partition of a manifest or a record, whose name becomes part of a path.

    Raises:
        ValueError: no broker gives a topic such a name, or a partition or a topic id is none.
    """
    name = TopicIdPartition(topic, partition, topic_id)
    if len(topic) > MAX_TOPIC or parse_partition_folder(f"{name.directory}-{topic_id}") != name:
        raise ValueError(excerpt(repr((topic, partition, topic_id))))
    return name


def parse_partition_folder(name: str) -> TopicIdPartition | None:
    """The topic-partition of a folder of LocalTieredStorage, or None for any other name."""
    match = _TOPIC_PARTITION_ID.fullmatch(name)
    if not match or len(match[2]) > len(str(MAX_PARTITION)) or int(match[2]) > MAX_PARTITION:
        return None
    return TopicIdPartition(match[1], int(match[2]), match[3])


def parse_topic_folder(name: str) -> tuple[str, str] | None:
    """The topic and its id of a folder of Aiven's layout, or None for any other name."""
    match = _TOPIC_ID.fullmatch(name)
    return (match[1], match[2]) if match else None


def parse_partition_number(name: str) -> int | None:
    """The partition of a folder within a topic's in Aiven's layout, or None for any other name."""
    is_number = name.isascii() and name.isdecimal() and len(name) <= len(str(MAX_PARTITION))
    return int(name) if is_number and int(name) <= MAX_PARTITION else None


def parse_segment_file(name: str) -> RemoteSegmentName | None:
    """The parts of the name of a remote file, or None for any other name."""
    match = _SEGMENT.fullmatch(name)
    if not match or int(match[1]) > MAX_OFFSET or match[3] not in {*LOCAL_KINDS, *AIVEN_KINDS}:
        return None
    return RemoteSegmentName(int(match[1]), match[2], match[3])
