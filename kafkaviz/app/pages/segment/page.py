"""The Segment page: the three files of a segment, and how they point at each other.

The pin is the batch, with its index slots, that the whole page is about. Below the ruler are tabs:
batches, index and time index around the pin, and bytes.
"""

from collections.abc import Callable, Sequence
from functools import partial
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
from kafkaviz.app.frame import frame, pages
from kafkaviz.app.frontend import address, ruler, ruler_state
from kafkaviz.app.pages.segment import bytes_tab
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import choice, elements, faults, segment_widgets
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.app.widgets.tables import download
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_facts import FactGroups
from kafkaviz.figures.segment.segment_ruler import PLAIN, SHADES
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.figures.text import segment_text
from kafkaviz.figures.text.sentences import join_comma
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Index, LogSegment, Segment
from kafkaviz.messages import render, say, say_count

MAX_OFFERED = 12  # segments offered instead of a missing one


@in_turn
def render_page() -> None:
    """Draws the page, or why the segment cannot be shown."""
    location = frame("Segment")
    apply_print_style()
    location = faults.require_partition(location)
    partition = location.partition
    if not isinstance(location, SegmentLocation):
        return _render_missing_segment(location, partition)
    if not isinstance(location.segment, LogSegment):
        return _render_no_log(location)
    try:
        anatomy = segment_cache.read(location.segment)
    except CannotOpen as fault:
        return _render_unreadable(fault)
    render_head(location, partition, anatomy)
    if anatomy.grown_bytes:
        _render_grown(anatomy)
    groups = segment_cache.facts(location.snapshot, partition, anatomy)
    if not len(anatomy.batches):
        return _render_no_batch(location, anatomy, groups)
    _explore(location, anatomy, groups)


@st.fragment
def _explore(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    """Draws the ruler, the facts, and the tables around the pin.

    Only this part reruns when the pin moves.
    """
    if segment_cache.has_lost_bytes(anatomy):
        st.rerun()
    try:
        _render_explored(location, anatomy, groups)
    except CannotOpen:  # the .log was replaced by another file
        segment_cache.forget()
        st.rerun()


def _render_explored(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    tab = choice.take_from_address(page_state.TAB, tab_names())
    with st.container(gap=24):
        left, right = columns()
        with left:
            ruler(ruler_message(location, anatomy))
        render_facts(right, groups)
        render_tables(location, anatomy)
    shade = st.session_state[page_state.SHADE]
    address(
        {
            page_state.TAB: None if tab == BATCHES else tab,
            page_state.SHADE: None if shade == PLAIN else shade,
        }
    )


def _render_missing_segment(location: PartitionLocation, partition: Partition) -> None:
    """Draws a notice that the segment is missing, with buttons to the nearest ones."""
    if not partition.segments:
        return _render_no_segment(location, partition)
    address_text = st.query_params.get(page_state.SEGMENT, "")
    render_title(partition)
    candidates = list(
        {
            candidate.base_offset: candidate
            for candidate in reversed(partition.segments)
            if isinstance(candidate, LogSegment)
        }.values()
    )
    reason = say_count(
        "segment.not_there_why",
        len(candidates),
        name=units.escape_controls(partition.label),
    )
    with (
        elements.state("not_there", "info", say("segment.not_there", offset=address_text), reason),
        st.container(gap=0),
    ):
        for segment in _nearest(candidates, page_state.number(address_text)):
            label = say(
                "segment.offered",
                name=f"`{segment.name}`",
                size=units.format_bytes(segment.log.size_bytes),
                state=say(f"common.kind_{segment.state}"),
            )
            if st.button(
                label, icon=":material/straighten:", type="tertiary", key=f"kv_to_{segment.name}"
            ):
                st.switch_page(
                    "pages/segment.py",
                    query_params=page_state.address(
                        location.directory, location.partition_name, segment.base_offset
                    ),
                )


def _nearest(candidates: list[LogSegment], offset: int | None) -> list[LogSegment]:
    """Returns up to MAX_OFFERED segments with the nearest base offsets, in order."""
    nearest = sorted(candidates, key=lambda candidate: abs(candidate.base_offset - (offset or 0)))[
        :MAX_OFFERED
    ]
    return sorted(nearest, key=lambda candidate: candidate.base_offset)


def _render_no_segment(location: PartitionLocation, partition: Partition) -> None:
    """Draws a partition directory without segment files. Its other files are shown as bytes."""
    render_title(partition)
    with elements.empty("segment", say("segment.no_segment"), say("segment.no_segment_why")):
        _render_broker_link(location)
    _render_bytes(location)


def _render_no_log(location: SegmentLocation) -> None:
    render_title(location.partition, location.segment)
    names = join_comma(file.path.name for file in location.segment.files)
    with elements.state(
        "no_log", "warning", say("common.no_log"), say("segment.no_log_why", names=names)
    ):
        _render_broker_link(location)
    _render_bytes(location)


def _render_unreadable(fault: CannotOpen) -> None:
    render_title(None)
    is_gone = fault.kind == "missing"
    reason = (
        say("segment.gone_why")
        if is_gone
        else say("segment.unreadable_why", problem=render(fault.what))
    )
    finding = say("segment.gone" if is_gone else "segment.unreadable", name=fault.path.name)
    if is_gone:
        icon = "info"
    elif fault.kind == "permission":
        icon = "lock"
    else:
        icon = "error"
    with elements.state("unreadable", icon, finding, reason):
        st.button(say("common.try_again"), key="kv_again")


def _render_grown(anatomy: Anatomy) -> None:
    before, after = (
        units.format_count(size_bytes) for size_bytes in cast(tuple[int, int], anatomy.grown_bytes)
    )
    finding = say("segment.grown", name=anatomy.segment.log.path.name)
    with elements.state(
        "grown", "warning", finding, say("segment.grown_why", before=before, after=after)
    ):
        st.button(say("segment.read_again"), key="kv_read_again", on_click=segment_cache.forget)
    st.space(16)


def _render_no_batch(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    """Draws a log that is empty or has no whole batch."""
    left, right = columns()
    with left, elements.empty("segment", *segment_text.no_batch_text(anatomy)):
        _render_broker_link(location)
    render_facts(right, groups)
    _render_bytes(location)


@st.fragment
def _render_bytes(location: PartitionLocation) -> None:
    """Draws the bytes of the files that exist, below the notice about the missing one."""
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


# their words in the address
BATCHES = "Batches"
INDEX = "Index"
TIMES = "Time index"


def tab_names() -> dict[str, str]:
    """Returns the labels of the tabs, by their words in the address."""
    names = {
        BATCHES: "common.batches",
        INDEX: "segment.tab_index",
        TIMES: "segment.tab_times",
        bytes_tab.TAB: "segment.bytes_heading",
    }
    return {word: say(key) for word, key in names.items()}


def render_tables(location: PartitionLocation, anatomy: Anatomy) -> None:
    pin = current_pin(anatomy)
    counts = len(anatomy.batches), len(anatomy.index.entries), len(anatomy.times.entries)
    elements.tab_counts(page_state.TAB, counts)
    batches, index, times, raw_bytes = st.tabs(
        list(tab_names().values()), key=page_state.TAB, on_change="rerun"
    )
    with batches:
        st.html(segment_widgets.batches_html(segment_tables.batch_rows(anatomy, pin)))
        _render_download(
            location,
            anatomy,
            "batches",
            say_count("segment.download_batches", counts[0]),
        )
    with index:
        _render_index(location, anatomy, pin)
    with times:
        _render_time_index(location, anatomy, pin)
    if raw_bytes.open:
        with raw_bytes:
            bytes_tab.render_pin_bytes(location, anatomy, pin)


def _render_index(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    if _has_entries(anatomy, "index", anatomy.index, segment_text.no_entry_reason):
        st.html(segment_widgets.index_html(segment_tables.index_rows(anatomy, pin)))
        _render_download(location, anatomy, "index", _entries_label(len(anatomy.index.entries)))


def _render_time_index(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    if _has_entries(anatomy, "timeindex", anatomy.times, segment_text.no_time_reason):
        rows = segment_tables.time_rows(anatomy, pin, segment_text.closing_event(anatomy))
        st.html(segment_widgets.time_index_html(rows))
        _render_download(location, anatomy, "timeindex", _entries_label(len(anatomy.times.entries)))


def _has_entries(
    anatomy: Anatomy, kind: str, index: Index, describe_reason: Callable[[Anatomy], str]
) -> bool:
    """Returns whether an index file has entries. If not, draws a notice with the reason."""
    if getattr(anatomy.segment, kind) is None:
        with elements.state(
            f"no_{kind}",
            "warning",
            say("segment.no_file", file=f".{kind}"),
            say(f"segment.without_{kind}"),
        ):
            return False
    if not len(index.entries):
        with elements.empty(
            kind, say("segment.no_entry", file=f".{kind}"), describe_reason(anatomy)
        ):
            return False
    return True


def _entries_label(count: int) -> str:
    return say_count("segment.download_entries", count)


def _render_download(location: PartitionLocation, anatomy: Anatomy, table: str, label: str) -> None:
    name = (
        f"{units.escape_controls(location.partition.directory)}-{anatomy.segment.name}-{table}.csv"
    )
    download(label, partial(segment_tables.csv_bytes, anatomy, table), name, f"kv_csv_{table}")


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
