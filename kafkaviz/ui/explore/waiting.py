"""A query that is under way, and the way to end it."""

import streamlit as st

from kafkaviz.ui import parts
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.explore.queries import queries
from kafkaviz.words import counted, say


@st.fragment(run_every=0.4)
def waiting(here: Listed, text: str) -> None:
    """How far it is; the page is drawn anew once it is over."""
    query = queries().of(here, text)
    if query.is_over:
        st.rerun()
    now = query.progress()
    starts = now.state == "starting"
    tasks = counted("explore.tasks", now.total_tasks, n=now.total_tasks, done=now.done_tasks)
    done = say("progress.starting") if starts else tasks if now.total_tasks else say("explore.reads_query")
    share = now.done_tasks / now.total_tasks if now.total_tasks else 0
    aside = say("explore.next_need_not", seconds=f"{now.seconds:.0f}") if starts else f"{now.seconds:.0f} s"
    with st.container(horizontal=True, key="kv_strip_query", vertical_alignment="center"):
        bar = "" if starts else f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
        line = f"{parts.icon('bolt', True)}<span>{done}</span>{bar}<span class='kv-fnt'>{aside}</span>"
        st.html(f'<div class="kv-work" role="status">{line}</div>')
        st.button(say("progress.cancel"), type="tertiary", key="kv_query_cancel", on_click=query.cancel)
