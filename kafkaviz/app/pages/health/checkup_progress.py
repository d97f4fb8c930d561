"""A checkup that is under way, and the way to end it."""

import streamlit as st

from kafkaviz import units
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import checkups
from kafkaviz.app.widgets import progress_strip
from kafkaviz.messages import say


@st.fragment(run_every=0.4)
def render_checkup_progress(snapshot: BrokerSnapshot, release: str) -> None:
    """How far the checkup is; the page is drawn anew once it is over."""
    checkup = checkups.get_or_start(snapshot, release)
    if checkup.is_over:
        st.rerun()
    progress = checkup.progress()
    text = (
        say("health.reading_partition", partition=progress.name)
        if progress.name
        else say("health.reading")
    )
    done, total = units.size(progress.done_bytes), units.size(progress.total_bytes)
    progress_strip.render_strip(
        "kv_strip_work",
        progress_strip.line_html(
            text, say("health.read_of", done=done, total=total), progress.share
        ),
        button_label=say("health.cancel"),
        button_key="kv_checkup_cancel",
        on_click=checkup.cancel,
    )
