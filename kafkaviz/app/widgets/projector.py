"""The projector view: only the title, the question and the figure of a page, enlarged."""

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.frontend import register_component
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say

_projector = register_component("projector", "hidden")


def is_on() -> bool:
    return bool(st.query_params.get(page_state.PROJECTOR))


def render_button() -> None:
    """Draws the button for the projector view, with F as its key."""
    st.button(
        say("stage.projector"),
        icon=f":material/{'fullscreen_exit' if is_on() else 'fullscreen'}:",
        type="tertiary",
        key="kv_projector",
        shortcut="f",
        help=say("stage.projector_leave" if is_on() else "stage.projector_help"),
        on_click=_toggle,
    )


def _toggle() -> None:
    if is_on():
        st.query_params.pop(page_state.PROJECTOR)
    else:
        st.query_params[page_state.PROJECTOR] = "1"


def apply() -> None:
    if is_on():
        elements.draw_style(elements.read_css("projector.css"))
        _projector(key="kv_projector_keys", data={}, width="content")
