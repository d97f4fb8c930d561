"""The query editor, with coloured syntax."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_sql = register_component("sql")


def sql(data: dict[str, Any], on_run: Callable[[], None], key: str = "kv_sql") -> None:
    """Draws the query editor, which runs the query on Ctrl+Enter or by its button.

    Typed text stays in the browser until it is run. Then `on_run` is called; see `last_query`.

    Args:
        data: "text", the query; "wrong", the range of its wrong characters, or None; "longest", the
            maximum length in characters; "run", the label of the button.
    """
    _sql(key=key, data=data, on_asked_change=on_run, width="stretch", height="content")


def last_query(key: str = "kv_sql") -> str | None:
    """Returns the query that was run just now, or None in every other run of the page."""
    return (st.session_state.get(key) or {}).get("asked")
