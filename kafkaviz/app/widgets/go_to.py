"""The Go to dialog: finds topic-partitions and segments. go_to_targets.py has the other results.

- `orders` finds orders-0 to orders-2.
- `orders-0 2247` finds offset 2247 in orders-0.
- `2247` finds this offset in several topic-partitions, first in the current one.
- An empty field lists recently visited segments.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app import access, page_state
from kafkaviz.app.frontend import focus
from kafkaviz.app.registry import PAGES, GoToEntry
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.go_to_targets import (
    MAX_ENTRIES,
    PART,
    find_targets,
    rank_name,
    word_pattern,
)
from kafkaviz.html import tag
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import say
from kafkaviz.render.sentences import join_comma

MAX_VISITS = 12
# an issue or a proposal, typed with a space or hyphen before the number
ISSUE = re.compile(r"^(kafka|kip)[ -]+(\d+)$")
# most characters of a directory's path as a result, and as a note next to a result
PATH_CHARACTERS = 52
BESIDE_CHARACTERS = 30
BROKER_PAGE = "Broker"
SEGMENT_PAGE = "Segment"
# the pages about one topic-partition
PARTITION_PAGES = {"Lookup": "go_to.lookup", "Rolls": "go_to.rolls", "Tuning": "go_to.tune"}


class Visit(NamedTuple):
    page: str
    address: dict[str, Any]


def dialog(
    location: Location, text: str, pages: Mapping[str, dict[str, str]], current: str
) -> None:
    """Draws the search field and the results. `pages` is as in `find_targets`."""
    query = st.text_input(
        say("go_to.field"),
        text,
        placeholder="orders-0 2247, retention.ms, KAFKA-6432",
        live="200ms",
        key="kv_goto_text",
        label_visibility="collapsed",
    )
    query = query or ""
    with st.container(key="kv_found", gap=None):
        focus()
        heading = None
        visits = other_visits(current, location)
        entries = find_entries(location, query, pages, visits, directories(location))
        for number, entry in enumerate(entries):
            if entry.heading != heading:
                st.html(tag("div", entry.heading, class_="kv-group"))
            heading = entry.heading
            _entry(number, entry, query, is_current=entry.page == current)
        if heading is None:
            st.html(tag("div", say("go_to.nothing"), class_="kv-group"))
        # after Enter, keys.js waits until this element has the typed text
        st.html(tag("i", data_asked=elements.escape(query), data_found="any" if heading else ""))


def directories(location: Location) -> list[str]:
    """Returns recent directories, newest first, then the samples. Leaves out the open directory."""
    candidates = dict.fromkeys([*page_location.recent(), *map(str, access.samples())])
    return [directory for directory in candidates if directory != location.directory]


def _entry(number: int, entry: GoToEntry, query: str, *, is_current: bool) -> None:
    """Draws a result as a link, or as a button if the result is on the current page.

    A link to the current page would only change the address. Streamlit 1.67 reports such a change
    to components too late.
    """
    page = PAGES[entry.page]
    label = elements.escape_markdown(entry.words)
    if entry.aside:
        label += f" :gray[{_emphasize(entry.aside, query)}]"
    arguments: dict[str, Any] = {"icon": f":material/{page.icon}:", "width": "stretch"}
    if not is_current:
        st.page_link(page.script, label=label, query_params=entry.address, **arguments)
    elif st.button(label, type="tertiary", key=f"kv_found_{number}", **arguments):
        st.session_state.pop(page_state.DIALOG, None)
        st.switch_page(page.script, query_params=entry.address)


def _emphasize(text: str, query: str) -> str:
    words = query.split()
    pieces = word_pattern(" ".join(words), *words).split(text) if words else [text]
    escaped = map(elements.escape_markdown, pieces)
    return "".join(f"**{piece}**" if place % 2 else piece for place, piece in enumerate(escaped))


def find_entries(
    location: Location,
    query: str,
    pages: Mapping[str, dict[str, str]],
    visits: Sequence[Visit] = (),
    other_directories: Sequence[str] = (),
) -> list[GoToEntry]:
    """Returns the results for a query, best first. `pages` is as in `find_targets`."""
    words = ISSUE.sub(r"\1-\2", query.lower()).split()
    offset = page_state.number(words[-1]) if words else None
    text = " ".join(words)
    broker = location.broker if SEGMENT_PAGE in pages else None
    if not words:
        return [
            *(_visit_entries(location, visits, pages) if broker else ()),
            *(match.entry for matches in find_targets("", pages).values() for match in matches),
            *(_partition_entries(location, _match_partitions(broker, "")) if broker else ()),
            *(_directory_entries("", other_directories) if BROKER_PAGE in pages else ()),
        ]
    if broker and offset is not None:
        name = " ".join(words[:-1])
        partitions = _match_partitions(broker, name)
        nearest = partitions if name else _nearest(location, visits, partitions)
        entries = list(_offset_entries(location, nearest, offset, pages))
        if not name:  # a topic's name may also be a number, such as 2019
            entries += _partition_entries(location, _match_partitions(broker, text))
        if entries:
            return entries
    groups = [
        (matches[0].rank, [match.entry for match in matches])
        for matches in find_targets(text, pages).values()
    ]
    if broker and (partitions := _match_partitions(broker, text)):
        entries = [
            *_partition_entries(location, partitions),
            *_best_match_entries(location, partitions[0], pages),
        ]
        groups.insert(0, (_partition_rank(partitions[0], text), entries))
    if BROKER_PAGE in pages:
        groups.append((PART, list(_directory_entries(text, other_directories))))
    groups.sort(key=lambda group: group[0])
    return [entry for _, entries in groups for entry in entries]


def _partition_rank(partition: Partition, text: str) -> int:
    directory = partition.directory.lower()
    rank = rank_name((directory, directory.rpartition("-")[0]), text)
    return PART if rank is None else rank


def _match_partitions(broker: Broker, name: str) -> list[Partition]:
    """Returns the topic-partitions whose name contains `name`.

    Exact matches come first, then names that start with `name`, then larger logs.
    """
    matches = [partition for partition in broker.partitions if name in partition.directory.lower()]
    return sorted(
        matches,
        key=lambda partition: (
            partition.directory.lower() != name,
            not partition.directory.lower().startswith(name),
            -partition.log_bytes,
        ),
    )


def _nearest(
    location: Location, visits: Sequence[Visit], partitions: list[Partition]
) -> list[Partition]:
    names = [location.partition.directory if location.partition else ""]
    names += [
        visit.address[page_state.TOPIC_PARTITION]
        for visit in visits
        if page_state.directory_in(visit.address) == location.directory
    ]
    ranks = {name: number for number, name in reversed(list(enumerate(names)))}
    return sorted(partitions, key=lambda partition: ranks.get(partition.directory, len(names)))


def _visit_entries(
    location: Location, visits: Sequence[Visit], pages: Mapping[str, object]
) -> Iterator[GoToEntry]:
    for visit in [visit for visit in visits if visit.page in pages][:MAX_ENTRIES]:
        directory = page_state.directory_in(visit.address)
        stem = page_state.number(visit.address.get(page_state.SEGMENT))
        words = visit.address[page_state.TOPIC_PARTITION]
        if stem is not None:
            words += f" › {units.file_stem(stem)}"
        aside = ""
        if directory != location.directory:
            text = page_location.directory_text(directory)
            aside = elements.cut_middle(text, BESIDE_CHARACTERS)
        address = page_state.address(directory) | visit.address
        yield GoToEntry(say("go_to.recent"), words, aside, visit.page, address)


def _offset_entries(
    location: Location, partitions: list[Partition], offset: int, pages: Mapping[str, object]
) -> Iterator[GoToEntry]:
    """Yields the segments in which a broker would look for an offset, then links to a lookup."""
    begun = (
        candidate
        for candidate in partitions
        if candidate.live and candidate.live[0].base_offset <= offset
    )
    candidates = list(islice(begun, MAX_ENTRIES))
    number = units.format_count(offset)
    for partition in candidates:
        segment = page_location.find_segment(partition, offset)
        name = _name(location, partition)
        address = page_state.address(location.directory, name, segment.base_offset, offset)
        words = say("go_to.offset_in", offset=number, partition=partition.directory)
        yield GoToEntry(say("common.offsets"), words, _size(segment), SEGMENT_PAGE, address)
    for partition in candidates if "Lookup" in pages else []:
        address = page_state.address(location.directory, _name(location, partition))
        address[page_state.TARGET] = str(offset)
        words = say("go_to.lookup_offset", offset=number, partition=partition.directory)
        yield GoToEntry(say("go_to.lookups"), words, "", "Lookup", address)


def _partition_entries(location: Location, partitions: list[Partition]) -> Iterator[GoToEntry]:
    broker = cast(Broker, location.broker)
    names = broker.directory_names
    for partition in [partition for partition in partitions if partition.segments][:MAX_ENTRIES]:
        address = page_state.address(location.directory, broker.partition_name(partition))
        aside = units.format_bytes(partition.log_bytes)
        if len(names) > 1:
            aside = join_comma((names[partition.path.parent], aside))
        words = partition.directory
        yield GoToEntry(say("common.topic_partitions"), words, aside, SEGMENT_PAGE, address)


def _name(location: Location, partition: Partition) -> str:
    return cast(Broker, location.broker).partition_name(partition)


def _best_match_entries(
    location: Location, partition: Partition, pages: Mapping[str, object]
) -> Iterator[GoToEntry]:
    name = _name(location, partition)
    for segment in reversed(partition.live[-MAX_ENTRIES:]):
        address = page_state.address(location.directory, name, segment.base_offset)
        words = f"{partition.directory} › {segment.name}"
        yield GoToEntry(say("common.segments"), words, _size(segment), SEGMENT_PAGE, address)
    for page, key in PARTITION_PAGES.items() if partition.live else ():
        if page in pages:
            address = page_state.address(location.directory, name)
            words = say(key, partition=partition.directory)
            yield GoToEntry(say("frame.pages"), words, "", page, address)


def _directory_entries(name: str, directories: Sequence[str]) -> Iterator[GoToEntry]:
    matches = [directory for directory in directories if name in directory.lower()]
    for directory in matches[:MAX_ENTRIES]:
        words = elements.cut_middle(directory, PATH_CHARACTERS)
        address = page_state.address(directory)
        yield GoToEntry(say("go_to.directories"), words, "", BROKER_PAGE, address)


def _size(segment: Segment) -> str:
    return units.format_bytes(segment.log.size_bytes if segment.log else None)


def remember(page: str, location: Location, pin: int | None = None) -> None:
    """Puts a topic-partition or segment first in the list of visits.

    `pin` is the offset that the user has chosen on the page, if any.
    """
    if not location.partition:
        return
    address = location.address | ({page_state.PIN: str(pin)} if pin is not None else {})
    address.pop(page_state.LANGUAGE, None)
    key = _location_key(address)
    earlier = [visit for visit in visits() if _location_key(visit.address) != key]
    st.session_state[page_state.VISITS] = [Visit(page, address), *earlier][:MAX_VISITS]


def visits() -> list[Visit]:
    return st.session_state.get(page_state.VISITS, [])


def other_visits(page: str, location: Location) -> list[Visit]:
    key = page, _location_key(location.address)
    return [visit for visit in visits() if (visit.page, _location_key(visit.address)) != key]


def _location_key(address: Mapping[str, Any]) -> tuple[str | None, ...]:
    names = (page_state.TOPIC_PARTITION, page_state.SEGMENT)
    return page_state.directory_in(address), *map(address.get, names)
