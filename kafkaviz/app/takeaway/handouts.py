"""The hand-outs of all lessons as one file to be printed, and that file as a PDF.

The PDF, without the notes, comes along: a browser prints it from the file when the lessons change
(`make handouts`), because no small library of Python sets Chinese well, and the app shall not need
a browser. Beside it stands the digest of the lessons it is of; a server that has other lessons
gives the file alone.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from kafkaviz.app import lessons as lesson_files
from kafkaviz.app.lessons.grammar import Lesson
from kafkaviz.app.pages.workshop.handout import render_handout
from kafkaviz.app.pages.workshop.lesson_state import LessonPosition
from kafkaviz.app.takeaway import handouts_file_name
from kafkaviz.app.takeaway.capture import Group, capture
from kafkaviz.app.takeaway.page_file import PageFile
from kafkaviz.messages import say
from kafkaviz.report.document import brand
from kafkaviz.report.html import Html, join, tag

PRINTED_FOLDER = Path(__file__).with_name("handouts")
DIGEST_FILE = PRINTED_FOLDER / "lessons.sha256"
SCREEN_ALONE = ("kv_paper_head",)  # containers that are no part of the sheet
STYLE = Path(__file__).with_name("handouts.css")


def handouts_page(lessons: Sequence[Lesson], *, has_notes: bool) -> str:
    """The file, in the reader's language.

    Args:
        has_notes: with what a teacher says and watches for.
    """
    file = PageFile()
    sheets = [
        tag(
            "section",
            file.html(_sheet(lesson, number, len(lessons), has_notes=has_notes)),
            id=f"lesson-{number + 1}",
            class_="sheet",
            lang=lesson.language,
            aria_label=lesson.title,
        )
        for number, lesson in enumerate(lessons)
    ]
    body = join((_cover(lessons, has_notes=has_notes), tag("main", *sheets)))
    style = STYLE.read_text(encoding="utf-8")
    return file.text(f"{say('takeaway.handouts_title')} · kafkaviz", body, styles=(style,))


def _cover(lessons: Sequence[Lesson], *, has_notes: bool) -> Html:
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
    return tag(
        "header",
        brand(),
        tag("h1", say("takeaway.handouts_title")),
        tag("p", lead, class_="lead"),
        tag("p", say("takeaway.with_notes"), class_="lead") if has_notes else "",
        tag("p", say("takeaway.how_to_print"), class_="note screen"),
        tag("h2", say("takeaway.contents")),
        tag("ol", *rows, class_="contents"),
    )


def _sheet(lesson: Lesson, number: int, count: int, *, has_notes: bool) -> Group:
    """A lesson as the Workshop shows it on paper, without the page's own buttons and rules."""
    position = LessonPosition(lesson, number, 1)
    group = capture(lambda: render_handout(position, count, is_teacher=has_notes), is_paper=True)
    return Group(
        tuple(
            part for part in group.parts if isinstance(part, Group) and part.key not in SCREEN_ALONE
        ),
        gap_px=0,
    )


# ---- printed


def printed_path() -> Path | None:
    """The PDF in the reader's language; None where it is of other lessons, or not there."""
    path = PRINTED_FOLDER / handouts_file_name(has_notes=False, suffix="pdf")
    is_current = DIGEST_FILE.exists() and DIGEST_FILE.read_text().strip() == digest()
    return path if is_current and path.exists() else None


def digest() -> str:
    """Of the files of all lessons that this app has, by name and content."""
    paths = lesson_files.files(lesson_files.folders())
    return _digest(tuple((path, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=4)
def _digest(files: tuple[tuple[Path, int], ...]) -> str:
    contents = hashlib.sha256()
    for path, _ in files:
        contents.update(f"{path.name}\0".encode() + path.read_bytes())
    return contents.hexdigest()
