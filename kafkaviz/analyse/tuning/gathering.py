"""What is exact of a log, gathered a segment at a time: the sweep, the device reads, and what the
model needs of its batches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import cast

import numpy as np

from kafkaviz.analyse import sweep
from kafkaviz.analyse.cold_reads import ColdReads
from kafkaviz.analyse.cost_model import READ_AHEAD_BYTES
from kafkaviz.analyse.held import Held, HeldSweeper
from kafkaviz.analyse.sweep import SweepParts
from kafkaviz.analyse.tuning.measured import Measured
from kafkaviz.analyse.tuning.one_segment import OneSegment

KEPT_BATCHES = 8_000_000  # of a case, for its ranges; 5 bytes each
FOLDED = 16  # segments, after which their counts are added up
SUMMED = ("parts", "cold", "every_offset", "timestamps")  # of Measured


@dataclass
class Gathering:
    """Sums up segments, one after the other, into what the rule needs.

    also: intervals beside sweep.INTERVALS, today's among them. per_append: whether a follower's
    append has one entry at most; by_append: whether each append here has, of a workload whose
    batches tell theirs. held_bytes: today's, of logs that have indexes; None of a workload.
    """

    also: Collection[int]
    by_base_offset: bool
    read_ahead_bytes: int = READ_AHEAD_BYTES
    per_append: bool = False
    by_append: bool = False
    held_bytes: int | None = None
    _found: list[Measured] = field(default_factory=list)
    _empty: int = 0

    def __post_init__(self) -> None:
        self._intervals = np.unique([*sweep.INTERVALS, *self.also])

    def add(
        self,
        chunks: Iterable[np.ndarray],
        indexes: tuple[np.ndarray, np.ndarray] | None = None,
        far: Callable[[float], None] = lambda share: None,
    ) -> None:
        """One segment's batches, array by array (format.batch.BATCH, or incoming.INCOMING of a
        workload).

        indexes: the entries that it has on disk, log.segment.OFFSET_ENTRY and TIME_ENTRY; None
        where one is missing. far: told which share of the work is done once all batches were read.
        """
        in_index = None
        if indexes and self.held_bytes is not None:
            in_index = HeldSweeper(*indexes, self.held_bytes, self.by_base_offset)
        followers = self.also if self.per_append else ()
        one = OneSegment(
            self._intervals,
            followers,
            self.by_base_offset,
            self.read_ahead_bytes,
            self.by_append,
            in_index,
        )
        for batches, is_end in _told_of_the_end(chunk for chunk in chunks if len(chunk)):
            one.take(batches, is_end)
        if not one.batches:
            self._empty += 1
            return
        found = one.measured(self.held_bytes, far)
        self._found.append(found if self._has_room(one.batches) else replace(found, sizes=()))
        if len(self._found) == FOLDED:
            # the counts of a thousand segments would fill the memory
            self._found = [joined(self._found)]

    def _has_room(self, batches: int) -> bool:
        """Whether the sizes of one more segment are kept: none after the first that was not, until
        all are folded.
        """
        kept = [sum(map(len, one.sizes)) for one in self._found]
        return not kept or (all(kept) and sum(kept) + batches <= KEPT_BATCHES)

    def measured(self) -> Measured:
        """All segments so far."""
        none = sweep.none(self._intervals)
        found = (
            joined(self._found)
            if self._found
            else Measured(none, _no_reads(self._intervals), none, none)
        )
        return replace(found, empty_segments=self._empty)


def _no_reads(intervals: np.ndarray) -> ColdReads:
    return ColdReads(intervals, (np.zeros(0, np.int64),) * len(intervals))


def _told_of_the_end(chunks: Iterable[np.ndarray]) -> Iterator[tuple[np.ndarray, bool]]:
    """Each with whether it is the last."""
    before = None
    for chunk in chunks:
        if before is not None:
            yield before, False
        before = chunk
    if before is not None:
        yield before, True


def joined(found: Sequence[Measured]) -> Measured:
    """Several as one: sums of what is exact, the moments of all batch sizes together, and the speed
    of all logs side by side.
    """
    return replace(_with_batches(found), empty_segments=sum(one.empty_segments for one in found))


def _with_batches(found: Sequence[Measured]) -> Measured:
    # means of no batch are no number
    found = [one for one in found if one.parts.batches] or found[:1]
    if len(found) == 1:
        return found[0]
    parts, cold, every, times = (
        reduce(add, (getattr(one, name) for one in found)) for name in SUMMED
    )
    counts = np.array([one.parts.batches for one in found], float)
    if not counts.sum():
        return found[0]
    indexes = None
    if all(one.held for one in found):
        indexes = reduce(add, (cast(Held, one.held) for one in found))
    mean = float(np.average([one.batch_bytes for one in found], weights=counts))
    square = float(
        np.average([one.batch_bytes**2 * (1 + one.spread**2) for one in found], weights=counts)
    )
    single = float(np.average([one.single_share for one in found], weights=counts))
    timed = [one for one in found if one.bytes_per_s]
    seconds = sum(one.log_bytes / cast(float, one.bytes_per_s) for one in timed)
    speed = sum(one.log_bytes for one in timed) / seconds if timed else None
    followers = None
    if all(one.followers for one in found):
        each = [cast(SweepParts, one.followers) for one in found]
        followers = sum(each[1:], each[0])
    spread = max(0.0, square / mean**2 - 1) ** 0.5
    old = float(np.average([one.one_read_share for one in found], weights=counts))
    return Measured(
        parts,
        cold,
        every,
        times,
        _kept(found),
        mean,
        spread,
        single,
        speed,
        followers,
        indexes,
        old,
    )


def _kept(found: Sequence[Measured]) -> tuple[np.ndarray, ...]:
    """The batch sizes of as many segments as are kept."""
    kept, count = [], 0
    for segment in (segment for one in found for segment in one.sizes):
        if count and count + len(segment) > KEPT_BATCHES:
            break
        kept.append(segment)
        count += len(segment)
    return tuple(kept)
