"""What else depends on the interval: when segments end, how large an index is safe, files and
memory, remote storage.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kafkaviz.analyse import limits
from kafkaviz.analyse.cost_model import MAX_MAP_COUNT, footprint
from kafkaviz.analyse.tuning.measured import Measured, Today
from kafkaviz.analyse.tuning.priced import At
from kafkaviz.simulate.config import LogConfig

REMOTE_INDEX_CACHE_BYTES = 1 << 30  # remote.log.index.file.cache.total.size.bytes
SAFE_INDEX_MARGIN = 1.25


@dataclass(frozen=True)
class Limits:
    """When this log's segments end, and what an index needs.

    ends_bytes: of each of limits.ENDS the .log at which it ends a segment, infinite where it never
    does; by time at the speed that the largest timestamps tell. least_index_bytes: the least
    segment.index.bytes with which no index is full before segment.bytes are, however fast or slow
    the log is; safe_index_bytes: a quarter more, for batches that become smaller.
    """

    ends_bytes: Mapping[str, float]
    least_index_bytes: int
    safe_index_bytes: int

    @property
    def binding(self) -> str:
        """The first of them."""
        return min(self.ends_bytes, key=self.ends_bytes.__getitem__)


def limits_at(measured: Measured, config: LogConfig, interval_bytes: int) -> Limits:
    """When segments end with a swept interval, which limit is the first, and how large an index is
    safe.
    """
    place = measured.parts.at(interval_bytes)
    entries, times = int(measured.parts.entries[place]), int(measured.parts.time_entries[place])
    gap, share = (
        (measured.log_bytes / entries, min(1.0, times / entries))
        if entries
        else (float("inf"), 0.0)
    )
    room, speed = config.segment_index_bytes, measured.bytes_per_s
    waited_s = (config.most_segment_ms - limits.mean_jitter_ms(config)) / 1000
    ends = (
        float(config.segment_bytes),
        speed * waited_s if speed else float("inf"),
        limits.offset_index_full_bytes(room, gap) if entries else float("inf"),
        limits.time_index_full_bytes(room, gap, share) if share else float("inf"),
    )
    least = limits.safe_index_bytes(config.segment_bytes, gap, share)
    return Limits(
        dict(zip(limits.ENDS, ends, strict=True)), least, round(SAFE_INDEX_MARGIN * least)
    )


def tiered(now: At, other: At, measured: Measured, today: Today) -> dict[str, float]:
    """Of a topic with remote storage: segments whose indexes fit the remote index cache, and what a
    remote read carries for nothing.
    """
    found = {}
    for name, one in (("now", now), ("other", other)):
        per_segment = one.index_share * today.config.segment_bytes
        found[f"cached_segments_{name}"] = (
            REMOTE_INDEX_CACHE_BYTES / per_segment if per_segment else float("inf")
        )
        found[f"carried_share_{name}"] = float(one.row["skipped_bytes_mean"]) / today.fetch_bytes
    return found


def footprint_at(
    measured: Measured, today: Today, interval_bytes: int, max_map_count: int = MAX_MAP_COUNT
) -> dict[str, int]:
    """Files, maps, memory and what is preallocated, with the indexes of a swept interval; of
    today's with those that are there.
    """
    is_today = interval_bytes == today.interval_bytes
    parts = (
        measured.today(interval_bytes).parts if is_today else measured.parts.only(interval_bytes)
    )
    rooms = today.rooms or (today.config.segment_index_bytes,) * today.partitions
    found = footprint(measured.segments, int(parts.index_bytes[0]), rooms, today.leaves_maps)
    return {
        "segments": found.segments,
        "files": found.files,
        "maps": found.maps,
        "stale_maps": found.stale_maps,
        "maps_left": found.maps_left(max_map_count),
        "index_bytes": found.index_bytes,
        "preallocated_bytes": found.preallocated_bytes,
        "resident_bytes": found.resident_bytes,
    }
