"""One segment of a simulated log on its way to its limits."""

import numpy as np

from kafkaviz.analysis.rolls.limit_race import race
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import RollSimulation
from kafkaviz.app.widgets import charts
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.app.workloads import config_of, display_title, format_setting
from kafkaviz.messages import message, say
from kafkaviz.simulate.producers import workload
from kafkaviz.workshop.drawings import limit_race as race_figure
from kafkaviz.workshop.drawings.limit_race import LimitRaceView
from kafkaviz.workshop.figures.figure import Destination, drawn_figure
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


def _table(view: LimitRaceView) -> str:
    winner = next(number for number, line in enumerate(view.lines) if line.cause == view.cause)
    heads = [say(f"limit_race.head_{name}") for name in HEADS]
    return table_html(heads, race_figure.rows(view), "lrrrr", winner)


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


RACE = drawn_figure(
    _make,
    _to_rolls,
    (race_figure.figure, race_figure.question_figure),
    _table,
    question_words=race_figure.describe_limits,
    has_table_below=True,
)
