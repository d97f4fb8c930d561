"""The limit that ends a segment first, over the index interval and the size of an index.

It is a map with today's settings marked.
"""

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analysis.rolls.limits import ENDS as CAUSES
from kafkaviz.analysis.tuning import LogMeasurement, SegmentLimits, limits_at
from kafkaviz.figures import theme
from kafkaviz.figures.text import roll_text
from kafkaviz.messages import say
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import format_bytes, format_count

FILL_COLOURS = {
    RollCause.SIZE: "log_soft",
    RollCause.TIME: "cold_soft",
    RollCause.OFFSET_INDEX_FULL: "offset_soft",
    RollCause.TIME_INDEX_FULL: "time_soft",
}
TEXT_COLOURS = {
    RollCause.SIZE: "log_text",
    RollCause.TIME: "ink_2",
    RollCause.OFFSET_INDEX_FULL: "offset_text",
    RollCause.TIME_INDEX_FULL: "time_text",
}
# bytes of an index; steps per doubling
MIN_INDEX_BYTES = 256
MAX_INDEX_BYTES = 64 << 20
STEPS = 4
INDEX_BYTES_TICKS = [256, *(1 << power for power in (12, 16, 20, 24))]
INTERVAL_TICKS = [64 << 4 * power for power in range(5)]
MIN_INTERVAL = 64
HEIGHT = 330
LEFT = 62
RIGHT = 16
TOP = 10
BOTTOM = 42


@dataclass(frozen=True)
class MapPoint:
    """A place on the map, and the limit that a segment there reaches first.

    Attributes:
        kind: "today" or "considered".
    """

    interval_bytes: int
    index_bytes: int
    cause: RollCause
    kind: str


@dataclass(frozen=True, kw_only=True)
class LimitMapView:
    """The limit that ends a segment, over the interval and segment.index.bytes.

    Attributes:
        cause: indexes in CAUSES, shape (index sizes, intervals).
        ends_bytes: the .log at the end of a segment, the same shape.
        safe_bytes: the least segment.index.bytes with which no index fills before the .log reaches
            segment.bytes, one per interval.
        regions: the interval and index size where the name of a limit is drawn, and the limit.
    """

    title: str
    caption: str
    intervals: np.ndarray
    index_sizes: np.ndarray
    cause: np.ndarray
    ends_bytes: np.ndarray
    safe_bytes: np.ndarray
    today: MapPoint
    considered: MapPoint | None
    regions: tuple[tuple[float, float, RollCause], ...]


def view(
    measured: LogMeasurement,
    config: LogConfig,
    considered_interval: int,
    considered_index_bytes: int,
) -> LimitMapView:
    """Returns the map around a log's settings.

    Args:
        config: today's configuration of the log.
        measured: a log with a batch.
    """
    is_drawn = measured.parts.intervals >= MIN_INTERVAL
    intervals = measured.parts.intervals[is_drawn]
    index_sizes = np.round(
        MIN_INDEX_BYTES
        * 2 ** (np.arange(int(np.log2(MAX_INDEX_BYTES / MIN_INDEX_BYTES)) * STEPS + 1) / STEPS)
    ).astype(np.int64)
    limits_by_cell = [
        [_limits_with(measured, config, int(interval), int(index_size)) for interval in intervals]
        for index_size in index_sizes
    ]
    ends_bytes = np.array(
        [[list(cell.ends_bytes.values()) for cell in row] for row in limits_by_cell]
    )
    cause = ends_bytes.argmin(axis=2)
    safe_bytes = np.array([cell.safe_index_bytes for cell in limits_by_cell[0]])
    current = _map_point(
        measured, config, config.index_interval_bytes, config.segment_index_bytes, "today"
    )
    considered = _map_point(
        measured, config, considered_interval, considered_index_bytes, "considered"
    )
    is_same = (considered.interval_bytes, considered.index_bytes) == (
        current.interval_bytes,
        current.index_bytes,
    )
    title = _title(
        current, limits_at(measured, config, config.index_interval_bytes).safe_index_bytes
    )
    return LimitMapView(
        title=title,
        caption=say("curves.below_map"),
        intervals=intervals,
        index_sizes=index_sizes,
        cause=cause,
        ends_bytes=ends_bytes.min(axis=2),
        safe_bytes=safe_bytes,
        today=current,
        considered=None if is_same else considered,
        regions=_find_regions(cause, intervals, index_sizes),
    )


def _limits_with(
    measured: LogMeasurement, config: LogConfig, interval_bytes: int, index_bytes: int
) -> SegmentLimits:
    return limits_at(measured, replace(config, segment_index_bytes=index_bytes), interval_bytes)


def _map_point(
    measured: LogMeasurement, config: LogConfig, interval_bytes: int, index_bytes: int, kind: str
) -> MapPoint:
    return MapPoint(
        interval_bytes,
        index_bytes,
        _limits_with(measured, config, interval_bytes, index_bytes).binding,
        kind,
    )


def _title(current: MapPoint, safe_bytes: int) -> str:
    key = (
        "curves.index_ends"
        if current.cause in (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
        else "curves.cause_ends"
    )
    return say(key, cause=roll_text.cause_name(current.cause), safe=format_bytes(safe_bytes))


def _find_regions(
    cause: np.ndarray, intervals: np.ndarray, index_sizes: np.ndarray
) -> tuple[tuple[float, float, RollCause], ...]:
    """Returns the middle of the cells of each limit that has enough of them."""
    regions = []
    for number, name in enumerate(CAUSES):
        row, column = np.nonzero(cause == number)
        if len(row) > cause.size / 40:
            middle_row = int(np.median(row))
            columns = column[row == middle_row]
            regions.append(
                (float(intervals[int(np.median(columns))]), float(index_sizes[middle_row]), name)
            )
    return tuple(regions)


def index_size_text(measured: LogMeasurement, config: LogConfig) -> str:
    parts = measured.parts
    current_limits = limits_at(measured, config, config.index_interval_bytes)
    index = parts.index_of(config.index_interval_bytes)
    entries = int(parts.entries[index])
    if not entries:
        return say("curves.map_no_entry")
    share = 100 * min(1.0, int(parts.time_entries[index]) / entries)
    return say(
        "curves.map_words",
        gap=format_count(round(measured.log_bytes / entries)),
        share=f"{share:.0f}",
        least=format_count(current_limits.least_index_bytes),
        safe=format_count(current_limits.safe_index_bytes),
        now=format_count(config.segment_index_bytes),
    )


def rows(limit_map: LimitMapView) -> list[tuple[int, int, str]]:
    """Returns rows of interval, least safe size, limit that ends a segment with today's size."""
    current_row = int(
        np.abs(np.log(limit_map.index_sizes / max(limit_map.today.index_bytes, 1))).argmin()
    )
    names = [roll_text.cause_name(CAUSES[number]) for number in limit_map.cause[current_row]]
    return [
        (int(interval), int(safe), name)
        for interval, safe, name in zip(
            limit_map.intervals, limit_map.safe_bytes, names, strict=True
        )
    ]


COLUMNS = ("interval_bytes", "safe_segment_index_bytes", "ends_a_segment_first")


# ---- drawn


def figure(limit_map: LimitMapView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    chart = go.Figure(
        [
            _cell_heatmap(limit_map, colours),
            _safe_border(limit_map, colours),
            *_point_traces(limit_map, colours),
        ]
    )
    x = _log(limit_map.intervals)
    y = _log(limit_map.index_sizes)
    chart.update_layout(
        theme.chart_layout(mode, HEIGHT, (LEFT, RIGHT, TOP, BOTTOM)),
        hovermode="closest",
        xaxis={
            "range": [float(x[0]), float(x[-1])],
            **theme.ticks(INTERVAL_TICKS, format_bytes, is_log2=True),
            **theme.outside_ticks(colours),
            **theme.PLAIN_AXIS,
        },
        yaxis={
            "range": [float(y[0]), float(y[-1])],
            **theme.ticks(INDEX_BYTES_TICKS, format_bytes, is_log2=True),
            "ticks": "",
            "ticklabelstandoff": 6,
            "showgrid": False,
            **theme.PLAIN_AXIS,
        },
        annotations=[
            *_region_annotations(limit_map, colours),
            *_point_annotations(limit_map, colours),
            theme.axis_name("index.interval.bytes", colours),
        ],
    )
    return chart


def _log(values: np.ndarray | float) -> np.ndarray:
    return np.log2(np.asarray(values, float))


def _cell_heatmap(limit_map: LimitMapView, colours: dict[str, str]) -> go.Heatmap:
    scale = []
    for number, cause in enumerate(CAUSES):
        scale += [
            [number / len(CAUSES), colours[FILL_COLOURS[cause]]],
            [(number + 1) / len(CAUSES), colours[FILL_COLOURS[cause]]],
        ]
    names = [roll_text.cause_name(cause) for cause in CAUSES]
    hover_template = (
        say("curves.cell", cause="{cause}", log="{log}")
        + f"<br>{say('curves.cell_place', interval='{interval}', room='{room}')}"
    )
    text = [
        [
            hover_template.format(
                cause=names[limit_map.cause[row, column]],
                log=format_bytes(float(limit_map.ends_bytes[row, column])),
                interval=format_bytes(int(interval)),
                room=format_bytes(int(index_size)),
            )
            for column, interval in enumerate(limit_map.intervals)
        ]
        for row, index_size in enumerate(limit_map.index_sizes)
    ]
    return go.Heatmap(
        x=_log(limit_map.intervals),
        y=_log(limit_map.index_sizes),
        z=limit_map.cause,
        zmin=-0.5,
        zmax=len(CAUSES) - 0.5,
        colorscale=scale,
        showscale=False,
        text=text,
        hovertemplate="%{text}<extra></extra>",
        name="first limit",
    )


def _safe_border(limit_map: LimitMapView, colours: dict[str, str]) -> go.Scatter:
    line = {"color": colours["ink_2"], "width": 1.6, "dash": "5px,3px"}
    hover_texts = [
        say("curves.safe_from", bytes=format_count(int(safe_bytes)))
        for safe_bytes in limit_map.safe_bytes
    ]
    return go.Scatter(
        x=_log(limit_map.intervals),
        y=_log(limit_map.safe_bytes),
        mode="lines",
        line=line,
        name="safe",
        **theme.hover(hover_texts),
    )


def _point_traces(limit_map: LimitMapView, colours: dict[str, str]) -> list[go.Scatter]:
    traces = []
    for point, fill in ((limit_map.today, "raised"), (limit_map.considered, "ink")):
        if point:
            x, y = _point_position(point)
            hover = say(
                f"curves.spot_{point.kind}",
                interval=format_bytes(point.interval_bytes),
                room=format_bytes(point.index_bytes),
                cause=roll_text.cause_name(point.cause),
            )
            marker = {
                "size": 11,
                "color": colours[fill],
                "line": {"color": colours["ink"], "width": 2},
            }
            traces.append(
                go.Scatter(
                    x=[x],
                    y=[y],
                    mode="markers",
                    marker=marker,
                    name=point.kind,
                    cliponaxis=False,
                    hovertemplate=f"{hover}<extra></extra>",
                )
            )
    return traces


def _point_position(point: MapPoint) -> tuple[float, float]:
    index_bytes = min(max(point.index_bytes, MIN_INDEX_BYTES), MAX_INDEX_BYTES)
    return float(_log(max(point.interval_bytes, MIN_INTERVAL))), float(_log(index_bytes))


def _point_annotations(limit_map: LimitMapView, colours: dict[str, str]) -> list[dict]:
    annotations = []
    side = (
        1
        if limit_map.considered is None
        or limit_map.considered.interval_bytes <= limit_map.today.interval_bytes
        else -1
    )
    for point, direction in ((limit_map.today, side), (limit_map.considered, -side)):
        if point:
            x, y = _point_position(point)
            text = (
                say("curves.word_today")
                if point is limit_map.today
                else f"<b>{say('common.considered')}</b>"
            )
            anchor = "left" if direction > 0 else "right"
            annotations.append(
                theme.note(text, colours["ink"], x=x, y=y, xanchor=anchor, xshift=9 * direction)
            )
    return annotations


def _region_annotations(limit_map: LimitMapView, colours: dict[str, str]) -> list[dict]:
    return [
        theme.note(
            f"<b>{roll_text.cause_name(cause)}</b>",
            colours[TEXT_COLOURS[cause]],
            12.5,
            x=float(_log(interval)),
            y=float(_log(index_bytes)),
        )
        for interval, index_bytes, cause in limit_map.regions
    ]
