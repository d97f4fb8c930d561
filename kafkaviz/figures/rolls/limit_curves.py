"""The curves that show which limit rolls a segment at each write speed.

A line per limit shows the time until this limit alone would roll the segment. The shortest of these
times is drawn wide.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from kafkaviz.analysis import roll_limits
from kafkaviz.analysis.roll_limits import SPEEDS, SpeedRange, WriteLoad
from kafkaviz.figures import theme
from kafkaviz.figures.theme import PlainFigure, typed_array
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import join_sentences
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import duration, format_bytes, rate

HEIGHT = 344
TOP = 26
BOTTOM = 42
LEFT = 56
RIGHT = 104
LOWEST_PX = 4.5  # width of the line of the limit that rolls the segment
TICKS_S = (0.01, 1, 60, 3600, 86_400, 604_800, 31_536_000)
ROUND_SPEEDS = {"10 B/s": 10, "1 kB/s": 1e3, "100 kB/s": 1e5, "10 MB/s": 1e7}
# the time axis begins at 1 s, or lower if a line ends below it, but not below 10 µs
HIGHEST_MIN_S = 1
LOWEST_MIN_S = 1e-5
MAX_S = 3.2e8
LINE_PX = 15


@dataclass(frozen=True, kw_only=True)
class LimitCurvesView:
    """The time until each limit rolls the segment, at each write speed."""

    title: str
    caption: str
    speeds: np.ndarray  # bytes per second
    seconds: dict[RollCause, np.ndarray]
    lowest: np.ndarray  # the shortest of `seconds` at each speed
    causes: np.ndarray  # the limit reached first at each speed, as an index in roll_limits.CAUSES
    # write speed and seconds of this log; None if its speed is not on the axis
    log_point: tuple[float, float] | None
    speed_ranges: tuple[SpeedRange, ...]

    @property
    def min_s(self) -> float:
        """The start of the time axis in seconds, a power of ten."""
        ends_s = [times[-1] for times in self.seconds.values() if times[-1] > 0]
        power = np.floor(np.log10(min(ends_s, default=HIGHEST_MIN_S)))
        return float(np.clip(10**power, LOWEST_MIN_S, HIGHEST_MIN_S))


def view(
    config: LogConfig,
    load: WriteLoad,
    bytes_per_s: float,
    *,
    is_workload: bool = False,
    has_phases: bool = False,
) -> LimitCurvesView:
    """Returns the curves of a log's limits. `bytes_per_s` is its write speed; 0 if unknown.

    `is_workload`: whether the batch size is the mean of a simulated workload. `has_phases`: whether
    the workload changes in speed or batch size.
    """
    times = roll_limits.seconds_until_roll(config, load, SPEEDS)
    speed_ranges = roll_limits.speed_ranges(config, load)
    log_point = None
    if SPEEDS[0] < bytes_per_s < SPEEDS[-1]:
        log_times = roll_limits.seconds_until_roll(config, load, bytes_per_s)
        log_point = (bytes_per_s, float(roll_limits.first_limit(log_times)[1][0]))
    drawn_causes = {*roll_limits.ENDS, *(speed_range.cause for speed_range in speed_ranges)}
    seconds = {
        cause: times[cause]
        for cause in (*roll_limits.ENDS, RollCause.OFFSET_OVERFLOW)
        if cause in drawn_causes
    }
    batch = format_bytes(round(load.batch_bytes))
    caption = say("rolls.curves_below" if is_workload else "rolls.curves_below_log", batch=batch)
    causes, lowest = roll_limits.first_limit(times)
    return LimitCurvesView(
        title=_title(speed_ranges, batch),
        caption=join_sentences((caption, say("rolls.curves_phases"))) if has_phases else caption,
        speeds=SPEEDS,
        seconds=seconds,
        lowest=lowest,
        causes=causes,
        log_point=log_point,
        speed_ranges=speed_ranges,
    )


def _title(speed_ranges: tuple[SpeedRange, ...], batch: str) -> str:
    """Returns a title such as "Batches of 1 KiB: up to 290 kB/s, time decides; above it, size"."""
    names = [roll_text.cause_name(speed_range.cause) for speed_range in speed_ranges]
    if len(speed_ranges) == 1:
        return say("rolls.decides", batch=batch, cause=names[0])
    speeds = [rate(speed_range.first) for speed_range in speed_ranges]
    values = {"batch": batch, "speed": speeds[1], "low": names[0], "high": names[1]}
    if len(speed_ranges) == 2:
        return say("rolls.decide_two", **values)
    return say("rolls.decide_three", **values, speed_2=speeds[2], highest=names[2])


def _span_text(seconds: float) -> str:
    return say("rolls.never") if not isfinite(seconds) else duration(1000 * seconds)


def figure(curves: LimitCurvesView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    annotations = [
        *_name_annotations(curves, colours),
        theme.axis_name(say("rolls.speed_axis"), colours, shift_px=-24),
        theme.vertical_axis_name(say("rolls.until_roll"), colours, left_px=LEFT, y=1),
    ]
    tick_texts = ["10 ms", "1 s", "1 min", "1 h", "1 d", say("rolls.week"), say("rolls.year")]
    layout = theme.plain_layout(mode, HEIGHT, (LEFT, RIGHT, TOP, BOTTOM)) | {
        "hovermode": "closest",
        "xaxis": {
            "type": "log",
            "range": np.log10([SPEEDS[0], SPEEDS[-1]]).tolist(),
            "tickvals": list(ROUND_SPEEDS.values()),
            "ticktext": list(ROUND_SPEEDS),
            **theme.outside_ticks(colours),
            **theme.PLAIN_AXIS,
        },
        "yaxis": {
            "type": "log",
            "range": np.log10([curves.min_s, MAX_S]).tolist(),
            "tickvals": list(TICKS_S),
            "ticktext": tick_texts,
            **theme.grid_lines(colours),
            **theme.PLAIN_AXIS,
        },
        "annotations": annotations,
    }
    traces = _curve_traces(curves, colours)
    if curves.log_point:
        speed, span_s = curves.log_point
        traces.append(_log_point_trace(speed, span_s, curves.min_s, colours))
        annotations.append(_log_point_name(speed, colours))
        line = {"color": colours["ink"], "width": 1.5}
        layout["shapes"] = [theme.vertical_line(speed, line)]
    return PlainFigure({"data": traces, "layout": layout})


def _curve_traces(curves: LimitCurvesView, colours: dict[str, str]) -> list[dict]:
    plain = {"type": "scatter", "x": typed_array(curves.speeds), "mode": "lines"}
    speed_texts = [rate(speed) for speed in curves.speeds]
    traces = []
    # the line of the size is drawn last and narrow, because the offset index often has nearly the
    # same times
    for cause, times in reversed(curves.seconds.items()):
        name = roll_text.cause_name(cause)
        dash = "5px,4px" if cause == RollCause.TIME else "solid"
        hover = say("rolls.curve_hover", cause=name, span="%{customdata}", speed="%{text}")
        trace = {
            "y": _drawable(times, curves.min_s),
            "line": {"color": _line_colour(cause, colours), "width": 1.6, "dash": dash},
            "name": name,
            "text": speed_texts,
            "customdata": [_span_text(seconds) for seconds in times.tolist()],
            "hovertemplate": f"{hover}<extra></extra>",
        }
        traces.append(plain | trace)
    for cause in dict.fromkeys(speed_range.cause for speed_range in curves.speed_ranges):
        is_first = curves.causes == roll_limits.CAUSES.index(cause)
        is_first[1:] |= is_first[:-1].copy()  # ends where the next limit's halo begins
        times = _drawable(np.where(is_first, curves.lowest, np.inf), curves.min_s)
        line = {"color": _line_colour(cause, colours), "width": LOWEST_PX}
        traces.append(plain | {"y": times, "line": line, "hoverinfo": "skip", "name": "lowest"})
    return traces


def _line_colour(cause: RollCause, colours: dict[str, str]) -> str:
    return colours["ink_2" if cause == RollCause.TIME else roll_text.COLOUR_NAMES[cause]]


def _drawable(times: np.ndarray, min_s: float) -> list[float | None]:
    return [max(seconds, min_s / 100) if isfinite(seconds) else None for seconds in times.tolist()]


def _log_point_trace(speed: float, span_s: float, min_s: float, colours: dict[str, str]) -> dict:
    hover_text = say("rolls.here_hover", span=_span_text(span_s), speed=speed)
    outline = {"color": colours["raised"], "width": 2}
    return {
        "type": "scatter",
        "x": [speed],
        "y": [max(min_s, span_s)],
        "mode": "markers",
        "marker": {"size": 11, "color": colours["probe"], "line": outline},
        "name": "here",
        "cliponaxis": False,
        "hovertemplate": f"{hover_text}<extra></extra>",
    }


def _log_point_name(speed: float, colours: dict[str, str]) -> dict:
    is_left = speed < 300
    return theme.note(
        f"<b>{say('rolls.here', speed=speed)}</b>",
        colours["ink"],
        x=float(np.log10(speed)),
        xanchor="left" if is_left else "right",
        xshift=7 if is_left else -7,
        yref="paper",
        y=1,
        yanchor="top",
        yshift=3,
    )


def _name_annotations(curves: LimitCurvesView, colours: dict[str, str]) -> list[dict]:
    height_px = HEIGHT - TOP - BOTTOM
    span = np.log10(MAX_S / curves.min_s)
    names = []
    for cause, times in curves.seconds.items():
        last_s = times[-1] if np.isfinite(times[-1]) else MAX_S
        end_px = height_px * (1 - np.log10(max(last_s, 1e-9) / curves.min_s) / span)
        colour = roll_text.COLOUR_NAMES[cause]
        colour = colours["ink_2" if colour == "ink" else f"{colour}_text"]
        name = f"<b>{roll_text.cause_name(cause)}</b>"
        names.append((name, colour, float(np.clip(end_px, 6, height_px - 2))))
    return theme.line_names(names, height_px, gap_px=LINE_PX, lowest_px=height_px, shift_px=8)
