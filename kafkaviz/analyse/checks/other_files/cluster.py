"""The checks of KRaft's own files: snapshots of the metadata log, bootstrap.checkpoint, and
quorum-state.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from kafkaviz.analyse.checks.facts import Facts, and_more
from kafkaviz.analyse.checks.other_files import unreadable
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import checkpoint
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.log import file
from kafkaviz.log.broker import Problem
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.starting import cluster_snapshot
from kafkaviz.simulate.starting.own_files import BOOTSTRAP_BYTES
from kafkaviz.simulate.steps import Step
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


def snapshot(found: FileInfo, partition: Partition, facts: Facts) -> Iterator[Finding]:
    """One of the metadata log; a start reads the newest alone."""
    is_newest = found.name == cluster_snapshot.newest(one.name for one in partition.others)
    consequence = (
        "The node does not start: it reads its newest snapshot first" if is_newest else NOT_READ
    )
    try:
        yield from _batches(found.path, facts.partition, facts.version, consequence, SNAPSHOT_STEP)
    except CannotOpen as fault:
        yield unreadable.of_file(
            found.name, fault, facts, unreadable.SNAPSHOT if is_newest else NOT_READ
        )


def quorum_state(found: FileInfo, facts: Facts) -> Iterator[Finding]:
    """Whom the node voted for or follows, and in which epoch: a start reads it before any log."""
    try:
        checkpoint.parse_quorum_state(file.read_text(found.path))
    except CorruptBytes as fault:
        evidence = Evidence(
            fault.what, "one line of JSON with data_version, leaderId, leaderEpoch and votedId"
        )
        message, place = (
            f"{found.name}: {fault.what}",
            (fault.position, found.size_bytes - fault.position),
        )
        yield facts.found(
            "checkpoint-unreadable",
            found.name,
            message,
            evidence,
            *place,
            consequence=NO_QUORUM,
            next_step=QUORUM_STEP,
        )
    except CannotOpen as fault:
        yield unreadable.of_file(found.name, fault, facts, unreadable.NO_START)


def bootstrap(path: Path, end: Step | None, version: Version) -> Iterator[Finding]:
    """The metadata that the directory was formatted with: a start reads its records, and no
    checksum.
    """
    if not file.is_there(path):
        return
    consequence = (
        f"The node does not start: {end.error}"
        if end
        else "A start looks at no checksum here, and believes what it reads"
    )
    try:
        file.read_whole(path, BOOTSTRAP_BYTES)
        found = list(_batches(path, None, version, consequence, BOOTSTRAP_STEP))
    except CannotOpen as fault:
        yield unreadable.of_path(
            path.name, None, Problem.of(path, fault), version, unreadable.NO_START
        )
        return
    if end and not found:
        evidence, place = (
            Evidence(cast(str, end.error), "a record that sets metadata.version"),
            (0, file.info(path).size_bytes),
        )
        found = [
            finding(
                "checkpoint-unreadable",
                f"{path.name}: {end.error}",
                evidence,
                file=path.name,
                position=place[0],
                length=place[1],
                version=version,
                consequence=consequence,
                next_step=BOOTSTRAP_STEP,
            )
        ]
    yield from found


def _batches(
    path: Path, partition: str | None, version: Version, consequence: str, next_step: str
) -> Iterator[Finding]:
    """A snapshot of the cluster's metadata: batch after batch, each with a checksum, the first and
    the last of control records.
    """
    name = f"{partition}/{path.name}" if partition else path.name

    def told(message: str, evidence: Evidence, position: int, length: int) -> Finding:
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
    with file.reader(path) as read:
        scan = DeepScan(read, 0, size_bytes)
        wrong = [
            row
            for part in scan
            for row in part.batches[~part.batches["crc_valid"] | (part.batches["fault"] != 0)]
        ]
    for row in wrong[:1]:
        fault = (
            "holds records that cannot be read"
            if row["crc_valid"]
            else "does not match its checksum"
        )
        evidence = Evidence(f"the batch at byte {group(int(row['position']))} {fault}")
        yield told(
            f"{path.name}: {evidence.found}{and_more(len(wrong) - 1)}",
            evidence,
            int(row["position"]),
            int(row["size_bytes"]),
        )
    if not wrong and scan.end.position < size_bytes:
        left = size_bytes - scan.end.position
        message = (
            f"{path.name}: {group(left)} bytes behind byte {group(scan.end.position)} are no batch"
        )
        yield told(
            message,
            Evidence(f"{group(left)} bytes that are no batch", "whole batches up to the end"),
            scan.end.position,
            left,
        )
