"""What a run of the Tuning page is about, and the way to another thing to tune."""

from dataclasses import dataclass
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.cost_model import LookupPrices
from kafkaviz.analysis.tuning import Budgets, IntervalPrice, Recommendation
from kafkaviz.analysis.tuning.source import TuningCase, TuningSource
from kafkaviz.app import workloads
from kafkaviz.app.pages.tuning.answers import TuningAnswer
from kafkaviz.app.pages.tuning.options import option_text
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.simulate.config import LogConfig
from kafkaviz.words import say


@dataclass(frozen=True)
class TuningContext:
    """What a run of the page is about: what is tuned, its measures, the answer, and what it was
    asked with.

    kind: "partition", "topic", "broker" or "workload". alternative_bytes: the interval held
    against today's. label: how what is tuned is called.
    """

    location: Location
    kind: str
    name: str
    label: str
    key: str
    source: TuningSource
    answer: TuningAnswer
    budgets: Budgets
    costs: LookupPrices
    is_tiered: bool
    alternative_bytes: int = 0

    @property
    def case(self) -> TuningCase:
        """What is measured, all of it together."""
        return self.answer.case

    @property
    def config(self) -> LogConfig:
        """The settings that the log was written with."""
        return self.case.today.config

    @property
    def recommendation(self) -> Recommendation:
        """The answer for all of it; there is one, since only what has batches is shown."""
        return cast(Recommendation, self.answer.recommendation)

    @property
    def today(self) -> IntervalPrice:
        """Today's interval with its prices."""
        return self.recommendation.current_price

    @property
    def alternative(self) -> IntervalPrice:
        """The interval that is held against it."""
        if self.alternative_bytes == self.today.interval_bytes:
            return self.today
        return next(
            priced_interval
            for priced_interval in self.answer.priced_intervals
            if priced_interval.interval_bytes == self.alternative_bytes
        )

    @property
    def figure_key(self) -> tuple:
        """All that its figures depend on."""
        return self.key, self.budgets, self.costs, self.is_tiered, self.alternative_bytes


def go_to(location: Location, topic_partition: str, label: str = "") -> None:
    """Another thing to tune: another address, with the same budgets; it comes with its own
    recommendation.
    """
    excluded = (
        page_state.CONSIDERED_INTERVAL,
        page_state.TUNING_SUBJECT,
        page_state.TOPIC_PARTITION,
        *page_state.REPLAY_SETTINGS.values(),
    )
    parameters = {name: value for name, value in st.query_params.items() if name not in excluded}
    for key in (page_state.CONSIDERED_INTERVAL, *page_state.REPLAY_SETTINGS.values()):
        st.session_state.pop(key, None)
    address = (
        parameters
        | page_state.address(location.directory, topic_partition)
        | ({page_state.TUNING_SUBJECT: label} if label else {})
    )
    st.switch_page("pages/tuning.py", query_params=address)


def subject_text(context: TuningContext) -> str:
    """What is tuned, in a sentence."""
    if context.kind == "workload":
        return say("tuning.the_workload", name=workloads.display_title(context.name))
    return (
        say("tuning.whole_broker")
        if context.kind == "broker"
        else option_text(units.escape_controls(context.label))
    )
