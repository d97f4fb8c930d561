"""The Workshop page: lessons on how the three files work."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.frame import frame
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import session_language
from kafkaviz.app.widgets import elements, projector
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.messages import say
from kafkaviz.workshop import lesson_address, lesson_state
from kafkaviz.workshop import lessons as lesson_files
from kafkaviz.workshop.classroom import class_bar, class_seat
from kafkaviz.workshop.lesson_address import open_step
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons.grammar import SHORT, Lesson, LessonBlock, LessonFault
from kafkaviz.workshop.page.glossary_view import render_glossary
from kafkaviz.workshop.page.step import render_back, render_lab, render_next, render_step
from kafkaviz.workshop.page.teacher_notes import follow, notes_button, render_notes
from kafkaviz.workshop.takeaway.handouts import render_handout

CSS = Path(__file__).with_name("workshop.css")


@in_turn
def render_page() -> None:
    """Draws one step, the glossary, the hand-out or a lab; without lessons, a notice."""
    lesson_state.restore_address()
    class_seat.follow()
    lessons, faults = lesson_files.lessons(session_language.language())
    position = lesson_state.current_position(lessons) if lessons else None
    location = frame(
        "Workshop", lambda: _render_crumbs(lessons, position), lambda: _render_tools(position)
    )
    apply_print_style()
    st.html(f"<style>{_stylesheet()}{class_bar.stylesheet()}</style>")
    _render_faults(faults)
    if position is None:
        with elements.empty(
            "lessons", say("workshop.no_lessons"), say("workshop.no_lessons_below"), level=1
        ):
            pass
    elif st.query_params.get(lesson_address.WORD):
        render_glossary({lesson.name: lesson.title for lesson in lessons}, location.address)
    elif st.query_params.get(page_state.PAPER):
        render_handout(
            position, len(lessons), is_teacher=bool(st.query_params.get(lesson_address.NOTES))
        )
    else:
        lab_block = _shown_lab(position)
        if lab_block is not None:  # no fragment: other learners do not wait for a lab's trials
            with st.container(key="kv_body", gap=None):
                _render_top(lessons, position)
                render_lab(lessons, position, lab_block)
        else:
            class_bar.render_part("kv_class_body", lambda: _render_body(lessons))
        _follow(position)
    projector.apply()
    class_bar.render_link()
    lesson_state.remember_address()


def _render_body(lessons: Sequence[Lesson]) -> None:
    """Draws the class, the navigation and the step, after reading the address again."""
    class_seat.follow()
    position = lesson_state.current_position(lessons)
    with st.container(key="kv_body", gap=None):  # a fragment has gaps of its own
        _render_top(lessons, position)
        if st.query_params.get(lesson_address.NOTES):
            render_notes(lessons, position)
        else:
            render_step(lessons, position)
    lesson_state.remember_address()
    class_bar.keep_whole(position.lesson.name, lesson_state.track())


def _shown_lab(position: LessonPosition) -> LessonBlock | None:
    is_shown = lesson_state.is_lab_open(position.lesson) and not st.query_params.get(
        lesson_address.NOTES
    )
    return lesson_state.lab_block(position.lesson) if is_shown else None


def _render_top(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    _render_class(position)
    _render_navigation(lessons, position)


def _render_class(position: LessonPosition) -> None:
    step_key = (position.lesson.name, position.part)
    step = position.step
    class_seat.lead(step_key)
    class_bar.render_strip(
        class_bar.ClassStep(
            step_key,
            has_question=bool(step.blocks("predict")),
            has_task=bool(step.blocks("exercise")),
        )
    )


def _follow(position: LessonPosition) -> None:
    """Opens the step that the teacher's other window shows.

    In a class both windows follow the class instead, because a late message would lead it back.
    """
    if not class_seat.is_teacher():
        follow(lesson_state.step_name(position), lesson_state.open_named_step)


@cache
def _stylesheet() -> str:
    return CSS.read_text(encoding="utf-8")


def _render_fold() -> None:
    """Draws the button for the list of pages, which is hidden to leave more room for figures."""
    is_shown = st.session_state.get(lesson_address.PAGES_SHOWN, False)
    st.button(
        say("stage.pages"),
        icon=f":material/{'left_panel_close' if is_shown else 'left_panel_open'}:",
        type="tertiary",
        key="kv_fold",
        help=say("stage.pages_help"),
        on_click=_toggle_pages,
    )
    if not is_shown:
        st.html('<span class="kv-folded" hidden></span>', width="content")


def _toggle_pages() -> None:
    is_shown = st.session_state.get(lesson_address.PAGES_SHOWN, False)
    st.session_state[lesson_address.PAGES_SHOWN] = not is_shown


def _render_crumbs(lessons: Sequence[Lesson], position: LessonPosition | None) -> None:
    _render_fold()
    st.html(f'<span style="padding:0 8px">{escape(say("workshop.title"))}</span>', width="content")
    if position is None:
        return
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")
    _render_track_picker(lessons)
    class_bar.set_picker_track(lesson_state.track())
    st.html('<span class="kv-sep" aria-hidden="true">›</span>', width="content")
    class_bar.render_part("kv_class_crumb", lambda: _render_lesson_picker(lessons))


def _render_lesson_picker(lessons: Sequence[Lesson]) -> None:
    """Draws the menu of lessons. It reads the current lesson from the address again."""
    class_seat.follow()
    position = lesson_state.current_position(lessons)
    class_bar.set_picker_lesson(position.lesson.name)
    names = {
        _numbered_title(number, lesson): lesson
        for number, lesson in enumerate(lessons)
        if lesson_state.parts(lesson)
    }
    label = st.menu_button(
        elements.escape_markdown(_numbered_title(position.number, position.lesson)),
        [*names],
        format_func=elements.escape_markdown,
        type="tertiary",
        key="kv_pick_lesson",
    )
    if label and names[label] is not position.lesson:
        open_step(names[label].name, lesson_state.parts(names[label])[0])
        st.rerun()


def _render_track_picker(lessons: Sequence[Lesson]) -> None:
    """Draws the menu for the track: all steps, or those of a session of half the time."""
    tracks = [
        name for name in ("", SHORT) if any(lesson_state.parts(lesson, name) for lesson in lessons)
    ]
    current_minutes = f"{lesson_state.minutes(lessons):g}"
    name = st.menu_button(
        say("track.minutes", minutes=current_minutes),
        tracks,
        format_func=lambda name: _track_label(lessons, name),
        type="tertiary",
        key="kv_pick_track",
        help=say("track.help"),
    )
    if name is not None and name != lesson_state.track():
        lesson_state.set_track(name)
        st.rerun()


def _track_label(lessons: Sequence[Lesson], name: str) -> str:
    return say(
        f"track.{name or 'long'}",
        steps=sum(len(lesson_state.parts(lesson, name)) for lesson in lessons),
        minutes=f"{lesson_state.minutes(lessons, name):g}",
    )


def _numbered_title(number: int, lesson: Lesson) -> str:
    return say("workshop.lesson_named", number=number + 1, title=lesson.title)


def _render_tools(position: LessonPosition | None) -> None:
    if position is not None:
        is_paper = bool(st.query_params.get(page_state.PAPER))
        has_notes = bool(st.query_params.get(lesson_address.NOTES))
        if is_paper or has_notes:
            st.button(
                say("workshop.notes"),
                icon=":material/close:" if has_notes else ":material/co_present:",
                type="tertiary",
                key="kv_notes",
                on_click=lesson_state.toggle_parameter,
                args=(lesson_address.NOTES,),
            )
        else:
            class_bar.render_button()
            projector.render_button()
            if not class_seat.is_learner():
                notes_button()
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
    """Draws the faults of lesson files that cannot be parsed, each with its line."""
    if not faults:
        return
    files = len({fault.file for fault in faults})
    finding = say("workshop.broken_one") if files == 1 else say("workshop.broken", count=files)
    with elements.state("broken", "warning", finding, say("workshop.broken_below")):
        st.code("\n".join(map(str, faults[:20])), language=None)
    st.space(16)


def _render_navigation(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    with st.container(key="kv_steps", horizontal=True, gap=12, vertical_alignment="center"):
        render_back(lessons, position)
        _render_lesson_strip(lessons, position)
        render_next(lessons, position)


def _render_lesson_strip(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    with st.container(horizontal=True, gap=6, key="kv_lessons"):
        for number, lesson in enumerate(lessons):
            parts = lesson_state.parts(lesson)
            if not parts:
                continue
            is_done = lesson_state.is_done(lesson)
            if number == position.number:
                kind = "on"
            elif is_done:
                kind = "done"
            else:
                kind = "todo"
            with st.container(key=f"kv_lesson_{kind}_{number}"):
                label = f"✓ {lesson.short}" if is_done else lesson.short
                st.button(
                    elements.escape_markdown(label),
                    type="tertiary",
                    key=f"kv_go_{number}",
                    on_click=open_step,
                    args=(lesson.name, parts[0]),
                    help=None,
                    width="stretch",
                )
