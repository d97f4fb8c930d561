"""Both searches of a lookup raced on one clock: drawn, played and stepped in the browser."""

from typing import Any

from kafkaviz.app.frontend import register_component

_search_race = register_component("search_race", "race_lanes")


def search_race(data: dict[str, Any], key: str = "search_race") -> None:
    """Draws what figures.lookup.search_race.browser_payload has packed.

    The disk stands in the address as ?storage=, which the component alone writes.
    """
    _search_race(key=key, data=data, width="stretch", height="content")
