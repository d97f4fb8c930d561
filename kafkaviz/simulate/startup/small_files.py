"""The small files that broker start-up reads, and the consequences if a file is damaged.

Each partition directory has two (LeaderEpochCheckpointFile, PartitionMetadataFile, 4.3.1):

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
from string import ascii_letters, digits

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java import ILLEGAL_ARGUMENT, int_or_none
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.steps import StartupStep

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
    """Returns Kafka's exception for reading partition.metadata, or None."""
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
    """Returns Kafka's exception for an id that is not a UUID or is all zeros, or None."""
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
    """Decodes as Java's Base64.getUrlDecoder. Raises ValueError with Java's message."""
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
    """Returns what broker start-up does because of a damaged checkpoint.

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
