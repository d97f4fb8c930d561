"""A query that is under way, and the way to end it."""

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.widgets import progress_strip
from kafkaviz.messages import say


@st.fragment(run_every=0.4)
def render_query_progress(snapshot: BrokerSnapshot, text: str) -> None:
    """How long it takes so far; the page is drawn anew once it is over."""
    query = queries().get_or_start(snapshot, text)
    if query.is_over:
        st.rerun()
    activity = say("explore.waits" if query.state == "waiting" else "explore.runs")
    progress_strip.render_strip(
        "kv_strip_query",
        progress_strip.line_html(activity, f"{query.seconds:.0f} s"),
        button_label=say("progress.cancel"),
        button_key="kv_query_cancel",
        on_click=query.cancel,
    )
