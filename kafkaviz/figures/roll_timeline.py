"""Segments as they fill, a row each: size, time and both indexes run to their limit, and the first
to touch it causes the roll.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analyse.lanes import Lane, Lanes, limits
from kafkaviz.figures import roll_words, theme
from kafkaviz.units import duration, file_stem, group, rate, share, size
from kafkaviz.words import say

ROWS = 14  # drawn at once
ROW_PX, BOX_PX, STRIP_PX, TOP_PX, BOTTOM_PX = 36, 28, 46, 8, 34
# width: of the card at 1280 px, to choose the side on which words have room
LEFT_PX, RIGHT_PX, WIDTH_PX = 78, 8, 990
WORDS_PX = 252
COLUMNS = ("log_bytes", "waited_ms", "offset_entries", "time_entries")
CAUSE_COLUMN = {
    "size": "log_bytes",
    "time": "waited_ms",
    "offset-index-full": "offset_entries",
    "time-index-full": "time_entries",
}
TICKS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500] + [
    1000 * one
    for one in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)
]
MOST_TICKS, ALIKE, BINS = 9, 0.35, 160


@dataclass(frozen=True)
class Written:
    """A stretch of time in which about as much was written: from, to in ms since the first batch;
    bytes a second; bytes a batch.
    """

    first_ms: float
    last_ms: float
    bytes_per_s: float
    batch_bytes: float


@dataclass(frozen=True)
class Row:
    """A segment's lane.

    Times in ms since the log's first batch; lines: (n, 5) of such a time and the four shares of the
    limits.
    """

    name: str
    opened_ms: int
    ended_ms: int
    lines: np.ndarray
    cause: str
    because: str
    ink: str | None  # of the dot; None where nothing rolled
    text_ink: str
    told: tuple[str, ...]


@dataclass(frozen=True)
class RollTimelineView:
    """Some rows of all, and what was written meanwhile. first: the number of the first row, from
    0.
    """

    title: str
    below: str
    rows: tuple[Row, ...]
    first: int
    count: int
    written: tuple[Written, ...]
    start_ms: int
    end_ms: int


def view(shown: Lanes, first: int = 0, appended: np.ndarray | None = None) -> RollTimelineView:
    """ROWS segments from number first on. appended: analyse.lanes.APPENDED of a simulated log, for
    the strip above.
    """
    first = max(0, min(first, len(shown.lanes) - 1))
    own = shown.lanes[first : first + ROWS]
    begin = shown.lanes[0].opened_ms if shown.lanes else 0
    start = own[0].opened_ms - begin if own else 0
    end = max([one.ended_ms - begin for one in own], default=0)
    rows = tuple(_row(one, shown, begin) for one in own)
    is_whole = len(own) == len(shown.lanes)
    end = max(end if is_whole else start + round((end - start) * 1.02), start + 1)
    written = (
        _written(appended, begin, start, end) if appended is not None and len(appended) else ()
    )
    return RollTimelineView(
        roll_words.title(shown),
        _below(first, len(own), len(shown.lanes)),
        rows,
        first,
        len(shown.lanes),
        written,
        start,
        end,
    )


def _below(first: int, drawn: int, count: int) -> str:
    if drawn >= count:
        return say("rolls.below")
    if not first:
        return say("rolls.below_first", drawn=drawn, count=group(count))
    return say(
        "rolls.below_some", first=group(first + 1), last=group(first + drawn), count=group(count)
    )


def _row(lane: Lane, shown: Lanes, begin_ms: int) -> Row:
    ink = roll_words.INKS[lane.reason.cause] if lane.reason else None
    reading = size(lane.log_bytes) if lane.is_active else roll_words.because(lane)
    opened, ended = lane.opened_ms - begin_ms, lane.ended_ms - begin_ms
    return Row(
        group(lane.base_offset),
        opened,
        ended,
        _lines(lane, shown, begin_ms),
        roll_words.cause(lane),
        reading,
        ink,
        roll_words.text_ink(lane),
        _told(lane, shown),
    )


def _lines(lane: Lane, shown: Lanes, begin_ms: int) -> np.ndarray:
    """From nothing, by what is known on the way, to the moment of the roll, where the one that
    tripped stands at its limit.
    """
    most = limits(shown.config)
    lines = np.zeros((len(lane.fills) + 2, 1 + len(COLUMNS)))
    lines[:, 0] = [lane.opened_ms, *lane.fills["at_ms"], lane.ended_ms]
    lines[:, 0] = np.clip(lines[:, 0], lane.opened_ms, lane.ended_ms) - begin_ms
    for place, column in enumerate(COLUMNS, start=1):
        lines[1:-1, place] = lane.fills[column] / most[column] if most[column] else 1
        lines[-1, place] = lines[-2, place]
        if lane.reason and CAUSE_COLUMN.get(lane.reason.cause) == column:
            lines[-1, place] = 1
    return np.minimum(lines, [[np.inf, 1, 1, 1, 1]])


def _told(lane: Lane, shown: Lanes) -> tuple[str, ...]:
    """What a hover says."""
    config = shown.config
    return (
        f"<b>{file_stem(lane.base_offset)}</b>",
        say(
            "rolls.hover_bytes",
            bytes=group(lane.log_bytes),
            share=share(lane.log_bytes, config.segment_bytes),
        ),
        say(
            "rolls.hover_slots",
            offsets=group(lane.offset_entries),
            offset_slots=group(config.offset_slots),
            times=group(lane.time_entries),
            time_slots=group(config.time_slots),
        ),
        say("rolls.hover_open", span=duration(lane.ended_ms - lane.opened_ms)),
    )


# ---- what was written


def _written(appended: np.ndarray, begin_ms: int, start: int, end: int) -> tuple[Written, ...]:
    """The speed over time, told in stretches of about the same speed and batch size."""
    at = appended["now_ms"] - begin_ms
    inside = (at >= start) & (at <= end)
    edges = np.linspace(start, end, BINS + 1)
    batches, _ = np.histogram(at[inside], edges)
    content, _ = np.histogram(at[inside], edges, weights=appended["size_bytes"][inside])
    return tuple(_stretch(edges, content, batches, *one) for one in _stretches(content, batches))


def _stretches(content: np.ndarray, batches: np.ndarray) -> list[tuple[int, int]]:
    """The first and last bin of each.

    A bin alone is the seam between two; with many of them, or much in them, all is one.
    """
    found = [[0, 0]]
    for place in range(1, len(content)):
        own = slice(found[-1][0], place)
        if _go_on(
            content[own].sum(),
            batches[own].sum(),
            place - found[-1][0],
            content[place],
            batches[place],
            1,
        ):
            found[-1][1] = place
        else:
            found.append([place, place])
    alone = [first for first, last in found if first == last]
    if len(alone) > BINS // 8 or content[alone].sum() > ALIKE * content.sum():
        return [(0, len(content) - 1)]
    kept = [one for one in found if one[0] < one[1]] or [[0, len(content) - 1]]
    joined = kept[:1]
    for first, last in kept[1:]:
        joined[-1][1] = first - 1
        before, own = slice(joined[-1][0], first), slice(first, last + 1)
        if _go_on(
            content[before].sum(),
            batches[before].sum(),
            first - joined[-1][0],
            content[own].sum(),
            batches[own].sum(),
            last + 1 - first,
        ):
            joined[-1][1] = last
        else:
            joined.append([first, last])
    joined[0][0], joined[-1][1] = 0, len(content) - 1
    return [(first, last) for first, last in joined]


def _go_on(
    content: float, batches: float, bins: int, more: float, more_batches: float, more_bins: int
) -> bool:
    """Whether what comes is about as fast as what was, in batches of about the same size."""
    return _alike(content / bins, more / more_bins) and _alike(
        content * more_batches, more * batches
    )


def _alike(one: float, other: float) -> bool:
    """Whether two numbers are about the same."""
    return abs(one - other) <= ALIKE * max(one, other)


def _stretch(
    edges: np.ndarray, content: np.ndarray, batches: np.ndarray, first: int, last: int
) -> Written:
    """Its means, without the bins at its seams."""
    inner = slice(first + 1, last) if last - first > 3 else slice(first, last + 1)
    span_ms = (edges[1] - edges[0]) * (inner.stop - inner.start)
    mean = content[inner].sum() / max(batches[inner].sum(), 1)
    return Written(
        float(edges[first]),
        float(edges[last + 1]),
        float(1000 * content[inner].sum() / span_ms),
        float(mean),
    )


# ---- the figure


def figure(shown: RollTimelineView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    top = STRIP_PX if shown.written else TOP_PX
    tall = top + ROW_PX * max(1, len(shown.rows))
    chart = go.Figure([*_fills(shown, top, ink), *_dots(shown, top, ink), *_hover(shown, top)])
    chart.update_layout(
        template=theme.template(mode),
        height=tall + BOTTOM_PX,
        margin={"l": LEFT_PX, "r": RIGHT_PX, "t": 0, "b": BOTTOM_PX},
        showlegend=False,
        barmode="overlay",
        hovermode="closest",
        xaxis=_across(shown),
        yaxis={"range": [tall, 0], "visible": False, "fixedrange": True},
        shapes=[*_grid(shown, top, tall, ink), *_strip(shown, ink), *_boxes(shown, top, ink)],
        annotations=[*_strip_words(shown, ink), *_names(shown, top, ink), *_words(shown, top, ink)],
    )
    return chart


def _box(place: int, top: int) -> float:
    """The upper edge of a row's box, in px."""
    return top + place * ROW_PX + 3


def _ticks(shown: RollTimelineView) -> list[int]:
    span = shown.end_ms - shown.start_ms
    days = 86_400_000 * max(1, -(-span // (8 * 86_400_000)))
    step = next((one for one in TICKS_MS if span / one <= MOST_TICKS), days)
    return list(range(-(-shown.start_ms // step) * step, shown.end_ms + 1, step))


def _tick(ms: int) -> str:
    """A time since the first batch: 1 min 15 s; within a second to the millisecond, 35.2 s."""
    if ms % 1000:
        return f"{ms / 1000:.10g} s"
    for unit, length, below, part in (
        ("d", 86_400_000, "h", 3_600_000),
        ("h", 3_600_000, "min", 60_000),
        ("min", 60_000, "s", 1000),
    ):
        if ms >= length:
            rest = ms % length // part
            return f"{ms // length} {unit}{f' {rest} {below}' if rest else ''}"
    return f"{ms // 1000} s" if ms else "0"


def _across(shown: RollTimelineView) -> dict:
    ticks = _ticks(shown)
    return {
        "range": [shown.start_ms, shown.end_ms],
        "tickvals": ticks,
        "ticktext": [_tick(one) for one in ticks],
        "showgrid": False,
        "showline": False,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
        "title": None,
        "ticklabelstandoff": 4,
    }


def _grid(shown: RollTimelineView, top: int, tall: int, ink: dict[str, str]) -> list[dict]:
    line = {"color": ink["line"], "width": 1}
    return [
        {
            "type": "line",
            "x0": one,
            "x1": one,
            "y0": top,
            "y1": tall + 4,
            "line": line,
            "layer": "below",
        }
        for one in _ticks(shown)
    ]


def _strip(shown: RollTimelineView, ink: dict[str, str]) -> list[dict]:
    most = max((one.bytes_per_s for one in shown.written), default=0) or 1
    gap = 2 * (shown.end_ms - shown.start_ms) / WIDTH_PX
    return [
        {
            "type": "rect",
            "x0": one.first_ms,
            "x1": max(one.first_ms, one.last_ms - gap),
            "y0": 34,
            "y1": 34 - (4 + 24 * one.bytes_per_s / most),
            "fillcolor": ink["scan_soft"],
            "line": {"width": 0},
            "layer": "below",
        }
        for one in shown.written
        if one.bytes_per_s
    ]


def _strip_words(shown: RollTimelineView, ink: dict[str, str]) -> list[dict]:
    if not shown.written:
        return []
    pixels = (WIDTH_PX - LEFT_PX - RIGHT_PX) / (shown.end_ms - shown.start_ms)
    look = {
        "y": 24,
        "yanchor": "middle",
        "showarrow": False,
        "font": {"size": 12, "color": ink["scan_text"]},
    }
    found = [
        {
            "text": say("rolls.written"),
            "xref": "paper",
            "x": 0,
            "xshift": -LEFT_PX - 2,
            "xanchor": "left",
            "y": 12,
            "yanchor": "middle",
            "showarrow": False,
            "font": {"size": 12, "color": ink["ink_3"]},
        }
    ]
    for one in shown.written:
        words = say(
            "rolls.written_in", speed=rate(one.bytes_per_s), batch=size(round(one.batch_bytes))
        )
        if (one.last_ms - one.first_ms) * pixels > 110 and one.bytes_per_s:
            fits = (one.last_ms - one.first_ms) * pixels > _width_px(words) + 10
            found.append(
                look
                | {
                    "text": words if fits else rate(one.bytes_per_s),
                    "x": one.first_ms,
                    "xanchor": "left",
                    "xshift": 5,
                }
            )
    return found


def _width_px(words: str) -> int:
    """About how wide words are: a Chinese character takes the room of two others."""
    return sum(12 if one > "\u2e7f" else 6 for one in words)


def _boxes(shown: RollTimelineView, top: int, ink: dict[str, str]) -> list[dict]:
    found = []
    for place, row in enumerate(shown.rows):
        is_open = row.ink is None
        line = {
            "color": ink["line_2" if is_open else "line"],
            "width": 1,
            "dash": "4px,3px" if is_open else "solid",
        }
        y = _box(place, top)
        found.append(
            {
                "type": "rect",
                "x0": row.opened_ms,
                "x1": _end(row, shown),
                "y0": y,
                "y1": y + BOX_PX,
                "fillcolor": ink["panel"],
                "line": line,
                "layer": "below",
            }
        )
    return found


def _end(row: Row, shown: RollTimelineView) -> float:
    """Where a lane ends: wide enough to be seen."""
    return max(row.ended_ms, row.opened_ms + 2 * (shown.end_ms - shown.start_ms) / WIDTH_PX)


def _fills(shown: RollTimelineView, top: int, ink: dict[str, str]) -> list[go.Scatter]:
    """The size as an area, time and the indexes as lines: a trace each, for all rows."""
    xs, ys, area_x, area_y = [], [[], [], [], []], [], []
    for place, row in enumerate(shown.rows):
        floor = _box(place, top) + BOX_PX
        xs += [*row.lines[:, 0].tolist(), None]
        for column in range(4):
            ys[column] += [*(floor - BOX_PX * row.lines[:, column + 1]).tolist(), None]
        area_x += [*row.lines[:, 0].tolist(), row.ended_ms, row.opened_ms, None]
        area_y += [*(floor - BOX_PX * row.lines[:, 1]).tolist(), floor, floor, None]
    common = {"mode": "lines", "hoverinfo": "skip", "cliponaxis": False}
    area = {"fill": "toself", "fillcolor": _pale(ink["log"]), "line": {"width": 0}, "name": "size"}
    lines = (
        ("time", 1, ink["ink_2"], 1.3, "4px,3px"),
        ("offset index", 2, ink["offset"], 1.7, "solid"),
        ("time index", 3, ink["time"], 1.7, "solid"),
    )
    return [
        go.Scatter(x=area_x, y=area_y, **common, **area),
        *(
            go.Scatter(
                x=xs,
                y=ys[of],
                **common,
                name=name,
                line={"color": colour, "width": wide, "dash": dash},
            )
            for name, of, colour, wide, dash in lines
        ),
    ]


def _pale(colour: str) -> str:
    """A colour at two fifths of its strength."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},.4)"


def _dots(shown: RollTimelineView, top: int, ink: dict[str, str]) -> list[go.Scatter]:
    rolled = [(row, _box(place, top)) for place, row in enumerate(shown.rows) if row.ink]
    if not rolled:
        return []
    marker = {
        "size": 8.4,
        "color": [ink[cast(str, row.ink)] for row, _ in rolled],
        "line": {"color": ink["raised"], "width": 1.2},
    }
    return [
        go.Scatter(
            x=[_end(row, shown) for row, _ in rolled],
            y=[y for _, y in rolled],
            mode="markers",
            marker=marker,
            name="roll",
            hoverinfo="skip",
            cliponaxis=False,
        )
    ]


def _hover(shown: RollTimelineView, top: int) -> list[go.Bar]:
    """Nothing to be seen: what answers the pointer over a row."""
    ends = [_end(row, shown) - row.opened_ms for row in shown.rows]
    return [
        go.Bar(
            orientation="h",
            base=[row.opened_ms for row in shown.rows],
            x=ends,
            opacity=0,
            width=BOX_PX,
            name="segments",
            y=[_box(place, top) + BOX_PX / 2 for place in range(len(shown.rows))],
            customdata=["<br>".join(row.told) for row in shown.rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
    ]


def _names(shown: RollTimelineView, top: int, ink: dict[str, str]) -> list[dict]:
    look = {
        "xref": "paper",
        "x": 0,
        "xshift": -LEFT_PX - 2,
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
    }
    font = {"size": 12, "color": ink["ink_2"], "family": "Source Code Pro, monospace"}
    return [
        look | {"text": row.name, "y": _box(place, top) + 14, "font": font}
        for place, row in enumerate(shown.rows)
    ]


def _words(shown: RollTimelineView, top: int, ink: dict[str, str]) -> list[dict]:
    """The cause behind the lane, or before it where the room ends."""
    pixels = (WIDTH_PX - LEFT_PX - RIGHT_PX) / (shown.end_ms - shown.start_ms)
    found = []
    for place, row in enumerate(shown.rows):
        has_room = (shown.end_ms - _end(row, shown)) * pixels > WORDS_PX
        x, anchor, shift = (
            (_end(row, shown), "left", 9) if has_room else (row.opened_ms, "right", -9)
        )
        if not has_room and (row.opened_ms - shown.start_ms) * pixels < WORDS_PX:
            x, anchor, shift = _end(row, shown), "right", -9  # a lane over the whole width: inside
        text = f'<span style="color:{ink[row.text_ink]}"><b>{row.cause}</b></span>  {row.because}'
        found.append(
            {
                "text": text,
                "x": x,
                "xanchor": anchor,
                "xshift": shift,
                "y": _box(place, top) + 14,
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": 12.5, "color": ink["ink_2"]},
            }
        )
    return found


def slices(count: int) -> list[tuple[int, int]]:
    """The rows that are drawn together: first and last of each, from 0."""
    starts = [*range(0, max(count, 1), ROWS), count]
    return [(low, high - 1) for low, high in pairwise(starts)]
