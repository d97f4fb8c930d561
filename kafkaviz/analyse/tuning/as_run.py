"""How a log is run: its interval and its limits, as settings tell them, or as its entries and rolls
do.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from kafkaviz.analyse import rolled
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.infer import (
    ChunkedEvidence,
    IntervalBounds,
    IntervalEvidence,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.analyse.tuning.measured import SETTING
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import BATCH
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Origin, Settings, Sourced

Log = tuple[Partition, Sequence[Segment]]  # and those of its segments that are tuned
NO_BATCH = np.empty(0, BATCH)
LOOKED_AT = 4  # segments from which an interval is inferred that no setting tells


class Evidence:
    """What the largest segments with an index tell of its interval, from the batches that are read
    for other ends too.
    """

    def __init__(self, logs: Sequence[Log]) -> None:
        segments = [one for _, segments in logs for one in segments if one.index]
        segments.sort(key=lambda one: existing(one.log).size_bytes, reverse=True)
        largest = segments[:LOOKED_AT]
        self._each = {existing(one.log).path: told for one in largest if (told := _told(one))}
        self.segments = [one for one in largest if existing(one.log).path in self._each]

    def take(self, segment: Segment, batches: np.ndarray) -> None:
        """The next batches of a segment."""
        if told := self._each.get(existing(segment.log).path):
            told.add(batches)

    def bounds(self) -> IntervalBounds:
        """What all of them tell."""
        return reduce(
            IntervalEvidence.merge,
            (one.evidence() for one in self._each.values()),
            IntervalEvidence(),
        ).bounds()


def glimpse(logs: Sequence[Log], settings: Settings) -> int:
    """index.interval.bytes as a setting says it; where none does, as the first batches of the
    largest segments look.
    """
    found = settings.find(logs[0][0].topic, SETTING)
    if found.origin != Origin.DEFAULT:
        return int(found.value)
    evidence = Evidence(logs)
    for segment in evidence.segments:
        try:
            evidence.take(segment, next(iter(segment.whole_scan()), NO_BATCH))
        except KafkavizError:  # the pass over all of it says so
            continue
    return interval(found, evidence.bounds())[0]


def interval(found: Sourced, bounds: IntervalBounds) -> tuple[int, str, bool]:
    """(index.interval.bytes, where it is from, whether entries stand for whole appends). bounds:
    what the entries say.

    A default that the entries contradict is none: then the log came without its settings, and the
    interval is inferred.
    """
    low, high = bounds.low_bytes, bounds.high_bytes
    fits = high is None or (low or 0) <= found.value <= high
    if found.origin != Origin.DEFAULT or fits or bounds.per_append:
        return int(found.value), found.source, bounds.per_append
    return (
        _roundest(low or 0, high),
        f"inferred from the entries, between {low or 0} and {high}",
        bounds.per_append,
    )


def limits(logs: Sequence[Log]) -> dict[str, Value]:
    """What rolls say of segment.bytes, segment.ms and segment.index.bytes, of the first partition
    that tells; and what the length of an active segment's index says, as long as a crash left it
    untrimmed.
    """
    found: dict[str, Value] = {}
    for partition, segments in logs:
        try:
            facts = (
                [rolled.glance(one) for one in partition.live]
                if len(segments) == len(partition.live) > 1
                else []
            )
            told = inferred_limits(facts, roll_reasons(facts)) if facts else {}
            room = _room(segments[-1])
        except KafkavizError:
            continue
        found = {name: one.value for name, one in told.items()} | found
        found |= {"segment.index.bytes": room} if room else {}
    return found


def _room(segment: Segment) -> int | None:
    """The length of an index that was made as long as it may grow, None of one that was trimmed."""
    is_untrimmed = (
        segment.index
        and segment.timeindex
        and segment.offset_slots.unwritten
        and segment.time_slots.unwritten
    )
    return (
        max(existing(segment.index).size_bytes, existing(segment.timeindex).size_bytes)
        if is_untrimmed
        else None
    )


class _Told:
    """What one segment tells.

    Of one whose index is empty all but its first batch came without an entry.
    """

    def __init__(self, entries: np.ndarray) -> None:
        self._gaps = ChunkedEvidence(entries[np.argsort(entries["position"], kind="stable")])
        self._is_empty, self._last = not len(entries), ()

    def add(self, batches: np.ndarray) -> None:
        """The next batches."""
        self._gaps.add(batches)
        self._last = (int(batches["position"][-1]),) if len(batches) else self._last

    def evidence(self) -> IntervalEvidence:
        """Of all of them."""
        return (
            IntervalEvidence(longest_unindexed_bytes=self._last)
            if self._is_empty
            else self._gaps.evidence()
        )


def _told(segment: Segment) -> _Told | None:
    try:
        return _Told(segment.offset_index)
    except KafkavizError:
        return None


def _roundest(low: int, high: int) -> int:
    """A power of two between both, else the high end: an entry says how long an interval can have
    been, and a gap how short.
    """
    power = 1 << (max(high, 1).bit_length() - 1)
    return power if power >= low else high
