"""Names of remote log segments, in the two layouts of tiered storage that kafkaviz can open.

LocalTieredStorage of Kafka 3.6 to 4.3 has a folder per topic-partition and a file per index:

    orders-0-goH9ontlS-uQ6q8sq1Nrgg/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.timeindex
    topic, partition, topic id      start offset        , segment id

Aiven's plugin 1.1.1 (ObjectKeyFactory) stores all indexes in one object, under any prefix:

    kafka/orders-goH9ontlS-uQ6q8sq1Nrgg/0/00000000000000000020-1Dpyi-tQSZm9t5RJ6NMiCw.rsm-manifest
"""

import re
from dataclasses import dataclass

from kafkaviz.format.names import MAX_OFFSET, MAX_PARTITION
from kafkaviz.units import excerpt

LOCAL_TIERED_STORAGE = "LocalTieredStorage"
AIVEN = "Aiven"
# the folder that LocalTieredStorage creates in its configured directory
LOCAL_ROOT = "kafka-tiered-storage"
# kinds of remote files; a kind that is also in a partition directory has its file's name
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
    """A topic-partition and the id of its topic. A re-created topic has another id."""

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
    """Returns the topic-partition of a manifest or record.

    Raises ValueError if no broker allows such a topic, partition or topic id: they become a path.
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
