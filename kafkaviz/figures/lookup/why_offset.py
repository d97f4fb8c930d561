"""Why ListOffsets answers a timestamp with a certain offset.

The figure shows the timestamps of a partition by offset, the searched timestamp, and the offset
that each rule gives.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.lookup.why_offset import OLDER, SEARCHED, OffsetExplanation, SegmentTimes
from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.messages import ENGLISH, language, render, say, say_count
from kafkaviz.units import format_count

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 1200  # most points that are drawn, over all segments
# most segments whose fate is written out, and most that are drawn: those around the searched one
MAX_NAMED = 12
MAX_BANDS = 60
# shares of the axis: a mark further right has its label (above or below it) on the left
ABOVE_LEFT_FROM = 0.25
BELOW_LEFT_FROM = 0.6
HEIGHT = 320
# the last millisecond of the year 9999
LAST_MS = 253_402_300_799_999
DATES = (  # tick formats by the distance between ticks, without month names
    (1000, "%H:%M:%S.%L"),
    (60_000, "%H:%M:%S"),
    (86_400_000, "%H:%M\n%Y-%m-%d"),
    ("M1", "%Y-%m-%d"),
    ("M12", "%Y-%m"),
    (None, "%Y"),
)
FATE_KEYS = {SEARCHED: "searched", OLDER: "older"}  # any other fate has the text of "later"


class SegmentBand(NamedTuple):
    first_offset: int
    end_offset: int
    largest_ms: int  # the value that Kafka uses as its largest timestamp
    fate: str
    fate_text: str  # the text of the fate


@dataclass(frozen=True, kw_only=True)
class OffsetExplanationView:
    title: str
    caption: str
    target_ms: int
    bands: tuple[SegmentBand, ...]
    # offsets, newest_ms, running_ms: last offset, newest timestamp, and running maximum within the
    # segment, of a sample of batches; the times are None in the gaps between segments
    offsets: tuple[int, ...]
    newest_ms: tuple[int, ...]
    running_ms: tuple[int | None, ...]
    answer: tuple[int, int] | None
    closest: tuple[int, int] | None
    frame_ms: tuple[int, int]  # the times that are shown, without a few outliers
    notes: tuple[str, ...]
    # rows of segment, offsets, time range, largest timestamp with its source, and fate
    rows: tuple[tuple[str, ...], ...]


def view(explanation: OffsetExplanation) -> OffsetExplanationView:
    offsets, newest_ms, running_ms = _sample_points(explanation)
    closest = (
        explanation.closest
        if explanation.closest and explanation.closest != explanation.answer
        else None
    )
    frame_ms = _find_frame(explanation, [ms for ms in newest_ms if ms is not None and ms >= 0])
    outside_count = sum(ms is not None and not frame_ms[0] <= ms <= frame_ms[1] for ms in newest_ms)
    return OffsetExplanationView(
        title=_title(explanation),
        caption=say_count("why_offset.below_outside", outside_count)
        if outside_count
        else say("why_offset.below"),
        target_ms=explanation.target_ms,
        bands=tuple(map(_segment_band, _segments_around(explanation, MAX_BANDS))),
        offsets=offsets,
        newest_ms=newest_ms,
        running_ms=running_ms,
        answer=tuple(explanation.answer) if explanation.answer else None,
        closest=tuple(closest) if closest else None,
        frame_ms=frame_ms,
        notes=tuple(_notes(explanation)),
        rows=tuple(map(_segment_row, _segments_around(explanation, MAX_NAMED))),
    )


def _find_frame(explanation: OffsetExplanation, times: list[int]) -> tuple[int, int]:
    """Returns the first and the last time that the figure shows.

    The oldest and the newest 1 % of the points may be outside.
    """
    low, high = (
        np.quantile(times, (0.01, 0.99)).tolist()
        if times
        else (explanation.target_ms, explanation.target_ms)
    )
    included = [
        explanation.target_ms,
        *(record.timestamp_ms for record in (explanation.answer, explanation.closest) if record),
    ]
    low = int(min(low, *included))
    high = int(max(high, *included))
    margin_ms = max(1, (high - low) // 12)
    return low - margin_ms, high + margin_ms


def _sample_points(explanation: OffsetExplanation) -> tuple[tuple, tuple, tuple]:
    """Returns (offsets, newest times, highest times so far). A None ends a segment's times."""
    offsets = []
    newest_ms = []
    running_ms = []
    read_segments = [
        segment
        for segment in explanation.segments
        if segment.batches is not None and len(segment.batches)
    ]
    for segment in read_segments:
        points = _sample(cast(BatchTable, segment.batches), max(6, POINTS // len(read_segments)))
        offsets += [*(point.last_offset for point in points), segment.end_offset]
        newest_ms += [*(point.newest_ms for point in points), None]
        running_ms += [*(point.running_ms for point in points), None]
    return tuple(offsets), tuple(newest_ms), tuple(running_ms)


class _Point(NamedTuple):
    row: int
    last_offset: int
    newest_ms: int
    running_ms: int


def _sample(batches: BatchTable, most: int) -> list[_Point]:
    """Returns all batches of a segment, or a sample of at most `most`.

    For a sample, the segment is split into `most // 3` stretches. Each stretch gives its first, its
    oldest and its newest batch.
    """
    size, larger = divmod(len(batches), most // 3)
    sizes = [size + 1] * larger + [size] * (most // 3 - larger)
    ends = np.cumsum(sizes) if len(batches) > most else np.arange(1, len(batches) + 1)
    points: dict[int, _Point] = {}
    first_row = 0
    reached_ms = np.iinfo(np.int64).min
    stretch = 0
    extremes: list[_Point] = []  # the oldest and the newest of the stretch so far
    for rows in batches:
        times_ms = rows["max_timestamp_ms"]
        running_ms = np.maximum(np.maximum.accumulate(times_ms), reached_ms)
        start = 0
        while start < len(rows):
            stop = min(len(rows), int(ends[stretch]) - first_row)
            places = (
                start,
                times_ms[start:stop].argmin() + start,
                times_ms[start:stop].argmax() + start,
            )
            first, oldest, newest = (
                _Point(
                    first_row + int(place),
                    int(rows["last_offset"][place]),
                    int(times_ms[place]),
                    int(running_ms[place]),
                )
                for place in places
            )
            if not extremes:
                points[first.row] = first
                extremes = [oldest, newest]
            if oldest.newest_ms < extremes[0].newest_ms:
                extremes[0] = oldest
            if newest.newest_ms > extremes[1].newest_ms:
                extremes[1] = newest
            if first_row + stop == ends[stretch]:
                points |= {point.row: point for point in extremes}
                extremes = []
                stretch = stretch + 1
            start = stop
        reached_ms = running_ms[-1] if len(rows) else reached_ms
        first_row += len(rows)
    return [points[row] for row in sorted(points)]


def _segments_around(explanation: OffsetExplanation, most: int) -> tuple[SegmentTimes, ...]:
    index = next(
        (
            segment_index
            for segment_index, segment in enumerate(explanation.segments)
            if segment.fate == SEARCHED
        ),
        len(explanation.segments),
    )
    first_segment = max(0, min(len(explanation.segments) - most, index - most // 2))
    return explanation.segments[first_segment : first_segment + most]


def _segment_band(segment: SegmentTimes) -> SegmentBand:
    return SegmentBand(
        segment.base_offset,
        segment.end_offset,
        segment.largest_ms,
        segment.fate,
        _fate_text(segment.fate),
    )


def _fate_text(fate: str) -> str:
    return say(f"why_offset.fate_{FATE_KEYS.get(fate, 'later')}")


def _title(explanation: OffsetExplanation) -> str:
    if explanation.answer is None:
        is_searched = any(segment.fate == SEARCHED for segment in explanation.segments)
        return say("why_offset.none_late_here" if is_searched else "why_offset.none_late")
    later_by_ms = explanation.answer.timestamp_ms - explanation.target_ms
    return say(
        "why_offset.later" if later_by_ms else "why_offset.exactly",
        offset=format_count(explanation.answer.offset),
        span=units.duration(later_by_ms),
    )


def _notes(explanation: OffsetExplanation) -> list[str]:
    notes = []
    older_count = sum(segment.fate == OLDER for segment in explanation.segments)
    if older_count:
        notes.append(say_count("why_offset.older", older_count))
    if any(segment.is_file_time and segment.fate != OLDER for segment in explanation.segments):
        notes.append(say("why_offset.of_file"))
    if explanation.answer and explanation.closest and explanation.closest != explanation.answer:
        key = (
            "why_offset.closest_before"
            if explanation.closest.timestamp_ms < explanation.target_ms
            else "why_offset.closest_after"
        )
        span = units.duration(abs(explanation.closest.timestamp_ms - explanation.target_ms))
        notes.append(say(key, offset=format_count(explanation.closest.offset), span=span))
    if explanation.older_batches:
        notes.append(say_count("why_offset.behind", explanation.older_batches))
    if len(explanation.segments) > MAX_NAMED:
        notes.append(
            say(
                "why_offset.named",
                shown_count=MAX_NAMED,
                count=format_count(len(explanation.segments)),
            )
        )
    if explanation.faults:
        notes.append(
            say_count(
                "why_offset.faults",
                len(explanation.faults),
                fault=render(explanation.faults[0]),
            )
        )
    if any(segment.batches is None for segment in explanation.segments):
        notes.append(say("why_offset.unread"))
    return notes


def _segment_row(segment: SegmentTimes) -> tuple[str, ...]:
    known_ms = segment.batches.known_ms if segment.batches is not None else None
    span = f"{units.moment(known_ms[0])} – {units.moment(known_ms[1])}" if known_ms else "–"
    largest_text = say(
        "why_offset.by_file" if segment.is_file_time else "why_offset.by_entry",
        moment=units.moment(segment.largest_ms),
    )
    last_offset = max(segment.base_offset, segment.end_offset - 1)
    offsets = f"{format_count(segment.base_offset)}–{format_count(last_offset)}"
    return (
        units.file_stem(segment.base_offset),
        offsets,
        span,
        largest_text,
        _fate_text(segment.fate),
    )


def figure(why_view: OffsetExplanationView, mode: str) -> "go.Figure":
    """Draws timestamps by offset: offsets to the right, time upwards.

    Shapes and annotations are set in one call: adding them one by one takes half a second.
    """
    import plotly.graph_objects as go

    from kafkaviz.figures.theme import chart_layout, colours, straight_line

    palette = colours(mode)
    marks: list[tuple[Any, str, str, str, str, int]] = [
        (
            why_view.closest,
            "why_offset.mark_closest",
            "circle-open",
            palette["warm"],
            palette["warm_text"],
            -16,
        ),
        (
            why_view.answer,
            "why_offset.mark_answer",
            "circle",
            palette["hit"],
            palette["hit_text"],
            16,
        ),
    ]
    marks = [mark for mark in marks if mark[0]]
    chart = go.Figure(
        [
            *_point_traces(why_view, palette),
            *(_mark_trace(*mark[0], mark[2], mark[3]) for mark in marks),
        ]
    )
    target_time = _to_datetime(why_view.target_ms)
    target_line = {"color": palette["ink"], "width": 1, "dash": "dash"}
    target = straight_line(0, 1, target_time, target_time, xref="paper", line=target_line)
    target_annotation = {
        "text": say("why_offset.target"),
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": target_time,
        "yshift": 8,
        "showarrow": False,
    }
    annotations = [
        _mark_annotation(why_view, *mark[0], key=mark[1], colour=mark[4], yshift=mark[5])
        for mark in marks
    ]
    x_title = {"text": say("why_offset.offset"), "standoff": 4}
    chart.update_layout(
        chart_layout(mode, HEIGHT, (8, 8, 26, 34)),
        shapes=[*_band_shapes(why_view, palette), target],
        annotations=[*_fate_annotations(why_view), target_annotation, *annotations],
        xaxis={
            "title": x_title,
            "fixedrange": True,
            "exponentformat": "none",
            "separatethousands": True,
        },
        yaxis={
            "fixedrange": True,
            "title": None,
            "type": "date",
            "range": [_to_datetime(time_ms) for time_ms in why_view.frame_ms],
            **_ticks(),
        },
    )
    return chart


def _ticks() -> dict:
    """Returns tick formats without Plotly's English month names; {} for English."""
    if language() == ENGLISH:
        return {}
    lower_steps = (None, *(step for step, _ in DATES))
    return {
        "tickformatstops": [
            {"dtickrange": [lower, upper], "value": format_text}
            for lower, (upper, format_text) in zip(lower_steps, DATES, strict=False)
        ]
    }


def _point_traces(why_view: OffsetExplanationView, palette: dict[str, str]) -> list[dict]:
    newest_times, running_times = (
        [None if ms is None else _to_datetime(ms) for ms in times]
        for times in (why_view.newest_ms, why_view.running_ms)
    )
    dots = {"mode": "markers", "marker": {"size": 4, "color": palette["log"], "line": {"width": 0}}}
    line = {
        "mode": "lines",
        "line": {"color": palette["time"], "width": 1.5, "shape": "hv"},
        "hoverinfo": "skip",
    }
    hover = f"{say('why_offset.hover', offset='%{x}', time='%{y}')}<extra></extra>"
    return [
        {
            "type": "scatter",
            "x": why_view.offsets,
            "y": newest_times,
            "hovertemplate": hover,
            **dots,
        },
        {"type": "scatter", "x": why_view.offsets, "y": running_times, **line},
    ]


def _mark_trace(offset: int, timestamp_ms: int, symbol: str, colour: str) -> dict:
    mark = {"size": 11, "symbol": symbol, "color": colour, "line": {"width": 2}}
    return {
        "type": "scatter",
        "x": [offset],
        "y": [_to_datetime(timestamp_ms)],
        "mode": "markers",
        "marker": mark,
        "hoverinfo": "skip",
    }


def _mark_annotation(
    why_view: OffsetExplanationView,
    offset: int,
    timestamp_ms: int,
    *,
    key: str,
    colour: str,
    yshift: int,
) -> dict:
    """Returns the label of a mark, above it if `yshift` is positive.

    A label above is to the left of its mark, and a label below to the right. So the rising line of
    the running maximum does not cross it. Near an edge the label stays inside the figure.
    """
    left_from = ABOVE_LEFT_FROM if yshift > 0 else BELOW_LEFT_FROM
    anchor = (
        "right" if why_view.bands and offset > why_view.bands[-1].end_offset * left_from else "left"
    )
    text = {"text": say(key, offset=format_count(offset)), "font": {"color": colour}}
    return text | {
        "x": offset,
        "y": _to_datetime(timestamp_ms),
        "yshift": yshift,
        "xanchor": anchor,
        "showarrow": False,
    }


def _band_shapes(why_view: OffsetExplanationView, palette: dict[str, str]) -> list[dict]:
    shapes = []
    edge_line = {"color": palette["ink_3"], "width": 1, "dash": "dot"}
    for index, band in enumerate(why_view.bands):
        if band.fate == SEARCHED:
            fill = palette["time_soft"]
        elif index % 2:
            fill = palette["panel"]
        else:
            fill = palette["raised"]
        extent = {"x0": band.first_offset, "x1": max(band.end_offset, band.first_offset + 1)}
        largest_time = _to_datetime(band.largest_ms)
        style = {"fillcolor": fill, "opacity": 0.6, "line": {"width": 0}, "layer": "below"}
        area = {"type": "rect", "yref": "paper", "y0": 0, "y1": 1} | style
        shapes += [
            area | extent,
            {"type": "line", "y0": largest_time, "y1": largest_time, "line": edge_line} | extent,
        ]
    return shapes


def _fate_annotations(why_view: OffsetExplanationView) -> list[dict]:
    if len(why_view.bands) > MAX_NAMED:
        return []
    style = {"y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"size": 11}}
    return [
        style | {"x": (band.first_offset + band.end_offset) / 2, "text": band.fate_text}
        for band in why_view.bands
    ]


def _to_datetime(timestamp_ms: int) -> np.datetime64:
    """Converts a time for Plotly. Times outside 1970–9999 are moved to the nearest end."""
    return np.datetime64(min(max(0, int(timestamp_ms)), LAST_MS), "ms")
