"""The segment ruler: the three files of a segment on one byte axis, linked.

Drawn and stepped in the browser.

The reader's choice comes back as two values of st.session_state[key]: `pin`, the row last chosen,
and `slice`, what the ruler needs to be sent next of a segment too large to be sent completely. Both
carry the key of the segment they belong to.
"""

from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_ruler = register_component("ruler")


def ruler(data: bytes, key: str = "ruler") -> None:
    """Draws a segment (figures.segment.segment_ruler.browser_payload).

    The run of the script, or of the fragment around it, follows each choice.
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
    """What the ruler last sent as `name` ("pin" or "slice") of the segment with this key.

    Empty where it sent nothing.
    """
    value = (st.session_state.get(key) or {}).get(name) or {}
    return value if value.get("key") == segment_key else {}
