"""The other effects of an interval: rolls, safe index size, files and memory, remote storage."""

from collections.abc import Mapping
from dataclasses import dataclass

from kafkaviz.analysis.cost.cost_model import footprint
from kafkaviz.analysis.rolls import limits
from kafkaviz.analysis.tuning.interval_cost import IntervalCost
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.config import LogConfig

REMOTE_INDEX_CACHE_BYTES = 1 << 30  # default of remote.log.index.file.cache.total.size.bytes
SAFE_INDEX_MARGIN = 1.25


@dataclass(frozen=True)
class SegmentLimits:
    """The limits that end this log's segments, and the index size that it needs.

    Attributes:
        ends_bytes: the size of the .log at which each of limits.ENDS ends a segment; infinite if
            it never does. The time limit uses the speed shown by the largest timestamps.
        least_index_bytes: the least segment.index.bytes at which no index is full before the
            segment reaches segment.bytes, at any speed.
        safe_index_bytes: a quarter more, in case batches become smaller.
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


def tiered_cost(
    current: IntervalCost, other: IntervalCost, today: CurrentConfig
) -> dict[str, float]:
    """Returns the costs of remote storage at both intervals.

    These are the number of segments whose indexes fit in the remote index cache, and the share of a
    remote read that is skipped.
    """
    values = {}
    for name, cost in (("now", current), ("other", other)):
        per_segment = cost.index_share * today.config.segment_bytes
        values[f"cached_segments_{name}"] = (
            REMOTE_INDEX_CACHE_BYTES / per_segment if per_segment else float("inf")
        )
        values[f"carried_share_{name}"] = float(cost.row["skipped_bytes_mean"]) / today.fetch_bytes
    return values


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
    total = footprint(
        measurement.segments, int(parts.index_bytes[0]), index_rooms, leaves_maps=today.leaves_maps
    )
    return {
        "segments": total.segments,
        "files": total.files,
        "maps": total.maps,
        "stale_maps": total.stale_maps,
        "maps_left": total.maps_left(),
        "index_bytes": total.index_bytes,
        "preallocated_bytes": total.preallocated_bytes,
        "resident_bytes": total.resident_bytes,
    }
