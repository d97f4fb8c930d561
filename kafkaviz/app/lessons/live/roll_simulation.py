"""A simulated log as it fills, and why each of its segments ended.

And which limit binds at which speed.
"""

import streamlit as st

from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import RollSimulation
from kafkaviz.app.lessons.grammar import LessonBlock, NoValue
from kafkaviz.app.lessons.live.figure import Destination, LessonFigure, render_framed
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.app.workloads import config_of, format_setting
from kafkaviz.figures.rolls import roll_timeline
from kafkaviz.figures.text import roll_text
from kafkaviz.figures.tuning import limit_curves
from kafkaviz.messages import message, say
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.producers import workload

CAUSES = {
    "roll-size": RollCause.SIZE,
    "roll-time": RollCause.TIME,
    "roll-offset": RollCause.OFFSET_INDEX_FULL,
    "roll-timestamp": RollCause.TIME_INDEX_FULL,
}


def simulate(block: LessonBlock) -> RollSimulation:
    """The log of a block's workload, with its settings changed as the block says."""
    preset = find_workload(block["workload"])
    return simulation_cache.simulate(preset, config_of(preset, block.settings))


def find_workload(name: str) -> workload.Workload:
    """One of the workloads that come along, by its name.

    Raises:
        NoValue: there is none of that name.
    """
    if name not in workload.PRESETS:
        raise NoValue(message("lesson.no_workload", name=name, names=tuple(workload.PRESETS)))
    return workload.preset(name)


def _draw_lanes(run: RollSimulation, block: LessonBlock, key: str) -> None:
    view = charts.view(
        ("lanes", run.key), lambda: roll_timeline.view(run.history, 0, run.appended_batches)
    )
    render_framed(
        roll_timeline.figure,
        view,
        block,
        key,
        elements.key((kind, roll_text.cause_name(cause)) for kind, cause in CAUSES.items()),
    )


def _draw_lanes_question(run: RollSimulation, block: LessonBlock, key: str) -> None:
    """What is written, and when; not where a segment ends."""
    view = roll_timeline.view(run.history, 0, run.appended_batches)
    render_framed(roll_timeline.figure, roll_timeline.before_rolls(view), block, f"{key}_asked")


def _lanes_on_paper(run: RollSimulation, block: LessonBlock, key: str) -> None:
    view = roll_timeline.view(run.history, 0, run.appended_batches)
    elements.figure_head(view.title, "")
    heads = [say(f"workshop.{name}") for name in ("segment", "cause", "because")]
    table(heads, [(row.name, row.cause, row.reason) for row in view.rows], "llw")


def _limits(run: RollSimulation) -> limit_curves.LimitCurvesView:
    return limit_curves.view(run.history.config, run.load, run.history.bytes_per_s)


def _draw_limits(run: RollSimulation, block: LessonBlock, key: str) -> None:
    render_framed(
        limit_curves.figure, charts.view(("limits", run.key), lambda: _limits(run)), block, key
    )


def _draw_limits_question(run: RollSimulation, block: LessonBlock, key: str) -> None:
    """Speeds and times, and where this log stands between them."""
    view = limit_curves.before_limits(_limits(run))
    render_framed(limit_curves.figure, view, block, f"{key}_asked")


def _limits_on_paper(run: RollSimulation, block: LessonBlock, key: str) -> None:
    st.html(f"<p>{elements.escape(_limits(run).title)}</p>")


def to_rolls(block: LessonBlock) -> Destination:
    settings = {
        page_state.SETTING[name]: format_setting(name, value)
        for name, value in block.settings.items()
        if name in page_state.SETTING
    }
    return "Rolls", {
        page_state.ROLLS_SUBJECT: "Simulated",
        page_state.WORKLOAD: find_workload(block["workload"]).title,
    } | settings


ROLLS = LessonFigure(simulate, _draw_lanes, to_rolls, _lanes_on_paper, _draw_lanes_question)
LIMITS = LessonFigure(simulate, _draw_limits, to_rolls, _limits_on_paper, _draw_limits_question)
