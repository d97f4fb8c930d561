"""Rolls: a simulated log growing, each roll with its cause; which limit binds where; a partition's
real rolls.
"""

from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz.analysis.limits import WriteLoad
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.rolls import disk_rolls, simulated_log
from kafkaviz.app.pages.rolls.controls import render_controls
from kafkaviz.app.pages.rolls.download import render_download
from kafkaviz.app.pages.rolls.lanes import render_lanes
from kafkaviz.app.pages.rolls.limits import render_limits
from kafkaviz.app.pages.rolls.notes import render_notes
from kafkaviz.app.pages.rolls.page import SIMULATED, render_head
from kafkaviz.app.pages.rolls.roll_figures import render_stories
from kafkaviz.app.pages.rolls.roll_table import render_rolls
from kafkaviz.app.pages.rolls.run_comparison import render_comparison
from kafkaviz.app.state import choice, page_location, page_state
from kafkaviz.app.state.page_location import Location, PartitionLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say

WIDTHS = (1.15, 1)
CHOICES = (
    page_state.WORKLOAD,
    *page_state.SETTING.values(),
    page_state.SPEED,
    page_state.BATCH_SIZE,
    page_state.STORY,
)


def main() -> None:
    """The page."""
    location = frame("Rolls")
    apply_print_style()
    render_body(location, render_head(location))


@st.fragment
def render_body(location: Location, subject: str) -> None:
    """All but the head: a slider redraws this, not the frame around it."""
    choice.carry_over(CHOICES, location.address)
    with st.container(gap=None, key="kv_rolls"):
        above = render_simulated_log() if subject == SIMULATED else render_partition(location)
        st.space(32)
        render_stories(above)


def render_simulated_log() -> tuple[Workload, LogConfig] | None:
    """Controls, lanes, curves, table, comparison, and what to take along; the workload and
    settings, where a log could be made.
    """
    chosen = render_controls()
    if chosen is None:
        return None
    subject, config = chosen
    try:
        run = simulated_log.run(subject, config)
    except KafkavizError as fault:
        with elements.state(
            "unmade", "error", say("rolls.unmade"), error_text.describe_sentence(fault)
        ):
            pass
        return None
    render_notes(subject, config, run)
    if not run.history.segments:
        return None
    render_figures(run.history, run.load, run.key, run.appended_batches)
    render_comparison(subject, config, run.history)
    render_download(subject, config, run)
    return chosen


def render_partition(location: Location) -> None:
    """The rolls of the open topic-partition."""
    opened = page_location.partition(location)
    try:
        log_rolls = disk_rolls.rolls_on_disk(
            cast(PartitionLocation, location).snapshot, opened.directory
        )
    except KafkavizError as fault:
        with elements.state(
            "unread", "error", say("rolls.untold"), error_text.describe_sentence(fault)
        ):
            look: dict[str, Any] = {
                "icon": ":material/ecg_heart:",
                "query_params": page_state.address(location.directory),
            }
            st.page_link("pages/health.py", label=say("common.show_wrong"), **look)
        return
    disk_rolls.render_settings(log_rolls, len(opened.live))
    if not log_rolls.history.segments:
        with elements.empty("rolls", say("rolls.empty"), say("rolls.empty_below")):
            pass
        return
    render_figures(log_rolls.history, log_rolls.load, log_rolls.key, None)


def render_figures(
    history: RollHistory, load: WriteLoad, key: str, appended: np.ndarray | None
) -> None:
    """The segments as they fill; which limit binds where; every roll."""
    render_lanes(history, key, appended)
    st.space(16)
    left, right = st.columns(WIDTHS, gap=20)
    with left, st.container(key="kv_fig_limits"):
        render_limits(history, load, key)
    with right, st.container(gap=None):
        render_rolls(history)


main()
