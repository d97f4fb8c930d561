"""Why this offset: the times of a partition in the order of its offsets, the target across them, and where each rule lands."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.why_offset import OLDER, SEARCHED, SegmentTimes, Why
from kafkaviz.figures.lookup_words import count
from kafkaviz.units import group

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 1200  # of all segments together
MOST_NAMED = 12  # segments whose fate is written into the figure
HEIGHT = 320
LAST_MS = 253_402_300_799_999
FATES = {SEARCHED: "searched", OLDER: "skipped: all older", "later": "not looked at"}


class Band(NamedTuple):
    """A segment in the figure: its offsets, what Kafka takes for its largest timestamp, and its fate in words."""

    first_offset: int
    end_offset: int
    largest_ms: int
    fate: str
    words: str


@dataclass(frozen=True)
class WhyView:
    """The figure and the words around it.

    offsets, newest_ms, running_ms: of batches, the newest record of each and the running maximum within its segment, thinned out.
    frame_ms: the times that are in the picture, a few outliers left out. rows: segment, offsets, its time range, its largest timestamp
    and where that is from, its fate.
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
    below = "Each dot is the newest record of a batch; the line is the running maximum, which the time index follows"
    return WhyView(
        _title(why), f"{below}; {count(outside, 'dot lies', 'dots lie')} outside of the picture" if outside else below,
        why.target_ms, tuple(_band(one) for one in why.segments), offsets, newest, running,
        tuple(why.answer) if why.answer else None, tuple(closest) if closest else None, frame, tuple(_notes(why)),
        tuple(map(_row, why.segments)),
    )  # fmt: skip


def _frame(why: Why, times: list[int]) -> tuple[int, int]:
    """From the time that one dot in a hundred is older than to the one that one in a hundred is newer than; the target is always in."""
    low, high = np.quantile(times, (0.01, 0.99)).tolist() if times else (why.target_ms, why.target_ms)
    named = [why.target_ms, *(one.timestamp_ms for one in (why.answer, why.closest) if one)]
    low, high = int(min(low, *named)), int(max(high, *named))
    room = max(1, (high - low) // 12)
    return low - room, high + room


def _points(why: Why) -> tuple[tuple, tuple, tuple]:
    """A point for each batch, or for each stretch of batches the first, the oldest and the newest; a gap between segments."""
    offsets, newest, running = [], [], []
    read = [one for one in why.segments if one.batches is not None and len(one.batches)]
    for one in read:
        times = one.batches["max_timestamp_ms"]
        rows = _kept(times, max(6, POINTS // len(read)))
        offsets += [*one.batches["last_offset"][rows].tolist(), one.end_offset]
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


def _band(one: SegmentTimes) -> Band:
    return Band(one.base_offset, one.end_offset, one.largest_ms, one.fate, FATES[one.fate])


def _title(why: Why) -> str:
    if why.answer is None:
        searched = any(one.fate == SEARCHED for one in why.segments)
        return "No record is that late, so there is no answer" if not searched else "The segment that is searched has no record that late"
    later = why.answer.timestamp_ms - why.target_ms
    when = "exactly at the target" if not later else f"{units.duration(later)} after the target"
    return f"Offset {group(why.answer.offset)} is the first record not before the target: {when}"


def _notes(why: Why) -> list[str]:
    notes, older = [], sum(one.fate == OLDER for one in why.segments)
    if older:
        their = "its largest timestamp is" if older == 1 else "their largest timestamps are"
        notes.append(f"{count(older, 'segment')} {'is' if older == 1 else 'are'} skipped without a look inside: {their} below the target.")
    if any(one.of_file and one.fate != OLDER for one in why.segments):
        notes.append("A segment without a time entry is judged by the time of its .log, which says nothing about its records.")
    if why.answer and why.closest and why.closest != why.answer:
        away = abs(why.closest.timestamp_ms - why.target_ms)
        side = "before" if why.closest.timestamp_ms < why.target_ms else "after"
        notes.append(
            f"The record closest in time is offset {group(why.closest.offset)}, {units.duration(away)} {side} the target. "
            "Kafka does not look for the closest: it gives the first that is not before the target, in the order of offsets."
        )
    if why.older_behind:
        holds = "holds" if why.older_behind == 1 else "hold"
        notes.append(
            f"{count(why.older_behind, 'batch', 'batches')} behind the answer {holds} only older records: times here do not follow offsets."
        )
    if any(one.batches is None for one in why.segments):
        notes.append("Segments without dots are too large to be read for this picture; their largest timestamps are exact.")
    return notes


def _row(one: SegmentTimes) -> tuple[str, ...]:
    times = one.batches["max_timestamp_ms"] if one.batches is not None else np.empty(0)
    times = times[times >= 0]
    span = f"{units.moment(int(times.min()))} – {units.moment(int(times.max()))}" if len(times) else "–"
    source = "the time of the .log" if one.of_file else "its last time entry"
    offsets = f"{group(one.base_offset)}–{group(max(one.base_offset, one.end_offset - 1))}"
    return units.file_stem(one.base_offset), offsets, span, f"{units.moment(one.largest_ms)}, {source}", FATES[one.fate]


def figure(shown: WhyView, mode: str) -> "go.Figure":
    """Offsets to the right, time upwards."""
    import plotly.graph_objects as go

    from kafkaviz.figures.theme import colours, template

    colour = colours(mode)
    chart = go.Figure()
    _segments(chart, shown, colour)
    when = [None if ms is None else _utc(ms) for ms in shown.newest_ms]
    dots = {"mode": "markers", "marker": {"size": 4, "color": colour["log"], "line": {"width": 0}}}
    chart.add_scatter(x=shown.offsets, y=when, hovertemplate="to offset %{x}: %{y}<extra></extra>", **dots)
    line = {"mode": "lines", "line": {"color": colour["time"], "width": 1.5, "shape": "hv"}, "hoverinfo": "skip"}
    chart.add_scatter(x=shown.offsets, y=[None if ms is None else _utc(ms) for ms in shown.running_ms], **line)
    chart.add_hline(y=_utc(shown.target_ms), line={"color": colour["ink"], "width": 1, "dash": "dash"})
    chart.add_annotation(x=0, xref="paper", xanchor="left", y=_utc(shown.target_ms), yshift=8, text="target", showarrow=False)
    for at, name, look in (
        (shown.closest, "closest in time", {"symbol": "circle-open", "color": colour["warm"]}),
        (shown.answer, "Kafka’s answer", {"symbol": "circle", "color": colour["hit"]}),
    ):
        if at:
            mark = {"size": 11, "line": {"width": 2}} | look
            chart.add_scatter(x=[at[0]], y=[_utc(at[1])], mode="markers", marker=mark, hoverinfo="skip")
            side = {"yshift": -16} if at is shown.closest else {"yshift": 16}
            words = f"{'✓ ' if at is shown.answer else ''}{name}, offset {group(at[0])}"
            tone = colour["hit_text"] if at is shown.answer else colour["warm_text"]
            anchor = "right" if shown.bands and at[0] > shown.bands[-1].end_offset * 0.6 else "left"
            chart.add_annotation(x=at[0], y=_utc(at[1]), text=words, showarrow=False, xanchor=anchor, font={"color": tone}, **side)
    chart.update_layout(template=template(mode), height=HEIGHT, margin={"l": 8, "r": 8, "t": 26, "b": 34}, showlegend=False)
    chart.update_xaxes(title={"text": "offset", "standoff": 4}, fixedrange=True, exponentformat="none", separatethousands=True)
    chart.update_yaxes(fixedrange=True, title=None, range=[_utc(one) for one in shown.frame_ms])
    return chart


def _segments(chart: "go.Figure", shown: WhyView, colour: dict[str, str]) -> None:
    """A band for each segment, the searched one lit, and its largest timestamp as a line over its width."""
    for place, band in enumerate(shown.bands):
        fill = colour["time_soft"] if band.fate == SEARCHED else colour["panel"] if place % 2 else colour["raised"]
        end = max(band.end_offset, band.first_offset + 1)
        chart.add_vrect(x0=band.first_offset, x1=end, fillcolor=fill, opacity=0.6, line_width=0, layer="below")
        edge = {"color": colour["ink_3"], "width": 1, "dash": "dot"}
        largest = _utc(band.largest_ms)
        chart.add_shape(type="line", x0=band.first_offset, x1=band.end_offset, y0=largest, y1=largest, line=edge)
        if len(shown.bands) <= MOST_NAMED:
            middle = (band.first_offset + band.end_offset) / 2
            chart.add_annotation(x=middle, y=1, yref="paper", text=band.words, yanchor="bottom", showarrow=False, font={"size": 11})


def _utc(timestamp_ms: int) -> np.datetime64:
    """A time that Plotly can draw: those behind the year 9999 stand at its end."""
    return np.datetime64(min(max(0, int(timestamp_ms)), LAST_MS), "ms")
