"""An answer: the figure, where there is something to draw, and every row."""

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from kafkaviz.app.pages.explore.answer_rows import render_table
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.figures.questions import Question, find_question
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import QueryResult


def render_answer(result: "QueryResult", text: str) -> None:
    """The figure, where there is something to draw, and every row."""
    if not result.rows.num_rows:
        with elements.empty("answer", say("explore.no_row"), say("explore.no_row_why")):
            pass
        return
    _render_figure(result, find_question(text))
    with st.container(key="kv_answer_rows", gap=None):
        render_table(result.rows)


def _render_figure(result: "QueryResult", question: Question | None) -> None:
    """A bar a row, or a line; of the column that is chosen."""
    from kafkaviz.figures import answer_chart as chart

    columns = chart.drawable_columns(result.rows, question)
    if not columns:
        return
    with st.container(key="kv_fig_answer"):
        with st.container(horizontal=True, key="kv_answer_head"):
            heading = st.container()
            column = _choose_column(columns) if len(columns) > 1 else columns[0]
        view = cast(chart.AnswerView, chart.view(result.rows, question, column))
        with heading:
            elements.figure_head(view.title, view.caption)
        figure = chart.figure(view, charts.mode())
        alt = say("explore.alt", title=view.title, below=view.caption, n=len(view.values))
        charts.plot(figure, "kv_answer_chart", alt)


def _choose_column(columns: list[str]) -> str:
    """Which column is drawn: the address says, where it is one of these; of another answer, or
    another address, it is a new control.
    """
    address_column = st.query_params.get(page_state.DRAWN_COLUMN, "")
    key = f"kv_draw {address_column} {columns}"
    widget_options: dict[str, Any] = {
        "label_visibility": "collapsed",
        "width": 190,
        "filter_mode": None,
    }
    callback_options: dict[str, Any] = {"on_change": _remember_column, "args": (key, columns[0])}
    return st.selectbox(
        say("explore.drawn"),
        columns,
        columns.index(address_column) if address_column in columns else 0,
        key=key,
        **callback_options,
        **widget_options,
    )


def _remember_column(key: str, default_column: str) -> None:
    """Puts the column that was chosen into the address; the first one goes without saying."""
    st.query_params.pop(page_state.DRAWN_COLUMN, None)
    if st.session_state[key] != default_column:
        st.query_params[page_state.DRAWN_COLUMN] = st.session_state[key]
