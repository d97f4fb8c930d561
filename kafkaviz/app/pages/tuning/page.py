"""Tuning: what another interval would have cost this log."""

from dataclasses import replace
from typing import cast

import streamlit as st

from kafkaviz.analysis.tuning.source import TuningSource
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.tuning import scope, tuning_context
from kafkaviz.app.pages.tuning.comparisons import (
    render_comparison,
    render_remote_reads,
    render_replay,
    render_writers,
)
from kafkaviz.app.pages.tuning.curves import (
    choose_interval,
    render_assumptions,
    render_curves,
    render_limits,
    reset_interval,
)
from kafkaviz.app.pages.tuning.scope import MeasureRequest, Scope
from kafkaviz.app.pages.tuning.tuning_context import (
    TuningContext,
    build_context,
    render_p99,
    render_unfinished,
)
from kafkaviz.app.pages.tuning.verdict import render_headline, render_topics, render_verdict
from kafkaviz.app.state import choice, page_location, page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.messages import say

BUDGETS = (
    page_state.P99,
    page_state.COLD_P99,
    page_state.SHARE,
    page_state.FETCHES,
    page_state.CORES,
    page_state.STORAGE,
    page_state.READ_RELEASE,
    page_state.TIERED,
    page_state.WORKLOAD,
)
CURVES = (1, 0.4594)  # of the width; the verdict has the rest
HALF = (1, 1)


def render_page() -> None:
    """The page."""
    location = frame("Tuning")
    apply_print_style()
    _render_body(location)


@st.fragment
def _render_body(location: Location) -> None:
    """All but the frame: a slider redraws this alone."""
    choice.carry_over(BUDGETS, location.address)
    with st.container(gap=None, key="kv_tuning"):
        tuning_scope = scope.current_scope(location)
        if tuning_scope.kind != "workload" and location.fault:
            page_location.partition(location)
        head = st.container(key="kv_head", horizontal=True, vertical_alignment="bottom")
        controls = st.container(
            key="kv_tune_set", horizontal=True, vertical_alignment="bottom", gap=20
        )
        if tuning_scope.kind == "workload":
            tuning_scope = replace(tuning_scope, name=scope.choose_workload())
        measure_request = scope.measure_request(tuning_scope)
        reading = tuning_context.get_or_start(measure_request) if measure_request else None
        if (
            reading
            and reading.ends_within(tuning_context.PATIENCE_S)
            and reading.result
            and not reading.is_empty
        ):
            _render_measured(
                tuning_scope,
                cast(MeasureRequest, measure_request).key,
                reading.result,
                head,
                controls,
            )
            return
        with head:
            scope.render_title(tuning_scope)
        with controls:
            scope.render_choice(tuning_scope)
        if reading:
            render_unfinished(reading, tuning_scope)


def _render_measured(tuning_scope: Scope, key: str, source: TuningSource, head, controls) -> None:
    """The page of what was measured.

    What it is, the curves beside the verdict, and what follows from them.
    """
    curves, side = st.columns(CURVES, gap=20)
    with side, st.container(key="kv_verdict_side", gap=16):
        slot = st.container()
        context = build_context(tuning_scope, key, source)
    with head:
        render_headline(context)
    scope.reset_for_source(key)
    with controls:
        scope.render_choice(tuning_scope)
        context = replace(context, alternative_bytes=choose_interval(context))
        render_p99()
        st.button(
            say("tuning.today"),
            icon=":material/replay:",
            key="kv_today",
            on_click=reset_interval,
            args=(context.today.interval_bytes,),
        )
    with slot:
        render_verdict(context)
    with curves, st.container(gap=16):
        render_curves(context)
    _render_sections(context)


def _render_sections(context: TuningContext) -> None:
    """What follows from the curves, down the page."""
    st.space(32)
    if context.kind in ("broker", "topic") and len(context.source.cases) > 1:
        render_topics(context)
        st.space(32)
    render_comparison(context)
    st.space(32)
    _render_pair(render_limits, render_assumptions, context)
    st.space(32)
    render_replay(context)
    st.space(32)
    _render_pair(render_writers, render_remote_reads, context)


def _render_pair(left, right, context: TuningContext) -> None:
    """Two sections, each in half of the page."""
    for column, section in zip(st.columns(HALF, gap=20), (left, right), strict=True):
        with column, st.container(gap=None):
            section(context)
