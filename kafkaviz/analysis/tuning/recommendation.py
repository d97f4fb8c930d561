"""Recommends an index.interval.bytes: in general, the largest one that meets every budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import OBJECT_STORE, LookupCosts
from kafkaviz.analysis.tuning.interval_cost import (
    FETCH_BYTES,
    MIN_BLOCKS,
    Budgets,
    Gain,
    IntervalCost,
    budget_usage,
    compute_cost,
    compute_costs,
    estimate_gain,
    exceeded_budgets,
    tiered_cost,
)
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.tuning_case import TuningCase
from kafkaviz.simulate.config import LogConfig

TIERED_SHARE = 0.05  # at most this share of a remote fetch may be bytes that the reader skips
TINY_BATCH_BYTES = 300
MOSTLY_INDEXED = 0.8  # "most batches" is this share of those that can have an entry
ReasonCode = Literal[
    "every-batch-indexed", "most-batches-indexed", "plateau", "within-budget", "over-budget",
    "on-disk", "coarser", "denser", "coarse", "followers", "too-little-data", "unmeetable",
    "bound-tiered", "bound-hdd", "faster", "faster-too-little", "smaller", "smaller-too-little",
    "smaller-for-tiered", "topic-by-topic", "tiny-batches", "two-headers", "cold", "old-segments",
]  # fmt: skip
MIN_GAIN = 0.10  # a change must save at least this share of today's cost
MIN_INDEX_GAIN = 0.01  # a larger interval must save index bytes of this share of the log
MIN_GAIN_US = 50.0  # a smaller interval must save this at the p99, or a p99 budget that is smaller


def candidates(measurement: LogMeasurement, today: CurrentConfig, costs: LookupCosts) -> list[int]:
    """Returns the intervals that may be proposed: powers of two, and today's interval.

    Intervals above `upper_bounds` are left out, unless none is left. Every power of two below the
    size of the smallest batch has the same effect: each batch gets an index entry. Only the largest
    one is returned.
    """
    least = measurement.parts.least_batch_bytes or 0
    most = min(upper_bounds(measurement, today, costs).values(), default=float("inf"))
    powers = [each for each in measurement.parts.intervals.tolist() if each.bit_count() == 1]
    # the largest interval at which every batch is indexed
    plateau = [power for power in powers if power < least][-1:]
    offered = {*plateau, *(power for power in powers if power >= least), today.interval_bytes}
    return sorted(interval for interval in offered if interval <= most) or plateau or powers[:1]


def upper_bounds(
    measurement: LogMeasurement, today: CurrentConfig, costs: LookupCosts
) -> dict[Literal["tiered", "hdd"], float]:
    """Returns upper bounds of the interval, in bytes, by the kind of storage.

    "tiered" is present only for remote storage, and "hdd" only for a disk that seeks.
    """
    bounds: dict[Literal["tiered", "hdd"], float] = {}
    if today.is_tiered or costs.storage.name == OBJECT_STORE:
        bounds["tiered"] = TIERED_SHARE * FETCH_BYTES
    if costs.storage.seeks:
        bounds["hdd"] = max(measurement.batch_bytes, measurement.parts.least_batch_bytes or 0)
    return bounds


@dataclass(frozen=True)
class Reason:
    """A reason for a recommendation. tuning_text.py makes a message from the code and values."""

    code: ReasonCode
    values: Mapping[str, Any]

    @property
    def plain_values(self) -> dict[str, Any]:
        """The values that a message can show: numbers, texts, dicts and tuples."""
        return {
            name: value
            for name, value in self.values.items()
            if isinstance(value, int | float | str | dict | tuple)
        }


def index_differs(measurement: LogMeasurement) -> bool:
    """Returns whether the existing indexes have far more or fewer entries than a replay.

    Differences that a few restarts explain do not count.
    """
    cost = measurement.index_cost
    return cost is not None and (cost.gaps.is_coarse or cost.gaps.is_dense)


def _standing_reasons(
    current: IntervalCost,
    replay: IntervalCost,
    measurement: LogMeasurement,
    *,
    today: CurrentConfig,
    budgets: Budgets,
    costs: LookupCosts,
) -> Iterator[Reason]:
    parts = measurement.parts
    interval = current.interval_bytes
    indexable = parts.batches - parts.segments
    entries = int(current.row["entries"])
    if indexable and entries >= MOSTLY_INDEXED * indexable:
        code = "every-batch-indexed" if entries == indexable else "most-batches-indexed"
        is_default = interval == LogConfig().index_interval_bytes
        values = {"interval": interval, "entries": entries, "of": indexable}
        yield Reason(code, values | {"is_default": is_default})
    if parts.least_batch_bytes is not None:
        values = {"least_batch_bytes": parts.least_batch_bytes, "interval": interval}
        yield Reason("plateau", values)
    exceeded = exceeded_budgets(current, budgets)
    budget_values = {"at": current, "budgets": budgets, "missed": exceeded, "costs": costs}
    yield Reason("over-budget" if exceeded else "within-budget", budget_values)
    index_cost = measurement.index_cost
    if index_cost is not None and (today.is_coarse or index_differs(measurement)):
        different = "denser" if index_cost.gaps.is_dense else "coarser"
        values = {
            "interval": interval,
            "entries": entries,
            "entries_replayed": int(replay.row["entries"]),
            "headers_p99": int(current.row["headers_p99"]),
            "headers_p99_replayed": int(replay.row["headers_p99"]),
        }
        yield Reason("on-disk" if today.is_coarse else different, values)
    append = {"append_bytes": sweep.FOLLOWER_APPEND_BYTES}
    if measurement.followers is not None and not today.is_coarse:
        row = measurement.followers.at_interval(today.interval_bytes).sweep()[0]
        headers = {"headers_mean": float(row["headers_mean"])}
        yield Reason("followers", append | headers | {"headers_p99": int(row["headers_p99"])})
    if today.is_coarse:
        yield Reason("coarse", append)
    for cause, most in upper_bounds(measurement, today, costs).items():
        code = "bound-tiered" if cause == "tiered" else "bound-hdd"
        yield Reason(code, {"most_bytes": most, "interval": interval})


def not_fixed(
    cost: IntervalCost, measurement: LogMeasurement, costs: LookupCosts
) -> tuple[Reason, ...]:
    """Returns what no interval can change in this log, such as tiny batches or cold reads."""
    batch_bytes = measurement.batch_bytes
    sizes = {"batch_bytes": batch_bytes, "single_share": measurement.single_share}
    return (
        *([Reason("tiny-batches", sizes)] if batch_bytes < TINY_BATCH_BYTES else []),
        *([Reason("two-headers", {})] if measurement.single_share < 0.5 else []),
        Reason("cold", {"at": cost, "costs": costs}),
        Reason("old-segments", {}),
    )


class TuningVerdict(StrEnum):
    KEEP = "keep"
    CHANGE = "change"


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """A recommendation with its reasons."""

    verdict: TuningVerdict
    value: int  # the recommended interval; today's if the verdict is keep
    considered_bytes: int  # the best interval within the limits, even if the gain is too small
    reasons: tuple[Reason, ...]
    not_fixed: tuple[Reason, ...]
    gain: Gain
    current_cost: IntervalCost
    proposed_cost: IntervalCost
    meets_budgets: bool
    is_today_known: bool = True  # not inferred or assumed


def recommend(
    measurement: LogMeasurement, today: CurrentConfig, budgets: Budgets, costs: LookupCosts
) -> Recommendation | None:
    """Recommends an interval; returns None for a log without a batch."""
    if not measurement.parts.batches:
        return None
    by_interval = {cost.interval_bytes: cost for cost in compute_costs(measurement, costs)}
    current = compute_cost(measurement, costs, measurement.current_cost(today.interval_bytes))
    replay = by_interval[today.interval_bytes]
    # if the replay does not give the existing index, it cannot predict other intervals either
    is_known = not (today.is_coarse or index_differs(measurement))
    choices = [replay]
    if is_known:
        choices = [by_interval[each] for each in candidates(measurement, today, costs)]
    best = _best(choices, replay, budgets, is_bound=bool(upper_bounds(measurement, today, costs)))
    gain = estimate_gain(measurement, costs, replay, best)
    exceeded = exceeded_budgets(best, budgets)
    is_change = False
    if is_known and exceeded:
        values = {"at": best, "budgets": budgets, "to": best.interval_bytes, "missed": exceeded}
        verdict_reasons = [Reason("unmeetable", values)]
    else:
        is_change, verdict_reasons = _worth(
            replay, best, gain, measurement=measurement, today=today, budgets=budgets
        )
    standing_reasons = _standing_reasons(
        current, replay, measurement, today=today, budgets=budgets, costs=costs
    )
    return Recommendation(
        verdict=TuningVerdict.CHANGE if is_change else TuningVerdict.KEEP,
        value=best.interval_bytes if is_change else current.interval_bytes,
        considered_bytes=best.interval_bytes,
        reasons=(*standing_reasons, *verdict_reasons),
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
    """Returns the interval to recommend: in general, the largest one that meets every budget.

    Exceptions:
    - Only the index size has a budget: the smallest interval within this budget.
    - No budget: today's interval, unless the storage limits the interval (`is_bound`).
    - No interval meets all budgets: the one whose largest excess over a budget is smallest.

    Prefers today's interval to one with an index of the same size.
    """
    choices = [cost for cost in choices if cost.row["entries"] or cost is current] or [current]
    within_budgets = [cost for cost in choices if not exceeded_budgets(cost, budgets)]
    if not within_budgets:

        def overrun(cost: IntervalCost) -> float:
            uses = budget_usage(cost, budgets).values()
            return max(value / max(budget, 1e-9) for value, budget in uses)

        return min(reversed(choices), key=lambda cost: (overrun(cost), cost is not current))
    stated_budgets = budget_usage(current, budgets)
    if not stated_budgets and not is_bound:
        return current
    best = within_budgets[0] if stated_budgets.keys() == {"index"} else within_budgets[-1]
    if best.row["index_bytes"] == current.row["index_bytes"] and current in within_budgets:
        return current
    return best


def _worth(
    current: IntervalCost,
    best: IntervalCost,
    gain: Gain,
    *,
    measurement: LogMeasurement,
    today: CurrentConfig,
    budgets: Budgets,
) -> tuple[bool, list[Reason]]:
    """Returns whether to change to `best`, and why. The low end of `gain` decides."""
    if best.interval_bytes == current.interval_bytes:
        return False, []
    values = {"from": current.interval_bytes, "to": best.interval_bytes, "gain": gain}
    if gain.blocks < MIN_BLOCKS:
        return False, [Reason("too-little-data", values | {"batches": measurement.parts.batches})]
    if best.interval_bytes < current.interval_bytes:
        budget_us = min(MIN_GAIN_US, budgets.p99_us or MIN_GAIN_US)
        least_us = max(MIN_GAIN * current.p99_us.typical, budget_us)
        if gain.p99_us.low > least_us:
            return True, [Reason("faster", values)]
        return False, [Reason("faster-too-little", values | {"least_us": least_us})]
    saved_share = gain.index_share.low
    saved_part = saved_share / current.index_share if current.index_share else 0.0
    is_over = "index" in exceeded_budgets(current, budgets)
    if saved_part > MIN_GAIN and saved_share > MIN_INDEX_GAIN:
        return True, [Reason("smaller", values)]
    if today.is_tiered and saved_part > 0.5:
        return True, [Reason("smaller-for-tiered", values | tiered_cost(current, best, today))]
    if is_over and saved_part > MIN_GAIN:
        return True, [Reason("smaller", values)]
    return False, [Reason("smaller-too-little", values)]


def recommend_broker(
    by_topic: Mapping[str, Recommendation], total: Recommendation
) -> Recommendation:
    """Returns the recommendation for a broker's default interval.

    If the topics' recommendations differ from each other or from `total`, the broker keeps its
    default, and each topic that should change gets its own setting.

    Args:
        by_topic: the recommendations of all topics with a batch.
        total: the recommendation for the batches of all topics together.
    """
    choices = {(answer.verdict, answer.value) for answer in by_topic.values()}
    if len(choices) <= 1 and (total.verdict, total.value) in choices:
        return total
    changing = {
        name: answer.value
        for name, answer in by_topic.items()
        if answer.verdict == TuningVerdict.CHANGE
    }
    today_bytes = total.current_cost.interval_bytes
    values = {"changing": changing, "topics": len(by_topic), "interval": today_bytes}
    dropped_codes = ("faster", "smaller", "smaller-for-tiered")
    kept_reasons = (reason for reason in total.reasons if reason.code not in dropped_codes)
    return replace(
        total,
        verdict=TuningVerdict.KEEP,
        value=today_bytes,
        proposed_cost=total.current_cost,
        reasons=(Reason("topic-by-topic", values), *kept_reasons),
    )


def recommend_all(
    cases: Sequence[TuningCase], total: TuningCase, budgets: Budgets, costs: LookupCosts
) -> tuple[dict[str, Recommendation | None], Recommendation | None]:
    """Returns the recommendation for each of `cases`, by name, and one for all of them together."""
    by_name = {case.name: recommend(case.measurement, case.today, budgets, costs) for case in cases}
    # the only topic may have its own interval, and then the broker needs its own recommendation
    if len(cases) == 1 and cases[0].today.interval_bytes == total.today.interval_bytes:
        return by_name, by_name[cases[0].name]
    total_answer = recommend(total.measurement, total.today, budgets, costs)
    return by_name, total_answer and recommend_broker(
        {name: answer for name, answer in by_name.items() if answer}, total_answer
    )
