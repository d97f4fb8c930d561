"""The field a query is written in: its words coloured as they are typed, run by Ctrl and Enter or
by its button.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz.app.frontend import register_component

_sql = register_component("sql")


def sql(data: dict[str, Any], on_run: Callable[[], None], key: str = "kv_sql") -> None:
    """text: the query; wrong: first and last of its characters that are wrong, or None; longest:
    characters it may have; run: the word of its button.

    What is typed stays in the browser until it is run; then on_asked is called, see `asked`.
    """
    _sql(key=key, data=data, on_asked_change=on_run, width="stretch", height="content")


def last_query(key: str = "kv_sql") -> str | None:
    """The query that was run just now; None in every other run of the page."""
    return (st.session_state.get(key) or {}).get("asked")
