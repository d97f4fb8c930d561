"""Rolls: a simulated log growing, each roll with its cause; which limit binds where; a partition's
real rolls.
"""

from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz.analyse.lanes import Lanes
from kafkaviz.analyse.limits import Load
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import choice, parts, pick, state
from kafkaviz.ui.frame import frame
from kafkaviz.ui.pick import InPartition, Place
from kafkaviz.ui.printed import printed
from kafkaviz.ui.rolls import on_disk, simulated
from kafkaviz.ui.rolls.compared import compared
from kafkaviz.ui.rolls.every_roll import every_roll
from kafkaviz.ui.rolls.lanes import lanes
from kafkaviz.ui.rolls.limits import limits
from kafkaviz.ui.rolls.notes import notes
from kafkaviz.ui.rolls.panel import controls
from kafkaviz.ui.rolls.shown import SIMULATED, head
from kafkaviz.ui.rolls.stories import step_by_step
from kafkaviz.ui.rolls.taken import take_along
from kafkaviz.words import say

WIDTHS = (1.15, 1)
CHOICES = (state.WORKLOAD, *state.SETTING.values(), state.SPEED, state.BATCH_SIZE, state.STORY)


def main() -> None:
    """The page."""
    place = frame("Rolls")
    printed()
    whole(place, head(place))


@st.fragment
def whole(place: Place, of: str) -> None:
    """All but the head: a slider redraws this, not the frame around it."""
    choice.stay(CHOICES, place.address)
    with st.container(gap=None, key="kv_rolls"):
        above = simulated_log() if of == SIMULATED else partition(place)
        st.space(32)
        step_by_step(above)


def simulated_log() -> tuple[Workload, LogConfig] | None:
    """Controls, lanes, curves, table, comparison, and what to take along; the workload and
    settings, where a log could be made.
    """
    chosen = controls()
    if chosen is None:
        return None
    of, config = chosen
    try:
        run = simulated.run(of, config)
    except KafkavizError as fault:
        with parts.state("unmade", "error", say("rolls.unmade"), fault_words.line(fault)):
            pass
        return None
    notes(of, config, run)
    if not run.lanes.lanes:
        return None
    figures(run.lanes, run.load, run.key, run.appended)
    compared(of, config, run.lanes)
    take_along(of, config, run)
    return chosen


def partition(place: Place) -> None:
    """The rolls of the open topic-partition."""
    opened = pick.partition(place)
    try:
        found = on_disk.real(cast(InPartition, place).listed, opened.directory)
    except KafkavizError as fault:
        with parts.state("unread", "error", say("rolls.untold"), fault_words.line(fault)):
            look: dict[str, Any] = {
                "icon": ":material/ecg_heart:",
                "query_params": state.address(place.directory),
            }
            st.page_link("pages/health.py", label=say("common.show_wrong"), **look)
        return
    on_disk.found_in(found, len(opened.live))
    if not found.lanes.lanes:
        with parts.empty("rolls", say("rolls.empty"), say("rolls.empty_below")):
            pass
        return
    figures(found.lanes, found.load, found.key, None)


def figures(shown: Lanes, load: Load, key: str, appended: np.ndarray | None) -> None:
    """The segments as they fill; which limit binds where; every roll."""
    lanes(shown, key, appended)
    st.space(16)
    left, right = st.columns(WIDTHS, gap=20)
    with left, st.container(key="kv_fig_limits"):
        limits(shown, load, key)
    with right, st.container(gap=None):
        every_roll(shown)


main()
