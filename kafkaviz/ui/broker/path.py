"""The path of the directory to open, or an archive to upload."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.ui import pick, state, upload
from kafkaviz.ui.pick import Place
from kafkaviz.units import legible
from kafkaviz.words import say


def path_form(place: Place) -> DeltaGenerator:
    """The path to open, or an archive to upload; and the place for a word about what was read."""
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # a new place is a new field, with that place in it; so is a place that is come back to: a
        # browser keeps what was typed
        shown = legible(place.directory)
        key = f"kv_directory {st.session_state.get(state.OPENED, 0)} {shown}"
        asks: dict[str, Any] = {"on_change": _asks_to_open, "args": (key, place.directory)}
        st.text_input(
            say("broker.field"), shown, label_visibility="collapsed", key=key, width=520, **asks
        )
        st.button(
            say("broker.open"),
            type="primary",
            key="kv_open",
            on_click=_asks_to_open,
            args=(key, place.directory),
        )
        if (asked := st.session_state.pop(state.ASKED_TO_OPEN, None)) is not None:
            st.session_state[state.OPENED] = st.session_state.get(state.OPENED, 0) + 1
            st.switch_page("app.py", query_params=state.address(asked))
        if st.button(say("broker.upload"), icon=":material/upload:", key="kv_upload"):
            upload.dialog()
        return st.empty()


def _asks_to_open(key: str, directory: str) -> None:
    """Somebody typed another path, or pressed Open: only then is it opened, not whenever the field
    and the address differ.
    """
    st.session_state[state.ASKED_TO_OPEN] = pick.cleaned(st.session_state.get(key, directory))
