"""The field a query is written in.

Its words coloured as they are typed, run by Ctrl and Enter or by its button.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_sql = register_component("sql")


def sql(data: dict[str, Any], on_run: Callable[[], None], key: str = "kv_sql") -> None:
    """Draws the field of a query.

    What is typed stays in the browser until it is run; then on_run is called, see `last_query`.

    Args:
        data: "text", the query; "wrong", the first and last of its characters that are wrong, or
            None; "longest", how many characters it may have; "run", the word of its button.
    """
    _sql(key=key, data=data, on_asked_change=on_run, width="stretch", height="content")


def last_query(key: str = "kv_sql") -> str | None:
    """The query that was run just now; None in every other run of the page."""
    return (st.session_state.get(key) or {}).get("asked")
