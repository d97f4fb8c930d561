"""Segment: the three files of a segment, how they point at each other, and what is in them."""

from typing import cast

import streamlit as st

from kafkaviz.analysis.anatomy import Anatomy
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.components import address, ruler
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.segment import empty_states
from kafkaviz.app.pages.segment.facts import columns, render_facts
from kafkaviz.app.pages.segment.head import render_head
from kafkaviz.app.pages.segment.segment_pin import ruler_message
from kafkaviz.app.pages.segment.tabs import BATCHES, render_tables, tab_names
from kafkaviz.app.state import choice, page_location, page_state
from kafkaviz.app.state.page_location import PartitionLocation, SegmentLocation
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import segment_shade
from kafkaviz.figures.segment_facts import FactGroups


def main() -> None:
    """The page, or the sentence that says why there is none."""
    location = frame("Segment")
    apply_print_style()
    partition = page_location.partition(location)
    partition_location = cast(PartitionLocation, location)
    if location.segment is None:
        return empty_states.render_missing_segment(partition_location, partition)
    if location.segment.log is None:
        return empty_states.render_no_log(cast(SegmentLocation, location))
    try:
        anatomy = segment_cache.read(location.segment)
    except CannotOpen as fault:
        return empty_states.render_unreadable(fault)
    render_head(partition_location, partition, anatomy)
    if anatomy.grown_bytes:
        empty_states.render_grown(anatomy)
    groups = segment_cache.facts(partition_location.snapshot, partition, anatomy)
    if not len(anatomy.batches):
        return empty_states.render_no_batch(partition_location, anatomy, groups)
    explore(partition_location, anatomy, groups)


@st.fragment
def explore(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    """The ruler, the facts, and the tables that follow the pin: only this part reruns when the pin
    moves.
    """
    if segment_cache.has_lost_bytes(anatomy):
        st.rerun()
    tab = choice.adopt(page_state.TAB, tab_names())
    with st.container(gap=24):
        left, right = columns()
        with left:
            ruler.ruler(ruler_message(location, anatomy))
        render_facts(right, groups)
        render_tables(location, anatomy)
    shade = st.session_state[page_state.SHADE]
    address(
        {
            page_state.TAB: None if tab == BATCHES else tab,
            page_state.SHADE: None if shade == segment_shade.PLAIN else shade,
        }
    )


main()
