"""The strip of an ingest: how much of a directory the pipeline has read, and a button to cancel."""

import math
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.app.widgets import elements, progress_strip
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.pipeline.ingest.job import Progress
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import ingests

RETRY_LABELS = {"failed": "common.try_again", "cancelled": "common.start_again"}


ENDED = ("done", "fresh")
MARKS = {"failed": "error", "done": "ok", "fresh": "ok"}


def html(progress: "Progress", pending_texts: tuple[str, str] | None = None) -> str:
    """Returns the strip of an ingest as HTML.

    Args:
        pending_texts: the texts while it runs, and after it ended without a result.
    """
    mark = elements.severity(MARKS[progress.state]) if progress.state in MARKS else ""
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0
    return progress_strip.line_html(
        text(progress),
        aside(progress, pending_texts),
        share if progress.state in ("reading", "writing") else None,
        mark,
    )


def text(progress: "Progress") -> str:
    size = units.format_bytes(progress.total_bytes)
    if progress.state == "failed":
        return say(
            "progress.stopped",
            error=render(progress.error) if progress.error else say("progress.no_reason"),
        )
    if progress.state == "cancelled":
        return say("progress.cancelled")
    if progress.state in ENDED and not progress.total_bytes:
        return say("progress.unchanged")
    if progress.state in ENDED:
        return say("progress.all_read", size=size)
    if progress.state == "writing":
        return say("progress.writing", size=size)
    if progress.state == "reading" and not progress.done_bytes:
        return say("progress.reading", size=size)
    if progress.state == "reading":
        return say("progress.part_read", done=units.format_bytes(progress.done_bytes), size=size)
    return say("progress.starting")


def aside(progress: "Progress", pending_texts: tuple[str, str] | None = None) -> str:
    """Returns the note of the strip: the rate and the remaining time, or another text."""
    pending_text, failure_text = pending_texts or (
        say("progress.owed_broker"),
        say("progress.missed_broker"),
    )
    if progress.state in ("failed", "cancelled"):
        return failure_text
    if progress.state in ENDED:
        return say("progress.final")
    if progress.state == "reading" and progress.bytes_per_s:
        left_s = (progress.total_bytes - progress.done_bytes) / progress.bytes_per_s
        rate = units.rate(progress.bytes_per_s)
        time_left = units.duration(1000 * math.ceil(left_s))
        return say("progress.left", rate=rate, time=time_left) if left_s else rate
    return pending_text


def render_strip(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None = None) -> None:
    """Draws the progress of an ingest, if there is one, and a button to cancel or restart it."""
    ingest = ingests.get_or_start(snapshot)
    if ingest is None:
        return
    watched_sources = st.session_state.setdefault(page_state.WATCHED_INGESTS, set())
    if not ingest.is_over:
        watched_sources.add(snapshot.directory)
        _render_progress(snapshot, pending_texts)
    elif ingest.state in RETRY_LABELS:
        progress_strip.render_strip(
            "kv_strip_work",
            html(ingest.progress(), pending_texts),
            button_label=say(RETRY_LABELS[ingest.state]),
            button_key="kv_work_again",
            on_click=ingests.restart,
            args=(snapshot,),
        )
    elif snapshot.directory in watched_sources:
        # The strip stays, so that the page below does not jump under the pointer.
        progress_strip.render_strip("kv_strip_done", html(ingest.progress()))


@st.fragment(run_every=0.5)
def _render_progress(snapshot: BrokerSnapshot, pending_texts: tuple[str, str] | None) -> None:
    """Redraws itself twice a second, and reruns the page when the ingest has ended."""
    ingest = ingests.get_or_start(snapshot)
    if ingest is None or ingest.is_over:
        st.rerun()
    progress_strip.render_strip(
        "kv_strip_work",
        html(ingest.progress(), pending_texts),
        button_label=say("common.cancel"),
        button_key="kv_work_cancel",
        on_click=ingest.cancel,
    )
