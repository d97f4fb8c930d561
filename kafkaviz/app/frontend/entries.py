"""An offset index above its log, linked entry by entry, and where a search began to read: drawn in
the browser.
"""

from typing import Any

from kafkaviz.app.frontend import register_component

_entries = register_component("entries")


def entries(data: dict[str, Any], key: str) -> None:
    """slots: (key, position); batches: (position, size, first, last offset); slot, from, passed,
    batch: of the search, once revealed.
    """
    _entries(key=key, data=data, width="stretch", height="content")
