"""One segment of a simulated log on its way to its limits."""

import numpy as np

from kafkaviz.analysis.rolls.limit_race import race
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import RollSimulation
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import table
from kafkaviz.app.workloads import config_of, display_title, format_setting
from kafkaviz.messages import message, say
from kafkaviz.simulate.producers import workload
from kafkaviz.workshop.drawings import limit_race as race_figure
from kafkaviz.workshop.drawings.limit_race import LimitRaceView
from kafkaviz.workshop.figures.drawing import render_drawing
from kafkaviz.workshop.figures.figure import Destination, LessonFigure
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEADS = ("limit", "most", "at_roll", "share", "alone")


def simulate(block: LessonBlock) -> RollSimulation:
    """Simulates the workload of a block, with the settings that the block changes."""
    preset = _find_workload(block["workload"])
    return simulation_cache.simulate(preset, config_of(preset, block.settings))


def _make(block: LessonBlock) -> LimitRaceView:
    """Replays how a block's segment approached its limits.

    Raises:
        NoValue: the segment was not rolled, or it cannot be replayed.
    """
    preset = _find_workload(block["workload"])
    run = simulate(block)
    if not preset.is_leader:
        raise NoValue(message("limit_race.follower", name=block["workload"]))
    if run.history.config.segment_jitter_ms:
        raise NoValue(message("limit_race.jitter"))
    segments = run.history.segments
    if block["segment"] >= len(segments) or segments[block["segment"]].reason is None:
        raise NoValue(message("lesson.rolled_segment", most=len(segments) - 2))
    return charts.view(
        ("limit race", run.key, block["segment"]),
        lambda: _view(run, block["segment"], display_title(preset.title)),
    )


def _find_workload(name: str) -> workload.Workload:
    """Returns the preset with this name.

    Raises:
        NoValue: the preset does not exist.
    """
    if name not in workload.PRESETS:
        raise NoValue(message("lesson.no_workload", name=name, names=tuple(workload.PRESETS)))
    return workload.preset(name)


def _view(run: RollSimulation, number: int, workload_title: str) -> LimitRaceView:
    base_offset = run.history.segments[number].base_offset
    first_row = np.searchsorted(run.appended_batches["base_offset"], base_offset)
    return race_figure.view(
        race(run.appended_batches[first_row:], run.history.config), base_offset, workload_title
    )


def _draw(view: LimitRaceView, block: LessonBlock, key: str) -> None:
    render_drawing(race_figure.figure, view, block, key, title=view.title, words=view.caption)
    _table(view)


def _draw_question(view: LimitRaceView, block: LessonBlock, key: str) -> None:
    words = race_figure.describe_limits(view)
    render_drawing(race_figure.question_figure, view, block, key, title=view.question, words=words)


def _table(view: LimitRaceView) -> None:
    winner = next(number for number, line in enumerate(view.lines) if line.cause == view.cause)
    table(
        [say(f"limit_race.head_{name}") for name in HEADS],
        race_figure.rows(view),
        "lrrrr",
        winner,
    )


def _on_paper(view: LimitRaceView, block: LessonBlock, key: str) -> None:
    elements.figure_head(view.title, view.caption)
    _table(view)


def _to_rolls(block: LessonBlock) -> Destination:
    settings = {
        page_state.SETTING[name]: format_setting(name, value)
        for name, value in block.settings.items()
        if name in page_state.SETTING
    }
    return "Rolls", {
        page_state.ROLLS_SUBJECT: "Simulated",
        page_state.WORKLOAD: _find_workload(block["workload"]).title,
    } | settings


RACE = LessonFigure(_make, _draw, _to_rolls, paper=_on_paper, question=_draw_question)
