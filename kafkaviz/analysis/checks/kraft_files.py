"""The checks of KRaft's own files: metadata snapshots, bootstrap.checkpoint and quorum-state."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kafkaviz.analysis.checks import unreadable_files
from kafkaviz.analysis.checks.facts import PartitionFacts, with_more_places
from kafkaviz.analysis.findings import Evidence, Finding, finding
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import batch_records, checkpoint
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.walk import FEW_BYTES, few_batches
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup import cluster_snapshot
from kafkaviz.simulate.startup.small_files import BOOTSTRAP_BYTES
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.versions import Release

NOT_READ = message("consequence.snapshot_not_read")
SNAPSHOT_STEP = message("next_step.take_snapshot")
NO_QUORUM = message("consequence.quorum_state_unread")
QUORUM_STEP = message("next_step.restore_quorum_state")
BOOTSTRAP_STEP = message("next_step.move_bootstrap_away")


def check_snapshot(
    file_info: FileInfo, partition: Partition, facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields the findings about a metadata snapshot. Broker start-up reads only the newest one."""
    is_newest = file_info.name == cluster_snapshot.newest(
        sibling.name for sibling in partition.other_files
    )
    consequence = NOT_READ
    try:
        if is_newest and cluster_snapshot.find_fault(file.view(file_info)):
            consequence = message("consequence.newest_snapshot_read")
        elif is_newest:
            consequence = message("consequence.snapshot_tail_dropped")
        yield from _CheckpointFile(
            file_info.path, facts.partition, facts.release, consequence, SNAPSHOT_STEP
        ).check()
    except CannotOpen as fault:
        yield unreadable_files.file_finding(
            file_info.name, fault, facts, unreadable_files.SNAPSHOT if is_newest else NOT_READ
        )


def check_quorum_state(file_info: FileInfo, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields the findings about quorum-state, which stores the epoch, the vote and the leader."""
    try:
        checkpoint.parse_quorum_state(file.read_text(file_info.path))
    except CorruptBytes as fault:
        evidence = Evidence(fault.what, message("evidence.quorum_state_line"))
        text = message("finding.in_file", file=file_info.name, problem=fault.what)
        byte_range = (fault.position, file_info.size_bytes - fault.position)
        yield facts.make_finding(
            "checkpoint-unreadable",
            file_info.name,
            text,
            evidence,
            byte_range,
            consequence=NO_QUORUM,
            next_step=QUORUM_STEP,
        )
    except CannotOpen as fault:
        yield unreadable_files.file_finding(file_info.name, fault, facts, unreadable_files.NO_START)


def check_bootstrap(
    path: Path, fatal_step: StartupStep | None, release: Release
) -> Iterator[Finding]:
    """Yields the findings about bootstrap.checkpoint, written when a log directory is formatted.

    At start-up, a broker reads the file's records without verifying the checksums.
    """
    if not file.is_there(path):
        return
    consequence = message("consequence.no_checksum_read")
    if fatal_step:
        consequence = message("consequence.node_does_not_start", error=fatal_step.error)
    bootstrap = _CheckpointFile(path, None, release, consequence, BOOTSTRAP_STEP)
    try:
        file.read(path, limit_bytes=BOOTSTRAP_BYTES)
        findings = list(bootstrap.check())
    except CannotOpen as fault:
        yield unreadable_files.path_finding(
            path.name, None, Problem.from_fault(path, fault), release, unreadable_files.NO_START
        )
        return
    if fatal_step and not findings:
        error = cast(str, fatal_step.error)
        text = message("finding.in_file", file=path.name, problem=error)
        found_text = message("evidence.kafkas_text", text=error)
        evidence = Evidence(found_text, message("evidence.metadata_version_record"))
        findings = [bootstrap.make_finding(text, evidence, 0, file.info(path).size_bytes)]
    yield from findings


@dataclass(frozen=True)
class _CheckpointFile:
    """A .checkpoint file, which consists of batches, and the texts of a finding about the file."""

    path: Path
    partition: str | None
    release: Release
    consequence: Message
    next_step: Message

    def make_finding(
        self, text: Message, evidence: Evidence, position: int, length: int
    ) -> Finding:
        name = self.path.name
        return finding(
            "checkpoint-unreadable",
            text,
            evidence,
            partition=self.partition,
            file=f"{self.partition}/{name}" if self.partition else name,
            position=position,
            length=length,
            release=self.release,
            consequence=self.consequence,
            next_step=self.next_step,
        )

    def check(self) -> Iterator[Finding]:
        """Yields a finding about an unreadable batch, or about bytes after the last batch."""
        name = self.path.name
        size_bytes = file.info(self.path).size_bytes
        if _is_sound(self.path, size_bytes):
            return
        with file.reader(self.path) as reader:
            scan = DeepScan(reader, 0, size_bytes)
            bad_rows = [
                row
                for batches in scan
                for row in batches[~batches["crc_valid"] | (batches["fault"] != 0)]
            ]
        position = scan.end.position
        if bad_rows:
            row = bad_rows[0]
            position = int(row["position"])
            key = "unreadable_records" if row["crc_valid"] else "crc_mismatch"
            fault = message("finding.batch_at", byte=position, problem=message(f"finding.{key}"))
            text = message("finding.in_file", file=name, problem=fault)
            text = with_more_places(text, len(bad_rows) - 1)
            yield self.make_finding(text, Evidence(fault), position, int(row["size_bytes"]))
        elif position < size_bytes:
            rest_bytes = size_bytes - position
            text = message("finding.rest_no_batch", file=name, n=rest_bytes, byte=position)
            found_text = message("evidence.bytes_no_batch", n=rest_bytes)
            evidence = Evidence(found_text, message("evidence.whole_batches"))
            yield self.make_finding(text, evidence, position, rest_bytes)


def _is_sound(path: Path, size_bytes: int) -> bool:
    """Returns whether a file has at most FEW_BYTES and all its batches are readable.

    Uses walk.few_batches, because loading compiled code would take longer than the check.
    """
    if size_bytes > FEW_BYTES:
        return False
    data = file.read(path, 0, size_bytes)
    batches, end = few_batches(data)
    places = zip(batches["position"].tolist(), batches["size_bytes"].tolist(), strict=True)
    return end == len(data) == size_bytes and all(
        batch_records.is_crc_valid(data[start : start + batch_bytes])
        and batch_records.few_records(data[start : start + batch_bytes]) is not None
        for start, batch_bytes in places
    )
