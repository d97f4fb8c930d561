"""What every figure of a lesson has in common: how it is made and drawn, and what is around it on the page."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from kafkaviz.ui import charts, state
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.words import language

PAPER_ROWS = 12  # of a table that is printed

Draw = Callable[[object, Block, str], None]
Onward = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class Live:
    """A kind of figure, made once and drawn from that: draw, paper and asked take (made, block, key).

    make(block) -> what is drawn. onward(block) -> the page it goes on in, and the address there. paper: what is printed instead; asked:
    what is drawn while the question of its step is open.
    """

    make: Callable[[Block], object]
    draw: Draw
    onward: Callable[[Block], Onward]
    paper: Draw | None = None
    asked: Draw | None = None


def told(block: Block) -> str:
    """What tells what a block shows from what others do."""
    return f"lesson {language()} {block.kind} {block.said}"


def framed(draw: Callable, shown, block: Block, key: str, below: str = "") -> None:
    """A view and its figure in their frame; below: HTML under it."""
    with st.container(key=f"kv_fig_{key}"):
        charts.titled((key, told(block)), draw, shown, key)
        if below:
            st.html(below)


def step_now(block: Block) -> dict[str, str]:
    """Where a stepper stands, as address parameters of the page it goes on in: as its own address says, else where it begins."""
    step = st.query_params.get(state.STEP) or block["step"]
    return {state.STEP: str(step)} if step else {}


def begin_at(block: Block) -> None:
    """The step that a stepper begins at, where its address says none: the component itself reads it there."""
    if block["step"] and state.STEP not in st.query_params:
        st.query_params[state.STEP] = str(block["step"])
