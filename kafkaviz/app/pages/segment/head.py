"""The head of the Segment page: which segment this is, how its batches are shaded, and the way to
Lookup.
"""

from html import escape
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.anatomy import Anatomy
from kafkaviz.app.frame import pages
from kafkaviz.app.pages.segment.segment_pin import current_pin
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import elements
from kafkaviz.figures import segment_shade, segment_text
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.words import say


def render_head(location: PartitionLocation, partition: Partition, anatomy: Anatomy) -> None:
    """Which segment this is, how the batches are shaded, and the way to Lookup."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        elements.title(
            _title_html(partition, anatomy.segment),
            segment_text.lead(anatomy, partition.state),
            gap=0,
        )
        if len(anatomy.batches):
            choice.adopt(page_state.SHADE, {shade: shade for shade in segment_shade.SHADES})
            widget_options: dict[str, Any] = {
                "label_visibility": "collapsed",
                "format_func": lambda shade: say(f"segment.shade_{shade}"),
            }
            st.segmented_control(
                say("segment.shade"),
                segment_shade.SHADES,
                key=page_state.SHADE,
                required=True,
                **widget_options,
            )
        if (
            "Lookup" in pages()
            and len(anatomy.batches)
            and st.button(say("segment.look_up"), icon=":material/manage_search:")
        ):
            offset = int(anatomy.batches["last_offset"][current_pin(location, anatomy).row])
            st.switch_page(
                pages()["Lookup"].script,
                query_params={**location.address, "by": "offset", "target": str(offset)},
            )


def render_title(partition: Partition | None, segment: Segment | None = None) -> None:
    """The title alone, above what says why there is no more."""
    elements.title(_title_html(partition, segment))


def _title_html(partition: Partition | None, segment: Segment | None) -> str:
    """The name of the topic-partition, and where the segment starts, as HTML."""
    name = units.escape_controls(partition.label) if partition else elements.page_name("Segment")
    base_text = (
        say("segment.from_offset", offset=units.group(segment.base_offset)) if segment else ""
    )
    return (
        f'{escape(name)} <span class="kv-fnt" style="font-weight:500">{escape(base_text)}</span>'
        if base_text
        else escape(name)
    )
