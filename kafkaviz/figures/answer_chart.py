"""The answer to a query, drawn: a bar a row, or a line where the first column rises."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from kafkaviz.figures import theme
from kafkaviz.figures.questions import Question, Row, partition
from kafkaviz.units import duration, group, legible, moment, share, size
from kafkaviz.words import say

MOST_BARS = 24
ROW_PX, BOTTOM, LINE_PX = 27, 30, 300
LABEL_PX, TAIL_PX = 6.6, 6.1  # of a character
NAMES_CHARACTERS, TAIL_CHARACTERS = 34, 48
KEYS = (  # end a name that tells rows apart and measures nothing
    "partition",
    "offset",
    "position",
    "slot",
    "crc",
    "magic",
    "epoch",
    "sequence",
    "producer_id",
    "_ns",
)
SHARES = ("share", "fill", "fraction", "ratio")
TIME_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1000)
TIMES_MS = 10**11  # a number of milliseconds from here on is a moment, not a span
CALENDAR_END_MS = 253_402_300_800_000  # the year 10000: a clock in microseconds is far beyond it


@dataclass(frozen=True)
class AnswerView:
    """Bars: names and values by row, and what is written behind each.

    A line: x and values; x_column names x, "" of bars.
    """

    title: str
    below: str
    column: str
    names: tuple[str, ...]
    values: tuple[float | None, ...]
    tails: tuple[str, ...]
    x_column: str = ""
    x: tuple[float, ...] = ()


def columns(rows: pa.Table, question: Question | None = None) -> list[str]:
    """The columns that can be drawn, the one that is drawn by itself first."""
    drawn = [
        field.name
        for field in rows.schema
        if _is_number(field.type) and not field.name.endswith(KEYS)
    ]
    x = _rising(rows)
    drawn = [name for name in drawn if name != x] if x else drawn
    first = [question.value] if question and question.value in drawn else []
    return first + [name for name in drawn if name not in first]


def view(
    rows: pa.Table, question: Question | None = None, column: str | None = None
) -> AnswerView | None:
    """The answer as a figure, of this column or the first of `columns`; None where there is nothing
    to draw.
    """
    choice = columns(rows, question)
    column = column if column in choice else next(iter(choice), None)
    if column is None or not rows.num_rows:
        return None
    told = question if question and column == question.value else None
    if x := _rising(rows):
        return _line(rows, x, column, told)
    return _bars(rows, column, told)


def _bars(rows: pa.Table, column: str, told: Question | None) -> AnswerView:
    shown = rows.slice(0, MOST_BARS).to_pylist()
    names, values = _names(shown, column), [_number(row[column]) for row in shown]
    tails = [told.tail(row) if told and told.tail else said(row[column], column) for row in shown]
    title = (
        told.title(rows.to_pylist())
        if told
        else _title([_number(value) for value in rows[column].to_pylist()], column)
    )
    below = told.below if told else say("answer.of_each_row", column=column)
    if rows.num_rows > MOST_BARS:
        below = say("answer.first_rows", below=below, n=MOST_BARS, all=group(rows.num_rows))
    return AnswerView(title, below, column, tuple(names), tuple(values), tuple(tails))


def _line(rows: pa.Table, x_column: str, column: str, told: Question | None) -> AnswerView:
    pairs = [
        (float(x), _number(y))
        for x, y in zip(rows[x_column].to_pylist(), rows[column].to_pylist(), strict=True)
    ]
    is_log = _is_log([x for x, _ in pairs])
    pairs = [(x, y) for x, y in pairs if not (is_log and x <= 0)]
    names, values = [said(x, x_column) for x, _ in pairs], [y for _, y in pairs]
    title = told.title(rows.to_pylist()) if told else _title(values, column)
    below = say(
        "answer.over_log" if is_log else "answer.over",
        below=told.below if told else column,
        column=x_column,
    )
    tails = tuple(said(y, column) for y in values)
    return AnswerView(
        title,
        below,
        column,
        tuple(names),
        tuple(values),
        tails,
        x_column,
        tuple(x for x, _ in pairs),
    )


def _title(values: Sequence[float | None], column: str) -> str:
    """From where to where it goes."""
    known = [value for value in values if value is not None]
    if not known:
        return say("answer.no_number", column=column)
    low, high = said(min(known), column), said(max(known), column)
    return (
        f"{column}: {low}"
        if low == high
        else say("answer.from_to", column=column, low=low, high=high)
    )


def said(value: object, column: str) -> str:
    """A number as people read it, in the unit that the column's name tells."""
    number = _number(value)
    if number is None:
        return "–"
    words = column.lower().split("_")
    if "bytes" in words or column == "bytes":
        return size(number) if number >= 0 else f"−{size(-number)}"
    if words[-1] == "ms":
        return moment(int(number), fraction=False) if number >= TIMES_MS else duration(number)
    if words[-1] in SHARES and 0 <= number <= 1:
        return share(number, 1) if number else "0 %"
    return group(int(number)) if number == int(number) and abs(number) < 1e15 else f"{number:.4g}"


def _names(rows: Sequence[Row], column: str) -> list[str]:
    """What tells the rows apart: the topic-partition or the texts, and more columns until no two
    are the same.
    """
    if "topic" in rows[0]:
        taken, names = {"topic", "partition"}, [partition(row) for row in rows]
    else:
        texts = [
            name
            for name, value in rows[0].items()
            if isinstance(value, str) and len(value) <= NAMES_CHARACTERS
        ][:2]
        taken, names = set(texts), [" ".join(str(row[name]) for name in texts) for row in rows]
    for name in rows[0]:
        if len(set(names)) == len(names) and all(names):
            break
        varies = len({row[name] for row in rows}) > 1
        if name not in taken and name != column and varies and not isinstance(rows[0][name], float):
            names = [
                f"{said} {_short(row[name])}".strip() for said, row in zip(names, rows, strict=True)
            ]
    if len(set(names)) < len(names):
        names = [f"{number} {name}".strip() for number, name in enumerate(names, 1)]
    return [_cut(legible(name), NAMES_CHARACTERS) for name in names]


def _short(value: object) -> str:
    return group(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _cut(text: str, most: int) -> str:
    return (
        text
        if len(text) <= most
        else f"{text[: most // 3]}…{text[len(text) - most + most // 3 + 1 :]}"
    )


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _number(value: object) -> float | None:
    if (
        value is None
        or isinstance(value, (str, bool))
        or not isinstance(value, (int, float, Decimal))
    ):
        return None
    return (
        float(value) if float(value) == float(value) and abs(float(value)) != float("inf") else None
    )


def _rising(rows: pa.Table) -> str | None:
    """The first column where it is a number that rises from row to row, and no column names the
    rows.
    """
    if (
        rows.num_rows < 3
        or rows.num_columns < 2
        or any(pa.types.is_string(field.type) for field in rows.schema)
    ):
        return None
    first = rows.schema[0]
    if not (pa.types.is_integer(first.type) or pa.types.is_floating(first.type)):
        return None
    xs = rows.column(0).to_pylist()
    return (
        first.name if None not in xs and all(one < after for one, after in pairwise(xs)) else None
    )


def _is_log(xs: Sequence[float]) -> bool:
    """Whether the steps grow with x, as those of intervals do."""
    positive = [x for x in xs if x > 0]
    return (
        len(positive) > 4
        and xs[0] >= 0
        and positive[-1] > 500 * positive[0]
        and positive[0] < TIMES_MS
    )


def figure(shown: AnswerView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    return _line_figure(shown, mode) if shown.x_column else _bars_figure(shown, mode)


def _bars_figure(shown: AnswerView, mode: str) -> go.Figure:
    ink = theme.colours(mode)
    places, values = list(range(len(shown.names))), [value or 0 for value in shown.values]
    low, high = min(0, *values), max(0, *values)
    ticks = _ticks(low, high, shown.column)
    tails = [_cut(tail, TAIL_CHARACTERS) for tail in shown.tails]
    chart = go.Figure()
    chart.add_bar(
        orientation="h",
        x=values,
        y=places,
        width=18 / ROW_PX,
        marker={"color": ink["log"], "line": {"width": 0}, "cornerradius": 2},
        customdata=[f"{name}: {tail}" for name, tail in zip(shown.names, shown.tails, strict=True)],
        hovertemplate="%{customdata}<extra></extra>",
        name=shown.column,
    )
    chart.add_scatter(
        x=[max(value, 0) for value in values],
        y=places,
        mode="text",
        text=[f"  {_plain(tail)}" for tail in tails],
        hoverinfo="skip",
        textposition="middle right",
        cliponaxis=False,
        textfont={"size": 12, "color": ink["ink_2"]},
        name="in figures",
    )
    room = int(16 + TAIL_PX * max(map(len, tails)))
    chart.update_layout(
        template=theme.template(mode),
        height=ROW_PX * len(places) + BOTTOM,
        showlegend=False,
        margin={
            "l": int(18 + LABEL_PX * max(map(len, shown.names))),
            "r": room,
            "t": 2,
            "b": BOTTOM - 2,
        },
        xaxis={
            "range": [low, high or 1],
            "tickvals": ticks,
            "ticktext": [said(tick, shown.column) for tick in ticks],
            "ticks": "",
            "showline": False,
            "showgrid": True,
            "fixedrange": True,
            "title": None,
        },
        yaxis={
            "range": [len(places) - 0.5, -0.5],
            "tickvals": places,
            "ticktext": [_plain(name) for name in shown.names],
            "ticks": "",
            "showgrid": False,
            "showline": False,
            "fixedrange": True,
            "title": None,
            "automargin": False,
            "ticklabelstandoff": 6,
            "tickfont": {"size": 13, "color": ink["ink"]},
        },
    )
    return chart


def _line_figure(shown: AnswerView, mode: str) -> go.Figure:
    ink = theme.colours(mode)
    is_moment = (
        shown.x_column.endswith("_ms") and shown.x[0] >= TIMES_MS and max(shown.x) < CALENDAR_END_MS
    )
    xs = [datetime.fromtimestamp(x / 1000, UTC) for x in shown.x] if is_moment else list(shown.x)
    values = [value for value in shown.values if value is not None]
    ticks = _ticks(min(0, *values), max(0, *values), shown.column) if values else [0]
    chart = go.Figure()
    chart.add_scatter(
        x=xs,
        y=list(shown.values),
        mode="lines" if len(xs) > 60 else "lines+markers",
        line={"color": ink["log_text"], "width": 2},
        marker={"size": 5, "color": ink["log_text"]},
        name=shown.column,
        hovertemplate="%{customdata}<extra></extra>",
        customdata=[f"{name}: {tail}" for name, tail in zip(shown.names, shown.tails, strict=True)],
    )
    across: dict[str, Any] = {"title": None, "fixedrange": True, "showgrid": True}
    if not is_moment:
        marks = _marks(shown.x)
        across |= {"tickvals": marks, "ticktext": [said(mark, shown.x_column) for mark in marks]}
        across |= {"type": "log" if _is_log(shown.x) else "linear"}
    chart.update_layout(
        template=theme.template(mode),
        height=LINE_PX,
        showlegend=False,
        margin={"l": 76, "r": 24, "t": 8, "b": 34},
        xaxis=across,
        yaxis={
            "tickvals": ticks,
            "ticktext": [said(tick, shown.column) for tick in ticks],
            "title": None,
            "fixedrange": True,
            "range": [min(0, *values), 1.04 * max(0, *values) or 1] if values else [0, 1],
        },
    )
    return chart


def _ticks(low: float, high: float, column: str) -> list[float]:
    """Round places from end to end, five or so, in the unit of the column."""
    if high <= low:
        return [low]
    step = _step((high - low) / 4, column)
    return [place * step for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _step(least: float, column: str) -> float:
    """The next round number: a power of two of bytes, 1, 2 or 5 times a power of ten of others, or
    of a unit of time.
    """
    words = column.lower().split("_")
    if "bytes" in words:
        return 2.0 ** math.ceil(math.log2(least))
    unit = next((unit for unit in TIME_UNITS_MS if unit <= least), 1) if words[-1] == "ms" else 1
    power = 10.0 ** math.floor(math.log10(least / unit))
    return unit * next(
        power * times for times in (1, 2, 5, 10) if power * times * unit >= least * 0.999
    )


def _marks(xs: Sequence[float]) -> list[float]:
    """Up to nine of the x that are there."""
    every = max(1, -(-len(xs) // 9))
    return list(xs[::every])


def _plain(text: str) -> str:
    """Plotly takes tags for markup: what stands in a topic's name is text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
