"""Another index.interval.bytes for a log, or the one that it has: by budgets that somebody states,
and with the error of every number.

The rule is the smallest index with which a lookup keeps within its budget: of all intervals that
meet every budget, the largest. A change is proposed only where its gain is surely worth it;
otherwise the answer is keep, and for most logs that is the honest one.

    batches of 16 KB, interval 4096     every batch is indexed already: keep, and nothing below the
    smallest batch would change anything
    batches of 97 B, interval 4096      p99 of 44 headers, over 50 µs at the high end of its range:
    2048 would halve it, by less than 50 µs
"""

from kafkaviz.analyse.tuning.assumptions import Assumption, tornado
from kafkaviz.analyse.tuning.bounds import TIERED_SHARE, candidates
from kafkaviz.analyse.tuning.broker import answers, recommend_broker
from kafkaviz.analyse.tuning.consequences import Limits, footprint_at, limits_at, tiered
from kafkaviz.analyse.tuning.gain import Gain
from kafkaviz.analyse.tuning.measured import BROKER_SETTING, SETTING, Measured, Today
from kafkaviz.analyse.tuning.priced import At, Budgets, at, by_target, every, spent, today_at, unmet
from kafkaviz.analyse.tuning.reasons import Reason, not_fixed
from kafkaviz.analyse.tuning.rule import Recommendation, Verdict, recommend

__all__ = [
    "BROKER_SETTING",
    "SETTING",
    "TIERED_SHARE",
    "Assumption",
    "At",
    "Budgets",
    "Gain",
    "Limits",
    "Measured",
    "Reason",
    "Recommendation",
    "Today",
    "Verdict",
    "answers",
    "at",
    "by_target",
    "candidates",
    "every",
    "footprint_at",
    "limits_at",
    "not_fixed",
    "recommend",
    "recommend_broker",
    "spent",
    "tiered",
    "today_at",
    "tornado",
    "unmet",
]
