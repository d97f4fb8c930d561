"""Page cache: which pages of an index a search touches while it grows, which had gone cold, and
what other searches would cost.
"""

import streamlit as st

from kafkaviz.ui import parts
from kafkaviz.ui.frame import frame
from kafkaviz.ui.page_cache.ceiling import ceiling
from kafkaviz.ui.page_cache.growth import example, growing
from kafkaviz.ui.page_cache.layouts import what_if
from kafkaviz.ui.page_cache.settings import settings
from kafkaviz.ui.page_cache.turnover import as_told, turnovers, who_is_protected
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.words import say

HALF = (0.5, 0.5)


def main() -> None:
    """The page."""
    place = frame("Page cache")
    printed()
    parts.title(say("page_cache.title"), say("page_cache.lead"), gap=16)
    whole(place)


@st.fragment
def whole(place: Place) -> None:
    """All of it: a slider redraws this, not the frame around it."""
    with st.container(gap=None, key="kv_lab"):
        sections(place)


def sections(place: Place) -> None:
    """From the growth to the exercise; a container keeps the parts of a section apart, which the
    page does not.
    """
    wanted, offsets, clock = settings(place)
    growing(wanted, clock)
    st.space(32)
    with st.container():
        example()
    st.space(32)
    left, right = st.columns(HALF, gap=20)
    with left, st.container(gap=None):
        turnovers(wanted)
    with right, st.container(gap=None):
        as_told()
    st.space(32)
    who_is_protected(wanted)
    st.space(32)
    with st.container():
        what_if(wanted.key, offsets)
    st.space(32)
    with st.container():
        ceiling()


main()
