"""Workshop: lessons on how the three files work.

Each step has a live figure, a question to answer first, and tasks that are checked.
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz.app import lessons as lesson_files
from kafkaviz.app.frame import frame
from kafkaviz.app.lessons.grammar import Lesson, LessonFault
from kafkaviz.app.pages.workshop import handout, lesson_state
from kafkaviz.app.pages.workshop.lesson_state import LessonPosition
from kafkaviz.app.pages.workshop.step import render_step
from kafkaviz.app.state import page_state, session_language
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.glossary_view import render_glossary
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.messages import say

CSS = Path(__file__).with_name("workshop.css")


def render_page() -> None:
    """The strip of lessons, and one step of the chosen one or that lesson on paper.

    Or the sentence that says why there is none.
    """
    lesson_state.restore_address()
    lessons, faults = lesson_files.lessons(session_language.language())
    position = lesson_state.current_position(lessons) if lessons else None
    location = frame(
        "Workshop", lambda: _render_crumbs(lessons, position), lambda: _render_tools(position)
    )
    apply_print_style()
    st.html(f"<style>{_stylesheet()}</style>")
    _render_faults(faults)
    if position is None:
        with elements.empty(
            "lessons", say("workshop.no_lessons"), say("workshop.no_lessons_below"), level=1
        ):
            pass
    elif st.query_params.get(page_state.WORD):
        render_glossary({lesson.name: lesson.title for lesson in lessons}, location.address)
    elif st.query_params.get(page_state.PAPER):
        handout.render_handout(
            position, len(lessons), is_teacher=bool(st.query_params.get(page_state.NOTES))
        )
    else:
        _render_lesson_strip(lessons, position)
        render_step(lessons, position)
    lesson_state.remember_address()


@cache
def _stylesheet() -> str:
    return CSS.read_text(encoding="utf-8")


def _render_crumbs(lessons: Sequence[Lesson], position: LessonPosition | None) -> None:
    """Workshop › the lesson, which is a picker."""
    st.html(f'<span style="padding:0 8px">{escape(say("workshop.title"))}</span>', width="content")
    if position is None:
        return
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")
    names = {_numbered_title(number, lesson): lesson.name for number, lesson in enumerate(lessons)}
    label = st.menu_button(
        elements.escape_markdown(_numbered_title(position.number, position.lesson)),
        [*names],
        format_func=elements.escape_markdown,
        type="tertiary",
        key="kv_pick_lesson",
    )
    if label and names[label] != position.lesson.name:
        lesson_state.open_step(names[label], 1)
        st.rerun()


def _numbered_title(number: int, lesson: Lesson) -> str:
    return say("workshop.lesson_named", number=number + 1, title=lesson.title)


def _render_tools(position: LessonPosition | None) -> None:
    """The teacher's notes, the hand-out."""
    if position is not None:
        has_notes = bool(st.query_params.get(page_state.NOTES))
        icon = ":material/co_present:" if not has_notes else ":material/close:"
        st.button(
            say("workshop.notes"),
            icon=icon,
            type="tertiary",
            key="kv_notes",
            on_click=lesson_state.toggle_parameter,
            args=(page_state.NOTES,),
        )
        is_paper = bool(st.query_params.get(page_state.PAPER))
        label = say("workshop.lesson" if is_paper else "workshop.paper")
        st.button(
            label,
            icon=":material/print:",
            type="tertiary",
            key="kv_paper",
            on_click=lesson_state.toggle_parameter,
            args=(page_state.PAPER,),
        )


def _render_faults(faults: Sequence[LessonFault]) -> None:
    """Files that are no lessons, with the line."""
    if not faults:
        return
    files = len({fault.file for fault in faults})
    finding = say("workshop.broken_one") if files == 1 else say("workshop.broken", count=files)
    with elements.state("broken", "warning", finding, say("workshop.broken_below")):
        st.code("\n".join(map(str, faults[:20])), language=None)
    st.space(16)


def _render_lesson_strip(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """All lessons, those that are done marked; each a button."""
    with st.container(horizontal=True, gap=6, key="kv_lessons"):
        for number, lesson in enumerate(lessons):
            kind = (
                "on"
                if number == position.number
                else "done"
                if lesson_state.is_done(lesson)
                else "todo"
            )
            with st.container(key=f"kv_lesson_{kind}_{number}"):
                label = (
                    f"✓ {lesson.short}"
                    if kind != "todo" and lesson_state.is_done(lesson)
                    else lesson.short
                )
                st.button(
                    elements.escape_markdown(label),
                    type="tertiary",
                    key=f"kv_go_{number}",
                    on_click=lesson_state.open_step,
                    args=(lesson.name, 1),
                    help=None,
                    width="stretch",
                )
