"""Many logs under one setting: the answer for the broker's default, of the answers for its
topics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning.measured import Measured, Today
from kafkaviz.analyse.tuning.priced import Budgets
from kafkaviz.analyse.tuning.reasons import Reason
from kafkaviz.analyse.tuning.rule import Recommendation, Verdict, recommend


def recommend_broker(each: Mapping[str, Recommendation], whole: Recommendation) -> Recommendation:
    """The answer for the broker's default, of its topics' answers: what one topic needs is set for
    that topic, the rest keeps.

    each: by topic, of those with a batch; whole: of all their batches together. Only where every
    topic wants the same is it the broker's.
    """
    wanted = {(one.verdict, one.value) for one in each.values()}
    if len(wanted) <= 1 and (whole.verdict, whole.value) in wanted:
        return whole
    changing = {name: one.value for name, one in each.items() if one.verdict == Verdict.CHANGE}
    reason = Reason(
        "topic-by-topic",
        {"changing": changing, "topics": len(each), "interval": whole.today.interval_bytes},
    )
    kept = tuple(
        one for one in whole.because if one.code not in ("faster", "smaller", "smaller-for-tiered")
    )
    return replace(
        whole,
        verdict=Verdict.KEEP,
        value=whole.today.interval_bytes,
        proposed=whole.today,
        because=(reason, *kept),
    )


class Tuned(Protocol):
    """A log under a name."""

    @property
    def name(self) -> str:
        """Of the topic, or of what was given."""
        ...

    @property
    def today(self) -> Today:
        """How it is run."""
        ...

    @property
    def measured(self) -> Measured:
        """What is exact of it."""
        ...


def answers(
    cases: Sequence[Tuned], whole: Tuned, budgets: Budgets, costs: Costs
) -> tuple[dict[str, Recommendation | None], Recommendation | None]:
    """(each case's answer by its name, the answer for all of them)."""
    each = {case.name: recommend(case.measured, case.today, budgets, costs) for case in cases}
    # else the topic has one of its own
    if len(cases) == 1 and cases[0].today.interval_bytes == whole.today.interval_bytes:
        return each, each[cases[0].name]
    found = recommend(whole.measured, whole.today, budgets, costs)
    return each, found and recommend_broker({name: one for name, one in each.items() if one}, found)
