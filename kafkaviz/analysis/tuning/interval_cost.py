"""One interval with its costs, and what of the budgets it takes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range, implied_price_us
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.tuning.log_measurement import LogMeasurement
from kafkaviz.format import offset_index, time_index
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES, WARM_BYTES

REPLAYED_BITS = 18  # of a number of entries: a 2 MiB .index


@dataclass(frozen=True)
class Probes:
    """Of each slot that a search can end at, (n,): the slots read and the pages touched.

    Without the read of the result.

    Attributes:
        tail_probes, tail_pages: for the reader at the end, whose target is above the last key.
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
    """Of an index of so many entries; none is met exactly, as of a target between two keys."""
    keys = 2 * np.arange(entries, dtype=np.int64)
    floors = slots.floors(
        keys, keys + 1, entry_bytes, warm=warm, warm_bytes=warm_bytes, page_bytes=page_bytes
    )
    tail = floors[-1] if entries else np.zeros(3, np.int64)
    floors.setflags(write=False)
    return Probes(floors[:, 1], floors[:, 2], int(tail[1]), int(tail[2]))


@lru_cache(maxsize=512)
def mean_touched_pages(entries: int, entry_bytes: int, stretch_bytes: int = PAGE_BYTES) -> float:
    """How many stretches of so many bytes a search touches on average.

    Pages, or what the kernel reads around a page that is missing.

    Beyond as many entries as are worth playing through, each time that they double adds one.
    """
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    pages = probes.__wrapped__(entries >> doublings, entry_bytes, page_bytes=stretch_bytes).pages
    return float(pages.mean()) + doublings if len(pages) else 0.0


@dataclass(frozen=True)
class Budgets:
    """What somebody allows; None: no matter.

    Attributes:
        p99_us, cold_p99_us: for the lookup that one in a hundred exceeds, with the log in the page
            cache and without.
        cores: for all lookups of fetches_per_s.
        index_share: of the log, for both indexes. A budget is met where the high end of a range
            meets it.
    """

    p99_us: float | None = 50.0
    cold_p99_us: float | None = None
    cores: float | None = None
    index_share: float | None = None
    fetches_per_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class IntervalCost:
    """One interval with its costs.

    Attributes:
        row: of lookups of each batch's base offset, which costs are of.
        every_row, time_row: of every offset, and of timestamps.
        cold_reads_mean, cold_reads_p99: device reads of the .log.
        index_reads: of the offset index.
    """

    interval_bytes: int
    row: np.void  # sweep.SWEEP
    every_row: np.void
    time_row: np.void
    mean_us: Range
    p99_us: Range
    cold_mean_us: Range
    cold_p99_us: Range
    cold_reads_mean: float
    cold_reads_p99: int
    index_reads: float
    index_share: float
    cores: Range | None
    price_us: float  # of a mean lookup that a MB of index a GiB buys at this interval

    @property
    def time_entries(self) -> int:
        """Of the time index; the row has those of the offset index, and the bytes of both."""
        offset_bytes = int(self.row["entries"]) * offset_index.ENTRY.itemsize
        return (int(self.row["index_bytes"]) - offset_bytes) // time_index.ENTRY.itemsize


def compute_cost(
    measurement: LogMeasurement,
    costs: LookupCosts,
    interval_bytes: int,
    budgets: Budgets = Budgets(),
) -> IntervalCost:
    """A swept interval with its costs, as the replay has it.

    Raises:
        KeyError: for one that was not swept.
    """
    return _compute(measurement, costs, measurement.replay_cost(interval_bytes), budgets)


def compute_current_cost(
    measurement: LogMeasurement,
    costs: LookupCosts,
    interval_bytes: int,
    budgets: Budgets = Budgets(),
) -> IntervalCost:
    """Today's interval with the costs of lookups in the indexes that are there."""
    return _compute(measurement, costs, measurement.current_cost(interval_bytes), budgets)


def compute_costs(
    measurement: LogMeasurement, costs: LookupCosts, budgets: Budgets = Budgets()
) -> tuple[IntervalCost, ...]:
    """Every swept interval with its costs, as the replay has it, for curves."""
    return tuple(
        compute_cost(measurement, costs, int(interval), budgets)
        for interval in measurement.parts.intervals
    )


def _compute(
    measurement: LogMeasurement,
    costs: LookupCosts,
    index_cost: ExistingIndexCost,
    budgets: Budgets,
) -> IntervalCost:
    costs = costs.with_one_read_share(measurement.one_read_share)
    row, every_row, time_row = (
        parts.sweep()[0]
        for parts in (index_cost.parts, index_cost.every_offset, index_cost.timestamps)
    )
    mean, p99 = float(row["headers_mean"]), float(row["headers_p99"])
    reads = sweep.mean(index_cost.cold.counts[0]), sweep.quantile(index_cost.cold.counts[0], 0.99)
    index_reads = _index_reads(
        int(row["entries"]) // max(1, index_cost.parts.segments), costs.read_ahead_bytes
    )
    cores = None if budgets.fetches_per_s is None else costs.cores(mean, budgets.fetches_per_s)
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
        p99_us=costs.warm_us(p99),
        cold_mean_us=costs.cold_us(mean, reads[0], *index_reads),
        cold_p99_us=costs.cold_us(p99, reads[1], *index_reads),
        cold_reads_mean=reads[0],
        cold_reads_p99=reads[1],
        index_reads=index_reads[0],
        index_share=share,
        cores=cores,
        price_us=implied_us,
    )


def _index_reads(entries: int, read_ahead_bytes: int) -> tuple[float, float]:
    """What a search in a cold offset index of so many entries reads on average.

    A device read brings its neighbours along.

    Returns:
        The device reads and the pages.
    """
    entry_bytes = offset_index.ENTRY.itemsize
    return mean_touched_pages(
        entries, entry_bytes, max(PAGE_BYTES, read_ahead_bytes)
    ), mean_touched_pages(entries, entry_bytes)


def by_target(cost: IntervalCost) -> dict[str, np.void]:
    """The lookups by what they look for: sweep.SWEEP rows."""
    return {"base_offset": cost.row, "every_offset": cost.every_row, "timestamp": cost.time_row}


def exceeded_budgets(cost: IntervalCost, budgets: Budgets) -> tuple[str, ...]:
    """The budgets that an interval does not meet at the high end of its ranges.

    "p99", "cold-p99", "cores", "index".
    """
    return tuple(
        name for name, (value, budget) in budget_usage(cost, budgets).items() if value > budget
    )


def budget_usage(cost: IntervalCost, budgets: Budgets) -> dict[str, tuple[float, float]]:
    """What an interval takes of each budget that is set, and what is allowed.

    Taken at the high end of its range.
    """
    use_by_name = {
        "p99": (cost.p99_us.high, budgets.p99_us),
        "cold-p99": (cost.cold_p99_us.high, budgets.cold_p99_us),
        "cores": (cost.cores.high if cost.cores else 0.0, budgets.cores),
        "index": (cost.index_share, budgets.index_share),
    }
    return {
        name: (value, budget) for name, (value, budget) in use_by_name.items() if budget is not None
    }
