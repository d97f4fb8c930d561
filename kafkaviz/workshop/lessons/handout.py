"""The printed form of a lesson.

Each step has its figure as text and numbers, and its questions with boxes. The answers are on a
separate page.
"""

from html import escape

import streamlit as st

from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.text.sentences import describe_error, join_comma
from kafkaviz.messages import say
from kafkaviz.workshop import lesson_state
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons import exercise, tasks
from kafkaviz.workshop.lessons.grammar import LETTERS, Lesson, LessonBlock, LessonStep, NoValue

# the proportions of A4, at the width of the sheet on screen
PAPER = "@page { size: 984px 1392px; margin: 56px 32px; }"


def render_handout(position: LessonPosition, count: int, *, is_teacher: bool) -> None:
    """Draws a lesson for printing.

    Args:
        count: the number of lessons.
        is_teacher: whether the teacher's notes are included.
    """
    lesson = position.lesson
    st.html(f"<style>{PAPER}</style>")
    with st.container(key="kv_paper_head", horizontal=True, vertical_alignment="center", gap=16):
        print_page(say("workshop.print"))
        st.html(f'<span class="kv-sm kv-fnt">{escape(say("workshop.print_below"))}</span>')
    with st.container(key="kv_sheet", gap=None):
        session_text = say(
            "workshop.lesson_of_session",
            number=position.number + 1,
            count=count,
            minutes=f"{lesson_state.minutes([lesson]):g}",
        )
        st.html(
            f'<div class="kv-lab">{escape(session_text)}</div><div class="kv-lesson">'
            f"<h1>{escape(lesson.title)}</h1></div>"
        )
        st.html(f'<p class="kv-name">{escape(say("workshop.name_line"))}<i></i></p>')
        st.markdown(lesson.about)
        for part in lesson_state.parts(lesson):
            _step(lesson.steps[part - 1], part, lesson, is_teacher=is_teacher)
    with st.container(key="kv_sheet_answers", gap=None):
        st.html(f'<h2 class="kv-h2">{escape(say("workshop.answers"))}</h2>')
        for part in lesson_state.parts(lesson):
            step = lesson.steps[part - 1]
            for number, block in enumerate(step.blocks()):
                if block.kind in ("predict", "exercise"):
                    _answer(block, part)
                elif block.kind == "misleads" and step.blocks("predict"):
                    _misconception(block)
                elif block.kind in LIVE and _reveals_answer(block, step):
                    _figure(block, f"paper_{lesson.name}_{part}_{number}")


def _step(step: LessonStep, part: int, lesson: Lesson, *, is_teacher: bool) -> None:
    with st.container(key=f"kv_sheet_step_{part}", gap=10):
        st.html(f'<h2 class="kv-h2">{part} · {escape(step.title)}</h2>')
        for number, element in enumerate(step.parts):
            if isinstance(element, str):
                st.markdown(element)
            elif element.kind in LIVE and not _reveals_answer(element, step):
                _figure(element, f"paper_{lesson.name}_{part}_{number}")
            elif element.kind == "predict":
                _question(element, f"{part}_{number}")
            elif element.kind == "exercise":
                _task(element)
            elif element.kind == "misleads" and not step.blocks("predict"):
                _misconception(element)
        if is_teacher:
            notes(step)


def _reveals_answer(block: LessonBlock, step: LessonStep) -> bool:
    """Returns whether a figure would reveal an answer of its step.

    Such a figure is hidden on screen until the answer, or shows the lookup that the exercise asks
    about.
    """
    lookups = (
        (exercise["set"], exercise["target"])
        for exercise in step.blocks("exercise")
        if exercise["set"]
    )
    return bool(block["after"]) or (
        block.kind == "stepper" and (block["set"], block["target"]) in lookups
    )


def _misconception(block: LessonBlock) -> None:
    quote = say("workshop.quoted", text=block["said"])
    st.markdown(say("workshop.labelled", label=say("workshop.often_said"), text=quote))
    st.markdown(say("workshop.what_is_so_since", versions=block["versions"], text=block["so"]))


def _figure(block: LessonBlock, key: str) -> None:
    kind = LIVE[block.kind]
    try:
        figure = kind.make(block)
    except (KafkavizError, NoValue) as fault:
        st.html(f"<p>{escape(describe_error(fault))}</p>")
        return
    (kind.paper or kind.draw)(figure, block, key)


def _question(block: LessonBlock, key: str) -> None:
    boxes = "".join(
        _box(LETTERS[index].upper(), text) for index, (text, _) in enumerate(block.choices)
    )
    with st.container(key=f"kv_sheet_asked_{key}", gap=4):
        st.markdown(f"**{block['ask']}**")
        st.html(f'<ul class="kv-boxes">{boxes}</ul>')


def _box(letter: str, text: str) -> str:
    return f"<li><i></i><b>{letter}</b>&ensp;{escape(text.replace('`', ''))}</li>"


def _task(block: LessonBlock) -> None:
    st.markdown(say("workshop.exercise_asks", text=block["ask"]))
    try:
        task = tasks.task(block)
    except (KafkavizError, NoValue):
        return
    if task.bytes_text:
        st.html(f'<div class="kv-given">{escape(task.bytes_text)}</div>')
    if task.kind == tasks.RULE:
        st.html(f'<p class="kv-sm kv-fnt">{escape(exercise.describe_pieces())}</p>')
    st.html(f'<p class="kv-name">{escape(say("workshop.your_answer"))}<i></i></p>')


def _answer(block: LessonBlock, part: int) -> None:
    if block.kind == "predict":
        right_letters = join_comma(
            LETTERS[index].upper() for index, (_, is_right) in enumerate(block.choices) if is_right
        )
        st.markdown(say("workshop.answer_to", step=part, name=right_letters, text=block["reveal"]))
        return
    rule = f" `{block['rule']}`" if block["rule"] else ""
    st.markdown(
        say(
            "workshop.answer_to",
            step=part,
            name=say("workshop.exercise"),
            text=f"{block['solution']}{rule}",
        )
    )


# ---- teacher's notes


def notes(step: LessonStep, begin: float | None = None, total: float = 0) -> None:
    """Draws the teacher's notes of a step.

    Args:
        begin: the minute of the session at which the step begins.
        total: the length of the session in minutes.
    """
    with st.container(key=f"kv_teacher_{step.line}", gap=4):
        minutes = f"{step.minutes:g}"
        time_text = say("workshop.about_minutes", minutes=minutes)
        if begin is not None:
            time_text = say(
                "workshop.minute_range",
                first=f"{begin:g}",
                last=f"{begin + step.minutes:g}",
                total=f"{total:g}",
                minutes=minutes,
            )
        st.html(
            f'<div class="kv-lab">{elements.icon("co_present", small=True)} '
            f"{escape(say('workshop.teacher'))} · {escape(time_text)}</div>"
        )
        for block in step.blocks("notes"):
            for name in ("say", "watch"):
                for text in block[name]:
                    st.markdown(say("workshop.labelled", label=say(f"workshop.{name}"), text=text))


_print_page = register_component("print_page")


def print_page(label: str) -> None:
    _print_page(key="kv_print_page", data={"label": label}, width="content", height="content")
