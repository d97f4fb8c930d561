"""The offset checkpoints of a log directory at a start: what Kafka does where one is damaged.

As CheckpointFile, LogManager, ReplicaManager and LogCleanerManager of Kafka 4.3.1 and 4.4.0 do.
Reading one can end in two ways:

* An IOException, such as a line that is not a checkpoint's, takes the log directory offline,
  whichever checkpoint it is.
* Any other exception, such as an offset that is not a number, takes nothing offline. LogManager
  then goes by an empty file, ReplicaManager starts none of the replicas that are assigned to the
  directory, and LogCleanerManager's thread ends.
"""

from collections.abc import Iterator, Mapping

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.startup.small_files import STORAGE
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
# of an exception that is no IOException
LOSSES: dict[str, Message] = {
    names.RECOVERY_POINT_CHECKPOINT: message("consequence.recovery_points_lost"),
    names.LOG_START_CHECKPOINT: message("consequence.log_starts_lost"),
    names.CLEANER_CHECKPOINT: message("consequence.cleaner_offsets_lost"),
    names.HIGH_WATERMARK_CHECKPOINT: NO_REPLICAS,
}
# LogManager reads these, and does not catch an Error
READ_BY_LOG_MANAGER = (names.RECOVERY_POINT_CHECKPOINT, names.LOG_START_CHECKPOINT)


def fault(data: bytes) -> CorruptBytes | None:
    """Returns what CheckpointFile refuses in the bytes of a checkpoint, or None.

    Raises:
        CannotOpen: the file has more lines than are read.
    """
    try:
        checkpoint.parse_offsets(data)
    except CorruptBytes as refusal:
        return refusal
    return None


def consequence(name: str, refusal: CorruptBytes, *, has_replicas: bool) -> Message:
    """Returns what a start does with a checkpoint that has this fault.

    Args:
        has_replicas: whether the directory holds a replica in use; without one nothing reads
            replication-offset-checkpoint.
    """
    if name == names.HIGH_WATERMARK_CHECKPOINT and not has_replicas:
        return UNREAD
    if not isinstance(refusal, checkpoint.UncaughtRefusal):
        return OFFLINE
    is_error = refusal.exception[0].endswith("Error")
    return NO_START if is_error and name in READ_BY_LOG_MANAGER else LOSSES[name]


def steps(contents: Mapping[str, bytes], *, has_replicas: bool) -> Iterator[StartupStep]:
    """The failures of a start at these checkpoints.

    Args:
        contents: the bytes of each checkpoint that is there, by file name.
        has_replicas: as of consequence.

    Raises:
        CannotOpen: a checkpoint has more lines than are read.
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
            partition=None,
            segment=None,
            action="fail",
            cause="checkpoint-bad",
            why=message(key, file=name, problem=refusal.what),
            file=name,
            error=str(exception),
            way_out=way_out,
            takes_directory_offline=outcome == OFFLINE,
        )
