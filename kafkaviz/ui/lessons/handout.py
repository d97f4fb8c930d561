"""A lesson as it is printed: each step with its figure in words and numbers, questions with boxes,
answers on a page of their own.
"""

from collections.abc import Sequence
from html import escape

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.figures.listed import listed
from kafkaviz.ui import parts, rules, workshop
from kafkaviz.ui.components.print_page import print_page
from kafkaviz.ui.lessons import tasks
from kafkaviz.ui.lessons.grammar import Block, Lesson, NoValue, Step
from kafkaviz.ui.lessons.live import LIVE
from kafkaviz.ui.tables import table
from kafkaviz.ui.workshop import LETTERS, At
from kafkaviz.words import say

# in the proportions of A4, as wide as the sheet is on the screen
PAPER = "@page { size: 984px 1392px; margin: 56px 32px; }"

LOOKUPS = ("stepper", "lanes", "why")  # figures that show a lookup to its end


def show(here: At, count: int, is_teacher: bool) -> None:
    """The lesson to be printed. is_teacher: with the notes."""
    lesson = here.lesson
    st.html(f"<style>{PAPER}</style>")
    with st.container(key="kv_paper_head", horizontal=True, vertical_alignment="center", gap=16):
        print_page(say("workshop.print"))
        st.html(f'<span class="kv-sm kv-fnt">{escape(say("workshop.print_below"))}</span>')
    with st.container(key="kv_sheet", gap=None):
        of = say(
            "workshop.lesson_of_session",
            number=here.number + 1,
            count=count,
            minutes=f"{lesson.minutes:g}",
        )
        st.html(
            f'<div class="kv-lab">{escape(of)}</div><div class="kv-lesson">'
            f"<h1>{escape(lesson.title)}</h1></div>"
        )
        st.html(f'<p class="kv-name">{escape(say("workshop.name_line"))}<i></i></p>')
        st.markdown(lesson.about)
        for part, step in enumerate(lesson.steps, 1):
            _step(step, part, lesson, is_teacher)
    with st.container(key="kv_sheet_answers", gap=None):
        st.html(f'<h2 class="kv-h2">{escape(say("workshop.answers"))}</h2>')
        for part, step in enumerate(lesson.steps, 1):
            for number, block in enumerate(step.blocks()):
                if block.kind in ("predict", "exercise"):
                    _answer(block, part)
                elif block.kind == "misleads" and step.blocks("predict"):
                    _misleads(block)
                elif block.kind in LIVE and _tells(block, step):
                    _figure(block, f"paper_{lesson.name}_{part}_{number}")


def _step(step: Step, part: int, lesson: Lesson, is_teacher: bool) -> None:
    with st.container(key=f"kv_sheet_step_{part}", gap=10):
        st.html(f'<h2 class="kv-h2">{part} · {escape(step.title)}</h2>')
        for number, one in enumerate(step.parts):
            if isinstance(one, str):
                st.markdown(one)
            elif one.kind in LIVE and not _tells(one, step):
                _figure(one, f"paper_{lesson.name}_{part}_{number}")
            elif one.kind == "predict":
                _question(one, f"{part}_{number}")
            elif one.kind == "exercise":
                _task(one)
            elif one.kind == "misleads" and not step.blocks("predict"):
                _misleads(one)
        if is_teacher:
            notes(step)


def _tells(block: Block, step: Step) -> bool:
    """Whether a figure would tell what its step asks: it waits on the screen, or is the whole of a
    lookup that the exercise asks about.
    """
    asked = ((one["set"], one["target"]) for one in step.blocks("exercise") if one["set"])
    return bool(block["after"]) or (
        block.kind in LOOKUPS and (block["set"], block["target"]) in asked
    )


def _misleads(block: Block) -> None:
    said = say("workshop.quoted", text=block["said"])
    st.markdown(say("workshop.labelled", label=say("workshop.often_said"), text=said))
    st.markdown(say("workshop.what_is_so_since", versions=block["versions"], text=block["so"]))


def _figure(block: Block, key: str) -> None:
    kind = LIVE[block.kind]
    try:
        made = kind.make(block)
    except (KafkavizError, NoValue) as fault:
        st.html(f"<p>{escape(fault_words.told(fault))}</p>")
        return
    (kind.paper or kind.draw)(made, block, key)


def _question(block: Block, key: str) -> None:
    boxes = "".join(
        _box(LETTERS[place].upper(), text)
        for place, (text, _) in enumerate(workshop.choices(block))
    )
    with st.container(key=f"kv_sheet_asked_{key}", gap=4):
        st.markdown(f"**{block['ask']}**")
        st.html(f'<ul class="kv-boxes">{boxes}</ul>')


def _box(letter: str, text: str) -> str:
    return f"<li><i></i><b>{letter}</b>&ensp;{escape(text.replace('`', ''))}</li>"


def _task(block: Block) -> None:
    st.markdown(say("workshop.exercise_asks", text=block["ask"]))
    try:
        of = tasks.task(block)
    except (KafkavizError, NoValue):
        return
    if of.given:
        st.html(f'<div class="kv-given">{escape(of.given)}</div>')
    if of.by == tasks.RULE:
        st.html(
            '<p class="kv-sm kv-fnt">'
            f"{escape(say('workshop.rule_words', grammar=rules.grammar()))}</p>"
        )
    st.html(f'<p class="kv-name">{escape(say("workshop.your_answer"))}<i></i></p>')


def _answer(block: Block, part: int) -> None:
    if block.kind == "predict":
        right = listed(
            LETTERS[place].upper()
            for place, (_, is_right) in enumerate(workshop.choices(block))
            if is_right
        )
        st.markdown(say("workshop.answer_to", step=part, name=right, text=block["reveal"]))
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


# ---- for the teacher


def notes(step: Step, begin: float | None = None, total: float = 0) -> None:
    """The notes of a step; begin: the minute of the session where it begins."""
    with st.container(key=f"kv_teacher_{step.line}", gap=4):
        minutes = f"{step.minutes:g}"
        when = say("workshop.about_minutes", minutes=minutes)
        if begin is not None:
            when = say(
                "workshop.minute_range",
                first=f"{begin:g}",
                last=f"{begin + step.minutes:g}",
                total=f"{total:g}",
                minutes=minutes,
            )
        st.html(
            f'<div class="kv-lab">{parts.icon("co_present", True)} '
            f"{escape(say('workshop.teacher'))} · {escape(when)}</div>"
        )
        for block in step.blocks("notes"):
            for name in ("say", "watch"):
                for text in block[name]:
                    st.markdown(say("workshop.labelled", label=say(f"workshop.{name}"), text=text))


def session(found: Sequence[Lesson]) -> None:
    """All lessons with the minute at which each begins."""
    heads = [say(f"workshop.{name}") for name in ("begins", "title", "needs", "questions")]
    rows, begin = [], 0.0
    for lesson in found:
        rows.append(
            (
                f"{begin:g}",
                lesson.title,
                f"{lesson.minutes:g}",
                str(len(workshop.questions(lesson))),
            )
        )
        begin += lesson.minutes
    table(heads, rows, "rlrr")
