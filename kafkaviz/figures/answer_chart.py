"""The chart of a query's result: bars, or a line if the values of the first column rise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

import pyarrow as pa

from kafkaviz.figures import theme
from kafkaviz.figures.questions import AnswerRow, Question, partition_name
from kafkaviz.figures.theme import PlainFigure
from kafkaviz.messages import say
from kafkaviz.units import (
    duration,
    escape_controls,
    format_bytes,
    format_count,
    format_percent,
    moment,
)

MAX_BARS = 24
ROW_PX = 27
BOTTOM = 30
LINE_PX = 300
LABEL_PX = 6.6  # width of a character of a name
TAIL_PX = 6.1  # width of a character of a tail
NAMES_CHARACTERS = 34
TAIL_CHARACTERS = 48
# endings of the names of columns that identify rows and measure nothing
KEY_SUFFIXES = (
    "partition", "offset", "position", "slot", "crc", "magic", "epoch", "sequence", "producer_id",
    "_ns",
)  # fmt: skip
SHARE_NAMES = ("share", "fill", "fraction", "ratio")
TIME_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1000)
TIMES_MS = 10**11  # from this value on, a number of milliseconds is a time and not a duration
CALENDAR_END_MS = 253_402_300_800_000  # the year 10000; a time in microseconds is far beyond it


@dataclass(frozen=True, kw_only=True)
class AnswerView:
    """A chart of a query's result: a line if `x_column` is given, else bars."""

    title: str
    caption: str
    column: str
    # names, values, tails: name, value and text of each bar or point
    names: tuple[str, ...]
    values: tuple[float | None, ...]
    tails: tuple[str, ...]
    x_column: str = ""  # the column of the x axis; "" for bars
    x: tuple[float, ...] = ()  # one number per point; empty for bars


def drawable_columns(rows: pa.Table, question: Question | None = None) -> list[str]:
    """Returns the names of the columns that can be drawn. The first name is the default."""
    drawable = [
        field.name
        for field in rows.schema
        if is_number(field.type) and not field.name.endswith(KEY_SUFFIXES)
    ]
    x = _rising_column(rows)
    preferred = question.value if question else None
    # the preferred column first, the others in their order
    return sorted((name for name in drawable if name != x), key=lambda name: name != preferred)


def view(
    rows: pa.Table, question: Question | None = None, column: str | None = None
) -> AnswerView | None:
    """Returns the chart of `column`, by default the first drawable one. None: nothing to draw."""
    drawable = drawable_columns(rows, question)
    column = column if column in drawable else next(iter(drawable), None)
    if column is None or not rows.num_rows:
        return None
    drawn_question = question if question and column == question.value else None
    if x := _rising_column(rows):
        return _line(rows, x, column, drawn_question)
    return _bars(rows, column, drawn_question)


def _bars(rows: pa.Table, column: str, drawn_question: Question | None) -> AnswerView:
    drawn_rows = rows.slice(0, MAX_BARS).to_pylist()
    tails = [format_value(row[column], column) for row in drawn_rows]
    if drawn_question:
        title = drawn_question.title(rows.to_pylist())
        caption = drawn_question.caption
        if drawn_question.tail:
            tails = map(drawn_question.tail, drawn_rows)
    else:
        title = _title([_number(value) for value in rows[column].to_pylist()], column)
        caption = say("answer_chart.of_each_row", column=column)
    if rows.num_rows > MAX_BARS:
        caption = say("answer_chart.first_rows", below=caption, n=MAX_BARS, all=rows.num_rows)
    return AnswerView(
        title=title,
        caption=caption,
        column=column,
        names=tuple(_row_names(drawn_rows, column)),
        values=tuple(_number(row[column]) for row in drawn_rows),
        tails=tuple(tails),
    )


def _line(
    rows: pa.Table, x_column: str, column: str, drawn_question: Question | None
) -> AnswerView:
    points = [
        (float(x), _number(y))
        for x, y in zip(rows[x_column].to_pylist(), rows[column].to_pylist(), strict=True)
    ]
    is_log = _is_log([x for x, _ in points])
    points = [(x, y) for x, y in points if not (is_log and x <= 0)]
    values = tuple(y for _, y in points)
    title = drawn_question.title(rows.to_pylist()) if drawn_question else _title(values, column)
    caption = say(
        "answer_chart.over_log" if is_log else "answer_chart.over",
        below=drawn_question.caption if drawn_question else column,
        column=x_column,
    )
    return AnswerView(
        title=title,
        caption=caption,
        column=column,
        names=tuple(format_value(x, x_column) for x, _ in points),
        values=values,
        tails=tuple(format_value(y, column) for y in values),
        x_column=x_column,
        x=tuple(x for x, _ in points),
    )


def _title(values: Sequence[float | None], column: str) -> str:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return say("answer_chart.no_number", column=column)
    low = format_value(min(numbers), column)
    high = format_value(max(numbers), column)
    if low == high:
        return f"{column}: {low}"
    return say("answer_chart.from_to", column=column, low=low, high=high)


def format_value(value: object, column: str) -> str:
    """Formats a number in the unit that the column's name implies, such as "log_bytes"."""
    number = _number(value)
    if number is None:
        return "–"
    name_parts = column.lower().split("_")
    if "bytes" in name_parts or column == "bytes":
        return format_bytes(number) if number >= 0 else f"−{format_bytes(-number)}"
    if name_parts[-1] == "ms":
        return moment(int(number), fraction=False) if number >= TIMES_MS else duration(number)
    if name_parts[-1] in SHARE_NAMES and 0 <= number <= 1:
        return format_percent(number, 1) if number else "0 %"
    is_count = number == int(number) and abs(number) < 1e15
    return format_count(int(number)) if is_count else f"{number:.4g}"


def _row_names(rows: Sequence[AnswerRow], column: str) -> list[str]:
    if "topic" in rows[0]:
        used_columns = {"topic", "partition"}
        names = [partition_name(row) for row in rows]
    else:
        texts = [
            name
            for name, value in rows[0].items()
            if isinstance(value, str) and len(value) <= NAMES_CHARACTERS
        ][:2]
        used_columns = set(texts)
        names = [" ".join(str(row[name]) for name in texts) for row in rows]
    for name in rows[0]:
        if len(set(names)) == len(names) and all(names):
            break
        is_varying = len({row[name] for row in rows}) > 1
        is_free = name not in used_columns and name != column
        if is_free and is_varying and not isinstance(rows[0][name], float):
            names = [
                f"{row_name} {_short_text(row[name])}".strip()
                for row_name, row in zip(names, rows, strict=True)
            ]
    if len(set(names)) < len(names):
        names = [f"{number} {name}".strip() for number, name in enumerate(names, 1)]
    return [_shorten(escape_controls(name), NAMES_CHARACTERS) for name in names]


def _short_text(value: object) -> str:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return format_count(value) if is_count else str(value)


def _shorten(text: str, most_characters: int) -> str:
    if len(text) <= most_characters:
        return text
    first = most_characters // 3
    return f"{text[:first]}…{text[len(text) - most_characters + first + 1 :]}"


def is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    return float(value) if math.isfinite(value) else None


def _rising_column(rows: pa.Table) -> str | None:
    """Returns the name of the first column if its numbers rise from row to row, else None.

    Returns None if there are fewer than 3 rows, only one column, or a column of text.
    """
    has_text = any(pa.types.is_string(field.type) for field in rows.schema)
    if rows.num_rows < 3 or rows.num_columns < 2 or has_text:
        return None
    first_field = rows.schema[0]
    if not (pa.types.is_integer(first_field.type) or pa.types.is_floating(first_field.type)):
        return None
    xs = rows.column(0).to_pylist()
    if None not in xs and all(before < after for before, after in pairwise(xs)):
        return first_field.name
    return None


def _is_log(xs: Sequence[float]) -> bool:
    positive = [x for x in xs if x > 0]
    if len(positive) <= 4 or xs[0] < 0:
        return False
    return positive[-1] > 500 * positive[0] and positive[0] < TIMES_MS


def figure(answer: AnswerView, mode: str) -> PlainFigure:
    return _line_figure(answer, mode) if answer.x_column else _bars_figure(answer, mode)


def _bars_figure(answer: AnswerView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    indexes = list(range(len(answer.names)))
    values = [value or 0 for value in answer.values]
    low = min(0, *values)
    high = max(0, *values)
    ticks = _round_ticks(low, high, answer.column)
    tails = [_shorten(tail, TAIL_CHARACTERS) for tail in answer.tails]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": indexes,
        "width": 18 / ROW_PX,
        "marker": {"color": colours["log"], "line": {"width": 0}, "cornerradius": 2},
        "name": answer.column,
        **theme.hover(_hover_texts(answer)),
    }
    tail_texts = {
        "type": "scatter",
        "x": [max(value, 0) for value in values],
        "y": indexes,
        "mode": "text",
        "text": [f"  {escape(tail, quote=False)}" for tail in tails],
        "hoverinfo": "skip",
        "textposition": "middle right",
        "cliponaxis": False,
        "textfont": {"size": 12, "color": colours["ink_2"]},
        "name": "in figures",
    }
    left_px = int(18 + LABEL_PX * max(map(len, answer.names)))
    right_px = int(16 + TAIL_PX * max(map(len, tails)))
    margin = (left_px, right_px, 2, BOTTOM - 2)
    layout = theme.plain_layout(mode, ROW_PX * len(indexes) + BOTTOM, margin) | {
        "xaxis": {
            "range": [low, high or 1],
            **theme.ticks(ticks, partial(format_value, column=answer.column)),
            "ticks": "",
            "showline": False,
            "showgrid": True,
            "fixedrange": True,
        },
        "yaxis": {
            "range": [len(indexes) - 0.5, -0.5],
            "tickvals": indexes,
            "ticktext": [escape(name, quote=False) for name in answer.names],
            "ticks": "",
            "showgrid": False,
            "showline": False,
            "fixedrange": True,
            "automargin": False,
            "ticklabelstandoff": 6,
            "tickfont": {"size": 13, "color": colours["ink"]},
        },
    }
    return PlainFigure({"data": [bars, tail_texts], "layout": layout})


def _line_figure(answer: AnswerView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    is_time = answer.x_column.endswith("_ms") and answer.x[0] >= TIMES_MS
    is_moment = is_time and max(answer.x) < CALENDAR_END_MS
    xs = list(answer.x)
    if is_moment:
        xs = [datetime.fromtimestamp(x / 1000, UTC).isoformat() for x in answer.x]
    values = [value for value in answer.values if value is not None]
    ticks = _round_ticks(min(0, *values), max(0, *values), answer.column) if values else [0]
    line = {
        "type": "scatter",
        "x": xs,
        "y": list(answer.values),
        "mode": "lines" if len(xs) > 60 else "lines+markers",
        "line": {"color": colours["log_text"], "width": 2},
        "marker": {"size": 5, "color": colours["log_text"]},
        "name": answer.column,
        **theme.hover(_hover_texts(answer)),
    }
    x_axis: dict[str, Any] = {"fixedrange": True, "showgrid": True}
    if not is_moment:
        x_ticks = answer.x[:: math.ceil(len(answer.x) / 9)]
        x_axis |= theme.ticks(x_ticks, partial(format_value, column=answer.x_column))
        x_axis |= {"type": "log" if _is_log(answer.x) else "linear"}
    layout = theme.plain_layout(mode, LINE_PX, (76, 24, 8, 34)) | {
        "xaxis": x_axis,
        "yaxis": {
            **theme.ticks(ticks, partial(format_value, column=answer.column)),
            "fixedrange": True,
            "range": [min(0, *values), 1.04 * max(0, *values) or 1] if values else [0, 1],
        },
    }
    return PlainFigure({"data": [line], "layout": layout})


def _hover_texts(answer: AnswerView) -> list[str]:
    return [f"{name}: {tail}" for name, tail in zip(answer.names, answer.tails, strict=True)]


def _round_ticks(low: float, high: float, column: str) -> list[float]:
    if high <= low:
        return [low]
    step = _round_step((high - low) / 4, column)
    return [index * step for index in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _round_step(least_step: float, column: str) -> float:
    """Returns a round distance between two ticks, at least `least_step`.

    For bytes, the distance is a power of two. For other numbers, the distance is 1, 2 or 5 times a
    power of ten. A distance in ms is counted in a unit such as minutes.
    """
    name_parts = column.lower().split("_")
    if "bytes" in name_parts:
        return 2.0 ** math.ceil(math.log2(least_step))
    unit = 1
    if name_parts[-1] == "ms":
        unit = next((unit for unit in TIME_UNITS_MS if unit <= least_step), 1)
    power = 10.0 ** math.floor(math.log10(least_step / unit))
    return unit * next(
        power * factor for factor in (1, 2, 5, 10) if power * factor * unit >= least_step * 0.999
    )
