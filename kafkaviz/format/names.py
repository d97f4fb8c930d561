"""File and directory names of a broker directory: what a name says about its content.

00000000000000002048.timeindex.deleted is the time index of the segment with base offset 2048,
waiting to be unlinked; orders-0.d9e2420e43c24fe7bcf8a819bf93d888-delete is partition 0 of the
deleted topic orders.
"""

import re
from dataclasses import dataclass

from kafkaviz.format.java_numbers import parse_int, parse_long

MAX_OFFSET = 2**63 - 1
MAX_PARTITION = 2**31 - 1

METADATA_TOPIC = "__cluster_metadata"  # KRaft's own log: loaded by itself, before all others
METADATA_DIRECTORY = f"{METADATA_TOPIC}-0"
# what lies in a broker directory beside its topic-partitions
META_PROPERTIES, CLEAN_SHUTDOWN, BOOTSTRAP, LOCK = (
    "meta.properties",
    ".kafka_cleanshutdown",
    "bootstrap.checkpoint",
    ".lock",
)
LOG_START_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT = (
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
)
RECOVERY_POINT_CHECKPOINT, CLEANER_CHECKPOINT = (
    "recovery-point-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
OFFSET_CHECKPOINTS = (LOG_START_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT, RECOVERY_POINT_CHECKPOINT)
# all of these
OWN_FILES = (
    META_PROPERTIES,
    CLEAN_SHUTDOWN,
    *OFFSET_CHECKPOINTS,
    CLEANER_CHECKPOINT,
    BOOTSTRAP,
    LOCK,
)
SIMULATED_COMMENT = (
    " Simulated by kafkaviz"  # the first line of its server.properties, a comment there
)
# not Kafka's to find there: people put it beside the directory that they copied
SERVER_PROPERTIES = "server.properties"
CATALOG_FILE = "_catalog.json"  # what makes a folder a catalog of kafkaviz ingest
# in a topic-partition
LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE = (
    "leader-epoch-checkpoint",
    "partition.metadata",
    "quorum-state",
)
# the cache of tiered storage, which LogManager passes over
NO_PARTITIONS = ("remote-log-index-cache",)

# of the files of a partition directory whose names Kafka reads as offsets, whatever else they say
OFFSET_ENDINGS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".cleaned", ".swap")
# LogFileUtils and Snapshots in Kafka 4.3; [0-9] because \d would take digits of other scripts
_SEGMENT = re.compile(
    r"([0-9]{20})\.(log|index|timeindex|txnindex|snapshot)(?:\.(deleted|cleaned|swap))?"
)
# as it is found in the name of a copy: orders-0_00000000000000000335 (1).log
_COPY = re.compile(
    r".*?([0-9]{20})[^0-9].*?((?:log|index|timeindex|txnindex|snapshot)(?:\.(?:deleted|cleaned|swap))?)"
)
_CHECKPOINT = re.compile(
    r"([0-9]{20})-([0-9]{10})(?:-[^.]+(?=\.checkpoint\.part))?\.(checkpoint)(?:\.(deleted|part))?"
)
_RENAMED_DIRECTORY = re.compile(r"(\S+)-(\S+)\.(\S+)-(delete|future|stray)")


@dataclass(frozen=True)
class SegmentName:
    """What the name of a file in a partition directory says.

    Attributes:
        base_offset: the segment's, for the kinds log, index, timeindex and txnindex; a snapshot
            (producer state) and a checkpoint (KRaft snapshot) hold what lies below this offset.
        suffix: "" for a file in use, "deleted", "cleaned" or "swap"; "part" for a KRaft snapshot
            that is being written.
        epoch: of a KRaft snapshot; None for the other kinds.
    """

    base_offset: int
    kind: str
    suffix: str = ""
    epoch: int | None = None


@dataclass(frozen=True)
class PartitionName:
    """What the name of a directory says: a topic, a partition, and whether it is in use.

    Kafka cuts the topic of a long "delete" or "stray" name, so that 255 characters are enough.

    Attributes:
        state: "current"; "delete" is waiting to be deleted, "future" is being built by a move
            between log directories, "stray" should not be on this broker.
    """

    topic: str
    partition: int
    state: str = "current"


def parse_file(name: str) -> SegmentName | None:
    """The parts of a file name that begins with an offset, or None for any other file.

    Kafka writes 20 digits, which hold every offset; a name with more or fewer, or beyond int64, is
    no file of Kafka's.
    """
    if match := _SEGMENT.fullmatch(name):
        segment_name = SegmentName(int(match[1]), match[2], match[3] or "")
    elif match := _CHECKPOINT.fullmatch(name):
        segment_name = SegmentName(int(match[1]), match[3], match[4] or "", int(match[2]))
    else:
        return None
    return (
        segment_name
        if segment_name.base_offset <= MAX_OFFSET and (segment_name.epoch or 0) <= MAX_PARTITION
        else None
    )


def parse_offset(name: str) -> int:
    """The offset that Kafka reads in a file's name: the number before its first dot.

    As LogFileUtils.offsetFromFileName in 4.3.1 and 4.4.0.

    Raises:
        ValueError: there is no dot, or Long.parseLong refuses what is before it.
    """
    number, dot, _ = name.partition(".")
    if not dot:
        raise ValueError(name)
    return parse_long(number)


def find_segment_name(name: str) -> str | None:
    """Kafka's own name of a segment's file, which may be a part of the name of a copy.

    None of any other file.
    """
    match = _COPY.fullmatch(name)
    kafka_name = f"{match[1]}.{match[2]}" if match else name
    segment_name = parse_file(kafka_name)
    return kafka_name if segment_name and segment_name.epoch is None else None


def natural_sort_key(directory: str) -> tuple[str, int, str]:
    """A sort key that counts partitions: orders-2 comes before orders-10."""
    partition_name = parse_directory(directory)
    return (
        (partition_name.topic, partition_name.partition, directory)
        if partition_name
        else (directory, -1, directory)
    )


def parse_directory(name: str) -> PartitionName | None:
    """The topic-partition of a directory, or None if Kafka would not take it for one.

    As LocalLog.parseTopicPartitionName in Kafka 4.3: a name that ends in -delete, -future or -stray
    loses everything from its last dot on; the rest is split at its last dash, since a topic may
    itself hold dashes and dots.
    """
    state = "current"
    if name.endswith(("-delete", "-future", "-stray")):
        suffix_match = _RENAMED_DIRECTORY.fullmatch(name)
        if suffix_match is None:
            return None
        name, state = name[: name.rindex(".")], suffix_match[4]
    topic, _, number = name.rpartition("-")
    try:
        return PartitionName(topic, parse_int(number), state) if topic else None
    except ValueError:
        return None
