"""The offset checkpoints of a log directory at a start, and what Kafka does if one is damaged.

As CheckpointFile, LogManager, ReplicaManager and LogCleanerManager of Kafka 4.3.1 and 4.4.0.
Reading a damaged one fails in two ways:

* An IOException, such as for a malformed line, takes the log directory offline, for any checkpoint.
* Any other exception, such as for an offset that is not a number, takes nothing offline. LogManager
  then acts as if the file were empty. ReplicaManager starts none of the directory's replicas.
  LogCleanerManager's thread ends.
"""

from collections.abc import Iterator, Mapping

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.startup.metadata_files import STORAGE
from kafkaviz.simulate.steps import StartupStep

# in the order in which a start reads them
WAY_OUTS: dict[str, Message] = {
    names.RECOVERY_POINT_CHECKPOINT: message("way_out.restore_recovery_points"),
    names.LOG_START_CHECKPOINT: message("way_out.restore_log_starts"),
    names.CLEANER_CHECKPOINT: message("way_out.restore_cleaner_offsets"),
    names.HIGH_WATERMARK_CHECKPOINT: message("way_out.restore_high_watermarks"),
}
OFFLINE = message("consequence.checkpoint_offline")
NO_START = message("consequence.checkpoint_ends_start")
NO_REPLICAS = message("consequence.high_watermarks_lost")
UNREAD = message("consequence.high_watermarks_unread")
# losses by any exception other than an IOException
LOSSES: dict[str, Message] = {
    names.RECOVERY_POINT_CHECKPOINT: message("consequence.recovery_points_lost"),
    names.LOG_START_CHECKPOINT: message("consequence.log_starts_lost"),
    names.CLEANER_CHECKPOINT: message("consequence.cleaner_offsets_lost"),
    names.HIGH_WATERMARK_CHECKPOINT: NO_REPLICAS,
}
# LogManager reads these, and does not catch an Error
READ_BY_LOG_MANAGER = (names.RECOVERY_POINT_CHECKPOINT, names.LOG_START_CHECKPOINT)


def fault(data: bytes) -> CorruptBytes | None:
    """Returns the fault that CheckpointFile finds in a checkpoint, or None.

    Raises:
        CannotOpen: the file has too many lines to be read here.
    """
    try:
        checkpoint.parse_offsets(data)
    except CorruptBytes as refusal:
        return refusal
    return None


def consequence(name: str, refusal: CorruptBytes, *, has_replicas: bool) -> Message:
    """Returns what a start does because of a damaged checkpoint.

    Args:
        has_replicas: whether the directory holds a replica in use; otherwise
            replication-offset-checkpoint is not read.
    """
    if name == names.HIGH_WATERMARK_CHECKPOINT and not has_replicas:
        return UNREAD
    if not isinstance(refusal, checkpoint.UncaughtRefusal):
        return OFFLINE
    is_error = refusal.exception[0].endswith("Error")
    return NO_START if is_error and name in READ_BY_LOG_MANAGER else LOSSES[name]


def steps(contents: Mapping[str, bytes], *, has_replicas: bool) -> Iterator[StartupStep]:
    """Yields the failures of a start at these checkpoints.

    Args:
        contents: the bytes of each existing checkpoint, by file name.
        has_replicas: same as for `consequence`.

    Raises:
        CannotOpen: a checkpoint has too many lines to be read here.
    """
    for name, way_out in WAY_OUTS.items():
        refusal = fault(contents[name]) if name in contents else None
        if refusal is None:
            continue
        outcome = consequence(name, refusal, has_replicas=has_replicas)
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
