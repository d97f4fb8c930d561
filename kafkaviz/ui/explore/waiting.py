"""A query that is under way, and the way to end it."""

import streamlit as st

from kafkaviz.ui import parts
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.explore.queries import queries
from kafkaviz.words import say


@st.fragment(run_every=0.4)
def waiting(here: Listed, text: str) -> None:
    """How long it takes so far; the page is drawn anew once it is over."""
    query = queries().of(here, text)
    if query.is_over:
        st.rerun()
    now = query.progress()
    done = say("explore.waits" if now.state == "waiting" else "explore.runs")
    with st.container(horizontal=True, key="kv_strip_query", vertical_alignment="center"):
        line = (
            f"{parts.icon('bolt', True)}<span>{done}</span>"
            f"<span class='kv-fnt'>{now.seconds:.0f} s</span>"
        )
        st.html(f'<div class="kv-work" role="status">{line}</div>')
        st.button(
            say("progress.cancel"), type="tertiary", key="kv_query_cancel", on_click=query.cancel
        )
