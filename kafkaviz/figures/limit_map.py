"""Which limit ends a segment first, over the index interval and the size of an index: a map, with
today's place on it.
"""

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analyse.limits import ENDS, OFFSET_INDEX, SIZE, TIME, TIME_INDEX
from kafkaviz.analyse.tuning import Limits, Measured, limits_at
from kafkaviz.figures import roll_words, theme
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import group, size
from kafkaviz.words import say

CAUSES = ENDS
SOFT = {SIZE: "log_soft", TIME: "cold_soft", OFFSET_INDEX: "offset_soft", TIME_INDEX: "time_soft"}
TEXT = {SIZE: "log_text", TIME: "ink_2", OFFSET_INDEX: "offset_text", TIME_INDEX: "time_text"}
LEAST_ROOM, MOST_ROOM, STEPS = 256, 64 << 20, 4  # bytes of an index; steps a doubling
ROOM_TICKS = [256, *(1 << power for power in (12, 16, 20, 24))]
INTERVAL_TICKS = [64 << 4 * power for power in range(5)]
LEAST_INTERVAL = 64
HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 330, 62, 16, 10, 42


@dataclass(frozen=True)
class Spot:
    """A place on the map, and which limit a segment there reaches first. word: "today" or
    "considered".
    """

    interval_bytes: int
    room_bytes: int
    cause: str
    word: str


@dataclass(frozen=True)
class LimitMapView:
    """cause: (rooms, intervals) numbers of CAUSES. ends_bytes: the .log at which it ends a segment.

    safe_bytes: of each interval the segment.index.bytes from which on no index fills before
    segment.bytes do. regions: where a limit's name stands: (interval, room, cause).
    """

    title: str
    intervals: np.ndarray
    rooms: np.ndarray
    cause: np.ndarray
    ends_bytes: np.ndarray
    safe_bytes: np.ndarray
    today: Spot
    considered: Spot | None
    regions: tuple[tuple[float, float, str], ...]


def view(
    measured: Measured, config: LogConfig, considered_interval: int, considered_room: int
) -> LimitMapView:
    """config: as the log is run today. measured: of a log with a batch."""
    shown = measured.parts.intervals >= LEAST_INTERVAL
    intervals = measured.parts.intervals[shown]
    rooms = np.round(
        LEAST_ROOM * 2 ** (np.arange(int(np.log2(MOST_ROOM / LEAST_ROOM)) * STEPS + 1) / STEPS)
    ).astype(np.int64)
    at = [
        [_at(measured, config, int(interval), int(room)) for interval in intervals]
        for room in rooms
    ]
    ends = np.array([[list(one.ends_bytes.values()) for one in row] for row in at])
    cause = ends.argmin(axis=2)
    safe = np.array([one.safe_index_bytes for one in at[0]])
    now = _spot(measured, config, config.index_interval_bytes, config.segment_index_bytes, "today")
    other = _spot(measured, config, considered_interval, considered_room, "considered")
    is_same = (other.interval_bytes, other.room_bytes) == (now.interval_bytes, now.room_bytes)
    title = _title(now, limits_at(measured, config, config.index_interval_bytes).safe_index_bytes)
    return LimitMapView(
        title,
        intervals,
        rooms,
        cause,
        ends.min(axis=2),
        safe,
        now,
        None if is_same else other,
        _regions(cause, intervals, rooms),
    )


def _at(measured: Measured, config: LogConfig, interval_bytes: int, room_bytes: int) -> Limits:
    return limits_at(measured, replace(config, segment_index_bytes=room_bytes), interval_bytes)


def _spot(
    measured: Measured, config: LogConfig, interval_bytes: int, room_bytes: int, word: str
) -> Spot:
    return Spot(
        interval_bytes, room_bytes, _at(measured, config, interval_bytes, room_bytes).binding, word
    )


def _title(now: Spot, safe_bytes: int) -> str:
    key = "curves.index_ends" if now.cause in (OFFSET_INDEX, TIME_INDEX) else "curves.cause_ends"
    return say(key, cause=roll_words.name(Cause(now.cause)), safe=size(safe_bytes))


def below() -> str:
    """How to read it."""
    return say("curves.below_map")


def _regions(
    cause: np.ndarray, intervals: np.ndarray, rooms: np.ndarray
) -> tuple[tuple[float, float, str], ...]:
    """Of each limit that has room enough, the middle of its cells."""
    found = []
    for number, name in enumerate(CAUSES):
        row, column = np.nonzero(cause == number)
        if len(row) > cause.size / 40:
            at = int(np.median(row))
            inside = column[row == at]
            found.append((float(intervals[int(np.median(inside))]), float(rooms[at]), name))
    return tuple(found)


def words(shown: LimitMapView, measured: Measured, config: LogConfig) -> str:
    """What the map says of today's index size, in a sentence or two."""
    parts, found = measured.parts, limits_at(measured, config, config.index_interval_bytes)
    place = parts.at(config.index_interval_bytes)
    entries = int(parts.entries[place])
    if not entries:
        return say("curves.map_no_entry")
    share = 100 * min(1.0, int(parts.time_entries[place]) / entries)
    return say(
        "curves.map_words",
        gap=group(round(measured.log_bytes / entries)),
        share=f"{share:.0f}",
        least=group(found.least_index_bytes),
        safe=group(found.safe_index_bytes),
        now=group(config.segment_index_bytes),
    )


def rows(shown: LimitMapView) -> list[tuple[int, int, str]]:
    """The border of the map as a table: interval, the least safe index, and what ends a segment
    with today's index.
    """
    today_room = int(np.abs(np.log(shown.rooms / max(shown.today.room_bytes, 1))).argmin())
    names = [roll_words.name(Cause(CAUSES[number])) for number in shown.cause[today_room]]
    return [
        (int(interval), int(safe), name)
        for interval, safe, name in zip(shown.intervals, shown.safe_bytes, names, strict=True)
    ]


COLUMNS = ("interval_bytes", "safe_segment_index_bytes", "ends_a_segment_first")


# ---- drawn


def figure(shown: LimitMapView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    chart = go.Figure([_cells(shown, ink), _border(shown, ink), *_spots(shown, ink)])
    x, y = _log(shown.intervals), _log(shown.rooms)
    chart.update_layout(
        template=theme.template(mode),
        height=HEIGHT,
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM},
        showlegend=False,
        hovermode="closest",
        xaxis={
            "range": [float(x[0]), float(x[-1])],
            "tickvals": _log(np.array(INTERVAL_TICKS)).tolist(),
            "ticktext": [size(one) for one in INTERVAL_TICKS],
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
            "range": [float(y[0]), float(y[-1])],
            "tickvals": _log(np.array(ROOM_TICKS)).tolist(),
            "ticktext": [size(one) for one in ROOM_TICKS],
            "ticks": "",
            "ticklabelstandoff": 6,
            "showgrid": False,
            "showline": False,
            "zeroline": False,
            "fixedrange": True,
            "title": None,
        },
        annotations=[*_region_words(shown, ink), *_spot_words(shown, ink), _axis_name(ink)],
    )
    return chart


def _log(values: np.ndarray | float) -> np.ndarray:
    return np.log2(np.asarray(values, float))


def _cells(shown: LimitMapView, ink: dict[str, str]) -> go.Heatmap:
    scale = []
    for number, cause in enumerate(CAUSES):
        scale += [
            [number / len(CAUSES), ink[SOFT[cause]]],
            [(number + 1) / len(CAUSES), ink[SOFT[cause]]],
        ]
    names = [roll_words.name(Cause(one)) for one in CAUSES]
    told = (
        say("curves.cell", cause="{cause}", log="{log}")
        + f"<br>{say('curves.cell_place', interval='{interval}', room='{room}')}"
    )
    columns, rows = (
        [size(int(one)) for one in values] for values in (shown.intervals, shown.rooms)
    )
    text = [
        [
            told.format(
                cause=names[shown.cause[row, column]],
                log=size(float(shown.ends_bytes[row, column])),
                interval=interval,
                room=room,
            )
            for column, interval in enumerate(columns)
        ]
        for row, room in enumerate(rows)
    ]
    return go.Heatmap(
        x=_log(shown.intervals),
        y=_log(shown.rooms),
        z=shown.cause,
        zmin=-0.5,
        zmax=len(CAUSES) - 0.5,
        colorscale=scale,
        showscale=False,
        text=text,
        hovertemplate="%{text}<extra></extra>",
        name="first limit",
    )


def _border(shown: LimitMapView, ink: dict[str, str]) -> go.Scatter:
    line = {"color": ink["ink_2"], "width": 1.6, "dash": "5px,3px"}
    told = [say("curves.safe_from", bytes=group(int(one))) for one in shown.safe_bytes]
    return go.Scatter(
        x=_log(shown.intervals),
        y=_log(shown.safe_bytes),
        mode="lines",
        line=line,
        name="safe",
        customdata=told,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _spots(shown: LimitMapView, ink: dict[str, str]) -> list[go.Scatter]:
    found = []
    for one, fill in ((shown.today, "raised"), (shown.considered, "ink")):
        if one:
            x, y = _place(one)
            spot = {
                "interval": size(one.interval_bytes),
                "room": size(one.room_bytes),
                "cause": roll_words.name(Cause(one.cause)),
            }
            told = say(f"curves.spot_{one.word}", **spot)
            marker = {"size": 11, "color": ink[fill], "line": {"color": ink["ink"], "width": 2}}
            found.append(
                go.Scatter(
                    x=[x],
                    y=[y],
                    mode="markers",
                    marker=marker,
                    name=one.word,
                    cliponaxis=False,
                    hovertemplate=f"{told}<extra></extra>",
                )
            )
    return found


def _place(one: Spot) -> tuple[float, float]:
    room = min(max(one.room_bytes, LEAST_ROOM), MOST_ROOM)
    return float(_log(max(one.interval_bytes, LEAST_INTERVAL))), float(_log(room))


def _spot_words(shown: LimitMapView, ink: dict[str, str]) -> list[dict]:
    found, side = (
        [],
        1
        if shown.considered is None or shown.considered.interval_bytes <= shown.today.interval_bytes
        else -1,
    )
    for one, way in ((shown.today, side), (shown.considered, -side)):
        if one:
            x, y = _place(one)
            text = (
                say("curves.word_today")
                if one is shown.today
                else f"<b>{say('curves.word_considered')}</b>"
            )
            found.append(
                {
                    "x": x,
                    "y": y,
                    "xanchor": "left" if way > 0 else "right",
                    "xshift": 9 * way,
                    "showarrow": False,
                    "text": text,
                    "font": {"size": 12, "color": ink["ink"]},
                }
            )
    return found


def _region_words(shown: LimitMapView, ink: dict[str, str]) -> list[dict]:
    return [
        {
            "x": float(_log(interval)),
            "y": float(_log(room)),
            "text": f"<b>{roll_words.name(Cause(cause))}</b>",
            "showarrow": False,
            "font": {"size": 12.5, "color": ink[TEXT[cause]]},
        }
        for interval, room, cause in shown.regions
    ]


def _axis_name(ink: dict[str, str]) -> dict:
    place = {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": -23,
        "showarrow": False,
    }
    return place | {"text": "index.interval.bytes", "font": {"size": 12, "color": ink["ink_3"]}}
