"""All checks of the files in a topic-partition directory, other than .log and its indexes."""

from collections.abc import Iterator, Sequence

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.other_files import (
    aborted_transactions,
    leader_epochs,
    partition_metadata,
    producer_snapshots,
    unknown_files,
)
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.log.partition import Partition


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
    yield from partition_metadata.check_partition(partition, facts)
    yield from unknown_files.check_partition(partition, facts)
    yield from unknown_files.check_folders(partition, facts)
