"""A checkup that is under way, and the way to end it."""

import streamlit as st

from kafkaviz import units
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state.checkups import checkups
from kafkaviz.app.widgets import elements
from kafkaviz.words import say


@st.fragment(run_every=0.4)
def render_checkup_progress(snapshot: BrokerSnapshot, release: str) -> None:
    """How far the checkup is; the page is drawn anew once it is over."""
    checkup = checkups().get_or_start(snapshot, release)
    if checkup.end_event.is_set():
        st.rerun()
    share = checkup.done_bytes / checkup.total_bytes if checkup.total_bytes else 0
    text = (
        say("health.reading_partition", partition=checkup.partition)
        if checkup.partition
        else say("health.reading")
    )
    done, total = units.size(checkup.done_bytes), units.size(checkup.total_bytes)
    with st.container(horizontal=True, key="kv_strip_work", vertical_alignment="center"):
        st.html(
            f'<div class="kv-work" role="status">{elements.icon("bolt", small=True)}'
            f'<span>{elements.escape(text)}</span><div class="kv-prog">'
            f'<i style="width:{100 * share:.0f}%"></i></div>'
            f'<span class="kv-fnt">{say("health.read_of", done=done, total=total)}</span></div>'
        )
        st.button(
            say("health.cancel"), type="tertiary", key="kv_checkup_cancel", on_click=checkup.cancel
        )
