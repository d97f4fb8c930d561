"""The bytes view.

Hexadecimal and text, each field in the colour of its kind, named and valued under the pointer and
by keys.

Two values of st.session_state[key] come back: `want`, the byte of each pane that the reader
scrolled or stepped to, of bytes too many to be sent completely. It carries the key of what it
belongs to. An index entry that is chosen pins its offset in the ruler, in the browser.
"""

from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_bytes = register_component("bytes")


def bytes_view(data: bytes, key: str = "bytes_view") -> None:
    """Draws bytes (figures.segment.segment_bytes.browser_payload).

    The run of the script, or of the fragment around it, follows each wish.
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
    """The bytes last wished for of what has this key; empty where there is no wish."""
    value = (st.session_state.get(key) or {}).get("want") or {}
    return value if value.get("key") == content_key else {}
