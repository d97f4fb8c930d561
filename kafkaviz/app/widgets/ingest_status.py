"""The strip of an ingest: what the pipeline still reads of a directory, how far it is, and a way to
stop it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import ingests, page_state
from kafkaviz.app.widgets import progress_text
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.job import Ingest

RETRY_LABELS = {"failed": "common.try_again", "cancelled": "progress.start_again"}


def render_strip(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None = None) -> None:
    """What the pipeline still reads, how far it is, and a way to stop it; nothing where all is
    known. pending_texts: see progress_text.html.
    """
    ingest = ingests.server_ingests().get_or_start(snapshot)
    ingest_state = ingest.progress().state if ingest else "fresh"
    watched_sources = st.session_state.setdefault(page_state.WATCHED_INGESTS, set())
    if ingest_state in ingests.WORKING:
        watched_sources.add(snapshot.broker.source)
        progress_strip(snapshot, pending_texts)
    elif ingest and ingest_state in RETRY_LABELS:
        with ingest_strip(ingest, pending_texts):
            st.button(
                say(RETRY_LABELS[ingest_state]),
                type="tertiary",
                key="kv_work_again",
                on_click=cast(Callable[..., None], ingests.server_ingests().restart),
                args=(snapshot,),
            )
    elif ingest and snapshot.broker.source in watched_sources:
        # It keeps its place: what stands below must not jump away under the pointer.
        with st.container(horizontal=True, key="kv_strip_done", vertical_alignment="center"):
            st.html(progress_text.html(ingest.progress()))


@st.fragment(run_every=0.5)
def progress_strip(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None) -> None:
    """Draws itself anew twice a second; the rest of the page once, when the ingest has ended."""
    ingest = cast("Ingest", ingests.server_ingests().get_or_start(snapshot))
    if ingest.progress().state not in ingests.WORKING:
        st.rerun()
    with ingest_strip(ingest, pending_texts):
        st.button(
            say("progress.cancel"),
            type="tertiary",
            key="kv_work_cancel",
            on_click=ingests.server_ingests().cancel,
            args=(snapshot,),
        )


@contextmanager
def ingest_strip(ingest: "Ingest", pending_texts: tuple[str, str] | None) -> Generator[None]:
    """One line about the ingest, and at its end the button of the with block."""
    with st.container(horizontal=True, key="kv_strip_work", vertical_alignment="center"):
        st.html(progress_text.html(ingest.progress(), pending_texts))
        yield
