"""All checks of the files in a topic-partition directory, other than .log and its indexes."""

from collections.abc import Iterator, Sequence

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.other_files import (
    aborted_transactions,
    leader_epochs,
    producer_snapshots,
    unknown_files,
    unreadable_files,
)
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings.finding import Evidence, Finding
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import PARTITION_METADATA
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup import metadata_files


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields the findings about the other files of a topic-partition directory.

    Args:
        summaries: the summaries of the live segments, in order.
    """
    yield from aborted_transactions.check_partition(summaries, facts)
    yield from producer_snapshots.check_partition(partition, summaries, facts)
    yield from leader_epochs.check_partition(partition, summaries, facts)
    yield from _check_metadata(partition, facts)
    yield from unknown_files.check_partition(partition, facts)
    yield from unknown_files.check_folders(partition, facts)


def _check_metadata(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields a finding if partition.metadata breaks its format, even if Kafka reads it."""
    if not any(file_info.name == PARTITION_METADATA for file_info in partition.other_files):
        return
    data = b""
    try:
        data = file.read(partition.path / PARTITION_METADATA, limit_bytes=file.TEXT_BYTES)
        checkpoint.parse_partition_metadata(data)
    except CorruptBytes as fault:
        text = message("finding.at_byte", byte=fault.position, problem=fault.what)
        evidence = Evidence(fault.what, message("evidence.topic_id_lines"))
        yield facts.make_finding(
            "partition-metadata-bad",
            PARTITION_METADATA,
            text,
            evidence,
            (fault.position, None),
            consequence=_consequence(data),
        )
    except KafkavizError as fault:
        yield unreadable_files.file_finding(PARTITION_METADATA, fault, facts)


def _consequence(data: bytes) -> Message | None:
    start_fault = metadata_files.partition_metadata_fault(data, PARTITION_METADATA)
    if start_fault is None or start_fault.class_name == metadata_files.STORAGE:
        return None
    return message("consequence.ends_start")
