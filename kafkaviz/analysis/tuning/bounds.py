"""The intervals that may be proposed for a log, and their upper bounds."""

from typing import Literal

from kafkaviz.analysis.cost.cost_model import OBJECT_STORE, LookupCosts
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement

TIERED_SHARE = 0.05  # the greatest share of a remote fetch that may be skipped bytes


def candidates(measurement: LogMeasurement, today: CurrentConfig, costs: LookupCosts) -> list[int]:
    """Returns the intervals that may be proposed: powers of two, and today's interval.

    Intervals that are too long for the storage are left out, and so are those below the smallest
    batch, because they change nothing.
    """
    least = measurement.parts.least_batch_bytes or 0
    most = min(upper_bounds(measurement, today, costs).values(), default=float("inf"))
    swept_intervals = [int(interval) for interval in measurement.parts.intervals]
    powers = [
        interval for interval in swept_intervals if interval and interval & (interval - 1) == 0
    ]
    longer_intervals = [interval for interval in powers if interval >= least]
    # the largest interval at which every batch is indexed
    plateau = [interval for interval in powers if interval < least][-1:]
    allowed_intervals = (
        [interval for interval in (*plateau, *longer_intervals) if interval <= most]
        or plateau
        or powers[:1]
    )
    return sorted(
        {*allowed_intervals, *([today.interval_bytes] if today.interval_bytes <= most else [])}
    )


def upper_bounds(
    measurement: LogMeasurement, today: CurrentConfig, costs: LookupCosts
) -> dict[Literal["tiered", "hdd"], float]:
    """Returns the upper bounds of an interval by cause, apart from warm lookups."""
    bounds: dict[Literal["tiered", "hdd"], float] = {}
    if today.is_tiered or costs.storage.name == OBJECT_STORE:
        bounds["tiered"] = TIERED_SHARE * today.fetch_bytes
    if costs.storage.seeks:
        bounds["hdd"] = max(measurement.batch_bytes, measurement.parts.least_batch_bytes or 0)
    return bounds
