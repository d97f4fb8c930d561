"""The query in its field: what is wrong with it, Run, how the answer came out, and a way to take it
along.
"""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.ui import cache, state
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.components import sql as field
from kafkaviz.ui.explore.queries import queries
from kafkaviz.ui.explore.questions import ask, query_text
from kafkaviz.ui.explore.rows import took
from kafkaviz.ui.explore.taken import take_along
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Query

QUICK_S = 0.8  # an answer that takes no longer shows no progress


def answered(here: Listed, text: str) -> "Query | None":
    """The query, with a little time to end; None where there is no catalog to ask."""
    left = st.session_state.get(state.ASKING)
    if left and left != (here.broker.source, text) and left[0] == here.broker.source:
        queries().leave(here, left[1])
    st.session_state[state.ASKING] = here.broker.source, text
    if cache.catalog_info(here) is None:
        return None
    query = queries().of(here, text)
    with suppress(KafkavizError):  # told below
        query.wait(QUICK_S)
    return query


def editor(here: Listed, text: str, query: "Query | None") -> None:
    """The query, with what is wrong with it underlined; Run, how the answer came out, and a way to
    take it along.
    """
    from kafkaviz.pipeline.sql import LONGEST, Wrong

    error = query.error if query else None
    wrong = (
        [error.start, error.stop or error.start + 1]
        if isinstance(error, Wrong) and error.start is not None
        else None
    )
    field.sql(
        {"text": text, "wrong": wrong, "longest": LONGEST, "run": say("explore.run")},
        partial(_run, here),
    )
    answer = query.wait(0) if query and query.progress().state == "done" else None
    with st.container(horizontal=True, key="kv_sql_bar", vertical_alignment="center"):
        words = took(answer) if answer else ""
        st.html(f'<div class="kv-sm kv-fnt" role="status">{words}</div>', width="stretch")
        if answer and answer.rows.num_rows:
            take_along(answer, here, text)


def _run(here: Listed) -> None:
    """What was typed is asked, again where it was asked before."""
    text = field.asked()
    if text is not None:
        ask(text)
        if cache.catalog_info(here):
            queries().again(here, query_text())
