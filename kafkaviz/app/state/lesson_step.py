"""The step of a lesson that the address names."""

import streamlit as st

from kafkaviz.app.state import page_state
from kafkaviz.app.state.class_room import StepKey


def address_step() -> StepKey | None:
    """The step that the address names; None where it names none."""
    name = st.query_params.get(page_state.LESSON)
    part = page_state.number(st.query_params.get(page_state.PART))
    return (name, part or 1) if name else None


def open_step(name: str, part: int) -> None:
    """To a step of a lesson.

    What was typed at another, where its stepper stood and what stood in its place is left behind.
    """
    for key in (page_state.STEP, page_state.TYPED_ANSWER, *page_state.ASIDE):
        st.query_params.pop(key, None)
    st.query_params[page_state.LESSON] = name
    st.query_params[page_state.PART] = str(part)
