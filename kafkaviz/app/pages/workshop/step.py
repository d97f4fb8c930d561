"""One step of a lesson: its text, its question, its figures, and the way to the next."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from kafkaviz import messages
from kafkaviz.app.frame import PAGES
from kafkaviz.app.lessons import glossary
from kafkaviz.app.lessons.grammar import Lesson, LessonBlock, NoValue
from kafkaviz.app.lessons.kinds import KINDS
from kafkaviz.app.lessons.live import LIVE
from kafkaviz.app.lessons.live.figure import current_step
from kafkaviz.app.pages.workshop import handout, lesson_state, questions
from kafkaviz.app.pages.workshop.lesson_state import LessonPosition
from kafkaviz.app.state import page_state
from kafkaviz.app.takeaway.downloads import render_downloads
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import say, say_count

WIDTHS = (0.425, 0.575)  # of text and figure
QUESTION_WIDTHS = (0.5, 0.5)  # of text and question, above a figure that is wide


def render_step(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Text, question and figure; a wide figure has the page's width below them."""
    figure_blocks = _step_figures(position)
    if any(KINDS[block.kind].is_wide for block in figure_blocks):
        left, right = st.columns(QUESTION_WIDTHS, gap=40)
        with left:
            _head(lessons, position)
            _prose(position)
            _navigation(lessons, position, figure_blocks)
        with right:
            questions.render_questions(position)
            _notes(lessons, position)
        st.space(20)
        _render_figures(figure_blocks, position)
        return
    left, right = st.columns(WIDTHS, gap=40)
    with left:
        _head(lessons, position)
        _prose(position)
        questions.render_questions(position)
        _navigation(lessons, position, figure_blocks)
    with right:
        _render_figures(figure_blocks, position)
        _notes(lessons, position)


def _head(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """Which step this is, and its heading."""
    position_text = say(
        "workshop.lesson_of",
        number=position.number + 1,
        count=len(lessons),
        step=position.part,
        steps=len(position.lesson.steps),
    )
    language_note = ""
    if position.lesson.language != messages.language():
        language_name = messages.LANGUAGES.get(position.lesson.language, position.lesson.language)
        language_note = f" · {say('workshop.only_in', language=language_name)}"
    label_html = f'<div class="kv-lab">{escape(position_text + language_note)}</div>'
    st.html(
        f'<div class="kv-lesson" lang="{position.lesson.language}">{label_html}'
        f"<h1>{escape(position.step.title)}</h1></div>"
    )


def _prose(position: LessonPosition) -> None:
    """The text of a step; a sign behind it explains the words that its lesson teaches."""
    with st.container(key="kv_prose", gap=None):
        for part in position.step.parts:
            if isinstance(part, str):
                st.markdown(part, help=_word_help(position.lesson.name, part))


def _word_help(lesson: str, text: str) -> str | None:
    terms = glossary.taught_terms(lesson, text)
    lines = (say("workshop.labelled", label=term.short_name, text=term.meaning) for term in terms)
    return "\n\n".join(lines) or None


def _notes(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """For the teacher, where they are asked for."""
    if not st.query_params.get(page_state.NOTES):
        return
    st.space(16)
    handout.notes(
        position.step, _begin_minute(lessons, position), sum(lesson.minutes for lesson in lessons)
    )
    with st.expander(
        say("workshop.session", minutes=f"{sum(lesson.minutes for lesson in lessons):g}")
    ):
        handout.session_plan(lessons)


def _begin_minute(lessons: Sequence[Lesson], position: LessonPosition) -> float:
    """At which minute of the session this step begins."""
    return sum(lesson.minutes for lesson in lessons[: position.number]) + sum(
        step.minutes for step in position.lesson.steps[: position.part - 1]
    )


def _navigation(
    lessons: Sequence[Lesson], position: LessonPosition, figure_blocks: Sequence[LessonBlock]
) -> None:
    """Back, next, the page where the figure can be changed; and how far the reader is."""
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_steps"):
        _back_button(_previous_step(lessons, position))
        _next_button(_next_step(lessons, position), position)
        _render_page_link(figure_blocks, position)
    with st.container(horizontal=True, gap=8, vertical_alignment="center", key="kv_progress"):
        _progress(lessons)
        _to_keep(lessons, position)


def _to_keep(lessons: Sequence[Lesson], position: LessonPosition) -> None:
    """The glossary, and what there is to take away."""
    st.button(
        say("glossary.title"),
        icon=":material/dictionary:",
        type="tertiary",
        key="kv_glossary_open",
        on_click=lesson_state.open_glossary,
    )
    render_downloads(lessons, position.number)


def _back_button(previous: tuple[str, int] | None) -> None:
    arguments: dict[str, Any] = {
        "icon": ":material/arrow_back:",
        "shortcut": "b",
        "disabled": previous is None,
    }
    st.button(
        say("workshop.back"),
        key="kv_back",
        on_click=lesson_state.open_step,
        args=previous,
        **arguments,
    )


def _next_button(next_step: tuple[str, int] | None, position: LessonPosition) -> None:
    """Onward once the question is answered; a teacher need not answer.

    Behind the last step: the hand-out.
    """
    arguments: dict[str, Any] = {"type": "primary", "key": "kv_next", "shortcut": "n"}
    if next_step is None:
        st.button(
            say("workshop.finish"),
            on_click=lesson_state.toggle_parameter,
            args=(page_state.PAPER,),
            **arguments,
        )
        return
    label = say("workshop.next" if next_step[0] == position.lesson.name else "workshop.next_lesson")
    is_waiting = not lesson_state.is_answered(position) and not st.query_params.get(
        page_state.NOTES
    )
    arguments |= {
        "icon": ":material/arrow_forward:",
        "icon_position": "right",
        "disabled": is_waiting,
    }
    st.button(label, on_click=lesson_state.open_step, args=next_step, **arguments)


def _progress(lessons: Sequence[Lesson]) -> None:
    """How many questions are answered, and a way to begin anew."""
    question_keys = [
        question_key for lesson in lessons for question_key in lesson_state.questions(lesson)
    ]
    answer_count = sum(question_key in lesson_state.answers() for question_key in question_keys)
    st.html(
        '<span class="kv-sm kv-fnt">'
        f"{escape(say('workshop.progress', done=answer_count, count=len(question_keys)))}</span>",
        width="content",
    )
    _reset(len(lesson_state.answers()))


def _reset(count: int) -> None:
    """Begins anew; asks first where there are answers to forget.

    Args:
        count: how many.
    """
    arguments: dict[str, Any] = {
        "icon": ":material/restart_alt:",
        "type": "tertiary",
        "help": say("workshop.reset_help"),
    }
    if not count:
        st.button(
            say("common.start_again"), key="kv_reset", on_click=lesson_state.reset, **arguments
        )
        return
    # a popover of another key is another one, and closed
    reset_count = st.session_state.get(lesson_state.RESETS, 0)
    with st.popover(say("common.start_again"), key=f"kv_reset_asks_{reset_count}", **arguments):
        st.markdown(say_count("workshop.reset_asks", count, count=count))
        st.button(say("workshop.forget"), key="kv_reset", on_click=lesson_state.reset)


def _previous_step(lessons: Sequence[Lesson], position: LessonPosition) -> tuple[str, int] | None:
    if position.part > 1:
        return position.lesson.name, position.part - 1
    return (
        (lessons[position.number - 1].name, len(lessons[position.number - 1].steps))
        if position.number
        else None
    )


def _next_step(lessons: Sequence[Lesson], position: LessonPosition) -> tuple[str, int] | None:
    if position.part < len(position.lesson.steps):
        return position.lesson.name, position.part + 1
    return (lessons[position.number + 1].name, 1) if position.number + 1 < len(lessons) else None


# ---- figures


def _step_figures(position: LessonPosition) -> list[LessonBlock]:
    """The blocks of a step that are figures."""
    return [block for block in position.step.blocks() if block.kind in LIVE]


def _render_figures(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    """All of them; one that would reveal the answer waits for it."""
    is_answered = lesson_state.is_answered(position)
    for number, block in enumerate(figures):
        if number:
            st.space(16)
        is_open = (
            lesson_state.is_solved(position)
            if block["after"] == "task"
            else is_answered or not block["after"]
        )
        _figure(block, _figure_key(position, number), is_open=is_open, is_answered=is_answered)


def _figure_key(position: LessonPosition, number: int) -> str:
    """What distinguishes a figure from all others: its lesson, its step, its number there.

    It is the name of a stepper in the address, too.
    """
    return f"{position.lesson.name}_{position.part}_{number}"


def _figure(block: LessonBlock, key: str, *, is_open: bool, is_answered: bool) -> None:
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
        return questions.render_fault(fault, key)
    draw = kind.draw if is_answered else kind.question or kind.draw
    draw(figure, block, key)


def _render_page_link(figures: Sequence[LessonBlock], position: LessonPosition) -> None:
    """The page where the first figure can be looked at further.

    A stepper is at the step where it stands.
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
                    query_params=query | current_step(_figure_key(position, number)),
                )
            return
