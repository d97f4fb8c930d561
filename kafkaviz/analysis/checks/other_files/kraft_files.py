"""The checks of KRaft's own files: snapshots of the metadata log, bootstrap.checkpoint, and
quorum-state.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from kafkaviz.analysis.checks.facts import PartitionFacts, describe_more
from kafkaviz.analysis.checks.other_files import unreadable_files
from kafkaviz.analysis.finding import Evidence, Finding, Version, finding
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import checkpoint
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.startup import cluster_snapshot
from kafkaviz.simulate.startup.own_files import BOOTSTRAP_BYTES
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import group

NOT_READ = "Nothing reads it while a newer one is there"
SNAPSHOT_STEP = "Take it from another controller; if the log still begins at offset 0, move it away"
NO_QUORUM = (
    "The node does not start: it reads the state of the quorum before any log, and catches no "
    "fault of it"
)
QUORUM_STEP = (
    "Restore it from a copy; moved away, the node forgets its vote, which is safe once the other "
    "voters have a leader"
)
BOOTSTRAP_STEP = "Move it away: a node that has started once needs nothing of it"


def check_snapshot(
    file_info: FileInfo, partition: Partition, facts: PartitionFacts
) -> Iterator[Finding]:
    """One of the metadata log; a start reads the newest alone."""
    is_newest = file_info.name == cluster_snapshot.newest(
        sibling.name for sibling in partition.other_files
    )
    consequence = (
        "The node does not start: it reads its newest snapshot first" if is_newest else NOT_READ
    )
    try:
        yield from _check_batches(
            file_info.path, facts.partition, facts.version, consequence, SNAPSHOT_STEP
        )
    except CannotOpen as fault:
        yield unreadable_files.file_finding(
            file_info.name, fault, facts, unreadable_files.SNAPSHOT if is_newest else NOT_READ
        )


def check_quorum_state(file_info: FileInfo, facts: PartitionFacts) -> Iterator[Finding]:
    """Whom the node voted for or follows, and in which epoch: a start reads it before any log."""
    try:
        checkpoint.parse_quorum_state(file.read_text(file_info.path))
    except CorruptBytes as fault:
        evidence = Evidence(
            fault.what, "one line of JSON with data_version, leaderId, leaderEpoch and votedId"
        )
        message, byte_range = (
            f"{file_info.name}: {fault.what}",
            (fault.position, file_info.size_bytes - fault.position),
        )
        yield facts.make_finding(
            "checkpoint-unreadable",
            file_info.name,
            message,
            evidence,
            byte_range,
            consequence=NO_QUORUM,
            next_step=QUORUM_STEP,
        )
    except CannotOpen as fault:
        yield unreadable_files.file_finding(file_info.name, fault, facts, unreadable_files.NO_START)


def check_bootstrap(
    path: Path, fatal_step: StartupStep | None, version: Version
) -> Iterator[Finding]:
    """The metadata that the directory was formatted with: a start reads its records, and no
    checksum.
    """
    if not file.is_there(path):
        return
    consequence = (
        f"The node does not start: {fatal_step.error}"
        if fatal_step
        else "A start looks at no checksum here, and believes what it reads"
    )
    try:
        file.read_all(path, BOOTSTRAP_BYTES)
        findings = list(_check_batches(path, None, version, consequence, BOOTSTRAP_STEP))
    except CannotOpen as fault:
        yield unreadable_files.path_finding(
            path.name, None, Problem.from_fault(path, fault), version, unreadable_files.NO_START
        )
        return
    if fatal_step and not findings:
        evidence, byte_range = (
            Evidence(cast(str, fatal_step.error), "a record that sets metadata.version"),
            (0, file.info(path).size_bytes),
        )
        findings = [
            finding(
                "checkpoint-unreadable",
                f"{path.name}: {fatal_step.error}",
                evidence,
                file=path.name,
                position=byte_range[0],
                length=byte_range[1],
                version=version,
                consequence=consequence,
                next_step=BOOTSTRAP_STEP,
            )
        ]
    yield from findings


def _check_batches(
    path: Path, partition: str | None, version: Version, consequence: str, next_step: str
) -> Iterator[Finding]:
    """A snapshot of the cluster's metadata: batch after batch, each with a checksum, the first and
    the last of control records.
    """
    name = f"{partition}/{path.name}" if partition else path.name

    def make_finding(message: str, evidence: Evidence, position: int, length: int) -> Finding:
        return finding(
            "checkpoint-unreadable",
            message,
            evidence,
            partition=partition,
            file=name,
            position=position,
            length=length,
            version=version,
            consequence=consequence,
            next_step=next_step,
        )

    size_bytes = file.info(path).size_bytes
    with file.reader(path) as reader:
        scan = DeepScan(reader, 0, size_bytes)
        bad_rows = [
            row
            for part in scan
            for row in part.batches[~part.batches["crc_valid"] | (part.batches["fault"] != 0)]
        ]
    for row in bad_rows[:1]:
        fault = (
            "holds records that cannot be read"
            if row["crc_valid"]
            else "does not match its checksum"
        )
        evidence = Evidence(f"the batch at byte {group(int(row['position']))} {fault}")
        yield make_finding(
            f"{path.name}: {evidence.found}{describe_more(len(bad_rows) - 1)}",
            evidence,
            int(row["position"]),
            int(row["size_bytes"]),
        )
    if not bad_rows and scan.end.position < size_bytes:
        rest_bytes = size_bytes - scan.end.position
        message = (
            f"{path.name}: {group(rest_bytes)} bytes behind byte {group(scan.end.position)} are no "
            "batch"
        )
        yield make_finding(
            message,
            Evidence(f"{group(rest_bytes)} bytes that are no batch", "whole batches up to the end"),
            scan.end.position,
            rest_bytes,
        )
