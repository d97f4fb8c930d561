"""The Workshop: lessons about Kafka's files, for one reader or for a class.

    lessons/     the lessons: files, grammar, exercises, glossary
    figures/     the figures that lesson files describe
    lab/         the lab: readers damage a copy of a log and predict what the broker does
    class_*.py   a class: its rooms, seats and answers
    takeaway/    the lessons as files for use without the app
    page.py      the Workshop page; step.py draws one step of a lesson

The app does not import the Workshop. `register` adds the Workshop to the app.

This module also holds the Workshop's URL parameters and session keys. The URL parameters that all
pages share are in kafkaviz/app/page_state.py.
"""

import os
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app import access, page_state, registry
from kafkaviz.app.registry import Page, Target

if TYPE_CHECKING:
    from kafkaviz.workshop.class_room import StepKey
    from kafkaviz.workshop.class_seat import ClassFeed

# URL parameters.
LESSON = "lesson"
PART = "at"  # the number of the step, from 1
ANSWERS = "answers"  # in the form that lesson_state.py describes
TYPED_ANSWER = "given"  # the text typed into this step's exercise
NOTES = "notes"  # the teacher's notes
LAB = "break"  # the lab at the end of the lesson
END = "end"  # the page after the last step
CLASS = "class"  # the code of the class
TRACK = "track"  # the name of the track, unset for all steps
WORD = "word"  # the selected word of the glossary, or ALL_WORDS
ALL_WORDS = "all"
ASIDE = (page_state.PAPER, WORD, LAB, END)  # parameters of pages that are shown in place of a step

# Session keys.
PAGES_SHOWN = "kv_pages_shown"  # whether the list of pages is shown
WORKSHOP = "kv_workshop"  # this session's lesson, step and answers, as address parameters
# the tokens of seats and the teacher's secrets that this session has, by code of the class
CLASS_TOKENS = "kv_class_tokens"
CLASS_STEP = "kv_class_step"  # the step to which this session last followed the class
CLASS_REVISION = "kv_class_revision"  # the revision that the page shows
CLASS_PICKER = "kv_class_picker"  # the lesson that the picker of a learner's page shows
CLASS_PICKER_TRACK = "kv_class_picker_track"  # the track that the picker of tracks shows
CLASS_NOTE = "kv_class_note"  # why no class was entered


def address_step() -> "StepKey | None":
    """Returns (lesson, step) from the address; None if the address names no lesson."""
    name = st.query_params.get(LESSON)
    part = page_state.number(st.query_params.get(PART))
    return (name, part or 1) if name else None


def open_step(name: str, part: int) -> None:
    """Opens a step of a lesson and removes the previous step's URL parameters."""
    for key in (page_state.STEP, TYPED_ANSWER, *ASIDE):
        st.query_params.pop(key, None)
    st.query_params[LESSON] = name
    st.query_params[PART] = str(part)


def set_parameter(name: str, text: str) -> None:
    """Writes a URL parameter into the address; "" removes it."""
    if not text:
        st.query_params.pop(name, None)
    elif text != st.query_params.get(name):
        st.query_params[name] = text


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
    private_parameters=(ANSWERS, TYPED_ANSWER, NOTES),
    list_targets=_list_targets,
)
