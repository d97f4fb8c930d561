"""Segments that were measured for the Tuning page."""

import numpy as np

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cold_reads import ColdReads, ColdSweeper
from kafkaviz.analysis.tuning.measurement import MeasurementBuilder, merge_measurements
from tests.analysis import arrays

OLD, NEW = (
    cost_model.lookup_costs(by_base_offset=False),
    cost_model.lookup_costs(by_base_offset=True),
)


def measured(size: int, count: int = 4000, records: int = 5, spread: int = 0, segments: int = 1):
    random = np.random.default_rng(4)
    rows = []
    for _ in range(segments):
        gathering = MeasurementBuilder(extra_intervals={4096}, by_base_offset=False)
        gathering.add(
            [
                arrays.batches(
                    random.integers(size - spread, size + spread + 1, count).tolist(),
                    [records] * count,
                )
            ]
        )
        rows.append(gathering.result())
    return merge_measurements(rows)


def cold_reads(batches: np.ndarray, intervals, *, by_base_offset: bool = False) -> ColdReads:
    sweeper = ColdSweeper(np.asarray(intervals), by_base_offset=by_base_offset)
    sweeper.observe(batches)
    return sweeper.result()
