"""How a log is run: its interval and its limits, as settings tell them, or as its entries and rolls do."""

from collections.abc import Sequence

from kafkaviz.analyse import rolled
from kafkaviz.analyse.infer import IntervalEvidence, inferred_limits, interval_evidence, roll_reasons
from kafkaviz.analyse.tuning.measured import SETTING
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Origin, Settings

LOOKED_AT = 4  # segments from which an interval is inferred that no setting tells


def interval(logs: Sequence[tuple[Partition, list[Segment]]], settings: Settings) -> tuple[int, str, bool]:
    """(index.interval.bytes, where it is from, whether entries stand for whole appends).

    A default that the entries contradict is none: then the log came without its settings, and the interval is inferred.
    """
    found = settings.find(logs[0][0].topic, SETTING)
    bounds = _evidence(logs).bounds()
    low, high = bounds.low_bytes, bounds.high_bytes
    fits = high is None or (low or 0) <= found.value <= high
    if found.origin != Origin.DEFAULT or fits or bounds.per_append:
        return int(found.value), found.source, bounds.per_append
    return _roundest(low or 0, high), f"inferred from the entries, between {low or 0} and {high}", bounds.per_append


def limits(logs: Sequence[tuple[Partition, list[Segment]]]) -> dict[str, Value]:
    """What rolls say of segment.bytes, segment.ms and segment.index.bytes, of the first partition that tells; and what the length of an
    active segment's index says, as long as a crash left it untrimmed."""
    found: dict[str, Value] = {}
    for partition, segments in logs:
        try:
            facts = [rolled.glance(one) for one in partition.live] if len(segments) == len(partition.live) > 1 else []
            told = inferred_limits(facts, roll_reasons(facts)) if facts else {}
            room = _room(segments[-1])
        except KafkavizError:
            continue
        found = {name: one.value for name, one in told.items()} | found
        found |= {"segment.index.bytes": room} if room else {}
    return found


def _room(segment: Segment) -> int | None:
    """The length of an index that was made as long as it may grow, None of one that was trimmed."""
    is_untrimmed = segment.index and segment.timeindex and segment.offset_slots.unwritten and segment.time_slots.unwritten
    return max(segment.index.size_bytes, segment.timeindex.size_bytes) if is_untrimmed else None


def _evidence(logs: Sequence[tuple[Partition, list[Segment]]]) -> IntervalEvidence:
    """What a few segments with an index tell, the smallest first."""
    segments = [one for _, segments in logs for one in segments if one.index]
    found = IntervalEvidence()
    for segment in sorted(segments, key=lambda one: one.log.size_bytes, reverse=True)[:LOOKED_AT]:
        try:
            found = found.merge(interval_evidence(segment.batches(), segment.offset_index))
        except KafkavizError:
            continue
    return found


def _roundest(low: int, high: int) -> int:
    """A power of two between both, else the high end: an entry says how long an interval can have been, and a gap how short."""
    power = 1 << (max(high, 1).bit_length() - 1)
    return power if power >= low else high
