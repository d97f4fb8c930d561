"""What is exact of a log, gathered a segment at a time: the sweep, the device reads, and what the model needs of its batches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np

from kafkaviz.analyse import cold_reads, held, sweep
from kafkaviz.analyse.cold_reads import ColdReads
from kafkaviz.analyse.cost_model import READ_AHEAD_BYTES
from kafkaviz.analyse.held import Held
from kafkaviz.analyse.tuning.measured import Measured
from kafkaviz.format.batch import MAGIC_2, is_control

KEPT_BATCHES = 8_000_000  # of a case, for its ranges; 5 bytes each
FOLDED = 16  # segments, after which their counts are added up
SUMMED = ("parts", "cold", "every_offset", "timestamps")  # of Measured


@dataclass
class Gathering:
    """Sums up segments, one after the other, into what the rule needs.

    also: intervals beside sweep.INTERVALS, today's among them. held_bytes: today's, of logs that have indexes; None of a workload.
    """

    also: Iterable[int]
    by_base_offset: bool
    read_ahead_bytes: int = READ_AHEAD_BYTES
    per_append: bool = False
    held_bytes: int | None = None
    _found: list[Measured] = field(default_factory=list)
    _empty: int = 0

    def __post_init__(self) -> None:
        self._intervals = np.unique([*sweep.INTERVALS, *self.also])

    def add(
        self, batches: np.ndarray, appends: np.ndarray | None = None, indexes: tuple[np.ndarray, np.ndarray] | None = None,
        far: Callable[[float], None] = lambda share: None,
    ) -> None:  # fmt: skip
        """One segment's batches (format.batch.BATCH). appends: the number of each one's append, where an append has one entry at most.

        indexes: the entries that it has on disk, log.segment.OFFSET_ENTRY and TIME_ENTRY; None where one is missing. far: told which share
        of the work is done.
        """
        if not len(batches):
            self._empty += 1
            return
        self._found.append(self._measured(batches, appends, indexes, far))
        if len(self._found) == FOLDED:
            self._found = [joined(self._found)]  # the counts of a thousand segments would fill the memory

    def _measured(
        self, batches: np.ndarray, appends: np.ndarray | None, indexes: tuple[np.ndarray, np.ndarray] | None, far: Callable[[float], None],
    ) -> Measured:  # fmt: skip
        """One segment with a batch at least."""
        far(0.1)
        parts = self._swept(batches, appends)
        far(0.2)
        cold = cold_reads.cold_reads(batches, self._intervals, self.by_base_offset, self.read_ahead_bytes)
        far(0.5)
        every = sweep.parts(batches, self._intervals, targets=sweep.EVERY, by_base_offset=self.by_base_offset)
        far(0.6)
        times, sizes = sweep.sweep_times(batches, self._intervals), (sweep.sizes(batches),)
        mean, spread = _moments(batches)
        told = _single_share(batches), _bytes_per_s(batches), self._followers(batches)
        found = Measured(parts, cold, every, times, sizes, mean, spread, *told, one_read_share=_one_read_share(batches))
        return replace(found, held=self._held(batches, indexes, found))

    def _swept(self, batches: np.ndarray, appends: np.ndarray | None) -> sweep.SweepParts:
        """The sweep; where an append has one entry at most, append by append."""
        sweeper = sweep.Sweeper(self._intervals, by_base_offset=self.by_base_offset)
        sweeper.take(batches, appends)
        return sweeper.end()

    def _followers(self, batches: np.ndarray) -> sweep.SweepParts | None:
        """The indexes of a follower, of a release where an append has one entry at most; None of any other."""
        if not self.per_append:
            return None
        return sweep.parts(batches, self.also, by_base_offset=self.by_base_offset, append_bytes=sweep.FOLLOWER_APPEND_BYTES)

    def _held(self, batches: np.ndarray, indexes: tuple[np.ndarray, np.ndarray] | None, found: Measured) -> Held | None:
        """The indexes that are there; of a segment without one, or with one that recovery would make anew, the replay."""
        if self.held_bytes is None:
            return None
        again = found.replayed(self.held_bytes)
        told = indexes and held.held(batches, *indexes, again, self.by_base_offset, self.read_ahead_bytes)
        return told or again

    def measured(self) -> Measured:
        """All segments so far."""
        none = sweep.none(self._intervals)
        found = joined(self._found) if self._found else Measured(none, _no_reads(self._intervals), none, none)
        return replace(found, empty_segments=self._empty)


def _no_reads(intervals: np.ndarray) -> ColdReads:
    return ColdReads(intervals, (np.zeros(0, np.int64),) * len(intervals))


def _moments(batches: np.ndarray) -> tuple[float, float]:
    """The mean size of a batch in bytes, and the deviation as a share of it."""
    mean = float(batches["size_bytes"].mean())
    return mean, float(batches["size_bytes"].std()) / mean


def _single_share(batches: np.ndarray) -> float:
    """How many hold one record, control batches aside."""
    data = batches[~is_control(batches)]
    return float((data["base_offset"] == data["last_offset"]).mean()) if len(data) else 0.0


def _one_read_share(batches: np.ndarray) -> float:
    """How many are messages of a magic before 2."""
    return float((batches["magic"] < MAGIC_2).mean())


def _bytes_per_s(batches: np.ndarray) -> float | None:
    times = batches["max_timestamp_ms"][batches["max_timestamp_ms"] >= 0]
    waited = int(times.max() - times.min()) if len(times) else 0
    return 1000 * float(batches["size_bytes"].sum()) / waited if waited > 0 else None


def joined(found: Sequence[Measured]) -> Measured:
    """Several as one: sums of what is exact, the moments of all batch sizes together, and the speed of all logs side by side."""
    return replace(_with_batches(found), empty_segments=sum(one.empty_segments for one in found))


def _with_batches(found: Sequence[Measured]) -> Measured:
    found = [one for one in found if one.parts.batches] or found[:1]  # means of no batch are no number
    if len(found) == 1:
        return found[0]
    parts, cold, every, times = (reduce(add, (getattr(one, name) for one in found)) for name in SUMMED)
    counts = np.array([one.parts.batches for one in found], float)
    if not counts.sum():
        return found[0]
    indexes = reduce(add, (one.held for one in found)) if all(one.held for one in found) else None
    mean = float(np.average([one.batch_bytes for one in found], weights=counts))
    square = float(np.average([one.batch_bytes**2 * (1 + one.spread**2) for one in found], weights=counts))
    single = float(np.average([one.single_share for one in found], weights=counts))
    timed = [one for one in found if one.bytes_per_s]
    seconds = sum(one.log_bytes / one.bytes_per_s for one in timed)
    speed = sum(one.log_bytes for one in timed) / seconds if timed else None
    followers = None
    if all(one.followers for one in found):
        followers = sum((one.followers for one in found[1:]), found[0].followers)
    spread = max(0.0, square / mean**2 - 1) ** 0.5
    old = float(np.average([one.one_read_share for one in found], weights=counts))
    return Measured(parts, cold, every, times, _kept(found), mean, spread, single, speed, followers, indexes, old)


def _kept(found: Sequence[Measured]) -> tuple[np.ndarray, ...]:
    """The batch sizes of as many segments as are kept."""
    kept, count = [], 0
    for segment in (segment for one in found for segment in one.sizes):
        if count and count + len(segment) > KEPT_BATCHES:
            break
        kept.append(segment)
        count += len(segment)
    return tuple(kept)
