"""The lookup at the tail of an index that grows page by page, played in the browser."""

from typing import Any

from kafkaviz.app.frontend import register_component

_tail_growth = register_component("tail_growth", "race_lanes")


def tail_growth(data: dict[str, Any], key: str = "tail_growth") -> None:
    """Draws the data packed by figures.page_cache.tail_growth.browser_payload.

    The size is kept in the address as ?pages=, which only the component writes.
    """
    _tail_growth(key=key, data=data, width="stretch", height="content")
