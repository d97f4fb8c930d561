"""The parts of a page as tabs. The first one shows the main result.

The open tab is in the address, and only that tab is drawn, so that the others cost nothing. A link
that names no tab, but a parameter that only one tab has a control for, opens that tab.
"""

from collections.abc import Iterable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.app.state import choice, page_state

Controls = Mapping[str, Iterable[str]]  # address parameters by the part that has their controls


def open_by_address(controls: Controls) -> None:
    """Adds the tab to the address if the parameters in the address belong to one tab.

    Call it before anything else reads the address or writes to it.
    """
    part = next((part for part, names in controls.items() if _has_any(names)), None)
    if part and page_state.TAB not in st.query_params:
        st.query_params[page_state.TAB] = part


def render_tabs(parts: Mapping[str, str], controls: Controls) -> tuple[str, DeltaGenerator]:
    """Draws the tabs.

    Args:
        parts: the label of each tab, by its word in the address.
        controls: see `open_by_address`. If the address has one of these parameters, the tab is
            always written to it, because without it they could open another tab.

    Returns:
        The word of the open tab, and its container.
    """
    parameters = [name for names in controls.values() for name in names]
    first = next(iter(parts))
    word = choice.settle(page_state.TAB, parts, first, writes_default=_has_any(parameters))
    containers = st.tabs(list(parts.values()), key=page_state.TAB, on_change=choice.count_move)
    return word, containers[list(parts).index(word)]


def _has_any(names: Iterable[str]) -> bool:
    return any(name in st.query_params for name in names)
