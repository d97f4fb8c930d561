"""The progress of a check, or the reason why it failed; pages show it instead of the result."""

import streamlit as st

from kafkaviz import units
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import check_jobs
from kafkaviz.app.state.check_jobs import check_again
from kafkaviz.app.widgets import elements, progress_strip
from kafkaviz.messages import say


def render_unfinished(snapshot: BrokerSnapshot, release: str) -> None:
    """Draws the progress of a check, and runs the page again at its end; or draws its failure."""
    job = check_jobs.get_or_start(snapshot, release)
    if job.error is not None:
        _render_failure(snapshot, job.error, release)
    else:
        _render_progress(snapshot, release)


@st.fragment(run_every=0.4)
def _render_progress(snapshot: BrokerSnapshot, release: str) -> None:
    job = check_jobs.get_or_start(snapshot, release)
    if job.is_over:
        st.rerun()
    name = job.progress().name
    text = (
        say("health.reading_partition", partition=units.escape_controls(name))
        if name
        else say("health.reading")
    )
    progress_strip.render_reading_job(job, text, button_key="kv_check_cancel")


def _render_failure(snapshot: BrokerSnapshot, error: Exception, release: str) -> None:
    with elements.state(
        "check",
        "error",
        say("health.not_ended"),
        say("common.nothing_changed", error=progress_strip.failure_text(error)),
    ):
        st.button(
            say("health.check_again"),
            key="kv_check_retry",
            on_click=check_again,
            args=(snapshot, release),
        )
