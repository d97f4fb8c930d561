"""The strip of an ingest: what the pipeline still reads of a directory, how far it is, and a way to
stop it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.ui import ingests, progress_words, state
from kafkaviz.ui.cache import Listed
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.job import Ingest

AGAIN = {"failed": "common.try_again", "cancelled": "progress.start_again"}


def strip(here: Listed, owed: tuple[str, str] | None = None) -> None:
    """What the pipeline still reads, how far it is, and a way to stop it; nothing where all is
    known. owed: see progress_words.html.
    """
    ingest = ingests.shared().of(here)
    state_now = ingest.progress().state if ingest else "fresh"
    watched = st.session_state.setdefault(state.WORKED, set())
    if state_now in ingests.WORKING:
        watched.add(here.broker.source)
        progress_strip(here, owed)
    elif ingest and state_now in AGAIN:
        with strip_of(ingest, owed):
            st.button(
                say(AGAIN[state_now]),
                type="tertiary",
                key="kv_work_again",
                on_click=cast(Callable[..., None], ingests.shared().again),
                args=(here,),
            )
    elif ingest and here.broker.source in watched:
        # It keeps its place: what stands below must not jump away under the pointer.
        with st.container(horizontal=True, key="kv_strip_done", vertical_alignment="center"):
            st.html(progress_words.html(ingest.progress()))


@st.fragment(run_every=0.5)
def progress_strip(here: Listed, owed: tuple[str, str] | None) -> None:
    """Draws itself anew twice a second; the rest of the page once, when the ingest has ended."""
    ingest = cast("Ingest", ingests.shared().of(here))
    if ingest.progress().state not in ingests.WORKING:
        st.rerun()
    with strip_of(ingest, owed):
        st.button(
            say("progress.cancel"),
            type="tertiary",
            key="kv_work_cancel",
            on_click=ingests.shared().cancel,
            args=(here,),
        )


@contextmanager
def strip_of(ingest: "Ingest", owed: tuple[str, str] | None) -> Generator[None]:
    """One line about the ingest, and at its end the button of the with block."""
    with st.container(horizontal=True, key="kv_strip_work", vertical_alignment="center"):
        st.html(progress_words.html(ingest.progress(), owed))
        yield
