"""How far the measuring is, and why there is nothing to show."""

import math
from collections.abc import Callable
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.figures import fault_words
from kafkaviz.ui import parts, state
from kafkaviz.ui.pick import Place
from kafkaviz.ui.tuning.options import told
from kafkaviz.ui.tuning.readings import Reading, Stopped, readings
from kafkaviz.ui.tuning.scope import Scope
from kafkaviz.words import say


def unfinished(reading: Reading, of: Scope) -> None:
    """In place of the page: how far the measuring is, or why there is nothing to show."""
    if reading.fault:
        _cannot(reading, of.place)
    elif reading.is_empty:
        with parts.empty(
            "tuning", say("tuning.empty"), say("tuning.empty_below", name=told(of.label))
        ):
            pass
    else:
        _progress(reading)


@st.fragment(run_every=0.5)
def _progress(reading: Reading) -> None:
    """How far the measuring is; the page is drawn when it has ended."""
    if reading.wait(0):
        st.rerun()
    done, total, now, seconds = reading.progress
    share = done / total if total else 0.0
    told = (
        say("tuning.measured", done=units.size(done), total=units.size(total))
        if total
        else say("tuning.being_written")
    )
    with st.container(horizontal=True, key="kv_strip_tuning", vertical_alignment="center"):
        bar = (
            f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>' if total else ""
        )
        st.html(
            f'<div class="kv-work" role="status">{parts.icon("bolt", True)}<span>{told}</span>{bar}'
            f'<span class="kv-fnt">{parts.escape(_speed(done, total, seconds) or now)}</span></div>'
        )
        st.button(
            say("tuning.cancel"), type="tertiary", key="kv_tuning_cancel", on_click=reading.cancel
        )


def _speed(done: int, total: int, seconds: float) -> str:
    """How fast, and how long still; nothing before the first .log is done."""
    if not done:
        return ""
    left = units.duration(1000 * math.ceil((total - done) * seconds / done))
    return say("tuning.speed", speed=units.rate(done / seconds), left=left)


def _cannot(reading: Reading, place: Place) -> None:
    """Why there is nothing to show, and a way on."""
    if isinstance(reading.fault, Stopped):
        with parts.state("stopped", "info", say("tuning.stopped"), say("tuning.stopped_below")):
            st.button(
                say("tuning.measure_again"),
                key="kv_tuning_again",
                on_click=cast(Callable[..., None], readings().of),
                args=(reading.of,),
            )
        return
    with parts.state(
        "unread", "error", say("tuning.cannot"), fault_words.line(cast(Exception, reading.fault))
    ):
        look: dict[str, Any] = {
            "icon": ":material/ecg_heart:",
            "query_params": state.address(place.directory),
        }
        st.page_link("pages/health.py", label=say("common.show_wrong"), **look)
