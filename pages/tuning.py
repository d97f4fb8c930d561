"""Tuning: what another interval would have cost this log."""

from dataclasses import replace
from typing import cast

import streamlit as st

from kafkaviz.analyse.tuning.source import Source
from kafkaviz.ui import choice, pick, state
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.tuning import answers, budgets, readings, scope
from kafkaviz.ui.tuning.compared import compared
from kafkaviz.ui.tuning.curves import both_curves, interval, today_again
from kafkaviz.ui.tuning.headline import headline
from kafkaviz.ui.tuning.limits import doubts, limits
from kafkaviz.ui.tuning.once_more import once_more
from kafkaviz.ui.tuning.others import by_append, remote
from kafkaviz.ui.tuning.progress import unfinished
from kafkaviz.ui.tuning.scope import Scope
from kafkaviz.ui.tuning.scopes import Wanted
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.ui.tuning.topics import topics
from kafkaviz.ui.tuning.verdict import verdict
from kafkaviz.words import say

BUDGETS = (
    state.P99,
    state.COLD_P99,
    state.SHARE,
    state.FETCHES,
    state.CORES,
    state.STORAGE,
    state.READS_AS,
    state.TIERED,
    state.WORKLOAD,
)
CURVES = (1, 0.4594)  # of the width; the verdict has the rest
HALF = (1, 1)


def main() -> None:
    """The page."""
    place = frame("Tuning")
    printed()
    whole(place)


@st.fragment
def whole(place: Place) -> None:
    """All but the frame: a slider redraws this alone."""
    choice.stay(BUDGETS, place.address)
    with st.container(gap=None, key="kv_tuning"):
        of = scope.scope(place)
        if of.kind != "workload" and place.fault:
            pick.partition(place)
        head = st.container(key="kv_head", horizontal=True, vertical_alignment="bottom")
        controls = st.container(
            key="kv_tune_set", horizontal=True, vertical_alignment="bottom", gap=20
        )
        if of.kind == "workload":
            of = replace(of, name=scope.workload())
        wanted = scope.wanted(of)
        reading = readings.readings().of(wanted) if wanted else None
        if (
            reading
            and reading.wait(readings.PATIENCE_S)
            and reading.source
            and not reading.is_empty
        ):
            measured(of, cast(Wanted, wanted).key, reading.source, head, controls)
            return
        with head:
            scope.first_words(of)
        with controls:
            scope.segmented(of)
        if reading:
            unfinished(reading, of)


def measured(of: Scope, key: str, source: Source, head, controls) -> None:
    """The page of what was measured: what it is, the curves beside the verdict, and what follows
    from them.
    """
    curves, side = st.columns(CURVES, gap=20)
    with side, st.container(key="kv_verdict_side", gap=16):
        slot = st.container()
        shown = answered(of, key, source)
    with head:
        headline(shown)
    scope.forget_of_another(key)
    with controls:
        scope.segmented(of)
        shown = replace(shown, chosen=interval(shown))
        budgets.p99()
        st.button(
            say("tuning.today"),
            icon=":material/replay:",
            key="kv_today",
            on_click=today_again,
            args=(shown.today.interval_bytes,),
        )
    with slot:
        verdict(shown)
    with curves, st.container(gap=16):
        both_curves(shown)
    sections(shown)


def answered(of: Scope, key: str, source: Source) -> Shown:
    """The answer under the budgets that the controls say, which are drawn here but for that of the
    p99.
    """
    rest, storage, is_tiered = budgets.more(source)
    asked, costs = budgets.budgets_now(rest), answers.costs(source, storage)
    answer = answers.answer(key, asked, costs, is_tiered, source)
    return Shown(of.place, of.kind, of.name, of.label, key, source, answer, asked, costs, is_tiered)


def sections(shown: Shown) -> None:
    """What follows from the curves, down the page."""
    st.space(32)
    if shown.kind in ("broker", "topic") and len(shown.source.cases) > 1:
        topics(shown)
        st.space(32)
    compared(shown)
    st.space(32)
    beside(limits, doubts, shown)
    st.space(32)
    once_more(shown)
    st.space(32)
    beside(by_append, remote, shown)


def beside(left, right, shown: Shown) -> None:
    """Two sections, each in half of the page."""
    for column, section in zip(st.columns(HALF, gap=20), (left, right), strict=True):
        with column, st.container(gap=None):
            section(shown)


main()
