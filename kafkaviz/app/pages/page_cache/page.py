"""Page cache: which pages of an index a search touches while it grows.

Which had gone cold, and what other searches would cost.
"""

from collections.abc import Callable

import streamlit as st

from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache import growth, tail_lookups
from kafkaviz.app.pages.page_cache.controls import render_controls
from kafkaviz.app.pages.page_cache.layouts import render_layouts
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements, part_tabs
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.messages import say

# parts of the page, as the address has them, and the keys of their names
ANSWER, GROWTH, ENTRIES, LAYOUTS, EXPERTS = "Answer", "Growth", "Entries", "Layouts", "Experts"
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
    """The page: its title, and below it its parts."""
    location = frame("Page cache")
    apply_print_style()
    elements.title(say("common.page_page_cache"), say("page_cache.lead"), gap=4)
    part_tabs.open_by_address(CONTROLS)
    _render_body(location)


@st.fragment
def _render_body(location: Location) -> None:
    """The open part: a slider redraws this, not the frame around it.

    A container keeps the parts of a section apart, which the page does not.
    """
    names = {part: say(key) for part, key in PARTS.items()}
    with st.container(gap=None, key="kv_lab"):
        part, container = part_tabs.render_tabs(names, CONTROLS)
        with container, st.container(gap=None):
            RENDERERS[part](location)


def _render_answer(_location: Location) -> None:
    """What one page more does to a lookup at the tail; of no directory."""
    tail_lookups.render_sizes()


def _render_growth(location: Location) -> None:
    """A growing index, replayed."""
    growth.render_growth(*render_controls(location))


def _render_entries(_location: Location) -> None:
    """KAFKA-6432 entry by entry, and what was published of it."""
    with st.container():
        tail_lookups.render_example()
    st.space(32)
    with st.container(gap=None):
        tail_lookups.render_published()


def _render_experts(location: Location) -> None:
    """Long growths: faults by how soon pages go cold, and by who reads."""
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
