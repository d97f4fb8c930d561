"""A finding: something true of a directory that a person may want to know, with its evidence.

CODES lists all of them.

    index-offset-mismatch   error   bookings-0/00000000000000000858.index, bytes 24 to 31
    found     offset 963, position 20672          expected  offset 963, position 13780
    Kafka     searches believe the entry ...      next      move the file away with the broker
    stopped ...
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import Message, message
from kafkaviz.versions import Behaviour, Release

ERROR, WARNING, INFO = SEVERITIES = ("error", "warning", "info")  # the worst first
# the modules of checks/
FAMILIES = (
    "log",
    "offset-index",
    "time-index",
    "other-files",
    "state",
    "tiered-storage",
    "time",
    "settings",
)


@dataclass(frozen=True)
class Evidence:
    """What lies there and what should.

    In words, and where a file says it in so many bytes, those too (in hexadecimal).
    """

    found: Message
    expected: Message | None = None
    found_hex: str = ""
    expected_hex: str = ""

    @property
    def text(self) -> str:
        """Both in one line."""
        parts = (
            self._format_part("found", self.found, self.found_hex),
            self._format_part("expected", self.expected, self.expected_hex),
        )
        return " ".join(filter(None, parts))

    @staticmethod
    def _format_part(label: str, text: Message | None, digits: str) -> str:
        return f"{label} {text}{f' ({digits})' if digits else ''}." if text else ""


@dataclass(frozen=True)
class Finding:
    """One thing that is so.

    Position and length are None where it is about an entire file, directory or setting.
    """

    code: str
    severity: str
    partition: str | None  # the directory's name; None for the broker directory itself
    file: str | None  # relative to the broker directory
    position: int | None
    length: int | None
    message: Message
    evidence: Evidence
    consequence: Message  # what Kafka does with it, in the version that was assumed
    next_step: Message
    reference: str | None = None  # a JIRA or a KIP

    @property
    def family(self) -> str:
        """The family of its code, one of FAMILIES."""
        return CODES[self.code].family


@dataclass(frozen=True)
class Code:
    """What all findings of one code have in common."""

    name: str
    family: str
    severity: str
    title: Message
    consequence: Message
    next_step: Message
    reference: str | None = None
    # releases that do not go that way yet do something else: this
    earlier_behaviour: tuple[Behaviour, Message] | None = None


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
        "batch-crc-mismatch",
        "log",
        ERROR,
        message("finding_title.batch_crc_mismatch"),
        message("consequence.batch_crc_mismatch"),
        _RESTORE,
    ),
    Code(
        "batch-bad-length",
        "log",
        ERROR,
        message("finding_title.batch_bad_length"),
        _RECOVERY_CUTS,
        _RESTORE,
    ),
    Code(
        "batch-bad-magic",
        "log",
        ERROR,
        message("finding_title.batch_bad_magic"),
        message("consequence.batch_bad_magic"),
        _RESTORE,
    ),
    Code(
        "batch-record-count",
        "log",
        ERROR,
        message("finding_title.batch_record_count"),
        message("consequence.batch_record_count"),
        _RESTORE,
    ),
    Code(
        "record-malformed",
        "log",
        ERROR,
        message("finding_title.record_malformed"),
        message("consequence.consumers_stop"),
        _RESTORE,
    ),
    Code(
        "decompress-failed",
        "log",
        ERROR,
        message("finding_title.decompress_failed"),
        message("consequence.consumers_stop"),
        _RESTORE,
    ),
    Code(
        "offsets-not-increasing",
        "log",
        ERROR,
        message("finding_title.offsets_not_increasing"),
        message("consequence.offsets_not_increasing"),
        _RESTORE,
    ),
    Code(
        "offset-below-base",
        "log",
        ERROR,
        message("finding_title.offset_below_base"),
        message("consequence.offset_below_base"),
        _RESTORE,
    ),
    Code(
        "offset-overflow",
        "log",
        ERROR,
        message("finding_title.offset_overflow"),
        message("consequence.offset_overflow"),
        message("next_step.let_start_split"),
        "KAFKA-6264",
    ),
    Code(
        "log-torn-tail",
        "log",
        ERROR,
        message("finding_title.log_torn_tail"),
        message("consequence.log_torn_tail"),
        message("next_step.let_recovery_cut"),
    ),
    Code(
        "log-zero-tail",
        "log",
        ERROR,
        message("finding_title.log_zero_tail"),
        message("consequence.log_zero_tail"),
        message("next_step.let_recovery_cut"),
    ),
    Code(
        "log-garbage-tail",
        "log",
        ERROR,
        message("finding_title.log_garbage_tail"),
        message("consequence.log_garbage_tail"),
        message("next_step.let_recovery_cut"),
    ),
    Code(
        "segment-overlap",
        "log",
        ERROR,
        message("finding_title.segment_overlap"),
        message("consequence.segment_overlap"),
        _RESTORE,
    ),
    Code(
        "segment-gap",
        "log",
        WARNING,
        message("finding_title.segment_gap"),
        message("consequence.segment_gap"),
        message("next_step.look_for_segment"),
    ),
    Code(
        "offset-gap-explained",
        "log",
        INFO,
        message("finding_title.offset_gap_explained"),
        message("consequence.offset_gap_explained"),
        _NO_ACTION,
    ),
    # ---- the .index
    Code(
        "index-missing",
        "offset-index",
        WARNING,
        message("finding_title.index_missing"),
        message("consequence.index_missing"),
        message("next_step.let_start_rebuild"),
        None,
    ),
    Code(
        "index-size-not-multiple",
        "offset-index",
        WARNING,
        message("finding_title.index_size_not_multiple"),
        message("consequence.index_size_not_multiple"),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-zero-tail",
        "offset-index",
        WARNING,
        message("finding_title.index_zero_tail"),
        message("consequence.index_zero_tail"),
        _REINDEX,
        "KAFKA-19200",
        _SANITY,
    ),
    Code(
        "index-not-monotonic",
        "offset-index",
        ERROR,
        message("finding_title.index_not_monotonic"),
        message("consequence.index_not_monotonic"),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-position-beyond-log",
        "offset-index",
        ERROR,
        message("finding_title.index_position_beyond_log"),
        message("consequence.index_position_beyond_log"),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-position-not-batch-start",
        "offset-index",
        ERROR,
        message("finding_title.index_position_not_batch_start"),
        message("consequence.index_position_not_batch_start"),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-offset-mismatch",
        "offset-index",
        ERROR,
        message("finding_title.index_offset_mismatch"),
        message("consequence.index_offset_mismatch"),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-coarse",
        "offset-index",
        INFO,
        message("finding_title.index_coarse"),
        message("consequence.index_coarse"),
        _NO_ACTION,
        "KAFKA-806",
    ),
    Code(
        "index-first-offset-keys",
        "offset-index",
        INFO,
        message("finding_title.index_first_offset_keys"),
        message("consequence.index_first_offset_keys"),
        _NO_ACTION,
        "KAFKA-6530",
    ),
    Code(
        "index-differs-from-rebuild",
        "offset-index",
        WARNING,
        message("finding_title.index_differs_from_rebuild"),
        message("consequence.index_differs_from_rebuild"),
        message("next_step.compare_with_rebuild"),
    ),
    Code(
        "index-unwritten-slots",
        "offset-index",
        INFO,
        message("finding_title.index_unwritten_slots"),
        message("consequence.index_unwritten_slots"),
        _NO_ACTION,
    ),
    # ---- the .timeindex
    Code(
        "timeindex-missing",
        "time-index",
        ERROR,
        message("finding_title.timeindex_missing"),
        message("consequence.timeindex_missing"),
        _TIME_REINDEX,
    ),
    Code(
        "timeindex-size-not-multiple",
        "time-index",
        WARNING,
        message("finding_title.timeindex_size_not_multiple"),
        message("consequence.timeindex_size_not_multiple"),
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-zero-tail",
        "time-index",
        ERROR,
        message("finding_title.timeindex_zero_tail"),
        message("consequence.timeindex_zero_tail"),
        _TIME_REINDEX,
        "KAFKA-19200",
        _SANITY,
    ),
    Code(
        "timeindex-not-monotonic",
        "time-index",
        ERROR,
        message("finding_title.timeindex_not_monotonic"),
        message("consequence.time_lookups_astray"),
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-offset-mismatch",
        "time-index",
        ERROR,
        message("finding_title.timeindex_offset_mismatch"),
        message("consequence.time_lookups_astray"),
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-timestamp-mismatch",
        "time-index",
        ERROR,
        message("finding_title.timeindex_timestamp_mismatch"),
        message("consequence.timeindex_timestamp_mismatch"),
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-deep-offset",
        "time-index",
        INFO,
        message("finding_title.timeindex_deep_offset"),
        message("consequence.timeindex_deep_offset"),
        _NO_ACTION,
        "KAFKA-16341",
    ),
    Code(
        "timeindex-max-missed",
        "time-index",
        WARNING,
        message("finding_title.timeindex_max_missed"),
        message("consequence.timeindex_max_missed"),
        _TIME_REINDEX,
    ),
    Code(
        "timeindex-empty",
        "time-index",
        INFO,
        message("finding_title.timeindex_empty"),
        message("consequence.timeindex_empty"),
        _NO_ACTION,
    ),
    # ---- other files
    Code(
        "txnindex-mismatch",
        "other-files",
        ERROR,
        message("finding_title.txnindex_mismatch"),
        message("consequence.txnindex_mismatch"),
        message("next_step.rebuild_txnindex"),
    ),
    Code(
        "txnindex-torn",
        "other-files",
        ERROR,
        message("finding_title.txnindex_torn"),
        message("consequence.txnindex_torn"),
        message("next_step.rebuild_txnindex"),
    ),
    Code(
        "snapshot-bad-crc",
        "other-files",
        WARNING,
        message("finding_title.snapshot_bad_crc"),
        message("consequence.snapshot_bad_crc"),
        message("next_step.move_file_away"),
    ),
    Code(
        "snapshot-stray",
        "other-files",
        WARNING,
        message("finding_title.snapshot_stray"),
        message("consequence.deleted_at_start"),
        message("next_step.move_file_away"),
    ),
    Code(
        "snapshot-missing",
        "other-files",
        WARNING,
        message("finding_title.snapshot_missing"),
        message("consequence.snapshot_missing"),
        message("next_step.start_as_after_kill"),
    ),
    Code(
        "leader-epoch-bad",
        "other-files",
        WARNING,
        message("finding_title.leader_epoch_bad"),
        message("consequence.directory_offline"),
        message("next_step.replace_epochs"),
    ),
    Code(
        "partition-metadata-bad",
        "other-files",
        WARNING,
        message("finding_title.partition_metadata_bad"),
        message("consequence.directory_offline"),
        message("next_step.rewrite_partition_metadata"),
    ),
    Code(
        "checkpoint-unreadable",
        "other-files",
        WARNING,
        message("finding_title.checkpoint_unreadable"),
        message("consequence.checkpoint_unreadable"),
        message("next_step.remove_checkpoint"),
    ),
    Code(
        "meta-properties-bad",
        "other-files",
        WARNING,
        message("finding_title.meta_properties_bad"),
        message("consequence.meta_properties_bad"),
        message("next_step.rewrite_meta_properties"),
    ),
    Code(
        "orphan-index",
        "other-files",
        WARNING,
        message("finding_title.orphan_index"),
        message("consequence.deleted_at_start"),
        message("next_step.look_for_log"),
    ),
    Code(
        "leftover-deleted",
        "other-files",
        INFO,
        message("finding_title.leftover_deleted"),
        message("consequence.leftover_deleted"),
        _NO_ACTION,
    ),
    Code(
        "leftover-cleaned",
        "other-files",
        WARNING,
        message("finding_title.leftover_cleaned"),
        message("consequence.leftover_cleaned"),
        message("next_step.sources_still_there"),
    ),
    Code(
        "leftover-swap",
        "other-files",
        WARNING,
        message("finding_title.leftover_swap"),
        message("consequence.leftover_swap"),
        message("next_step.let_start_complete"),
        None,
        (
            versions.SWAPPED_INDEXES,
            message("consequence.leftover_swap_before"),
        ),
    ),
    Code(
        "directory-name-bad",
        "other-files",
        WARNING,
        message("finding_title.directory_name_bad"),
        message("consequence.directory_name_bad"),
        message("next_step.move_out"),
    ),
    Code(
        "unknown-file",
        "other-files",
        WARNING,
        message("finding_title.unknown_file"),
        message("consequence.unknown_file"),
        message("next_step.move_out"),
    ),
    Code(
        "unreadable-file",
        "other-files",
        WARNING,
        message("finding_title.unreadable_file"),
        message("consequence.unread_offline"),
        message("next_step.read_as_other_user"),
    ),
    # ---- state
    Code(
        "unclean-shutdown",
        "state",
        WARNING,
        message("finding_title.unclean_shutdown"),
        message("consequence.unclean_shutdown"),
        message("next_step.let_start_recover"),
        "KAFKA-10471",
    ),
    Code(
        "recovery-will-truncate",
        "state",
        WARNING,
        message("finding_title.recovery_will_truncate"),
        message("consequence.recovery_will_truncate"),
        message("next_step.copy_log"),
    ),
    Code(
        "recovery-will-rebuild",
        "state",
        WARNING,
        message("finding_title.recovery_will_rebuild"),
        message("consequence.recovery_will_rebuild"),
        _NO_ACTION,
    ),
    Code(
        "recovery-will-delete",
        "state",
        WARNING,
        message("finding_title.recovery_will_delete"),
        message("consequence.recovery_will_delete"),
        message("next_step.copy_files"),
    ),
    Code(
        "recovery-will-fail",
        "state",
        ERROR,
        message("finding_title.recovery_will_fail"),
        message("consequence.recovery_will_fail"),
        message("next_step.mend_cause"),
    ),
    Code(
        "becomes-stray",
        "state",
        ERROR,
        message("finding_title.becomes_stray"),
        message("consequence.becomes_stray"),
        message("next_step.check_assignment"),
        "KAFKA-14616",
    ),
    Code(
        "log-start-beyond-end",
        "state",
        ERROR,
        message("finding_title.log_start_beyond_end"),
        message("consequence.log_start_beyond_end"),
        message("next_step.correct_log_start"),
    ),
    Code(
        "recovery-point-beyond-end",
        "state",
        WARNING,
        message("finding_title.recovery_point_beyond_end"),
        message("consequence.recovery_point_beyond_end"),
        message("next_step.compare_with_replica"),
    ),
    Code(
        "hanging-transaction",
        "state",
        WARNING,
        message("finding_title.hanging_transaction"),
        message("consequence.hanging_transaction"),
        message("next_step.abort_transaction"),
        "KIP-664",
    ),
    Code(
        "checks-partial",
        "state",
        INFO,
        message("finding_title.checks_partial"),
        message("consequence.checks_partial"),
        message("next_step.check_records"),
    ),
    # ---- tiered storage
    Code(
        "remote-segment-missing",
        "tiered-storage",
        ERROR,
        message("finding_title.remote_segment_missing"),
        message("consequence.remote_segment_missing"),
        message("next_step.restore_remote_segment"),
        "KIP-405",
    ),
    Code(
        "remote-copy-unfinished",
        "tiered-storage",
        INFO,
        message("finding_title.remote_copy_unfinished"),
        message("consequence.remote_copy_unfinished"),
        _NO_ACTION,
        "KIP-405",
    ),
    Code(
        "remote-segment-dangling",
        "tiered-storage",
        WARNING,
        message("finding_title.remote_segment_dangling"),
        message("consequence.remote_segment_dangling"),
        message("next_step.delete_dangling_segment"),
        "KIP-405",
    ),
    # ---- time and retention
    Code(
        "timestamp-in-future",
        "time",
        WARNING,
        message("finding_title.timestamp_in_future"),
        message("consequence.timestamp_in_future"),
        message("next_step.find_wrong_clock"),
        "KIP-937",
        (
            versions.FUTURE_REFUSED,
            message("consequence.timestamp_in_future_before"),
        ),
    ),
    Code(
        "timestamp-unit-suspect",
        "time",
        WARNING,
        message("finding_title.timestamp_unit_suspect"),
        message("consequence.timestamp_unit_suspect"),
        message("next_step.find_wrong_unit"),
    ),
    Code(
        "timestamps-out-of-order",
        "time",
        WARNING,
        message("finding_title.timestamps_out_of_order"),
        message("consequence.timestamps_out_of_order"),
        _NO_ACTION,
    ),
    Code(
        "timestamps-missing",
        "time",
        WARNING,
        message("finding_title.timestamps_missing"),
        message("consequence.timestamps_missing"),
        _NO_ACTION,
    ),
    Code(
        "retention-blocked",
        "time",
        WARNING,
        message("finding_title.retention_blocked"),
        message("consequence.retention_blocked"),
        message("next_step.delete_late_records"),
    ),
    Code(
        "retention-by-mtime",
        "time",
        INFO,
        message("finding_title.retention_by_mtime"),
        message("consequence.retention_by_mtime"),
        _NO_ACTION,
    ),
    # ---- settings and cost
    Code(
        "interval-without-effect",
        "settings",
        INFO,
        message("finding_title.interval_without_effect"),
        message("consequence.interval_without_effect"),
        _NO_ACTION,
    ),
    Code(
        "index-limit-rolls",
        "settings",
        WARNING,
        message("finding_title.index_limit_rolls"),
        message("consequence.index_limit_rolls"),
        message("next_step.raise_index_settings"),
    ),
    Code(
        "time-index-limit-binds",
        "settings",
        WARNING,
        message("finding_title.time_index_limit_binds"),
        message("consequence.time_index_limit_binds"),
        message("next_step.raise_index_settings"),
    ),
    Code(
        "preallocation-waste",
        "settings",
        WARNING,
        message("finding_title.preallocation_waste"),
        message("consequence.preallocation_waste"),
        message("next_step.copy_with_holes"),
    ),
    Code(
        "maps-near-limit",
        "settings",
        WARNING,
        message("finding_title.maps_near_limit"),
        message("consequence.maps_near_limit"),
        message("next_step.raise_map_count"),
        "KAFKA-19390",
    ),
    Code(
        "segments-tiny",
        "settings",
        WARNING,
        message("finding_title.segments_tiny"),
        message("consequence.segments_tiny"),
        message("next_step.raise_segment_settings"),
        "KIP-1030",
    ),
)
CODES: dict[str, Code] = {code.name: code for code in _TABLE}
# what a level of checking does not look for, or not everywhere: records are counted by the offsets
# of their batch, and a checksum where a header leads nowhere
_OF_RECORDS = ("batch-record-count", "record-malformed", "decompress-failed")
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
) -> Finding:
    """A finding of this code, with the words of the table where none are given.

    Without a release those of the newest release.
    """
    row = CODES[code]
    return Finding(
        code,
        row.severity,
        partition,
        file,
        position,
        length,
        message,
        evidence,
        consequence or _consequence(row, release),
        next_step or row.next_step,
        row.reference,
    )


def _consequence(row: Code, release: Release) -> Message:
    return (
        row.earlier_behaviour[1]
        if row.earlier_behaviour and release and not row.earlier_behaviour[0].applies_to(release)
        else row.consequence
    )


def as_info(findings: Iterable[Finding]) -> list[Finding]:
    """The same as mere information.

    Of a directory that waits for deletion nothing matters any more.
    """
    return [replace(finding, severity=INFO) for finding in findings]


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first; then by place."""

    def sort_key(finding: Finding) -> tuple:
        position = -1 if finding.position is None else finding.position
        return (
            SEVERITIES.index(finding.severity),
            natural_sort_key(finding.partition or ""),
            finding.file or "",
            position,
            finding.code,
        )

    return tuple(sorted(findings, key=sort_key))


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings of each severity."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}
