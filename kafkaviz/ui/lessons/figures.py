"""The figures of a step, and the page where the first of them can be changed."""

from collections.abc import Sequence

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.ui import parts, workshop
from kafkaviz.ui.frame import PAGES
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live import LIVE
from kafkaviz.ui.lessons.live.figure import step_now
from kafkaviz.ui.workshop import At
from kafkaviz.words import say


def of_step(here: At) -> list[Block]:
    """The blocks of a step that are figures."""
    return [block for block in here.step.blocks() if block.kind in LIVE]


def drawn(figures: Sequence[Block], here: At) -> None:
    """All of them; one that would tell the answer waits for it."""
    is_answered = workshop.is_answered(here)
    for number, block in enumerate(figures):
        if number:
            st.space(16)
        is_open = (
            workshop.is_solved(here)
            if block["after"] == "task"
            else is_answered or not block["after"]
        )
        _figure(block, _key(here, number), is_open, is_answered)


def _key(here: At, number: int) -> str:
    """What tells a figure from all others: its lesson, its step, its number there.

    It is the name of a stepper in the address, too.
    """
    return f"{here.lesson.name}_{here.part}_{number}"


def _figure(block: Block, key: str, is_open: bool, is_answered: bool) -> None:
    """One figure, or the place where it will be."""
    if not is_open:
        with st.container(key=f"kv_fig_wait_{key}"):
            waits = say(f"workshop.hidden_until_{block['after']}")
            st.html(
                f'<div class="kv-wait">{parts.icon("visibility_off")}'
                f"<span>{parts.escape(waits)}</span></div>"
            )
        return
    kind = LIVE[block.kind]
    try:
        made = kind.make(block)
    except (KafkavizError, NoValue) as fault:
        return unmade(fault, key)
    draw = kind.draw if is_answered else kind.asked or kind.draw
    draw(made, block, key)


def unmade(fault: Exception, key: str) -> None:
    """In place of a figure or a task: why there is none."""
    with parts.state(
        f"figure_{key}", "error", say("workshop.figure_fault"), fault_words.line(fault)
    ):
        pass


def elsewhere(figures: Sequence[Block], here: At) -> None:
    """The page where the first figure can be looked at further, a stepper at the step where it
    stands.
    """
    for number, block in enumerate(figures):
        try:
            name, query = LIVE[block.kind].onward(block)
        except (KafkavizError, NoValue):
            continue
        if PAGES[name].exists:
            with st.container(key="kv_elsewhere"):
                label = say("workshop.open_in", page=parts.page_name(name))
                st.page_link(
                    PAGES[name].script,
                    label=label,
                    query_params=query | step_now(_key(here, number)),
                )
            return
