"""Headers and bytes over the interval, and the slider that considers one."""

from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.tuning import SETTING, IntervalPrice
from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import tuning_curve
from kafkaviz.figures.tuning_terms import range_text
from kafkaviz.words import say


def choose_interval(context: TuningContext) -> int:
    """The slider over every swept interval; where nobody moved it, what the recommendation
    considers.
    """
    options = [
        str(priced_interval.interval_bytes) for priced_interval in context.answer.priced_intervals
    ]
    default = str(context.recommendation.considered_bytes)
    with st.container(width="stretch", gap=4):
        label_slot = st.empty()
        interval_bytes = int(
            choice.ask(
                st.select_slider,
                SETTING,
                options,
                default,
                page_state.CONSIDERED_INTERVAL,
                label_visibility="collapsed",
            )
        )
        value = f'<b style="color:var(--kv-ink)">{units.group(interval_bytes)}</b>'
        is_today = interval_bytes == context.today.interval_bytes
        text = say("tuning.is_today", value=value) if is_today else value
        label_slot.html(f'<div class="kv-lab">{SETTING} &nbsp;{text}</div>')
    return interval_bytes


def reset_interval(interval_bytes: int) -> None:
    """The slider back to where the log is."""
    st.session_state[page_state.CONSIDERED_INTERVAL] = str(interval_bytes)


def render_curves(context: TuningContext) -> None:
    """Headers and bytes over the interval; a click on a point considers it."""
    view, below = (
        charts.view(("curve", *context.figure_key), lambda: _view(context)),
        tuning_curve.captions(),
    )
    with st.container(key="kv_fig_headers", gap=0):
        elements.figure_head(view.titles[0], below[0])
        _render_selectable(
            charts.figure(("headers", *context.figure_key), tuning_curve.headers_figure, view),
            "kv_headers",
            view.titles[0],
        )
    with st.container(key="kv_fig_bytes", gap=0):
        elements.figure_head(view.titles[1], below[1])
        _render_selectable(
            charts.figure(("bytes", *context.figure_key), tuning_curve.bytes_figure, view),
            "kv_bytes_curve",
            view.titles[1],
        )
    with st.expander(say("tuning.every_interval")):
        _render_intervals(context)


def _render_intervals(context: TuningContext) -> None:
    """Each swept interval as a row, today's marked."""
    rows = tuning_curve.rows(context.answer.priced_intervals)
    heads = (
        say("tuning.head_interval"),
        say("tuning.head_entries"),
        say("compare.both_indexes"),
        say("tuning.head_headers_mean"),
        "p50",
        "p99",
        "max",
        say("tuning.head_warm_p99"),
    )
    cells = [
        _cells(row, priced_interval)
        for row, priced_interval in zip(rows, context.answer.priced_intervals, strict=True)
    ]
    marked_row = next(
        place for place, row in enumerate(rows) if row[0] == context.today.interval_bytes
    )
    with st.container(key="kv_tune_table"):
        table(heads, cells, "rrrrrrrr", marked_row)
    download(
        say("tuning.every_interval_csv"),
        lambda: to_csv(tuning_curve.COLUMNS, rows),
        "sweep.csv",
        "kv_sweep_csv",
    )


def _cells(row: tuple, priced_interval: IntervalPrice) -> tuple[str, ...]:
    """One row of tuning_curve.rows in words."""
    interval, entries, p50, p99, maximum = map(
        units.group, (row[0], row[1], row[5], row[7], row[8])
    )
    return (
        interval,
        entries,
        units.size(row[2]),
        f"{row[4]:.1f}",
        p50,
        p99,
        maximum,
        range_text(priced_interval.p99_us),
    )


def _view(context: TuningContext) -> tuning_curve.TuningCurveView:
    """What both figures draw."""
    measurement, priced_intervals = context.case.measurement, context.answer.priced_intervals
    return tuning_curve.view(
        priced_intervals,
        context.today,
        context.alternative_bytes,
        log_bytes=measurement.log_bytes,
        least_batch_bytes=measurement.parts.least_batch_bytes,
        budgets=context.budgets,
        costs=context.costs,
    )


def _render_selectable(figure, key: str, alt: str) -> None:
    """A figure whose points can be chosen."""
    widget_options: dict[str, Any] = {
        "theme": None,
        "config": {"displayModeBar": False},
        "key": key,
        "alt": say("tuning.curve_alt", title=alt),
    }
    st.plotly_chart(
        figure, on_select=lambda: _consider_clicked(key), selection_mode="points", **widget_options
    )


def _consider_clicked(key: str) -> None:
    """A point was clicked: its interval is considered."""
    event = st.session_state.get(key)
    points = [
        point for point in (event.selection.points if event else []) if point.get("customdata")
    ]
    if points:
        st.session_state[page_state.CONSIDERED_INTERVAL] = str(points[0]["customdata"][0])
