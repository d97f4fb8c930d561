"""The Page cache page: index pages that a search touches, which are cold, and other searches."""

from collections.abc import Callable

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache import growth, tail_lookups
from kafkaviz.app.pages.page_cache.controls import render_controls
from kafkaviz.app.pages.page_cache.layouts import render_layouts
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import choice, elements
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.messages import say

# the tabs, by their word in the address, and the message keys of their labels
ANSWER = "Answer"
GROWTH = "Growth"
ENTRIES = "Entries"
LAYOUTS = "Layouts"
EXPERTS = "Experts"
PARTS = {
    ANSWER: "common.tab_answer",
    GROWTH: "page_cache.tab_growth",
    ENTRIES: "page_cache.tab_entries",
    LAYOUTS: "page_cache.tab_layouts",
    EXPERTS: "page_cache.tab_experts",
}
CONTROLS = {
    ENTRIES: (page_state.ENTRIES,),
    LAYOUTS: (page_state.PATTERN,),
    GROWTH: (
        page_state.COLD,
        page_state.GROW,
        page_state.GAP,
        page_state.PAGE_SIZE,
        page_state.SECTION,
        page_state.LAGGARDS,
        page_state.READ_AHEAD,
        page_state.APPENDS_PER_LOOKUP,
        page_state.LAG,
        page_state.ENTRY_SIZE,
        page_state.INDEX,
        page_state.SEED,
    ),
}


@in_turn
def render_page() -> None:
    location = frame("Page cache")
    apply_print_style()
    elements.title(say("common.page_page_cache"), say("page_cache.lead"), gap=4)
    choice.open_by_address(CONTROLS)
    _render_body(location)


@st.fragment
def _render_body(location: Location) -> None:
    """Draws the open tab. A slider reruns only this part."""
    names = {part: say(key) for part, key in PARTS.items()}
    with st.container(gap=None, key="kv_lab"):
        part, container = choice.render_tabs(names, CONTROLS)
        with container, st.container(gap=None):
            RENDERERS[part](location)


def _render_answer(_location: Location) -> None:
    """Draws how one more page changes a lookup at the tail. It needs no directory."""
    tail_lookups.render_sizes()


def _render_growth(location: Location) -> None:
    growth.render_growth(*render_controls(location))


def _render_entries(_location: Location) -> None:
    with st.container():
        tail_lookups.render_example()
    st.space(32)
    with st.container(gap=None):
        tail_lookups.render_published()


def _render_experts(location: Location) -> None:
    settings, _ = render_controls(location)
    st.space(16)
    growth.render_turnovers(settings)
    st.space(32)
    growth.render_reader_faults(settings)


RENDERERS: dict[str, Callable[[Location], None]] = {
    ANSWER: _render_answer,
    GROWTH: _render_growth,
    ENTRIES: _render_entries,
    LAYOUTS: render_layouts,
    EXPERTS: _render_experts,
}
