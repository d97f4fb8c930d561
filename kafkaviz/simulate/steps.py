"""The input and output of a predicted start-up: a partition directory, and the steps on it."""

from dataclasses import dataclass, field
from typing import Any

from kafkaviz.binary.file_view import FileView
from kafkaviz.format.names import parse_directory
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig

# Kafka opens no larger .log (FileRecords.open), because a position is a Java int
MAX_LOG_BYTES = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class StoredLog:
    """A partition directory, and the broker's knowledge of it."""

    directory: str
    files: tuple[FileView, ...]  # of all kinds, without subdirectories
    config: IndexConfig = field(default_factory=IndexConfig)
    recovery_point: int = 0  # the checkpointed value, or 0
    log_start_offset: int = 0  # the checkpointed value, or 0
    stray_reason: Message | None = None  # why the metadata does not assign it to this broker
    replay_error: str | None = None  # the node's exception while it applies the metadata log
    # subdirectories; Kafka fails if one has the name of a file that Kafka opens
    folders: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The topic in the directory's name; the whole name if it is not a topic-partition."""
        name = parse_directory(self.directory)
        return name.topic if name else self.directory


ACTIONS = ("truncate", "rebuild", "delete", "create", "keep", "fail")


@dataclass(frozen=True, kw_only=True)
class StartupStep:
    """One step of broker start-up. The steps of a partition are in order."""

    partition: str | None = None  # None if the step is about the broker directory itself
    segment: int | None = None  # a base offset; None if the step is not about one segment
    # "truncate" cuts a .log. "rebuild" rewrites or trims a file. "delete" removes a file, or a
    # directory if segment and file are None. "create" makes a directory with an empty log. "keep"
    # leaves a file: start-up would write the same bytes, or the file only looks damaged. "fail"
    # ends the broker.
    action: str
    cause: str  # the reason as a word for programs, one of CAUSES
    why: Message  # the reason as a sentence for people
    file: str | None = None  # relative to the broker directory; None if not about one file
    # where "truncate" cuts the .log; for a full index, the position of the entry that does not fit
    from_position: int | None = None
    # the bytes that "truncate" or "delete" removes; the file's size after "rebuild"; the size of an
    # entry for a full index; None if unknown
    size_bytes: int | None = None
    error: str | None = None  # Kafka's exception, "class: message"; only for "fail"
    way_out: Message | None = None  # advice for a person; only for "fail"
    # a "fail" does not end the broker, but takes the log directory offline, as LogManager of 4.3.1
    # does after an IOException
    takes_directory_offline: bool = False
    log_directory: str | None = None  # None if unknown, or for a step about all log directories

    @property
    def is_expected(self) -> bool:
        """Whether this step is normal at any start-up, even of a healthy directory."""
        return self.cause in EXPECTED_CAUSES


def fail_step(
    cause: str, why: Message, exception: object, way_out: Message, **more: Any
) -> StartupStep:
    """Returns a "fail" step. `exception` is Kafka's, or None if its text is unknown."""
    error = str(exception) if exception else None
    return StartupStep(action="fail", cause=cause, why=why, error=error, way_out=way_out, **more)


EXPECTED_CAUSES = (
    "metadata-log",
    "leftover-deleted",
    "directory-deleted",
    "producer-state",
    "leader-epochs",
    "old-snapshot",
    "replica-created",
)
# for these causes broker start-up reads the whole .log of a segment
RECOVERY_CAUSES = (
    "unflushed", "index-missing", "index-corrupt", "tail", "invalid-offset", "index-full"
)  # fmt: skip
CAUSES = {
    "unflushed": message("cause.above_recovery_point"),
    "metadata-log": message("cause.metadata_log"),
    "index-missing": message("cause.index_missing"),
    "timeindex-missing": message("cause.timeindex_missing"),
    "index-corrupt": message("cause.index_fails_check"),
    "tail": message("cause.bytes_behind_last_batch"),
    "invalid-offset": message("cause.offsets_backwards"),
    "after-truncation": message("cause.after_truncation"),
    "leftover-deleted": message("cause.leftover_deleted"),
    "leftover-cleaned": message("cause.leftover_cleaned"),
    "leftover-swap": message("cause.leftover_swap"),
    "orphan-index": message("cause.orphan_index"),
    "log-start-beyond-end": message("cause.log_start_beyond_end"),
    "offset-overflow": message("cause.offset_overflow"),
    "producer-state": message("cause.producer_snapshot"),
    "leader-epochs": message("cause.leader_epochs"),
    "no-segment": message("cause.no_segment"),
    "directory-deleted": message("cause.directory_deleted"),
    "directory-stray": message("cause.directory_stray"),
    "becomes-stray": message("cause.becomes_stray"),
    "becomes-current": message("cause.becomes_current"),
    "replaced-by-future": message("cause.replaced_by_future"),
    "replica-created": message("cause.replica_created"),
    "unstable-offset": message("cause.unstable_offset"),
    "directory-offline": message("cause.directory_offline"),
    "directory-name": message("cause.directory_name"),
    "directory-twice": message("cause.directory_twice"),
    "file-name": message("cause.file_name"),
    "folder": message("cause.folder"),
    "segment-by-name": message("cause.segment_by_name"),
    "index-full": message("cause.index_full"),
    "index-too-large": message("cause.index_too_large"),
    "log-too-large": message("cause.log_too_large"),
    "leader-epochs-bad": message("cause.leader_epochs_unreadable"),
    "partition-metadata-bad": message("cause.partition_metadata_unreadable"),
    "meta-properties": message("cause.meta_properties_unusable"),
    "checkpoint-bad": message("cause.checkpoint_unreadable"),
    "metadata-version": message("cause.metadata_version"),
    "metadata-log-missing": message("cause.metadata_log_missing"),
    "metadata-log-elsewhere": message("cause.metadata_log_elsewhere"),
    "bootstrap": message("cause.bootstrap_unreadable"),
    "quorum-state-bad": message("cause.quorum_state_unreadable"),
    "snapshot-corrupt": message("cause.cluster_snapshot_unreadable"),
    "behind-snapshot": message("cause.behind_snapshot"),
    "old-snapshot": message("cause.old_snapshot"),
    "log-corrupt": message("cause.log_end_unreadable"),
    "exception": message("cause.other_exception"),
}


STOP_REASONS = {
    "crc": message("tail.wrong_checksum"),
    "torn": message("tail.last_batch_cut"),
    "short": message("tail.rest_too_short"),
    "bad-length": message("tail.impossible_length"),
    "too-small": message("tail.shorter_than_header"),
    "marker": message("tail.marker_unreadable"),
}
