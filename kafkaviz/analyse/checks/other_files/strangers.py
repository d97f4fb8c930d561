"""What lies in a directory that no broker works with: leftovers, indexes without a .log, files and
directories of others.
"""

from collections.abc import Iterator
from typing import Any

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import cluster
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.format import names
from kafkaviz.format.names import LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.units import encodable, group

PARTITION_FILES = (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE)
LEFTOVERS = {"deleted": "leftover-deleted", "cleaned": "leftover-cleaned", "swap": "leftover-swap"}


def leftovers(segment: Segment, facts: Facts) -> Iterator[Finding]:
    """The files of a segment that is not in use."""
    names_ = [found.name for found in segment.files]
    length = sum(found.size_bytes for found in segment.files)
    message = f"{', '.join(names_)}: {group(length)} bytes"
    code = LEFTOVERS[segment.state]
    yield facts.found(
        code,
        names_[0],
        message,
        Evidence(f"the suffix .{segment.state}", "no such file"),
        0,
        segment.files[0].size_bytes,
    )


def orphans(segment: Segment, facts: Facts) -> Iterator[Finding]:
    """Indexes without a .log."""
    for found in segment.files:
        evidence = Evidence("no file", f"{segment.name}.log")
        yield facts.found(
            "orphan-index",
            found.name,
            f"{found.name} has no .log beside it",
            evidence,
            0,
            found.size_bytes,
        )


def of_partition(partition: Partition, facts: Facts) -> Iterator[Finding]:
    """Files that are none of Kafka's, and snapshots that wait to be unlinked or were never
    finished.
    """
    for found in partition.others:
        name = names.parse_file(found.name)
        if name and name.kind == "checkpoint" and not name.suffix:
            yield from cluster.snapshot(found, partition, facts)
        elif found.name == QUORUM_STATE and facts.metadata_log:
            yield from cluster.quorum_state(found, facts)
        elif name and name.suffix in LEFTOVERS:
            evidence = Evidence(f"the suffix .{name.suffix}", "no such file")
            message = f"{found.name}: {group(found.size_bytes)} bytes"
            yield facts.found(
                LEFTOVERS[name.suffix], found.name, message, evidence, 0, found.size_bytes
            )
        elif not name and found.name.removesuffix(".tmp") not in PARTITION_FILES:
            yield stranger(facts.partition, found.name, found.size_bytes, facts.version)


def directory(shown: str, version: Version) -> Finding:
    """One that no start accepts."""
    return finding(
        "directory-name-bad",
        f"{shown} is no topic-partition",
        Evidence(shown, "TOPIC-NUMBER"),
        file=shown,
        version=version,
    )


def stranger(partition: str | None, name: str, size_bytes: int | None, version: Version) -> Finding:
    """A file that is none of Kafka's."""
    shown = encodable(name)
    path = f"{partition}/{shown}" if partition else shown
    place: dict[str, Any] = {"position": 0, "length": size_bytes} if size_bytes is not None else {}
    message = f"{shown} is no file of Kafka's"
    return finding(
        "unknown-file",
        message,
        Evidence(shown),
        partition=partition,
        file=path,
        version=version,
        **place,
    )
