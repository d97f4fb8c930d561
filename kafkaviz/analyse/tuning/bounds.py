"""The intervals that may be proposed for a log, and what bounds them whatever a warm lookup
allows.
"""

from kafkaviz.analyse.cost_model import OBJECT_STORE, Costs
from kafkaviz.analyse.tuning.measured import Measured, Today

TIERED_SHARE = 0.05  # of a fetch that a remote read may carry for nothing


def candidates(measured: Measured, today: Today, costs: Costs) -> list[int]:
    """The intervals that may be proposed: round ones, none below which nothing changes, none too
    long for the storage; and today's.
    """
    least = measured.parts.least_batch_bytes or 0
    most = min(upper_bounds(measured, today, costs).values(), default=float("inf"))
    swept = [int(one) for one in measured.parts.intervals]
    powers = [one for one in swept if one and one & (one - 1) == 0]
    above = [one for one in powers if one >= least]
    # every batch is indexed, and a longer one would not do that
    plateau = [one for one in powers if one < least][-1:]
    allowed = [one for one in (*plateau, *above) if one <= most] or plateau or powers[:1]
    return sorted({*allowed, *([today.interval_bytes] if today.interval_bytes <= most else [])})


def upper_bounds(measured: Measured, today: Today, costs: Costs) -> dict[str, float]:
    """What an interval should not exceed, whatever a warm lookup allows: by the cause."""
    bounds = {}
    if today.is_tiered or costs.storage.name == OBJECT_STORE:
        bounds["tiered"] = TIERED_SHARE * today.fetch_bytes
    if costs.storage.seeks:
        bounds["hdd"] = max(measured.batch_bytes, measured.parts.least_batch_bytes or 0)
    return bounds
