"""The cost of one interval, and its use of the budgets."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import (
    READ_AHEAD_BYTES,
    LookupCosts,
    Range,
    implied_price_us,
)
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.tuning.measurement import LogMeasurement
from kafkaviz.format import offset_index, time_index
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES, WARM_BYTES

REPLAYED_BITS = 18  # up to 2^18 entries, a 2 MiB .index, every search is run


@dataclass(frozen=True)
class Probes:
    """The slots read and pages touched for each slot that a search can end at, shape (n,).

    The read of the result itself is not counted.

    Attributes:
        tail_probes, tail_pages: the same for a reader at the end, whose target is above the last
            key.
    """

    probes: np.ndarray
    pages: np.ndarray
    tail_probes: int
    tail_pages: int


@lru_cache(maxsize=64)
def probes(
    entries: int,
    entry_bytes: int,
    *,
    warm: bool = True,
    warm_bytes: int = WARM_BYTES,
    page_bytes: int = PAGE_BYTES,
) -> Probes:
    """Returns the cost of all searches in an index of this size, for targets between two keys."""
    keys = 2 * np.arange(entries, dtype=np.int64)
    floors = slots.floors(
        keys, keys + 1, entry_bytes, warm=warm, warm_bytes=warm_bytes, page_bytes=page_bytes
    )
    tail = floors[-1] if entries else np.zeros(3, np.int64)
    floors.setflags(write=False)
    return Probes(floors[:, 1], floors[:, 2], int(tail[1]), int(tail[2]))


@lru_cache(maxsize=512)
def mean_touched_pages(entries: int, entry_bytes: int, stretch_bytes: int = PAGE_BYTES) -> float:
    """Returns the mean number of stretches of `stretch_bytes` that a search touches.

    A stretch is a page, or the bytes that the kernel reads around a missing page. Beyond 2^18
    entries each doubling adds one stretch.
    """
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    pages = probes.__wrapped__(entries >> doublings, entry_bytes, page_bytes=stretch_bytes).pages
    return float(pages.mean()) + doublings if len(pages) else 0.0


@dataclass(frozen=True)
class Budgets:
    """The limits that the user allows; None for no limit.

    A budget is met if the high end of a range meets it.

    Attributes:
        p99_us: time of the p99 lookup with the log in the page cache.
        index_share: size of both indexes as a share of the log.
    """

    p99_us: float | None = 50.0
    index_share: float | None = None


@dataclass(frozen=True, kw_only=True)
class IntervalCost:
    """The cost of one interval.

    Attributes:
        row: counts of the lookups of each batch's base offset; all values below are for these.
        every_row: the same for lookups of every offset.
        time_row: the same for lookups by timestamp.
        cold_reads_mean: device reads of the .log.
        index_reads: device reads of the offset index.
    """

    interval_bytes: int
    row: np.void  # sweep.SWEEP
    every_row: np.void
    time_row: np.void
    mean_us: Range
    p99_us: Range
    cold_mean_us: Range
    cold_reads_mean: float
    index_reads: float
    index_share: float
    price_us: float  # saved per mean lookup by one more MB of index per GiB of log

    @property
    def time_entries(self) -> int:
        offset_bytes = int(self.row["entries"]) * offset_index.ENTRY.itemsize
        return (int(self.row["index_bytes"]) - offset_bytes) // time_index.ENTRY.itemsize


def compute_cost(
    measurement: LogMeasurement, costs: LookupCosts, interval_bytes: int
) -> IntervalCost:
    """Returns the cost of a swept interval by the replay.

    Raises:
        KeyError: the interval was not swept.
    """
    return _compute(measurement, costs, measurement.replay_cost(interval_bytes))


def compute_current_cost(
    measurement: LogMeasurement, costs: LookupCosts, interval_bytes: int
) -> IntervalCost:
    """Returns the cost of lookups in the existing indexes, which have today's interval."""
    return _compute(measurement, costs, measurement.current_cost(interval_bytes))


def compute_costs(measurement: LogMeasurement, costs: LookupCosts) -> tuple[IntervalCost, ...]:
    return tuple(
        compute_cost(measurement, costs, int(interval)) for interval in measurement.parts.intervals
    )


def _compute(
    measurement: LogMeasurement, costs: LookupCosts, index_cost: ExistingIndexCost
) -> IntervalCost:
    costs = costs.with_one_read_share(measurement.one_read_share)
    row, every_row, time_row = (
        parts.sweep()[0]
        for parts in (index_cost.parts, index_cost.every_offset, index_cost.timestamps)
    )
    mean = float(row["headers_mean"])
    reads_mean = sweep.mean(index_cost.cold.counts[0])
    # a device read also loads the pages around the one requested
    index_entries = int(row["entries"]) // max(1, index_cost.parts.segments)
    entry_bytes = offset_index.ENTRY.itemsize
    index_reads = mean_touched_pages(index_entries, entry_bytes, READ_AHEAD_BYTES)
    index_pages = mean_touched_pages(index_entries, entry_bytes)
    share = (
        float(row["index_bytes"]) / measurement.log_bytes if measurement.log_bytes else float("nan")
    )
    implied_us = implied_price_us(
        int(row["interval_bytes"]),
        measurement.batch_bytes,
        measurement.spread,
        costs.each_us.typical,
    )
    return IntervalCost(
        interval_bytes=int(row["interval_bytes"]),
        row=row,
        every_row=every_row,
        time_row=time_row,
        mean_us=costs.warm_us(mean),
        p99_us=costs.warm_us(float(row["headers_p99"])),
        cold_mean_us=costs.cold_us(mean, reads_mean, index_reads, index_pages),
        cold_reads_mean=reads_mean,
        index_reads=index_reads,
        index_share=share,
        price_us=implied_us,
    )


def by_target(cost: IntervalCost) -> dict[str, np.void]:
    return {"base_offset": cost.row, "every_offset": cost.every_row, "timestamp": cost.time_row}


def exceeded_budgets(cost: IntervalCost, budgets: Budgets) -> tuple[str, ...]:
    """Returns the names of the budgets that the high end of a range exceeds: "p99", "index"."""
    return tuple(
        name for name, (value, budget) in budget_usage(cost, budgets).items() if value > budget
    )


def budget_usage(cost: IntervalCost, budgets: Budgets) -> dict[str, tuple[float, float]]:
    """Returns the cost of an interval and the allowed value, for each budget that is set.

    The cost is the high end of its range.
    """
    use_by_name = {
        "p99": (cost.p99_us.high, budgets.p99_us),
        "index": (cost.index_share, budgets.index_share),
    }
    return {
        name: (value, budget) for name, (value, budget) in use_by_name.items() if budget is not None
    }
