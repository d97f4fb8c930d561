"""The hand-outs of all lessons as one HTML file for printing.

The answers are at the end of the file. An edition without answers, and one with teacher's notes,
are separate files.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import streamlit as st

from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import language, say
from kafkaviz.render.sentences import describe_error, join_comma
from kafkaviz.report.html import brand
from kafkaviz.workshop import lesson_state
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.figures.figure import Group, Markdown, Part, render
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons import exercise, tasks
from kafkaviz.workshop.lessons.grammar import LETTERS, Lesson, LessonBlock, LessonStep
from kafkaviz.workshop.takeaway.page_file import PageFile


class HandoutEdition(Enum):
    """An edition of the hand-outs. The value is part of the file name."""

    ANSWERS = ""
    QUESTIONS = "-questions"
    NOTES = "-notes"

    @property
    def has_answers(self) -> bool:
        return self is not HandoutEdition.QUESTIONS


_print_page = register_component("print_page")
# a page in the proportions of A4, as wide as the sheet on screen
PAPER = "@page { size: 984px 1392px; margin: 56px 32px; }"


def render_handout(position: LessonPosition, count: int, *, is_teacher: bool) -> None:
    """Draws the printed form of a lesson on the page."""
    elements.draw_style(PAPER)
    with st.container(key="kv_paper_head", horizontal=True, vertical_alignment="center", gap=16):
        label = say("workshop.print")
        _print_page(key="kv_print_page", data={"label": label}, width="content")
        st.html(tag("span", say("workshop.print_below"), class_="kv-sm kv-fnt"))
    render(sheets(position, count, is_teacher=is_teacher))


def sheets(position: LessonPosition, count: int, *, is_teacher: bool) -> tuple[Group, Group]:
    """Returns the printed form of a lesson: the sheet with questions, and the answers.

    With `is_teacher`, the first sheet includes the teacher's notes.
    """
    lesson = position.lesson
    minutes = f"{lesson_state.minutes([lesson]):g}"
    session_text = say(
        "workshop.lesson_of_session", number=position.number + 1, count=count, minutes=minutes
    )
    title = tag("div", tag("h1", lesson.title), class_="kv-lesson")
    head: list[Part] = [
        join((tag("div", session_text, class_="kv-lab"), title)),
        tag("p", say("workshop.name_line"), tag("i"), class_="kv-name"),
        Markdown(lesson.about),
    ]
    steps = [
        _step(lesson.steps[part - 1], part, lesson, is_teacher=is_teacher)
        for part in lesson_state.parts(lesson)
    ]
    answers: list[Part] = [tag("h2", say("workshop.answers"), class_="kv-h2")]
    for part in lesson_state.parts(lesson):
        step = lesson.steps[part - 1]
        for number, block in enumerate(step.blocks()):
            if block.kind in ("predict", "exercise"):
                answers.append(_answer(block, part))
            elif block.kind == "misleads" and step.blocks("predict"):
                answers += _misconception(block)
            elif block.kind in LIVE and _reveals_answer(block, step):
                answers += _figure(block, f"paper_{lesson.name}_{part}_{number}")
    return Group([*head, *steps], "kv_sheet", 0), Group(answers, "kv_sheet_answers", 0)


def _step(step: LessonStep, part: int, lesson: Lesson, *, is_teacher: bool) -> Group:
    parts: list[Part] = [tag("h2", f"{part} · {step.title}", class_="kv-h2")]
    has_base_state = False
    for number, element in enumerate(step.parts):
        if isinstance(element, str):
            parts.append(Markdown(element))
        elif element.kind in LIVE:
            key = f"paper_{lesson.name}_{part}_{number}"
            if not _reveals_answer(element, step):
                parts += _figure(element, key)
            elif not has_base_state:  # only the first such figure, as on screen
                parts += _figure(element, f"{key}_asks", is_question=True)
                has_base_state = True
        elif element.kind == "predict":
            parts.append(_question(element, f"{part}_{number}"))
        elif element.kind == "exercise":
            parts += _task(element)
        elif element.kind == "misleads" and not step.blocks("predict"):
            parts += _misconception(element)
    if is_teacher:
        parts.append(notes(step))
    return Group(parts, f"kv_sheet_step_{part}", 10)


def _reveals_answer(block: LessonBlock, step: LessonStep) -> bool:
    """Returns whether a figure reveals an answer of its step.

    True for a figure that is incomplete on screen until the answer, and for a stepper that shows
    the lookup of the step's exercise.
    """
    if block["after"] or block.kind != "stepper":
        return bool(block["after"])
    exercises = [task for task in step.blocks("exercise") if task["set"]]
    return (block["set"], block["target"]) in [(task["set"], task["target"]) for task in exercises]


def _misconception(block: LessonBlock) -> list[Part]:
    quote = say("workshop.quoted", text=block["said"])
    return [
        Markdown(say("workshop.labelled", label=say("workshop.often_said"), text=quote)),
        Markdown(say("workshop.what_is_so_since", versions=block["versions"], text=block["so"])),
    ]


def _figure(block: LessonBlock, key: str, *, is_question: bool = False) -> Sequence[Part]:
    kind = LIVE[block.kind]
    draw = kind.question if is_question and kind.question else kind.paper or kind.draw
    try:
        return draw(kind.make(block), block, key)
    except KafkavizError as fault:
        return [tag("p", elements.escape(describe_error(fault)))]


def _question(block: LessonBlock, key: str) -> Group:
    boxes = (
        tag("li", tag("i"), tag("b", letter.upper()), "\u2002", text.replace("`", ""))
        for letter, (text, _) in zip(LETTERS, block.choices, strict=False)
    )
    ask = Markdown(f"**{block['ask']}**")
    return Group([ask, tag("ul", *boxes, class_="kv-boxes")], f"kv_sheet_asked_{key}", 4)


def _task(block: LessonBlock) -> list[Part]:
    parts: list[Part] = [Markdown(say("workshop.exercise_asks", text=block["ask"]))]
    try:
        task = tasks.task(block)
    except KafkavizError:
        return parts
    if task.bytes_text:
        parts.append(tag("div", elements.escape(task.bytes_text), class_="kv-given"))
    if task.kind == tasks.RULE:
        parts.append(tag("p", exercise.describe_pieces(), class_="kv-sm kv-fnt"))
    return [*parts, tag("p", say("workshop.your_answer"), tag("i"), class_="kv-name")]


def _answer(block: LessonBlock, part: int) -> Markdown:
    if block.kind == "predict":
        name = join_comma(
            LETTERS[index].upper() for index, (_, is_right) in enumerate(block.choices) if is_right
        )
        text = block["reveal"]
    else:
        name = say("workshop.exercise")
        rule = f" `{block['rule']}`" if block["rule"] else ""
        text = f"{block['solution']}{rule}"
    return Markdown(say("workshop.answer_to", step=part, name=name, text=text))


def notes(step: LessonStep, begin: float | None = None, total: float = 0) -> Group:
    """Returns the teacher's notes of a step. The step begins at minute `begin` of `total`."""
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
    icon = elements.icon("co_present", small=True)
    head = tag("div", icon, " ", say("workshop.teacher"), " · ", time_text, class_="kv-lab")
    texts = [
        Markdown(say("workshop.labelled", label=say(f"workshop.{name}"), text=text))
        for block in step.blocks("notes")
        for name in ("say", "watch")
        for text in block[name]
    ]
    return Group([head, *texts], f"kv_teacher_{step.line}", 4)


STYLE = Path(__file__).with_name("handouts.css")


def file_name(edition: HandoutEdition) -> str:
    """Returns a name such as kafkaviz-handouts-notes.en.html."""
    return f"kafkaviz-handouts{edition.value}.{language()}.html"


def handouts_page(lessons: Sequence[Lesson], edition: HandoutEdition) -> str:
    file = PageFile(modes=("light",))
    count = len(lessons)
    has_notes = edition is HandoutEdition.NOTES
    lesson_sheets = [
        (lesson, *sheets(LessonPosition(lesson, number, 1), count, is_teacher=has_notes))
        for number, lesson in enumerate(lessons)
    ]
    numbered = list(enumerate(lesson_sheets, 1))
    sections = [
        _sheet(lesson, lesson.title, file.html(questions), id=f"lesson-{number}", class_="sheet")
        for number, (lesson, questions, _) in numbered
    ]
    for number, (lesson, _, answers) in numbered if edition.has_answers else ():
        label = say("takeaway.answers_to", title=lesson.title)
        head = tag("p", f"{number} · {lesson.title}", class_="kv-lab")
        parts = (head, file.html(answers))
        sections.append(
            _sheet(lesson, label, *parts, id=f"answers-{number}", class_="sheet answers")
        )
    body = join((_cover(lessons, edition), tag("main", *sections)))
    style = STYLE.read_text(encoding="utf-8")
    return file.text(f"{say('takeaway.handouts_title')} · kafkaviz", body, styles=(style,))


def _sheet(lesson: Lesson, label: str, *parts: Html, **attributes: str) -> Html:
    return tag("section", *parts, **attributes, lang=lesson.language, aria_label=label)


def _cover(lessons: Sequence[Lesson], edition: HandoutEdition) -> Html:
    minutes = f"{sum(lesson.minutes for lesson in lessons):g}"
    lead = say("takeaway.handouts_lead", count=len(lessons), minutes=minutes)
    rows = (
        tag(
            "li",
            tag("a", tag("b", lesson.title), href=f"#lesson-{number}"),
            tag("span", lesson.about),
            lang=lesson.language,
        )
        for number, lesson in enumerate(lessons, 1)
    )
    answers = tag("a", say("workshop.answers"), href="#answers-1") if edition.has_answers else ""
    return tag(
        "header",
        brand(),
        tag("h1", say("takeaway.handouts_title")),
        tag("p", lead, class_="lead"),
        tag("p", say(f"takeaway.edition_{edition.name.lower()}"), class_="lead"),
        tag("p", say("takeaway.how_to_print"), class_="note screen"),
        tag("h2", say("takeaway.contents")),
        tag("ol", *rows, class_="contents"),
        tag("p", answers, class_="contents"),
    )
