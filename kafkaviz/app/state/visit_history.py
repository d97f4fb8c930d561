"""Topic-partitions and segments that this session has visited, newest first, for Go to."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.state.page_location import Location

MAX_VISITS = 12


class Visit(NamedTuple):
    page: str
    address: dict[str, Any]


def remember(page: str, location: Location, pin: int | None = None) -> None:
    """Puts the location at the head of the list, if it is a topic-partition or a segment.

    Args:
        pin: the pinned offset.
    """
    if not location.partition:
        return
    address = location.address | ({page_state.PIN: str(pin)} if pin is not None else {})
    visit = Visit(
        page, {name: value for name, value in address.items() if name != page_state.LANGUAGE}
    )
    earlier = [
        entry for entry in visits() if _location_key(entry.address) != _location_key(visit.address)
    ]
    st.session_state[page_state.VISITS] = [visit, *earlier][:MAX_VISITS]


def visits() -> list[Visit]:
    return st.session_state.get(page_state.VISITS, [])


def other_visits(page: str, location: Location) -> list[Visit]:
    return [
        visit
        for visit in visits()
        if (visit.page, _location_key(visit.address)) != (page, _location_key(location.address))
    ]


def _location_key(address: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Returns what identifies a location; the pinned offset does not count."""
    names = (page_state.TOPIC_PARTITION, page_state.SEGMENT)
    return page_state.directory_in(address), *map(address.get, names)
