"""The strip of an ingest: what the pipeline still reads of a directory, how far it is, and a way to
stop it.
"""

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import ingests, page_state
from kafkaviz.app.widgets import progress_strip, progress_text
from kafkaviz.messages import say

RETRY_LABELS = {"failed": "common.try_again", "cancelled": "progress.start_again"}


def render_strip(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None = None) -> None:
    """What the pipeline still reads, how far it is, and a way to stop it; nothing where all is
    known. pending_texts: see progress_text.html.
    """
    ingest = ingests.get_or_start(snapshot)
    if ingest is None:
        return
    watched_sources = st.session_state.setdefault(page_state.WATCHED_INGESTS, set())
    if not ingest.is_over:
        watched_sources.add(snapshot.broker.source)
        _render_progress(snapshot, pending_texts)
    elif ingest.state in RETRY_LABELS:
        progress_strip.render_strip(
            "kv_strip_work",
            progress_text.html(ingest.progress(), pending_texts),
            button_label=say(RETRY_LABELS[ingest.state]),
            button_key="kv_work_again",
            on_click=ingests.restart,
            args=(snapshot,),
        )
    elif snapshot.broker.source in watched_sources:
        # It keeps its place: what stands below must not jump away under the pointer.
        progress_strip.render_strip("kv_strip_done", progress_text.html(ingest.progress()))


@st.fragment(run_every=0.5)
def _render_progress(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None) -> None:
    """Draws itself anew twice a second; the rest of the page once, when the ingest has ended."""
    ingest = ingests.get_or_start(snapshot)
    if ingest is None or ingest.is_over:
        st.rerun()
    progress_strip.render_strip(
        "kv_strip_work",
        progress_text.html(ingest.progress(), pending_texts),
        button_label=say("progress.cancel"),
        button_key="kv_work_cancel",
        on_click=ingest.cancel,
    )
