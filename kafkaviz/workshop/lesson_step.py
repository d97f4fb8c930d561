"""The step of a lesson that the address names."""

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.workshop.classroom.class_room import StepKey


def address_step() -> StepKey | None:
    """Returns the step that the address names, or None."""
    name = st.query_params.get(page_state.LESSON)
    part = page_state.number(st.query_params.get(page_state.PART))
    return (name, part or 1) if name else None


def open_step(name: str, part: int) -> None:
    """Goes to a step of a lesson.

    It drops what belongs to the previous step: typed text, the stepper's position, and a page shown
    in place of the step.
    """
    for key in (page_state.STEP, page_state.TYPED_ANSWER, *page_state.ASIDE):
        st.query_params.pop(key, None)
    st.query_params[page_state.LESSON] = name
    st.query_params[page_state.PART] = str(part)
