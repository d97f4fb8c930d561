"""The Bytes tab: a control for the file, a legend, and the bytes of that file.

It offers the files of the segment, other files of the topic-partition, and the broker's own files.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Any, cast

import streamlit as st

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.app import access, frontend, page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import elements
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.figures.segment.segment_bytes import BytesView, ByteWindow, InitialByte
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.format import names
from kafkaviz.format.names import SegmentName
from kafkaviz.log import broker, file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.messages import render, say

TAB = "Bytes"  # the word of this tab in the address
BYTE_DIGITS = 15  # JavaScript's integers are exact up to this length
HIDDEN_LABEL = {"label_visibility": "collapsed"}
MAX_OFFERED = 40  # files in the menu: a partition has a snapshot for each of its segments


def render_pin_bytes(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    """Draws the bytes of the pin in a file of its segment, or any other file."""
    segment_files = segment_bytes.find_files(anatomy.segment)
    name, file_info, legend = _render_file_choice(location, segment_files)
    if name not in segment_files:
        return _render_file(name, file_info, legend)
    segment_key = segment_cache.key(anatomy.segment)
    key = f"{segment_key} {name} {pin.row}" if name == ".log" else f"{segment_key} {name}"
    try:
        _render_bytes_view(
            segment_bytes.view(
                anatomy,
                name,
                *pin,
                window=_byte_window(key),
                initial=InitialByte(_address_byte(), _is_time_pin(segment_key)),
            ),
            key,
            legend,
        )
    except CannotOpen as fault:
        _render_error(file_info, fault)


def render_file_bytes(location: PartitionLocation) -> None:
    """Draws the bytes of a file if the segment is missing or has no batch to pin."""
    segment_files = segment_bytes.find_files(location.segment) if location.segment else {}
    if segment_files or _other_files(location):
        _render_file(*_render_file_choice(location, segment_files))


def opening_byte(segment_key: str) -> tuple[str, int] | None:
    """Returns the kind of file and the byte that the address named when this segment was opened."""
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
) -> tuple[str, FileInfo, "st.delta_generator.DeltaGenerator"]:
    """Draws the control for the file.

    Returns:
        The name of the file, the file, and the place for the legend.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="kv_bytes_head"):
        legend = st.container(width="stretch")
        control = st.container(width="content")
        other_files = _other_files(location)
        offered_names = _nearest_names(
            other_files, location.segment.base_offset if location.segment else 0
        )
        chosen_name = (
            st.menu_button(
                say("bytes.other_files"), offered_names, type="tertiary", key="kv_other_file"
            )
            if offered_names
            else None
        )
        if chosen_name:
            st.session_state[page_state.FILE] = chosen_name
            st.query_params.pop(page_state.BYTE, None)
        current_name = st.session_state.get(page_state.FILE) or st.query_params.get(
            page_state.FILE, ""
        )
        files = {**other_files, **segment_files}
        control_names = [
            *segment_files,
            *(
                [current_name]
                if current_name in other_files and current_name not in segment_files
                else []
            ),
        ] or offered_names[:1]
        default = None if chosen_name else control_names[0]
        widget_options: dict[str, Any] = {
            "key": page_state.FILE,
            "bind": "query-params",
            "on_change": _forget_byte,
            **HIDDEN_LABEL,
        }
        name = control.segmented_control(
            say("common.file"), control_names, default=default, required=True, **widget_options
        )
        name = cast(str, name)  # a file that was just chosen is already in the session state
    return name, files[name], legend


def _forget_byte() -> None:
    """Removes the byte from the address, because it belongs to the previous file."""
    st.query_params.pop(page_state.BYTE, None)


def _render_file(
    name: str, file_info: FileInfo, legend: "st.delta_generator.DeltaGenerator"
) -> None:
    """Draws a file from its first byte on, or why there is nothing to draw."""
    try:
        file_info = file.info(access.require_allowed(file_info.path))
        if not file_info.size_bytes:
            st.html(
                f'<p class="kv-fnt">{elements.escape(say("bytes.empty", name=file_info.name))}</p>'
            )
            return
        key = hashlib.sha256(
            os.fsencode(f"{file_info.path}:{file_info.size_bytes}:{file_info.mtime_ns}")
        ).hexdigest()[:16]
        _render_bytes_view(
            segment_bytes.file_view(file_info, name, _byte_window(key), _address_byte()),
            key,
            legend,
        )
    except CannotOpen as fault:
        _render_error(file_info, fault)


def _render_error(file_info: FileInfo, fault: CannotOpen) -> None:
    text = say("bytes.cannot_open", name=file_info.name, problem=render(fault.what))
    st.html(f'<p class="kv-fnt">{elements.escape(text)}</p>')


def _byte_window(key: str) -> ByteWindow:
    request = frontend.byte_request(key)
    return ByteWindow(request.get("outer"), request.get("inner"))


def _render_bytes_view(
    bytes_view: BytesView, key: str, legend: "st.delta_generator.DeltaGenerator"
) -> None:
    legend.html(
        elements.key((f"byte-{kind}", text) for kind, text in segment_bytes.legend(bytes_view))
    )
    frontend.bytes_view(segment_bytes.browser_payload(bytes_view, key))


def _is_time_pin(segment_key: str) -> bool:
    """Returns whether the pin was chosen by a time entry that has no offset entry."""
    pin = frontend.ruler_state("pin", segment_key)
    return bool(pin) and pin["time"] != NONE and pin["slot"] == NONE


def _other_files(location: PartitionLocation) -> dict[str, FileInfo]:
    """Returns the other files of the topic-partition, then the broker directory's own, by label.

    A name from an address is only looked up here, never joined to a path.
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
    """Returns a file name for the widget and the address. Markdown in it is escaped."""
    return name if segment_bytes.PLAIN_NAME.fullmatch(name) else elements.escape_markdown(name)


def _nearest_names(files: dict[str, FileInfo], base_offset: int) -> list[str]:
    """Returns up to MAX_OFFERED names: all without an offset, and those nearest to the segment."""
    parsed_names = {name: names.parse_file(file_info.name) for name, file_info in files.items()}
    plain_names = [name for name in files if parsed_names[name] is None]
    numbered_names = sorted(
        (name for name in files if parsed_names[name]),
        key=lambda name: abs(cast(SegmentName, parsed_names[name]).base_offset - base_offset),
    )
    offered_names = set(numbered_names[: max(0, MAX_OFFERED - len(plain_names))])
    return [*(name for name in files if name in offered_names), *plain_names[:MAX_OFFERED]]
