"""One interval with its prices, and what of the budgets it takes."""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analyse import sweep
from kafkaviz.analyse.cost_model import Costs, Range, implied_price_us
from kafkaviz.analyse.held import Held
from kafkaviz.analyse.probes import touched
from kafkaviz.analyse.tuning.measured import Measured
from kafkaviz.format import offset_index, time_index
from kafkaviz.search.slots import PAGE_BYTES


@dataclass(frozen=True)
class Budgets:
    """What somebody allows; None: no matter.

    p99_us, cold_p99_us: for the lookup that one in a hundred exceeds, with the log in the page
    cache and without. cores: for all lookups of fetches_per_s. index_share: of the log, for both
    indexes. A budget is met where the high end of a range meets it.
    """

    p99_us: float | None = 50.0
    cold_p99_us: float | None = None
    cores: float | None = None
    index_share: float | None = None
    fetches_per_s: float | None = None


@dataclass(frozen=True)
class At:
    """One interval with its prices.

    row: of lookups of each batch's base offset, which prices are of; every_row, time_row: of every
    offset, and of timestamps. cold_reads_mean, cold_reads_p99: device reads of the .log;
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


def at(measured: Measured, costs: Costs, interval_bytes: int, budgets: Budgets = Budgets()) -> At:
    """A swept interval with its prices, as the replay has it; KeyError for one that was not
    swept.
    """
    return _at(measured, costs, measured.replayed(interval_bytes), budgets)


def today_at(
    measured: Measured, costs: Costs, interval_bytes: int, budgets: Budgets = Budgets()
) -> At:
    """Today's interval with the prices of lookups in the indexes that are there."""
    return _at(measured, costs, measured.today(interval_bytes), budgets)


def every(measured: Measured, costs: Costs, budgets: Budgets = Budgets()) -> tuple[At, ...]:
    """Every swept interval with its prices, as the replay has it, for curves."""
    return tuple(
        at(measured, costs, int(interval), budgets) for interval in measured.parts.intervals
    )


def _at(measured: Measured, costs: Costs, found: Held, budgets: Budgets) -> At:
    costs = costs.of(measured.one_read_share)
    row, every_row, time_row = (
        one.sweep()[0] for one in (found.parts, found.every_offset, found.timestamps)
    )
    mean, p99 = float(row["headers_mean"]), float(row["headers_p99"])
    reads = sweep.mean(found.cold.counts[0]), sweep.quantile(found.cold.counts[0], 0.99)
    index = _index_reads(
        int(row["entries"]) // max(1, found.parts.segments), costs.read_ahead_bytes
    )
    cores = None if budgets.fetches_per_s is None else costs.cores(mean, budgets.fetches_per_s)
    share = float(row["index_bytes"]) / measured.log_bytes if measured.log_bytes else float("nan")
    price = implied_price_us(
        int(row["interval_bytes"]), measured.batch_bytes, measured.spread, costs.each_us.typical
    )
    cold = costs.cold_us(mean, reads[0], *index), costs.cold_us(p99, reads[1], *index)
    return At(
        int(row["interval_bytes"]),
        row,
        every_row,
        time_row,
        costs.warm_us(mean),
        costs.warm_us(p99),
        *cold,
        *reads,
        index[0],
        share,
        cores,
        price,
    )


def _index_reads(entries: int, read_ahead_bytes: int) -> tuple[float, float]:
    """(device reads, pages) of a search in a cold offset index of so many entries, on average: a
    read brings its neighbours along.
    """
    each = offset_index.ENTRY.itemsize
    return touched(entries, each, max(PAGE_BYTES, read_ahead_bytes)), touched(entries, each)


def by_target(one: At) -> dict[str, np.void]:
    """The lookups by what they look for: sweep.SWEEP rows."""
    return {"base_offset": one.row, "every_offset": one.every_row, "timestamp": one.time_row}


def unmet(one: At, budgets: Budgets) -> tuple[str, ...]:
    """The budgets that an interval does not meet at the high end of its ranges: "p99", "cold-p99",
    "cores", "index".
    """
    return tuple(name for name, (value, budget) in spent(one, budgets).items() if value > budget)


def spent(one: At, budgets: Budgets) -> dict[str, tuple[float, float]]:
    """Of each budget that is given what an interval takes of it at the high end of its range, and
    what is allowed.
    """
    found = {
        "p99": (one.p99_us.high, budgets.p99_us),
        "cold-p99": (one.cold_p99_us.high, budgets.cold_p99_us),
        "cores": (one.cores.high if one.cores else 0.0, budgets.cores),
        "index": (one.index_share, budgets.index_share),
    }
    return {name: (value, budget) for name, (value, budget) in found.items() if budget is not None}
