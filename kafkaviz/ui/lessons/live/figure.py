"""What every figure of a lesson has in common: how it is made and drawn, and what is around it on
the page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kafkaviz.ui import charts, state
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.words import language

PAPER_ROWS = 12  # of a table that is printed

# what is made is of the kind's own type: its make and its draw agree on it
Draw = Callable[[Any, Block, str], None]
Onward = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class Live:
    """A kind of figure, made once and drawn from that: draw, paper and asked take (made, block,
    key).

    make(block) -> what is drawn. onward(block) -> the page it goes on in, and the address there.
    paper: what is printed instead; asked: what is drawn while the question of its step is open.
    """

    make: Callable[[Block], Any]
    draw: Draw
    onward: Callable[[Block], Onward]
    paper: Draw | None = None
    asked: Draw | None = None


def told(block: Block) -> str:
    """What tells what a block shows from what others do."""
    return f"lesson {language()} {block.kind} {block.said}"


def framed(draw: charts.Draw, shown, block: Block, key: str, below: str = "") -> None:
    """A view and its figure in their frame; below: HTML under it."""
    with st.container(key=f"kv_fig_{key}"):
        charts.titled((key, told(block)), draw, shown, key)
        if below:
            st.html(below)


def begins(block: Block) -> dict[str, str]:
    """Where a stepper begins, as address parameters of the page it goes on in."""
    return {state.STEP: str(block["step"])} if block["step"] else {}


def step_now(key: str) -> dict[str, str]:
    """Where the stepper of this key stands, in the same way, as the address says: STEP=KEY.7; empty
    where that is of another stepper.
    """
    name, _, step = st.query_params.get(state.STEP, "").rpartition(".")
    return {state.STEP: step} if name == key and step.isdecimal() else {}


def position(block: Block, key: str) -> dict[str, str | int]:
    """What the component of a stepper takes besides its steps: its name in the address, and the
    step that it begins at, from 0.
    """
    return {"name": key, "begin": max(0, (block["step"] or 1) - 1)}
