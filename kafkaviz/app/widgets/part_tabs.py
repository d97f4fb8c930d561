"""The parts of a page behind tabs, the first of which is its answer.

The open one stands in the address. Only it is drawn: what the others would compute waits until they
are opened. A link that names no part, but what only one of them has a control for, opens that one.
"""

from collections.abc import Iterable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.app.state import choice, page_state

Controls = Mapping[str, Iterable[str]]  # address parameters by the part that has their controls


def open_by_address(controls: Controls) -> None:
    """Opens the part that the address means, where it does not say which.

    Before anything else reads the address or writes into it.
    """
    part = next((part for part, names in controls.items() if _has_any(names)), None)
    if part and page_state.TAB not in st.query_params:
        st.query_params[page_state.TAB] = part


def render_tabs(parts: Mapping[str, str], controls: Controls) -> tuple[str, DeltaGenerator]:
    """The tabs.

    Args:
        parts: their labels, by their words in the address.
        controls: as of `open_by_address`, which would open another part than the first where the
            address did not name this one.

    Returns:
        The word of the open part, and what it is drawn in.
    """
    parameters = [name for names in controls.values() for name in names]
    first = next(iter(parts))
    word = choice.settle(page_state.TAB, parts, first, writes_default=_has_any(parameters))
    containers = st.tabs(list(parts.values()), key=page_state.TAB, on_change=choice.count_move)
    return word, containers[list(parts).index(word)]


def _has_any(names: Iterable[str]) -> bool:
    return any(name in st.query_params for name in names)
