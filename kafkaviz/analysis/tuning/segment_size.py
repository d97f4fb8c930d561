"""The size of a log's segments: which limit ends them, and whether segment.bytes should change.

Four numbers depend on segment.bytes:

- the bytes that a log keeps beyond its retention: up to one segment, which Kafka deletes whole
- the size of the active segment, which is never compacted, and not deleted before it rolls
- the bytes that a killed broker reads again when it starts: at most the active segments
- the memory maps of the broker: two per segment with loaded indexes; vm.max_map_count limits them
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from kafkaviz.analysis import roll_limits
from kafkaviz.analysis.cost.cost_model import JVM_MAPS, MAPS_PER_SEGMENT, MAX_MAP_COUNT, footprint
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.recommendation import TuningVerdict
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause

SEGMENT_SETTING = "segment.bytes"
SAFE_INDEX_MARGIN = 1.25
MIN_SEGMENT_BYTES = 64 << 20  # smaller segments are not proposed
MAX_SEGMENT_BYTES = 1 << 30  # larger segments are not proposed; this is Kafka's default
SEGMENTS_PER_RETENTION = 4  # the proposed number of segments in the retained bytes
# larger segments are proposed above this share of the maps that the JVM leaves of vm.max_map_count
MAX_MAP_SHARE = 0.5
SegmentReason = Literal[
    "overshoot",
    "not-compacted",
    "maps",  # a reason for a larger segment.bytes
    "fits",
    "small-log",
    "other-limit",
    "no-retention",
    "topic-by-topic",
]


@dataclass(frozen=True)
class SegmentLimits:
    """The limits that end this log's segments, and the index size that the log needs.

    Attributes:
        ends_bytes: the .log size at which each of `roll_limits.ENDS` ends a segment, or infinite.
        least_index_bytes: the smallest segment.index.bytes with which no index is full before the
            .log has segment.bytes.
        safe_index_bytes: `least_index_bytes` plus a quarter, in case batches become smaller.
    """

    ends_bytes: Mapping[RollCause, float]
    least_index_bytes: int
    safe_index_bytes: int

    @property
    def binding(self) -> RollCause:
        return min(self.ends_bytes, key=self.ends_bytes.__getitem__)


def limits_at(measurement: LogMeasurement, config: LogConfig, interval_bytes: int) -> SegmentLimits:
    """Returns the limits that end a log's segments. The interval must be a measured one."""
    index = measurement.parts.index_of(interval_bytes)
    entries = int(measurement.parts.entries[index])
    times = int(measurement.parts.time_entries[index])
    gap = measurement.log_bytes / entries if entries else float("inf")
    share = min(1.0, times / entries) if entries else 0.0
    index_bytes = config.segment_index_bytes
    bytes_per_s = measurement.bytes_per_s
    segment_s = (config.most_segment_ms - roll_limits.mean_jitter_ms(config)) / 1000
    ends = (
        float(config.segment_bytes),
        bytes_per_s * segment_s if bytes_per_s else float("inf"),
        roll_limits.offset_index_full_bytes(index_bytes, gap) if entries else float("inf"),
        roll_limits.time_index_full_bytes(index_bytes, gap, share) if share else float("inf"),
    )
    least_index_bytes = roll_limits.safe_index_bytes(config.segment_bytes, gap, share)
    return SegmentLimits(
        dict(zip(roll_limits.ENDS, ends, strict=True)),
        least_index_bytes,
        round(SAFE_INDEX_MARGIN * least_index_bytes),
    )


def footprint_at(
    measurement: LogMeasurement, today: CurrentConfig, interval_bytes: int
) -> dict[str, int]:
    """Returns `footprint` for an interval; for today's interval, that of the existing indexes."""
    if interval_bytes == today.interval_bytes:
        parts = measurement.current_cost(interval_bytes).parts
    else:
        parts = measurement.parts.at_interval(interval_bytes)
    own_bytes = (today.config.segment_index_bytes,) * today.partitions
    sizes = today.partition_index_bytes or own_bytes
    return footprint(
        measurement.segments, int(parts.index_bytes[0]), sizes, leaves_maps=today.leaves_maps
    )


class Basis(StrEnum):
    """Where a number comes from: it is counted, inferred from a count, or modelled."""

    EXACT = "exact"
    INFERRED = "inferred"
    MODELLED = "modelled"


@dataclass(frozen=True)
class KnownNumber:
    value: float
    basis: Basis


@dataclass(frozen=True, kw_only=True)
class SegmentNumbers:
    """The sizes and counts that result from one value of segment.bytes, for one topic.

    Attributes:
        ended_bytes: the size of the .log at which Kafka rolls a segment.
        overshoot_bytes: the most bytes that all partitions keep beyond the retention limit; None if
            the limit is unknown or there is none.
        active_bytes: the .log bytes of the active segments of all partitions.
        recovered_bytes: the most bytes that a killed broker reads again when it starts.
        maps: the number of memory maps of the whole broker, once all indexes are loaded.
    """

    segment_bytes: int
    ended_bytes: float
    overshoot_bytes: KnownNumber | None
    active_bytes: KnownNumber
    recovered_bytes: KnownNumber
    maps: KnownNumber


@dataclass(frozen=True, kw_only=True)
class SegmentSizeAdvice:
    """Whether to keep segment.bytes or to change it.

    Attributes:
        considered: the numbers for the proposed value; None if no change is proposed.
        binding: the limit that ends segments today.
        retained_bytes: how many bytes a partition may keep; None for no limit, or if unknown.
        changing: the proposed values by topic name; {} if the advice is for a single topic.
    """

    reason: SegmentReason
    today: SegmentNumbers
    considered: SegmentNumbers | None = None
    binding: RollCause
    retained_bytes: float | None = None
    changing: Mapping[str, int] = field(default_factory=dict)

    @property
    def verdict(self) -> TuningVerdict:
        return TuningVerdict.CHANGE if self.considered else TuningVerdict.KEEP

    @property
    def value(self) -> int:
        return (self.considered or self.today).segment_bytes


def advise_segment_sizes(
    source: TuningSource,
) -> tuple[dict[str, SegmentSizeAdvice], SegmentSizeAdvice]:
    """Returns the advice for each topic, by name, and the advice for all topics together.

    With several topics, a broker always keeps its default, because the right size depends on each
    topic's retention.
    """
    own_segments = sum(_live_segments(case) for case in source.cases)
    segments = max(own_segments, source.broker_segments or 0)
    by_name = {case.name: advise_segment_size(case, segments) for case in source.cases}
    total = source.total
    if len(source.cases) == 1:
        return by_name, by_name[source.cases[0].name]
    numbers = [advice.today for advice in by_name.values()]
    overshoots = [number.overshoot_bytes for number in numbers if number.overshoot_bytes]
    today = replace(
        numbers[0],
        segment_bytes=total.today.config.segment_bytes,
        overshoot_bytes=_add(overshoots) if overshoots else None,
        active_bytes=_add([number.active_bytes for number in numbers]),
        recovered_bytes=_add([number.recovered_bytes for number in numbers]),
    )
    changing = {name: advice.value for name, advice in by_name.items() if advice.considered}
    binding = limits_at(total.measurement, total.today.config, total.today.interval_bytes).binding
    return by_name, SegmentSizeAdvice(
        reason="topic-by-topic", today=today, binding=binding, changing=changing
    )


def _add(numbers: Sequence[KnownNumber]) -> KnownNumber:
    return KnownNumber(sum(number.value for number in numbers), numbers[0].basis)


def _live_segments(case: TuningCase) -> int:
    return case.measurement.segments if case.live_segments is None else case.live_segments


def advise_segment_size(case: TuningCase, broker_segments: int) -> SegmentSizeAdvice:
    """Returns whether a different segment.bytes is better for a topic.

    A larger value, up to 1 GiB, is proposed if segment.bytes ends the segments, and the broker uses
    more than half of the maps that vm.max_map_count allows. If not, a smaller value may be
    proposed: a quarter of the bytes that retention keeps, as a power of two from 64 MiB on. For a
    compacted log without retention, it is a quarter of the log. Today's segments must be at least
    twice as large as the smaller value, and the log must not be smaller than this value.

    `broker_segments` are all segments on the broker, including those of this case.
    """
    config = case.today.config
    current = _numbers(case, config.segment_bytes, broker_segments)
    binding = limits_at(case.measurement, config, case.today.interval_bytes).binding
    retained_bytes = _retained_bytes(case)
    partition_bytes = case.measurement.log_bytes / case.today.partitions
    candidate = None
    reason: SegmentReason = "no-retention"
    map_share = current.maps.value / (MAX_MAP_COUNT - JVM_MAPS)
    if map_share > MAX_MAP_SHARE and binding == RollCause.SIZE:
        reason = "maps"
        larger_bytes = _power_of_two(2 * map_share / MAX_MAP_SHARE * config.segment_bytes)
        if config.segment_bytes < MAX_SEGMENT_BYTES:
            candidate = min(MAX_SEGMENT_BYTES, larger_bytes)
    elif retained_bytes is not None:
        reason = "overshoot"
        candidate = _smaller_bytes(current.ended_bytes, retained_bytes)
    elif "compact" in config.cleanup_policy.split(","):
        reason = "not-compacted"
        active_bytes = current.active_bytes.value / case.today.partitions
        candidate = _smaller_bytes(active_bytes, partition_bytes)
    if candidate is None and reason in ("overshoot", "not-compacted"):
        reason = "fits" if binding == RollCause.SIZE else "other-limit"
    elif candidate is not None and partition_bytes < candidate < config.segment_bytes:
        reason = "small-log"
        candidate = None
    return SegmentSizeAdvice(
        reason=reason,
        today=current,
        considered=None if candidate is None else _numbers(case, candidate, broker_segments),
        binding=binding,
        retained_bytes=retained_bytes,
    )


def _smaller_bytes(segment_bytes: float, kept_bytes: float) -> int | None:
    """Returns a quarter of `kept_bytes` as a power of two, but at least 64 MiB.

    Returns None if today's segments are less than twice as large as the result.
    """
    size_bytes = max(MIN_SEGMENT_BYTES, _power_of_two(kept_bytes / SEGMENTS_PER_RETENTION))
    return size_bytes if 2 * size_bytes <= segment_bytes else None


def _power_of_two(number: float) -> int:
    return 1 << max(0, int(number).bit_length() - 1)


def _retained_bytes(case: TuningCase) -> float | None:
    """Returns how many bytes a partition may keep by its stricter retention limit, or None."""
    today = case.today
    speed = case.measurement.bytes_per_s
    retained_limits = []
    if "delete" in today.config.cleanup_policy.split(","):
        if today.retention_bytes is not None and today.retention_bytes >= 0:
            retained_limits.append(float(today.retention_bytes))
        if today.retention_ms is not None and today.retention_ms >= 0 and speed:
            retained_limits.append(speed * today.retention_ms / 1000)
    return min(retained_limits, default=None)


def _numbers(case: TuningCase, segment_bytes: int, broker_segments: int) -> SegmentNumbers:
    """Returns the numbers for one value of segment.bytes. Only for today's are some counted."""
    config = replace(case.today.config, segment_bytes=segment_bytes)
    ends = limits_at(case.measurement, config, case.today.interval_bytes)
    ended_bytes = ends.ends_bytes[ends.binding]
    most_bytes = KnownNumber(case.today.partitions * ended_bytes, Basis.MODELLED)
    if segment_bytes == case.today.config.segment_bytes and case.active_bytes is not None:
        active_bytes = KnownNumber(case.active_bytes, Basis.EXACT)
        recovered_bytes = KnownNumber(case.active_bytes, Basis.INFERRED)
        maps = KnownNumber(MAPS_PER_SEGMENT * broker_segments, Basis.EXACT)
    else:
        # an active segment is half full on average
        active_bytes = KnownNumber(most_bytes.value / 2, Basis.MODELLED)
        recovered_bytes = most_bytes
        segments = case.today.partitions + round(case.measurement.log_bytes / max(1, ended_bytes))
        others = broker_segments - _live_segments(case)
        maps = KnownNumber(MAPS_PER_SEGMENT * (others + segments), Basis.MODELLED)
    return SegmentNumbers(
        segment_bytes=segment_bytes,
        ended_bytes=ended_bytes,
        overshoot_bytes=None if _retained_bytes(case) is None else most_bytes,
        active_bytes=active_bytes,
        recovered_bytes=recovered_bytes,
        maps=maps,
    )
