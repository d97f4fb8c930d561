"""The bytes below the segment ruler: which file, what the colours mean, and the view of the pinned
batch or slot, or of a whole file.
"""

import hashlib
import os
from typing import Any, cast

import streamlit as st

from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import fault_words, segment_bytes
from kafkaviz.figures.segment_bytes import BytesView, Look, Wanted
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.ui import access, anatomies, parts, state
from kafkaviz.ui.components import bytes as view
from kafkaviz.ui.components import ruler
from kafkaviz.ui.pick import InPartition
from kafkaviz.ui.segment import bytes_files
from kafkaviz.words import say

TAB = "Bytes"  # as the address has it
BYTE_DIGITS = 15  # JavaScript's numbers are exact up to here
NO_LOOK = {"label_visibility": "collapsed"}


def show(place: InPartition, anatomy: Anatomy, pin: Chosen) -> None:
    """The bytes of the pin in a file of its segment, or any file beside it."""
    own = bytes_files.of_segment(anatomy.segment)
    name, found, legend = _head(place, own)
    if name not in own:
        return _whole(name, found, legend)
    of = anatomies.key(anatomy.segment)
    key = f"{of} {name} {pin.row}" if name == ".log" else f"{of} {name}"
    try:
        _draw(
            segment_bytes.view(anatomy, name, *pin, _wanted(key), Look(asked_byte(), _by_time(of))),
            key,
            legend,
        )
    except CannotOpen as fault:
        _cannot(found, fault)


def alone(place: InPartition) -> None:
    """The bytes of a file where there is no batch to pin, or no segment."""
    own = bytes_files.of_segment(place.segment)
    if own or bytes_files.others(place):
        _whole(*_head(place, own))


def came(of: str) -> tuple[str, int] | None:
    """The kind of file and the byte that the address named when this segment was opened; None where
    it named none.
    """
    if st.session_state.get(state.CAME, ("",))[0] != of:
        kind = segment_bytes.FILES.get(st.query_params.get(state.FILE, ".log"), "")
        st.session_state[state.CAME] = of, kind, asked_byte()
    _, kind, byte = st.session_state[state.CAME]
    return (kind, byte) if byte is not None and kind else None


def asked_byte() -> int | None:
    """The byte in the address."""
    digits = st.query_params.get(state.BYTE, "")
    return (
        int(digits)
        if digits.isascii() and digits.isdigit() and len(digits) <= BYTE_DIGITS
        else None
    )


def _head(
    place: InPartition, own: dict[str, FileInfo]
) -> tuple[str, FileInfo, "st.delta_generator.DeltaGenerator"]:
    """The choice of a file; its name, the file, and the place for what the colours mean."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_bytes_head"):
        legend = st.container(width="stretch")
        control = st.container(width="content")
        others = bytes_files.others(place)
        offered = bytes_files.nearest(others, place.segment.base_offset if place.segment else 0)
        chosen = (
            st.menu_button(say("bytes.other_files"), offered, type="tertiary", key="kv_other_file")
            if offered
            else None
        )
        if chosen:
            st.session_state[state.FILE] = chosen
            st.query_params.pop(state.BYTE, None)
        asked = st.session_state.get(state.FILE) or st.query_params.get(state.FILE, "")
        known = {**others, **own}
        names = [*own, *([asked] if asked in others and asked not in own else [])] or offered[:1]
        default = None if chosen else names[0]
        options: dict[str, Any] = {
            "key": state.FILE,
            "bind": "query-params",
            "on_change": _forget_byte,
            **NO_LOOK,
        }
        name = control.segmented_control(
            say("bytes.file"), names, default=default, required=True, **options
        )
        name = cast(str, name)  # the one that was chosen just now waits in the session's state
    return name, known[name], legend


def _forget_byte() -> None:
    """A byte of one file means nothing in another."""
    st.query_params.pop(state.BYTE, None)


def _whole(name: str, found: FileInfo, legend: "st.delta_generator.DeltaGenerator") -> None:
    """A file from its first byte on, or why it has none to show."""
    try:
        found = file.info(access.allowed(found.path))
        if not found.size_bytes:
            st.html(f'<p class="kv-fnt">{parts.escape(say("bytes.empty", name=found.name))}</p>')
            return
        key = hashlib.sha256(
            os.fsencode(f"{found.path}:{found.size_bytes}:{found.mtime_ns}")
        ).hexdigest()[:16]
        _draw(segment_bytes.whole(found, name, _wanted(key), asked_byte()), key, legend)
    except CannotOpen as fault:
        _cannot(found, fault)


def _cannot(found: FileInfo, fault: CannotOpen) -> None:
    words = say("bytes.cannot_open", name=found.name, what=fault_words.what(fault.what))
    st.html(f'<p class="kv-fnt">{parts.escape(words)}</p>')


def _wanted(key: str) -> Wanted:
    told = view.wanted(key)
    return Wanted(told.get("outer"), told.get("inner"))


def _draw(shown: BytesView, key: str, legend: "st.delta_generator.DeltaGenerator") -> None:
    legend.html(parts.key((f"byte-{kind}", words) for kind, words in segment_bytes.legend(shown)))
    view.bytes_view(segment_bytes.message(shown, key))


def _by_time(of: str) -> bool:
    """Whether the pin was chosen by a time entry that has no offset entry beside it: then its time
    is what to look at.
    """
    picked = ruler.state("pin", of)
    return bool(picked) and picked["time"] != NONE and picked["slot"] == NONE
