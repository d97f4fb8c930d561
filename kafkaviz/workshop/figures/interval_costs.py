"""The costs of other index intervals for a real log, and the recommended one."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.cache.segment_cache import HASH_FUNCS
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.tuning import tuning_curve as curve
from kafkaviz.messages import language, message, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import Group, LessonFigure, Part, chart, frame
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

INTERVALS = (0, 512, 1024, 2048, 4096, 8192, 16384, 65536)
HEIGHTS_PX = (250, 180)  # the headers figure and the bytes figure; both fit on one screen
HEADS = ("interval", "offset_entries", "index_bytes", "headers_mean", "headers_p99")


def _row(row: np.void) -> tuple[str, ...]:
    names = ("interval_bytes", "entries", "index_bytes", "headers_p99")
    interval, entries, index_bytes, p99 = (units.format_count(int(row[name])) for name in names)
    return interval, entries, index_bytes, f"{row['headers_mean']:.1f}", p99


@dataclass(frozen=True)
class LessonTuning:
    """The tuning result of a topic-partition.

    Attributes:
        intervals: the costs of each swept interval.
        verdict: the recommendation in one line, "" if there is none.
    """

    location: SegmentLocation
    view: curve.TuningCurveView
    intervals: tuple
    verdict: str
    today_bytes: int


def _make_tuning(block: LessonBlock) -> LessonTuning:
    location = block_location.locate(block)
    return _cached_tuning(
        location.snapshot,
        location.partition.directory,
        block["considered"],
        language(),
        _location=location,
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _cached_tuning(
    snapshot: BrokerSnapshot,
    directory: str,
    considered_bytes: int,
    language_code: str,
    *,
    _location: SegmentLocation,
) -> LessonTuning:
    source = open_source(_location.partition.path)
    case = source.total
    budgets = tuning.Budgets()
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    intervals = tuning.compute_costs(case.measurement, costs, budgets)
    today = case.today.interval_bytes
    if considered_bytes not in {interval.interval_bytes for interval in intervals}:
        raise NoValue(message("lesson.not_swept", value=considered_bytes))
    current = tuning.compute_current_cost(case.measurement, costs, today, budgets)
    view = curve.view(
        intervals,
        current,
        considered_bytes,
        log_bytes=case.measurement.log_bytes,
        least_batch_bytes=case.measurement.parts.least_batch_bytes,
        budgets=budgets,
        costs=costs,
    )
    recommendation = tuning.recommend(case.measurement, case.today, budgets, costs)
    return LessonTuning(
        _location, view, intervals, _verdict(recommendation) if recommendation else "", today
    )


def _verdict(recommendation: tuning.Recommendation) -> str:
    keeps_setting = recommendation.verdict == tuning.TuningVerdict.KEEP
    return say(
        "tuning_answer.keep" if keeps_setting else "workshop.tuning_change",
        name=tuning.SETTING,
        today=recommendation.current_cost.interval_bytes,
        value=recommendation.value,
    )


def _draw_tuning(lesson_tuning: LessonTuning, block: LessonBlock, key: str) -> list[Part]:
    curves = _curves(lesson_tuning.view, block, key)
    if not lesson_tuning.verdict:
        return [curves]
    subject = elements.escape(f"{lesson_tuning.location.partition.directory}, {block['data']}")
    verdict = elements.escape(lesson_tuning.verdict)
    return [curves, f'<p class="kv-sm">{subject}<br><b>{verdict}</b></p>']


def _draw_tuning_question(lesson_tuning: LessonTuning, block: LessonBlock, key: str) -> list[Part]:
    """Returns the cost of the current interval only."""
    return [_curves(curve.before_sweep(lesson_tuning.view), block, f"{key}_asked")]


def _curves(view: curve.TuningCurveView, block: LessonBlock, key: str) -> Group:
    figures = (curve.headers_figure, curve.bytes_figure)
    low_view = replace(view, heights_px=HEIGHTS_PX)
    frames = []
    for number, (title, words, draw) in enumerate(
        zip(view.titles, curve.captions(view), figures, strict=True)
    ):
        figure_key = f"{key}_{number}"
        head = elements.figure_head_html(title, words)
        drawn = chart(draw, low_view, block, figure_key, f"{title}. {words}")
        frames.append(frame(figure_key, head, drawn))
    return Group(frames, gap_px=12)


def _tuning_on_paper(lesson_tuning: LessonTuning, block: LessonBlock, key: str) -> list[Part]:
    intervals = [
        interval for interval in lesson_tuning.intervals if interval.interval_bytes in INTERVALS
    ]
    marked_row = next(
        (
            index
            for index, interval in enumerate(intervals)
            if interval.interval_bytes == lesson_tuning.today_bytes
        ),
        None,
    )
    title = f"{lesson_tuning.location.partition.directory}, {block['data']}"
    rows = [_row(interval.row) for interval in intervals]
    return [
        elements.figure_head_html(title, say("workshop.sweep_below")),
        table_html([say(f"workshop.{name}") for name in HEADS], rows, "rrrrr", marked_row),
    ]


TUNING = LessonFigure(
    _make_tuning, _draw_tuning, block_location.to_tuning, _tuning_on_paper, _draw_tuning_question
)
