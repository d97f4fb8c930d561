"""Why this offset: the times of a partition in the order of its offsets, the target across them,
and where each rule lands.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.why_offset import OLDER, SEARCHED, SegmentTimes, Why
from kafkaviz.figures import fault_words
from kafkaviz.figures.lookup_words import count
from kafkaviz.units import group
from kafkaviz.words import ENGLISH, counted, language, say

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 1200  # of all segments together
# segments whose fate is written out, and that are drawn apart: those around the searched one
MOST_NAMED, MOST_BANDS = 12, 60
# of the axis: from where on the words above a mark, and those below it, stand on its left
LEFT_OF, RIGHT_OF = 0.25, 0.6
HEIGHT = 320
LAST_MS = 253_402_300_799_999
DATES = (  # the ticks of times, coarser the wider apart, in figures alone
    (1000, "%H:%M:%S.%L"),
    (60_000, "%H:%M:%S"),
    (86_400_000, "%H:%M\n%Y-%m-%d"),
    ("M1", "%Y-%m-%d"),
    ("M12", "%Y-%m"),
    (None, "%Y"),
)
FATES = {SEARCHED: "searched", OLDER: "older"}  # and later


class Band(NamedTuple):
    """A segment in the figure: its offsets, what Kafka takes for its largest timestamp, and its
    fate in words.
    """

    first_offset: int
    end_offset: int
    largest_ms: int
    fate: str
    words: str


@dataclass(frozen=True)
class WhyView:
    """The figure and the words around it.

    offsets, newest_ms, running_ms: of batches, the newest record of each and the running maximum
    within its segment, thinned out. frame_ms: the times that are in the picture, a few outliers
    left out. rows: segment, offsets, its time range, its largest timestamp and where that is from,
    its fate.
    """

    title: str
    below: str
    target_ms: int
    bands: tuple[Band, ...]
    offsets: tuple[int, ...]
    newest_ms: tuple[int, ...]
    running_ms: tuple[int | None, ...]
    answer: tuple[int, int] | None
    closest: tuple[int, int] | None
    frame_ms: tuple[int, int]
    notes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def view(why: Why) -> WhyView:
    """What is drawn and said of a timestamp."""
    offsets, newest, running = _points(why)
    closest = why.closest if why.closest and why.closest != why.answer else None
    frame = _frame(why, [ms for ms in newest if ms is not None and ms >= 0])
    outside = sum(ms is not None and not frame[0] <= ms <= frame[1] for ms in newest)
    return WhyView(
        _title(why),
        count("why_offset.below_outside", outside) if outside else say("why_offset.below"),
        why.target_ms,
        tuple(map(_band, _around(why, MOST_BANDS))),
        offsets,
        newest,
        running,
        tuple(why.answer) if why.answer else None,
        tuple(closest) if closest else None,
        frame,
        tuple(_notes(why)),
        tuple(map(_row, _around(why, MOST_NAMED))),
    )


def _frame(why: Why, times: list[int]) -> tuple[int, int]:
    """From the time that one dot in a hundred is older than to the one that one in a hundred is
    newer than; the target is always in.
    """
    low, high = (
        np.quantile(times, (0.01, 0.99)).tolist() if times else (why.target_ms, why.target_ms)
    )
    named = [why.target_ms, *(one.timestamp_ms for one in (why.answer, why.closest) if one)]
    low, high = int(min(low, *named)), int(max(high, *named))
    room = max(1, (high - low) // 12)
    return low - room, high + room


def _points(why: Why) -> tuple[tuple, tuple, tuple]:
    """A point for each batch, or for each stretch of batches the first, the oldest and the newest;
    a gap between segments.
    """
    offsets, newest, running = [], [], []
    read = [one for one in why.segments if one.batches is not None and len(one.batches)]
    for one in read:
        batches = cast(np.ndarray, one.batches)
        times = batches["max_timestamp_ms"]
        rows = _kept(times, max(6, POINTS // len(read)))
        offsets += [*batches["last_offset"][rows].tolist(), one.end_offset]
        newest += [*times[rows].tolist(), None]
        running += [*np.maximum.accumulate(times)[rows].tolist(), None]
    return tuple(offsets), tuple(newest), tuple(running)


def _kept(times: np.ndarray, most: int) -> np.ndarray:
    if len(times) <= most:
        return np.arange(len(times))
    kept = []
    for part in np.array_split(np.arange(len(times)), most // 3):
        kept += [part[0], part[times[part].argmin()], part[times[part].argmax()]]
    return np.unique(kept)


def _around(why: Why, most: int) -> tuple[SegmentTimes, ...]:
    """The segments next to the searched one, or the last ones where none is."""
    place = next(
        (at for at, one in enumerate(why.segments) if one.fate == SEARCHED), len(why.segments)
    )
    first = max(0, min(len(why.segments) - most, place - most // 2))
    return why.segments[first : first + most]


def _band(one: SegmentTimes) -> Band:
    return Band(one.base_offset, one.end_offset, one.largest_ms, one.fate, _fate(one.fate))


def _fate(fate: str) -> str:
    return say(f"why_offset.fate_{FATES.get(fate, 'later')}")


def _title(why: Why) -> str:
    if why.answer is None:
        searched = any(one.fate == SEARCHED for one in why.segments)
        return say("why_offset.none_late_here" if searched else "why_offset.none_late")
    later = why.answer.timestamp_ms - why.target_ms
    return say(
        "why_offset.later" if later else "why_offset.exactly",
        offset=group(why.answer.offset),
        span=units.duration(later),
    )


def _notes(why: Why) -> list[str]:
    notes, older = [], sum(one.fate == OLDER for one in why.segments)
    if older:
        notes.append(count("why_offset.older", older))
    if any(one.of_file and one.fate != OLDER for one in why.segments):
        notes.append(say("why_offset.of_file"))
    if why.answer and why.closest and why.closest != why.answer:
        key = (
            "why_offset.closest_before"
            if why.closest.timestamp_ms < why.target_ms
            else "why_offset.closest_after"
        )
        span = units.duration(abs(why.closest.timestamp_ms - why.target_ms))
        notes.append(say(key, offset=group(why.closest.offset), span=span))
    if why.older_behind:
        notes.append(count("why_offset.behind", why.older_behind))
    if len(why.segments) > MOST_NAMED:
        notes.append(say("why_offset.named", named=MOST_NAMED, count=group(len(why.segments))))
    if why.faults:
        notes.append(
            counted(
                "why_offset.faults",
                len(why.faults),
                n=group(len(why.faults)),
                fault=fault_words.what(why.faults[0]),
            )
        )
    if any(one.batches is None for one in why.segments):
        notes.append(say("why_offset.unread"))
    return notes


def _row(one: SegmentTimes) -> tuple[str, ...]:
    times = one.batches["max_timestamp_ms"] if one.batches is not None else np.empty(0)
    times = times[times >= 0]
    span = (
        f"{units.moment(int(times.min()))} – {units.moment(int(times.max()))}"
        if len(times)
        else "–"
    )
    largest = say(
        "why_offset.by_file" if one.of_file else "why_offset.by_entry",
        moment=units.moment(one.largest_ms),
    )
    offsets = f"{group(one.base_offset)}–{group(max(one.base_offset, one.end_offset - 1))}"
    return units.file_stem(one.base_offset), offsets, span, largest, _fate(one.fate)


def figure(shown: WhyView, mode: str) -> "go.Figure":
    """Offsets to the right, time upwards.

    Shapes and notes are handed over at once: added one by one they take Plotly half a second.
    """
    import plotly.graph_objects as go

    from kafkaviz.figures.theme import colours, template

    colour = colours(mode)
    marks: list[tuple[Any, str, str, str, str, int]] = [
        (
            shown.closest,
            "why_offset.mark_closest",
            "circle-open",
            colour["warm"],
            colour["warm_text"],
            -16,
        ),
        (shown.answer, "why_offset.mark_answer", "circle", colour["hit"], colour["hit_text"], 16),
    ]
    marks = [mark for mark in marks if mark[0]]
    chart = go.Figure(
        [*_lines(shown, colour), *(_mark(*mark[0], mark[2], mark[3]) for mark in marks)]
    )
    target = {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": _utc(shown.target_ms),
        "y1": _utc(shown.target_ms),
    }
    target["line"] = {"color": colour["ink"], "width": 1, "dash": "dash"}
    named = {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": _utc(shown.target_ms),
        "yshift": 8,
        "showarrow": False,
    }
    named["text"] = say("why_offset.target")
    notes = [_note(shown, *mark[0], mark[1], mark[4], mark[5]) for mark in marks]
    across = {"text": say("why_offset.offset"), "standoff": 4}
    chart.update_layout(
        template=template(mode),
        height=HEIGHT,
        margin={"l": 8, "r": 8, "t": 26, "b": 34},
        showlegend=False,
        shapes=[*_bands(shown, colour), target],
        annotations=[*_fates(shown), named, *notes],
        xaxis={
            "title": across,
            "fixedrange": True,
            "exponentformat": "none",
            "separatethousands": True,
        },
        yaxis={
            "fixedrange": True,
            "title": None,
            "type": "date",
            "range": [_utc(one) for one in shown.frame_ms],
            **_ticks(),
        },
    )
    return chart


def _ticks() -> dict:
    """Plotly names months in English; in another language they are numbers."""
    if language() == ENGLISH:
        return {}
    lows = (None, *(apart for apart, _ in DATES))
    return {
        "tickformatstops": [
            {"dtickrange": [low, high], "value": form}
            for low, (high, form) in zip(lows, DATES, strict=False)
        ]
    }


def _lines(shown: WhyView, colour: dict[str, str]) -> list[dict]:
    """The dots, and the running maximum over them."""
    newest, running = (
        [None if ms is None else _utc(ms) for ms in times]
        for times in (shown.newest_ms, shown.running_ms)
    )
    dots = {"mode": "markers", "marker": {"size": 4, "color": colour["log"], "line": {"width": 0}}}
    line = {
        "mode": "lines",
        "line": {"color": colour["time"], "width": 1.5, "shape": "hv"},
        "hoverinfo": "skip",
    }
    hover = f"{say('why_offset.hover', offset='%{x}', time='%{y}')}<extra></extra>"
    return [
        {"type": "scatter", "x": shown.offsets, "y": newest, "hovertemplate": hover, **dots},
        {"type": "scatter", "x": shown.offsets, "y": running, **line},
    ]


def _mark(offset: int, timestamp_ms: int, symbol: str, colour: str) -> dict:
    mark = {"size": 11, "symbol": symbol, "color": colour, "line": {"width": 2}}
    return {
        "type": "scatter",
        "x": [offset],
        "y": [_utc(timestamp_ms)],
        "mode": "markers",
        "marker": mark,
        "hoverinfo": "skip",
    }


def _note(
    shown: WhyView, offset: int, timestamp_ms: int, key: str, colour: str, yshift: int
) -> dict:
    """Above its mark the words end there, below it they begin: the running maximum only rises.

    Near an edge they stay inside.
    """
    least = LEFT_OF if yshift > 0 else RIGHT_OF
    anchor = "right" if shown.bands and offset > shown.bands[-1].end_offset * least else "left"
    words = {"text": say(key, offset=group(offset)), "font": {"color": colour}}
    return words | {
        "x": offset,
        "y": _utc(timestamp_ms),
        "yshift": yshift,
        "xanchor": anchor,
        "showarrow": False,
    }


def _bands(shown: WhyView, colour: dict[str, str]) -> list[dict]:
    """A band for each segment, the searched one lit, and its largest timestamp as a line over its
    width.
    """
    shapes, edge = [], {"color": colour["ink_3"], "width": 1, "dash": "dot"}
    for place, band in enumerate(shown.bands):
        fill = (
            colour["time_soft"]
            if band.fate == SEARCHED
            else colour["panel"]
            if place % 2
            else colour["raised"]
        )
        across, largest = (
            {"x0": band.first_offset, "x1": max(band.end_offset, band.first_offset + 1)},
            _utc(band.largest_ms),
        )
        look = {"fillcolor": fill, "opacity": 0.6, "line": {"width": 0}, "layer": "below"}
        area = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1} | look
        shapes += [
            area | across,
            {"type": "line", "y0": largest, "y1": largest, "line": edge} | across,
        ]
    return shapes


def _fates(shown: WhyView) -> list[dict]:
    """What became of each segment, above it, where there is room."""
    if len(shown.bands) > MOST_NAMED:
        return []
    look = {"y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"size": 11}}
    return [
        look | {"x": (band.first_offset + band.end_offset) / 2, "text": band.words}
        for band in shown.bands
    ]


def _utc(timestamp_ms: int) -> np.datetime64:
    """A time that Plotly can draw: those behind the year 9999 stand at its end."""
    return np.datetime64(min(max(0, int(timestamp_ms)), LAST_MS), "ms")
