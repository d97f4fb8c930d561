"""A drawing with a title of its own: what is asked before the answer, what is so behind it."""

from typing import Any

import streamlit as st

from kafkaviz.app.lessons.grammar import LessonBlock
from kafkaviz.app.lessons.live.figure import block_key
from kafkaviz.app.widgets import charts, elements
from kafkaviz.messages import say


def render_drawing(
    draw: charts.Draw, view: Any, block: LessonBlock, key: str, *, title: str, words: str
) -> None:
    """A drawing in its frame, under its title and its view's caption.

    Args:
        words: the drawing for who does not see it.
    """
    with st.container(key=f"kv_fig_{key}"):
        elements.figure_head(title, view.caption)
        charts.plot(
            charts.figure((key, block_key(block)), draw, view),
            key,
            say("common.titled", title=title, below=words),
        )
