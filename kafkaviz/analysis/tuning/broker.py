"""A recommendation for the broker's default, from the recommendations for its topics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.tuning.interval_cost import Budgets
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.reasons import Reason
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict, recommend


def recommend_broker(
    by_topic: Mapping[str, Recommendation], total: Recommendation
) -> Recommendation:
    """Returns the recommendation for the broker's default.

    If topics need different intervals, each gets its own setting and the broker keeps its default.

    Args:
        by_topic: the recommendations of all topics with a batch.
        total: the recommendation for all batches together; it applies only if every topic has the
            same.
    """
    choices = {(answer.verdict, answer.value) for answer in by_topic.values()}
    if len(choices) <= 1 and (total.verdict, total.value) in choices:
        return total
    changed_intervals = {
        name: answer.value
        for name, answer in by_topic.items()
        if answer.verdict == TuningVerdict.CHANGE
    }
    reason = Reason(
        "topic-by-topic",
        {
            "changing": changed_intervals,
            "topics": len(by_topic),
            "interval": total.current_cost.interval_bytes,
        },
    )
    kept_reasons = tuple(
        kept_reason
        for kept_reason in total.reasons
        if kept_reason.code not in ("faster", "smaller", "smaller-for-tiered")
    )
    return replace(
        total,
        verdict=TuningVerdict.KEEP,
        value=total.current_cost.interval_bytes,
        proposed_cost=total.current_cost,
        reasons=(reason, *kept_reasons),
    )


class TunableLog(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def today(self) -> CurrentConfig: ...

    @property
    def measurement(self) -> LogMeasurement: ...


def recommend_all(
    cases: Sequence[TunableLog], total: TunableLog, budgets: Budgets, costs: LookupCosts
) -> tuple[dict[str, Recommendation | None], Recommendation | None]:
    """Recommends for each case, and for all of them together.

    Returns:
        Each case's recommendation by its name, and the one for all.
    """
    by_name = {case.name: recommend(case.measurement, case.today, budgets, costs) for case in cases}
    # a topic with its own interval is not representative of the broker
    if len(cases) == 1 and cases[0].today.interval_bytes == total.today.interval_bytes:
        return by_name, by_name[cases[0].name]
    total_answer = recommend(total.measurement, total.today, budgets, costs)
    return by_name, total_answer and recommend_broker(
        {name: answer for name, answer in by_name.items() if answer}, total_answer
    )
