"""The answer for what was measured, under budgets and prices, kept between reruns; and what would
move it.
"""

import json
from dataclasses import dataclass, replace
from typing import cast

import streamlit as st

from kafkaviz.analysis import calibration, cost_model, tuning
from kafkaviz.analysis.cost_model import LookupPrices
from kafkaviz.analysis.tuning import Assumption, Budgets, IntervalPrice, Recommendation
from kafkaviz.analysis.tuning.json_object import tuning_object
from kafkaviz.analysis.tuning.source import TuningCase, TuningSource
from kafkaviz.app.pages.tuning.options import CALIBRATED
from kafkaviz.errors import KafkavizError

CACHE_ENTRIES = 24


def costs(source: TuningSource, storage: str) -> LookupPrices:
    """The prices for the release that wrote the log; storage: of cost_model.STORAGES, or as this
    machine was calibrated.
    """
    return cost_model.lookup_prices(
        by_base_offset=source.by_base_offset,
        storage=None if storage == CALIBRATED else storage,
        calibration=last_calibration(),
    )


def last_calibration() -> dict | None:
    """The last calibration; a page goes on with presets where the file is none."""
    try:
        return calibration.load_calibration()
    except KafkavizError:
        return None


def storages() -> list[str]:
    """What cold reads can be priced with; what this machine measured first."""
    measurements = last_calibration()
    return [
        *([CALIBRATED] if measurements and measurements.get("random_read_us") else []),
        *_default_first(),
    ]


def _default_first() -> list[str]:
    names = list(cost_model.STORAGES)
    return [
        cost_model.DEFAULT_STORAGE,
        *(name for name in names if name != cost_model.DEFAULT_STORAGE),
    ]


def with_remote_storage(source: TuningSource, is_tiered: bool) -> TuningSource:
    """The same, its topics with remote storage."""
    if not is_tiered:
        return source
    return replace(
        source,
        cases=tuple(
            replace(case, today=replace(case.today, is_tiered=True)) for case in source.cases
        ),
    )


@dataclass(frozen=True)
class TuningAnswer:
    """All that is known of a source under budgets and prices. recommendations: the answer of each
    case by name; priced_intervals: each swept interval priced.
    """

    case: TuningCase
    recommendation: Recommendation | None
    recommendations: dict[str, Recommendation | None]
    priced_intervals: tuple[IntervalPrice, ...]


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def answer(
    key: str, budgets: Budgets, prices: LookupPrices, is_tiered: bool, _source: TuningSource
) -> TuningAnswer:
    """The answer for a source. key: of what was measured."""
    source = with_remote_storage(_source, is_tiered)
    case = source.total
    recommendations, recommendation = tuning.recommend_all(source.cases, case, budgets, prices)
    return TuningAnswer(
        case,
        recommendation,
        recommendations,
        tuning.price_all(case.measurement, prices, budgets) if recommendation else (),
    )


def tuning_json(
    source: TuningSource,
    tuning_answer: TuningAnswer,
    budgets: Budgets,
    prices: LookupPrices,
    is_tiered: bool = False,
) -> str:
    """The object that kafkaviz tune --json prints."""
    tuning_result = tuning_object(
        with_remote_storage(source, is_tiered),
        tuning_answer.recommendations,
        tuning_answer.recommendation,
        budgets,
        prices,
    )
    return json.dumps(tuning_result, indent=1, ensure_ascii=False)


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def assumptions(
    key: str, budgets: Budgets, prices: LookupPrices, is_tiered: bool, _case: TuningCase
) -> tuple[Recommendation, tuple[Assumption, ...]]:
    """The answer for all batches together, and what moves it."""
    recommendation = cast(
        Recommendation, tuning.recommend(_case.measurement, _case.today, budgets, prices)
    )
    return recommendation, tuning.tornado(_case.measurement, _case.today, budgets, prices)
