"""An offset index above its log, linked entry by entry, and where a search began to read.

Drawn in the browser.
"""

from typing import Any

from kafkaviz.app.frontend import register_component

_entries = register_component("entries")


def entries(data: dict[str, Any], key: str) -> None:
    """Draws an index above its batches.

    Args:
        data: the slots as (key, position); the batches as (position, size, first offset, last
            offset); slot, from, passed and batch of the search, once revealed.
    """
    _entries(key=key, data=data, width="stretch", height="content")
