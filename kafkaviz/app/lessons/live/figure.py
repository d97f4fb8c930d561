"""What every figure of a lesson has in common.

How it is made and drawn, and what is around it on the page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kafkaviz.app.lessons.grammar import LessonBlock
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import charts
from kafkaviz.messages import language

PAPER_ROWS = 12  # of a table that is printed
UNKNOWN = "?"  # in a cell that the answer fills

# what is made is of the kind's own type: its make and its draw agree on it
Draw = Callable[[Any, LessonBlock, str], None]
Destination = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class LessonFigure:
    """A kind of figure, made once and drawn from that.

    Draw, paper and question take (view, block, key).

    make(block) -> the view that is drawn. destination(block) -> the page it goes on in, and the
    address there.

    Attributes:
        paper: what is printed instead.
        question: its base state, drawn while it waits for the answer or the task of its step:
            what there is before, without what is asked.
    """

    make: Callable[[LessonBlock], Any]
    draw: Draw
    destination: Callable[[LessonBlock], Destination]
    paper: Draw | None = None
    question: Draw | None = None


def block_key(block: LessonBlock) -> str:
    """What distinguishes what a block shows from what others do."""
    return f"lesson {language()} {block.kind} {block.lines}"


def render_framed(
    draw: charts.Draw, figure_view, block: LessonBlock, key: str, below: str = ""
) -> None:
    """A view and its figure in their frame.

    Args:
        below: HTML under it.
    """
    with st.container(key=f"kv_fig_{key}"):
        charts.render_titled((key, block_key(block)), draw, figure_view, key)
        if below:
            st.html(below)


def start_parameters(block: LessonBlock) -> dict[str, str]:
    """Where a stepper begins, as address parameters of the page it goes on in."""
    return {page_state.STEP: str(block["step"])} if block["step"] else {}


def current_step(key: str) -> dict[str, str]:
    """Where the stepper of this key stands, in the same way, as the address says: STEP=KEY.7.

    Empty where that is of another stepper.
    """
    name, _, step = st.query_params.get(page_state.STEP, "").rpartition(".")
    return {page_state.STEP: step} if name == key and step.isdecimal() else {}


def stepper_data(block: LessonBlock, key: str) -> dict[str, str | int]:
    """What the component of a stepper takes besides its steps.

    Its name in the address, and the step that it begins at, from 0.
    """
    return {"name": key, "begin": max(0, (block["step"] or 1) - 1)}
