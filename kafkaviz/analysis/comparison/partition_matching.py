"""Decides which partition directories of the two sides are compared with each other.

Two directories match by topic id if both have one (partition.metadata, since 2.8), otherwise by
topic name. A topic that was deleted and created again has another id, so its two logs do not match.
A directory that will be deleted never matches a directory in use:

    a  orders-0 (id X)   b  orders-0 (id X)                one partition
    a  orders-0 (id X)   b  orders-0 (id Y)                two partitions, each on one side
    a  orders-0 (id X)   b  orders-0.4711…-delete (id X)   two partitions, each on one side
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkaviz.format import names
from kafkaviz.log.partition import Partition


@dataclass(frozen=True)
class PartitionMatch:
    """A partition that one or both sides have.

    Attributes:
        other_generation: the other side's topic id for this name, if the two ids differ.
        other_directory: the other side's directory of this partition, if it has another suffix
            (-delete).
    """

    a: Partition | None
    b: Partition | None
    other_generation: str | None = None
    other_directory: str | None = None

    @property
    def directory(self) -> str:
        partition = self.a or self.b
        assert partition is not None
        return partition.directory


def match_partitions(a: Sequence[Partition], b: Sequence[Partition]) -> tuple[PartitionMatch, ...]:
    """Returns the matches for all partitions of both sides, ordered by name.

    If a partition is in several log directories, log directories with equal names are matched.
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
            generation, directory = _describe_others(partition, b)
            matches.append(PartitionMatch(partition, None, generation, directory))
    for partition in left:
        generation, directory = _describe_others(partition, a)
        matches.append(PartitionMatch(None, partition, generation, directory))
    return tuple(sorted(matches, key=lambda match: names.natural_sort_key(match.directory)))


def match_lone(a: Sequence[Partition], b: Sequence[Partition]) -> tuple[PartitionMatch, ...]:
    """Returns the match between a single partition and a partition on the other side.

    Two single partitions match whatever their names.
    """
    if len(a) == len(b) == 1:
        return (PartitionMatch(a[0], b[0]),)
    is_lone_a = len(a) == 1
    lone = (a if is_lone_a else b)[0]
    return tuple(
        match for match in match_partitions(a, b) if lone is (match.a if is_lone_a else match.b)
    )


def _belong_together(a: Partition, b: Partition) -> bool:
    if a.partition != b.partition or a.state != b.state:
        return False
    if a.state == "delete" and a.directory != b.directory:
        return False
    return a.topic_id == b.topic_id if a.topic_id and b.topic_id else a.topic == b.topic


def _describe_others(
    partition: Partition, others: Sequence[Partition]
) -> tuple[str | None, str | None]:
    return (
        next((other.topic_id for other in _namesakes(partition, others)), None),
        next((other.directory for other in _renamed(partition, others)), None),
    )


def _namesakes(partition: Partition, others: Sequence[Partition]) -> Iterator[Partition]:
    for other in others:
        is_current = other.state == partition.state == "current"
        is_other_topic = bool(other.topic_id) and other.topic_id != partition.topic_id
        if is_current and is_other_topic and other.label == partition.label:
            yield other


def _renamed(partition: Partition, others: Sequence[Partition]) -> Iterator[Partition]:
    for other in others:
        is_same_topic = bool(partition.topic_id) and other.topic_id == partition.topic_id
        is_same_number = other.partition == partition.partition
        if is_same_topic and is_same_number and other.state != partition.state:
            yield other
