"""Segment: the three files of a segment, how they point at each other, and what is in them."""

from typing import cast

import streamlit as st

from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import segment_shade
from kafkaviz.figures.segment_facts import FactGroups
from kafkaviz.ui import anatomies, choice, pick, state
from kafkaviz.ui.components import address, ruler
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import InPartition, InSegment
from kafkaviz.ui.printed import printed
from kafkaviz.ui.segment import without
from kafkaviz.ui.segment.facts import columns, facts
from kafkaviz.ui.segment.head import head
from kafkaviz.ui.segment.pinned import drawn
from kafkaviz.ui.segment.tabs import BATCHES, tables, tabs


def main() -> None:
    """The page, or the sentence that says why there is none."""
    place = frame("Segment")
    printed()
    partition = pick.partition(place)
    here = cast(InPartition, place)
    if place.segment is None:
        return without.not_there(here, partition)
    if place.segment.log is None:
        return without.without_log(cast(InSegment, place))
    try:
        anatomy = anatomies.read(place.segment)
    except CannotOpen as fault:
        return without.unreadable(fault)
    head(here, partition, anatomy)
    if anatomy.grown_bytes:
        without.grown(anatomy)
    groups = anatomies.facts(here.listed, partition, anatomy)
    if not len(anatomy.batches):
        return without.no_batch(here, anatomy, groups)
    explore(here, anatomy, groups)


@st.fragment
def explore(place: InPartition, anatomy: Anatomy, groups: FactGroups) -> None:
    """The ruler, the facts, and the tables that follow the pin: only this part reruns when the pin
    moves.
    """
    if anatomies.is_lost(anatomy):
        st.rerun()
    tab = choice.adopt(state.TAB, tabs())
    with st.container(gap=24):
        left, right = columns()
        with left:
            ruler.ruler(drawn(place, anatomy))
        facts(right, groups)
        tables(place, anatomy)
    shade = st.session_state[state.SHADE]
    address(
        {
            state.TAB: None if tab == BATCHES else tab,
            state.SHADE: None if shade == segment_shade.PLAIN else shade,
        }
    )


main()
