"""What this session has looked at: topic-partitions and segments, newest first, for the way back by
Go to.
"""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from kafkaviz.ui import state
from kafkaviz.ui.pick import Place

KEPT = 12


class Visit(NamedTuple):
    """A page that was open, and where: the address parameters without a language."""

    page: str
    address: dict[str, str]


def remember(page: str, place: Place, pin: int | None = None) -> None:
    """Puts the place at the head, if it is a topic-partition or a segment of one; pin: the offset
    that is looked at.
    """
    if not place.partition:
        return
    address = place.address | ({state.PIN: str(pin)} if pin is not None else {})
    visit = Visit(page, {name: value for name, value in address.items() if name != state.LANGUAGE})
    before = [one for one in visits() if _spot(one.address) != _spot(visit.address)]
    st.session_state[state.VISITED] = [visit, *before][:KEPT]


def visits() -> list[Visit]:
    """All of them, newest first."""
    return st.session_state.get(state.VISITED, [])


def others(page: str, place: Place) -> list[Visit]:
    """The same without the page and place that are open."""
    return [
        one for one in visits() if (one.page, _spot(one.address)) != (page, _spot(place.address))
    ]


def _spot(address: Mapping[str, str]) -> tuple[str | None, ...]:
    """What makes it the same place, whichever offset was looked at there."""
    return tuple(
        address.get(name) for name in (state.DIRECTORY, state.TOPIC_PARTITION, state.SEGMENT)
    )
