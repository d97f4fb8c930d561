"""Drawings with their own title, which asks before the answer and states the result after it."""

from typing import Any

import streamlit as st

from kafkaviz.app.widgets import charts, elements
from kafkaviz.messages import say
from kafkaviz.workshop.figures.figure import block_key
from kafkaviz.workshop.lessons.grammar import LessonBlock


def render_drawing(
    draw: charts.Draw, view: Any, block: LessonBlock, key: str, *, title: str, words: str
) -> None:
    """Draws a figure in its frame, with a title and the caption of its view.

    Args:
        words: the alternative text.
    """
    with st.container(key=f"kv_fig_{key}"):
        elements.figure_head(title, view.caption)
        charts.plot(
            charts.figure((key, block_key(block)), draw, view),
            key,
            say("common.titled", title=title, below=words),
        )
