"""Files that readers of the Workshop take home; they need neither the app, a network nor Python.

    page_file.py  the parts of figures as one HTML file
    lesson_page.py   a lesson with its figures and questions
    handouts.py   the hand-outs of all lessons, for printing
    notebook.py   three lessons as a Jupyter notebook

`python -m kafkaviz.workshop.takeaway FOLDER` writes all of them.
"""

from collections.abc import Callable, Sequence
from enum import Enum

from kafkaviz.messages import language
from kafkaviz.workshop.lessons.grammar import Lesson


class HandoutEdition(Enum):
    """The edition of the hand-outs; the value is a part of the file name."""

    ANSWERS = ""
    QUESTIONS = "-questions"
    NOTES = "-notes"

    @property
    def has_answers(self) -> bool:
        return self is not HandoutEdition.QUESTIONS

    @property
    def has_notes(self) -> bool:
        return self is HandoutEdition.NOTES


def files(lessons: Sequence[Lesson]) -> dict[str, Callable[[], str]]:
    """Returns for each file name a function that makes the file, in the reader's language."""
    from kafkaviz.workshop.takeaway import notebook

    makers = {
        lesson_file_name(lesson): lesson_maker(lessons, number)
        for number, lesson in enumerate(lessons)
    }
    for edition in HandoutEdition:
        makers[handouts_file_name(edition)] = handouts_maker(lessons, edition)
    return makers | {notebook.FILE_NAME: notebook.notebook}


def lesson_file_name(lesson: Lesson) -> str:
    """Returns a name such as kafkaviz-binary-search.en.html."""
    return f"kafkaviz-{lesson.name}.{lesson.language}.html"


def handouts_file_name(edition: HandoutEdition) -> str:
    """Returns a name such as kafkaviz-handouts-notes.en.html."""
    return f"kafkaviz-handouts{edition.value}.{language()}.html"


def lesson_maker(lessons: Sequence[Lesson], number: int) -> Callable[[], str]:
    """Returns a function that makes the file of a lesson; `number` counts from 0."""

    def make() -> str:
        from kafkaviz.workshop.takeaway.lesson_page import lesson_page

        return lesson_page(lessons[number], number + 1, len(lessons))

    return make


def handouts_maker(lessons: Sequence[Lesson], edition: HandoutEdition) -> Callable[[], str]:
    def make() -> str:
        from kafkaviz.workshop.takeaway.handouts import handouts_page

        return handouts_page(lessons, edition)

    return make
