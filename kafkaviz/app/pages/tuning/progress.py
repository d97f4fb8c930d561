"""How far the measuring is, and why there is nothing to show."""

import math
from collections.abc import Callable
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app.pages.tuning.measure_jobs import MeasureCancelled, MeasureJob, measure_jobs
from kafkaviz.app.pages.tuning.options import option_text
from kafkaviz.app.pages.tuning.scope import Scope
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements
from kafkaviz.figures import error_text
from kafkaviz.words import say


def render_unfinished(job: MeasureJob, scope: Scope) -> None:
    """In place of the page: how far the measuring is, or why there is nothing to show."""
    if job.fault:
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
    if job.wait(0):
        st.rerun()
    done, total, log_name, seconds = job.progress
    share = done / total if total else 0.0
    status = (
        say("tuning.measured", done=units.size(done), total=units.size(total))
        if total
        else say("tuning.being_written")
    )
    with st.container(horizontal=True, key="kv_strip_tuning", vertical_alignment="center"):
        bar = (
            f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>' if total else ""
        )
        st.html(
            f'<div class="kv-work" role="status">{elements.icon("bolt", small=True)}'
            f"<span>{status}</span>{bar}"
            '<span class="kv-fnt">'
            f"{elements.escape(_speed(done, total, seconds) or log_name)}</span></div>"
        )
        st.button(
            say("tuning.cancel"), type="tertiary", key="kv_tuning_cancel", on_click=job.cancel
        )


def _speed(done: int, total: int, seconds: float) -> str:
    """How fast, and how long still; nothing before the first .log is done."""
    if not done:
        return ""
    remaining = units.duration(1000 * math.ceil((total - done) * seconds / done))
    return say("tuning.speed", speed=units.rate(done / seconds), left=remaining)


def _render_fault(job: MeasureJob, location: Location) -> None:
    """Why there is nothing to show, and a way on."""
    if isinstance(job.fault, MeasureCancelled):
        with elements.state("stopped", "info", say("tuning.stopped"), say("tuning.stopped_below")):
            st.button(
                say("tuning.measure_again"),
                key="kv_tuning_again",
                on_click=cast(Callable[..., None], measure_jobs().job),
                args=(job.request,),
            )
        return
    with elements.state(
        "unread",
        "error",
        say("tuning.cannot"),
        error_text.describe_sentence(cast(Exception, job.fault)),
    ):
        widget_options: dict[str, Any] = {
            "icon": ":material/ecg_heart:",
            "query_params": page_state.address(location.directory),
        }
        st.page_link("pages/health.py", label=say("common.show_wrong"), **widget_options)
