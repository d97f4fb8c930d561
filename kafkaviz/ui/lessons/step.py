"""One step of a lesson: its text, its question, its figure, and the way to the next."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from kafkaviz import words
from kafkaviz.ui import state, workshop
from kafkaviz.ui.lessons import figures, handout, questions
from kafkaviz.ui.lessons.grammar import Block, Lesson, Step
from kafkaviz.ui.lessons.kinds import KINDS
from kafkaviz.ui.workshop import At
from kafkaviz.words import counted, say

WIDTHS = (0.425, 0.575)  # of text and figure
BESIDE = (0.5, 0.5)  # of text and question, above a figure that is wide


def step(found: Sequence[Lesson], here: At) -> None:
    """Text, question and figure; a wide figure has the page's width below them."""
    shown = figures.of_step(here)
    if any(KINDS[block.kind].is_wide for block in shown):
        left, right = st.columns(BESIDE, gap=40)
        with left:
            _head(found, here)
            _prose(here.step)
            _onward(found, here, shown)
        with right:
            questions.asked(here)
            _notes(found, here)
        st.space(20)
        figures.drawn(shown, here)
        return
    left, right = st.columns(WIDTHS, gap=40)
    with left:
        _head(found, here)
        _prose(here.step)
        questions.asked(here)
        _onward(found, here, shown)
    with right:
        figures.drawn(shown, here)
        _notes(found, here)


def _head(found: Sequence[Lesson], here: At) -> None:
    """Which step this is, and its heading."""
    where = say(
        "workshop.lesson_of",
        number=here.number + 1,
        count=len(found),
        step=here.part,
        steps=len(here.lesson.steps),
    )
    other = ""
    if here.lesson.language != words.language():
        spoken = words.LANGUAGES.get(here.lesson.language, here.lesson.language)
        other = f" · {say('workshop.only_in', language=spoken)}"
    above = f'<div class="kv-lab">{escape(where + other)}</div>'
    st.html(
        f'<div class="kv-lesson" lang="{here.lesson.language}">{above}'
        f"<h1>{escape(here.step.title)}</h1></div>"
    )


def _prose(step: Step) -> None:
    """The text of a step."""
    with st.container(key="kv_prose", gap=None):
        for one in step.parts:
            if isinstance(one, str):
                st.markdown(one)


def _notes(found: Sequence[Lesson], here: At) -> None:
    """For the teacher, where they are asked for."""
    if not st.query_params.get(state.NOTES):
        return
    st.space(16)
    handout.notes(here.step, _begins(found, here), sum(one.minutes for one in found))
    with st.expander(say("workshop.session", minutes=f"{sum(one.minutes for one in found):g}")):
        handout.session(found)


def _begins(found: Sequence[Lesson], here: At) -> float:
    """At which minute of the session this step begins."""
    return sum(one.minutes for one in found[: here.number]) + sum(
        step.minutes for step in here.lesson.steps[: here.part - 1]
    )


def _onward(found: Sequence[Lesson], here: At, shown: Sequence[Block]) -> None:
    """Back, next, the page where the figure can be changed; and how far the reader is."""
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_steps"):
        _back(_before(found, here))
        _next(_after(found, here), here)
        figures.elsewhere(shown, here)
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_progress"):
        _progress(found)


def _back(before: tuple[str, int] | None) -> None:
    look: dict[str, Any] = {
        "icon": ":material/arrow_back:",
        "shortcut": "b",
        "disabled": before is None,
    }
    st.button(say("workshop.back"), key="kv_back", on_click=workshop.go, args=before, **look)


def _next(after: tuple[str, int] | None, here: At) -> None:
    """Onward once the question is answered; a teacher need not answer.

    Behind the last step: the hand-out.
    """
    look: dict[str, Any] = {"type": "primary", "key": "kv_next", "shortcut": "n"}
    if after is None:
        st.button(say("workshop.finish"), on_click=workshop.switch, args=(state.PAPER,), **look)
        return
    label = say("workshop.next" if after[0] == here.lesson.name else "workshop.next_lesson")
    waits = not workshop.is_answered(here) and not st.query_params.get(state.NOTES)
    look |= {"icon": ":material/arrow_forward:", "icon_position": "right", "disabled": waits}
    st.button(label, on_click=workshop.go, args=after, **look)


def _progress(found: Sequence[Lesson]) -> None:
    """How many questions are answered, and a way to begin anew."""
    asked = [one for lesson in found for one in workshop.questions(lesson)]
    done = sum(one in workshop.answers() for one in asked)
    st.html(
        '<span class="kv-sm kv-fnt">'
        f"{escape(say('workshop.progress', done=done, count=len(asked)))}</span>",
        width="content",
    )
    _reset(len(workshop.answers()))


def _reset(count: int) -> None:
    """Begins anew; asks first where there are answers to forget. count: how many."""
    look: dict[str, Any] = {
        "icon": ":material/restart_alt:",
        "type": "tertiary",
        "help": say("workshop.reset_help"),
    }
    if not count:
        st.button(say("workshop.reset"), key="kv_reset", on_click=workshop.reset, **look)
        return
    # a popover of another key is another one, and closed
    times = st.session_state.get(workshop.RESETS, 0)
    with st.popover(say("workshop.reset"), key=f"kv_reset_asks_{times}", **look):
        st.markdown(counted("workshop.reset_asks", count, count=count))
        st.button(say("workshop.forget"), key="kv_reset", on_click=workshop.reset)


def _before(found: Sequence[Lesson], here: At) -> tuple[str, int] | None:
    if here.part > 1:
        return here.lesson.name, here.part - 1
    return (found[here.number - 1].name, len(found[here.number - 1].steps)) if here.number else None


def _after(found: Sequence[Lesson], here: At) -> tuple[str, int] | None:
    if here.part < len(here.lesson.steps):
        return here.lesson.name, here.part + 1
    return (found[here.number + 1].name, 1) if here.number + 1 < len(found) else None
