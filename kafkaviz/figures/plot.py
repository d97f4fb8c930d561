"""The app's figures for notebooks: kv.plot.broker(broker) returns a Plotly figure.

Each figure is drawn as on its page, but has its title inside. `mode` is "light" or "dark".
"""

from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz import extras
from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.cost import calibration, cost_model
from kafkaviz.analysis.opened_path import broker_around
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_costs
from kafkaviz.analysis.tuning.recommendation import recommend_all
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.errors import CannotOpen
from kafkaviz.figures import tokens
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import open_settings
from kafkaviz.messages import message, render
from kafkaviz.search.lookup import Lookup
from kafkaviz.simulate.config import LogConfig, log_config

if TYPE_CHECKING:
    import plotly.graph_objects as go

TITLE_PX = 48
LIGHT = "light"


def broker(broker: Broker, mode: str = LIGHT) -> "go.Figure":
    """Returns the broker map: one row per topic-partition, with a bar for each segment.

    Raises:
        MissingPackages: Plotly is not installed. All functions of this module raise this error.
    """
    extras.require("app", "plotly")
    from kafkaviz.figures.broker import broker_map

    overview = overview_table.inventory(broker)
    if overview_table.is_readable(broker):
        overview = overview_table.with_entries(overview)
    view = broker_map.view(overview)
    return _titled(broker_map.figure(view, mode), view.title, mode)


def segment(segment: Segment, mode: str = LIGHT) -> "go.Figure":
    """Returns a figure that shows the sizes of a segment's three files as areas.

    Raises:
        CannotOpen: the .log, .index or .timeindex is missing or empty.
    """
    extras.require("app", "plotly", "pyarrow")
    from kafkaviz.figures.segment import file_areas

    log = segment.with_log().log
    files = {".log": log, ".index": segment.index, ".timeindex": segment.timeindex}
    sizes = {suffix: info.size_bytes for suffix, info in files.items() if info}
    if len(sizes) < len(files) or not all(sizes.values()):
        raise CannotOpen(log.path, message("file_areas.missing", segment=segment.name))
    counts = {
        ".log": len(segment.batches()),
        ".index": len(segment.offset_index),
        ".timeindex": len(segment.time_index),
    }
    view = file_areas.view(sizes, counts, candidates=(), segment=segment.name, source="")
    return _titled(file_areas.figure(view, mode), view.title, mode)


def lookup(lookup: Lookup, mode: str = LIGHT) -> "go.Figure":
    """Returns a figure that shows the path of a lookup: each probe in each searched index."""
    extras.require("app", "plotly")
    from kafkaviz.figures.lookup import search_path

    return _titled(search_path.figure(lookup, mode), render(lookup.title), mode)


def rolls(partition: Partition, mode: str = LIGHT) -> "go.Figure":
    """Returns a figure of a topic-partition's segments over time, with the cause of each roll.

    Only the first page of segments is drawn.

    Raises:
        CannotOpen: the topic-partition has no .log.
    """
    extras.require("app", "plotly")
    from kafkaviz.figures.rolls import roll_timeline

    config, explicit_names = _settings(partition)
    history = roll_history.history_of_partition(partition, config, explicit_names)
    view = roll_timeline.view(history)
    return _titled(roll_timeline.figure(view, mode), view.title, mode)


def _settings(partition: Partition) -> tuple[LogConfig, list[str]]:
    broker = broker_around(partition)
    if broker is None:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    settings = open_settings(broker).topic_settings(partition.topic)
    config = log_config({name: setting.value for name, setting in settings.items()})
    return config, [name for name, setting in settings.items() if setting.is_given]


def tuning(source: Broker | Partition | Path | str, mode: str = LIGHT) -> "go.Figure":
    """Returns a figure of how many batch headers a fetch reads, by index.interval.bytes.

    Args:
        source: anything that `kafkaviz tune` takes, including a workload.

    Raises:
        CannotOpen: there is nothing to tune.
    """
    extras.require("app", "plotly")
    from kafkaviz.figures.tuning import tuning_curve

    path = source.path if isinstance(source, Broker | Partition) else source
    opened = open_source(path)
    budgets = Budgets()
    costs = cost_model.lookup_costs(
        by_base_offset=opened.by_base_offset, calibration=calibration.load_calibration()
    )
    _, answer = recommend_all(opened.cases, opened.total, budgets, costs)
    if answer is None:
        raise CannotOpen(path, message("report.no_batch"), kind="missing")
    measured = opened.total.measurement
    view = tuning_curve.view(
        compute_costs(measured, costs),
        answer.current_cost,
        answer.considered_bytes,
        least_batch_bytes=measured.parts.least_batch_bytes,
        budgets=budgets,
        costs=costs,
        is_today_known=opened.total.today.is_interval_known,
    )
    return _titled(tuning_curve.figure(view, mode), view.title, mode)


def _titled(figure: "go.Figure", title: str, mode: str) -> "go.Figure":
    height = figure.layout.height
    top = figure.layout.margin.t or 0
    figure.update_layout(
        title={
            "text": title,
            "x": 0.01,
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 14},
            "font_size": 16,
        },
        height=(height or 400) + TITLE_PX,
        margin_t=top + TITLE_PX,
        paper_bgcolor=tokens.colours(mode)["bg"],
    )
    return figure
