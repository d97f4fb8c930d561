"""The teacher's second window: notes for a step, the next step, the clock and the plan."""

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets.tables import table
from kafkaviz.messages import say
from kafkaviz.workshop import lesson_state
from kafkaviz.workshop.figures.figure import render
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons.grammar import Lesson
from kafkaviz.workshop.takeaway.handouts import notes


def render_notes(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    begin = lesson_state.begin_minute(lessons, position)
    total = lesson_state.minutes(lessons)
    step_text = lesson_state.position_text(lessons, position)
    with st.container(key="kv_notes_view", gap=16):
        st.html(
            f'<div class="kv-lesson"><div class="kv-lab">{escape(step_text)}</div>'
            f"<h1>{escape(position.step.title)}</h1></div>"
        )
        session_clock(begin, begin + position.step.minutes, total)
        render([notes(position.step, begin, total)])
        _coming(lessons, position)
        with st.expander(say("workshop.session", minutes=f"{total:g}")):
            session_plan(lessons, position.number)


def _coming(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    following = lesson_state.next_step(lessons, position)
    with st.container(key="kv_coming", gap=4):
        if following is None:
            st.markdown(say("stage.next_none"))
            return
        lesson = next(lesson for lesson in lessons if lesson.name == following[0])
        step = lesson.steps[following[1] - 1]
        label = (
            say("stage.next")
            if lesson is position.lesson
            else say("stage.next_lesson", title=lesson.title)
        )
        st.html(
            f'<div class="kv-lab">{escape(label)} · '
            f"{escape(say('workshop.about_minutes', minutes=f'{step.minutes:g}'))}</div>"
            f'<p class="kv-next">{escape(step.title)}</p>'
        )
        for block in step.blocks("predict", "exercise")[:1]:
            st.markdown(say("stage.asks", text=block["ask"]))


def session_plan(lessons: Sequence[Lesson], current: int) -> None:
    """Draws a table of the lessons with the minute at which each begins, the current one marked."""
    heads = [say(f"workshop.{name}") for name in ("begins", "title", "needs", "questions")]
    rows = []
    begin = 0.0
    for lesson in lessons:
        rows.append(
            (
                f"{begin:g}",
                lesson.title,
                f"{lesson_state.minutes([lesson]):g}",
                str(len(lesson_state.questions(lesson))),
            )
        )
        begin += lesson_state.minutes([lesson])
    table(heads, rows, "rlrr", current)


_notes_button, _follow, _clock = map(
    register_component, ("notes_button", "follow", "session_clock")
)
FOLLOWER = "kv_follow"


def notes_button() -> None:
    """Draws a button that opens this page with ?notes=1 in a second window.

    From then on each window follows the other, see `follow`.
    """
    _notes_button(
        key="kv_notes_window",
        data={"words": messages.table("stage")},
        width="content",
        height="content",
    )


def follow(place: str, on_place: Callable[[str], None]) -> None:
    """Sends this window's location to the teacher's other window and receives that of the other.

    Args:
        place: the location shown in this window.
        on_place: called with the other window's location when it changes.
    """

    def follow() -> None:
        other_place = (st.session_state.get(FOLLOWER) or {}).get("place")
        if other_place:
            on_place(other_place)

    _follow(
        key=FOLLOWER,
        data={"place": place},
        on_place_change=follow,
        width="content",
        height="content",
    )


def session_clock(first: float, last: float, total: float) -> None:
    """Draws the minutes since the session began, next to the plan.

    Args:
        first, last: the minutes planned for this step.
        total: the planned length of the session in minutes.
    """
    _clock(
        key="kv_session_clock",
        data={"plan": [first, last, total], "words": messages.table("stage")},
        width="stretch",
        height="content",
    )
