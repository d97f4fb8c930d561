"""How far the measuring is, and why there is nothing to show."""

import math
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app.pages.tuning import measure_jobs
from kafkaviz.app.pages.tuning.measure_jobs import MeasureJob
from kafkaviz.app.pages.tuning.scope import Scope, option_text
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements, progress_strip
from kafkaviz.figures import error_text
from kafkaviz.jobs import JobCancelled
from kafkaviz.messages import say


def render_unfinished(job: MeasureJob, scope: Scope) -> None:
    """In place of the page: how far the measuring is, or why there is nothing to show."""
    if job.error:
        _render_fault(job, scope.location)
    elif job.is_empty:
        with elements.empty(
            "tuning", say("tuning.empty"), say("tuning.empty_below", name=option_text(scope.label))
        ):
            pass
    else:
        _render_progress(job)


@st.fragment(run_every=0.5)
def _render_progress(job: MeasureJob) -> None:
    """How far the measuring is; the page is drawn when it has ended."""
    job = measure_jobs.get_or_start(job.request)
    if job.is_over:
        st.rerun()
    progress = job.progress()
    done, total = progress.done_bytes, progress.total_bytes
    text = (
        say("tuning.measured", done=units.size(done), total=units.size(total))
        if total
        else say("tuning.being_written")
    )
    progress_strip.render_strip(
        "kv_strip_tuning",
        progress_strip.line_html(
            text,
            _speed(done, total, job.seconds) or progress.name,
            progress.share if total else None,
        ),
        button_label=say("tuning.cancel"),
        button_key="kv_tuning_cancel",
        on_click=job.cancel,
    )


def _speed(done: int, total: int, seconds: float) -> str:
    """How fast, and how long still; nothing before the first .log is done."""
    if not done:
        return ""
    remaining = units.duration(1000 * math.ceil((total - done) * seconds / done))
    return say("tuning.speed", speed=units.rate(done / seconds), left=remaining)


def _render_fault(job: MeasureJob, location: Location) -> None:
    """Why there is nothing to show, and a way on."""
    if isinstance(job.error, JobCancelled):
        with elements.state("stopped", "info", say("tuning.stopped"), say("tuning.stopped_below")):
            st.button(
                say("tuning.measure_again"),
                key="kv_tuning_again",
                on_click=measure_jobs.restart,
                args=(job.request,),
            )
        return
    with elements.state(
        "unread",
        "error",
        say("tuning.cannot"),
        error_text.describe_sentence(cast(Exception, job.error)),
    ):
        widget_options: dict[str, Any] = {
            "icon": ":material/ecg_heart:",
            "query_params": page_state.address(location.directory),
        }
        st.page_link("pages/health.py", label=say("common.show_wrong"), **widget_options)
