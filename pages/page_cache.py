"""Page cache: which pages of an index a search touches while it grows, which had gone cold, and
what other searches would cost.
"""

import streamlit as st

from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache.ceiling import render_ceiling
from kafkaviz.app.pages.page_cache.controls import render_settings
from kafkaviz.app.pages.page_cache.growth import render_example, render_growth
from kafkaviz.app.pages.page_cache.lookup_pages import render_layouts
from kafkaviz.app.pages.page_cache.turnover import (
    render_published,
    render_reader_faults,
    render_turnovers,
)
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.words import say

HALF = (0.5, 0.5)


def main() -> None:
    """The page."""
    location = frame("Page cache")
    apply_print_style()
    elements.title(say("page_cache.title"), say("page_cache.lead"), gap=16)
    render_body(location)


@st.fragment
def render_body(location: Location) -> None:
    """All of it: a slider redraws this, not the frame around it."""
    with st.container(gap=None, key="kv_lab"):
        sections(location)


def sections(location: Location) -> None:
    """From the growth to the exercise; a container keeps the parts of a section apart, which the
    page does not.
    """
    chosen_settings, offsets, clock = render_settings(location)
    render_growth(chosen_settings, clock)
    st.space(32)
    with st.container():
        render_example()
    st.space(32)
    left, right = st.columns(HALF, gap=20)
    with left, st.container(gap=None):
        render_turnovers(chosen_settings)
    with right, st.container(gap=None):
        render_published()
    st.space(32)
    render_reader_faults(chosen_settings)
    st.space(32)
    with st.container():
        render_layouts(chosen_settings.key, offsets)
    st.space(32)
    with st.container():
        render_ceiling()


main()
