"""Why ListOffsets answers a timestamp with a certain offset.

The figure shows the timestamps of a partition by offset, the searched timestamp, and the offset
that each rule gives.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

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
LAST_MS = 253_402_300_799_999  # the last millisecond of the year 9999
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
    closest = explanation.closest
    if closest == explanation.answer:
        closest = None
    frame_ms = _find_frame(explanation, [ms for ms in newest_ms if ms is not None and ms >= 0])
    outside_count = sum(ms is not None and not frame_ms[0] <= ms <= frame_ms[1] for ms in newest_ms)
    caption = say("why_offset.below")
    if outside_count:
        caption = say_count("why_offset.below_outside", outside_count)
    return OffsetExplanationView(
        title=_title(explanation),
        caption=caption,
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
    included = [
        explanation.target_ms,
        *(record.timestamp_ms for record in (explanation.answer, explanation.closest) if record),
        *(np.quantile(times, (0.01, 0.99)).tolist() if times else ()),
    ]
    low = int(min(included))
    high = int(max(included))
    margin_ms = max(1, (high - low) // 12)
    return low - margin_ms, high + margin_ms


def _sample_points(explanation: OffsetExplanation) -> tuple[tuple, tuple, tuple]:
    """Returns (offsets, batches' newest times, running maximum).

    After each segment, both lists of times have a None, which ends the line.
    """
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
            stretch_ms = times_ms[start:stop]
            first, oldest, newest = (
                _Point(
                    first_row + int(place),
                    int(rows["last_offset"][place]),
                    int(times_ms[place]),
                    int(running_ms[place]),
                )
                for place in (start, start + stretch_ms.argmin(), start + stretch_ms.argmax())
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
    fates = [segment.fate for segment in explanation.segments]
    index = fates.index(SEARCHED) if SEARCHED in fates else len(fates)
    first = max(0, min(len(fates) - most, index - most // 2))
    return explanation.segments[first : first + most]


def _segment_band(segment: SegmentTimes) -> SegmentBand:
    extent = (segment.base_offset, segment.end_offset, segment.largest_ms)
    return SegmentBand(*extent, segment.fate, _fate_text(segment.fate))


def _fate_text(fate: str) -> str:
    return say(f"why_offset.fate_{FATE_KEYS.get(fate, 'later')}")


def _title(explanation: OffsetExplanation) -> str:
    if explanation.answer is None:
        is_searched = any(segment.fate == SEARCHED for segment in explanation.segments)
        return say("why_offset.none_late_here" if is_searched else "why_offset.none_late")
    later_by_ms = explanation.answer.timestamp_ms - explanation.target_ms
    return say(
        "why_offset.later" if later_by_ms else "why_offset.exactly",
        offset=explanation.answer.offset,
        span=later_by_ms,
    )


def _notes(explanation: OffsetExplanation) -> list[str]:
    notes = []
    older_count = sum(segment.fate == OLDER for segment in explanation.segments)
    if older_count:
        notes.append(say_count("why_offset.older", older_count))
    if any(segment.is_file_time and segment.fate != OLDER for segment in explanation.segments):
        notes.append(say("why_offset.of_file"))
    closest = explanation.closest
    if explanation.answer and closest and closest != explanation.answer:
        later_by_ms = closest.timestamp_ms - explanation.target_ms
        key = "why_offset.closest_before" if later_by_ms < 0 else "why_offset.closest_after"
        span = units.duration(abs(later_by_ms))
        notes.append(say(key, offset=format_count(closest.offset), span=span))
    if explanation.older_batches:
        notes.append(say_count("why_offset.behind", explanation.older_batches))
    if len(explanation.segments) > MAX_NAMED:
        count = format_count(len(explanation.segments))
        notes.append(say("why_offset.named", shown_count=MAX_NAMED, count=count))
    if explanation.faults:
        fault = render(explanation.faults[0])
        notes.append(say_count("why_offset.faults", len(explanation.faults), fault=fault))
    if any(segment.batches is None for segment in explanation.segments):
        notes.append(say("why_offset.unread"))
    return notes


def _segment_row(segment: SegmentTimes) -> tuple[str, ...]:
    known_ms = segment.batches.known_ms if segment.batches is not None else None
    span = f"{units.moment(known_ms[0])} – {units.moment(known_ms[1])}" if known_ms else "–"
    largest_text = say(
        "why_offset.by_file" if segment.is_file_time else "why_offset.by_entry",
        moment=segment.largest_ms,
    )
    last_offset = max(segment.base_offset, segment.end_offset - 1)
    offsets = f"{format_count(segment.base_offset)}–{format_count(last_offset)}"
    name = units.file_stem(segment.base_offset)
    return name, offsets, span, largest_text, _fate_text(segment.fate)


def figure(why_view: OffsetExplanationView, mode: str) -> "go.Figure":
    """Draws timestamps by offset: offsets to the right, time upwards.

    Shapes and annotations are set in one call: adding them one by one takes half a second.
    """
    import plotly.graph_objects as go

    from kafkaviz.figures import theme

    palette = theme.colours(mode)
    traces = _point_traces(why_view, palette)
    target_time = _to_datetime(why_view.target_ms)
    target_line = {"color": palette["ink"], "width": 1, "dash": "dash"}
    target = theme.straight_line(0, 1, target_time, target_time, xref="paper", line=target_line)
    place = {"xref": "paper", "x": 0, "xanchor": "left", "y": target_time, "yshift": 8}
    annotations = [{"text": say("why_offset.target"), "showarrow": False} | place]
    for name, record, symbol, colour, yshift in (
        ("closest", why_view.closest, "circle-open", "warm", -16),
        ("answer", why_view.answer, "circle", "hit", 16),
    ):
        if record:
            traces.append(_mark_trace(*record, symbol, palette[colour]))
            note = _mark_annotation(why_view, *record, key=f"why_offset.mark_{name}", yshift=yshift)
            annotations.append(note | {"font": {"color": palette[f"{colour}_text"]}})
    chart = go.Figure(traces)
    x_title = {"text": say("why_offset.offset"), "standoff": 4}
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT, (8, 8, 26, 34)),
        shapes=[*_band_shapes(why_view, palette), target],
        annotations=[*_fate_annotations(why_view), *annotations],
        xaxis={"title": x_title, "fixedrange": True}
        | {"exponentformat": "none", "separatethousands": True},
        yaxis={
            "fixedrange": True,
            "title": None,
            "type": "date",
            "range": [_to_datetime(time_ms) for time_ms in why_view.frame_ms],
            **_ticks(),
        },
    )


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
    plain = {"type": "scatter", "x": why_view.offsets}
    marker = {"size": 4, "color": palette["log"], "line": {"width": 0}}
    line = {"color": palette["time"], "width": 1.5, "shape": "hv"}
    hover = f"{say('why_offset.hover', offset='%{x}', time='%{y}')}<extra></extra>"
    return [
        plain | {"y": newest_times, "hovertemplate": hover, "mode": "markers", "marker": marker},
        plain | {"y": running_times, "mode": "lines", "line": line, "hoverinfo": "skip"},
    ]


def _mark_trace(offset: int, timestamp_ms: int, symbol: str, colour: str) -> dict:
    marker = {"size": 11, "symbol": symbol, "color": colour, "line": {"width": 2}}
    place = {"type": "scatter", "x": [offset], "y": [_to_datetime(timestamp_ms)]}
    return place | {"mode": "markers", "marker": marker, "hoverinfo": "skip"}


def _mark_annotation(
    why_view: OffsetExplanationView, offset: int, timestamp_ms: int, *, key: str, yshift: int
) -> dict:
    """Returns the label of a mark. If `yshift` is positive, the label is above the mark.

    A label above its mark is left of the mark, and a label below is right of it, unless the label
    might not fit there. So the rising line of the running maximum does not cross the label.
    """
    left_from = ABOVE_LEFT_FROM if yshift > 0 else BELOW_LEFT_FROM
    is_left = why_view.bands and offset > why_view.bands[-1].end_offset * left_from
    text = {"text": say(key, offset=format_count(offset)), "showarrow": False}
    place = {"x": offset, "y": _to_datetime(timestamp_ms), "yshift": yshift}
    return text | place | {"xanchor": "right" if is_left else "left"}


def _band_shapes(why_view: OffsetExplanationView, palette: dict[str, str]) -> list[dict]:
    from kafkaviz.figures import theme

    shapes = []
    edge_line = {"color": palette["ink_3"], "width": 1, "dash": "dot"}
    for index, band in enumerate(why_view.bands):
        fill = palette["panel" if index % 2 else "raised"]
        if band.fate == SEARCHED:
            fill = palette["time_soft"]
        x0 = band.first_offset
        x1 = max(band.end_offset, x0 + 1)
        largest_time = _to_datetime(band.largest_ms)
        shapes += [
            theme.area(fill, x0=x0, x1=x1, yref="paper", y0=0, y1=1, opacity=0.6),
            theme.straight_line(x0, x1, largest_time, largest_time, line=edge_line),
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
