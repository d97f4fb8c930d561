"""The hand-outs of all lessons as one HTML file for printing.

All questions come first, then all answers, so that one file serves learners and teacher.
"""

from collections.abc import Sequence
from pathlib import Path

from kafkaviz.messages import say
from kafkaviz.report.document import brand
from kafkaviz.report.html import Html, join, tag
from kafkaviz.workshop.lesson_state import LessonPosition
from kafkaviz.workshop.lessons.grammar import Lesson
from kafkaviz.workshop.lessons.handout import sheets
from kafkaviz.workshop.takeaway import HandoutEdition
from kafkaviz.workshop.takeaway.page_file import PageFile

STYLE = Path(__file__).with_name("handouts.css")


def handouts_page(lessons: Sequence[Lesson], edition: HandoutEdition) -> str:
    file = PageFile(modes=("light",))
    count = len(lessons)
    lesson_sheets = [
        (lesson, *sheets(LessonPosition(lesson, number, 1), count, is_teacher=edition.has_notes))
        for number, lesson in enumerate(lessons)
    ]
    numbered = list(enumerate(lesson_sheets, 1))
    sections = [
        tag(
            "section",
            file.html(questions),
            id=f"lesson-{number}",
            class_="sheet",
            lang=lesson.language,
            aria_label=lesson.title,
        )
        for number, (lesson, questions, _) in numbered
    ]
    if edition.has_answers:
        sections += [
            tag(
                "section",
                tag("p", f"{number} · {lesson.title}", class_="kv-lab"),
                file.html(answers),
                id=f"answers-{number}",
                class_="sheet answers",
                lang=lesson.language,
                aria_label=say("takeaway.answers_to", title=lesson.title),
            )
            for number, (lesson, _, answers) in numbered
        ]
    body = join((_cover(lessons, edition), tag("main", *sections)))
    style = STYLE.read_text(encoding="utf-8")
    return file.text(f"{say('takeaway.handouts_title')} · kafkaviz", body, styles=(style,))


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
