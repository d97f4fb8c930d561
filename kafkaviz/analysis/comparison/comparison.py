"""The result of comparing two directories, as immutable values.

For example, records from offset 180 on have leader epoch 3 on side a, but 5 on side b:

    PartitionComparison("bids-0", Relation.DIVERGED, compared_from=0, compared_to=220,
                        first_divergent_offset=180, leader_epochs_there=(3, 5), ...)

The sides are called a and b. Pairs have one value per side.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.comparison.byte_differences import ByteDifference
from kafkaviz.analysis.comparison.index_differences import IndexComparison
from kafkaviz.analysis.comparison.leader_epochs import EpochHistory, FollowerTruncation
from kafkaviz.analysis.comparison.start_changes import StartComparison
from kafkaviz.log.broker import Problem
from kafkaviz.log.settings import SettingValue
from kafkaviz.messages import Message

MAX_RANGES = 10_000  # at most this many ranges are listed; the others are only counted
SIDES = ("a", "b")


class OffsetRange(NamedTuple):
    first: int
    last: int


@dataclass(frozen=True)
class RecordSet:
    """The number and the offsets of some records. Every offset in a range has a record."""

    records: int = 0
    ranges: tuple[OffsetRange, ...] = ()  # the first MAX_RANGES
    more_ranges: int = 0  # the number of the others


NO_RECORDS = RecordSet()


class OffsetCollector:
    """Collects record offsets as ranges. Joins a range only with the range added just before it."""

    def __init__(self) -> None:
        self._ranges: list[OffsetRange] = []
        self._records = self._more_ranges = 0

    def add(self, first: int, last: int) -> None:
        self._records += last - first + 1
        if self._ranges and self._ranges[-1].last + 1 == first:
            self._ranges[-1] = OffsetRange(self._ranges[-1].first, last)
        elif len(self._ranges) < MAX_RANGES:
            self._ranges.append(OffsetRange(first, last))
        else:
            self._more_ranges += 1

    def add_offsets(self, offsets: np.ndarray) -> None:
        self.add_ranges(offsets, offsets)

    def add_ranges(self, firsts: np.ndarray, lasts: np.ndarray) -> None:
        if len(firsts):
            starts = np.flatnonzero(np.append(True, firsts[1:] != lasts[:-1] + 1))
            ends = np.append(starts[1:] - 1, len(firsts) - 1)
            for first, last in zip(firsts[starts].tolist(), lasts[ends].tolist(), strict=True):
                self.add(first, last)

    def result(self) -> RecordSet:
        return RecordSet(self._records, tuple(sorted(self._ranges)), self._more_ranges)


class Relation(StrEnum):
    """How the two logs of a partition are related; the most harmless comes first."""

    IDENTICAL = "identical"  # segment and index files are equal byte for byte
    INDEX_FILES_DIFFER = "index-files-differ"
    SEGMENTS_DIFFER = "segments-differ"  # the same records in different segments or batches
    START_DIFFERS = "start-differs"
    BEHIND = "behind"  # one log is a prefix of the other
    DOOMED_TAIL = "doomed-tail"  # the longer log ends in an epoch that is over in the shorter log
    DIVERGED = "diverged"  # an offset has different leader epochs in the two logs
    ALTERED = "altered"  # an offset has the same leader epoch, but different content
    DAMAGED = "damaged"  # a batch has a wrong checksum, or cannot be read
    CLEANED_DIFFERENTLY = "cleaned-differently"
    ONLY_IN_A = "only-in-a"
    ONLY_IN_B = "only-in-b"

    @property
    def severity(self) -> int:
        return tuple(Relation).index(self)

    @property
    def display_rank(self) -> int:
        return DISPLAY_ORDER.index(self)

    @property
    def has_equal_records(self) -> bool:
        """Whether both logs start at the same offset and have the same records."""
        return self.severity <= Relation.SEGMENTS_DIFFER.severity


# first relations that need action, then harmless differences, then partitions on one side only,
# then partitions with equal records
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
    """How far the log of one side ends before the log of the other side."""

    side: str  # the side whose log ends first, "a" or "b"
    offsets: int
    size_bytes: int  # of the batches that this side lacks
    time_ms: int | None  # between the largest timestamps; None: a side has no timestamp


@dataclass(frozen=True, kw_only=True)
class Replica:
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
    """The comparison of one topic-partition, which one or both sides have.

    Attributes:
        partition: the directory's name on side a, or on side b if a lacks the partition.
        relations: all relations that apply, the worst first.
        compared_from, compared_to: the offsets that both sides should have; the end is excluded.
        first_divergent_offset: the lowest offset with different records.
        leader_epochs_there: each side's leader epoch at `first_divergent_offset`.
        truncations: how b truncates its log if a leads, and how a does if b leads.
        differences: the first MAX_DIFFERENCES differences.
        rewritten_batches: the number of batches with different bytes but the same records.
        indexes: the indexes that differ, of segments that both sides have.
        other_generation, other_directory: as in PartitionMatch.
        interval_settings: each side's index.interval.bytes, and the source of that value.
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
    truncations: tuple[FollowerTruncation, FollowerTruncation] | None = None
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
        return tuple(side for side, count in zip(SIDES, self.damaged_batches, strict=True) if count)

    @property
    def relation(self) -> Relation:
        return self.relations[0]


@dataclass(frozen=True)
class BrokerComparison:
    """The result of comparing two directories."""

    sources: tuple[str, str]  # the path of each side; several paths are separated by commas
    partitions: tuple[PartitionComparison, ...]
    start: StartComparison | None = None  # None: a and b are not one directory at two times
    problems: tuple[Problem, ...] = ()  # what could not be read on either side

    @property
    def counts(self) -> dict[Relation, int]:
        """The number of partitions per relation, the most harmless relation first."""
        counts = Counter(comparison.relation for comparison in self.partitions)
        return {relation: counts[relation] for relation in Relation if counts[relation]}

    @property
    def worst_first(self) -> tuple[PartitionComparison, ...]:
        """The partitions, the most serious difference first (DISPLAY_ORDER)."""

        def rank(partition: PartitionComparison) -> int:
            return min(relation.display_rank for relation in partition.relations)

        return tuple(sorted(self.partitions, key=rank))

    @property
    def has_equal_records(self) -> bool:
        return not self.problems and all(
            comparison.relation.has_equal_records for comparison in self.partitions
        )
