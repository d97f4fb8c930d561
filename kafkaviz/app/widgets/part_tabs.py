"""The parts of a page as tabs. The first one shows the main result.

Only the open tab is drawn, so that the others cost nothing. A link that names no tab opens the one
that has a control for one of its parameters.
"""

from collections.abc import Iterable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.app import page_state
from kafkaviz.app.widgets import choice

Controls = Mapping[str, Iterable[str]]  # the address parameters that each tab has a control for


def open_by_address(controls: Controls) -> None:
    """Adds the tab to the address if one of its parameters belongs to a tab.

    Call it before anything else uses the address.
    """
    part = next((part for part, names in controls.items() if _has_any(names)), None)
    if part and page_state.TAB not in st.query_params:
        st.query_params[page_state.TAB] = part


def render_tabs(parts: Mapping[str, str], controls: Controls) -> tuple[str, DeltaGenerator]:
    """Draws the tabs.

    Args:
        parts: the label of each tab, by its word in the address.
        controls: the address parameters of each tab. If the address has one, the open tab is always
            written to it, because `open_by_address` would choose another.

    Returns:
        The word of the open tab, and its container.
    """
    parameters = [name for names in controls.values() for name in names]
    first = next(iter(parts))
    word = choice.bind_to_address(page_state.TAB, parts, first, writes_default=_has_any(parameters))
    containers = st.tabs(list(parts.values()), key=page_state.TAB, on_change=choice.count_move)
    return word, containers[list(parts).index(word)]


def _has_any(names: Iterable[str]) -> bool:
    return any(name in st.query_params for name in names)
