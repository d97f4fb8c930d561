"""The path of the directory to open, or an archive to upload."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.app.state import page_location, page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import upload
from kafkaviz.units import escape_controls
from kafkaviz.words import say


def render_path_form(location: Location) -> DeltaGenerator:
    """The path to open, or an archive to upload; and the place for a word about what was read."""
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # a new place is a new field, with that place in it; so is a place that is come back to: a
        # browser keeps what was typed
        directory_text = escape_controls(location.directory)
        key = f"kv_directory {st.session_state.get(page_state.OPEN_COUNT, 0)} {directory_text}"
        callback_options: dict[str, Any] = {
            "on_change": _request_open,
            "args": (key, location.directory),
        }
        st.text_input(
            say("broker.field"),
            directory_text,
            label_visibility="collapsed",
            key=key,
            width=520,
            **callback_options,
        )
        st.button(
            say("broker.open"),
            type="primary",
            key="kv_open",
            on_click=_request_open,
            args=(key, location.directory),
        )
        if (new_directory := st.session_state.pop(page_state.TYPED_PATH, None)) is not None:
            st.session_state[page_state.OPEN_COUNT] = (
                st.session_state.get(page_state.OPEN_COUNT, 0) + 1
            )
            st.switch_page("app.py", query_params=page_state.address(new_directory))
        if st.button(say("broker.upload"), icon=":material/upload:", key="kv_upload"):
            upload.dialog()
        return st.empty()


def _request_open(key: str, directory: str) -> None:
    """Somebody typed another path, or pressed Open: only then is it opened, not whenever the field
    and the address differ.
    """
    st.session_state[page_state.TYPED_PATH] = page_location.clean_path(
        st.session_state.get(key, directory)
    )
