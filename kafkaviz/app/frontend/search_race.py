"""The race of both searches of a lookup on one clock, played and stepped in the browser."""

from typing import Any

from kafkaviz.app.frontend import register_component

_search_race = register_component("search_race", "race_lanes")


def search_race(data: dict[str, Any], key: str = "search_race") -> None:
    """Draws the data packed by figures.lookup.search_race.browser_payload.

    The kind of disk is kept in the address as ?storage=, which only the component writes.
    """
    _search_race(key=key, data=data, width="stretch", height="content")
