"""The size of a log's segments: the limit that ends them, and the files and memory they take."""

from collections.abc import Mapping
from dataclasses import dataclass

from kafkaviz.analysis.cost.cost_model import footprint
from kafkaviz.analysis.rolls import limits
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause

SAFE_INDEX_MARGIN = 1.25


@dataclass(frozen=True)
class SegmentLimits:
    """The limits that end this log's segments, and the index size that it needs.

    Attributes:
        ends_bytes: the size of the .log at which each of limits.ENDS ends a segment; infinite if it
            never does. The time limit uses the speed shown by the largest timestamps.
        least_index_bytes: the least segment.index.bytes at which no index is full before the
            segment reaches segment.bytes, at any speed.
        safe_index_bytes: least_index_bytes and a quarter more, in case batches become smaller.
    """

    ends_bytes: Mapping[RollCause, float]
    least_index_bytes: int
    safe_index_bytes: int

    @property
    def binding(self) -> RollCause:
        return min(self.ends_bytes, key=self.ends_bytes.__getitem__)


def limits_at(measurement: LogMeasurement, config: LogConfig, interval_bytes: int) -> SegmentLimits:
    """Returns the limits of segments at a swept interval, and the index size that is safe."""
    index = measurement.parts.index_of(interval_bytes)
    entries = int(measurement.parts.entries[index])
    times = int(measurement.parts.time_entries[index])
    gap, share = (
        (measurement.log_bytes / entries, min(1.0, times / entries))
        if entries
        else (float("inf"), 0.0)
    )
    index_bytes = config.segment_index_bytes
    bytes_per_s = measurement.bytes_per_s
    segment_s = (config.most_segment_ms - limits.mean_jitter_ms(config)) / 1000
    ends = (
        float(config.segment_bytes),
        bytes_per_s * segment_s if bytes_per_s else float("inf"),
        limits.offset_index_full_bytes(index_bytes, gap) if entries else float("inf"),
        limits.time_index_full_bytes(index_bytes, gap, share) if share else float("inf"),
    )
    least_index_bytes = limits.safe_index_bytes(config.segment_bytes, gap, share)
    return SegmentLimits(
        dict(zip(limits.ENDS, ends, strict=True)),
        least_index_bytes,
        round(SAFE_INDEX_MARGIN * least_index_bytes),
    )


def footprint_at(
    measurement: LogMeasurement,
    today: CurrentConfig,
    interval_bytes: int,
) -> dict[str, int]:
    """Returns files, maps, memory and preallocated bytes at a swept interval.

    At today's interval the existing indexes count.
    """
    is_today = interval_bytes == today.interval_bytes
    parts = (
        measurement.current_cost(interval_bytes).parts
        if is_today
        else measurement.parts.at_interval(interval_bytes)
    )
    index_rooms = today.index_rooms or (today.config.segment_index_bytes,) * today.partitions
    return footprint(
        measurement.segments, int(parts.index_bytes[0]), index_rooms, leaves_maps=today.leaves_maps
    )
