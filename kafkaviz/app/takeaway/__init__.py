"""What a reader of the Workshop takes home: files that need no app, no network and no Python.

    capture.py    what a function draws with Streamlit, as parts that a file can hold
    markdown.py   the Markdown of lessons as HTML
    page_file.py  those parts as the body of one HTML file, and the file
    lesson_page.py   a lesson with its figures and questions
    handouts.py   the hand-outs of all lessons, to be printed
    notebook.py   three lessons as a Jupyter notebook

    downloads.py   the list of them on the Workshop page

`python -m kafkaviz.app.takeaway FOLDER` writes all of them.
"""

from collections.abc import Callable, Sequence
from enum import Enum

from kafkaviz.app.lessons.grammar import Lesson
from kafkaviz.messages import language


class HandoutEdition(Enum):
    """What stands in the hand-outs beside the text, the figures and the questions.

    The value is a part of the file's name.
    """

    ANSWERS = ""
    QUESTIONS = "-questions"
    NOTES = "-notes"

    @property
    def has_answers(self) -> bool:
        """Whether the answers follow behind the last lesson."""
        return self is not HandoutEdition.QUESTIONS

    @property
    def has_notes(self) -> bool:
        """Whether a teacher finds what to say and what to watch for."""
        return self is HandoutEdition.NOTES


def files(lessons: Sequence[Lesson]) -> dict[str, Callable[[], str | bytes]]:
    """What each file is called, and what makes its content, in the reader's language."""
    from kafkaviz.app.takeaway import notebook
    from kafkaviz.app.takeaway.handouts import printed_handouts

    makers: dict[str, Callable[[], str | bytes]] = {
        lesson_file_name(lesson): lesson_maker(lessons, number)
        for number, lesson in enumerate(lessons)
    }
    for edition in HandoutEdition:
        makers[handouts_file_name(edition)] = handouts_maker(lessons, edition)
    if (printed := printed_handouts()) is not None:
        makers[printed.path.name] = printed.path.read_bytes
    return makers | {notebook.FILE_NAME: notebook.notebook}


def lesson_file_name(lesson: Lesson) -> str:
    """kafkaviz-binary-search.en.html."""
    return f"kafkaviz-{lesson.name}.{lesson.language}.html"


def handouts_file_name(edition: HandoutEdition, suffix: str = "html") -> str:
    """kafkaviz-handouts-notes.en.html."""
    return f"kafkaviz-handouts{edition.value}.{language()}.{suffix}"


def lesson_maker(lessons: Sequence[Lesson], number: int) -> Callable[[], str]:
    """Makes the file of the lesson of this number, from 0."""

    def make() -> str:
        from kafkaviz.app.takeaway.lesson_page import lesson_page

        return lesson_page(lessons[number], number + 1, len(lessons))

    return make


def handouts_maker(lessons: Sequence[Lesson], edition: HandoutEdition) -> Callable[[], str]:
    """Makes the file of all hand-outs."""

    def make() -> str:
        from kafkaviz.app.takeaway.handouts import handouts_page

        return handouts_page(lessons, edition)

    return make
