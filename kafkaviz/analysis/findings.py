"""Findings: facts about a directory that a user may want to know, each with its evidence.

CODES lists all kinds of findings. For example:

    index-offset-mismatch   error   bookings-0/00000000000000000858.index, bytes 24 to 31
    found       offset 949, position 16372
    expected    offset 949, position 9285
    next step   move the file away with the broker stopped ...
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import Message, message
from kafkaviz.versions import Behaviour, Release

# severities, the worst first
ERROR = "error"
WARNING = "warning"
INFO = "info"
SEVERITIES = (ERROR, WARNING, INFO)
# the codes for a .log that ends in bytes that are not a whole batch, by the kind of the tail
TAIL_CODES = {"torn": "log-torn-tail", "zeros": "log-zero-tail", "garbage": "log-garbage-tail"}


@dataclass(frozen=True)
class Evidence:
    """The found and the expected value, as text and (for a file) in hexadecimal."""

    found: Message
    expected: Message | None = None
    found_hex: str = ""
    expected_hex: str = ""

    @property
    def text(self) -> str:
        sentences = []
        for label, value, digits in (
            ("found", self.found, self.found_hex),
            ("expected", self.expected, self.expected_hex),
        ):
            if value:
                sentences.append(f"{label} {value}{f' ({digits})' if digits else ''}.")
        return " ".join(sentences)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A fact about a directory that a user may want to know.

    `position` and `length` are in bytes; None if the fact is about a whole file, a directory or a
    setting.
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
        """Whether the next step is to compare the partition with another replica."""
        return self.next_step.key in _REPLICA_STEPS


@dataclass(frozen=True, kw_only=True)
class Code:
    name: str
    severity: str
    title: Message
    consequence: Message
    next_step: Message
    reference: str | None
    # a change of Kafka's behaviour, and the consequence in releases before that change
    earlier_behaviour: tuple[Behaviour, Message] | None
    cause: Message | None  # a fault of Kafka that may be the cause
    faulty_releases: Behaviour | None  # the releases with that fault; None if the check decides
    damages_batch: bool  # whether the batch has a wrong checksum, or its records cannot be read
    family: str = ""  # filled in by CODES


# messages of next steps that name `kafkaviz compare`
_REPLICA_STEPS = frozenset(
    f"next_step.{name}"
    for name in (
        "compare_with_replica",
        "look_for_segment",
        "replace_epochs",
        "restore_before_cut",
        "restore_closed_segment",
        "restore_or_recover",
        "restore_partition",
        "restore_segment",
    )
)
# a reference, and the consequence in releases that check an index before they use it
_SANITY = ("KAFKA-7283", (versions.INDEXES_TRUSTED, "sanity_check"))
_ZERO_TAIL = ("KAFKA-19200", _SANITY[1])


def _code(
    name: str,
    severity: str,
    next_step: str,
    reference: str | None = None,
    earlier: tuple[Behaviour, str] | None = None,
    *,
    consequence: str = "",
    cause: str = "",
    faulty: Behaviour | None = None,
    damages_batch: bool = False,
) -> Code:
    """Returns a code for _TABLE. CODES fills in the family later.

    Args:
        next_step: a key of next_step.toml. A key of another file has the file's name, such as
            "way_out.move_one_replica_away".
        earlier: a change in Kafka, and a key of consequence.toml for the releases before it.
        consequence: a key of consequence.toml; by default the name of the code.
        cause: a key of finding.toml. The message names a Kafka bug as the possible cause.
        faulty: the releases with that bug. None: the check decides whether to mention the bug.
    """
    key = name.replace("-", "_")
    return Code(
        name=name,
        severity=severity,
        title=message(f"finding_title.{key}"),
        consequence=message(f"consequence.{consequence or key}"),
        next_step=message(next_step if "." in next_step else f"next_step.{next_step}"),
        reference=reference,
        earlier_behaviour=earlier and (earlier[0], message(f"consequence.{earlier[1]}")),
        cause=message(f"finding.{cause}") if cause else None,
        faulty_releases=faulty,
        damages_batch=damages_batch,
    )


_TABLE: dict[str, tuple[Code, ...]] = {  # by family; checks/__init__.py names the modules
    "log": (
        _code("message-crc-mismatch", ERROR, "restore_partition"),
        _code("batch-timestamp-mismatch", ERROR, "restore_partition"),
        _code("record-offsets-not-increasing", ERROR, "restore_partition"),
        _code("producer-out-of-order", WARNING, "restore_partition"),
        # The consequence of the next two codes is what readers do. LogCheck adds what a recovery
        # does, and changes the next step if necessary.
        _code(
            "batch-crc-mismatch",
            ERROR,
            "restore_closed_segment",
            consequence="crc_mismatch_readers",
            damages_batch=True,
        ),
        _code(
            "batch-bad-length",
            ERROR,
            "restore_closed_segment",
            consequence="bad_length_readers",
            damages_batch=True,
        ),
        _code("batch-bad-magic", ERROR, "restore_partition", damages_batch=True),
        _code("batch-record-count", ERROR, "restore_partition", damages_batch=True),
        _code(
            "record-malformed",
            ERROR,
            "restore_partition",
            consequence="consumers_stop",
            damages_batch=True,
        ),
        _code(
            "decompress-failed",
            ERROR,
            "restore_partition",
            consequence="consumers_stop",
            damages_batch=True,
        ),
        _code(
            "offsets-not-increasing",
            ERROR,
            "restore_partition",
            cause="offsets_given_twice",
            faulty=versions.OFFSETS_GIVEN_TWICE,
        ),
        _code("offset-below-base", ERROR, "restore_partition"),
        _code("offset-overflow", ERROR, "let_start_split", "KAFKA-6264"),
        _code("log-torn-tail", ERROR, "let_recovery_cut"),
        _code("log-zero-tail", ERROR, "let_recovery_cut", cause="unflushed_cut"),
        _code("log-garbage-tail", ERROR, "let_recovery_cut"),
        _code("segment-overlap", ERROR, "restore_partition"),
        _code("segment-gap", WARNING, "look_for_segment"),
        _code("offset-gap-explained", INFO, "nothing"),
    ),
    "offset-index": (
        _code("index-missing", WARNING, "let_start_rebuild"),
        _code("index-size-not-multiple", WARNING, "rebuild_indexes", *_SANITY),
        _code("index-zero-tail", WARNING, "rebuild_indexes", *_ZERO_TAIL, cause="unflushed_trim"),
        _code("index-not-monotonic", ERROR, "rebuild_indexes", *_SANITY),
        _code("index-position-beyond-log", ERROR, "rebuild_indexes", *_SANITY),
        _code("index-position-not-batch-start", ERROR, "rebuild_indexes", *_SANITY),
        _code("index-offset-mismatch", ERROR, "rebuild_indexes", *_SANITY),
        _code("index-coarse", INFO, "nothing", "KAFKA-806"),
        _code("index-first-offset-keys", INFO, "nothing", "KAFKA-6530"),
        _code("index-differs-from-rebuild", WARNING, "compare_with_rebuild"),
        _code("index-unwritten-slots", INFO, "nothing"),
    ),
    "time-index": (
        _code("timeindex-missing", ERROR, "rebuild_both_indexes"),
        _code("timeindex-size-not-multiple", WARNING, "rebuild_both_indexes", *_SANITY),
        _code(
            "timeindex-zero-tail",
            ERROR,
            "rebuild_both_indexes",
            *_ZERO_TAIL,
            cause="unflushed_trim",
        ),
        _code(
            "timeindex-not-monotonic",
            ERROR,
            "rebuild_both_indexes",
            *_SANITY,
            consequence="time_lookups_astray",
        ),
        _code(
            "timeindex-offset-mismatch",
            ERROR,
            "rebuild_both_indexes",
            *_SANITY,
            consequence="time_lookups_astray",
        ),
        _code("timeindex-timestamp-mismatch", ERROR, "rebuild_both_indexes", *_SANITY),
        _code("timeindex-deep-offset", INFO, "nothing", "KAFKA-16341"),
        _code("timeindex-max-missed", WARNING, "rebuild_both_indexes"),
        _code("timeindex-empty", INFO, "nothing"),
    ),
    "other-files": (
        _code("txnindex-mismatch", ERROR, "rebuild_txnindex"),
        _code("txnindex-torn", ERROR, "rebuild_txnindex"),
        _code("snapshot-bad-crc", WARNING, "move_file_away"),
        _code("snapshot-stray", WARNING, "move_file_away", consequence="deleted_at_start"),
        _code("snapshot-missing", WARNING, "start_as_after_kill"),
        _code("leader-epoch-bad", WARNING, "replace_epochs", consequence="directory_offline"),
        _code(
            "partition-metadata-bad",
            WARNING,
            "rewrite_partition_metadata",
            consequence="directory_offline",
        ),
        _code(
            "checkpoint-unreadable",
            WARNING,
            "restore_or_remove_checkpoint",
            consequence="checkpoint_offline",
        ),
        _code(
            "checkpoint-empty",
            WARNING,
            "restore_empty_checkpoint",
            consequence="recovery_points_lost",
        ),
        _code("meta-properties-bad", WARNING, "rewrite_meta_properties"),
        _code("orphan-index", WARNING, "look_for_log", consequence="deleted_at_start"),
        _code("leftover-deleted", INFO, "nothing"),
        _code("leftover-cleaned", WARNING, "sources_still_there"),
        _code(
            "leftover-swap",
            WARNING,
            "let_start_complete",
            earlier=(versions.SWAPPED_INDEXES, "leftover_swap_before"),
        ),
        _code("directory-name-bad", WARNING, "move_out"),
        _code("unknown-file", WARNING, "move_out"),
        _code("unreadable-file", WARNING, "read_as_other_user", consequence="unread_offline"),
    ),
    "log-directories": (
        _code("other-log-directories", INFO, "other_log_directories"),
        _code("metadata-log-missing", ERROR, "metadata_log_missing"),
        _code("partition-in-two-directories", ERROR, "way_out.move_one_replica_away"),
        _code(
            "future-replica",
            INFO,
            "future_replica",
            cause="moved_log_closed",
            faulty=versions.MOVED_LOG_CLOSED,
        ),
        _code("future-replica-alone", ERROR, "future_replica_alone"),
        _code("log-directory-missing", WARNING, "log_directory_missing"),
        _code("log-directory-empty", WARNING, "log_directory_empty"),
        _code("log-directory-lost", ERROR, "log_directory_lost"),
        _code("replica-elsewhere", WARNING, "replica_elsewhere"),
    ),
    "state": (
        _code("unclean-shutdown", WARNING, "let_start_recover", "KAFKA-10471"),
        _code("recovery-will-truncate", WARNING, "copy_log"),
        _code("recovery-will-rebuild", WARNING, "nothing"),
        _code("recovery-will-delete", WARNING, "copy_files"),
        _code("recovery-will-fail", ERROR, "mend_cause"),
        _code("becomes-stray", ERROR, "check_assignment", "KAFKA-14616"),
        _code("log-start-beyond-end", ERROR, "correct_log_start"),
        _code("recovery-point-beyond-end", ERROR, "compare_with_replica"),
        _code("open-transaction", INFO, "await_transaction", consequence="hanging_transaction"),
        _code("high-watermark-beyond-end", ERROR, "compare_with_replica"),
        _code("partition-missing", ERROR, "restore_directory"),
        _code("hanging-transaction", WARNING, "abort_transaction", "KIP-664"),
        _code("checks-partial", INFO, "check_records"),
    ),
    "tiered-storage": (
        _code("remote-segment-missing", ERROR, "restore_remote_segment", "KIP-405"),
        _code("remote-segment-unreadable", ERROR, "restore_remote_segment", "KIP-405"),
        _code("remote-copy-unfinished", INFO, "nothing", "KIP-405"),
        _code("remote-segment-dangling", WARNING, "delete_dangling_segment", "KIP-405"),
        _code("tiering-blocked", WARNING, "let_other_replica_upload", "KAFKA-16209"),
    ),
    "time": (
        _code(
            "timestamp-in-future",
            WARNING,
            "find_wrong_clock",
            "KIP-937",
            earlier=(versions.FUTURE_REFUSED, "timestamp_in_future_before"),
        ),
        _code("timestamp-unit-suspect", WARNING, "find_wrong_unit"),
        _code("timestamps-out-of-order", WARNING, "nothing"),
        _code("timestamps-missing", WARNING, "nothing"),
        _code("retention-blocked", WARNING, "delete_late_records"),
        _code("retention-by-mtime", INFO, "nothing"),
    ),
    "settings": (
        _code("interval-without-effect", INFO, "nothing"),
        _code("index-limit-rolls", WARNING, "raise_index_settings"),
        _code("time-index-limit-binds", WARNING, "raise_index_settings"),
        _code("preallocation-waste", WARNING, "copy_with_holes"),
        _code("maps-near-limit", WARNING, "raise_map_count", "KAFKA-19390"),
        _code("segments-tiny", WARNING, "raise_segment_settings", "KIP-1030"),
        _code("topic-diskless", INFO, "check_the_kafka", "KIP-1163"),
    ),
}
FAMILIES = tuple(_TABLE)
CODES: dict[str, Code] = {
    code.name: replace(code, family=family) for family, codes in _TABLE.items() for code in codes
}
# Codes that a check at a level misses, or finds only in some places. Below RECORDS, the number of
# records in a header is compared only with the batch's offsets. At HEADERS, a checksum is computed
# only where a header does not lead to another batch.
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
    """Returns a finding with this code.

    If `consequence` or `next_step` is None, the text is from CODES. If `release` is empty, the
    consequence for the newest release is used.
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


def with_cause(code: str, text: Message, release: Release) -> Message:
    """Returns `text`, with the possible cause added if it is a Kafka bug that `release` has."""
    row = CODES[code]
    if row.cause and release and row.faulty_releases and row.faulty_releases.applies_to(release):
        return message("finding.with_cause", finding=text, cause=row.cause)
    return text


def as_info(findings: Iterable[Finding]) -> list[Finding]:
    """Returns the findings of a directory that will be deleted: as "info", without a next step."""
    return [
        replace(finding, severity=INFO, next_step=message("next_step.nothing"))
        for finding in findings
    ]


def sort_key(finding: Finding) -> tuple:
    """Returns a sort key: the worst severity first, then by directory, file and position."""
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
