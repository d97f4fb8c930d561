"""Page cache: which pages of an index a search touches while it grows.

Which had gone cold, and what other searches would cost.
"""

import streamlit as st

from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache import growth, lookup_pages
from kafkaviz.app.pages.page_cache.ceiling import render_ceiling
from kafkaviz.app.pages.page_cache.controls import render_controls
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.messages import say


def render_page() -> None:
    """The page: its title, and below it all that its controls change."""
    location = frame("Page cache")
    apply_print_style()
    elements.title(say("common.page_page_cache"), say("page_cache.lead"), gap=16)
    _render_body(location)


@st.fragment
def _render_body(location: Location) -> None:
    """All of it: a slider redraws this, not the frame around it.

    A container keeps the parts of a section apart, which the page does not.
    """
    with st.container(gap=None, key="kv_lab"):
        settings, offsets, clock = render_controls(location)
        growth.render_growth(settings, clock)
        st.space(32)
        with st.container():
            lookup_pages.render_example()
        st.space(32)
        left, right = st.columns(2, gap=20)
        with left, st.container(gap=None):
            growth.render_turnovers(settings)
        with right, st.container(gap=None):
            lookup_pages.render_published()
        st.space(32)
        growth.render_reader_faults(settings)
        st.space(32)
        with st.container():
            lookup_pages.render_layouts(settings.key, offsets)
        st.space(32)
        with st.container():
            render_ceiling()
