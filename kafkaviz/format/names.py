"""The names of files and directories in a broker directory.

For example, 00000000000000002048.timeindex.deleted is the time index of the segment with base
offset 2048, and will soon be removed. orders-0.d9e2420e43c24fe7bcf8a819bf93d888-delete is partition
0 of the deleted topic orders.
"""

import re
from dataclasses import dataclass

from kafkaviz.format.java import parse_int, parse_long

MAX_OFFSET = 2**63 - 1
MAX_PARTITION = 2**31 - 1

METADATA_TOPIC = "__cluster_metadata"  # KRaft's own log, loaded before all others
METADATA_DIRECTORY = f"{METADATA_TOPIC}-0"
# files of a broker directory outside its topic-partitions
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
BOOTSTRAP = "bootstrap.checkpoint"
LOCK = ".lock"
LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT = "replication-offset-checkpoint"
RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"
OFFSET_CHECKPOINTS = (LOG_START_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT, RECOVERY_POINT_CHECKPOINT)
OWN_FILES = (
    META_PROPERTIES,
    CLEAN_SHUTDOWN,
    *OFFSET_CHECKPOINTS,
    CLEANER_CHECKPOINT,
    BOOTSTRAP,
    LOCK,
)
# a comment, the first line of a simulated server.properties
SIMULATED_COMMENT = " Simulated by kafkaviz"
# not written by Kafka: people add it to the directory that they copied
SERVER_PROPERTIES = "server.properties"
CATALOG_FILE = "_catalog.json"  # marks a folder as a catalog of kafkaviz ingest
# files of a topic-partition
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
QUORUM_STATE = "quorum-state"
# the cache of tiered storage, which LogManager skips
NO_PARTITIONS = ("remote-log-index-cache",)

# Kafka reads an offset from any name in a partition directory with one of these endings
OFFSET_ENDINGS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".cleaned", ".swap")
# LogFileUtils and Snapshots of Kafka 4.3; [0-9] because \d would match digits of other scripts
_SEGMENT = re.compile(
    r"([0-9]{20})\.(log|index|timeindex|txnindex|snapshot)(?:\.(deleted|cleaned|swap))?"
)
# a segment's name inside the name of a copy: orders-0_00000000000000000335 (1).log
_COPY = re.compile(
    r".*?([0-9]{20})[^0-9].*?((?:log|index|timeindex|txnindex|snapshot)(?:\.(?:deleted|cleaned|swap))?)"
)
_CHECKPOINT = re.compile(
    r"([0-9]{20})-([0-9]{10})(?:-[^.]+(?=\.checkpoint\.part))?\.(checkpoint)(?:\.(deleted|part))?"
)
_RENAMED_DIRECTORY = re.compile(r"(\S+)-(\S+)\.(\S+)-(delete|future|stray)")


@dataclass(frozen=True)
class SegmentName:
    """The parts of a file name in a partition directory.

    Attributes:
        base_offset: the segment's base offset. For a .snapshot or .checkpoint: the file holds the
            state below this offset.
        suffix: "" for a file in use; "deleted", "cleaned" or "swap"; "part" for a KRaft snapshot
            that is being written.
        epoch: the epoch of a KRaft snapshot; None for the other kinds.
    """

    base_offset: int
    kind: str
    suffix: str = ""
    epoch: int | None = None


@dataclass(frozen=True)
class PartitionName:
    """The parts of a partition directory's name.

    Attributes:
        topic: shortened by Kafka if a "delete" or "stray" name would exceed 255 characters.
        state: "current"; "delete": will be deleted; "future": is being moved here from another log
            directory; "stray": should not be on this broker.
    """

    topic: str
    partition: int
    state: str = "current"


def parse_file(name: str) -> SegmentName | None:
    """Parses a file name such as 00000000000000002048.log. Returns None for any other name.

    The name must begin with exactly 20 digits. They are an offset and must fit int64.
    """
    if match := _SEGMENT.fullmatch(name):
        segment_name = SegmentName(int(match[1]), match[2], match[3] or "")
    elif match := _CHECKPOINT.fullmatch(name):
        segment_name = SegmentName(int(match[1]), match[3], match[4] or "", int(match[2]))
    else:
        return None
    if segment_name.base_offset <= MAX_OFFSET and (segment_name.epoch or 0) <= MAX_PARTITION:
        return segment_name
    return None


def parse_offset(name: str) -> int:
    """Returns the offset in a file's name, before the first dot (LogFileUtils.offsetFromFileName).

    Raises ValueError where Kafka 4.3.1 and 4.4.0 throw an exception: if the name has no dot, or if
    Long.parseLong refuses the text before the dot.
    """
    number, dot, _ = name.partition(".")
    if not dot:
        raise ValueError(name)
    return parse_long(number)


def find_segment_name(name: str) -> str | None:
    """Returns Kafka's name of a segment file or of its copy ("orders-0_NAME"), or None."""
    match = _COPY.fullmatch(name)
    kafka_name = f"{match[1]}.{match[2]}" if match else name
    segment_name = parse_file(kafka_name)
    return kafka_name if segment_name and segment_name.epoch is None else None


def natural_sort_key(directory: str) -> tuple[str, int, str]:
    """Returns a key that sorts partitions by number: orders-2 comes before orders-10."""
    partition_name = parse_directory(directory)
    if partition_name:
        return (partition_name.topic, partition_name.partition, directory)
    return (directory, -1, directory)


def topic_of(directory: str) -> str:
    """Returns the topic of a partition directory, given by name or path.

    For any other directory, returns the directory's name.
    """
    name = directory.rpartition("/")[2]
    partition_name = parse_directory(name)
    return partition_name.topic if partition_name else name


def parse_directory(name: str) -> PartitionName | None:
    """Parses a partition directory's name; None if Kafka would not load the directory.

    Follows LocalLog.parseTopicPartitionName in Kafka 4.3. Cuts a name that ends in -delete, -future
    or -stray at its last dot. Splits the rest at its last dash: topics may have dashes and dots.
    """
    state = "current"
    if name.endswith(("-delete", "-future", "-stray")):
        suffix_match = _RENAMED_DIRECTORY.fullmatch(name)
        if suffix_match is None:
            return None
        name = name[: name.rindex(".")]
        state = suffix_match[4]
    topic, _, number = name.rpartition("-")
    try:
        return PartitionName(topic, parse_int(number), state) if topic else None
    except ValueError:
        return None
