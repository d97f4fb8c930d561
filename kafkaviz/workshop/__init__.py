"""The Workshop: lessons about Kafka's files, for one reader or for a class.

    lessons/     the lessons: files, grammar, exercises, glossary
    figures/     the figures of lessons, one per kind of block
    lab/         the lab: readers damage a copy of a log and predict what the broker does
    class_*.py   a class: its rooms, seats and answers
    takeaway/    the lessons as files for use without the app
    page.py      the Workshop page; step.py draws one step of a lesson

The app does not import the Workshop. `register` adds the Workshop to the app.
"""

import os
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from kafkaviz.app import access, registry
from kafkaviz.app.registry import Page, Target
from kafkaviz.workshop import lesson_address

if TYPE_CHECKING:
    from kafkaviz.workshop.class_seat import ClassFeed

WORKSHOP_PAGE = "Workshop"


def register() -> None:
    """Adds the Workshop page, its search results and its classes to the app.

    Each script that shows a page calls this, because Streamlit may start with any script. Further
    calls change nothing.
    """
    if WORKSHOP_PAGE not in registry.PAGES:
        _, *later_pages = registry.PAGES
        registry.PAGES[WORKSHOP_PAGE] = PAGE
        for name in later_pages:  # makes the Workshop the second page in the sidebar
            registry.PAGES[name] = registry.PAGES.pop(name)
    registry.MIDDLEWARE[WORKSHOP_PAGE] = _class_feed
    registry.BACKGROUND_WORK[WORKSHOP_PAGE] = _open_class


def _list_targets() -> Iterable[Target]:
    from kafkaviz.workshop.lessons import glossary

    return glossary.list_targets()


def _class_feed() -> "type[ClassFeed]":
    from kafkaviz.workshop.class_seat import ClassFeed

    return ClassFeed


def _open_class(app: object) -> AbstractAsyncContextManager[None]:
    if not os.environ.get(access.CLASS):
        return nullcontext()
    from kafkaviz.workshop import class_start

    return class_start.open_class(app)


PAGE = Page(
    script="pages/workshop.py",
    icon="school",
    depth=1,
    group=1,
    keys=(
        (("N", "B"), "lesson"),
        ("1234", "answer"),
        registry.PROJECTOR_KEY,
        (("PgDn", "PgUp"), "projector_lesson"),
    ),
    private_parameters=(lesson_address.ANSWERS, lesson_address.TYPED_ANSWER, lesson_address.NOTES),
    list_targets=_list_targets,
)
