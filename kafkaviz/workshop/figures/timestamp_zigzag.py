"""The timestamps of a real segment around a target, and the record that a lookup returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, cast

import numpy as np
import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.units import clock, file_stem, format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure, note
from kafkaviz.workshop.figures.lookups import make_lookup, to_lookup
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEIGHT_PX = 348
LEFT_PX = 66
RIGHT_PX = 12
TOP_PX = 30
BOTTOM_PX = 40
DEEPEST_MS = 20_000  # how far the figure reaches below the lowest running maximum
TICKS = 6
STEPS_MS = [factor * unit for unit in (1000, 60_000, 3_600_000) for factor in (1, 2, 5, 10, 30)]
LABEL_LEFT_FROM = 0.6  # beyond this share of the width, labels are left of marks
AROUND = 6  # rows in the table before and after the record that is returned


class TimedRecord(NamedTuple):
    offset: int
    timestamp_ms: int


@dataclass(frozen=True, kw_only=True)
class ZigzagView:
    """The records around a target timestamp, and the result of a lookup."""

    title: str
    question: str
    caption: str
    target_ms: int
    records: tuple[TimedRecord, ...]
    running_ms: tuple[int, ...]  # the largest timestamp up to and including each record
    entries: tuple[TimedRecord, ...]
    lowest_ms: int  # the figure's lower edge, on which older records are drawn
    start_offset: int
    answer: TimedRecord
    closest: TimedRecord | None  # closest in time to the target; None if that is the answer


def view(
    *,
    target_ms: int,
    records: tuple[TimedRecord, ...],
    newest_before_ms: int,  # the largest timestamp in the segment before `records`; -1: none
    entries: tuple[TimedRecord, ...],  # time index entries with offsets among the records
    start_offset: int,  # the base offset of the first batch that the lookup reads
    answer: TimedRecord,  # the record that Kafka returns
    segment: str,  # the topic-partition and the segment
    source: str,
) -> ZigzagView:
    """Returns the records around a target timestamp."""
    times = [record.timestamp_ms for record in records]
    running = tuple(accumulate(times, max, initial=newest_before_ms))[1:]
    late = sum(time_ms < newest_ms for time_ms, newest_ms in zip(times, running, strict=True))
    closest = min(records, key=lambda record: abs(record.timestamp_ms - target_ms))
    lowest_ms = max(min(times), min(running) - DEEPEST_MS)
    older = sum(time_ms < lowest_ms for time_ms in times)
    target = clock(target_ms)
    is_closest = closest == answer
    title_key = "zigzag.title_closest" if is_closest else "zigzag.title"
    return ZigzagView(
        title=say(title_key, target=target, offset=answer.offset, closest=closest.offset),
        question=say("zigzag.question", target=target),
        caption=say(
            "zigzag.below_older" if older else "zigzag.below",
            late=late,
            older=older,
            count=len(times),
            segment=segment,
            source=source,
        ),
        target_ms=target_ms,
        records=records,
        running_ms=running,
        entries=entries,
        lowest_ms=lowest_ms,
        start_offset=start_offset,
        answer=answer,
        closest=None if is_closest else closest,
    )


def rows(zigzag: ZigzagView) -> list[tuple[str, str, str, str]]:
    """Returns a row per record near the answer: offset, timestamp, running maximum, remark."""
    marks = {entry.offset: say("zigzag.entry") for entry in zigzag.entries}
    if zigzag.closest:
        marks[zigzag.closest.offset] = say("zigzag.is_closest")
    marks[zigzag.answer.offset] = say("zigzag.is_answer")
    answer = [record.offset for record in zigzag.records].index(zigzag.answer.offset)
    timed = list(zip(zigzag.records, zigzag.running_ms, strict=True))
    return [
        (
            format_count(record.offset),
            clock(record.timestamp_ms),
            clock(newest_ms),
            marks.get(record.offset, ""),
        )
        for record, newest_ms in timed[max(0, answer - AROUND) : answer + AROUND + 1]
    ]


def figure(zigzag: ZigzagView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    chart = question_figure(zigzag, mode)
    _add_mark(chart, zigzag, zigzag.answer, "hit", colours)
    if zigzag.closest:
        _add_mark(chart, zigzag, zigzag.closest, "warm", colours)
    area = theme.area(
        colours["scan_soft"],
        x0=zigzag.start_offset,
        x1=zigzag.answer.offset,
        yref="paper",
        y0=0,
        y1=1,
        opacity=0.6,
    )
    text = note(zigzag.start_offset, 1, say("zigzag.scan"), colours["scan_text"], xanchor="left")
    chart.add_shape(area)
    chart.add_annotation(text | {"xshift": 3, "yref": "paper", "yanchor": "top"})
    return chart


def question_figure(zigzag: ZigzagView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    first = zigzag.records[0].offset
    last = zigzag.records[-1].offset
    target_ms = zigzag.target_ms
    top_ms = max(*zigzag.running_ms, zigzag.target_ms)
    margin_ms = 0.04 * (top_ms - zigzag.lowest_ms)
    ticks = _ticks(zigzag.lowest_ms, top_ms)
    plain = theme.PLAIN_AXIS | {"ticks": "", "title": None}
    target_line = {"color": colours["ink"], "width": 1.2, "dash": "6px,4px"}
    target_text = f"<b>{say('zigzag.target', target=target_ms)}</b>"
    target_note = note(0, target_ms, target_text, colours["ink"], xanchor="left", xshift=4)
    traces = [
        _record_trace(zigzag, colours),
        *_older_trace(zigzag, colours),
        _running_trace(zigzag, colours),
        _entry_trace(zigzag, colours),
    ]
    return go.Figure(traces).update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX)),
        hovermode="closest",
        xaxis=plain
        | {
            "range": [first - 1, last + 1],
            "exponentformat": "none",
            "separatethousands": True,
            "showgrid": False,
        },
        yaxis=plain
        | {
            "range": [zigzag.lowest_ms - margin_ms, top_ms + margin_ms],
            "tickvals": ticks,
            "ticktext": [clock(tick)[:8] for tick in ticks],
            "gridcolor": colours["line"],
        },
        shapes=[theme.straight_line(0, 1, target_ms, target_ms, xref="paper", line=target_line)],
        annotations=[
            target_note | {"xref": "paper", "yanchor": "bottom"},
            _legend_annotation(colours),
            theme.axis_name(say("why_offset.offset"), colours, shift_px=-20),
        ],
    )


def _legend_annotation(colours: Mapping[str, str]) -> dict:
    text = "&nbsp;&nbsp; ".join(
        f'<span style="color:{colours["time"]}">{mark}</span> '
        f'<span style="color:{colours["time_text"]}">{say(key)}</span>'
        for mark, key in (("━", "zigzag.newest"), ("⬢", "zigzag.entry"))
    )
    place = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "paper", "y": 1}
    style = {"yanchor": "bottom", "yshift": 8, "showarrow": False, "font": {"size": 13}}
    return place | style | {"text": text}


def _ticks(lowest_ms: int, top_ms: int) -> list[int]:
    span_ms = top_ms - lowest_ms
    step = next((step for step in STEPS_MS if span_ms / step <= TICKS), max(1, span_ms // TICKS))
    return list(range(-(-lowest_ms // step) * step, top_ms + 1, step))


def _record_trace(zigzag: ZigzagView, colours: Mapping[str, str]) -> go.Scatter:
    hover = say("zigzag.hover", offset="%{x}", time="%{customdata}")
    return go.Scatter(
        x=[record.offset for record in zigzag.records],
        y=[max(record.timestamp_ms, zigzag.lowest_ms) for record in zigzag.records],
        mode="lines+markers",
        name="records",
        line={"color": colours["log"], "width": 1.2},
        marker={"size": 6, "color": colours["log"]},
        customdata=[clock(record.timestamp_ms) for record in zigzag.records],
        hovertemplate=f"{hover}<extra></extra>",
    )


def _older_trace(zigzag: ZigzagView, colours: Mapping[str, str]) -> list[go.Scatter]:
    older = [
        (record, newest_ms - record.timestamp_ms)
        for record, newest_ms in zip(zigzag.records, zigzag.running_ms, strict=True)
        if record.timestamp_ms < zigzag.lowest_ms
    ]
    if not older:
        return []
    texts = [
        say("zigzag.hover_older", offset=record.offset, span=late_ms) for record, late_ms in older
    ]
    return [
        go.Scatter(
            x=[record.offset for record, _ in older],
            y=[zigzag.lowest_ms] * len(older),
            mode="markers",
            name="older",
            marker={"symbol": "triangle-down", "size": 10, "color": colours["log_text"]},
            cliponaxis=False,
            **theme.hover(texts),
        )
    ]


def _running_trace(zigzag: ZigzagView, colours: Mapping[str, str]) -> go.Scatter:
    return go.Scatter(
        x=[record.offset for record in zigzag.records],
        y=zigzag.running_ms,
        mode="lines",
        name="largest so far",
        line={"color": colours["time"], "width": 2.6, "shape": "hv"},
        hoverinfo="skip",
    )


def _entry_trace(zigzag: ZigzagView, colours: Mapping[str, str]) -> go.Scatter:
    hover = say("zigzag.hover_entry", offset="%{x}", time="%{customdata}")
    outline = {"color": colours["raised"], "width": 2}
    return go.Scatter(
        x=[entry.offset for entry in zigzag.entries],
        y=[entry.timestamp_ms for entry in zigzag.entries],
        mode="markers",
        name="entries",
        marker={"symbol": "hexagon", "size": 15, "color": colours["time"], "line": outline},
        customdata=[clock(entry.timestamp_ms) for entry in zigzag.entries],
        hovertemplate=f"{hover}<extra></extra>",
        cliponaxis=False,
    )


def _add_mark(
    chart: go.Figure, zigzag: ZigzagView, record: TimedRecord, kind: str, colours: Mapping[str, str]
) -> None:
    """Adds a ring around a record: the answer (`kind` "hit") or the closest one ("warm")."""
    is_answer = kind == "hit"
    symbol = "circle" if is_answer else "circle-open"
    key = "zigzag.mark_answer" if is_answer else "zigzag.mark_closest"
    first = zigzag.records[0].offset
    last = zigzag.records[-1].offset
    is_left = record.offset > first + LABEL_LEFT_FROM * (last - first)
    chart.add_scatter(
        x=[record.offset],
        y=[record.timestamp_ms],
        mode="markers",
        name=symbol,
        marker={"symbol": symbol, "size": 14, "color": colours[kind], "line": {"width": 2.5}},
        hoverinfo="skip",
    )
    chart.add_annotation(
        x=record.offset,
        y=record.timestamp_ms,
        showarrow=True,
        ax=-34 if is_left else 34,
        ay=-44 if is_answer else 44,
        xanchor="right" if is_left else "left",
        arrowhead=0,
        arrowwidth=1.2,
        arrowcolor=colours[kind],
        standoff=8,
        bgcolor=colours["bg"],
        borderpad=2,
        text=f"<b>{say(key, offset=record.offset)}</b>",
        font={"size": 13, "color": colours[f"{kind}_text"]},
    )


def describe(zigzag: ZigzagView) -> str:
    return join_semicolon(
        say("zigzag.row", offset=offset, time=time, newest=newest) + (f" ({mark})" if mark else "")
        for offset, time, newest, mark in rows(zigzag)
    )


# records shown before the start of the scan and after the answer
BEFORE = 24
AFTER = 48
HEADS = ("segment.head_offset", "lookup.by_timestamp", "zigzag.head_newest", "zigzag.head_mark")


def _make(block: LessonBlock) -> ZigzagView:
    location, anatomy = block_location.anatomy(block)
    if block["by"] != "timestamp":
        raise NoValue(message("lesson.zigzag_needs_timestamp"))
    result = make_lookup(block).result
    answer = result.answer
    scan = result.scan
    segment = cast(LogSegment, location.segment)
    all_batches = anatomy.batches.all_rows()
    offsets = range(segment.base_offset, int(all_batches["last_offset"][-1]) + 1)
    if answer is None or scan is None or answer.offset not in offsets:
        raise NoValue(message("zigzag.not_here", segment=segment.name))
    start_row = np.searchsorted(all_batches["position"], scan.from_position)
    start_offset = int(all_batches["base_offset"][start_row])
    batches = all_batches[
        (all_batches["last_offset"] >= start_offset - BEFORE)
        & (all_batches["base_offset"] <= answer.offset + AFTER)
    ]
    records = tuple(
        TimedRecord(record.offset, record.timestamp_ms)
        for position in batches["position"].tolist()
        for record in segment.records(position)
    )
    earlier = all_batches[all_batches["base_offset"] < batches["base_offset"][0]]
    return view(
        target_ms=block["target"],
        records=records,
        newest_before_ms=int(earlier["max_timestamp_ms"].max(initial=-1)),
        entries=tuple(
            TimedRecord(int(entry["offset"]), int(entry["timestamp_ms"]))
            for entry in segment.time_index
            if records[0].offset <= entry["offset"] <= records[-1].offset
        ),
        start_offset=start_offset,
        answer=TimedRecord(answer.offset, answer.timestamp_ms),
        segment=f"{location.partition.directory}/{file_stem(segment.base_offset)}",
        source=block["data"],
    )


ZIGZAG = drawn_figure(
    _make,
    to_lookup,
    (figure, question_figure),
    heads=HEADS,
    rows=rows,
    kinds="rrrl",
    words=describe,
)
