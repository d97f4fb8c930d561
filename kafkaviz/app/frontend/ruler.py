"""The segment ruler: the three files of a segment on one byte axis, linked, drawn in the browser.

st.session_state[key] returns two values, each with the key of its segment: `pin`, the row chosen
last, and `slice`, the part to be sent next of a segment that is too large to be sent completely.
"""

from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_ruler = register_component("ruler")


def ruler(data: bytes, key: str = "ruler") -> None:
    """Draws a segment packed by figures.segment.segment_ruler.browser_payload.

    Each choice reruns the script, or the fragment around the ruler.
    """
    ignore = lambda: None  # noqa: E731 - a value with a default needs a callback; the rerun is what counts
    default = {"pin": None, "slice": None}
    _ruler(
        key=key,
        data=data,
        default=default,
        on_pin_change=ignore,
        on_slice_change=ignore,
        width="stretch",
        height="content",
    )


def state(name: str, segment_key: str, key: str = "ruler") -> dict[str, Any]:
    """Returns the last "pin" or "slice" of the segment with this key, or an empty dict."""
    value = (st.session_state.get(key) or {}).get(name) or {}
    return value if value.get("key") == segment_key else {}
