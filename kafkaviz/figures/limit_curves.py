"""Which limit rolls a segment at which speed: the time until a roll by each alone, and the lowest
of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analyse import limits
from kafkaviz.analyse.limits import SPEEDS, Load, Stretch
from kafkaviz.figures import roll_words, theme
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import duration, rate
from kafkaviz.words import say

HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 330, 12, 42, 56, 104
SPANS_S = (1, 60, 3600, 86_400, 604_800, 31_536_000)
ROUND_SPEEDS = {"10 B/s": 10, "1 kB/s": 1e3, "100 kB/s": 1e5, "10 MB/s": 1e7}
LEAST_S, MOST_S = 1, 3.2e8
LINE_PX = 15
DRAWN = (Cause.SIZE, Cause.TIME, Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)


@dataclass(frozen=True)
class LimitCurvesView:
    """speeds: bytes a second; seconds: until a roll by each cause; lowest: the least of them; here:
    speed and seconds of this log.
    """

    title: str
    below: str
    speeds: np.ndarray
    seconds: dict[Cause, np.ndarray]
    lowest: np.ndarray
    here: tuple[float, float] | None
    stretches: tuple[Stretch, ...]


def view(config: LogConfig, load: Load, bytes_per_s: float) -> LimitCurvesView:
    """bytes_per_s: the speed of the log that is looked at; 0 where it has none."""
    times = limits.until_roll_s(config, load, SPEEDS)
    found = limits.stretches(config, load)
    at = (
        limits.first_limit(limits.until_roll_s(config, load, bytes_per_s))[1][0]
        if bytes_per_s > 0
        else None
    )
    here = (
        (bytes_per_s, float(at))
        if at is not None and SPEEDS[0] < bytes_per_s < SPEEDS[-1]
        else None
    )
    seconds = {
        cause: times[cause]
        for cause in (*DRAWN, Cause.OFFSET_OVERFLOW)
        if cause in DRAWN or any(one.cause == cause for one in found)
    }
    return LimitCurvesView(
        _title(found),
        say("rolls.curves_below"),
        SPEEDS,
        seconds,
        limits.first_limit(times)[1],
        here,
        found,
    )


def _title(found: tuple[Stretch, ...]) -> str:
    """Up to 290 kB/s time decides, above it size."""
    names = [roll_words.name(Cause(one.cause)) for one in found]
    if len(found) == 1:
        return say("rolls.decides", cause=names[0].capitalize())
    told = {"speed": rate(found[1].first), "low": names[0], "high": names[1]}
    if len(found) == 2:
        return say("rolls.decide_two", **told)
    return say("rolls.decide_three", **told, speed_2=rate(found[2].first), highest=names[2])


def rows(shown: LimitCurvesView) -> list[tuple[str, ...]]:
    """The figure as a table: a speed, and the time until a roll by each limit, the one that decides
    first.
    """
    every = [place for place in range(0, len(shown.speeds), 20)]
    return [
        (
            rate(float(shown.speeds[place])),
            _deciding(shown, place),
            *(_span(float(times[place])) for times in shown.seconds.values()),
        )
        for place in every
    ]


def _deciding(shown: LimitCurvesView, place: int) -> str:
    return roll_words.name(min(shown.seconds, key=lambda cause: float(shown.seconds[cause][place])))


def _span(seconds: float) -> str:
    return say("rolls.never") if not np.isfinite(seconds) else duration(1000 * seconds)


def figure(shown: LimitCurvesView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    chart = go.Figure([_lowest(shown, ink), *_curves(shown, ink), *_here(shown, ink)])
    chart.update_layout(
        template=theme.template(mode),
        height=HEIGHT,
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM},
        showlegend=False,
        hovermode="closest",
        xaxis={
            "type": "log",
            "range": np.log10([SPEEDS[0], SPEEDS[-1]]).tolist(),
            "tickvals": list(ROUND_SPEEDS.values()),
            "ticktext": list(ROUND_SPEEDS),
            "ticks": "outside",
            "ticklen": 5,
            "tickcolor": ink["line"],
            "showgrid": False,
            "showline": False,
            "zeroline": False,
            "fixedrange": True,
            "title": None,
        },
        yaxis={
            "type": "log",
            "range": np.log10([LEAST_S, MOST_S]).tolist(),
            "tickvals": list(SPANS_S),
            "ticktext": _spans(),
            "ticks": "",
            "ticklabelstandoff": 8,
            "showgrid": True,
            "gridcolor": ink["line"],
            "showline": False,
            "zeroline": False,
            "fixedrange": True,
            "title": None,
        },
        annotations=[*_names(shown, ink), _axis_name(ink), *_here_words(shown, ink)],
        shapes=_here_line(shown, ink),
    )
    return chart


def _spans() -> list[str]:
    return ["1 s", "1 min", "1 h", "1 d", say("rolls.week"), say("rolls.year")]


def _lowest(shown: LimitCurvesView, ink: dict[str, str]) -> go.Scatter:
    look = {"color": ink["probe_soft"], "width": 12}
    return go.Scatter(
        x=shown.speeds,
        y=_seen(shown.lowest),
        mode="lines",
        line=look,
        hoverinfo="skip",
        name="lowest",
        opacity=0.95,
    )


def _curves(shown: LimitCurvesView, ink: dict[str, str]) -> list[go.Scatter]:
    found = []
    for cause, times in shown.seconds.items():
        is_time = cause == Cause.TIME
        colour = ink["ink_2" if is_time else roll_words.INKS[cause]]
        line = {
            "color": colour,
            "width": 1.6 if is_time else 2.4,
            "dash": "5px,4px" if is_time else "solid",
        }
        told = [
            say(
                "rolls.curve_hover",
                cause=roll_words.name(cause),
                span=_span(float(one)),
                speed=rate(float(speed)),
            )
            for one, speed in zip(times, shown.speeds, strict=True)
        ]
        found.append(
            go.Scatter(
                x=shown.speeds,
                y=_seen(times),
                mode="lines",
                line=line,
                name=roll_words.name(cause),
                customdata=told,
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    return found


def _seen(times: np.ndarray) -> list[float | None]:
    """What a log axis can show: a zero lies far below it, what never comes is no line."""
    return [None if not np.isfinite(one) else max(float(one), LEAST_S / 100) for one in times]


def _here(shown: LimitCurvesView, ink: dict[str, str]) -> list[go.Scatter]:
    if not shown.here:
        return []
    marker = {"size": 11, "color": ink["probe"], "line": {"color": ink["raised"], "width": 2}}
    return [
        go.Scatter(
            x=[shown.here[0]],
            y=[max(LEAST_S, shown.here[1])],
            mode="markers",
            marker=marker,
            name="here",
            cliponaxis=False,
            hovertemplate=(
                f"{say('rolls.here_hover', span=_span(shown.here[1]), speed=rate(shown.here[0]))}"
                "<extra></extra>"
            ),
        )
    ]


def _here_line(shown: LimitCurvesView, ink: dict[str, str]) -> list[dict]:
    if not shown.here:
        return []
    return [
        {
            "type": "line",
            "x0": shown.here[0],
            "x1": shown.here[0],
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": ink["ink"], "width": 1.5},
        }
    ]


def _here_words(shown: LimitCurvesView, ink: dict[str, str]) -> list[dict]:
    if not shown.here:
        return []
    is_left = shown.here[0] < 300
    place = {
        "x": float(np.log10(shown.here[0])),
        "xanchor": "left" if is_left else "right",
        "xshift": 7 if is_left else -7,
    }
    words = f"<b>{say('rolls.here', speed=rate(shown.here[0]))}</b>"
    return [
        place
        | {
            "text": words,
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "yshift": 3,
            "showarrow": False,
            "font": {"size": 12, "color": ink["ink"]},
        }
    ]


def _names(shown: LimitCurvesView, ink: dict[str, str]) -> list[dict]:
    """Each curve's name at its right end; names that would meet move apart."""
    tall = HEIGHT - TOP - BOTTOM
    span = np.log10(MOST_S / LEAST_S)

    def height(times: np.ndarray) -> float:
        at = times[-1] if np.isfinite(times[-1]) else MOST_S
        return float(np.clip(tall * (1 - np.log10(max(at, 1e-9) / LEAST_S) / span), 6, tall - 2))

    ends: list[list[Any]] = sorted(
        ([height(times), cause] for cause, times in shown.seconds.items()), key=lambda one: one[0]
    )
    for place in range(1, len(ends)):
        ends[place][0] = max(ends[place][0], ends[place - 1][0] + LINE_PX)
    for place in range(len(ends) - 1, -1, -1):
        below = ends[place + 1][0] - LINE_PX if place + 1 < len(ends) else tall
        ends[place][0] = min(ends[place][0], below)
    look = {
        "xref": "paper",
        "x": 1,
        "xanchor": "left",
        "xshift": 8,
        "yref": "paper",
        "yanchor": "middle",
        "showarrow": False,
    }
    return [
        look
        | {
            "text": f"<b>{roll_words.name(cause)}</b>",
            "y": 1 - at / tall,
            "font": {"size": 12, "color": ink[_name_ink(cause)]},
        }
        for at, cause in ends
    ]


def _name_ink(cause: Cause) -> str:
    return "ink_2" if roll_words.INKS[cause] == "ink" else f"{roll_words.INKS[cause]}_text"


def _axis_name(ink: dict[str, str]) -> dict:
    place = {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": -24,
        "showarrow": False,
    }
    return place | {"text": say("rolls.speed_axis"), "font": {"size": 12, "color": ink["ink_3"]}}
