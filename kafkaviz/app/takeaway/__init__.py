"""What a reader of the Workshop takes home: files that need no app, no network and no Python.

    capture.py    what a function draws with Streamlit, as parts that a file can hold
    markdown.py   the Markdown of lessons as HTML
    document.py   those parts as the body of one HTML file, and the file
    lesson_page.py   a lesson with its figures and questions
    handouts.py   the hand-outs of all lessons, to be printed
    notebook.py   three lessons as a Jupyter notebook

    downloads.py   the list of them on the Workshop page

`python -m kafkaviz.app.takeaway FOLDER` writes all of them.
"""

from collections.abc import Callable, Sequence

from kafkaviz.app.lessons.grammar import Lesson
from kafkaviz.messages import language


def files(lessons: Sequence[Lesson]) -> dict[str, Callable[[], str]]:
    """What each file is called, and what makes its text, in the reader's language."""
    from kafkaviz.app.takeaway import notebook

    makers: dict[str, Callable[[], str]] = {
        lesson_file_name(lesson): lesson_maker(lessons, number)
        for number, lesson in enumerate(lessons)
    }
    for has_notes in (False, True):
        makers[handouts_file_name(has_notes=has_notes)] = handouts_maker(
            lessons, has_notes=has_notes
        )
    return makers | {notebook.FILE_NAME: notebook.notebook}


def lesson_file_name(lesson: Lesson) -> str:
    """kafkaviz-binary-search.en.html."""
    return f"kafkaviz-{lesson.name}.{lesson.language}.html"


def handouts_file_name(*, has_notes: bool, suffix: str = "html") -> str:
    """kafkaviz-handouts.en.html."""
    return f"kafkaviz-handouts{'-notes' if has_notes else ''}.{language()}.{suffix}"


def lesson_maker(lessons: Sequence[Lesson], number: int) -> Callable[[], str]:
    """Makes the file of the lesson of this number, from 0."""

    def make() -> str:
        from kafkaviz.app.takeaway.lesson_page import lesson_page

        return lesson_page(lessons[number], number + 1, len(lessons))

    return make


def handouts_maker(lessons: Sequence[Lesson], *, has_notes: bool) -> Callable[[], str]:
    """Makes the file of all hand-outs."""

    def make() -> str:
        from kafkaviz.app.takeaway.handouts import handouts_page

        return handouts_page(lessons, has_notes=has_notes)

    return make
