"""The Workshop's URL parameters and session keys, and the step that the address names.

kafkaviz/app/page_state.py has the URL parameters that the Workshop shares with other pages.
"""

from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.app import page_state

if TYPE_CHECKING:
    from kafkaviz.workshop.class_room import StepKey

# Address parameters.
# the name of the lesson, and the number of the step, from 1
LESSON = "lesson"
PART = "at"
# the answers in the form that lesson_state.py describes, and the text typed into this step's
# exercise
ANSWERS = "answers"
TYPED_ANSWER = "given"
NOTES = "notes"  # the teacher's notes
LAB = "break"  # the lab at the end of the lesson
END = "end"  # the page after the last step
# the code of the class; the name of the track, unset for all steps
CLASS = "class"
TRACK = "track"
# the selected word of the glossary, or ALL_WORDS
WORD = "word"
ALL_WORDS = "all"
ASIDE = (page_state.PAPER, WORD, LAB, END)  # parameters of pages that are shown in place of a step

# Session keys.
PAGES_SHOWN = "kv_pages_shown"  # whether the list of pages is shown
# this session's lesson, step and answers, as address parameters
WORKSHOP = "kv_workshop"
# the tokens of seats and the teacher's secrets that this session has, by code of the class
CLASS_TOKENS = "kv_class_tokens"
# the step to which this session last followed the class, and the revision that the page shows
CLASS_STEP = "kv_class_step"
CLASS_REVISION = "kv_class_revision"
# the lesson and the track that the pickers of a learner's page show
CLASS_PICKER = "kv_class_picker"
CLASS_PICKER_TRACK = "kv_class_picker_track"
CLASS_NOTE = "kv_class_note"  # why no class was entered


def address_step() -> "StepKey | None":
    """Returns the lesson and step in the address; None without a valid one."""
    name = st.query_params.get(LESSON)
    part = page_state.number(st.query_params.get(PART))
    return (name, part or 1) if name else None


def open_step(name: str, part: int) -> None:
    """Opens a step of a lesson and removes the previous step's URL parameters."""
    for key in (page_state.STEP, TYPED_ANSWER, *ASIDE):
        st.query_params.pop(key, None)
    st.query_params[LESSON] = name
    st.query_params[PART] = str(part)
