"""Go to: a page, a topic-partition, a segment, the segment that holds an offset, or another
directory, from a few typed words.

`orders` finds orders-0 to orders-2; `orders-0 2247` finds offset 2247 of orders-0, `2247` that of
where the reader is. Where nothing is typed it offers what was looked at before, so K and Enter lead
back.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from kafkaviz import units
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import access, parts, pick, seen, state
from kafkaviz.ui.components import focus
from kafkaviz.ui.pick import Place
from kafkaviz.ui.seen import Visit
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.ui.frame import Page

MOST = 6  # of a kind
PATH_CHARACTERS, BESIDE_CHARACTERS = 52, 30  # of a directory: as an entry, and beside one
BROKER_PAGE, SEGMENT_PAGE = "Broker", "Segment"
# pages of a topic-partition
OF_PARTITION = {"Lookup": "go_to.lookup", "Rolls": "go_to.rolls", "Tuning": "go_to.tune"}


class Found(NamedTuple):
    """One thing to go to: under which heading, its words, a quiet word more, and its address."""

    heading: str
    words: str
    aside: str
    page: str
    address: dict[str, str]


def dialog(place: Place, text: str, pages: Mapping[str, tuple], current: str) -> None:
    """The content of the dialog.

    pages: by name each page that exists, and the part of this address that a link to it keeps;
    current: the page that is open.
    """
    look: dict[str, Any] = {
        "placeholder": "orders-0 2247",
        "live": "200ms",
        "key": "kv_goto_text",
        "label_visibility": "collapsed",
    }
    asked = st.text_input(say("go_to.field"), text, **look) or ""
    with st.container(key="kv_found", gap=None):
        focus()
        heading = None
        kept = {name: address for name, (_, address) in pages.items()}
        for number, one in enumerate(
            found(place, asked, kept, seen.others(current, place), directories(place))
        ):
            if one.heading != heading:
                st.html(f'<div class="kv-group">{one.heading}</div>')
            heading = one.heading
            _entry(number, one, pages[one.page][0], one.page == current)
        nothing = f'<div class="kv-group">{say("go_to.nothing")}</div>' if heading is None else ""
        any_word = "" if heading is None else "any"
        # Enter waits for it, in keys.js
        st.html(f'{nothing}<i data-asked="{parts.escape(asked)}" data-found="{any_word}"></i>')


def directories(place: Place) -> list[str]:
    """The directories that were opened before, newest first, and the samples; not the one that is
    open.
    """
    known = dict.fromkeys([*pick.recent(), *map(str, access.samples())])
    return [one for one in known if one != place.directory]


def _entry(number: int, one: Found, page: "Page", here: bool) -> None:
    """A link; on the page itself a button, because Streamlit 1.67 tells a page's components of a
    link's address too late.
    """
    label = parts.plain(one.words) + (f" :gray[{parts.plain(one.aside)}]" if one.aside else "")
    look: dict[str, Any] = {"icon": f":material/{page.icon}:", "width": "stretch"}
    if not here:
        st.page_link(page.script, label=label, query_params=one.address, **look)
    elif st.button(label, type="tertiary", key=f"kv_found_{number}", **look):
        st.session_state.pop(state.DIALOG, None)
        st.switch_page(page.script, query_params=one.address)


def found(
    place: Place,
    asked: str,
    pages: Mapping[str, dict[str, str]],
    visits: Sequence[Visit] = (),
    known: Sequence[str] = (),
) -> list[Found]:
    """What fits the words, best first.

    pages: the address that a link to each page keeps; visits: what was looked at before; known:
    other directories.
    """
    words = asked.lower().split()
    offset = state.number(words[-1]) if words else None
    name = " ".join(words[:-1] if offset is not None else words)
    listed = [
        _page(page, kept) for page, kept in pages.items() if offset is None and _names(page, name)
    ]
    others = list(_directories(name, known)) if BROKER_PAGE in pages and offset is None else []
    if place.broker is None or SEGMENT_PAGE not in pages:
        return [*listed, *others]
    partitions = _named(place.broker, name)
    if offset is not None:
        near = partitions if name else _nearest(place, visits, partitions)
        # a topic may be called 2019
        named = [] if name else _partitions(place.directory, _named(place.broker, words[0]))
        return [*_at_offset(place, near, offset, pages), *named]
    fitting = list(_partitions(place.directory, partitions))
    if not name:
        return [*_visits(place, visits, pages), *listed, *fitting, *others]
    return [*fitting, *_of_best(place.directory, partitions[:1], pages), *listed, *others]


def _page(page: str, kept: dict[str, str]) -> Found:
    return Found(say("go_to.pages"), parts.page_name(page), "", page, kept)


def _names(page: str, typed: str) -> bool:
    """Whether that is in a page's name, in the reader's language or in English."""
    return typed in page.lower() or typed in parts.page_name(page).lower()


def _named(broker: Broker, name: str) -> list[Partition]:
    """Topic-partitions with this in their name: the same name first, then those that start with it,
    then the largest.
    """
    fitting = [one for one in broker.partitions if name in one.directory.lower()]
    return sorted(
        fitting,
        key=lambda one: (
            one.directory.lower() != name,
            not one.directory.lower().startswith(name),
            -one.log_bytes,
        ),
    )


def _nearest(place: Place, visits: Sequence[Visit], partitions: list[Partition]) -> list[Partition]:
    """The same, those first where the reader is or was last."""
    names = [place.partition.directory if place.partition else ""]
    names += [
        one.address[state.TOPIC_PARTITION]
        for one in visits
        if one.address[state.DIRECTORY] == place.directory
    ]
    near = {name: number for number, name in reversed(list(enumerate(names)))}
    return sorted(partitions, key=lambda one: near.get(one.directory, len(names)))


def _visits(place: Place, visits: Sequence[Visit], pages: Mapping[str, object]) -> Iterator[Found]:
    """What was looked at before; of another directory with its name."""
    for one in islice((one for one in visits if one.page in pages), MOST):
        directory, stem = one.address[state.DIRECTORY], state.number(one.address.get(state.SEGMENT))
        words = one.address[state.TOPIC_PARTITION] + (
            "" if stem is None else f" › {units.file_stem(stem)}"
        )
        aside = "" if directory == place.directory else parts.middle(directory, BESIDE_CHARACTERS)
        yield Found(
            say("go_to.recent"), words, aside, one.page, state.address(directory) | one.address
        )


def _at_offset(
    place: Place, partitions: list[Partition], offset: int, pages: Mapping[str, object]
) -> Iterator[Found]:
    """The segments that a broker would look in for an offset, and the search itself."""
    holding = list(
        islice((one for one in partitions if one.live and one.live[0].base_offset <= offset), MOST)
    )
    number = units.group(offset)
    for partition in holding:
        segment = pick.segment_of(partition, offset)
        address = state.address(place.directory, partition.directory, segment.base_offset, offset)
        words = say("go_to.offset_in", offset=number, partition=partition.directory)
        yield Found(say("go_to.offsets"), words, _size(segment), SEGMENT_PAGE, address)
    for partition in holding if "Lookup" in pages else []:
        address = state.address(place.directory, partition.directory) | {state.TARGET: str(offset)}
        words = say("go_to.lookup_offset", offset=number, partition=partition.directory)
        yield Found(say("go_to.lookups"), words, "", "Lookup", address)


def _partitions(directory: str, partitions: list[Partition]) -> Iterator[Found]:
    for one in islice((one for one in partitions if one.segments), MOST):
        address = state.address(directory, one.directory)
        yield Found(
            say("go_to.topic_partitions"),
            one.directory,
            units.size(one.log_bytes),
            SEGMENT_PAGE,
            address,
        )


def _of_best(
    directory: str, partitions: list[Partition], pages: Mapping[str, object]
) -> Iterator[Found]:
    """The segments of the one that fits best, newest first, and the other pages that are about
    it.
    """
    for partition in partitions:
        for segment in islice(reversed(partition.live), MOST):
            address = state.address(directory, partition.directory, segment.base_offset)
            yield Found(
                say("go_to.segments"),
                f"{partition.directory} › {segment.name}",
                _size(segment),
                SEGMENT_PAGE,
                address,
            )
        for page, key in OF_PARTITION.items() if partition.live else ():
            if page in pages:
                address = state.address(directory, partition.directory)
                yield Found(
                    say("go_to.pages"), say(key, partition=partition.directory), "", page, address
                )


def _directories(name: str, known: Sequence[str]) -> Iterator[Found]:
    for one in islice((one for one in known if name in one.lower()), MOST):
        yield Found(
            say("go_to.directories"),
            parts.middle(one, PATH_CHARACTERS),
            "",
            BROKER_PAGE,
            state.address(one),
        )


def _size(segment: Segment) -> str:
    return units.size(segment.log.size_bytes if segment.log else None)
