"""The answer for what was measured, under budgets and prices, kept between reruns; and what would
move it.
"""

import json
from dataclasses import dataclass, replace
from typing import cast

import streamlit as st

from kafkaviz.analyse import calibration, cost_model, tuning
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import Assumption, At, Budgets, Recommendation
from kafkaviz.analyse.tuning.as_object import as_object
from kafkaviz.analyse.tuning.source import Case, Source
from kafkaviz.errors import KafkavizError
from kafkaviz.ui.tuning.options import CALIBRATED

KEPT = 24


def costs(source: Source, storage: str) -> Costs:
    """The prices for the release that wrote the log; storage: of cost_model.STORAGES, or as this
    machine was calibrated.
    """
    return cost_model.costs(
        source.by_base_offset, None if storage == CALIBRATED else storage, measured=calibrated()
    )


def calibrated() -> dict | None:
    """The last calibration; a page goes on with presets where the file is none."""
    try:
        return calibration.kept()
    except KafkavizError:
        return None


def storages() -> list[str]:
    """What cold reads can be priced with; what this machine measured first."""
    found = calibrated()
    return [*([CALIBRATED] if found and found.get("random_read_us") else []), *_default_first()]


def _default_first() -> list[str]:
    names = list(cost_model.STORAGES)
    return [
        cost_model.DEFAULT_STORAGE,
        *(one for one in names if one != cost_model.DEFAULT_STORAGE),
    ]


def with_tiered(source: Source, is_tiered: bool) -> Source:
    """The same, its topics with remote storage."""
    if not is_tiered:
        return source
    return replace(
        source,
        cases=tuple(replace(one, today=replace(one.today, is_tiered=True)) for one in source.cases),
    )


@dataclass(frozen=True)
class Answer:
    """All that is known of a source under budgets and prices. each: the answer of each case by
    name; every: each swept interval priced.
    """

    case: Case
    whole: Recommendation | None
    each: dict[str, Recommendation | None]
    every: tuple[At, ...]


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def answer(key: str, budgets: Budgets, prices: Costs, is_tiered: bool, _source: Source) -> Answer:
    """The answer for a source. key: of what was measured."""
    source = with_tiered(_source, is_tiered)
    case = source.whole
    each, whole = tuning.answers(source.cases, case, budgets, prices)
    return Answer(case, whole, each, tuning.every(case.measured, prices, budgets) if whole else ())


def tuned_object(
    source: Source, known: Answer, budgets: Budgets, prices: Costs, is_tiered: bool = False
) -> str:
    """The object that kafkaviz tune --json prints."""
    found = as_object(with_tiered(source, is_tiered), known.each, known.whole, budgets, prices)
    return json.dumps(found, indent=1, ensure_ascii=False)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def assumptions(
    key: str, budgets: Budgets, prices: Costs, is_tiered: bool, _case: Case
) -> tuple[Recommendation, tuple[Assumption, ...]]:
    """The answer for all batches together, and what moves it."""
    found = cast(Recommendation, tuning.recommend(_case.measured, _case.today, budgets, prices))
    return found, tuning.tornado(_case.measured, _case.today, budgets, prices)
