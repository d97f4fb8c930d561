"""The type of all figures in lessons, and helpers that they share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.widgets import charts
from kafkaviz.messages import language
from kafkaviz.workshop.lessons.grammar import LessonBlock

PAPER_ROWS = 12  # rows of a printed table
UNKNOWN = "?"  # shown in a cell until the answer is given

# Any is the view of a kind, the same type in its `make` and its `draw`
Draw = Callable[[Any, LessonBlock, str], None]
Destination = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class LessonFigure:
    """A kind of figure, made once from a block and then drawn.

    Attributes:
        make: returns the view of a block.
        draw: draws the view, given (view, block, key).
        destination: returns the page to continue on, and its address parameters.
        paper: draws the printed form, if it differs.
        question: draws the figure without the answer, while the step waits for it.
    """

    make: Callable[[LessonBlock], Any]
    draw: Draw
    destination: Callable[[LessonBlock], Destination]
    paper: Draw | None = None
    question: Draw | None = None


def block_key(block: LessonBlock) -> str:
    return f"lesson {language()} {block.kind} {block.lines}"


def render_framed(
    draw: charts.Draw, figure_view, block: LessonBlock, key: str, below: str = ""
) -> None:
    """Draws a view's figure in its frame.

    Args:
        below: HTML below the figure.
    """
    with st.container(key=f"kv_fig_{key}"):
        charts.render_titled((key, block_key(block)), draw, figure_view, key)
        if below:
            st.html(below)


def start_parameters(block: LessonBlock) -> dict[str, str]:
    """Returns the first step of a block's stepper as address parameters of its destination."""
    return {page_state.STEP: str(block["step"])} if block["step"] else {}


def current_step(key: str) -> dict[str, str]:
    """Returns the current step of a stepper as address parameters of its destination.

    Returns {} unless the address contains the step of the stepper with this key, as STEP=KEY.7.
    """
    name, _, step = st.query_params.get(page_state.STEP, "").rpartition(".")
    return {page_state.STEP: step} if name == key and step.isdecimal() else {}


def stepper_data(block: LessonBlock, key: str) -> dict[str, str | int]:
    """Returns the name of a stepper in the address, and its first step, from 0."""
    return {"name": key, "begin": max(0, (block["step"] or 1) - 1)}
