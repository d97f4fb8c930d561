"""All checks of what lies in a topic-partition directory beside its segments."""

from collections.abc import Iterator, Sequence

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import aborted, epochs, snapshots, strangers, topic_id
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.finding import Finding
from kafkaviz.log.partition import Partition


def of_partition(
    partition: Partition, summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """The files beside the segments; summaries: of the live segments, in order."""
    yield from aborted.of_partition(summaries, facts)
    yield from snapshots.of_partition(partition, summaries, facts)
    yield from epochs.of_partition(partition, summaries, facts)
    yield from topic_id.of_partition(partition, facts)
    yield from strangers.of_partition(partition, facts)
