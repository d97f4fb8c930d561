"""Findings: facts about a directory that a user may want to know, with their evidence.

CODES lists all kinds of findings. For example:

    index-offset-mismatch   error   bookings-0/00000000000000000858.index, bytes 24 to 31
    found       offset 963, position 20672
    expected    offset 963, position 13780
    Kafka       searches believe the entry ...
    next step   move the file away with the broker stopped ...
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import Message, message
from kafkaviz.versions import Behaviour, Release

# the worst first
ERROR = "error"
WARNING = "warning"
INFO = "info"
SEVERITIES = (ERROR, WARNING, INFO)
# the modules of checks/
FAMILIES = (
    "log",
    "offset-index",
    "time-index",
    "other-files",
    "log-directories",
    "state",
    "tiered-storage",
    "time",
    "settings",
)


@dataclass(frozen=True)
class Evidence:
    """The actual and the expected value, as text and, if a file contains it, in hexadecimal."""

    found: Message
    expected: Message | None = None
    found_hex: str = ""
    expected_hex: str = ""

    @property
    def text(self) -> str:
        parts = (
            self._format_part("found", self.found, self.found_hex),
            self._format_part("expected", self.expected, self.expected_hex),
        )
        return " ".join(filter(None, parts))

    @staticmethod
    def _format_part(label: str, text: Message | None, digits: str) -> str:
        return f"{label} {text}{f' ({digits})' if digits else ''}." if text else ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fact about a directory that a user may want to know, such as a fault.

    Position and length, in bytes, are None if the finding is about a file, directory or setting as
    a whole.
    """

    code: str
    severity: str
    partition: str | None  # name of the partition directory; None for the log directory itself
    file: str | None  # relative to the log directory
    position: int | None
    length: int | None
    message: Message
    evidence: Evidence
    consequence: Message  # Kafka's reaction, in the assumed release
    next_step: Message
    reference: str | None = None  # a JIRA or a KIP
    # path of the log directory; None for the whole broker, or a partition without one
    log_directory: str | None = None

    @property
    def family(self) -> str:
        return CODES[self.code].family

    @property
    def needs_replica(self) -> bool:
        """Whether its next step is to compare with another replica."""
        return self.next_step.key in _REPLICA_STEPS


@dataclass(frozen=True, kw_only=True)
class Code:
    name: str
    family: str
    severity: str
    title: Message
    consequence: Message
    next_step: Message
    reference: str | None = None
    # a change of behaviour, and the consequence in releases before it
    earlier_behaviour: tuple[Behaviour, Message] | None = None


# their texts name `kafkaviz compare`
_REPLICA_STEPS = frozenset(
    f"next_step.{name}"
    for name in (
        "compare_with_replica",
        "look_for_segment",
        "replace_epochs",
        "restore_before_cut",
        "restore_closed_segment",
        "restore_partition",
        "restore_segment",
    )
)
_RESTORE = message("next_step.restore_partition")
_REINDEX = message("next_step.rebuild_indexes")
_NO_ACTION = message("next_step.nothing")
_TIME_REINDEX = message("next_step.rebuild_both_indexes")

_SANITY = (
    versions.INDEXES_TRUSTED,
    message("consequence.sanity_check"),
)
_RECOVERY_CUTS = message("consequence.recovery_cuts")

_TABLE = (
    # ---- the .log
    Code(
        name="message-crc-mismatch",
        family="log",
        severity=ERROR,
        title=message("finding_title.message_crc_mismatch"),
        consequence=message("consequence.message_crc_mismatch"),
        next_step=_RESTORE,
    ),
    Code(
        name="batch-timestamp-mismatch",
        family="log",
        severity=ERROR,
        title=message("finding_title.batch_timestamp_mismatch"),
        consequence=message("consequence.batch_timestamp_mismatch"),
        next_step=_RESTORE,
    ),
    Code(
        name="record-offsets-not-increasing",
        family="log",
        severity=ERROR,
        title=message("finding_title.record_offsets_not_increasing"),
        consequence=message("consequence.record_offsets_not_increasing"),
        next_step=_RESTORE,
    ),
    Code(
        name="producer-out-of-order",
        family="log",
        severity=WARNING,
        title=message("finding_title.producer_out_of_order"),
        consequence=message("consequence.producer_out_of_order"),
        next_step=_RESTORE,
    ),
    Code(
        name="batch-crc-mismatch",
        family="log",
        severity=ERROR,
        title=message("finding_title.batch_crc_mismatch"),
        consequence=message("consequence.batch_crc_mismatch"),
        next_step=_RESTORE,
    ),
    Code(
        name="batch-bad-length",
        family="log",
        severity=ERROR,
        title=message("finding_title.batch_bad_length"),
        consequence=_RECOVERY_CUTS,
        next_step=_RESTORE,
    ),
    Code(
        name="batch-bad-magic",
        family="log",
        severity=ERROR,
        title=message("finding_title.batch_bad_magic"),
        consequence=message("consequence.batch_bad_magic"),
        next_step=_RESTORE,
    ),
    Code(
        name="batch-record-count",
        family="log",
        severity=ERROR,
        title=message("finding_title.batch_record_count"),
        consequence=message("consequence.batch_record_count"),
        next_step=_RESTORE,
    ),
    Code(
        name="record-malformed",
        family="log",
        severity=ERROR,
        title=message("finding_title.record_malformed"),
        consequence=message("consequence.consumers_stop"),
        next_step=_RESTORE,
    ),
    Code(
        name="decompress-failed",
        family="log",
        severity=ERROR,
        title=message("finding_title.decompress_failed"),
        consequence=message("consequence.consumers_stop"),
        next_step=_RESTORE,
    ),
    Code(
        name="offsets-not-increasing",
        family="log",
        severity=ERROR,
        title=message("finding_title.offsets_not_increasing"),
        consequence=message("consequence.offsets_not_increasing"),
        next_step=_RESTORE,
    ),
    Code(
        name="offset-below-base",
        family="log",
        severity=ERROR,
        title=message("finding_title.offset_below_base"),
        consequence=message("consequence.offset_below_base"),
        next_step=_RESTORE,
    ),
    Code(
        name="offset-overflow",
        family="log",
        severity=ERROR,
        title=message("finding_title.offset_overflow"),
        consequence=message("consequence.offset_overflow"),
        next_step=message("next_step.let_start_split"),
        reference="KAFKA-6264",
    ),
    Code(
        name="log-torn-tail",
        family="log",
        severity=ERROR,
        title=message("finding_title.log_torn_tail"),
        consequence=message("consequence.log_torn_tail"),
        next_step=message("next_step.let_recovery_cut"),
    ),
    Code(
        name="log-zero-tail",
        family="log",
        severity=ERROR,
        title=message("finding_title.log_zero_tail"),
        consequence=message("consequence.log_zero_tail"),
        next_step=message("next_step.let_recovery_cut"),
    ),
    Code(
        name="log-garbage-tail",
        family="log",
        severity=ERROR,
        title=message("finding_title.log_garbage_tail"),
        consequence=message("consequence.log_garbage_tail"),
        next_step=message("next_step.let_recovery_cut"),
    ),
    Code(
        name="segment-overlap",
        family="log",
        severity=ERROR,
        title=message("finding_title.segment_overlap"),
        consequence=message("consequence.segment_overlap"),
        next_step=_RESTORE,
    ),
    Code(
        name="segment-gap",
        family="log",
        severity=WARNING,
        title=message("finding_title.segment_gap"),
        consequence=message("consequence.segment_gap"),
        next_step=message("next_step.look_for_segment"),
    ),
    Code(
        name="offset-gap-explained",
        family="log",
        severity=INFO,
        title=message("finding_title.offset_gap_explained"),
        consequence=message("consequence.offset_gap_explained"),
        next_step=_NO_ACTION,
    ),
    # ---- the .index
    Code(
        name="index-missing",
        family="offset-index",
        severity=WARNING,
        title=message("finding_title.index_missing"),
        consequence=message("consequence.index_missing"),
        next_step=message("next_step.let_start_rebuild"),
        reference=None,
    ),
    Code(
        name="index-size-not-multiple",
        family="offset-index",
        severity=WARNING,
        title=message("finding_title.index_size_not_multiple"),
        consequence=message("consequence.index_size_not_multiple"),
        next_step=_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-zero-tail",
        family="offset-index",
        severity=WARNING,
        title=message("finding_title.index_zero_tail"),
        consequence=message("consequence.index_zero_tail"),
        next_step=_REINDEX,
        reference="KAFKA-19200",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-not-monotonic",
        family="offset-index",
        severity=ERROR,
        title=message("finding_title.index_not_monotonic"),
        consequence=message("consequence.index_not_monotonic"),
        next_step=_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-position-beyond-log",
        family="offset-index",
        severity=ERROR,
        title=message("finding_title.index_position_beyond_log"),
        consequence=message("consequence.index_position_beyond_log"),
        next_step=_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-position-not-batch-start",
        family="offset-index",
        severity=ERROR,
        title=message("finding_title.index_position_not_batch_start"),
        consequence=message("consequence.index_position_not_batch_start"),
        next_step=_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-offset-mismatch",
        family="offset-index",
        severity=ERROR,
        title=message("finding_title.index_offset_mismatch"),
        consequence=message("consequence.index_offset_mismatch"),
        next_step=_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="index-coarse",
        family="offset-index",
        severity=INFO,
        title=message("finding_title.index_coarse"),
        consequence=message("consequence.index_coarse"),
        next_step=_NO_ACTION,
        reference="KAFKA-806",
    ),
    Code(
        name="index-first-offset-keys",
        family="offset-index",
        severity=INFO,
        title=message("finding_title.index_first_offset_keys"),
        consequence=message("consequence.index_first_offset_keys"),
        next_step=_NO_ACTION,
        reference="KAFKA-6530",
    ),
    Code(
        name="index-differs-from-rebuild",
        family="offset-index",
        severity=WARNING,
        title=message("finding_title.index_differs_from_rebuild"),
        consequence=message("consequence.index_differs_from_rebuild"),
        next_step=message("next_step.compare_with_rebuild"),
    ),
    Code(
        name="index-unwritten-slots",
        family="offset-index",
        severity=INFO,
        title=message("finding_title.index_unwritten_slots"),
        consequence=message("consequence.index_unwritten_slots"),
        next_step=_NO_ACTION,
    ),
    # ---- the .timeindex
    Code(
        name="timeindex-missing",
        family="time-index",
        severity=ERROR,
        title=message("finding_title.timeindex_missing"),
        consequence=message("consequence.timeindex_missing"),
        next_step=_TIME_REINDEX,
    ),
    Code(
        name="timeindex-size-not-multiple",
        family="time-index",
        severity=WARNING,
        title=message("finding_title.timeindex_size_not_multiple"),
        consequence=message("consequence.timeindex_size_not_multiple"),
        next_step=_TIME_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="timeindex-zero-tail",
        family="time-index",
        severity=ERROR,
        title=message("finding_title.timeindex_zero_tail"),
        consequence=message("consequence.timeindex_zero_tail"),
        next_step=_TIME_REINDEX,
        reference="KAFKA-19200",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="timeindex-not-monotonic",
        family="time-index",
        severity=ERROR,
        title=message("finding_title.timeindex_not_monotonic"),
        consequence=message("consequence.time_lookups_astray"),
        next_step=_TIME_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="timeindex-offset-mismatch",
        family="time-index",
        severity=ERROR,
        title=message("finding_title.timeindex_offset_mismatch"),
        consequence=message("consequence.time_lookups_astray"),
        next_step=_TIME_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="timeindex-timestamp-mismatch",
        family="time-index",
        severity=ERROR,
        title=message("finding_title.timeindex_timestamp_mismatch"),
        consequence=message("consequence.timeindex_timestamp_mismatch"),
        next_step=_TIME_REINDEX,
        reference="KAFKA-7283",
        earlier_behaviour=_SANITY,
    ),
    Code(
        name="timeindex-deep-offset",
        family="time-index",
        severity=INFO,
        title=message("finding_title.timeindex_deep_offset"),
        consequence=message("consequence.timeindex_deep_offset"),
        next_step=_NO_ACTION,
        reference="KAFKA-16341",
    ),
    Code(
        name="timeindex-max-missed",
        family="time-index",
        severity=WARNING,
        title=message("finding_title.timeindex_max_missed"),
        consequence=message("consequence.timeindex_max_missed"),
        next_step=_TIME_REINDEX,
    ),
    Code(
        name="timeindex-empty",
        family="time-index",
        severity=INFO,
        title=message("finding_title.timeindex_empty"),
        consequence=message("consequence.timeindex_empty"),
        next_step=_NO_ACTION,
    ),
    # ---- other files
    Code(
        name="txnindex-mismatch",
        family="other-files",
        severity=ERROR,
        title=message("finding_title.txnindex_mismatch"),
        consequence=message("consequence.txnindex_mismatch"),
        next_step=message("next_step.rebuild_txnindex"),
    ),
    Code(
        name="txnindex-torn",
        family="other-files",
        severity=ERROR,
        title=message("finding_title.txnindex_torn"),
        consequence=message("consequence.txnindex_torn"),
        next_step=message("next_step.rebuild_txnindex"),
    ),
    Code(
        name="snapshot-bad-crc",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.snapshot_bad_crc"),
        consequence=message("consequence.snapshot_bad_crc"),
        next_step=message("next_step.move_file_away"),
    ),
    Code(
        name="snapshot-stray",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.snapshot_stray"),
        consequence=message("consequence.deleted_at_start"),
        next_step=message("next_step.move_file_away"),
    ),
    Code(
        name="snapshot-missing",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.snapshot_missing"),
        consequence=message("consequence.snapshot_missing"),
        next_step=message("next_step.start_as_after_kill"),
    ),
    Code(
        name="leader-epoch-bad",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.leader_epoch_bad"),
        consequence=message("consequence.directory_offline"),
        next_step=message("next_step.replace_epochs"),
    ),
    Code(
        name="partition-metadata-bad",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.partition_metadata_bad"),
        consequence=message("consequence.directory_offline"),
        next_step=message("next_step.rewrite_partition_metadata"),
    ),
    Code(
        name="checkpoint-unreadable",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.checkpoint_unreadable"),
        consequence=message("consequence.checkpoint_offline"),
        next_step=message("next_step.restore_or_remove_checkpoint"),
    ),
    Code(
        name="checkpoint-empty",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.checkpoint_empty"),
        consequence=message("consequence.recovery_points_lost"),
        next_step=message("next_step.restore_empty_checkpoint"),
    ),
    Code(
        name="meta-properties-bad",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.meta_properties_bad"),
        consequence=message("consequence.meta_properties_bad"),
        next_step=message("next_step.rewrite_meta_properties"),
    ),
    # ---- the log directories of a broker
    Code(
        name="other-log-directories",
        family="log-directories",
        severity=INFO,
        title=message("finding_title.other_log_directories"),
        consequence=message("consequence.other_log_directories"),
        next_step=message("next_step.other_log_directories"),
    ),
    Code(
        name="metadata-log-missing",
        family="log-directories",
        severity=ERROR,
        title=message("finding_title.metadata_log_missing"),
        consequence=message("consequence.metadata_log_missing"),
        next_step=message("next_step.metadata_log_missing"),
    ),
    Code(
        name="partition-in-two-directories",
        family="log-directories",
        severity=ERROR,
        title=message("finding_title.partition_in_two_directories"),
        consequence=message("consequence.partition_in_two_directories"),
        next_step=message("way_out.move_one_replica_away"),
    ),
    Code(
        name="future-replica",
        family="log-directories",
        severity=INFO,
        title=message("finding_title.future_replica"),
        consequence=message("consequence.future_replica"),
        next_step=message("next_step.future_replica"),
    ),
    Code(
        name="future-replica-alone",
        family="log-directories",
        severity=ERROR,
        title=message("finding_title.future_replica_alone"),
        consequence=message("consequence.future_replica_alone"),
        next_step=message("next_step.future_replica_alone"),
    ),
    Code(
        name="log-directory-missing",
        family="log-directories",
        severity=WARNING,
        title=message("finding_title.log_directory_missing"),
        consequence=message("consequence.log_directory_missing"),
        next_step=message("next_step.log_directory_missing"),
    ),
    Code(
        name="log-directory-empty",
        family="log-directories",
        severity=WARNING,
        title=message("finding_title.log_directory_empty"),
        consequence=message("consequence.log_directory_empty"),
        next_step=message("next_step.log_directory_empty"),
    ),
    Code(
        name="log-directory-lost",
        family="log-directories",
        severity=ERROR,
        title=message("finding_title.log_directory_lost"),
        consequence=message("consequence.log_directory_lost"),
        next_step=message("next_step.log_directory_lost"),
    ),
    Code(
        name="replica-elsewhere",
        family="log-directories",
        severity=WARNING,
        title=message("finding_title.replica_elsewhere"),
        consequence=message("consequence.replica_elsewhere"),
        next_step=message("next_step.replica_elsewhere"),
    ),
    Code(
        name="orphan-index",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.orphan_index"),
        consequence=message("consequence.deleted_at_start"),
        next_step=message("next_step.look_for_log"),
    ),
    Code(
        name="leftover-deleted",
        family="other-files",
        severity=INFO,
        title=message("finding_title.leftover_deleted"),
        consequence=message("consequence.leftover_deleted"),
        next_step=_NO_ACTION,
    ),
    Code(
        name="leftover-cleaned",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.leftover_cleaned"),
        consequence=message("consequence.leftover_cleaned"),
        next_step=message("next_step.sources_still_there"),
    ),
    Code(
        name="leftover-swap",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.leftover_swap"),
        consequence=message("consequence.leftover_swap"),
        next_step=message("next_step.let_start_complete"),
        reference=None,
        earlier_behaviour=(
            versions.SWAPPED_INDEXES,
            message("consequence.leftover_swap_before"),
        ),
    ),
    Code(
        name="directory-name-bad",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.directory_name_bad"),
        consequence=message("consequence.directory_name_bad"),
        next_step=message("next_step.move_out"),
    ),
    Code(
        name="unknown-file",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.unknown_file"),
        consequence=message("consequence.unknown_file"),
        next_step=message("next_step.move_out"),
    ),
    Code(
        name="unreadable-file",
        family="other-files",
        severity=WARNING,
        title=message("finding_title.unreadable_file"),
        consequence=message("consequence.unread_offline"),
        next_step=message("next_step.read_as_other_user"),
    ),
    # ---- state
    Code(
        name="unclean-shutdown",
        family="state",
        severity=WARNING,
        title=message("finding_title.unclean_shutdown"),
        consequence=message("consequence.unclean_shutdown"),
        next_step=message("next_step.let_start_recover"),
        reference="KAFKA-10471",
    ),
    Code(
        name="recovery-will-truncate",
        family="state",
        severity=WARNING,
        title=message("finding_title.recovery_will_truncate"),
        consequence=message("consequence.recovery_will_truncate"),
        next_step=message("next_step.copy_log"),
    ),
    Code(
        name="recovery-will-rebuild",
        family="state",
        severity=WARNING,
        title=message("finding_title.recovery_will_rebuild"),
        consequence=message("consequence.recovery_will_rebuild"),
        next_step=_NO_ACTION,
    ),
    Code(
        name="recovery-will-delete",
        family="state",
        severity=WARNING,
        title=message("finding_title.recovery_will_delete"),
        consequence=message("consequence.recovery_will_delete"),
        next_step=message("next_step.copy_files"),
    ),
    Code(
        name="recovery-will-fail",
        family="state",
        severity=ERROR,
        title=message("finding_title.recovery_will_fail"),
        consequence=message("consequence.recovery_will_fail"),
        next_step=message("next_step.mend_cause"),
    ),
    Code(
        name="becomes-stray",
        family="state",
        severity=ERROR,
        title=message("finding_title.becomes_stray"),
        consequence=message("consequence.becomes_stray"),
        next_step=message("next_step.check_assignment"),
        reference="KAFKA-14616",
    ),
    Code(
        name="log-start-beyond-end",
        family="state",
        severity=ERROR,
        title=message("finding_title.log_start_beyond_end"),
        consequence=message("consequence.log_start_beyond_end"),
        next_step=message("next_step.correct_log_start"),
    ),
    Code(
        name="recovery-point-beyond-end",
        family="state",
        severity=ERROR,
        title=message("finding_title.recovery_point_beyond_end"),
        consequence=message("consequence.recovery_point_beyond_end"),
        next_step=message("next_step.compare_with_replica"),
    ),
    Code(
        name="open-transaction",
        family="state",
        severity=INFO,
        title=message("finding_title.open_transaction"),
        consequence=message("consequence.hanging_transaction"),
        next_step=message("next_step.await_transaction"),
    ),
    Code(
        name="high-watermark-beyond-end",
        family="state",
        severity=ERROR,
        title=message("finding_title.high_watermark_beyond_end"),
        consequence=message("consequence.high_watermark_beyond_end"),
        next_step=message("next_step.compare_with_replica"),
    ),
    Code(
        name="partition-missing",
        family="state",
        severity=ERROR,
        title=message("finding_title.partition_missing"),
        consequence=message("consequence.partition_missing"),
        next_step=message("next_step.restore_directory"),
    ),
    Code(
        name="hanging-transaction",
        family="state",
        severity=WARNING,
        title=message("finding_title.hanging_transaction"),
        consequence=message("consequence.hanging_transaction"),
        next_step=message("next_step.abort_transaction"),
        reference="KIP-664",
    ),
    Code(
        name="checks-partial",
        family="state",
        severity=INFO,
        title=message("finding_title.checks_partial"),
        consequence=message("consequence.checks_partial"),
        next_step=message("next_step.check_records"),
    ),
    # ---- tiered storage
    Code(
        name="remote-segment-missing",
        family="tiered-storage",
        severity=ERROR,
        title=message("finding_title.remote_segment_missing"),
        consequence=message("consequence.remote_segment_missing"),
        next_step=message("next_step.restore_remote_segment"),
        reference="KIP-405",
    ),
    Code(
        name="remote-segment-unreadable",
        family="tiered-storage",
        severity=ERROR,
        title=message("finding_title.remote_segment_unreadable"),
        consequence=message("consequence.remote_segment_unreadable"),
        next_step=message("next_step.restore_remote_segment"),
        reference="KIP-405",
    ),
    Code(
        name="remote-copy-unfinished",
        family="tiered-storage",
        severity=INFO,
        title=message("finding_title.remote_copy_unfinished"),
        consequence=message("consequence.remote_copy_unfinished"),
        next_step=_NO_ACTION,
        reference="KIP-405",
    ),
    Code(
        name="remote-segment-dangling",
        family="tiered-storage",
        severity=WARNING,
        title=message("finding_title.remote_segment_dangling"),
        consequence=message("consequence.remote_segment_dangling"),
        next_step=message("next_step.delete_dangling_segment"),
        reference="KIP-405",
    ),
    # ---- time and retention
    Code(
        name="timestamp-in-future",
        family="time",
        severity=WARNING,
        title=message("finding_title.timestamp_in_future"),
        consequence=message("consequence.timestamp_in_future"),
        next_step=message("next_step.find_wrong_clock"),
        reference="KIP-937",
        earlier_behaviour=(
            versions.FUTURE_REFUSED,
            message("consequence.timestamp_in_future_before"),
        ),
    ),
    Code(
        name="timestamp-unit-suspect",
        family="time",
        severity=WARNING,
        title=message("finding_title.timestamp_unit_suspect"),
        consequence=message("consequence.timestamp_unit_suspect"),
        next_step=message("next_step.find_wrong_unit"),
    ),
    Code(
        name="timestamps-out-of-order",
        family="time",
        severity=WARNING,
        title=message("finding_title.timestamps_out_of_order"),
        consequence=message("consequence.timestamps_out_of_order"),
        next_step=_NO_ACTION,
    ),
    Code(
        name="timestamps-missing",
        family="time",
        severity=WARNING,
        title=message("finding_title.timestamps_missing"),
        consequence=message("consequence.timestamps_missing"),
        next_step=_NO_ACTION,
    ),
    Code(
        name="retention-blocked",
        family="time",
        severity=WARNING,
        title=message("finding_title.retention_blocked"),
        consequence=message("consequence.retention_blocked"),
        next_step=message("next_step.delete_late_records"),
    ),
    Code(
        name="retention-by-mtime",
        family="time",
        severity=INFO,
        title=message("finding_title.retention_by_mtime"),
        consequence=message("consequence.retention_by_mtime"),
        next_step=_NO_ACTION,
    ),
    # ---- settings and cost
    Code(
        name="interval-without-effect",
        family="settings",
        severity=INFO,
        title=message("finding_title.interval_without_effect"),
        consequence=message("consequence.interval_without_effect"),
        next_step=_NO_ACTION,
    ),
    Code(
        name="index-limit-rolls",
        family="settings",
        severity=WARNING,
        title=message("finding_title.index_limit_rolls"),
        consequence=message("consequence.index_limit_rolls"),
        next_step=message("next_step.raise_index_settings"),
    ),
    Code(
        name="time-index-limit-binds",
        family="settings",
        severity=WARNING,
        title=message("finding_title.time_index_limit_binds"),
        consequence=message("consequence.time_index_limit_binds"),
        next_step=message("next_step.raise_index_settings"),
    ),
    Code(
        name="preallocation-waste",
        family="settings",
        severity=WARNING,
        title=message("finding_title.preallocation_waste"),
        consequence=message("consequence.preallocation_waste"),
        next_step=message("next_step.copy_with_holes"),
    ),
    Code(
        name="maps-near-limit",
        family="settings",
        severity=WARNING,
        title=message("finding_title.maps_near_limit"),
        consequence=message("consequence.maps_near_limit"),
        next_step=message("next_step.raise_map_count"),
        reference="KAFKA-19390",
    ),
    Code(
        name="segments-tiny",
        family="settings",
        severity=WARNING,
        title=message("finding_title.segments_tiny"),
        consequence=message("consequence.segments_tiny"),
        next_step=message("next_step.raise_segment_settings"),
        reference="KIP-1030",
    ),
)
CODES: dict[str, Code] = {code.name: code for code in _TABLE}
# Codes that a level of checking does not find, or not everywhere. Below RECORDS, the number of
# records is only compared with the offsets of their batch. At HEADERS, a checksum is only computed
# where a header leads nowhere.
_OF_RECORDS = (
    "batch-record-count",
    "record-malformed",
    "decompress-failed",
    "message-crc-mismatch",
    "batch-timestamp-mismatch",
    "record-offsets-not-increasing",
)
UNCHECKED_CODES = {
    CheckLevel.HEADERS: ("batch-crc-mismatch", *_OF_RECORDS),
    CheckLevel.CRC: _OF_RECORDS,
    CheckLevel.RECORDS: (),
}


def finding(
    code: str,
    message: Message,
    evidence: Evidence,
    *,
    partition: str | None = None,
    file: str | None = None,
    position: int | None = None,
    length: int | None = None,
    release: Release = (),
    consequence: Message | None = None,
    next_step: Message | None = None,
    log_directory: str | None = None,
) -> Finding:
    """Returns a finding of this code; texts that are not given come from the table.

    Without a release, the texts for the newest release are used.
    """
    row = CODES[code]
    return Finding(
        code=code,
        severity=row.severity,
        partition=partition,
        file=file,
        position=position,
        length=length,
        message=message,
        evidence=evidence,
        consequence=consequence or _consequence(row, release),
        next_step=next_step or row.next_step,
        reference=row.reference,
        log_directory=log_directory,
    )


def _consequence(row: Code, release: Release) -> Message:
    if row.earlier_behaviour and release and not row.earlier_behaviour[0].applies_to(release):
        return row.earlier_behaviour[1]
    return row.consequence


def as_info(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings with severity "info".

    Nothing is severe in a directory that waits for deletion.
    """
    return [replace(finding, severity=INFO) for finding in findings]


def sort_key(finding: Finding) -> tuple:
    """Returns the sort key of a finding: the worst severity first, then by place."""
    return place_key(
        finding.severity, finding.partition, finding.file, finding.position, finding.code
    )


def place_key(
    severity: str, directory: str | None, file: str | None, position: int | None, code: str
) -> tuple:
    return (
        SEVERITIES.index(severity),
        natural_sort_key(directory or ""),
        file or "",
        -1 if position is None else position,
        code,
    )


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=sort_key))


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}
