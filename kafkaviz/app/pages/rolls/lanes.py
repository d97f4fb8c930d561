"""The segments of a log as they fill, a lane each, and which of them are drawn."""

from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.figures import roll_text, roll_timeline
from kafkaviz.simulate.writer.roll_reason import Cause
from kafkaviz.words import say

KEY = {
    "roll-size": Cause.SIZE,
    "roll-time": Cause.TIME,
    "roll-offset": Cause.OFFSET_INDEX_FULL,
    "roll-timestamp": Cause.TIME_INDEX_FULL,
}


def render_lanes(history: RollHistory, key: str, appended_batches: np.ndarray | None) -> None:
    """Every segment until its roll. key: of the run, or of the partition as it lies there;
    appended_batches: lanes.APPENDED of a simulated log.
    """
    pages = _pages(len(history.segments))
    first = pages[choice.settle(page_state.ROLLS_ROWS, pages.keys(), next(iter(pages)))]
    figure_key = "lanes", key, first
    view = charts.view(figure_key, lambda: roll_timeline.view(history, first, appended_batches))
    with st.container(key="kv_fig_rolls"):
        with st.container(horizontal=True, key="kv_rolls_head"):
            with st.container(width="stretch"):
                elements.figure_head(view.title, view.caption)
            st.html(
                elements.key((kind, roll_text.cause_name(cause)) for kind, cause in KEY.items()),
                width="content",
            )
        charts.render_figure(figure_key, roll_timeline.figure, view, "kv_timeline")
        if len(pages) > 1:
            _render_pager(list(pages))


def _pages(count: int) -> dict[str, int]:
    """The rows that are drawn together, by name."""
    return {f"{low + 1}–{high + 1}": low for low, high in roll_timeline.page_slices(count)}


def _render_pager(names: list[str]) -> None:
    """Which rows are drawn, where they are not all."""
    with st.container(key="kv_rolls_pager", horizontal=True, vertical_alignment="center", gap=12):
        st.html(f'<span class="kv-sm kv-fnt">{say("common.segments")}</span>', width="content")
        widget_options: dict[str, Any] = {
            "label_visibility": "collapsed",
            "width": 420,
            "on_change": choice.count_move,
            "format_func": _rows_text,
        }
        st.select_slider(say("common.segments"), names, key=page_state.ROLLS_ROWS, **widget_options)


def _rows_text(name: str) -> str:
    """Rows of _pages, their digits grouped."""
    return "–".join(units.group(int(number)) for number in name.split("–"))
