"""What stands on the Segment page when there is nothing to draw, or what was drawn is no longer
so.
"""

from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.anatomy import Anatomy
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.pages.segment import bytes_tab
from kafkaviz.app.pages.segment.facts import columns, render_facts
from kafkaviz.app.pages.segment.head import render_title
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import error_text, segment_text
from kafkaviz.figures.join_text import join_comma
from kafkaviz.figures.segment_facts import FactGroups
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.words import say, say_count

MOST_OFFERED = 12  # segments offered instead of one that is not there


def render_missing_segment(location: PartitionLocation, partition: Partition) -> None:
    """No such segment: those that there are."""
    if not partition.segments:
        return _render_no_segment(location, partition)
    address_text = st.query_params.get(page_state.SEGMENT, "")
    render_title(partition)
    candidates = list(
        {
            candidate.base_offset: candidate
            for candidate in reversed(partition.segments)
            if candidate.log
        }.values()
    )
    reason = say_count(
        "segment.not_there_why",
        len(candidates),
        n=units.group(len(candidates)),
        name=units.escape_controls(partition.label),
    )
    with (
        elements.state("not_there", "info", say("segment.not_there", asked=address_text), reason),
        st.container(gap=0),
    ):
        for segment in _nearest(candidates, page_state.number(address_text)):
            values = {
                "size": units.size(segment.log.size_bytes),
                "state": say(f"common.kind_{segment.state}"),
            }
            label = say("segment.offered", name=f"`{segment.name}`", **values)
            if st.button(
                label, icon=":material/straighten:", type="tertiary", key=f"kv_to_{segment.name}"
            ):
                st.switch_page(
                    "pages/segment.py",
                    query_params=page_state.address(
                        location.directory, partition.directory, segment.base_offset
                    ),
                )


def _nearest(candidates: list[Segment], offset: int | None) -> list[Segment]:
    """At most twelve segments, those whose base offsets lie closest to the one asked for."""
    nearest = sorted(candidates, key=lambda candidate: abs(candidate.base_offset - (offset or 0)))[
        :MOST_OFFERED
    ]
    return sorted(nearest, key=lambda candidate: candidate.base_offset)


def _render_no_segment(location: PartitionLocation, partition: Partition) -> None:
    """A directory without a file of any segment; what else lies there has bytes too."""
    render_title(partition)
    with elements.empty("segment", say("segment.no_segment"), say("segment.no_segment_why")):
        _render_broker_link(location)
    _render_bytes(location)


def render_no_log(location: SegmentLocation) -> None:
    """Index files whose log is gone."""
    render_title(location.partition, location.segment)
    names = join_comma(file.path.name for file in location.segment.files)
    with elements.state(
        "no_log", "warning", say("segment.no_log"), say("segment.no_log_why", names=names)
    ):
        _render_broker_link(location)
    _render_bytes(location)


def render_unreadable(fault: CannotOpen) -> None:
    """A file that may not be read, or went while it was looked at."""
    render_title(None)
    is_gone = fault.kind == "missing"
    reason = (
        say("segment.gone_why")
        if is_gone
        else say("segment.unreadable_why", what=error_text.describe_part(fault.what))
    )
    finding = say("segment.gone" if is_gone else "segment.unreadable", name=fault.path.name)
    with elements.state(
        "unreadable",
        "info" if is_gone else "lock" if fault.kind == "permission" else "error",
        finding,
        reason,
    ):
        st.button(say("common.try_again"), key="kv_again")


def render_grown(anatomy: Anatomy) -> None:
    """A broker was writing while the file was read."""
    before, after = (
        units.group(size_bytes) for size_bytes in cast(tuple[int, int], anatomy.grown_bytes)
    )
    finding = say("segment.grown", name=anatomy.segment.log.path.name)
    with elements.state(
        "grown", "warning", finding, say("segment.grown_why", before=before, after=after)
    ):
        st.button(say("segment.read_again"), key="kv_read_again", on_click=segment_cache.forget)
    st.space(16)


def render_no_batch(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    """A log that is empty, or holds less than one batch."""
    left, right = columns()
    with left, elements.empty("segment", *segment_text.no_batch_text(anatomy)):
        _render_broker_link(location)
    render_facts(right, groups)
    _render_bytes(location)


@st.fragment
def _render_bytes(location: PartitionLocation) -> None:
    """The bytes of what is there, below the sentence that says what is not."""
    st.space(24)
    elements.heading(say("segment.bytes_heading"))
    bytes_tab.render_file_bytes(location)


def _render_broker_link(location: PartitionLocation) -> None:
    st.page_link(
        "app.py",
        label=say("common.show_broker"),
        icon=":material/dns:",
        query_params=page_state.address(location.directory),
    )
