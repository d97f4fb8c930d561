"""Headers and bytes over the interval, and the slider that considers one."""

from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.tuning import SETTING, At
from kafkaviz.figures import tuning_curve
from kafkaviz.figures.tuning_terms import between
from kafkaviz.ui import charts, choice, parts, state
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.words import say


def interval(shown: Shown) -> int:
    """The slider over every swept interval; where nobody moved it, what the recommendation
    considers.
    """
    options = [str(one.interval_bytes) for one in shown.answer.every]
    default = str(shown.whole.considered)
    with st.container(width="stretch", gap=4):
        above = st.empty()
        chosen = int(
            choice.ask(
                st.select_slider,
                SETTING,
                options,
                default,
                state.CONSIDERED,
                label_visibility="collapsed",
            )
        )
        value = f'<b style="color:var(--kv-ink)">{units.group(chosen)}</b>'
        is_today = chosen == shown.today.interval_bytes
        words = say("tuning.is_today", value=value) if is_today else value
        above.html(f'<div class="kv-lab">{SETTING} &nbsp;{words}</div>')
    return chosen


def today_again(interval_bytes: int) -> None:
    """The slider back to where the log is."""
    st.session_state[state.CONSIDERED] = str(interval_bytes)


def both_curves(shown: Shown) -> None:
    """Headers and bytes over the interval; a click on a point considers it."""
    view, below = charts.view(("curve", *shown.asked), lambda: _view(shown)), tuning_curve.below()
    with st.container(key="kv_fig_headers", gap=0):
        parts.figure_head(view.titles[0], below[0])
        _chosen_in(
            charts.figure(("headers", *shown.asked), tuning_curve.headers_figure, view),
            "kv_headers",
            view.titles[0],
        )
    with st.container(key="kv_fig_bytes", gap=0):
        parts.figure_head(view.titles[1], below[1])
        _chosen_in(
            charts.figure(("bytes", *shown.asked), tuning_curve.bytes_figure, view),
            "kv_bytes_curve",
            view.titles[1],
        )
    with st.expander(say("tuning.every_interval")):
        _every_interval(shown)


def _every_interval(shown: Shown) -> None:
    """Each swept interval as a row, today's marked."""
    rows = tuning_curve.rows(shown.answer.every)
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
    cells = [_cells(row, at) for row, at in zip(rows, shown.answer.every, strict=True)]
    marked = next(place for place, row in enumerate(rows) if row[0] == shown.today.interval_bytes)
    with st.container(key="kv_tune_table"):
        table(heads, cells, "rrrrrrrr", marked)
    download(
        say("tuning.every_interval_csv"),
        lambda: csv_of(tuning_curve.COLUMNS, rows),
        "sweep.csv",
        "kv_sweep_csv",
    )


def _cells(row: tuple, at: At) -> tuple[str, ...]:
    """One row of tuning_curve.rows in words."""
    interval, entries, p50, p99, most = map(units.group, (row[0], row[1], row[5], row[7], row[8]))
    return (
        interval,
        entries,
        units.size(row[2]),
        f"{row[4]:.1f}",
        p50,
        p99,
        most,
        between(at.p99_us),
    )


def _view(shown: Shown) -> tuning_curve.TuningCurveView:
    """What both figures draw."""
    measured, every = shown.case.measured, shown.answer.every
    return tuning_curve.view(
        every,
        shown.today,
        shown.chosen,
        measured.log_bytes,
        measured.parts.least_batch_bytes,
        shown.budgets,
        shown.costs,
    )


def _chosen_in(figure, key: str, alt: str) -> None:
    """A figure whose points can be chosen."""
    look: dict[str, Any] = {
        "theme": None,
        "config": {"displayModeBar": False},
        "key": key,
        "alt": say("tuning.curve_alt", title=alt),
    }
    st.plotly_chart(figure, on_select=lambda: _considered_in(key), selection_mode="points", **look)


def _considered_in(key: str) -> None:
    """A point was clicked: its interval is considered."""
    event = st.session_state.get(key)
    points = [one for one in (event.selection.points if event else []) if one.get("customdata")]
    if points:
        st.session_state[state.CONSIDERED] = str(points[0]["customdata"][0])
