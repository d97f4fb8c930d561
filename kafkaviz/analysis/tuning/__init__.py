"""Another index.interval.bytes for a log, or the one that it has.

By budgets that somebody states, and with the error of every number.

The rule is the smallest index with which a lookup keeps within its budget: of all intervals that
meet every budget, the largest. A change is proposed only where its gain is surely worth it;
otherwise the answer is keep, and for most logs that is the honest one.

    batches of 16 KB, interval 4096     every batch is indexed already: keep, and nothing below the
    smallest batch would change anything
    batches of 97 B, interval 4096      p99 of 44 headers, over 50 µs at the high end of its range:
    2048 would halve it, by less than 50 µs
"""

from kafkaviz.analysis.tuning.assumptions import Assumption, tornado
from kafkaviz.analysis.tuning.bounds import TIERED_SHARE, candidates
from kafkaviz.analysis.tuning.broker import recommend_all, recommend_broker
from kafkaviz.analysis.tuning.consequences import (
    SegmentLimits,
    footprint_at,
    limits_at,
    tiered_cost,
)
from kafkaviz.analysis.tuning.gain import Gain
from kafkaviz.analysis.tuning.interval_cost import (
    Budgets,
    IntervalCost,
    budget_usage,
    by_target,
    compute_cost,
    compute_costs,
    compute_current_cost,
    exceeded_budgets,
)
from kafkaviz.analysis.tuning.log_measurement import (
    BROKER_SETTING,
    SETTING,
    CurrentConfig,
    LogMeasurement,
)
from kafkaviz.analysis.tuning.reasons import Reason, not_fixed
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict, recommend

__all__ = [
    "BROKER_SETTING",
    "SETTING",
    "TIERED_SHARE",
    "Assumption",
    "Budgets",
    "CurrentConfig",
    "Gain",
    "IntervalCost",
    "LogMeasurement",
    "Reason",
    "Recommendation",
    "SegmentLimits",
    "TuningVerdict",
    "budget_usage",
    "by_target",
    "candidates",
    "compute_cost",
    "compute_costs",
    "compute_current_cost",
    "exceeded_budgets",
    "footprint_at",
    "limits_at",
    "not_fixed",
    "recommend",
    "recommend_all",
    "recommend_broker",
    "tiered_cost",
    "tornado",
]
