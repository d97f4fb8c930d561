"""The cost of an index interval, the user's limits for it, and the gain over today's interval.

The gain is a range for two reasons. The time per header is a range. And another log of the same
topic would give other counts: a block bootstrap of the log estimates how much they vary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES, LookupCosts, Range, implied_price_us
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import offset_index, time_index
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import PAGE_BYTES

ENTRY_BYTES = offset_index.ENTRY.itemsize
REPLAYED_BITS = 18  # up to 2^18 entries (a 2 MiB .index), a search for each target is run
MIN_BLOCKS = 8  # with fewer blocks, ranges come from the costs alone, without a bootstrap
RESAMPLES = 400
SEED = 1
BLOCKS = 40
MIN_BLOCK_BATCHES = 16
# the columns of sweep.SWEEP that depend on the kind of target
TARGET_COLUMNS = [
    *(name for name in field_names(sweep.SWEEP) if name.startswith("headers")),
    "skipped_bytes_mean",
]
FETCH_BYTES = 1 << 20  # default of max.partition.fetch.bytes
REMOTE_INDEX_CACHE_BYTES = 1 << 30  # default of remote.log.index.file.cache.total.size.bytes


@lru_cache(maxsize=512)
def mean_touched_pages(entries: int, stretch_bytes: int = PAGE_BYTES) -> float:
    """Returns the mean number of pages that an offset index search touches.

    Beyond 2^18 entries, each doubling is assumed to add a page. To count device reads, pass the
    bytes that one device read loads as `stretch_bytes`.
    """
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    searched = entries >> doublings
    pages = binary_search.sum_pages(searched, ENTRY_BYTES, page_bytes=stretch_bytes)
    return pages / searched + doublings if searched else 0.0


@dataclass(frozen=True)
class Budgets:
    """The limits that the user sets for the cost of lookups and indexes; None for no limit.

    Attributes:
        p99_us: limit for the high end of the time of the 99th percentile of lookups, with the log
            in the page cache.
        index_share: limit for the size of both indexes, as a share of the log.
    """

    p99_us: float | None = 50.0
    index_share: float | None = None


@dataclass(frozen=True, kw_only=True)
class IntervalCost:
    """The cost of one interval. Each batch's base offset is looked up once.

    Attributes:
        by_target: the TARGET_COLUMNS of lookups, by the kind of their targets: "base_offset",
            "every_offset" or "timestamp".
        cold_reads_mean: mean device reads of the .log, with nothing in memory.
        index_reads: mean device reads of the offset index, with nothing in memory.
    """

    interval_bytes: int
    row: np.void  # sweep.SWEEP
    by_target: Mapping[str, np.void]
    mean_us: Range
    p99_us: Range
    cold_mean_us: Range
    cold_reads_mean: float
    index_reads: float
    index_share: float
    price_us: float  # what a mean lookup saves if the index is one MB larger per GiB of log

    @property
    def time_entries(self) -> int:
        offset_bytes = int(self.row["entries"]) * ENTRY_BYTES
        return (int(self.row["index_bytes"]) - offset_bytes) // time_index.ENTRY.itemsize


def compute_cost(
    measurement: LogMeasurement, costs: LookupCosts, index_cost: ExistingIndexCost
) -> IntervalCost:
    """Returns the cost of lookups. `index_cost` is a replay_cost or current_cost of the log."""
    costs = costs.with_one_read_share(measurement.one_read_share)
    rows = {
        "base_offset": index_cost.parts.sweep()[0],
        "every_offset": index_cost.every_offset.sweep()[0],
        "timestamp": index_cost.timestamps.sweep()[0],
    }
    row = rows["base_offset"]
    interval_bytes = int(row["interval_bytes"])
    mean = float(row["headers_mean"])
    reads_mean = sweep.mean(index_cost.cold.counts[0])
    # a device read also loads the pages around the one requested
    index_entries = int(row["entries"]) // max(1, index_cost.parts.segments)
    index_reads = mean_touched_pages(index_entries, READ_AHEAD_BYTES)
    index_pages = mean_touched_pages(index_entries)
    log_bytes = measurement.log_bytes
    return IntervalCost(
        interval_bytes=interval_bytes,
        row=row,
        by_target={target: target_row[TARGET_COLUMNS] for target, target_row in rows.items()},
        mean_us=costs.warm_us(mean),
        p99_us=costs.warm_us(float(row["headers_p99"])),
        cold_mean_us=costs.cold_us(mean, reads_mean, index_reads, index_pages),
        cold_reads_mean=reads_mean,
        index_reads=index_reads,
        index_share=float(row["index_bytes"]) / log_bytes if log_bytes else float("nan"),
        price_us=implied_price_us(
            interval_bytes, measurement.batch_bytes, measurement.spread, costs.each_us.typical
        ),
    )


def compute_costs(measurement: LogMeasurement, costs: LookupCosts) -> tuple[IntervalCost, ...]:
    """Returns the cost of each interval that was swept, with replayed indexes."""
    return tuple(
        compute_cost(measurement, costs, measurement.replay_cost(int(interval)))
        for interval in measurement.parts.intervals
    )


def exceeded_budgets(cost: IntervalCost, budgets: Budgets) -> tuple[str, ...]:
    """Returns which of the user's limits (budgets) the cost exceeds: "p99", "index"."""
    return tuple(
        name for name, (value, budget) in budget_usage(cost, budgets).items() if value > budget
    )


def budget_usage(cost: IntervalCost, budgets: Budgets) -> dict[str, tuple[float, float]]:
    """Returns (cost, limit) for each budget that is set; for "p99" the high end of the cost."""
    usage = {}
    if budgets.p99_us is not None:
        usage["p99"] = cost.p99_us.high, budgets.p99_us
    if budgets.index_share is not None:
        usage["index"] = cost.index_share, budgets.index_share
    return usage


@dataclass(frozen=True)
class Gain:
    """The savings from a change of the interval; negative if the new interval costs more.

    Each range is a bootstrap interval: this log is cut into blocks, many logs are put together from
    random blocks, and the range covers 90 % of these logs.

    Attributes:
        p99_us: time saved at the 99th percentile of lookups, with the log in the page cache.
        mean_us: time saved per lookup on average, with the log in the page cache.
        index_share: index bytes saved, as a share of the log.
        blocks: the number of blocks. With fewer than 8, the ranges come from the costs alone.
    """

    p99_us: Range
    mean_us: Range
    index_share: Range
    blocks: int


def estimate_gain(
    measurement: LogMeasurement, costs: LookupCosts, current: IntervalCost, other: IntervalCost
) -> Gain:
    share = current.index_share - other.index_share
    mean = float(current.row["headers_mean"] - other.row["headers_mean"])
    p99 = int(current.row["headers_p99"]) - int(other.row["headers_p99"])
    means: Sequence[float] = (mean, mean)
    p99s: Sequence[float] = (p99, p99)
    shares: Sequence[float] = (share, share)
    blocks, drawn = _resample(measurement, current.interval_bytes)
    if blocks >= MIN_BLOCKS:
        saved = drawn - _resample(measurement, other.interval_bytes)[1]
        means, p99s, densities = np.percentile(saved, (5, 95), axis=1).T.tolist()
        points = (current.row["entries"] - other.row["entries"]) / measurement.log_bytes
        shares = [end * share / points for end in densities] if points else shares
    header = costs.with_one_read_share(measurement.one_read_share).each_us
    return Gain(
        _price_range(p99s, p99, header),
        _price_range(means, mean, header),
        Range(min(shares[0], share), share, max(shares[1], share)),
        blocks,
    )


def _price_range(headers: Sequence[float], typical: float, header_us: Range) -> Range:
    """Returns the time in µs to read `typical` headers. `headers` is (fewest, most) headers."""
    low = min(headers[0], typical)
    high = max(headers[1], typical)
    ends = [count * us for count in (low, high) for us in (header_us.low, header_us.high)]
    return Range(min(ends), typical * header_us.typical, max(ends))


def _resample(measurement: LogMeasurement, interval: int) -> tuple[int, np.ndarray]:
    """Draws `RESAMPLES` logs at random from equal blocks of the measured log.

    Every interval gets the same logs. Returns the number of blocks, and three numbers per drawn
    log, shape (3, RESAMPLES): the mean and the 99th percentile of the headers per lookup, and the
    entries per byte.
    """
    length = max(MIN_BLOCK_BATCHES, -(-sum(map(len, measurement.sizes)) // BLOCKS))
    block_bytes = []
    entries = []
    counts = []
    for segment in measurement.sizes:
        headers, indexed = sweep.headers(segment, interval)
        for start in range(0, len(segment), length):
            if start and len(segment) - start < length // 2:
                continue  # the remaining batches are too few to weigh as much as a full block
            block_rows = slice(start, start + length)
            block_bytes.append(int(segment["size_bytes"][block_rows].sum()))
            entries.append(int(indexed[block_rows].sum()))
            counts.append(np.bincount(headers[block_rows]))
    blocks = len(counts)
    if not blocks:
        return 0, np.zeros((3, RESAMPLES))
    draws = np.random.default_rng(SEED).multinomial(blocks, np.full(blocks, 1 / blocks), RESAMPLES)
    width = max(map(len, counts))
    histograms = draws @ np.array([np.pad(count, (0, width - len(count))) for count in counts])
    total = histograms.sum(axis=1)
    is_below = np.cumsum(histograms, axis=1) < np.ceil(0.99 * total - 1e-9)[:, None]
    means = histograms @ np.arange(width) / total
    return blocks, np.array([means, is_below.sum(axis=1), draws @ entries / (draws @ block_bytes)])


def tiered_cost(
    current: IntervalCost, other: IntervalCost, today: CurrentConfig
) -> dict[str, float]:
    """Returns the costs of two intervals in remote storage, as names and values.

    - `cached_segments_now`, `cached_segments_other`: how many segments' indexes fit into the cache
    - `carried_share_now`, `carried_share_other`: the share of a fetch that precedes the wanted
      offset
    """
    values = {}
    for name, cost in (("now", current), ("other", other)):
        per_segment = cost.index_share * today.config.segment_bytes
        values[f"cached_segments_{name}"] = (
            REMOTE_INDEX_CACHE_BYTES / per_segment if per_segment else float("inf")
        )
        values[f"carried_share_{name}"] = float(cost.row["skipped_bytes_mean"]) / FETCH_BYTES
    return values
