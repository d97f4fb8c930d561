"""What is pinned: the batch and the slots that the page is about, and the slice of the segment that
the ruler is sent around it.
"""

from typing import cast

import streamlit as st

from kafkaviz.analysis import selection
from kafkaviz.analysis.anatomy import Anatomy
from kafkaviz.analysis.selection import Selection
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.components import ruler
from kafkaviz.app.pages.segment import bytes_tab
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.figures import segment_tables
from kafkaviz.figures.segment_tables import PinnedRow


def current_pin(location: PartitionLocation, anatomy: Anatomy) -> PinnedRow:
    """The pin: what the reader chose in the ruler, else what the address names, else a telling
    batch.
    """
    ruler_pin = ruler.state("pin", segment_cache.key(anatomy.segment))
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
    """The batch of an offset; without one that of the byte that a link led to, else a telling
    one.
    """
    byte = None if offset else bytes_tab.opening_byte(segment_cache.key(anatomy.segment))
    return (
        selection.select_byte(anatomy, *byte) if byte else selection.select_offset(anatomy, offset)
    )


def ruler_message(location: PartitionLocation, anatomy: Anatomy) -> bytes:
    """What the ruler is sent: the slice it asked for, around the offset that was asked for."""
    slice_request = ruler.state("slice", segment_cache.key(anatomy.segment))
    address_target = _find_target(
        anatomy, slice_request.get("offset") or st.query_params.get(page_state.PIN, "")
    )
    return segment_cache.message(
        anatomy,
        address_target,
        st.session_state[page_state.SHADE],
        _centre_row(anatomy, slice_request),
        location.address,
    )


def _centre_row(anatomy: Anatomy, slice_request: dict) -> int | None:
    """Around which row the ruler wants its slice; None: around the pin."""
    if "row" in slice_request:
        return int(slice_request["row"])
    return (
        selection.row_at_byte(anatomy, int(slice_request["position"]))
        if "position" in slice_request
        else None
    )
