"""The rule for a recommendation: the largest interval that meets every budget.

It is proposed only if its gain is surely worth a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning.bounds import candidates, upper_bounds
from kafkaviz.analysis.tuning.consequences import tiered_cost
from kafkaviz.analysis.tuning.gain import MIN_BLOCKS, Gain, estimate_gain
from kafkaviz.analysis.tuning.interval_cost import (
    Budgets,
    IntervalCost,
    budget_usage,
    compute_costs,
    compute_current_cost,
    exceeded_budgets,
)
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.reasons import Reason, index_differs, not_fixed, standing_reasons

MIN_GAIN = 0.10  # share of today's cost
MIN_INDEX_GAIN = 0.01  # share of the log
MIN_GAIN_US = 50.0  # gain of the p99 lookup; a p99 budget below this replaces it
MIN_CORES_GAIN = 0.05


class TuningVerdict(StrEnum):
    KEEP = "keep"
    CHANGE = "change"


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A recommendation with its reasons.

    Attributes:
        value: the recommended interval; today's if the verdict is keep.
        is_today_known: whether today's interval is known; otherwise it is inferred or assumed.
        considered_bytes: the interval that the budgets alone would choose, or if none meets them
            all, the nearest one.
    """

    verdict: TuningVerdict
    value: int
    considered_bytes: int
    reasons: tuple[Reason, ...]
    not_fixed: tuple[Reason, ...]
    gain: Gain
    current_cost: IntervalCost
    proposed_cost: IntervalCost
    meets_budgets: bool
    is_today_known: bool = True


def recommend(
    measurement: LogMeasurement, today: CurrentConfig, budgets: Budgets, costs: LookupCosts
) -> Recommendation | None:
    """Recommends an interval.

    Returns:
        None for a log without a batch.
    """
    if not measurement.parts.batches:
        return None
    by_interval = {cost.interval_bytes: cost for cost in compute_costs(measurement, costs, budgets)}
    current = compute_current_cost(measurement, costs, today.interval_bytes, budgets)
    replay = by_interval[today.interval_bytes]
    # if the existing index differs from the replay, a replay of other intervals predicts nothing
    is_known = not (today.is_coarse or index_differs(measurement))
    choices = (
        [by_interval[interval] for interval in candidates(measurement, today, costs)]
        if is_known
        else [replay]
    )
    best = _best(choices, replay, budgets, is_bound=bool(upper_bounds(measurement, today, costs)))
    gain = estimate_gain(measurement, costs, replay, best, budgets)
    if is_known and exceeded_budgets(best, budgets):
        is_change = False
        verdict_reasons = (_unmeetable(best, budgets),)
    else:
        is_change, verdict_reasons = _worth(
            replay, best, gain, measurement=measurement, today=today, budgets=budgets
        )
    all_reasons = (
        *standing_reasons(current, replay, measurement, today=today, budgets=budgets, costs=costs),
        *verdict_reasons,
    )
    return Recommendation(
        verdict=TuningVerdict.CHANGE if is_change else TuningVerdict.KEEP,
        value=best.interval_bytes if is_change else current.interval_bytes,
        considered_bytes=best.interval_bytes,
        reasons=all_reasons,
        not_fixed=not_fixed(best if is_change else current, measurement, costs),
        gain=gain,
        current_cost=current,
        proposed_cost=best,
        meets_budgets=not exceeded_budgets(current if best is replay else best, budgets),
        is_today_known=today.is_interval_known,
    )


def _best(
    choices: Sequence[IntervalCost], current: IntervalCost, budgets: Budgets, *, is_bound: bool
) -> IntervalCost:
    """Returns the largest interval that meets every budget, or else the nearest one.

    If only the index is limited, it is the smallest interval that meets the budget. If nothing is
    limited, it is today's interval, because nothing calls for a change.

    Args:
        is_bound: whether the storage limits the interval.
    """
    choices = [cost for cost in choices if cost.row["entries"] or cost is current] or [current]
    within_budgets = [cost for cost in choices if not exceeded_budgets(cost, budgets)]
    if not within_budgets:
        return min(
            reversed(choices), key=lambda cost: (_overrun(cost, budgets), cost is not current)
        )
    stated_budgets = budget_usage(current, budgets)
    if not stated_budgets and not is_bound:
        return current
    best = within_budgets[0] if stated_budgets.keys() == {"index"} else within_budgets[-1]
    if best.row["index_bytes"] == current.row["index_bytes"] and current in within_budgets:
        return current
    return best


def _overrun(cost: IntervalCost, budgets: Budgets) -> float:
    """Returns the largest ratio of an interval's use to its budget."""
    return max(value / max(budget, 1e-9) for value, budget in budget_usage(cost, budgets).values())


def _unmeetable(nearest: IntervalCost, budgets: Budgets) -> Reason:
    return Reason(
        "unmeetable",
        {
            "at": nearest,
            "budgets": budgets,
            "to": nearest.interval_bytes,
            "missed": exceeded_budgets(nearest, budgets),
        },
    )


def _worth(
    current: IntervalCost,
    best: IntervalCost,
    gain: Gain,
    *,
    measurement: LogMeasurement,
    today: CurrentConfig,
    budgets: Budgets,
) -> tuple[bool, tuple[Reason, ...]]:
    """Returns whether the gain of a proposal is surely worth a change, and the reasons."""
    if best.interval_bytes == current.interval_bytes:
        return False, ()
    values = {"from": current.interval_bytes, "to": best.interval_bytes, "gain": gain}
    if gain.blocks < MIN_BLOCKS:
        return False, (Reason("too-little-data", values | {"batches": measurement.parts.batches}),)
    if best.interval_bytes < current.interval_bytes:
        least_us = max(
            MIN_GAIN * current.p99_us.typical, min(MIN_GAIN_US, budgets.p99_us or MIN_GAIN_US)
        )
        cold_us = current.cold_p99_us.low - best.cold_p99_us.low
        is_cold = "cold-p99" in exceeded_budgets(current, budgets) and cold_us > max(
            MIN_GAIN_US, MIN_GAIN * current.cold_p99_us.typical
        )
        is_cores = gain.cores is not None and gain.cores.low > max(
            MIN_CORES_GAIN, MIN_GAIN * cast(Range, current.cores).typical
        )
        if gain.p99_us.low > least_us or is_cold or is_cores:
            return True, (Reason("faster", values),)
        return False, (Reason("faster-too-little", values | {"least_us": least_us}),)
    saved_share = gain.index_share.low
    saved_part = saved_share / current.index_share if current.index_share else 0.0
    if saved_part > MIN_GAIN and saved_share > MIN_INDEX_GAIN:
        return True, (Reason("smaller", values),)
    if today.is_tiered and saved_part > 0.5:
        return True, (Reason("smaller-for-tiered", values | tiered_cost(current, best, today)),)
    if "index" in exceeded_budgets(current, budgets) and saved_part > MIN_GAIN:
        return True, (Reason("smaller", values),)
    return False, (Reason("smaller-too-little", values),)
