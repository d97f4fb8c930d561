"""The segments of a log as they fill, a lane each, and which of them are drawn."""

from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.lanes import Lanes
from kafkaviz.figures import roll_timeline, roll_words
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.ui import charts, choice, parts, state
from kafkaviz.words import say

KEY = {
    "roll-size": Cause.SIZE,
    "roll-time": Cause.TIME,
    "roll-offset": Cause.OFFSET_INDEX_FULL,
    "roll-timestamp": Cause.TIME_INDEX_FULL,
}


def lanes(shown: Lanes, key: str, appended: np.ndarray | None) -> None:
    """Every segment until its roll. key: of the run, or of the partition as it lies there;
    appended: lanes.APPENDED of a simulated log.
    """
    known = _pages(len(shown.lanes))
    first = known[choice.settle(state.ROLLS_ROWS, known.keys(), next(iter(known)))]
    of = "lanes", key, first
    view = charts.view(of, lambda: roll_timeline.view(shown, first, appended))
    with st.container(key="kv_fig_rolls"):
        with st.container(horizontal=True, key="kv_rolls_head"):
            with st.container(width="stretch"):
                parts.figure_head(view.title, view.below)
            st.html(
                parts.key((kind, roll_words.name(cause)) for kind, cause in KEY.items()),
                width="content",
            )
        charts.plotted(of, roll_timeline.figure, view, "kv_timeline")
        if len(known) > 1:
            _pager(list(known))


def _pages(count: int) -> dict[str, int]:
    """The rows that are drawn together, by name."""
    return {f"{low + 1}–{high + 1}": low for low, high in roll_timeline.slices(count)}


def _pager(names: list[str]) -> None:
    """Which rows are drawn, where they are not all."""
    with st.container(key="kv_rolls_pager", horizontal=True, vertical_alignment="center", gap=12):
        st.html(f'<span class="kv-sm kv-fnt">{say("common.segments")}</span>', width="content")
        look: dict[str, Any] = {
            "label_visibility": "collapsed",
            "width": 420,
            "on_change": choice.moved,
            "format_func": _rows_words,
        }
        st.select_slider(say("common.segments"), names, key=state.ROLLS_ROWS, **look)


def _rows_words(name: str) -> str:
    """Rows of _pages, their digits grouped."""
    return "–".join(units.group(int(one)) for one in name.split("–"))
