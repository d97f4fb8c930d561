"""Decides which partition directories of the two sides are compared with each other.

Two directories match by topic id if both have one (partition.metadata, since 2.8), otherwise by
topic name. A topic that was deleted and created again has another id, so its two logs do not match.
A directory that will be deleted never matches a directory in use:

    a  orders-0 (id X)   b  orders-0 (id X)                one partition
    a  orders-0 (id X)   b  orders-0 (id Y)                two partitions, each on one side
    a  orders-0 (id X)   b  orders-0.4711…-delete (id X)   two partitions, each on one side
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kafkaviz.format import names
from kafkaviz.log.partition import Partition


@dataclass(frozen=True)
class PartitionMatch:
    """A partition that one or both sides have.

    Attributes:
        other_generation: the other side's topic id for this name, if the two ids differ.
        other_directory: the directory of this partition on the other side, if the suffixes of the
            two directories differ (-delete).
    """

    a: Partition | None
    b: Partition | None
    other_generation: str | None = None
    other_directory: str | None = None

    @property
    def partition(self) -> Partition:
        """The partition of side a, or of side b if a lacks it."""
        partition = self.a or self.b
        assert partition is not None
        return partition

    @property
    def directory(self) -> str:
        return self.partition.directory


def match_partitions(a: Sequence[Partition], b: Sequence[Partition]) -> tuple[PartitionMatch, ...]:
    """Returns the matches for all partitions of both sides, ordered by name.

    If a partition is in several log directories, log directories of the same name match first.
    """
    left = list(b)
    matches = []
    alone = []
    for partition in a:
        partners = [other for other in left if _belong_together(partition, other)]
        same_directory = [
            other for other in partners if other.path.parent.name == partition.path.parent.name
        ]
        if same_directory:
            left.remove(same_directory[0])
            matches.append(PartitionMatch(partition, same_directory[0]))
        else:
            alone.append(partition)
    for partition in alone:
        partner = next((other for other in left if _belong_together(partition, other)), None)
        if partner:
            left.remove(partner)
            matches.append(PartitionMatch(partition, partner))
        else:
            matches.append(PartitionMatch(partition, None, *_describe_others(partition, b)))
    for partition in left:
        matches.append(PartitionMatch(None, partition, *_describe_others(partition, a)))
    return tuple(sorted(matches, key=lambda match: names.natural_sort_key(match.directory)))


def match_lone(a: Sequence[Partition], b: Sequence[Partition]) -> tuple[PartitionMatch, ...]:
    """Returns the match of a side's only partition.

    If each side has only one partition, these two match, even if their names differ.
    """
    if len(a) == len(b) == 1:
        return (PartitionMatch(a[0], b[0]),)
    lone = a[0] if len(a) == 1 else b[0]
    return tuple(match for match in match_partitions(a, b) if lone is match.a or lone is match.b)


def _belong_together(a: Partition, b: Partition) -> bool:
    if a.partition != b.partition or a.state != b.state:
        return False
    if a.state == "delete" and a.directory != b.directory:
        return False
    return a.topic_id == b.topic_id if a.topic_id and b.topic_id else a.topic == b.topic


def _describe_others(
    partition: Partition, others: Sequence[Partition]
) -> tuple[str | None, str | None]:
    """Returns the `other_generation` and the `other_directory` of a PartitionMatch."""
    generations = [
        other.topic_id
        for other in others
        if other.state == partition.state == "current"
        and other.label == partition.label
        and other.topic_id not in (None, partition.topic_id)
    ]
    directories = [
        other.directory
        for other in others
        if partition.topic_id
        and (other.topic_id, other.partition) == (partition.topic_id, partition.partition)
        and other.state != partition.state
    ]
    return next(iter(generations), None), next(iter(directories), None)
