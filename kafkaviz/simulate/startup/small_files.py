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
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_letters, digits

from kafkaviz import versions
from kafkaviz.errors import CannotOpen, CorruptBytes, NotRead
from kafkaviz.format import batch, batch_records, checkpoint, metadata, names
from kafkaviz.format.java import CORRUPT_RECORD, ILLEGAL_ARGUMENT, INVALID_RECORD, int_or_none
from kafkaviz.format.names import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    METADATA_TOPIC,
    QUORUM_STATE,
)
from kafkaviz.format.walk import FEW_BYTES, few_batches, walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.steps import StartupStep
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
        return BrokerException(
            ILLEGAL_ARGUMENT,
            (
                f"Input string with prefix `{name[:ID_CHARACTERS]}` is too long to be decoded as a "
                "base64 UUID"
            ),
        )
    try:
        id_bytes = _decode_base64(name.encode("latin-1", "replace"))
    except ValueError as fault:
        return BrokerException(ILLEGAL_ARGUMENT, str(fault))
    if len(id_bytes) != ID_BYTES:
        expected = f"which is not equal to the expected {ID_BYTES} bytes of a base64-encoded UUID"
        return BrokerException(
            ILLEGAL_ARGUMENT, f"Input string `{name}` decoded as {len(id_bytes)} bytes, {expected}"
        )
    return None if any(id_bytes) else _unreadable(path)


def decode_id(name: str) -> bytes:
    """Returns the 16 bytes of an id that `id_fault` accepts."""
    return _decode_base64(name.encode("latin-1", "replace"))


def _decode_base64(data: bytes) -> bytes:
    """Decodes URL-safe Base64 as Java does. Raises ValueError with Java's message."""
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
    """Returns the fault that CheckpointFile finds in a checkpoint, or None.

    Raises CannotOpen if the file has too many lines to be read here.
    """
    try:
        checkpoint.parse_offsets(data)
    except CorruptBytes as refusal:
        return refusal
    return None


def checkpoint_consequence(name: str, refusal: CorruptBytes, *, has_replicas: bool) -> Message:
    """Returns a text: what broker start-up does because of a damaged checkpoint.

    Args:
        has_replicas: whether the directory holds a replica in use. If not,
            replication-offset-checkpoint is not read.
    """
    if name == names.HIGH_WATERMARK_CHECKPOINT and not has_replicas:
        return UNREAD
    if not isinstance(refusal, checkpoint.UncaughtRefusal):
        return OFFLINE
    is_error = refusal.exception[0].endswith("Error")
    return NO_START if is_error and name in READ_BY_LOG_MANAGER else LOSSES[name]


def checkpoint_steps(contents: Mapping[str, bytes], *, has_replicas: bool) -> Iterator[StartupStep]:
    """Yields the steps that fail because of a damaged checkpoint.

    Args:
        contents: the bytes of each existing checkpoint, by file name.
        has_replicas: whether the directory holds a replica in use.

    Raises:
        CannotOpen: a checkpoint has too many lines to be read here.
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
        yield StartupStep(
            action="fail",
            cause="checkpoint-bad",
            why=message(key, file=name, problem=refusal.what),
            file=name,
            error=str(exception),
            way_out=way_out,
            takes_directory_offline=outcome == OFFLINE,
        )


RUNTIME = "java.lang.RuntimeException"
NONE_READABLE = BrokerException(RUNTIME, "No readable meta.properties files found.")
RESERVED_IDS = 100  # DirectoryId.reserved: ids below this number belong to no directory

# limit for bootstrap.checkpoint and its records; `format` writes some dozen bytes
BOOTSTRAP_BYTES = 1 << 20
QUORUM_FILE = f"{METADATA_TOPIC}-0/{QUORUM_STATE}"


@dataclass(frozen=True, kw_only=True)
class OwnFiles:
    """The bytes of a log directory's files outside partitions; None for a missing file.

    Attributes:
        has_metadata_log: whether the directory holds KRaft's own log.
        checkpoints: the bytes of the existing offset checkpoints, by file name.
        has_replicas: whether the directory holds a replica in use.
        is_marker_full: whether .kafka_cleanshutdown is a folder that is not empty.
    """

    meta_properties: bytes | None
    bootstrap: bytes | None = None
    has_metadata_log: bool = False
    quorum_state: bytes | None = None
    checkpoints: Mapping[str, bytes] = field(default_factory=dict)
    has_replicas: bool = False
    is_marker_full: bool = False


def own_steps(files: OwnFiles, behaviour: ReleaseBehaviour) -> tuple[StartupStep, ...]:
    is_kraft = versions.KRAFT_ONLY.applies_to(behaviour.release) or files.has_metadata_log
    steps = list(_properties(files.meta_properties, is_kraft=is_kraft))
    if (
        is_kraft
        and versions.BOOTSTRAP_CHECKPOINT.applies_to(behaviour.release)
        and files.bootstrap is not None
    ):
        steps += _bootstrap_steps(files.bootstrap)
    if files.has_metadata_log and files.quorum_state is not None:
        steps += _quorum_state_steps(files.quorum_state)
    if files.is_marker_full:
        steps.append(_undeletable_marker_step())
    steps += checkpoint_steps(files.checkpoints, has_replicas=files.has_replicas)
    return tuple(steps)


def _undeletable_marker_step() -> StartupStep:
    step = _fail(
        "folder",
        CLEAN_SHUTDOWN,
        message("start.marker_is_full_folder", file=CLEAN_SHUTDOWN),
        BrokerException("java.nio.file.DirectoryNotEmptyException", CLEAN_SHUTDOWN),
        message("way_out.move_folder_out", file=CLEAN_SHUTDOWN),
    )
    return replace(step, takes_directory_offline=True)


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
        return message(
            "meta_properties.no_number", name=name, value=repr(excerpt(properties[name]))
        )
    if "directory.id" in properties:
        exception = id_fault(properties["directory.id"], META_PROPERTIES)
        # an id of zeros is readable, but refused later as a reserved one
        if exception and exception.class_name != STORAGE:
            return message(
                "meta_properties.no_directory_id", value=repr(excerpt(properties["directory.id"]))
            )
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


def _find_missing_id(properties: Mapping[str, str]) -> str | None:
    """Returns which id is missing, "node" or "cluster"; None if neither (initializeLogDirs)."""
    if node_key(properties) not in properties:
        return "node"
    return None if "cluster.id" in properties else "cluster"


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

    Raises CannotOpen if the file has too many records to be read here.
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
                    raise CannotOpen(
                        BOOTSTRAP,
                        message("errors.too_many_record_bytes", limit=BOOTSTRAP_BYTES),
                        kind="large",
                    )
                try:
                    decoded = metadata.decode(record.value)
                except NotRead as fault:
                    raise CannotOpen(BOOTSTRAP, fault.what, kind="large") from None
                except CorruptBytes:
                    return BrokerException(
                        RUNTIME, f"unable to deserialize record at offset {record.offset}"
                    )
                if decoded.type.name == metadata.FEATURE_LEVEL:
                    set_features.add(decoded.values["name"])
        except CorruptBytes as fault:
            return BrokerException(INVALID_RECORD, str(fault.what))
    if end.reason == "bad-length":
        size = int.from_bytes(
            data[end.position + batch.LENGTH_END - 4 : end.position + batch.LENGTH_END],
            "big",
            signed=True,
        )
        return BrokerException(
            CORRUPT_RECORD,
            (
                f"Found record size {size} smaller than minimum record overhead (14) in file "
                f"{BOOTSTRAP}."
            ),
        )
    if "metadata.version" not in set_features:
        source = f"the binary bootstrap metadata file: {BOOTSTRAP}"
        return BrokerException(
            RUNTIME,
            (
                "No FeatureLevelRecord for metadata.version was found in the bootstrap metadata "
                f"from {source}"
            ),
        )
    return None


def _properties(data: bytes | None, *, is_kraft: bool) -> Iterator[StartupStep]:
    if data is None:
        if is_kraft:
            yield _meta_properties_step(
                message("start.no_meta_properties", file=META_PROPERTIES), NONE_READABLE
            )
        return
    try:
        properties = checkpoint.parse_properties(data)
        fault = _fault_in(properties)
    except CorruptBytes as corruption:
        properties = {}
        fault = corruption.what
    if fault:
        yield _meta_properties_step(
            message("start.meta_properties_unusable", file=META_PROPERTIES, problem=fault),
            NONE_READABLE,
            takes_directory_offline=True,
        )
        return
    if not is_kraft:
        return
    directory_id = properties.get("directory.id")
    missing = _find_missing_id(properties)
    if directory_id is not None and is_reserved(directory_id):
        yield _meta_properties_step(
            message("start.reserved_directory_id", file=META_PROPERTIES, id=directory_id),
            BrokerException(RUNTIME, f"Invalid reserved directory ID {directory_id} found"),
        )
    elif missing == "node":
        yield _meta_properties_step(
            message("start.no_node_id", file=META_PROPERTIES),
            BrokerException(RUNTIME, "Error: node ID not found"),
        )
    elif missing:
        yield _meta_properties_step(
            message("start.no_cluster_id", file=META_PROPERTIES),
            BrokerException(RUNTIME, "Error: cluster ID not found"),
        )


def _meta_properties_step(
    why: Message, exception: BrokerException, *, takes_directory_offline: bool = False
) -> StartupStep:
    step = _fail(
        "meta-properties", META_PROPERTIES, why, exception, message("way_out.write_meta_properties")
    )
    return replace(step, takes_directory_offline=takes_directory_offline)


def _bootstrap_steps(data: bytes) -> Iterator[StartupStep]:
    exception = bootstrap_fault(data)
    if exception:
        yield _fail(
            "bootstrap",
            BOOTSTRAP,
            message("start.reading_fails", file=BOOTSTRAP),
            exception,
            message("way_out.move_bootstrap_away"),
        )


def quorum_fault(data: bytes) -> tuple[Message, BrokerException | None] | None:
    """Returns (fault, Kafka's exception) for a damaged quorum-state; None for a valid file.

    The exception is None if kafkaviz does not know the text that Kafka gives it.
    """
    try:
        checkpoint.parse_quorum_state(data)
    except CorruptBytes as fault:
        what = fault.what
    else:
        return None
    if what.key == "quorum_state.unknown_version":
        return what, BrokerException("java.lang.IllegalStateException", str(what))
    if what.key == "quorum_state.field_missing":
        return what, BrokerException(RUNTIME, f"QuorumStateData: {what}")
    if what.key in ("quorum_state.field_type", "quorum_state.voter_without_id"):
        return what, None
    return what, BrokerException(
        "java.io.UncheckedIOException",
        f"Error while reading the Quorum status from the file {QUORUM_FILE}",
    )


def _quorum_state_steps(data: bytes) -> Iterator[StartupStep]:
    fault = quorum_fault(data)
    if fault:
        why = message("start.cannot_be_read", file=QUORUM_FILE, problem=fault[0])
        yield _fail(
            "quorum-state-bad", QUORUM_FILE, why, fault[1], message("way_out.restore_quorum_state")
        )


def _fail(
    cause: str, name: str, why: Message, exception: BrokerException | None, way_out: Message
) -> StartupStep:
    error = str(exception) if exception else None
    return StartupStep(
        action="fail",
        cause=cause,
        why=why,
        file=name,
        error=error,
        way_out=way_out,
    )
