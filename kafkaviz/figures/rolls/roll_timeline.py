"""The time line of rolls: each row shows how one segment fills.

Size, time and both indexes grow towards their limits. The first to reach its limit causes the roll.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.roll_history import RollHistory, SegmentHistory, fill_limits
from kafkaviz.figures import theme
from kafkaviz.figures.theme import PlainFigure
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import file_stem, format_bytes, format_count, format_percent, rate

ROWS_PER_PAGE = 10  # most segments drawn at once
ROW_PX = 26
BOX_PX = 20
STRIP_PX = 46
TOP_PX = 18
BOTTOM_PX = 42
# width of the card on a page of 1280 px; used to compute on which side texts fit
LEFT_PX = 78
RIGHT_PX = 8
WIDTH_PX = 990
NARROW_PX = 730  # width of the card on a page of 1024 px
# the place of a text at the left edge of the card, without y
AT_LEFT: dict[str, Any] = {
    "xref": "paper", "x": 0, "xshift": -LEFT_PX - 2, "xanchor": "left", "yanchor": "middle",
}  # fmt: skip
COLUMNS = ("log_bytes", "waited_ms", "offset_entries", "time_entries")
COLUMN_BY_CAUSE = {
    RollCause.SIZE: "log_bytes",
    RollCause.TIME: "waited_ms",
    RollCause.OFFSET_INDEX_FULL: "offset_entries",
    RollCause.TIME_INDEX_FULL: "time_entries",
}
TICKS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)
TICKS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, *(1000 * seconds for seconds in TICKS_S)]
MAX_TICKS = 9
ALIKE_SHARE = 0.35
BINS = 160


@dataclass(frozen=True)
class WriteSpan:
    """A period of about constant write speed. Times are ms since the log's first batch."""

    first_ms: float
    last_ms: float
    bytes_per_s: float
    batch_bytes: float


@dataclass(frozen=True, kw_only=True)
class RollRow:
    """The row of a segment. Times are ms since the log's first batch.

    `lines` has the shape (n, 5): the time, then the used share (0 to 1) of each of the four limits.
    """

    name: str
    opened_ms: int
    ended_ms: int
    lines: np.ndarray
    cause: str
    reason: str
    colour: str | None  # colour of the dot at the roll; None without a roll
    text_colour: str
    hover_lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RollTimelineView:
    """The rows of one page of the figure, and the write speed in the same period."""

    title: str
    caption: str
    rows: tuple[RollRow, ...]
    first_row: int
    count: int
    write_spans: tuple[WriteSpan, ...]
    start_ms: int
    end_ms: int


def view(
    history: RollHistory, first_row: int = 0, appended: np.ndarray | None = None
) -> RollTimelineView:
    """Returns up to `ROWS_PER_PAGE` segments, beginning with `first_row`.

    `appended` gives the write speed, as rows of roll_history.APPEND.
    """
    first_row = max(0, min(first_row, len(history.segments) - 1))
    count = len(history.segments)
    page_segments = history.segments[first_row : first_row + ROWS_PER_PAGE]
    begin_ms = history.segments[0].opened_ms if history.segments else 0
    start_ms = page_segments[0].opened_ms - begin_ms if page_segments else 0
    end_ms = max([segment.ended_ms - begin_ms for segment in page_segments], default=0)
    if len(page_segments) < count:
        end_ms = start_ms + round((end_ms - start_ms) * 1.02)
    end_ms = max(end_ms, start_ms + 1)
    write_spans = ()
    if appended is not None and len(appended):
        write_spans = _find_write_spans(appended, begin_ms, start_ms, end_ms)
    return RollTimelineView(
        title=roll_text.title(history),
        caption=_caption(first_row, len(page_segments), count),
        rows=tuple(_row(segment, history, begin_ms) for segment in page_segments),
        first_row=first_row,
        count=count,
        write_spans=write_spans,
        start_ms=start_ms,
        end_ms=end_ms,
    )


def _caption(first_row: int, row_count: int, count: int) -> str:
    if row_count >= count:
        return say("rolls.below")
    if not first_row:
        return say("rolls.below_first", drawn=row_count, count=count)
    return say("rolls.below_some", first=first_row + 1, last=first_row + row_count, count=count)


def _row(segment: SegmentHistory, history: RollHistory, begin_ms: int) -> RollRow:
    reason = roll_text.history_reason(segment)
    if segment.is_active:
        reason = format_bytes(segment.log_bytes)
    return RollRow(
        name=format_count(segment.base_offset),
        opened_ms=segment.opened_ms - begin_ms,
        ended_ms=segment.ended_ms - begin_ms,
        lines=_fill_lines(segment, history, begin_ms),
        cause=roll_text.history_cause(segment),
        reason=reason,
        colour=roll_text.COLOUR_NAMES[segment.reason.cause] if segment.reason else None,
        text_colour=roll_text.text_colour(segment),
        hover_lines=_hover_lines(segment, history),
    )


def _fill_lines(segment: SegmentHistory, history: RollHistory, begin_ms: int) -> np.ndarray:
    """Returns `RollRow.lines` of a segment. The limit that caused the roll ends at share 1."""
    limit_by_column = fill_limits(history.config)
    lines = np.zeros((len(segment.fills) + 2, 1 + len(COLUMNS)))
    times_ms = [segment.opened_ms, *segment.fills["at_ms"], segment.ended_ms]
    lines[:, 0] = np.clip(times_ms, segment.opened_ms, segment.ended_ms)
    lines[:, 0] -= begin_ms
    for line, column in enumerate(COLUMNS, start=1):
        limit = limit_by_column[column]
        lines[1:-1, line] = segment.fills[column] / limit if limit else 1
        lines[-1, line] = lines[-2, line]
        if segment.reason and COLUMN_BY_CAUSE.get(segment.reason.cause) == column:
            lines[-1, line] = 1
    return np.minimum(lines, [[np.inf, 1, 1, 1, 1]])


def _hover_lines(segment: SegmentHistory, history: RollHistory) -> tuple[str, ...]:
    config = history.config
    share = format_percent(segment.log_bytes, config.segment_bytes)
    return (
        f"<b>{file_stem(segment.base_offset)}</b>",
        say("rolls.hover_bytes", bytes=segment.log_bytes, share=share),
        say(
            "rolls.hover_slots",
            offsets=segment.offset_entries,
            offset_slots=config.offset_slots,
            times=segment.time_entries,
            time_slots=config.time_slots,
        ),
        say("rolls.hover_open", span=segment.ended_ms - segment.opened_ms),
    )


def _find_write_spans(
    appended: np.ndarray, begin_ms: int, start: int, end: int
) -> tuple[WriteSpan, ...]:
    times_ms = appended["now_ms"] - begin_ms
    is_inside = (times_ms >= start) & (times_ms <= end)
    times_ms = times_ms[is_inside]
    edges = np.linspace(start, end, BINS + 1)
    batches_per_bin, _ = np.histogram(times_ms, edges)
    bytes_per_bin, _ = np.histogram(times_ms, edges, weights=appended["size_bytes"][is_inside])
    return tuple(
        _write_span(edges, bytes_per_bin, batches_per_bin, *bins)
        for bins in _find_stretches(bytes_per_bin, batches_per_bin)
    )


def _find_stretches(
    bytes_per_bin: np.ndarray, batches_per_bin: np.ndarray
) -> list[tuple[int, int]]:
    """Returns (first bin, last bin) of each period of similar write speed and batch size.

    Bins are equally long. A bin that is similar to neither neighbour joins the period before or
    after it. If many bins are like this, or hold many bytes, all bins become one period.
    """
    bytes_before = np.append(0, np.cumsum(bytes_per_bin))
    batches_before = np.append(0, np.cumsum(batches_per_bin))

    def is_same_rate(start: int, middle: int, stop: int) -> bool:
        """Returns whether bins start:middle and middle:stop are alike in speed and batch size."""
        first_bytes, next_bytes = np.diff(bytes_before[[start, middle, stop]]).tolist()
        first_batches, next_batches = np.diff(batches_before[[start, middle, stop]]).tolist()
        is_alike = _is_alike(first_bytes / (middle - start), next_bytes / (stop - middle))
        return is_alike and _is_alike(first_bytes * next_batches, next_bytes * first_batches)

    last = len(bytes_per_bin) - 1
    stretches = [[0, 0]]
    for bin_number in range(1, last + 1):
        if is_same_rate(stretches[-1][0], bin_number, bin_number + 1):
            stretches[-1][1] = bin_number
        else:
            stretches.append([bin_number, bin_number])
    single_bins = [first_bin for first_bin, last_bin in stretches if first_bin == last_bin]
    single_bytes = bytes_per_bin[single_bins].sum()
    if len(single_bins) > BINS // 8 or single_bytes > ALIKE_SHARE * bytes_per_bin.sum():
        return [(0, last)]
    longer = [stretch for stretch in stretches if stretch[0] < stretch[1]] or [[0, last]]
    merged = longer[:1]
    for first_bin, last_bin in longer[1:]:
        merged[-1][1] = first_bin - 1
        if is_same_rate(merged[-1][0], first_bin, last_bin + 1):
            merged[-1][1] = last_bin
        else:
            merged.append([first_bin, last_bin])
    merged[0][0] = 0
    merged[-1][1] = last
    return [(first_bin, last_bin) for first_bin, last_bin in merged]


def _is_alike(first: float, second: float) -> bool:
    return abs(first - second) <= ALIKE_SHARE * max(first, second)


def _write_span(
    edges: np.ndarray, content: np.ndarray, batches: np.ndarray, first_bin: int, last_bin: int
) -> WriteSpan:
    inner_bins = slice(first_bin, last_bin + 1)
    if last_bin - first_bin > 3:
        inner_bins = slice(first_bin + 1, last_bin)
    span_ms = (edges[1] - edges[0]) * (inner_bins.stop - inner_bins.start)
    size_bytes = content[inner_bins].sum()
    return WriteSpan(
        first_ms=float(edges[first_bin]),
        last_ms=float(edges[last_bin + 1]),
        bytes_per_s=float(1000 * size_bytes / span_ms),
        batch_bytes=float(size_bytes / max(batches[inner_bins].sum(), 1)),
    )


def figure(timeline: RollTimelineView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    top_px = STRIP_PX if timeline.write_spans else TOP_PX
    height_px = top_px + ROW_PX * max(1, len(timeline.rows))
    traces = [
        *_fill_traces(timeline, top_px, colours),
        *_dot_traces(timeline, top_px, colours),
        _hover_trace(timeline, top_px),
    ]
    margin = (LEFT_PX, RIGHT_PX, 0, BOTTOM_PX)
    layout = theme.plain_layout(mode, height_px + BOTTOM_PX, margin) | {
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": _x_axis(timeline),
        "yaxis": {"range": [height_px, 0], "visible": False, "fixedrange": True},
        "shapes": [
            *_grid(timeline, top_px, height_px, colours),
            *_write_shapes(timeline, colours),
            *_row_boxes(timeline, top_px, colours),
        ],
        "annotations": [
            *_write_annotations(timeline, colours),
            *_name_annotations(timeline, top_px, colours),
            theme.axis_name(say("rolls.since_first"), colours),
            *_cause_annotations(timeline, top_px, colours),
        ],
    }
    return PlainFigure({"data": traces, "layout": layout})


def _box_top(row_number: int, top: int) -> float:
    return top + row_number * ROW_PX + 3


def _ticks(timeline: RollTimelineView) -> list[int]:
    span_ms = timeline.end_ms - timeline.start_ms
    days = units.DAY_MS * max(1, -(-span_ms // (8 * units.DAY_MS)))
    step = next((tick_ms for tick_ms in TICKS_MS if span_ms / tick_ms <= MAX_TICKS), days)
    return list(range(-(-timeline.start_ms // step) * step, timeline.end_ms + 1, step))


def _tick(ms: int) -> str:
    """Returns a time such as "1 min 15 s". With a fraction of a second, only seconds: "75.2 s"."""
    if ms % 1000:
        return f"{ms / 1000:.10g} s"
    for unit, length, smaller_unit, smaller_ms in (
        ("d", units.DAY_MS, "h", units.HOUR_MS),
        ("h", units.HOUR_MS, "min", units.MINUTE_MS),
        ("min", units.MINUTE_MS, "s", units.SECOND_MS),
    ):
        if ms >= length:
            remainder = ms % length // smaller_ms
            return f"{ms // length} {unit}{f' {remainder} {smaller_unit}' if remainder else ''}"
    return f"{ms // 1000} s" if ms else "0"


def _x_axis(timeline: RollTimelineView) -> dict:
    ticks = _ticks(timeline)
    return {
        "range": [timeline.start_ms, timeline.end_ms],
        **theme.ticks(ticks, _tick),
        **theme.PLAIN_AXIS,
        "showgrid": False,
        "ticks": "",
        "ticklabelstandoff": 4,
    }


def _grid(
    timeline: RollTimelineView, top: int, height_px: int, colours: dict[str, str]
) -> list[dict]:
    line = {"color": colours["line"], "width": 1}
    return [
        theme.straight_line(tick, tick, top, height_px + 4, line=line, layer="below")
        for tick in _ticks(timeline)
    ]


def _write_shapes(timeline: RollTimelineView, colours: dict[str, str]) -> list[dict]:
    most_bytes_per_s = max((span.bytes_per_s for span in timeline.write_spans), default=0) or 1
    gap = 2 * (timeline.end_ms - timeline.start_ms) / WIDTH_PX
    return [
        theme.area(
            colours["scan_soft"],
            x0=span.first_ms,
            x1=max(span.first_ms, span.last_ms - gap),
            y0=34,
            y1=34 - (4 + 24 * span.bytes_per_s / most_bytes_per_s),
        )
        for span in timeline.write_spans
        if span.bytes_per_s
    ]


def _write_annotations(timeline: RollTimelineView, colours: dict[str, str]) -> list[dict]:
    if not timeline.write_spans:
        return []
    pixels = (WIDTH_PX - LEFT_PX - RIGHT_PX) / (timeline.end_ms - timeline.start_ms)
    annotations = [theme.note(say("rolls.written"), colours["ink_3"], y=12, **AT_LEFT)]
    for span in timeline.write_spans:
        width_px = (span.last_ms - span.first_ms) * pixels
        if width_px <= 110 or not span.bytes_per_s:
            continue
        speed = rate(span.bytes_per_s)
        text = say("rolls.written_in", speed=speed, batch=round(span.batch_bytes))
        if width_px <= _width_px(text) + 10:
            text = speed
        place = {"x": span.first_ms, "xanchor": "left", "xshift": 5, "yanchor": "middle"}
        annotations.append(theme.note(text, colours["scan_text"], y=24) | place)
    return annotations


def _width_px(text: str) -> int:
    return sum(12 if character > "\u2e7f" else 6 for character in text)


def _row_boxes(timeline: RollTimelineView, top: int, colours: dict[str, str]) -> list[dict]:
    boxes = []
    for row_number, row in enumerate(timeline.rows):
        line = {"color": colours["line"], "width": 1, "dash": "solid"}
        if row.colour is None:  # the segment is still open
            line = {"color": colours["ink_3"], "width": 1, "dash": "4px,3px"}
        y = _box_top(row_number, top)
        box = theme.rectangle(row.opened_ms, _row_end(row, timeline), y, y + BOX_PX, line=line)
        boxes.append(box | {"fillcolor": colours["panel"], "layer": "below"})
    return boxes


def _row_end(row: RollRow, timeline: RollTimelineView) -> float:
    """Returns where the bar of a row ends, in ms. The bar is drawn at least 2 px wide."""
    return max(row.ended_ms, row.opened_ms + 2 * (timeline.end_ms - timeline.start_ms) / WIDTH_PX)


def _fill_traces(timeline: RollTimelineView, top: int, colours: dict[str, str]) -> list[dict]:
    xs = []
    ys = [[], [], [], []]
    area_x = []
    area_y = []
    for row_number, row in enumerate(timeline.rows):
        bottom = _box_top(row_number, top) + BOX_PX
        xs += [*row.lines[:, 0].tolist(), None]
        for column in range(4):
            ys[column] += [*(bottom - BOX_PX * row.lines[:, column + 1]).tolist(), None]
        area_x += [*row.lines[:, 0].tolist(), row.ended_ms, row.opened_ms, None]
        area_y += [*(bottom - BOX_PX * row.lines[:, 1]).tolist(), bottom, bottom, None]
    plain = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "cliponaxis": False}
    area = {"fill": "toself", "fillcolor": theme.fade(colours["log"], 0.4), "line": {"width": 0}}
    traces = [plain | area | {"name": "size", "x": area_x, "y": area_y}]
    for number, (name, colour, width_px, dash) in enumerate(
        (
            ("time", "ink_2", 1.3, "4px,3px"),
            ("offset index", "offset", 1.7, "solid"),
            ("time index", "time", 1.7, "solid"),
        ),
        start=1,
    ):
        line = {"color": colours[colour], "width": width_px, "dash": dash}
        traces.append(plain | {"x": xs, "y": ys[number], "name": name, "line": line})
    return traces


def _dot_traces(timeline: RollTimelineView, top: int, colours: dict[str, str]) -> list[dict]:
    rows = [(number, row) for number, row in enumerate(timeline.rows) if row.colour]
    if not rows:
        return []
    marker = {
        "size": 8.4,
        "color": [colours[cast(str, row.colour)] for _, row in rows],
        "line": {"color": colours["raised"], "width": 1.2},
    }
    dots = {
        "type": "scatter",
        "x": [_row_end(row, timeline) for _, row in rows],
        "y": [_box_top(number, top) for number, _ in rows],
        "mode": "markers",
        "marker": marker,
        "name": "roll",
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    return [dots]


def _hover_trace(timeline: RollTimelineView, top: int) -> dict:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [row.opened_ms for row in timeline.rows],
        "x": [_row_end(row, timeline) - row.opened_ms for row in timeline.rows],
        "opacity": 0,
        "width": BOX_PX,
        "name": "segments",
        "y": [_box_top(number, top) + BOX_PX / 2 for number in range(len(timeline.rows))],
        **theme.hover(["<br>".join(row.hover_lines) for row in timeline.rows]),
    }


def _name_annotations(timeline: RollTimelineView, top: int, colours: dict[str, str]) -> list[dict]:
    names = [theme.note(say("ceiling_cases.base"), colours["ink_3"], y=top - 7, **AT_LEFT)]
    for number, row in enumerate(timeline.rows):
        y = _box_top(number, top) + BOX_PX / 2
        name = theme.note(row.name, colours["ink_2"], y=y, **AT_LEFT)
        name["font"]["family"] = "Source Code Pro, monospace"
        names.append(name)
    return names


def _cause_annotations(timeline: RollTimelineView, top: int, colours: dict[str, str]) -> list[dict]:
    pixels = (NARROW_PX - LEFT_PX - RIGHT_PX) / (timeline.end_ms - timeline.start_ms)
    annotations = []
    for row_number, row in enumerate(timeline.rows):
        words_px = _width_px(f"{row.cause}  {row.reason}") + 9
        x = _row_end(row, timeline)
        is_right = (timeline.end_ms - x) * pixels > words_px
        if not is_right and (row.opened_ms - timeline.start_ms) * pixels >= words_px:
            x = row.opened_ms  # otherwise a text that does not fit on the right is inside the row
        text = f'<span style="color:{colours[row.text_colour]}"><b>{row.cause}</b></span>'
        annotations.append(
            theme.note(
                f"{text}  {row.reason}",
                colours["ink_2"],
                12.5,
                x=x,
                xanchor="left" if is_right else "right",
                xshift=9 if is_right else -9,
                y=_box_top(row_number, top) + BOX_PX / 2,
                yanchor="middle",
            )
        )
    return annotations


def page_slices(count: int) -> list[tuple[int, int]]:
    """Returns the first and last row of each page. Rows count from 0."""
    starts = [*range(0, max(count, 1), ROWS_PER_PAGE), count]
    return [(low, high - 1) for low, high in pairwise(starts)]
