"""An answer: the figure, where there is something to draw, and every row."""

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from kafkaviz.figures.questions import Question, asked
from kafkaviz.ui import charts, parts, state
from kafkaviz.ui.explore.rows import table
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer


def answer(found: "Answer", text: str) -> None:
    """The figure, where there is something to draw, and every row."""
    if not found.rows.num_rows:
        with parts.empty("answer", say("explore.no_row"), say("explore.no_row_why")):
            pass
        return
    _figure(found, asked(text))
    with st.container(key="kv_answer_rows", gap=None):
        table(found.rows)


def _figure(found: "Answer", question: Question | None) -> None:
    """A bar a row, or a line; of the column that is chosen."""
    from kafkaviz.figures import answer_chart as chart

    choice = chart.columns(found.rows, question)
    if not choice:
        return
    with st.container(key="kv_fig_answer"):
        with st.container(horizontal=True, key="kv_answer_head"):
            words = st.container()
            column = _choose_column(choice) if len(choice) > 1 else choice[0]
        shown = cast(chart.AnswerView, chart.view(found.rows, question, column))
        with words:
            parts.figure_head(shown.title, shown.below)
        drawn = chart.figure(shown, charts.mode())
        alt = say("explore.alt", title=shown.title, below=shown.below, n=len(shown.values))
        charts.plot(drawn, "kv_answer_chart", alt)


def _choose_column(choice: list[str]) -> str:
    """Which column is drawn: the address says, where it is one of these; of another answer, or
    another address, it is a new control.
    """
    told = st.query_params.get(state.DRAWN, "")
    key = f"kv_draw {told} {choice}"
    look: dict[str, Any] = {"label_visibility": "collapsed", "width": 190, "filter_mode": None}
    asks: dict[str, Any] = {"on_change": _draw, "args": (key, choice[0])}
    return st.selectbox(
        say("explore.drawn"),
        choice,
        choice.index(told) if told in choice else 0,
        key=key,
        **asks,
        **look,
    )


def _draw(key: str, first: str) -> None:
    """Puts the column that was chosen into the address; the first one goes without saying."""
    st.query_params.pop(state.DRAWN, None)
    if st.session_state[key] != first:
        st.query_params[state.DRAWN] = st.session_state[key]
