"""Segments that were measured for the Tuning page."""

from collections.abc import Iterable, Sequence

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cold_reads import ColdReads, ColdSweeper
from kafkaviz.analysis.sweep import sums
from kafkaviz.analysis.sweep.times import Columns, ColumnsBuilder, sweep_columns
from kafkaviz.analysis.tuning.measurement import (
    LogMeasurement,
    MeasurementBuilder,
    merge_measurements,
)
from tests.analysis import arrays

OLD = cost_model.lookup_costs(by_base_offset=False)
NEW = cost_model.lookup_costs(by_base_offset=True)


def measure(*segments: np.ndarray, **options) -> LogMeasurement:
    """Returns the measurement of these batches for releases from 4.1 on, or with other options."""
    builder = MeasurementBuilder(**({"extra_intervals": {4096}, "by_base_offset": True} | options))
    for batches in segments:
        builder.add([batches])
    return builder.result()


def measured(
    size: int, count: int = 4000, records: int = 5, spread: int = 0, segments: int = 1, **options
) -> LogMeasurement:
    """Returns the measurement of segments of batches of about that size."""
    random = np.random.default_rng(4)
    rows = []
    for _ in range(segments):
        sizes = random.integers(size - spread, size + spread + 1, count).tolist()
        batches = arrays.batches(sizes, [records] * count)
        rows.append(measure(batches, **({"by_base_offset": False} | options)))
    return merge_measurements(rows)


def cold_reads(batches: np.ndarray, intervals, *, by_base_offset: bool = False) -> ColdReads:
    sweeper = ColdSweeper(np.asarray(intervals), by_base_offset=by_base_offset)
    sweeper.observe(batches)
    return sweeper.result()


def quantile(counts: np.ndarray, share: float) -> int:
    """Returns a quantile of a histogram, such as `share=0.5` for the median; 0 if it is empty."""
    flat = np.asarray(counts, np.int64)
    return int(sums.quantiles(flat, np.array([0, len(flat)]), np.array([share]))[0, 0])


def columns_of(batches: np.ndarray) -> Columns:
    builder = ColumnsBuilder()
    builder.observe(batches)
    return builder.result()


def sweep_times(
    batches: np.ndarray | Sequence[np.ndarray], intervals: Iterable[int]
) -> sweep.SweepParts:
    """Looks up each batch's first timestamp in the segment of the batch."""
    total = sweep.no_parts(intervals)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        if len(segment):
            total += sweep_columns(columns_of(segment), sweep.parts(segment, intervals))
    return total
