"""The properties of a partition directory and its broker that segment checks depend on."""

from collections.abc import Callable
from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.analysis.findings import Evidence, Finding, finding
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.segment import Segment
from kafkaviz.messages import Message, message
from kafkaviz.units import DAY_MS
from kafkaviz.versions import Release

RETENTION_MS = 7 * DAY_MS  # default of retention.ms in 4.3.1
MAX_RUNS = 10  # at most this many findings of one code in one file are listed; others are counted


@dataclass(frozen=True, kw_only=True)
class PartitionFacts:
    """Facts about a partition directory and its broker, which the checks of segments need."""

    partition: str  # the directory's name, such as "orders-0"
    # whether the broker was stopped cleanly; None: unknown, only a partition directory was opened
    clean: bool | None = True
    may_be_running: bool = False  # whether a broker may be using the directory
    release: Release = ()  # the broker's release, given or assumed
    # the oldest release that may have written the files; (): any release
    oldest_writer: Release = ()
    now_ms: int = 0  # the time that is used as the present
    compacted: bool = False  # whether compaction may have removed records
    # whether this is KRaft's metadata log. Its control batches are not transaction markers.
    metadata_log: bool = False
    # the base offset of the first segment that the broker recovers after an unclean shutdown. The
    # broker also recovers all later segments. None if unknown.
    first_recovered: int | None = None
    expires: bool = True  # whether segments are deleted by age
    retention_ms: int = RETENTION_MS  # the age at which segments are deleted; -1 for never
    producer_expiration_ms: int = DAY_MS
    level: CheckLevel = CheckLevel.RECORDS
    log_directory: str | None = None

    @property
    def active_is_untrimmed(self) -> bool:
        """Whether the active segment's indexes still have their preallocated size.

        True after an unclean shutdown. Always true for the metadata log since 4.4.
        """
        return self.clean is False or (
            self.metadata_log and versions.TRIMMED_BEFORE_CLOSE.applies_to(self.release)
        )

    @property
    def may_be_per_append(self) -> bool:
        return not versions.ENTRY_PER_BATCH.applies_to(self.oldest_writer)

    @property
    def may_have_record_offsets(self) -> bool:
        """Whether time entries may point to any record, not only to a batch's last."""
        return not versions.SHALLOW_TIME_OFFSETS.applies_to(self.oldest_writer)

    @property
    def may_have_first_keys(self) -> bool:
        return not versions.LAST_OFFSET_KEYS.applies_to(self.oldest_writer)

    def may_hold_stale_entries(self, segment: Segment) -> bool:
        """Returns whether the indexes may end with entries for truncated records.

        True only for the active segment of a broker that may be running. There,
        LogSegment.truncateTo leaves such entries (4.3.1). In other segments such entries are a
        fault, because records may have been lost.
        """
        return self.may_be_running and segment.state == "active"

    def make_finding(
        self,
        code: str,
        file: str | None,
        message: Message,
        evidence: Evidence,
        byte_range: tuple[int | None, int | None] = (None, None),
        *,
        consequence: Message | None = None,
        next_step: Message | None = None,
    ) -> Finding:
        """Returns a finding about a file of this partition.

        Args:
            file: the file's name; None: the finding is about the directory.
            byte_range: the position and length of the damage; None: unknown.
        """
        position, length = byte_range
        path = f"{self.partition}/{file}" if file else self.partition
        return finding(
            code,
            message,
            evidence,
            partition=self.partition,
            file=path,
            position=position,
            length=length,
            release=self.release,
            consequence=consequence,
            next_step=next_step,
            log_directory=self.log_directory,
        )

    def torn_slot_finding(
        self, code: str, name: str, position: int, torn_bytes: int, entry_bytes: int
    ) -> Finding:
        length = position + torn_bytes
        text = message("finding.length_no_multiple", n=length, entry_bytes=entry_bytes)
        found_text = message("evidence.trailing_bytes", n=torn_bytes)
        evidence = Evidence(found_text, message("evidence.length_multiple", n=entry_bytes))
        return self.make_finding(code, name, text, evidence, (position, torn_bytes))


def findings_by_run(
    slots: list[int], make_finding: Callable[[int, int, int], Finding]
) -> list[Finding]:
    """Returns a finding per run of consecutive slots, for at most MAX_RUNS runs.

    Args:
        slots: the slots in ascending order.
        make_finding: called with (first slot of a run, its last slot, runs left out after it).
            The third is 0, except for the last finding if there are more than MAX_RUNS runs.
    """
    runs: list[list[int]] = []
    for slot in slots:
        if runs and slot == runs[-1][1] + 1:
            runs[-1][1] = slot
        else:
            runs.append([slot, slot])
    return [
        make_finding(first, last, len(runs) - number if number == MAX_RUNS else 0)
        for number, (first, last) in enumerate(runs[:MAX_RUNS], 1)
    ]


def checksum_evidence(found_text: Message, stored_crc: int, computed_crc: int) -> Evidence:
    expected = message("evidence.computed_checksum", crc=computed_crc)
    return Evidence(found_text, expected, f"{stored_crc:08x}", f"{computed_crc:08x}")


def describe_slots(first: int, last: int) -> Message:
    if first == last:
        return message("finding.slot", slot=first)
    return message("finding.slots", first=first, last=last)


def with_more_places(finding_text: Message, count: int) -> Message:
    return message("finding.more_places", finding=finding_text, n=count) if count else finding_text
