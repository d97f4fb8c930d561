"""What a comparison of two directories says, as frozen values.

One of two replicas of a partition went on alone from offset 180, then the other one did:

    PartitionComparison("bids-0", Relation.DIVERGED, compared_from=0, compared_to=220,
                        first_divergent_offset=180, leader_epochs_there=(3, 5), ...)

Sides are called a and b, in the order in which they were given; what is of both is a pair (a, b).
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from kafkaviz.analysis.comparison.byte_differences import ByteDifference
from kafkaviz.analysis.comparison.index_differences import IndexComparison
from kafkaviz.analysis.comparison.leader_epochs import EpochHistory, TruncationWalk
from kafkaviz.analysis.comparison.record_ranges import NO_RECORDS, RecordSet
from kafkaviz.analysis.comparison.start_changes import StartComparison
from kafkaviz.log.broker import Problem
from kafkaviz.log.settings import SettingValue
from kafkaviz.messages import Message

SIDES = ("a", "b")


class Relation(StrEnum):
    """How two logs of a partition relate, the least first; each comparison has the worst."""

    IDENTICAL = "identical"  # segment and index files, byte for byte
    INDEX_FILES_DIFFER = "index-files-differ"
    SEGMENTS_DIFFER = "segments-differ"  # the same records, otherwise cut or written
    START_DIFFERS = "start-differs"
    BEHIND = "behind"  # one is a prefix of the other
    DOOMED_TAIL = "doomed-tail"  # the longer one ends in an epoch that the shorter one has ended
    DIVERGED = "diverged"  # an offset has two leader epochs
    ALTERED = "altered"  # an offset has one epoch and two contents
    DAMAGED = "damaged"  # a batch has a wrong checksum, or cannot be read
    CLEANED_DIFFERENTLY = "cleaned-differently"
    ONLY_IN_A = "only-in-a"
    ONLY_IN_B = "only-in-b"

    @property
    def severity(self) -> int:
        """A larger number for a worse one."""
        return tuple(Relation).index(self)

    @property
    def display_rank(self) -> int:
        """A smaller number for what a reader should see earlier."""
        return DISPLAY_ORDER.index(self)

    @property
    def has_equal_records(self) -> bool:
        """Whether both have the same records from the same log start on."""
        return self.severity <= Relation.SEGMENTS_DIFFER.severity


# what needs a person, what only explains itself, what one side has, what is equal
DISPLAY_ORDER = (
    Relation.DAMAGED,
    Relation.ALTERED,
    Relation.DIVERGED,
    Relation.DOOMED_TAIL,
    Relation.CLEANED_DIFFERENTLY,
    Relation.BEHIND,
    Relation.START_DIFFERS,
    Relation.ONLY_IN_B,
    Relation.ONLY_IN_A,
    Relation.SEGMENTS_DIFFER,
    Relation.INDEX_FILES_DIFFER,
    Relation.IDENTICAL,
)


@dataclass(frozen=True)
class Lag:
    """By how much one side is behind the other.

    Attributes:
        side: the one that is behind, "a" or "b".
        size_bytes: of the batches that it lacks.
        time_ms: between the largest timestamps of both, None where one has none.
    """

    side: str
    offsets: int
    size_bytes: int
    time_ms: int | None


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One side of a partition.

    Attributes:
        segments: their base offsets.
        cleaner_checkpoint: the offset up to which the log was cleaned, None where it was not.
        torn_bytes: at the end of the log behind its last complete batch.
    """

    directory: str
    topic_id: str | None
    log_start_offset: int
    log_end_offset: int
    high_watermark: int | None
    cleaner_checkpoint: int | None
    segments: tuple[int, ...]
    epochs: EpochHistory
    torn_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class PartitionComparison:
    """A topic-partition of both sides, or of one.

    Attributes:
        partition: the directory's name, of a where it has one.
        relations: all that hold, the worst first; relation is the first.
        compared_from, compared_to: the offsets that both should have, the second excluded.
        first_divergent_offset: the lowest there of which both have a record, and not the same.
        truncations: what a follower drops where a leads, and where b does; each a walk.
        differences: the first MAX_DIFFERENCES of difference_count.
        rewritten_batches: other bytes, the same records.
        damaged_batches: of each side, among those that were compared.
        indexes: of segments that begin at the same offset, where the indexes differ.
        notes: what explains a difference that is none.
        other_generation: the topic id of the partition of that name on the other side.
        other_directory: on the other side, of the same topic id: renamed to be deleted.
        interval_settings: index.interval.bytes of the topic by each side's own settings; None where
            the side has no such partition.
    """

    partition: str
    relations: tuple[Relation, ...]
    replicas: tuple[Replica | None, Replica | None] = (None, None)
    compared_from: int | None = None
    compared_to: int | None = None
    first_divergent_offset: int | None = None
    leader_epochs_there: tuple[int, int] | None = None
    segment_bases_equal: bool | None = None
    only_in: tuple[RecordSet, RecordSet] = (NO_RECORDS, NO_RECORDS)
    different: RecordSet = NO_RECORDS
    unreadable: RecordSet = NO_RECORDS
    truncations: tuple[TruncationWalk, TruncationWalk] | None = None
    lag: Lag | None = None
    differences: tuple[ByteDifference, ...] = ()
    difference_count: int = 0
    rewritten_batches: int = 0
    damaged_batches: tuple[int, int] = (0, 0)
    indexes: tuple[IndexComparison, ...] = ()
    notes: tuple[Message, ...] = ()
    other_generation: str | None = None
    other_directory: str | None = None
    interval_settings: tuple[SettingValue | None, SettingValue | None] = (None, None)

    @property
    def is_torn_alone(self) -> bool:
        """Whether all that differs in the logs lies behind the last batch of one."""
        a, b = self.replicas
        return (
            self.relation is Relation.SEGMENTS_DIFFER
            and bool(self.segment_bases_equal)
            and not self.rewritten_batches
            and a is not None
            and b is not None
            and a.torn_bytes + b.torn_bytes > 0
        )

    @property
    def unreadable_sides(self) -> tuple[str, ...]:
        """Those that have the batches which cannot be read."""
        return tuple(side for side, count in zip(SIDES, self.damaged_batches, strict=True) if count)

    @property
    def relation(self) -> Relation:
        """The worst that holds."""
        return self.relations[0]


@dataclass(frozen=True)
class BrokerComparison:
    """The result of comparing two directories.

    Attributes:
        sources: the two paths for the user; several paths of one side are separated by commas.
        start: the changes from a to b if both are one directory at two times, else None.
        problems: the partitions of either side that could not be read.
    """

    sources: tuple[str, str]
    partitions: tuple[PartitionComparison, ...]
    start: StartComparison | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> dict[Relation, int]:
        """The number of partitions by relation, the mildest relation first."""
        counts = Counter(comparison.relation for comparison in self.partitions)
        return {relation: counts[relation] for relation in Relation if counts[relation]}

    @property
    def worst_first(self) -> tuple[PartitionComparison, ...]:
        """The partitions in display order: the one with the gravest relation comes first."""

        def rank(partition: PartitionComparison) -> int:
            return min(relation.display_rank for relation in partition.relations)

        return tuple(sorted(self.partitions, key=rank))

    @property
    def has_equal_records(self) -> bool:
        """Whether every partition has the same records on both sides."""
        return not self.problems and all(
            comparison.relation.has_equal_records for comparison in self.partitions
        )
