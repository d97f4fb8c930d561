"""What stands on the Segment page when there is nothing to draw, or what was drawn is no longer
so.
"""

from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import fault_words, segment_words
from kafkaviz.figures.listed import listed
from kafkaviz.figures.segment_facts import FactGroups
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import anatomies, parts, state
from kafkaviz.ui.pick import InPartition, InSegment
from kafkaviz.ui.segment import bytes_tab
from kafkaviz.ui.segment.facts import columns, facts
from kafkaviz.ui.segment.head import bare_title
from kafkaviz.words import counted, say

LISTED = 12  # segments offered instead of one that is not there


def not_there(place: InPartition, partition: Partition) -> None:
    """No such segment: those that there are."""
    if not partition.segments:
        return _without_segment(place, partition)
    asked = st.query_params.get(state.SEGMENT, "")
    bare_title(partition)
    found = list({one.base_offset: one for one in reversed(partition.segments) if one.log}.values())
    why = counted(
        "segment.not_there_why",
        len(found),
        n=units.group(len(found)),
        name=units.legible(partition.label),
    )
    with (
        parts.state("not_there", "info", say("segment.not_there", asked=asked), why),
        st.container(gap=0),
    ):
        for one in _nearest(found, state.number(asked)):
            told = {
                "size": units.size(one.log.size_bytes),
                "state": say(f"common.kind_{one.state}"),
            }
            label = say("segment.offered", name=f"`{one.name}`", **told)
            if st.button(
                label, icon=":material/straighten:", type="tertiary", key=f"kv_to_{one.name}"
            ):
                st.switch_page(
                    "pages/segment.py",
                    query_params=state.address(
                        place.directory, partition.directory, one.base_offset
                    ),
                )


def _nearest(found: list[Segment], offset: int | None) -> list[Segment]:
    """At most twelve segments, those whose base offsets lie closest to the one asked for."""
    close = sorted(found, key=lambda one: abs(one.base_offset - (offset or 0)))[:LISTED]
    return sorted(close, key=lambda one: one.base_offset)


def _without_segment(place: InPartition, partition: Partition) -> None:
    """A directory without a file of any segment; what else lies there has bytes too."""
    bare_title(partition)
    with parts.empty("segment", say("segment.no_segment"), say("segment.no_segment_why")):
        _to_broker(place)
    _bytes_below(place)


def without_log(place: InSegment) -> None:
    """Index files whose log is gone."""
    bare_title(place.partition, place.segment)
    names = listed(one.path.name for one in place.segment.files)
    with parts.state(
        "no_log", "warning", say("segment.no_log"), say("segment.no_log_why", names=names)
    ):
        _to_broker(place)
    _bytes_below(place)


def unreadable(fault: CannotOpen) -> None:
    """A file that may not be read, or went while it was looked at."""
    bare_title(None)
    gone = fault.kind == "missing"
    why = (
        say("segment.gone_why")
        if gone
        else say("segment.unreadable_why", what=fault_words.what(fault.what))
    )
    finding = say("segment.gone" if gone else "segment.unreadable", name=fault.path.name)
    with parts.state(
        "unreadable",
        "info" if gone else "lock" if fault.kind == "permission" else "error",
        finding,
        why,
    ):
        st.button(say("common.try_again"), key="kv_again")


def grown(anatomy: Anatomy) -> None:
    """A broker was writing while the file was read."""
    before, after = (units.group(one) for one in cast(tuple[int, int], anatomy.grown_bytes))
    finding = say("segment.grown", name=anatomy.segment.log.path.name)
    with parts.state(
        "grown", "warning", finding, say("segment.grown_why", before=before, after=after)
    ):
        st.button(say("segment.read_again"), key="kv_read_again", on_click=anatomies.forget)
    st.space(16)


def no_batch(place: InPartition, anatomy: Anatomy, groups: FactGroups) -> None:
    """A log that is empty, or holds less than one batch."""
    left, right = columns()
    with left, parts.empty("segment", *segment_words.nothing(anatomy)):
        _to_broker(place)
    facts(right, groups)
    _bytes_below(place)


@st.fragment
def _bytes_below(place: InPartition) -> None:
    """The bytes of what is there, below the sentence that says what is not."""
    st.space(24)
    parts.heading(say("segment.bytes_heading"))
    bytes_tab.alone(place)


def _to_broker(place: InPartition) -> None:
    st.page_link(
        "app.py",
        label=say("common.show_broker"),
        icon=":material/dns:",
        query_params=state.address(place.directory),
    )
