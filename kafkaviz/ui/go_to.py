"""Go to: a page, a topic-partition, a segment, or the segment that holds an offset, from a few typed words.

`orders` finds orders-0 to orders-2; `orders-0 2247` finds the segment that holds offset 2247 of orders-0.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from kafkaviz import units
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import parts, pick, state
from kafkaviz.ui.components import focus
from kafkaviz.ui.pick import Place
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.ui.frame import Page

MOST = 6  # of a kind
SEGMENT_PAGE = "Segment"


class Found(NamedTuple):
    """One thing to go to: under which heading, its words, a quiet word more, and its address."""

    heading: str
    words: str
    aside: str
    page: str
    address: dict[str, str]


def dialog(place: Place, text: str, pages: Mapping[str, tuple], current: str) -> None:
    """The content of the dialog.

    pages: by name each page that exists, and the part of this address that a link to it keeps; current: the page that is open.
    """
    asked = st.text_input(
        say("go_to.field"),
        text,
        placeholder="orders-0 2247",
        live="200ms",
        key="kv_goto_text",
        label_visibility="collapsed",
    )
    with st.container(key="kv_found", gap=None):
        focus()
        heading = None
        for number, one in enumerate(found(place, asked or "", {name: kept for name, (_, kept) in pages.items()})):
            if one.heading != heading:
                st.html(f'<div class="kv-group">{one.heading}</div>')
            heading = one.heading
            _entry(number, one, pages[one.page][0], one.page == current)
        if heading is None:
            st.html(f'<div class="kv-group">{say("go_to.nothing")}</div>')


def _entry(number: int, one: Found, page: "Page", here: bool) -> None:
    """A link; on the page itself a button, because Streamlit 1.67 tells a page's components of a link's address too late."""
    label = parts.plain(one.words) + (f" :gray[{parts.plain(one.aside)}]" if one.aside else "")
    look = {"icon": f":material/{page.icon}:", "width": "stretch"}
    if not here:
        st.page_link(page.script, label=label, query_params=one.address, **look)
    elif st.button(label, type="tertiary", key=f"kv_found_{number}", **look):
        st.session_state.pop(state.DIALOG, None)
        st.switch_page(page.script, query_params=one.address)


def found(place: Place, asked: str, pages: Mapping[str, dict[str, str]]) -> list[Found]:
    """What fits the words, best first. pages: the address that a link to each page keeps."""
    words = asked.lower().split()
    offset = state.number(words[-1]) if len(words) > 1 else None
    name = " ".join(words[:-1] if offset is not None else words)
    hits = [_page(page, kept) for page, kept in pages.items() if offset is None and _names(page, name)]
    if place.broker is None or SEGMENT_PAGE not in pages:
        return hits
    partitions = _named(place.broker, name)
    if offset is not None:
        return [*_offsets(place.directory, partitions, offset), *hits]
    listed = [*_partitions(place.directory, partitions), *_segments(place.directory, partitions[:1] if name else [])]
    return [*listed, *hits] if name else [*hits, *listed]


def _page(page: str, kept: dict[str, str]) -> Found:
    return Found(say("go_to.pages"), parts.page_name(page), "", page, kept)


def _names(page: str, typed: str) -> bool:
    """Whether that is in a page's name, in the reader's language or in English."""
    return typed in page.lower() or typed in parts.page_name(page).lower()


def _named(broker: Broker, name: str) -> list[Partition]:
    """Topic-partitions with this in their name: the same name first, then those that start with it, then the largest."""
    fitting = [one for one in broker.partitions if name in one.directory.lower()]
    return sorted(
        fitting, key=lambda one: (one.directory.lower() != name, not one.directory.lower().startswith(name), -pick.log_bytes(one))
    )


def _offsets(directory: str, partitions: list[Partition], offset: int) -> Iterator[Found]:
    """The segments that a broker would look in for an offset."""
    for partition in [one for one in partitions if one.live and one.live[0].base_offset <= offset][:MOST]:
        segment = pick.segment_of(partition, offset)
        address = state.address(directory, partition.directory, segment.base_offset, offset)
        words = say("go_to.offset_in", offset=units.group(offset), partition=partition.directory)
        yield Found(say("go_to.offsets"), words, _size(segment), SEGMENT_PAGE, address)


def _partitions(directory: str, partitions: list[Partition]) -> Iterator[Found]:
    for one in [one for one in partitions if one.segments][:MOST]:
        address = state.address(directory, one.directory)
        yield Found(say("go_to.topic_partitions"), one.directory, units.size(pick.log_bytes(one)), SEGMENT_PAGE, address)


def _segments(directory: str, partitions: list[Partition]) -> Iterator[Found]:
    """The segments of the one that fits best, newest first."""
    for partition in partitions:
        for segment in list(reversed(partition.live))[:MOST]:
            address = state.address(directory, partition.directory, segment.base_offset)
            yield Found(say("go_to.segments"), f"{partition.directory} › {segment.name}", _size(segment), SEGMENT_PAGE, address)


def _size(segment: Segment) -> str:
    return units.size(segment.log.size_bytes if segment.log else None)
