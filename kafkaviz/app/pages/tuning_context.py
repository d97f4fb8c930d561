"""The content of the Tuning page: the measured log, the user's limits (budgets), and the answer."""

import json
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from kafkaviz.analysis.cost import calibration, cost_model
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost, compute_costs
from kafkaviz.analysis.tuning.json_object import tuning_object
from kafkaviz.analysis.tuning.recommendation import Recommendation, recommend_all
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.app import page_state
from kafkaviz.app.pages.tuning_scopes import AS_FOUND, RELEASES, Scope
from kafkaviz.app.widgets import choice, elements
from kafkaviz.errors import KafkavizError
from kafkaviz.html import tag
from kafkaviz.messages import render, say
from kafkaviz.simulate.config import LogConfig

CACHE_ENTRIES = 24
# the values of each control, by their words in the address
ANY = "any"
CALIBRATED = "calibrated"
WARM = " warm"
P99_US = {
    "10 µs warm": 10.0,
    "25 µs warm": 25.0,
    "50 µs warm": 50.0,
    "100 µs warm": 100.0,
    "250 µs warm": 250.0,
    "1 ms warm": 1000.0,
    ANY: None,
}
DEFAULT_P99 = "50 µs warm"
SHARE = {ANY: None, "0.05 %": 0.0005, "0.1 %": 0.001, "0.5 %": 0.005, "1 %": 0.01, "5 %": 0.05}
TIERED = {"as the topic says": False, "tiered": True}
# options to translate; times, shares and numbers are the same in every language
OPTION_KEYS = {
    ANY: "any",
    AS_FOUND: "as_found",
    CALIBRATED: "calibrated",
    "as the topic says": "as_topic",
    "tiered": "tiered",
}


@dataclass(frozen=True)
class TuningAnswer:
    """The recommendations for a source, with the given budgets and lookup costs."""

    case: TuningCase
    recommendation: Recommendation | None  # for all topics together; None without batches
    recommendations: dict[str, Recommendation | None]
    interval_costs: tuple[IntervalCost, ...]


@dataclass(frozen=True, kw_only=True)
class TuningContext:
    """The content of the Tuning page: scope, measured logs, the user's limits, and the answer."""

    scope: Scope
    key: str
    source: TuningSource
    answer: TuningAnswer
    budgets: Budgets
    costs: LookupCosts
    is_tiered: bool
    alternative_bytes: int = 0  # the interval that the page compares with today's interval

    @property
    def case(self) -> TuningCase:
        """The measurement of the entire source."""
        return self.answer.case

    @property
    def config(self) -> LogConfig:
        """The settings that the log was written with."""
        return self.case.today.config

    @property
    def recommendation(self) -> Recommendation:
        """The recommendation for the entire source. The source must have batches."""
        return cast(Recommendation, self.answer.recommendation)

    @property
    def today(self) -> IntervalCost:
        return self.recommendation.current_cost

    @property
    def today_key(self) -> str:
        """The message key for "today", or for "assumed" if the interval is not known."""
        return "tuning.is_today" if self.case.today.is_interval_known else "tuning.is_assumed_today"

    @property
    def alternative(self) -> IntervalCost:
        if self.alternative_bytes == self.today.interval_bytes:
            return self.today
        by_interval = {cost.interval_bytes: cost for cost in self.answer.interval_costs}
        return by_interval[self.alternative_bytes]

    @property
    def figure_key(self) -> tuple:
        return self.key, self.budgets, self.costs, self.is_tiered, self.alternative_bytes


def build_context(tuning_scope: Scope, key: str, source: TuningSource) -> TuningContext:
    """Returns the context with the budgets chosen in the controls. Draws nothing."""
    chosen = {key: control.value() for key, control in _controls(source).items()}
    p99 = choice.take_from_address(page_state.P99, P99_US.keys(), DEFAULT_P99)
    is_tiered = chosen[page_state.TIERED]
    budgets = Budgets(p99_us=P99_US[p99], index_share=chosen[page_state.SHARE])
    costs = lookup_costs(source, chosen[page_state.STORAGE])
    return TuningContext(
        scope=tuning_scope,
        key=key,
        source=source,
        answer=answer(key, budgets, costs, is_tiered=is_tiered, _source=source),
        budgets=budgets,
        costs=costs,
        is_tiered=is_tiered,
    )


def render_answer(mark: str, headline: str, text: str) -> None:
    """Draws a recommendation. `mark` is the name of a severity."""
    words = tag(
        "div",
        tag("div", say("tuning.recommendation"), class_="kv-lab"),
        tag("h2", elements.severity(mark), headline, class_="w"),
        tag("p", elements.keep_units(text)),
        class_="v",
    )
    st.html(tag("div", words, class_="kv-verdict", role="status"))


def render_p99() -> None:
    with st.container(width=124, gap=4):
        st.html(tag("div", say("tuning.p99_may_take"), class_="kv-lab"))
        choice.draw_bound(
            st.selectbox,
            say("tuning.p99_may_take"),
            P99_US,
            DEFAULT_P99,
            page_state.P99,
            format_func=_option_text,
            label_visibility="collapsed",
        )


def render_budgets(context: TuningContext) -> None:
    controls = _controls(context.source).values()
    for column, control in zip(st.columns(len(controls), gap=24), controls, strict=True):
        with column:
            control.render()
    elements.paragraph(say("tuning.budget_met"), is_faint=True)


@dataclass(frozen=True)
class BudgetControl:
    """A selectbox over the keys of `values`. The first one is the default."""

    label: str  # a message key
    key: str  # the parameter in the address
    values: dict
    help_text: str | None = None

    def value(self) -> Any:
        """Returns the chosen value, even before the control is drawn."""
        names = list(self.values)
        return self.values[choice.bind_to_address(self.key, names, names[0])]

    def render(self) -> None:
        names = list(self.values)
        choice.draw_bound(
            st.selectbox,
            say(self.label),
            names,
            names[0],
            self.key,
            format_func=_option_text,
            help=self.help_text,
        )


def _controls(source: TuningSource) -> dict[str, BudgetControl]:
    storages, releases = ({name: name for name in names} for names in (_storages(), RELEASES))
    help_text = say(
        "tuning.as_kafka_now", version=source.version, why=render(source.assumed_release.reason)
    )
    controls = (
        BudgetControl("tuning.index_share", page_state.SHARE, SHARE),
        BudgetControl("tuning.cold_reads", page_state.STORAGE, storages),
        BudgetControl("tuning.as_kafka", page_state.READ_RELEASE, releases, help_text),
        BudgetControl("tuning.remote_storage", page_state.TIERED, TIERED),
    )
    return {control.key: control for control in controls}


def _option_text(option: str) -> str:
    if option in OPTION_KEYS:
        return say(f"tuning.option_{OPTION_KEYS[option]}")
    return option.removesuffix(WARM)


def _storages() -> list[str]:
    measurements = _last_calibration()
    default = cost_model.DEFAULT_STORAGE
    return [
        *([CALIBRATED] if measurements and measurements.get("random_read_us") else []),
        default,
        *(name for name in cost_model.STORAGES if name != default),
    ]


def lookup_costs(source: TuningSource, storage: str) -> LookupCosts:
    """Returns the costs of a lookup in the chosen release, by default the inferred one.

    `storage` is a key of cost_model.STORAGES, or CALIBRATED.
    """
    return cost_model.lookup_costs(
        by_base_offset=source.by_base_offset,
        storage=None if storage == CALIBRATED else storage,
        calibration=_last_calibration(),
    )


def _last_calibration() -> dict | None:
    try:
        return calibration.load_calibration()
    except KafkavizError:
        return None


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def answer(
    key: str, budgets: Budgets, costs: LookupCosts, *, is_tiered: bool, _source: TuningSource
) -> TuningAnswer:
    source = _with_remote_storage(_source, is_tiered=is_tiered)
    case = source.total
    recommendations, recommendation = recommend_all(source.cases, case, budgets, costs)
    interval_costs = compute_costs(case.measurement, costs) if recommendation else ()
    return TuningAnswer(case, recommendation, recommendations, interval_costs)


def _with_remote_storage(source: TuningSource, *, is_tiered: bool) -> TuningSource:
    if not is_tiered:
        return source
    cases = (replace(case, today=replace(case.today, is_tiered=True)) for case in source.cases)
    return replace(source, cases=tuple(cases))


def tuning_json(
    source: TuningSource,
    tuning_answer: TuningAnswer,
    budgets: Budgets,
    costs: LookupCosts,
    *,
    is_tiered: bool = False,
) -> str:
    """Returns the output of `kafkaviz tune --json`."""
    source = _with_remote_storage(source, is_tiered=is_tiered)
    tuning_result = tuning_object(
        source, tuning_answer.recommendations, tuning_answer.recommendation, budgets, costs
    )
    return json.dumps(tuning_result, indent=1, ensure_ascii=False)
