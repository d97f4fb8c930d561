"""The figures of a step, and the page where the first of them can be changed."""

from collections.abc import Sequence

import streamlit as st

from kafkaviz.app.frame import PAGES
from kafkaviz.app.lessons.grammar import LessonBlock, NoValue
from kafkaviz.app.lessons.live import LIVE
from kafkaviz.app.lessons.live.figure import current_step
from kafkaviz.app.pages import workshop
from kafkaviz.app.pages.workshop import LessonPosition
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.words import say


def step_figures(position: LessonPosition) -> list[LessonBlock]:
    """The blocks of a step that are figures."""
    return [block for block in position.step.blocks() if block.kind in LIVE]


def render_figures(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    """All of them; one that would tell the answer waits for it."""
    is_answered = workshop.is_answered(position)
    for number, block in enumerate(figures):
        if number:
            st.space(16)
        is_open = (
            workshop.is_solved(position)
            if block["after"] == "task"
            else is_answered or not block["after"]
        )
        _figure(block, _key(position, number), is_open, is_answered)


def _key(position: LessonPosition, number: int) -> str:
    """What tells a figure from all others: its lesson, its step, its number there.

    It is the name of a stepper in the address, too.
    """
    return f"{position.lesson.name}_{position.part}_{number}"


def _figure(block: LessonBlock, key: str, is_open: bool, is_answered: bool) -> None:
    """One figure, or the place where it will be."""
    if not is_open:
        with st.container(key=f"kv_fig_wait_{key}"):
            hidden_text = say(f"workshop.hidden_until_{block['after']}")
            st.html(
                f'<div class="kv-wait">{elements.icon("visibility_off")}'
                f"<span>{elements.escape(hidden_text)}</span></div>"
            )
        return
    kind = LIVE[block.kind]
    try:
        figure = kind.make(block)
    except (KafkavizError, NoValue) as fault:
        return render_fault(fault, key)
    draw = kind.draw if is_answered else kind.question or kind.draw
    draw(figure, block, key)


def render_fault(fault: Exception, key: str) -> None:
    """In place of a figure or a task: why there is none."""
    with elements.state(
        f"figure_{key}", "error", say("workshop.figure_fault"), error_text.describe_sentence(fault)
    ):
        pass


def render_page_link(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    """The page where the first figure can be looked at further, a stepper at the step where it
    stands.
    """
    for number, block in enumerate(figures):
        try:
            name, query = LIVE[block.kind].destination(block)
        except (KafkavizError, NoValue):
            continue
        if PAGES[name].exists:
            with st.container(key="kv_elsewhere"):
                label = say("workshop.open_in", page=elements.page_name(name))
                st.page_link(
                    PAGES[name].script,
                    label=label,
                    query_params=query | current_step(_key(position, number)),
                )
            return
