"""The checks of KRaft's own files: metadata snapshots, bootstrap.checkpoint and quorum-state."""

from collections.abc import Iterator
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
    """Yields the findings about a snapshot of the metadata log.

    At start-up, a broker reads only the newest snapshot.
    """
    is_newest = file_info.name == cluster_snapshot.newest(
        sibling.name for sibling in partition.other_files
    )
    try:
        consequence = _consequence(file_info) if is_newest else NOT_READ
        yield from _check_batches(
            file_info.path, facts.partition, facts.release, consequence, SNAPSHOT_STEP
        )
    except CannotOpen as fault:
        yield unreadable_files.file_finding(
            file_info.name, fault, facts, unreadable_files.SNAPSHOT if is_newest else NOT_READ
        )


def _consequence(file_info: FileInfo) -> Message:
    if cluster_snapshot.find_fault(file.view(file_info)):
        return message("consequence.newest_snapshot_read")
    return message("consequence.snapshot_tail_dropped")


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
    """Yields the findings about bootstrap.checkpoint.

    Formatting a log directory writes this file. At start-up, a broker reads the records without
    verifying the checksums.
    """
    if not file.is_there(path):
        return
    consequence = (
        message("consequence.node_does_not_start", error=fatal_step.error)
        if fatal_step
        else message("consequence.no_checksum_read")
    )
    try:
        file.read(path, limit_bytes=BOOTSTRAP_BYTES)
        findings = list(_check_batches(path, None, release, consequence, BOOTSTRAP_STEP))
    except CannotOpen as fault:
        yield unreadable_files.path_finding(
            path.name, None, Problem.from_fault(path, fault), release, unreadable_files.NO_START
        )
        return
    if fatal_step and not findings:
        evidence = Evidence(
            message("evidence.kafkas_text", text=cast(str, fatal_step.error)),
            message("evidence.metadata_version_record"),
        )
        byte_range = (0, file.info(path).size_bytes)
        findings = [
            finding(
                "checkpoint-unreadable",
                message("finding.in_file", file=path.name, problem=fatal_step.error),
                evidence,
                file=path.name,
                position=byte_range[0],
                length=byte_range[1],
                release=release,
                consequence=consequence,
                next_step=BOOTSTRAP_STEP,
            )
        ]
    yield from findings


def _check_batches(
    path: Path, partition: str | None, release: Release, consequence: Message, next_step: Message
) -> Iterator[Finding]:
    name = f"{partition}/{path.name}" if partition else path.name

    def make_finding(text: Message, evidence: Evidence, position: int, length: int) -> Finding:
        return finding(
            "checkpoint-unreadable",
            text,
            evidence,
            partition=partition,
            file=name,
            position=position,
            length=length,
            release=release,
            consequence=consequence,
            next_step=next_step,
        )

    size_bytes = file.info(path).size_bytes
    if _is_sound(path, size_bytes):
        return
    with file.reader(path) as reader:
        scan = DeepScan(reader, 0, size_bytes)
        bad_rows = [
            row
            for part in scan
            for row in part.batches[~part.batches["crc_valid"] | (part.batches["fault"] != 0)]
        ]
    for row in bad_rows[:1]:
        fault = (
            message("finding.unreadable_records")
            if row["crc_valid"]
            else message("finding.crc_mismatch")
        )
        evidence = Evidence(message("finding.batch_at", byte=int(row["position"]), problem=fault))
        yield make_finding(
            with_more_places(
                message("finding.in_file", file=path.name, problem=evidence.found),
                len(bad_rows) - 1,
            ),
            evidence,
            int(row["position"]),
            int(row["size_bytes"]),
        )
    if not bad_rows and scan.end.position < size_bytes:
        rest_bytes = size_bytes - scan.end.position
        text = message(
            "finding.rest_no_batch", file=path.name, n=rest_bytes, byte=scan.end.position
        )
        yield make_finding(
            text,
            Evidence(
                message("evidence.bytes_no_batch", n=rest_bytes), message("evidence.whole_batches")
            ),
            scan.end.position,
            rest_bytes,
        )


def _is_sound(path: Path, size_bytes: int) -> bool:
    """Returns whether a file has at most FEW_BYTES and all its batches are readable.

    Loads no compiled code, to be fast (walk.few_batches).
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
