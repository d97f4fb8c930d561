"""The gain of another interval as a range.

The range comes from a block bootstrap over stretches of the log, and from the ranges of the costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost
from kafkaviz.analysis.tuning.log_measurement import LogMeasurement

MIN_BLOCKS = 8  # with fewer blocks only the costs give a range
RESAMPLES = 400
SEED = 1
BLOCKS = 40
MIN_BLOCK_BATCHES = 16


@dataclass(frozen=True)
class Gain:
    """The gain of a change; negative if it costs.

    The ends of each range hold for the costs and for 90 of 100 logs like this one.

    Attributes:
        p99_us, mean_us: time saved per warm lookup.
        index_share: index bytes saved, as a share of the log.
        cores: None without fetches_per_s.
        blocks: number of stretches of the log in the bootstrap; with fewer than 8 only the costs
            give a range.
    """

    p99_us: Range
    mean_us: Range
    index_share: Range
    cores: Range | None
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
    budgets: Budgets,
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
    cores = None if budgets.fetches_per_s is None else mean_us.times(budgets.fetches_per_s / 1e6)
    return Gain(
        p99_us,
        mean_us,
        Range(min(shares[0], share), share, max(shares[1], share)),
        cores,
        len(blocks),
    )


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
