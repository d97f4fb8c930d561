"""The rule: of all intervals that meet every budget the largest, proposed only where its gain is
surely worth a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from kafkaviz.analyse.cost_model import Costs, Range
from kafkaviz.analyse.tuning.bounds import candidates, upper_bounds
from kafkaviz.analyse.tuning.consequences import tiered
from kafkaviz.analyse.tuning.gain import LEAST_BLOCKS, Gain, gain_of
from kafkaviz.analyse.tuning.measured import Measured, Today
from kafkaviz.analyse.tuning.priced import At, Budgets, every, spent, today_at, unmet
from kafkaviz.analyse.tuning.reasons import Reason, differs, facts, not_fixed

LEAST_GAIN = 0.10  # of what it is today
LEAST_INDEX_GAIN = 0.01  # of the log
LEAST_GAIN_US = 50.0  # of the p99 lookup; where less is allowed for all of it, that
LEAST_CORES_GAIN = 0.05


class Verdict(StrEnum):
    """What to do with the interval."""

    KEEP = "keep"
    CHANGE = "change"


@dataclass(frozen=True)
class Recommendation:
    """The answer. value: the interval to have, today's where the verdict is keep. considered: what
    the budgets alone would choose, or where none meets them all what comes nearest.
    """

    verdict: Verdict
    value: int
    considered: int
    because: tuple[Reason, ...]
    not_fixed: tuple[Reason, ...]
    gain: Gain
    today: At
    proposed: At
    meets_budgets: bool


def recommend(
    measured: Measured, today: Today, budgets: Budgets, costs: Costs
) -> Recommendation | None:
    """The interval to have, and why; None of a log without a batch."""
    if not measured.parts.batches:
        return None
    priced = {one.interval_bytes: one for one in every(measured, costs, budgets)}
    now, again = (
        today_at(measured, costs, today.interval_bytes, budgets),
        priced[today.interval_bytes],
    )
    # else what writes this index is not what is replayed
    is_known = not (today.is_coarse or differs(measured))
    chosen = [priced[one] for one in candidates(measured, today, costs)] if is_known else [again]
    best = _best(chosen, again, budgets, bool(upper_bounds(measured, today, costs)))
    gain = gain_of(measured, costs, again, best, budgets)
    if is_known and unmet(best, budgets):
        changes, why = False, (_unmeetable(best, budgets),)
    else:
        changes, why = _worth(again, best, gain, measured, today, budgets)
    because = (*facts(now, again, measured, today, budgets, costs), *why)
    return Recommendation(
        Verdict.CHANGE if changes else Verdict.KEEP,
        best.interval_bytes if changes else now.interval_bytes,
        best.interval_bytes,
        because,
        not_fixed(best if changes else now, measured, today, costs),
        gain,
        now,
        best,
        not unmet(now if best is again else best, budgets),
    )


def _best(chosen: Sequence[At], now: At, budgets: Budgets, is_bound: bool) -> At:
    """Of the intervals that meet every budget the largest; where none does, the one that comes
    nearest.

    Where only the index is bounded it is the smallest that meets that, and where nothing is the one
    that there is: an interval without a reason is none to change to. is_bound: whether the storage
    bounds it.
    """
    chosen = [one for one in chosen if one.row["entries"] or one is now] or [now]
    meeting = [one for one in chosen if not unmet(one, budgets)]
    if not meeting:
        return min(reversed(chosen), key=lambda one: (_overrun(one, budgets), one is not now))
    asked = spent(now, budgets)
    if not asked and not is_bound:
        return now
    best = meeting[0] if asked.keys() == {"index"} else meeting[-1]
    return now if best.row["index_bytes"] == now.row["index_bytes"] and now in meeting else best


def _overrun(one: At, budgets: Budgets) -> float:
    """How many times what is allowed an interval takes, of the budget that it misses most."""
    return max(value / max(budget, 1e-9) for value, budget in spent(one, budgets).values())


def _unmeetable(nearest: At, budgets: Budgets) -> Reason:
    return Reason(
        "unmeetable",
        {
            "at": nearest,
            "budgets": budgets,
            "to": nearest.interval_bytes,
            "missed": unmet(nearest, budgets),
        },
    )


def _worth(
    now: At, best: At, gain: Gain, measured: Measured, today: Today, budgets: Budgets
) -> tuple[bool, tuple[Reason, ...]]:
    """(whether the gain is surely worth a change, why or why not)."""
    if best.interval_bytes == now.interval_bytes:
        return False, ()
    values = {"from": now.interval_bytes, "to": best.interval_bytes, "gain": gain}
    if gain.blocks < LEAST_BLOCKS:
        return False, (Reason("too-little-data", values | {"batches": measured.parts.batches}),)
    if best.interval_bytes < now.interval_bytes:
        least_us = max(
            LEAST_GAIN * now.p99_us.typical, min(LEAST_GAIN_US, budgets.p99_us or LEAST_GAIN_US)
        )
        cold_us = now.cold_p99_us.low - best.cold_p99_us.low
        is_cold = "cold-p99" in unmet(now, budgets) and cold_us > max(
            LEAST_GAIN_US, LEAST_GAIN * now.cold_p99_us.typical
        )
        is_cores = gain.cores is not None and gain.cores.low > max(
            LEAST_CORES_GAIN, LEAST_GAIN * cast(Range, now.cores).typical
        )
        if gain.p99_us.low > least_us or is_cold or is_cores:
            return True, (Reason("faster", values),)
        return False, (Reason("faster-too-little", values | {"least_us": least_us}),)
    saved = gain.index_share.low
    part = saved / now.index_share if now.index_share else 0.0
    if part > LEAST_GAIN and saved > LEAST_INDEX_GAIN:
        return True, (Reason("smaller", values),)
    if today.is_tiered and part > 0.5:
        return True, (Reason("smaller-for-tiered", values | tiered(now, best, measured, today)),)
    if "index" in unmet(now, budgets) and part > LEAST_GAIN:
        return True, (Reason("smaller", values),)
    return False, (Reason("smaller-too-little", values),)
