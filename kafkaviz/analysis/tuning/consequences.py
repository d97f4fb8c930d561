"""The effects of an interval: its gain, rolls, safe index size, files and memory, remote storage.

The gain is a range. It comes from a block bootstrap over stretches of the log, and from the ranges
of the costs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range, footprint
from kafkaviz.analysis.rolls import limits
from kafkaviz.analysis.tuning.interval_cost import IntervalCost
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause

MIN_BLOCKS = 8  # with fewer blocks only the costs give a range
RESAMPLES = 400
SEED = 1
BLOCKS = 40
MIN_BLOCK_BATCHES = 16
REMOTE_INDEX_CACHE_BYTES = 1 << 30  # default of remote.log.index.file.cache.total.size.bytes
SAFE_INDEX_MARGIN = 1.25


@dataclass(frozen=True)
class Gain:
    """The gain of a change; negative if it costs.

    Each range covers the ranges of the costs, and 90 of 100 logs like this one.

    Attributes:
        p99_us, mean_us: time saved per warm lookup.
        index_share: index bytes saved, as a share of the log.
        blocks: number of stretches of the log in the bootstrap; with fewer than 8 only the costs
            give a range.
    """

    p99_us: Range
    mean_us: Range
    index_share: Range
    blocks: int


@dataclass(frozen=True)
class LogBlock:
    """A stretch of the log for the bootstrap.

    Its entries and its lookups by headers read are given for the present and the other interval.
    """

    log_bytes: int
    entries: tuple[int, ...]
    headers: tuple[np.ndarray, ...]


def estimate_gain(
    measurement: LogMeasurement,
    costs: LookupCosts,
    current: IntervalCost,
    other: IntervalCost,
) -> Gain:
    blocks = _blocks(measurement, (current.interval_bytes, other.interval_bytes))
    share = current.index_share - other.index_share
    means = (current.row["headers_mean"] - other.row["headers_mean"],) * 2
    p99s = (int(current.row["headers_p99"]) - int(other.row["headers_p99"]),) * 2
    shares = (share, share)
    if len(blocks) >= MIN_BLOCKS:
        means, p99s, shares = _draw_ranges(blocks)
        points = (current.row["entries"] - other.row["entries"]) / measurement.log_bytes
        shares = tuple(end * share / points for end in shares) if points else (share, share)
    header = costs.with_one_read_share(measurement.one_read_share).each_us
    mean_us = _price_range(
        means, float(current.row["headers_mean"] - other.row["headers_mean"]), header
    )
    p99_us = _price_range(
        p99s, float(current.row["headers_p99"] - other.row["headers_p99"]), header
    )
    index_share = Range(min(shares[0], share), share, max(shares[1], share))
    return Gain(p99_us, mean_us, index_share, len(blocks))


def _price_range(headers: Sequence[float], typical: float, header_us: Range) -> Range:
    """Returns the µs for a difference in headers, as the widest range of costs and draws."""
    low = min(headers[0], typical)
    high = max(headers[1], typical)
    ends = [count * us for count in (low, high) for us in (header_us.low, header_us.high)]
    return Range(min(ends), typical * header_us.typical, max(ends))


def _blocks(measurement: LogMeasurement, intervals: tuple[int, int]) -> list[LogBlock]:
    """Returns stretches of the log with equal numbers of batches.

    The writer's counter continues from one stretch to the next.
    """
    batches = sum(len(sizes) for sizes in measurement.sizes)
    length = max(MIN_BLOCK_BATCHES, -(-batches // BLOCKS))
    blocks = []
    for segment in measurement.sizes:
        sweeps = [sweep.headers(segment, interval) for interval in intervals]
        for start in range(0, len(segment), length):
            block_rows = slice(start, start + length)
            if start and len(segment) - start < length // 2:
                continue  # the remaining batches are too few to weigh as much as a full block
            counts = tuple(np.bincount(headers[block_rows]) for headers, _ in sweeps)
            entries = tuple(int(indexed[block_rows].sum()) for _, indexed in sweeps)
            blocks.append(LogBlock(int(segment["size_bytes"][block_rows].sum()), entries, counts))
    return blocks


def _draw_ranges(blocks: Sequence[LogBlock]) -> tuple[tuple[float, float], ...]:
    """Draws the blocks RESAMPLES times, to bound the difference between both intervals.

    Returns:
        The 5th and 95th percentile of mean headers, p99 of headers, and entries per byte of log.
    """
    rng = np.random.default_rng(SEED)
    draw_counts = rng.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), RESAMPLES)
    means, p99s = zip(
        *(
            _draw_statistics(draw_counts, [block.headers[which] for block in blocks])
            for which in (0, 1)
        ),
        strict=True,
    )
    log_bytes = draw_counts @ np.array([block.log_bytes for block in blocks])
    entries = [
        draw_counts @ np.array([block.entries[which] for block in blocks]) for which in (0, 1)
    ]
    points = (entries[0] - entries[1]) / log_bytes
    return tuple(
        tuple(np.percentile(differences, (5, 95)).tolist())
        for differences in (means[0] - means[1], p99s[0] - p99s[1], points)
    )


def _draw_statistics(
    draw_counts: np.ndarray, counts: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean and the p99 of each draw.

    Args:
        draw_counts: how often each block was drawn, shape (draws, blocks).
        counts: the lookups of each block by headers read.
    """
    most = max(len(count) for count in counts)
    table = np.zeros((len(counts), most), np.float64)
    for row, count in zip(table, counts, strict=True):
        row[: len(count)] = count
    histograms = draw_counts @ table
    cumulative = np.cumsum(histograms, axis=1)
    total = cumulative[:, -1]
    return histograms @ np.arange(most) / total, (
        cumulative < np.ceil(0.99 * total - 1e-9)[:, None]
    ).sum(axis=1)


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
    return footprint(
        measurement.segments, int(parts.index_bytes[0]), index_rooms, leaves_maps=today.leaves_maps
    )
