"""The small files that broker start-up reads, and the consequences if a file is damaged.

The broker's own files are meta.properties, bootstrap.checkpoint and quorum-state
(MetaPropertiesEnsemble, BootstrapDirectory, BatchFileReader, FileQuorumStateStore, 4.3.1):

* A directory without a readable meta.properties counts as missing.
* bootstrap.checkpoint is read without checking checksums. The broker does not start if no record
  sets metadata.version.

Each partition directory has two small files (LeaderEpochCheckpointFile, PartitionMetadataFile,
4.3.1):

* An I/O error takes the complete log directory offline.
* Any other exception ends the broker: an epoch that is not a number, too few lines or an invalid id
  in partition.metadata.

Each log directory has four offset checkpoints (CheckpointFile, LogManager, ReplicaManager,
LogCleanerManager, 4.3.1 and 4.4.0):

* An IOException, such as for a malformed line, takes the log directory offline.
* Any other exception, such as for an offset that is not a number, takes nothing offline. LogManager
  treats the file as empty. ReplicaManager starts none of the directory's replicas.
  LogCleanerManager's thread ends.
* A Java Error ends the broker if LogManager reads the file.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_letters, digits

from kafkaviz import versions
from kafkaviz.errors import CannotOpen, CorruptBytes, NotRead
from kafkaviz.format import batch, batch_records, checkpoint, metadata, names
from kafkaviz.format.java import CORRUPT_RECORD, ILLEGAL_ARGUMENT, INVALID_RECORD, int_or_none
from kafkaviz.format.walk import FEW_BYTES, few_batches, walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.steps import StartupStep, fail_step
from kafkaviz.units import excerpt

STORAGE = "org.apache.kafka.common.errors.KafkaStorageException"
UNREADABLE = {  # Kafka's message for a file that it cannot read; {} is the path
    names.LEADER_EPOCHS: "Error while reading checkpoint file {}",
    names.PARTITION_METADATA: "Error while reading partition metadata file {}",
}
NULL_POINTER = BrokerException(
    "java.lang.NullPointerException",
    'Cannot invoke "java.lang.CharSequence.length()" because "this.text" is null',
)
# the most characters that Kafka decodes, and the size of the result
ID_CHARACTERS = 24
ID_BYTES = 16
BASE64_DIGITS = f"{ascii_letters}{digits}-_".encode()
# in the order in which broker start-up reads the checkpoints
CHECKPOINT_WAY_OUTS: dict[str, Message] = {
    names.RECOVERY_POINT_CHECKPOINT: message("way_out.restore_recovery_points"),
    names.LOG_START_CHECKPOINT: message("way_out.restore_log_starts"),
    names.CLEANER_CHECKPOINT: message("way_out.restore_cleaner_offsets"),
    names.HIGH_WATERMARK_CHECKPOINT: message("way_out.restore_high_watermarks"),
}
OFFLINE = message("consequence.checkpoint_offline")
NO_START = message("consequence.checkpoint_ends_start")
NO_REPLICAS = message("consequence.high_watermarks_lost")
UNREAD = message("consequence.high_watermarks_unread")
# the losses after any exception other than an IOException
LOSSES: dict[str, Message] = {
    names.RECOVERY_POINT_CHECKPOINT: message("consequence.recovery_points_lost"),
    names.LOG_START_CHECKPOINT: message("consequence.log_starts_lost"),
    names.CLEANER_CHECKPOINT: message("consequence.cleaner_offsets_lost"),
    names.HIGH_WATERMARK_CHECKPOINT: NO_REPLICAS,
}
# LogManager reads these, and does not catch an Error
READ_BY_LOG_MANAGER = (names.RECOVERY_POINT_CHECKPOINT, names.LOG_START_CHECKPOINT)


def leader_epochs_fault(data: bytes, path: str) -> BrokerException | None:
    try:
        checkpoint.parse_leader_epochs(data)
    except checkpoint.UncaughtRefusal as refusal:
        return BrokerException(*refusal.exception)
    except CorruptBytes:
        return BrokerException(STORAGE, UNREADABLE[names.LEADER_EPOCHS].format(path))
    return None


def partition_metadata_fault(data: bytes, path: str) -> BrokerException | None:
    """Returns Kafka's exception for a damaged partition.metadata, else None."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _unreadable(path)
    lines = re.split(b"\r\n|\n|\r", data, maxsplit=2)
    if not lines[-1]:
        lines.pop()  # no line follows the last line end
    values = [checkpoint.named_value(line.decode()) for line in lines[:2]]
    if not values:
        return NULL_POINTER
    number = int_or_none(values[0] or "")
    if number is None or number < 0:  # the version
        return _unreadable(path)
    if len(values) == 1:
        return NULL_POINTER
    return _unreadable(path) if values[1] is None else id_fault(values[1], path)


def id_fault(name: str, path: str) -> BrokerException | None:
    """Returns Kafka's exception for an id that is not a UUID or is all zeros; None if valid."""
    if len(name) > ID_CHARACTERS:
        prefix = f"Input string with prefix `{name[:ID_CHARACTERS]}`"
        words = f"{prefix} is too long to be decoded as a base64 UUID"
        return BrokerException(ILLEGAL_ARGUMENT, words)
    try:
        id_bytes = decode_id(name)
    except ValueError as fault:
        return BrokerException(ILLEGAL_ARGUMENT, str(fault))
    if len(id_bytes) != ID_BYTES:
        expected = f"which is not equal to the expected {ID_BYTES} bytes of a base64-encoded UUID"
        words = f"Input string `{name}` decoded as {len(id_bytes)} bytes, {expected}"
        return BrokerException(ILLEGAL_ARGUMENT, words)
    return None if any(id_bytes) else _unreadable(path)


def decode_id(name: str) -> bytes:
    """Decodes URL-safe Base64 as Java does. Raises ValueError with Java's message."""
    data = name.encode("latin-1", "replace")
    if len(data) == 1:
        raise ValueError("Input byte[] should at least have 2 bytes for base64 bytes")
    sextets = data[: len(data) - len(data.lstrip(BASE64_DIGITS))]
    rest = data[len(sextets) :]
    last_sextets = len(sextets) % 4
    if rest and not rest.startswith(b"="):
        signed = rest[0] - 256 if rest[0] > 127 else rest[0]
        raise ValueError(f"Illegal base64 character {signed:x}")
    if rest and (last_sextets == 0 or (last_sextets == 2 and not rest.startswith(b"=="))):
        raise ValueError("Input byte array has wrong 4-byte ending unit")
    if last_sextets == 1:
        raise ValueError("Last unit does not have enough valid bits")
    padding = 0
    if rest:
        padding = 2 if last_sextets == 2 else 1
    end = len(sextets) + padding
    if end < len(data):
        raise ValueError(f"Input byte array has incorrect ending byte at {end}")
    return base64.urlsafe_b64decode(sextets + b"=" * (-len(sextets) % 4))


def _unreadable(path: str) -> BrokerException:
    return BrokerException(STORAGE, UNREADABLE[names.PARTITION_METADATA].format(path))


def checkpoint_fault(data: bytes) -> CorruptBytes | None:
    """Returns CheckpointFile's refusal, or None. Raises CannotOpen for too many lines."""
    try:
        checkpoint.parse_offsets(data)
    except CorruptBytes as refusal:
        return refusal
    return None


def checkpoint_consequence(name: str, refusal: CorruptBytes, *, has_replicas: bool) -> Message:
    """Returns a text that says how broker start-up reacts to a damaged checkpoint.

    `has_replicas`: a replica is in use. Otherwise replication-offset-checkpoint is not read.
    """
    if name == names.HIGH_WATERMARK_CHECKPOINT and not has_replicas:
        return UNREAD
    if not isinstance(refusal, checkpoint.UncaughtRefusal):
        return OFFLINE
    is_error = refusal.exception[0].endswith("Error")
    return NO_START if is_error and name in READ_BY_LOG_MANAGER else LOSSES[name]


def checkpoint_steps(contents: Mapping[str, bytes], *, has_replicas: bool) -> Iterator[StartupStep]:
    """Yields a "fail" step for each damaged checkpoint that Kafka does not tolerate.

    `contents` has each existing checkpoint, by file name. Raises CannotOpen for too many lines.
    """
    for name, way_out in CHECKPOINT_WAY_OUTS.items():
        refusal = checkpoint_fault(contents[name]) if name in contents else None
        if refusal is None:
            continue
        outcome = checkpoint_consequence(name, refusal, has_replicas=has_replicas)
        if outcome not in (OFFLINE, NO_START):
            continue
        exception = BrokerException(STORAGE, f"Error while reading checkpoint file {name}")
        key = "start.checkpoint_takes_directory_offline"
        if isinstance(refusal, checkpoint.UncaughtRefusal):
            exception = BrokerException(*refusal.exception)
            key = "start.cannot_be_read"
        why = message(key, file=name, problem=refusal.what)
        is_offline = outcome == OFFLINE
        yield fail_step(
            "checkpoint-bad", why, exception, way_out, file=name, takes_directory_offline=is_offline
        )


RUNTIME = "java.lang.RuntimeException"
NONE_READABLE = BrokerException(RUNTIME, "No readable meta.properties files found.")
RESERVED_IDS = 100  # DirectoryId.reserved: ids below this number belong to no directory

# limit for bootstrap.checkpoint and its records; `format` writes some dozen bytes
BOOTSTRAP_BYTES = 1 << 20
QUORUM_FILE = f"{names.METADATA_TOPIC}-0/{names.QUORUM_STATE}"


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """The bytes of a log directory's files outside partitions; None for a missing file."""

    meta_properties: bytes | None
    bootstrap: bytes | None = None
    has_metadata_log: bool = False  # KRaft's own log
    quorum_state: bytes | None = None
    # the offset checkpoints that exist, by file name
    checkpoints: Mapping[str, bytes] = field(default_factory=dict)
    has_replicas: bool = False  # a replica is in use
    is_marker_full: bool = False  # .kafka_cleanshutdown is a folder that is not empty


def own_steps(files: OwnFiles, behaviour: ReleaseBehaviour) -> tuple[StartupStep, ...]:
    is_kraft = versions.KRAFT_ONLY.applies_to(behaviour.release) or files.has_metadata_log
    steps = list(_properties(files.meta_properties, is_kraft=is_kraft))
    reads_bootstrap = is_kraft and versions.BOOTSTRAP_CHECKPOINT.applies_to(behaviour.release)
    if reads_bootstrap and files.bootstrap is not None:
        exception = bootstrap_fault(files.bootstrap)
        if exception:
            why = message("start.reading_fails", file=names.BOOTSTRAP)
            way_out = message("way_out.move_bootstrap_away")
            steps.append(fail_step("bootstrap", why, exception, way_out, file=names.BOOTSTRAP))
    if files.has_metadata_log and files.quorum_state is not None:
        fault = quorum_fault(files.quorum_state)
        if fault:
            problem, exception = fault
            why = message("start.cannot_be_read", file=QUORUM_FILE, problem=problem)
            way_out = message("way_out.restore_quorum_state")
            steps.append(fail_step("quorum-state-bad", why, exception, way_out, file=QUORUM_FILE))
    if files.is_marker_full:
        undeletable = fail_step(
            "folder",
            message("start.marker_is_full_folder", file=names.CLEAN_SHUTDOWN),
            BrokerException("java.nio.file.DirectoryNotEmptyException", names.CLEAN_SHUTDOWN),
            message("way_out.move_folder_out", file=names.CLEAN_SHUTDOWN),
            file=names.CLEAN_SHUTDOWN,
            takes_directory_offline=True,
        )
        steps.append(undeletable)
    steps += checkpoint_steps(files.checkpoints, has_replicas=files.has_replicas)
    return tuple(steps)


def properties_fault(data: bytes) -> Message | None:
    try:
        return _fault_in(checkpoint.parse_properties(data))
    except CorruptBytes as fault:
        return fault.what


def _fault_in(properties: Mapping[str, str]) -> Message | None:
    written_version = properties.get("version", "0")
    version = int_or_none(written_version.strip())
    if version not in (0, 1):
        return message("meta_properties.unknown_version", version=excerpt(written_version))
    name = "node.id" if version else "broker.id"
    missing_keys = [key for key in ("cluster.id", "node.id") if version and key not in properties]
    if missing_keys:
        return message("meta_properties.keys_missing", keys=tuple(missing_keys))
    if name in properties and int_or_none(properties[name]) is None:
        value = repr(excerpt(properties[name]))
        return message("meta_properties.no_number", name=name, value=value)
    if "directory.id" in properties:
        directory_id = properties["directory.id"]
        exception = id_fault(directory_id, names.META_PROPERTIES)
        # an id of zeros is readable, but refused later as a reserved one
        if exception and exception.class_name != STORAGE:
            value = repr(excerpt(directory_id))
            return message("meta_properties.no_directory_id", value=value)
    return None


def is_reserved(directory_id: str) -> bool:
    """Returns whether Kafka reserves a directory.id for itself (DirectoryId.reserved)."""
    id_bytes = decode_id(directory_id)
    most = id_bytes[:8]
    least = int.from_bytes(id_bytes[8:], "big", signed=True)
    return not any(most) and least < RESERVED_IDS


def node_key(properties: Mapping[str, str]) -> str:
    """Returns the name of the node id's property: broker.id in version 0, node.id in version 1."""
    version = int_or_none(properties.get("version", "0").strip())
    return "node.id" if version else "broker.id"


def _sets_metadata_version(data: bytes) -> bool:
    """Returns whether a small bootstrap.checkpoint sets metadata.version. Runs no compiled code."""
    if len(data) > min(FEW_BYTES, BOOTSTRAP_BYTES):
        return False
    batches, end_position = few_batches(data)
    set_features = set()
    for row in batches[~batch.is_control(batches)]:
        start = int(row["position"])
        records = batch_records.few_records(data[start : start + int(row["size_bytes"])])
        if records is None:
            return False
        try:
            decoded = [metadata.decode(value or b"") for _, _, value in records]
        except CorruptBytes:
            return False
        set_features |= {
            record.values["name"]
            for record in decoded
            if record.type.name == metadata.FEATURE_LEVEL
        }
    return end_position == len(data) and "metadata.version" in set_features


def bootstrap_fault(data: bytes) -> BrokerException | None:
    """Returns Kafka's exception for a bootstrap.checkpoint; None for a valid file.

    Raises CannotOpen if the file has more record data than is read here.
    """
    if _sets_metadata_version(data):
        return None
    batches, end = walk(data)
    set_features = set()
    left_bytes = BOOTSTRAP_BYTES
    for row in batches[~batch.is_control(batches)]:
        position = int(row["position"])
        size_bytes = int(row["size_bytes"])
        try:
            for record in batch_records.iterate(data[position : position + size_bytes]):
                left_bytes -= record.size_bytes
                if left_bytes < 0:
                    what = message("errors.too_many_record_bytes", limit=BOOTSTRAP_BYTES)
                    raise CannotOpen(names.BOOTSTRAP, what, kind="large")
                try:
                    decoded = metadata.decode(record.value)
                except NotRead as fault:
                    raise CannotOpen(names.BOOTSTRAP, fault.what, kind="large") from None
                except CorruptBytes:
                    words = f"unable to deserialize record at offset {record.offset}"
                    return BrokerException(RUNTIME, words)
                if decoded.type.name == metadata.FEATURE_LEVEL:
                    set_features.add(decoded.values["name"])
        except CorruptBytes as fault:
            return BrokerException(INVALID_RECORD, str(fault.what))
    if end.reason == "bad-length":
        length_end = end.position + batch.LENGTH_END
        size = int.from_bytes(data[length_end - 4 : length_end], "big", signed=True)
        words = (
            f"Found record size {size} smaller than minimum record overhead (14) in file "
            f"{names.BOOTSTRAP}."
        )
        return BrokerException(CORRUPT_RECORD, words)
    if "metadata.version" not in set_features:
        words = (
            "No FeatureLevelRecord for metadata.version was found in the bootstrap metadata from "
            f"the binary bootstrap metadata file: {names.BOOTSTRAP}"
        )
        return BrokerException(RUNTIME, words)
    return None


def _properties(data: bytes | None, *, is_kraft: bool) -> Iterator[StartupStep]:
    if data is None:
        if is_kraft:
            why = message("start.no_meta_properties", file=names.META_PROPERTIES)
            yield _meta_properties_step(why, NONE_READABLE)
        return
    try:
        properties = checkpoint.parse_properties(data)
        fault = _fault_in(properties)
    except CorruptBytes as corruption:
        properties = {}
        fault = corruption.what
    if fault:
        why = message("start.meta_properties_unusable", file=names.META_PROPERTIES, problem=fault)
        yield _meta_properties_step(why, NONE_READABLE, takes_directory_offline=True)
        return
    if not is_kraft:
        return
    directory_id = properties.get("directory.id")
    if directory_id is not None and is_reserved(directory_id):
        why = message("start.reserved_directory_id", file=names.META_PROPERTIES, id=directory_id)
        words = f"Invalid reserved directory ID {directory_id} found"
    elif node_key(properties) not in properties:
        why = message("start.no_node_id", file=names.META_PROPERTIES)
        words = "Error: node ID not found"
    elif "cluster.id" not in properties:
        why = message("start.no_cluster_id", file=names.META_PROPERTIES)
        words = "Error: cluster ID not found"
    else:
        return
    yield _meta_properties_step(why, BrokerException(RUNTIME, words))


def _meta_properties_step(
    why: Message, exception: BrokerException, *, takes_directory_offline: bool = False
) -> StartupStep:
    return fail_step(
        "meta-properties",
        why,
        exception,
        message("way_out.write_meta_properties"),
        file=names.META_PROPERTIES,
        takes_directory_offline=takes_directory_offline,
    )


def quorum_fault(data: bytes) -> tuple[Message, BrokerException | None] | None:
    """Returns (fault, Kafka's exception) for a damaged quorum-state; None for a valid file.

    The exception is None if kafkaviz does not know the exception's message.
    """
    try:
        checkpoint.parse_quorum_state(data)
        return None
    except CorruptBytes as fault:
        what = fault.what
    if what.key == "quorum_state.unknown_version":
        return what, BrokerException("java.lang.IllegalStateException", str(what))
    if what.key == "quorum_state.field_missing":
        return what, BrokerException(RUNTIME, f"QuorumStateData: {what}")
    if what.key in ("quorum_state.field_type", "quorum_state.voter_without_id"):
        return what, None
    words = f"Error while reading the Quorum status from the file {QUORUM_FILE}"
    return what, BrokerException("java.io.UncheckedIOException", words)
