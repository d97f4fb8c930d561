"""The Compare page: how two directories differ, and what each side would lose to the other."""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.compare.head import render_command, render_head, second_snapshot
from kafkaviz.app.pages.compare.logs import render_logs
from kafkaviz.app.pages.compare.partitions import (
    render_changes,
    render_partition_map,
    render_partition_table,
)
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import comparisons
from kafkaviz.app.state.comparisons import SnapshotPair, compare_again
from kafkaviz.app.widgets import elements, faults, progress_strip
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.messages import say

if TYPE_CHECKING:
    from kafkaviz.analysis.comparison.comparison import BrokerComparison
    from kafkaviz.app.state.page_location import Location

QUICK_S = 0.8  # a comparison that takes no longer shows no progress


@in_turn
def render_page() -> None:
    location = frame("Compare")
    apply_print_style()
    snapshot = faults.require_snapshot(location)
    other = second_snapshot()
    if other is None:
        return render_head(location, None, None)
    pair = snapshot, other
    job = comparisons.get_or_start(pair)
    is_over = job.wait_until_over(QUICK_S)
    render_head(location, pair, job.result if is_over else None)
    if not is_over:
        return render_progress(pair)
    if job.error is not None:
        return _render_failure(pair, job.error)
    _render_body(location, pair, cast("BrokerComparison", job.result))


def _render_body(location: "Location", pair: SnapshotPair, comparison: "BrokerComparison") -> None:
    if not comparison.partitions:
        with elements.empty("compare", say("compare.of_nothing"), say("compare.of_nothing_why")):
            pass
        return
    with st.container(gap=None, key="kv_compare"):
        render_partition_map(location, comparison)
        st.space(28)
        render_logs(location, pair, comparison)
        st.space(28)
        render_partition_table(location, comparison)
        if comparison.start and not comparison.start.is_swapped:
            st.space(28)
            render_changes(comparison.start)
        if comparison.problems:
            st.space(28)
            finding = say(
                "compare.not_compared", count=units.format_count(len(comparison.problems))
            )
            elements.heading(finding)
            faults.problem_table(pair[0].broker.path, comparison.problems)
        st.space(28)
        render_command(pair)


@st.fragment(run_every=0.4)
def render_progress(pair: SnapshotPair) -> None:
    """Draws the progress of the comparison, and reruns the page once it is over."""
    job = comparisons.get_or_start(pair)
    if job.is_over:
        st.rerun()
    name = job.progress().name
    text = (
        say("compare.reading_partition", partition=units.escape_controls(name))
        if name
        else say("compare.reading")
    )
    progress_strip.render_reading_job(job, text, button_key="kv_compare_cancel")


def _render_failure(pair: SnapshotPair, error: Exception) -> None:
    reason = progress_strip.failure_text(error)
    with elements.state(
        "compare", "error", say("compare.not_ended"), say("common.nothing_changed", error=reason)
    ):
        st.button(
            say("compare.again"), key="kv_compare_again", on_click=compare_again, args=(pair,)
        )
