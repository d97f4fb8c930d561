"""The part of the Segment page above the tabs: title, shading, pin, ruler message and facts.

The pin is the batch, with its index slots, that the whole page is about.
"""

from collections.abc import Sequence
from html import escape
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.app import page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frame import pages
from kafkaviz.app.frontend import ruler_state
from kafkaviz.app.pages.segment import bytes_tab
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import choice, elements, segment_widgets
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_facts import FactGroups
from kafkaviz.figures.segment.segment_ruler import SHADES
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.figures.text import segment_text
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import say

# 728 and 276 pixels in a window 1280 pixels wide: Streamlit shares out the width without the gap
WIDTHS = (0.7207, 0.2793)


def render_head(location: PartitionLocation, partition: Partition, anatomy: Anatomy) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        elements.title(
            _title_html(partition, anatomy.segment),
            segment_text.lead(anatomy, partition.state),
            gap=0,
        )
        if len(anatomy.batches):
            choice.take_from_address(page_state.SHADE, {shade: shade for shade in SHADES})
            st.segmented_control(
                say("segment.shade"),
                SHADES,
                key=page_state.SHADE,
                required=True,
                label_visibility="collapsed",
                format_func=lambda shade: say(f"segment.shade_{shade}"),
            )
        if (
            "Lookup" in pages()
            and len(anatomy.batches)
            and st.button(say("segment.look_up"), icon=":material/manage_search:")
        ):
            offset = int(anatomy.batches.row(current_pin(anatomy).row)["last_offset"])
            st.switch_page(
                pages()["Lookup"].script,
                query_params={**location.address, "by": "offset", "target": str(offset)},
            )


def render_title(partition: Partition | None, segment: Segment | None = None) -> None:
    """Draws only the title, for a page that cannot show the segment."""
    elements.title(_title_html(partition, segment))


def _title_html(partition: Partition | None, segment: Segment | None) -> str:
    name = units.escape_controls(partition.label) if partition else elements.page_name("Segment")
    base_text = (
        say("segment.from_offset", offset=units.format_count(segment.base_offset))
        if segment
        else ""
    )
    html = (
        f'{escape(name)} <span class="kv-fnt" style="font-weight:500">{escape(base_text)}</span>'
        if base_text
        else escape(name)
    )
    if partition and segment and segment.base_offset in partition.remote_bases:
        html += f' <span class="kv-chip info">{escape(say("broker.hover_remote"))}</span>'
    return html


def current_pin(anatomy: Anatomy) -> PinnedRow:
    """Returns the batch chosen in the ruler, else that of the address, else an instructive one."""
    ruler_pin = ruler_state("pin", segment_cache.key(anatomy.segment))
    if ruler_pin:
        return segment_tables.find_pinned_row(
            anatomy, int(ruler_pin["row"]), int(ruler_pin["slot"]), int(ruler_pin["time"])
        )
    address_target = _find_target(anatomy, st.query_params.get(page_state.PIN, ""))
    pin_target = (
        selection.default_selection(anatomy) if address_target.row is None else address_target
    )
    return segment_tables.find_pinned_row(
        anatomy, cast(int, pin_target.row), pin_target.slot, pin_target.time
    )


def _find_target(anatomy: Anatomy, offset: str) -> Selection:
    """Returns the batch with this offset, else with the byte of the address, else an example."""
    byte = None if offset else bytes_tab.opening_byte(segment_cache.key(anatomy.segment))
    if byte:
        return selection.select_byte(anatomy, *byte)
    return selection.select_offset(anatomy, offset)


def ruler_message(location: PartitionLocation, anatomy: Anatomy) -> bytes:
    """Returns the slice that the ruler requested, around the requested offset."""
    slice_request = ruler_state("slice", segment_cache.key(anatomy.segment))
    address_target = _find_target(
        anatomy, slice_request.get("offset") or st.query_params.get(page_state.PIN, "")
    )
    return segment_cache.browser_payload(
        anatomy,
        address_target,
        st.session_state[page_state.SHADE],
        _centre_row(anatomy, slice_request),
        location.address,
    )


def _centre_row(anatomy: Anatomy, slice_request: dict) -> int | None:
    """Returns the row in the middle of the requested slice, None for the pin."""
    if "row" in slice_request:
        return int(slice_request["row"])
    if "position" in slice_request:
        return selection.row_at_byte(anatomy, int(slice_request["position"]))
    return None


def columns() -> Sequence[DeltaGenerator]:
    return st.columns(WIDTHS, gap=20)


def render_facts(column: DeltaGenerator, groups: FactGroups) -> None:
    with column, st.container(key="kv_fig_facts"):
        segment_widgets.facts(groups)
