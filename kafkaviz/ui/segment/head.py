"""The head of the Segment page: which segment this is, how its batches are shaded, and the way to
Lookup.
"""

from html import escape
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import segment_shade, segment_words
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui.frame import pages
from kafkaviz.ui.pick import InPartition
from kafkaviz.ui.segment.pinned import chosen
from kafkaviz.words import say


def head(place: InPartition, partition: Partition, anatomy: Anatomy) -> None:
    """Which segment this is, how the batches are shaded, and the way to Lookup."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        parts.title(
            _titled(partition, anatomy.segment), segment_words.lead(anatomy, partition.state), gap=0
        )
        if len(anatomy.batches):
            choice.adopt(state.SHADE, {one: one for one in segment_shade.SHADES})
            look: dict[str, Any] = {
                "label_visibility": "collapsed",
                "format_func": lambda one: say(f"segment.shade_{one}"),
            }
            st.segmented_control(
                say("segment.shade"), segment_shade.SHADES, key=state.SHADE, required=True, **look
            )
        if (
            "Lookup" in pages()
            and len(anatomy.batches)
            and st.button(say("segment.look_up"), icon=":material/manage_search:")
        ):
            offset = int(anatomy.batches["last_offset"][chosen(place, anatomy).row])
            st.switch_page(
                pages()["Lookup"].script,
                query_params={**place.address, "by": "offset", "target": str(offset)},
            )


def bare_title(partition: Partition | None, segment: Segment | None = None) -> None:
    """The title alone, above what says why there is no more."""
    parts.title(_titled(partition, segment))


def _titled(partition: Partition | None, segment: Segment | None) -> str:
    """The name of the topic-partition, and where the segment starts, as HTML."""
    name = units.legible(partition.label) if partition else parts.page_name("Segment")
    base = say("segment.from_offset", offset=units.group(segment.base_offset)) if segment else ""
    return (
        f'{escape(name)} <span class="kv-fnt" style="font-weight:500">{escape(base)}</span>'
        if base
        else escape(name)
    )
