"""A simulated log as it fills, why each of its segments ended, and which limit binds at which
speed.
"""

import streamlit as st

from kafkaviz.figures import limit_curves, roll_timeline, roll_words
from kafkaviz.simulate.sending import workload
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.ui import charts, parts, state
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live.figure import Live, Onward, framed
from kafkaviz.ui.rolls import simulated as lab
from kafkaviz.ui.rolls.options import config_of
from kafkaviz.ui.rolls.simulated import Simulated
from kafkaviz.ui.tables import table
from kafkaviz.ui.workloads import written
from kafkaviz.words import say

CAUSES = {
    "roll-size": Cause.SIZE,
    "roll-time": Cause.TIME,
    "roll-offset": Cause.OFFSET_INDEX_FULL,
    "roll-timestamp": Cause.TIME_INDEX_FULL,
}


def simulated(block: Block) -> Simulated:
    """The log of a block's workload, with its settings changed as the block says."""
    of = _workload(block["workload"])
    return lab.run(of, config_of(of, block.others))


def _workload(name: str) -> workload.Workload:
    """One of those that come along, by its name. Raises NoValue."""
    if name not in workload.PRESETS:
        raise NoValue(f"there is no workload {name}; there are {', '.join(workload.PRESETS)}")
    return workload.preset(name)


def _draw_lanes(run: Simulated, block: Block, key: str) -> None:
    shown = charts.view(("lanes", run.key), lambda: roll_timeline.view(run.lanes, 0, run.appended))
    framed(
        roll_timeline.figure,
        shown,
        block,
        key,
        parts.key((kind, roll_words.name(cause)) for kind, cause in CAUSES.items()),
    )


def _lanes_on_paper(run: Simulated, block: Block, key: str) -> None:
    shown = roll_timeline.view(run.lanes, 0, run.appended)
    parts.figure_head(shown.title, "")
    heads = [say(f"workshop.{name}") for name in ("segment", "cause", "because")]
    table(heads, [(one.name, one.cause, one.because) for one in shown.rows], "llw")


def _limits(run: Simulated) -> limit_curves.LimitCurvesView:
    return limit_curves.view(run.lanes.config, run.load, run.lanes.bytes_per_s)


def _draw_limits(run: Simulated, block: Block, key: str) -> None:
    framed(limit_curves.figure, charts.view(("limits", run.key), lambda: _limits(run)), block, key)


def _limits_on_paper(run: Simulated, block: Block, key: str) -> None:
    st.html(f"<p>{parts.escape(_limits(run).title)}</p>")


def _onward(block: Block) -> Onward:
    settings = {
        state.SETTING[name]: written(name, value)
        for name, value in block.others.items()
        if name in state.SETTING
    }
    return "Rolls", {
        state.ROLLS_OF: "Simulated",
        state.WORKLOAD: _workload(block["workload"]).title,
    } | settings


ROLLS = Live(simulated, _draw_lanes, _onward, _lanes_on_paper)
LIMITS = Live(simulated, _draw_limits, _onward, _limits_on_paper)
