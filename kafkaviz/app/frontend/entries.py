"""An offset index above its log, linked entry by entry, with the position where a search starts."""

from typing import Any

from kafkaviz.app.frontend import register_component

_entries = register_component("entries")


def entries(data: dict[str, Any], key: str) -> None:
    """Draws an index above its batches.

    Args:
        data: the slots as (key, position) and the batches as (position, size, first offset, last
            offset); once the answer is revealed, also slot, from, passed and batch of the search.
    """
    _entries(key=key, data=data, width="stretch", height="content")
