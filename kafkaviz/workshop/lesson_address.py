"""The Workshop's address parameters and session keys, and the step that the address names.

page_state.py of the app has those that its pages share with the Workshop.
"""

from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app import page_state

if TYPE_CHECKING:
    from kafkaviz.workshop.class_room import StepKey

# Address parameters.
# the lesson, and its step, from 1
LESSON = "lesson"
PART = "at"
# the answers, such as key-is-last.2b three-files.3x batches~1~130cb, and the text typed
# into this step's exercise
ANSWERS = "answers"
TYPED_ANSWER = "given"
NOTES = "notes"  # the teacher's notes
LAB = "break"  # the lab at the end of the lesson
END = "end"  # the page after the last step
# the code of the class; the track of the lessons, unset for all steps
CLASS = "class"
TRACK = "track"
# the selected word of the glossary, or ALL_WORDS
WORD = "word"
ALL_WORDS = "all"
ASIDE = (page_state.PAPER, WORD, LAB, END)  # pages shown in place of a step

# Session keys.
PAGES_SHOWN = "kv_pages_shown"  # whether the list of pages is shown
# this session's lesson, step and answers, as address parameters
WORKSHOP = "kv_workshop"
# tokens of this session's seats, or teacher's secrets, by the code of the class
CLASS_TOKENS = "kv_class_tokens"
# the last step the class led to, and the revision shown by the page
CLASS_STEP = "kv_class_step"
CLASS_REVISION = "kv_class_revision"
# the lesson and track in the pickers of a learner's page
CLASS_PICKER = "kv_class_picker"
CLASS_PICKER_TRACK = "kv_class_picker_track"
CLASS_NOTE = "kv_class_note"  # why a typed code leads to no class


def address_step() -> "StepKey | None":
    """Returns the step that the address names, or None."""
    name = st.query_params.get(LESSON)
    part = page_state.number(st.query_params.get(PART))
    return (name, part or 1) if name else None


def open_step(name: str, part: int) -> None:
    """Goes to a step of a lesson.

    It drops what belongs to the previous step: typed text, the stepper's position, and a page shown
    in place of the step.
    """
    for key in (page_state.STEP, TYPED_ANSWER, *ASIDE):
        st.query_params.pop(key, None)
    st.query_params[LESSON] = name
    st.query_params[PART] = str(part)
