"""The map of the cost of a cold lookup over index interval and index size.

The colour shows the modelled mean cost of a lookup with nothing in memory. Each line joins the
settings at which segments roll at one .log size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from kafkaviz import config_def
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome
from kafkaviz.figures import theme
from kafkaviz.figures.tuning.index_size_curve import COST_TICKS_US, hover_text, least_safe_bytes
from kafkaviz.messages import say
from kafkaviz.units import format_bytes, format_us

HEIGHT = 372
LEFT = 62
RIGHT = 70
TOP = 28
BOTTOM = 42
SIZE_TICKS = [1 << power for power in (6, 16, 26)]
INTERVAL_TICKS = [1 << power for power in (6, 14, 22)]
ROLLS_AT = [1 << power for power in (16, 20, 24, 27)]  # .log sizes for which a line is drawn
NAME_CELLS = (5, 2)  # width and height of a mark's name, in cells of the map
ABOVE = {"yanchor": "bottom", "yshift": 7}  # positions of a mark's name
BELOW = {"yanchor": "top", "yshift": -7}
DARKEST = 0.62  # strength of the darkest colour, so that lines and texts on it stay legible
Mark = tuple[int, int]  # index.interval.bytes and segment.index.bytes


@dataclass(frozen=True, kw_only=True)
class IndexSizeMapView:
    """The costs of intervals and index sizes."""

    title: str
    caption: str
    intervals: np.ndarray
    sizes: np.ndarray
    # the time of a mean lookup, shape (sizes, intervals); NaN where Kafka cannot write such a log
    cold_us: np.ndarray
    # per interval, the least size at which no index gets full; NaN if no size or every size is safe
    safe_bytes: np.ndarray
    # by .log size in `ROLLS_AT`: per interval, the index size with which segments roll at this .log
    # size; NaN if none does
    roll_lines: Mapping[int, np.ndarray]
    hover_texts: tuple[tuple[str, ...], ...]
    today: Mark
    considered: Mark | None

    @property
    def x(self) -> np.ndarray:
        return np.log2(self.intervals.astype(float))

    @property
    def y(self) -> np.ndarray:
        return np.log2(self.sizes.astype(float))

    @property
    def marks(self) -> list[Mark]:
        return [mark for mark in (self.today, self.considered) if mark]


def view(
    outcomes_by_interval: Mapping[int, Sequence[IndexSizeOutcome]],
    costs: LookupCosts,
    *,
    today: Mark,
    considered: Mark,
) -> IndexSizeMapView:
    """Returns the map, with marks for today's and the considered settings.

    `outcomes_by_interval` has the outcomes of all sizes for each interval, including today's.
    """
    # only powers of two, so that all cells have the same size
    intervals = sorted(each for each in outcomes_by_interval if each.bit_count() == 1)
    columns = [outcomes_by_interval[interval] for interval in intervals]
    all_sizes = {outcome.index_bytes for outcomes in columns for outcome in outcomes}
    sizes = sorted(size for size in all_sizes if size.bit_count() == 1)
    costs_us = np.full((len(sizes), len(intervals)), np.nan)
    hover_texts = [[""] * len(intervals) for _ in sizes]
    for column, outcomes in enumerate(columns):
        for outcome in outcomes:
            if outcome.index_bytes in sizes:
                row = sizes.index(outcome.index_bytes)
                costs_us[row, column] = outcome.cold_us(costs).typical
                hover_texts[row][column] = hover_text(outcome, costs)
    safe = map(least_safe_bytes, columns)
    across = [each for row in outcomes_by_interval.values() for each in row]
    across_us = [each.cold_us(costs).typical for each in across if each.index_bytes == today[1]]
    up_us = [each.cold_us(costs).typical for each in outcomes_by_interval[today[0]]]
    return IndexSizeMapView(
        title=_title(across_us, up_us),
        caption=say("index_size.map_below"),
        intervals=np.array(intervals),
        sizes=np.array(sizes),
        cold_us=costs_us,
        safe_bytes=np.array([np.nan if each in (None, sizes[0]) else each for each in safe], float),
        roll_lines=_roll_lines(columns),
        hover_texts=tuple(map(tuple, hover_texts)),
        today=today,
        considered=None if considered == today else considered,
    )


def _title(across_us: Sequence[float], up_us: Sequence[float]) -> str:
    """Says how the time varies with the interval alone, and with the index size alone."""
    ends = [format_us(end) for values in (across_us, up_us) for end in (min(values), max(values))]
    names = dict(zip(("least", "most", "least_by_size", "most_by_size"), ends, strict=True))
    if names["least_by_size"] == names["most_by_size"]:
        return say("index_size.map_interval_alone", **names)
    return say("index_size.map_both", **names)


def _roll_lines(columns: Sequence[Sequence[IndexSizeOutcome]]) -> dict[int, np.ndarray]:
    """Computes `roll_lines` of the view by interpolation, on logarithmic scales."""
    lines = {}
    for target in ROLLS_AT:
        sizes = []
        for outcomes in columns:
            full = [each for each in outcomes if each.is_index_full]
            size = np.nan
            if len(full) > 1:
                ends = np.log2([each.log_bytes for each in full])
                powers = np.log2([each.index_bytes for each in full])
                size = 2 ** np.interp(np.log2(target), ends, powers, left=np.nan, right=np.nan)
            sizes.append(size)
        if np.isfinite(sizes).sum() > 1:
            lines[target] = np.array(sizes)
    return lines


def figure(size_map: IndexSizeMapView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    x = size_map.x
    y = size_map.y
    chart = go.Figure(
        [
            _cost_cells(size_map, colours),
            *_lines(size_map, colours),
            *_mark_traces(size_map, colours),
        ]
    )
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT, (LEFT, RIGHT, TOP, BOTTOM)),
        hovermode="closest",
        dragmode=False,
        xaxis=theme.PLAIN_AXIS
        | theme.outside_ticks(colours)
        | {
            "range": [float(x[0]) - 0.5, float(x[-1]) + 0.5],
            **theme.ticks(INTERVAL_TICKS, format_bytes, is_log2=True),
            "tickangle": 0,
        },
        yaxis=theme.PLAIN_AXIS
        | {
            "showgrid": False,
            "range": [float(y[0]) - 0.5, float(y[-1]) + 0.5],
            **theme.ticks(SIZE_TICKS, format_bytes, is_log2=True),
            "ticks": "",
            "ticklabelstandoff": 6,
        },
        annotations=[
            *_roll_names(size_map, colours),
            *_mark_names(size_map, colours),
            theme.vertical_axis_name(
                config_def.label("segment.index.bytes"), colours, left_px=LEFT, y=1.0
            ),
            theme.axis_name(config_def.label("index.interval.bytes"), colours),
        ],
    )


def _cost_cells(size_map: IndexSizeMapView, colours: dict[str, str]) -> go.Heatmap:
    low = float(np.nanmin(size_map.cold_us))
    high = max(float(np.nanmax(size_map.cold_us)), 1.05 * low)
    ticks = [tick for tick in COST_TICKS_US if low <= tick <= high] or [low]
    channels = (
        round((1 - DARKEST) * int(raised, 16) + DARKEST * int(scan, 16))
        for raised, scan in (
            (colours["raised"][at : at + 2], colours["scan"][at : at + 2]) for at in (1, 3, 5)
        )
    )
    darkest = "#" + "".join(f"{channel:02x}" for channel in channels)
    return go.Heatmap(
        x=size_map.x,
        y=size_map.y,
        z=np.log10(size_map.cold_us),
        zmin=np.log10(low),
        zmax=np.log10(high),
        colorscale=[[0, colours["scan_soft"]], [1, darkest]],
        text=size_map.hover_texts,
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        name="cost",
        showscale=True,
        colorbar={
            "tickvals": np.log10(ticks).tolist(),
            "ticktext": [format_us(tick) for tick in ticks],
            "thickness": 10,
            "outlinewidth": 0,
            "x": 1.01,
            "tickfont": {"size": 12, "color": colours["ink_3"]},
            "title": {
                "text": say("index_size.axis_cost"),
                "side": "right",
                "font": {"size": 12, "color": colours["ink_3"]},
            },
        },
    )


def _lines(size_map: IndexSizeMapView, colours: dict[str, str]) -> list[go.Scatter]:
    """Draws a line per .log size in `ROLLS_AT`, and the border of the safe index sizes."""
    thin = {"color": colours["ink_2"], "width": 1}
    border = {"color": colours["ink"], "width": 1.8, "dash": "5px,3px", "shape": "hvh"}
    lines: list[tuple[str, np.ndarray, dict]] = [
        (f"rolls at {target}", np.log2(sizes), thin)
        for target, sizes in size_map.roll_lines.items()
    ]
    lines.append(("safe", np.log2(size_map.safe_bytes) - 0.5, border))
    return [
        go.Scatter(x=size_map.x, y=y, mode="lines", line=line, name=name, hoverinfo="skip")
        for name, y, line in lines
    ]


def _mark_traces(size_map: IndexSizeMapView, colours: dict[str, str]) -> list[go.Scatter]:
    traces = []
    for mark in size_map.marks:
        x, y = _place(mark, size_map)
        is_today = mark == size_map.today
        outline = {"color": colours["ink"], "width": 2}
        marker = {"size": 11, "color": colours["raised" if is_today else "ink"], "line": outline}
        traces.append(
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers",
                marker=marker,
                name="today" if is_today else "considered",
                hoverinfo="skip",
                cliponaxis=False,
            )
        )
    return traces


def _mark_names(size_map: IndexSizeMapView, colours: dict[str, str]) -> list[dict]:
    """Returns the labels of two marks, of today's and of the considered settings, above each mark.

    If the labels would overlap, the label of the lower mark is below its mark: today's label if
    both marks have the same height.
    """
    today = size_map.today
    below = None
    if considered := size_map.considered:
        distances = np.subtract(_place(considered, size_map), _place(today, size_map))
        if (np.abs(distances) < NAME_CELLS).all():
            below = considered if considered[1] < today[1] else today
    names = []
    for mark in size_map.marks:
        text = say("curves.word_today" if mark == today else "common.what_if")
        x, y = _place(mark, size_map)
        place = BELOW if mark == below else ABOVE
        names.append(theme.note(f"<b>{text}</b>", colours["ink"], x=x, y=y, **place))
    return names


def _place(mark: Mark, size_map: IndexSizeMapView) -> tuple[float, float]:
    interval_bytes, index_bytes = mark
    lowest_bytes = size_map.intervals[0]
    return float(np.log2(max(interval_bytes, lowest_bytes))), float(np.log2(index_bytes))


def _roll_names(size_map: IndexSizeMapView, colours: dict[str, str]) -> list[dict]:
    names = []
    for target, sizes in size_map.roll_lines.items():
        drawn = np.flatnonzero(np.isfinite(sizes))
        third = int(drawn[len(drawn) // 3])
        text = format_bytes(target)
        x = float(size_map.x[third])
        y = float(np.log2(sizes[third]))
        names.append(
            theme.note(text, colours["ink"], 11.5, x=x, y=y, xanchor="right", yanchor="top")
        )
    return names
