"""A query that is under way, and the way to end it."""

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.widgets import elements
from kafkaviz.words import say


@st.fragment(run_every=0.4)
def render_query_progress(snapshot: BrokerSnapshot, text: str) -> None:
    """How long it takes so far; the page is drawn anew once it is over."""
    query = queries().get_or_start(snapshot, text)
    if query.is_over:
        st.rerun()
    progress = query.progress()
    activity = say("explore.waits" if progress.state == "waiting" else "explore.runs")
    with st.container(horizontal=True, key="kv_strip_query", vertical_alignment="center"):
        line = (
            f"{elements.icon('bolt', small=True)}<span>{activity}</span>"
            f"<span class='kv-fnt'>{progress.seconds:.0f} s</span>"
        )
        st.html(f'<div class="kv-work" role="status">{line}</div>')
        st.button(
            say("progress.cancel"), type="tertiary", key="kv_query_cancel", on_click=query.cancel
        )
