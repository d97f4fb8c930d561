"""Two figures about rolls: a real segment rolled by time, and a log that grows step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kafkaviz.app import page_state
from kafkaviz.app.cache import segment_cache, simulation_cache
from kafkaviz.app.frontend import growth
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures import theme
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls.growth import GrowthView
from kafkaviz.html import Html
from kafkaviz.log import settings as log_settings
from kafkaviz.messages import message, say
from kafkaviz.simulate.config import LogConfig, log_config
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import DAY_MS, duration, file_stem, format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    PAPER_ROWS,
    Component,
    Destination,
    Part,
    drawing,
    note,
    quiz_figure,
    start_parameters,
    stepper_data,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEIGHT_PX = 258
LEFT_PX = 20
RIGHT_PX = 20
BOTTOM_PX = 30
# y of: labels of both batches, time axis of the records, time between them, broker's clock
LABEL_Y = 34
LINE_Y = 76
BETWEEN_Y = 134
CLOCK_Y = 202
TICK_PX = 11  # half the height of a batch
BAR_PX = 13  # half the height of the bar that shows segment.ms
TICKS = 7
RELEASES = ("clock", "first_append", "first_batch", "no_timestamps")


@dataclass(frozen=True, kw_only=True)
class RollClockView:
    """The times of a roll, in ms since the largest timestamp of the segment's first batch."""

    title: str
    caption: str
    batches: tuple[int, ...]  # the largest timestamp of each batch in the segment
    # the first and the largest timestamp of the batch whose append rolled the segment
    incoming: tuple[int, int]
    segment_ms: int
    first_text: str
    incoming_text: str
    limit_text: str
    # the time from the first batch to `incoming`, compared with `segment_ms`:
    # "604 900 000 ms > 604 800 000 ms"
    between: str
    start_ms: float
    end_ms: float


def _view(
    batches_ms: Sequence[int], incoming: np.void, config: LogConfig, caption: str
) -> RollClockView:
    """Returns the timestamps that decided a roll.

    `batches_ms` has the largest timestamp of each batch in the segment. `incoming` is the header of
    the next segment's first batch.
    """
    first_ms = batches_ms[0]
    incoming_ms = int(incoming["max_timestamp_ms"])
    segment_ms = config.most_segment_ms
    # LogSegment.timeWaitedForRoll, for a segment whose first batch has timestamps
    waited_ms = incoming_ms - first_ms
    batches = tuple(batch_ms - first_ms for batch_ms in batches_ms)
    end_ms = max(waited_ms, segment_ms)
    jitter_ms = config.segment_jitter_ms
    limit_key = "roll_clock.limit" if jitter_ms else "roll_clock.limit_without_jitter"
    return RollClockView(
        title=say("roll_clock.title", waited=waited_ms, limit=segment_ms),
        caption=caption,
        batches=batches,
        incoming=(int(incoming["base_timestamp_ms"]) - first_ms, waited_ms),
        segment_ms=segment_ms,
        first_text=say("roll_clock.first", time=first_ms),
        incoming_text=say("roll_clock.incoming", time=incoming_ms),
        limit_text=say(limit_key, limit=segment_ms, jitter=jitter_ms),
        between=say("roll_clock.between", waited=waited_ms, limit=segment_ms),
        start_ms=min(0, *batches) - 0.02 * end_ms,
        end_ms=1.03 * end_ms,
    )


def rows() -> list[tuple[str, str]]:
    """Returns a row per range of releases: the range, the time compared with segment.ms."""
    return [
        (say(f"roll_clock.release_{name}"), say(f"roll_clock.counts_{name}")) for name in RELEASES
    ]


def describe(clock_view: RollClockView) -> str:
    texts = (clock_view.first_text, clock_view.limit_text, clock_view.incoming_text)
    return " · ".join((*texts, clock_view.between, say("roll_clock.not_asked")))


def figure(clock_view: RollClockView, mode: str) -> go.Figure:
    """Draws the view. y counts pixels from the top."""
    colours = theme.colours(mode)
    axis = theme.PLAIN_AXIS | {"title": None, "ticks": ""}
    ticks = _ticks(clock_view)
    traces = [_batch_trace(clock_view, colours), _moments_trace(clock_view, colours)]
    return go.Figure(traces).update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (LEFT_PX, RIGHT_PX, 0, BOTTOM_PX)),
        hovermode="closest",
        xaxis=axis
        | {
            "range": [clock_view.start_ms, clock_view.end_ms],
            "tickvals": ticks,
            "ticktext": [f"+ {duration(tick)}" if tick else "0" for tick in ticks],
            "showgrid": False,
        },
        yaxis=axis | {"range": [HEIGHT_PX - BOTTOM_PX, 0], "visible": False},
        shapes=_shapes(clock_view, colours),
        annotations=_annotations(clock_view, colours),
    )


def _ticks(clock_view: RollClockView) -> np.ndarray:
    steps = [factor * unit for unit in (1000, 60_000, 3_600_000) for factor in (1, 2, 5, 10, 30)]
    step = next(
        (step for step in steps if clock_view.end_ms / step <= TICKS),
        DAY_MS * max(1, round(clock_view.end_ms / TICKS / DAY_MS)),
    )
    return np.arange(0, clock_view.end_ms, step)


def _batch_trace(clock_view: RollClockView, colours: Mapping[str, str]) -> go.Scatter:
    hover = say("roll_clock.hover", span="%{customdata}")
    line = {"width": 2, "color": colours["log"]}
    return go.Scatter(
        x=clock_view.batches,
        y=[LINE_Y] * len(clock_view.batches),
        mode="markers",
        name="batches",
        marker={"symbol": "line-ns", "size": 2 * TICK_PX, "line": line},
        customdata=[f"{format_count(batch_ms)} ms" for batch_ms in clock_view.batches],
        hovertemplate=f"{hover}<extra></extra>",
    )


def _moments_trace(clock_view: RollClockView, colours: Mapping[str, str]) -> go.Scatter:
    outline = {"color": colours["raised"], "width": 2}
    return go.Scatter(
        x=[0, clock_view.incoming[1]],
        y=[LINE_Y, LINE_Y],
        mode="markers",
        name="moments",
        marker={"size": 13, "color": colours["time"], "line": outline},
        hovertext=[clock_view.first_text, clock_view.incoming_text],
        hoverinfo="text",
        cliponaxis=False,
    )


def _shapes(clock_view: RollClockView, colours: Mapping[str, str]) -> list[dict]:
    waited_ms = clock_view.incoming[1]
    start_ms = clock_view.start_ms
    end_ms = clock_view.end_ms
    segment_ms = clock_view.segment_ms
    thin = {"color": colours["ink_3"], "width": 1}
    edge = {"color": colours["time"], "width": 1}
    between = {"color": colours["time"], "width": 2}
    limit = {"color": colours["ink"], "width": 2}
    dashes = {"color": colours["ink_3"], "width": 1.5, "dash": "3px,4px"}
    lines = (
        (start_ms, end_ms, LINE_Y, LINE_Y, thin),
        (0, 0, LINE_Y, BETWEEN_Y + 8, edge),
        (waited_ms, waited_ms, LINE_Y, BETWEEN_Y + 8, edge),
        (0, waited_ms, BETWEEN_Y, BETWEEN_Y, between),
        (segment_ms, segment_ms, LINE_Y - BAR_PX - 4, LINE_Y + BAR_PX + 4, limit),
        (start_ms, end_ms, CLOCK_Y, CLOCK_Y, dashes),
    )

    def bar(first_ms: float, last_ms: float, half_px: float, fill: str) -> dict:
        rows = {"y0": LINE_Y - half_px, "y1": LINE_Y + half_px}
        return theme.area(colours[fill], x0=first_ms, x1=last_ms) | rows

    return [
        bar(0, segment_ms, BAR_PX, "probe_soft"),
        bar(*clock_view.incoming, TICK_PX / 2, "time_soft"),
        *(theme.straight_line(*ends, line=style, layer="below") for *ends, style in lines),
    ]


def _annotations(clock_view: RollClockView, colours: Mapping[str, str]) -> list[dict]:
    waited_ms = clock_view.incoming[1]
    middle_ms = (clock_view.start_ms + clock_view.end_ms) / 2
    labels = (
        (clock_view.start_ms, 10, "left", say("roll_clock.records_time"), "ink_2", ""),
        (0, LABEL_Y, "left", clock_view.first_text, "time_text", "b"),
        (waited_ms, LABEL_Y, "right", clock_view.incoming_text, "time_text", "b"),
        (0, LINE_Y + BAR_PX + 13, "left", clock_view.limit_text, "ink_2", ""),
        (waited_ms / 2, BETWEEN_Y, "center", clock_view.between, "ink", "b"),
        (clock_view.start_ms, CLOCK_Y - 20, "left", say("roll_clock.clock"), "ink_3", ""),
        (middle_ms, CLOCK_Y, "center", say("roll_clock.not_asked"), "ink_2", ""),
    )
    return [
        note(
            at_ms,
            y_px,
            f"<{tag}>{text}</{tag}>" if tag else text,
            colours[colour],
            xanchor=anchor,
            xshift=5 if anchor == "left" and at_ms == 0 and y_px > LINE_Y else 0,
            bgcolor=colours["bg"] if anchor == "center" else None,
            borderpad=4 if anchor == "center" else None,
        )
        for at_ms, y_px, anchor, text, colour, tag in labels
    ]


def _make(block: LessonBlock) -> RollClockView:
    location, anatomy = block_location.anatomy(block)
    base_offset = location.segment.base_offset
    partition = location.partition
    cause = segment_cache.roll_reason(location.snapshot, partition, location.segment)
    if cause != RollCause.TIME:
        raise NoValue(message("roll_clock.no_time_roll", segment=location.segment.name))
    later = (segment for segment in partition.live if segment.base_offset > base_offset)
    next_segment = next(segment for segment in later if segment.log.size_bytes)
    incoming = segment_cache.read(next_segment).batches.row(0)
    settings = log_settings.open_settings(location.snapshot.broker)
    values = settings.topic_settings(partition.topic)
    config = log_config({name: setting.value for name, setting in values.items()})
    batches_ms = anatomy.batches.all_rows()["max_timestamp_ms"].tolist()
    segment = file_stem(base_offset)
    caption = say(
        "roll_clock.below", partition=partition.directory, segment=segment, source=block["data"]
    )
    return _view(batches_ms, incoming, config, caption)


def _draw(view: RollClockView, block: LessonBlock, key: str, *, is_answered: bool) -> list[Part]:
    drawn = drawing(figure, view, block, key, words=describe(view))
    return [drawn, _table()] if is_answered else [drawn]


def _table() -> Html:
    heads = [say("roll_clock.head_releases"), say("roll_clock.head_counts")]
    return table_html(heads, rows(), "lw")


def _on_paper(view: RollClockView, block: LessonBlock, key: str) -> list[Part]:
    return [elements.figure_head_html(view.title, describe(view)), _table()]


CLOCK = quiz_figure(_make, _draw, block_location.to_segment, _on_paper)

# the names in lessons, and the names on the Rolls page that they stand for
STORIES = dict(zip(("first", "full-time-index"), simulation_cache.STORIES, strict=True))
GROWTH_HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def growth_view(block: LessonBlock) -> GrowthView:
    return simulation_cache.lesson_story(STORIES[block["story"]])


def _draw_growth(
    growth_view: GrowthView, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    data: dict[str, Any] = growth_figure.browser_payload(growth_view) | stepper_data(block, key)
    if not is_answered:
        data |= {"begin": 0, "steps": data["steps"][:1], "key": f"{data['key']} ?"}
    return [Component(partial(growth, data, key=key))]


def _growth_on_paper(growth_view: GrowthView, block: LessonBlock, key: str) -> list[Part]:
    last_step = block["step"] or PAPER_ROWS
    rows = growth_figure.rows(growth_view)[max(0, last_step - PAPER_ROWS) : last_step]
    return [table_html([say(f"workshop.{name}") for name in GROWTH_HEADS], rows, "rwrrr")]


def _to_rolls(block: LessonBlock) -> Destination:
    return "Rolls", {page_state.STORY: STORIES[block["story"]]} | start_parameters(block)


GROWTH = quiz_figure(growth_view, _draw_growth, _to_rolls, _growth_on_paper)
