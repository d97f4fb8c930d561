"""The bytes view: hexadecimal and text, with fields coloured by kind.

The field under the pointer or the keyboard cursor is shown with its name and value. If a file is
too large to be sent completely, st.session_state[key]["want"] says which byte of each pane the
reader moved to, and the key of the content it belongs to. Choosing an index entry pins its offset
in the ruler, within the browser.
"""

from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_bytes = register_component("bytes")


def bytes_view(data: bytes, key: str = "bytes_view") -> None:
    """Draws bytes packed by figures.segment.segment_bytes.browser_payload.

    Each request for more bytes reruns the script, or the fragment around the view.
    """
    ignore = lambda: None  # noqa: E731 - a value with a default needs a callback; the rerun is what counts
    _bytes(
        key=key,
        data=data,
        default={"want": None},
        on_want_change=ignore,
        width="stretch",
        height="content",
    )


def byte_request(content_key: str, key: str = "bytes_view") -> dict[str, Any]:
    """Returns the last request for bytes of the content with this key, or an empty dict."""
    value = (st.session_state.get(key) or {}).get("want") or {}
    return value if value.get("key") == content_key else {}
