"""What a run of the Tuning page is about, and the way to another thing to tune."""

from dataclasses import dataclass
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import At, Budgets, Recommendation
from kafkaviz.analyse.tuning.source import Case, Source
from kafkaviz.simulate.config import LogConfig
from kafkaviz.ui import state, workloads
from kafkaviz.ui.pick import Place
from kafkaviz.ui.tuning.answers import Answer
from kafkaviz.ui.tuning.options import told
from kafkaviz.words import say


@dataclass(frozen=True)
class Shown:
    """What a run of the page is about: what is tuned, its measures, the answer, and what it was
    asked with.

    kind: "partition", "topic", "broker" or "workload". chosen: the interval held
    against today's. label: how what is tuned is called.
    """

    place: Place
    kind: str
    name: str
    label: str
    key: str
    source: Source
    answer: Answer
    budgets: Budgets
    costs: Costs
    is_tiered: bool
    chosen: int = 0

    @property
    def case(self) -> Case:
        """What is measured, all of it together."""
        return self.answer.case

    @property
    def config(self) -> LogConfig:
        """The settings that the log was written with."""
        return self.case.today.config

    @property
    def whole(self) -> Recommendation:
        """The answer for all of it; there is one, since only what has batches is shown."""
        return cast(Recommendation, self.answer.whole)

    @property
    def today(self) -> At:
        """Today's interval with its prices."""
        return self.whole.today

    @property
    def considered(self) -> At:
        """The interval that is held against it."""
        if self.chosen == self.today.interval_bytes:
            return self.today
        return next(one for one in self.answer.every if one.interval_bytes == self.chosen)

    @property
    def asked(self) -> tuple:
        """All that its figures depend on."""
        return self.key, self.budgets, self.costs, self.is_tiered, self.chosen


def go_to(place: Place, topic_partition: str, label: str = "") -> None:
    """Another thing to tune: another address, with the same budgets; it comes with its own
    recommendation.
    """
    left = (state.CONSIDERED, state.TUNING_OF, state.TOPIC_PARTITION, *state.IF.values())
    kept = {name: value for name, value in st.query_params.items() if name not in left}
    for key in (state.CONSIDERED, *state.IF.values()):
        st.session_state.pop(key, None)
    there = (
        kept
        | state.address(place.directory, topic_partition)
        | ({state.TUNING_OF: label} if label else {})
    )
    st.switch_page("pages/tuning.py", query_params=there)


def called(shown: Shown) -> str:
    """What is tuned, in a sentence."""
    if shown.kind == "workload":
        return say("tuning.the_workload", name=workloads.told(shown.name))
    return (
        say("tuning.whole_broker") if shown.kind == "broker" else told(units.legible(shown.label))
    )
