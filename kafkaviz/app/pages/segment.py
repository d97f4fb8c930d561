"""The Segment page: the three files of a segment, and how they point at each other.

The pin is the batch that the user clicked, with its index slots. The tabs below the ruler show the
batches and index entries around the pin, the transactions of the segment, and bytes.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.app import access, frontend, page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frame import frame, pages
from kafkaviz.app.pages import segment_transactions
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state.page_location import PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import choice, elements, faults, segment_widgets
from kafkaviz.app.widgets.tables import arrow_csv, download
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.segment import segment_bytes, segment_tables
from kafkaviz.figures.segment.segment_bytes import BytesView, ByteWindow, InitialByte
from kafkaviz.figures.segment.segment_facts import FactGroups
from kafkaviz.figures.segment.segment_ruler import PLAIN, SHADES
from kafkaviz.figures.segment.segment_tables import PinnedRow, all_rows
from kafkaviz.format import names
from kafkaviz.html import Html, html, join, tag
from kafkaviz.log import broker, file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Index, LogSegment, Segment
from kafkaviz.messages import render, say, say_count
from kafkaviz.render import segment_text
from kafkaviz.render.sentences import join_comma

MAX_SEGMENTS = 12  # most segments listed if the address names a missing one
BYTE_DIGITS = 15  # JavaScript represents integers of up to this length exactly
MAX_FILES = 40  # most files in the menu; a partition may have a snapshot file per segment
BATCHES, INDEX, TIMES, TRANSACTIONS, BYTES = PAGES["Segment"].tabs
# 728 and 276 pixels in a window 1280 pixels wide; Streamlit divides the width without the gap
WIDTHS = (0.7207, 0.2793)


@in_turn
def render_page() -> None:
    location = frame("Segment")
    elements.apply_print_style()
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
    """Draws the part of the page that depends on the selected batch.

    A new selection reruns only this function.
    """
    if segment_cache.has_lost_bytes(anatomy):
        st.rerun()
    try:
        _render_explored(location, anatomy, groups)
    except CannotOpen:  # the .log was replaced by another file
        segment_cache.forget()
        st.rerun()


def _render_explored(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    tab = choice.take_from_address(page_state.TAB, PAGES["Segment"].tab_labels)
    with st.container(gap=24):
        left, right = st.columns(WIDTHS, gap=20)
        with left:
            frontend.ruler(ruler_message(location, anatomy))
        render_facts(right, groups)
        render_tables(location, anatomy)
    shade = st.session_state[page_state.SHADE]
    tab_word = None if tab == BATCHES else tab
    shade_word = None if shade == PLAIN else shade
    frontend.address({page_state.TAB: tab_word, page_state.SHADE: shade_word})


def _render_missing_segment(location: PartitionLocation, partition: Partition) -> None:
    if not partition.segments:
        return _render_no_segment(location, partition)
    address_text = st.query_params.get(page_state.SEGMENT, "")
    elements.title(_title_html(partition))
    candidates = {
        candidate.base_offset: candidate
        for candidate in reversed(partition.segments)
        if isinstance(candidate, LogSegment)
    }
    name = units.escape_controls(partition.label)
    reason = say_count("segment.not_there_why", len(candidates), name=name)
    with (
        elements.state("not_there", "info", say("segment.not_there", offset=address_text), reason),
        st.container(gap=0),
    ):
        for segment in _nearest(list(candidates.values()), page_state.number(address_text)):
            label = say(
                "segment.offered",
                name=f"`{segment.name}`",
                size=segment.log.size_bytes,
                state=say(f"common.kind_{segment.state}"),
            )
            if st.button(
                label, icon=":material/straighten:", type="tertiary", key=f"kv_to_{segment.name}"
            ):
                parameters = page_state.address(
                    location.directory, location.partition_name, segment.base_offset
                )
                elements.open_page("Segment", parameters)


def _nearest(candidates: list[LogSegment], offset: int | None) -> list[LogSegment]:
    by_distance = sorted(candidates, key=lambda each: abs(each.base_offset - (offset or 0)))
    return sorted(by_distance[:MAX_SEGMENTS], key=attrgetter("base_offset"))


def _render_no_segment(location: PartitionLocation, partition: Partition) -> None:
    elements.title(_title_html(partition))
    with elements.empty("segment", say("segment.no_segment"), say("segment.no_segment_why")):
        faults.broker_link(location.directory)
    _render_bytes(location)


def _render_no_log(location: SegmentLocation) -> None:
    elements.title(_title_html(location.partition, location.segment))
    names = join_comma(file.path.name for file in location.segment.files)
    reason = say("segment.no_log_why", names=names)
    with elements.state("no_log", "warning", say("common.no_log"), reason):
        faults.broker_link(location.directory)
    _render_bytes(location)


def _render_unreadable(fault: CannotOpen) -> None:
    elements.title(_title_html(None))
    name = fault.path.name
    if fault.kind == "missing":
        icon = "info"
        finding = say("segment.gone", name=name)
        reason = say("segment.gone_why")
    else:
        icon = "lock" if fault.kind == "permission" else "error"
        finding = say("segment.unreadable", name=name)
        reason = say("segment.unreadable_why", problem=render(fault.what))
    with elements.state("unreadable", icon, finding, reason):
        st.button(say("common.try_again"), key="kv_again")


def _render_grown(anatomy: Anatomy) -> None:
    before, after = (
        units.format_count(size_bytes) for size_bytes in cast(tuple[int, int], anatomy.grown_bytes)
    )
    finding = say("segment.grown", name=anatomy.segment.log.path.name)
    reason = say("segment.grown_why", before=before, after=after)
    with elements.state("grown", "warning", finding, reason):
        st.button(say("segment.read_again"), key="kv_read_again", on_click=segment_cache.forget)
    st.space(16)


def _render_no_batch(location: PartitionLocation, anatomy: Anatomy, groups: FactGroups) -> None:
    left, right = st.columns(WIDTHS, gap=20)
    with left, elements.empty("segment", *segment_text.no_batch_text(anatomy)):
        faults.broker_link(location.directory)
    render_facts(right, groups)
    _render_bytes(location)


@st.fragment
def _render_bytes(location: PartitionLocation) -> None:
    st.space(24)
    elements.heading(say("segment.bytes_heading"))
    segment_files = segment_bytes.find_files(location.segment) if location.segment else {}
    if segment_files or _other_files(location):
        _render_file(*_render_file_choice(location, segment_files))


def render_tables(location: PartitionLocation, anatomy: Anatomy) -> None:
    pin = current_pin(anatomy)
    counts = len(anatomy.batches), len(anatomy.index.entries), len(anatomy.times.entries)
    elements.tab_counts(page_state.TAB, counts)
    batches, index, times, transactions, raw_bytes = st.tabs(
        list(PAGES["Segment"].tab_labels.values()), key=page_state.TAB, on_change="rerun"
    )
    with batches:
        st.html(segment_widgets.batches_html(segment_tables.batch_rows(anatomy, pin)))
        label = say_count("segment.download_batches", counts[0])
        _render_download(location, anatomy, "batches", label)
    with index:
        if _has_entries(anatomy, "index", anatomy.index, segment_text.no_entry_reason):
            st.html(segment_widgets.index_html(segment_tables.index_rows(anatomy, pin)))
            _render_download(location, anatomy, "index", _entries_label(counts[1]))
    with times:
        if _has_entries(anatomy, "timeindex", anatomy.times, segment_text.no_time_reason):
            rows = segment_tables.time_rows(anatomy, pin, segment_text.closing_event(anatomy))
            st.html(segment_widgets.time_index_html(rows))
            _render_download(location, anatomy, "timeindex", _entries_label(counts[2]))
    if transactions.open:
        with transactions:
            segment_transactions.render(location, anatomy.segment)
    if raw_bytes.open:
        with raw_bytes:
            render_pin_bytes(location, anatomy, pin)


def _has_entries(
    anatomy: Anatomy, kind: str, index: Index, describe_reason: Callable[[Anatomy], str]
) -> bool:
    if getattr(anatomy.segment, kind) is None:
        finding = say("segment.no_file", file=f".{kind}")
        elements.state(f"no_{kind}", "warning", finding, say(f"segment.without_{kind}"))
        return False
    if not len(index.entries):
        finding = say("segment.no_entry", file=f".{kind}")
        elements.empty(kind, finding, describe_reason(anatomy))
        return False
    return True


def _entries_label(count: int) -> str:
    return say_count("segment.download_entries", count)


def _render_download(location: PartitionLocation, anatomy: Anatomy, table: str, label: str) -> None:
    directory = units.escape_controls(location.partition.directory)
    name = f"{directory}-{anatomy.segment.name}-{table}.csv"
    download(label, lambda: arrow_csv(all_rows(anatomy, table)), name, f"kv_csv_{table}")


def render_head(location: PartitionLocation, partition: Partition, anatomy: Anatomy) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = segment_text.lead(anatomy, partition.state)
        elements.title(_title_html(partition, anatomy.segment), lead, gap=0)
        if len(anatomy.batches):
            choice.take_from_address(page_state.SHADE, {shade: shade for shade in SHADES})
            st.segmented_control(
                say("segment.shade"),
                SHADES,
                key=page_state.SHADE,
                required=True,
                format_func=lambda shade: say(f"segment.shade_{shade}"),
            )
        if (
            "Lookup" in pages()
            and len(anatomy.batches)
            and st.button(say("segment.look_up"), icon=":material/manage_search:", key="kv_look_up")
        ):
            offset = int(anatomy.batches.row(current_pin(anatomy).row)["last_offset"])
            target = {page_state.BY: "offset", page_state.TARGET: str(offset)}
            elements.open_page("Lookup", location.address | target)


def _title_html(partition: Partition | None, segment: Segment | None = None) -> Html:
    title = html(partition.label if partition else elements.page_name("Segment"))
    if segment:
        base_text = say("segment.from_offset", offset=segment.base_offset)
        base = tag("span", base_text, class_="kv-fnt", style="font-weight:500")
        title = join((title, " ", base))
    if partition and segment and segment.base_offset in partition.remote_bases:
        title = join((title, " ", tag("span", say("broker.hover_remote"), class_="kv-chip info")))
    return title


def current_pin(anatomy: Anatomy) -> PinnedRow:
    """Returns the batch clicked in the ruler, else the batch in the address, else a default."""
    ruler_pin = frontend.ruler_state("pin", segment_cache.key(anatomy.segment))
    if ruler_pin:
        row, slot, time = (int(ruler_pin[name]) for name in ("row", "slot", "time"))
        return segment_tables.find_pinned_row(anatomy, row, slot, time)
    target = _find_target(anatomy, st.query_params.get(page_state.PIN, ""))
    if target.row is None:
        target = selection.default_selection(anatomy)
    return segment_tables.find_pinned_row(anatomy, cast(int, target.row), target.slot, target.time)


def _find_target(anatomy: Anatomy, offset: str) -> Selection:
    byte = None if offset else opening_byte(segment_cache.key(anatomy.segment))
    if byte:
        return selection.select_byte(anatomy, *byte)
    return selection.select_offset(anatomy, offset)


def ruler_message(location: PartitionLocation, anatomy: Anatomy) -> bytes:
    """Returns the data of the ruler: the requested part of the segment, and the selected batch."""
    slice_request = frontend.ruler_state("slice", segment_cache.key(anatomy.segment))
    offset = slice_request.get("offset") or st.query_params.get(page_state.PIN, "")
    target = _find_target(anatomy, offset)
    shade = st.session_state[page_state.SHADE]
    centre_row = _centre_row(anatomy, slice_request)
    return segment_cache.browser_payload(anatomy, target, shade, centre_row, location.address)


def _centre_row(anatomy: Anatomy, slice_request: dict) -> int | None:
    if "row" in slice_request:
        return int(slice_request["row"])
    if "position" in slice_request:
        return selection.row_at_byte(anatomy, int(slice_request["position"]))
    return None


def render_facts(column: DeltaGenerator, groups: FactGroups) -> None:
    with column, st.container(key="kv_fig_facts"):
        segment_widgets.facts(groups)


def render_pin_bytes(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    """Draws the bytes of the chosen file. If it is the .log, draws only the selected batch."""
    segment_files = segment_bytes.find_files(anatomy.segment)
    name, file_info, legend = _render_file_choice(location, segment_files)
    if name not in segment_files:
        return _render_file(name, file_info, legend)
    segment_key = segment_cache.key(anatomy.segment)
    key = f"{segment_key} {name} {pin.row}" if name == ".log" else f"{segment_key} {name}"
    try:
        window = _byte_window(key)
        initial = InitialByte(_address_byte(), _is_time_pin(segment_key))
        view = segment_bytes.view(anatomy, name, *pin, window=window, initial=initial)
        _render_bytes_view(view, key, legend)
    except CannotOpen as fault:
        _render_error(file_info, fault)


def opening_byte(segment_key: str) -> tuple[str, int] | None:
    """Returns (file kind, byte position) from the address that opened the segment, or None."""
    if st.session_state.get(page_state.LINK_TARGET, ("",))[0] != segment_key:
        kind = segment_bytes.FILES.get(st.query_params.get(page_state.FILE, ".log"), "")
        st.session_state[page_state.LINK_TARGET] = segment_key, kind, _address_byte()
    _, kind, byte = st.session_state[page_state.LINK_TARGET]
    return (kind, byte) if byte is not None and kind else None


def _address_byte() -> int | None:
    digits = st.query_params.get(page_state.BYTE, "")
    if digits.isascii() and digits.isdigit() and len(digits) <= BYTE_DIGITS:
        return int(digits)
    return None


def _render_file_choice(
    location: PartitionLocation, segment_files: dict[str, FileInfo]
) -> tuple[str, FileInfo, DeltaGenerator]:
    with st.container(horizontal=True, vertical_alignment="center", key="kv_bytes_head"):
        legend = st.container(width="stretch")
        control = st.container(width="content")
        other_files = _other_files(location)
        base_offset = location.segment.base_offset if location.segment else 0
        offered_names = _nearest_names(other_files, base_offset)
        chosen_name = None
        if offered_names:
            label = say("bytes.other_files")
            chosen_name = st.menu_button(label, offered_names, type="tertiary", key="kv_other_file")
        if chosen_name:
            st.session_state[page_state.FILE] = chosen_name
            st.query_params.pop(page_state.BYTE, None)
        address_name = st.query_params.get(page_state.FILE, "")
        current_name = st.session_state.get(page_state.FILE) or address_name
        files = {**other_files, **segment_files}
        control_names = list(segment_files) or offered_names[:1]
        if current_name in other_files and current_name not in segment_files:
            control_names = [*segment_files, current_name]
        name = control.segmented_control(
            say("common.file"),
            control_names,
            default=None if chosen_name else control_names[0],
            key=page_state.FILE,
            bind="query-params",
            required=True,
            on_change=_forget_byte,
            label_visibility="collapsed",
        )
        name = cast(str, name)  # a file chosen in this run is in the session state
    return name, files[name], legend


def _forget_byte() -> None:
    st.query_params.pop(page_state.BYTE, None)


def _render_file(name: str, file_info: FileInfo, legend: DeltaGenerator) -> None:
    try:
        file_info = file.info(access.require_allowed(file_info.path))
        if not file_info.size_bytes:
            st.html(tag("p", say("bytes.empty", name=file_info.name), class_="kv-fnt"))
            return
        identity = f"{file_info.path}:{file_info.size_bytes}:{file_info.mtime_ns}"
        key = hashlib.sha256(os.fsencode(identity)).hexdigest()[:16]
        view = segment_bytes.file_view(file_info, name, _byte_window(key), _address_byte())
        _render_bytes_view(view, key, legend)
    except CannotOpen as fault:
        _render_error(file_info, fault)


def _render_error(file_info: FileInfo, fault: CannotOpen) -> None:
    text = say("bytes.cannot_open", name=file_info.name, problem=render(fault.what))
    st.html(tag("p", text, class_="kv-fnt"))


def _byte_window(key: str) -> ByteWindow:
    request = frontend.byte_request(key)
    return ByteWindow(request.get("outer"), request.get("inner"))


def _render_bytes_view(bytes_view: BytesView, key: str, legend: DeltaGenerator) -> None:
    swatches = ((f"byte-{kind}", text) for kind, text in segment_bytes.legend(bytes_view))
    legend.html(elements.key(swatches))
    frontend.bytes_view(segment_bytes.browser_payload(bytes_view, key))


def _is_time_pin(segment_key: str) -> bool:
    """Returns whether the clicked row has a .timeindex entry but no .index entry."""
    pin = frontend.ruler_state("pin", segment_key)
    return bool(pin) and pin["time"] != NONE and pin["slot"] == NONE


def _other_files(location: PartitionLocation) -> dict[str, FileInfo]:
    """Returns files of the topic-partition and broker directory outside the segment, by label.

    A file name from the address is looked up in this dict, and never joined to a path.
    """
    files: dict[str, FileInfo] = {}
    for file_info in [*_files_beside(location.partition), *broker.own_files(location.broker.path)]:
        files.setdefault(file_label(file_info.name), file_info)
    return files


def _files_beside(partition: Partition) -> Iterator[FileInfo]:
    yield from partition.other_files
    for segment in partition.segments:
        if not segment.is_in_use:
            yield from segment.files


def file_label(name: str) -> str:
    """Returns a file's name for the file control and the address. Markdown in it is escaped."""
    return name if segment_bytes.PLAIN_NAME.fullmatch(name) else elements.escape_markdown(name)


def _nearest_names(files: dict[str, FileInfo], base_offset: int) -> list[str]:
    """Returns up to MAX_FILES names: those without an offset, and those nearest `base_offset`."""
    parsed_names = {name: names.parse_file(file_info.name) for name, file_info in files.items()}
    plain_names = [name for name in files if parsed_names[name] is None]
    numbered_names = sorted(
        (name for name in files if parsed_names[name]),
        key=lambda name: abs(cast(names.SegmentName, parsed_names[name]).base_offset - base_offset),
    )
    offered_names = set(numbered_names[: max(0, MAX_FILES - len(plain_names))])
    return [*(name for name in files if name in offered_names), *plain_names[:MAX_FILES]]
