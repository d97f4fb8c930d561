"""The two small files of a partition directory that a start reads, and what Kafka throws at faults.

As LeaderEpochCheckpointFile and PartitionMetadataFile of Kafka 4.3.1. An I/O error of either takes
the complete log directory offline; an epoch that is no number, a partition.metadata without its
two lines or with an id that is none end the start with another exception.
"""

import base64
import re

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint
from kafkaviz.simulate.recovery.recovery import ILLEGAL_ARGUMENT, BrokerException

STORAGE = "org.apache.kafka.common.errors.KafkaStorageException"
NULL_POINTER = BrokerException(
    "java.lang.NullPointerException",
    'Cannot invoke "java.lang.CharSequence.length()" because "this.text" is null',
)
ID_CHARACTERS, ID_BYTES = 24, 16  # the most that Kafka decodes, and what must come out
_COLON = re.compile(":[ \t\n\x0b\f\r]+")


def leader_epochs_fault(data: bytes, path: str) -> BrokerException | None:
    """What reading leader-epoch-checkpoint throws, or None."""
    try:
        checkpoint.parse_leader_epochs(data)
    except checkpoint.UncaughtRefusal as refusal:
        return BrokerException(*refusal.exception)
    except CorruptBytes:
        return BrokerException(STORAGE, f"Error while reading checkpoint file {path}")
    return None


def partition_metadata_fault(data: bytes, path: str) -> BrokerException | None:
    """What reading partition.metadata throws, or None.

    Neither the names before the colons nor a version from 0 on matter.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return _unreadable(path)
    values = [_value(line.decode()) for line in data.splitlines()[:2]]
    if not values:
        return NULL_POINTER
    version = values[0]
    if (
        version is None
        or not re.fullmatch("[+-]?[0-9]{1,10}", version)
        or not 0 <= int(version) < 1 << 31
    ):
        return _unreadable(path)
    if len(values) == 1:
        return NULL_POINTER
    return _unreadable(path) if values[1] is None else id_fault(values[1], path)


def id_fault(name: str, path: str) -> BrokerException | None:
    """What Uuid.fromString throws, or what follows for the id of all zeros."""
    if len(name) > ID_CHARACTERS:
        return BrokerException(
            ILLEGAL_ARGUMENT,
            (
                f"Input string with prefix `{name[:ID_CHARACTERS]}` is too long to be decoded as a "
                "base64 UUID"
            ),
        )
    try:
        id_bytes = base64.b64decode(name + "=" * (-len(name) % 4), altchars=b"-_", validate=True)
    except ValueError as fault:
        return BrokerException(ILLEGAL_ARGUMENT, str(fault))
    if len(id_bytes) != ID_BYTES:
        expected = f"which is not equal to the expected {ID_BYTES} bytes of a base64-encoded UUID"
        return BrokerException(
            ILLEGAL_ARGUMENT, f"Input string `{name}` decoded as {len(id_bytes)} bytes, {expected}"
        )
    return None if any(id_bytes) else _unreadable(path)


def _value(line: str) -> str | None:
    """The text behind the colon of a line that has one."""
    parts = _COLON.split(line)
    while parts and not parts[-1]:
        parts.pop()
    return parts[1] if len(parts) == 2 else None


def _unreadable(path: str) -> BrokerException:
    return BrokerException(STORAGE, f"Error while reading partition metadata file {path}")
