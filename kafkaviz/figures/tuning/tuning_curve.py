"""A chart of the headers that lookups read, for each value of index.interval.bytes.

Vertical lines mark today's interval and the interval to compare it with. The headers are counted.
The p99 lookup time next to each line is modelled. If the user sets a limit for the p99 time (a
budget), a band shows how many headers can be read in that time, also modelled.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import plotly.graph_objects as go

from kafkaviz import config_def
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost
from kafkaviz.figures import theme
from kafkaviz.figures.tuning.tuning_verdict import headers_text, range_text
from kafkaviz.messages import say
from kafkaviz.render.sentences import end_sentence, join_sentences
from kafkaviz.units import format_bytes, format_count, format_percent, format_us

MIN_X = 64  # start of the axis; every batch has a header of 61 bytes
MAX_X = 4 << 20  # end of the axis; by default Kafka refuses batches of 4 MiB
X_TICKS = [64 << 4 * power for power in range(5)]
HEADER_TICKS = [*(step * 10**power for power in range(5) for step in (1, 2, 5)), 100_000]
HEIGHT_PX = 280
LEFT = 58
RIGHT = 92
TOP = 28
BOTTOM = 40
LINE_PX = 16
FOOT_PX = 2
# below this relative difference in mean headers, the index on disk counts as equal to the replay
ALIKE_SHARE = 0.1
CLOSE_RATIO = 8  # if the ratio of two intervals is smaller, the labels of their marks would overlap
# from this interval on, the name of the considered interval is on the left of its line, because the
# curve is high on the right; for smaller intervals, a narrow window has no room on the left
LEFT_BYTES = 8192
# columns of sweep.SWEEP that are also fields of the view
ROW_COLUMNS = ("headers_mean", "headers_p50", "headers_p99")
COMPARED_BYTES = 65_536  # today's interval is compared with this one if no other is considered


@dataclass(frozen=True, kw_only=True)
class CurveMark:
    """Today's or the considered interval, which the figure marks."""

    interval_bytes: int
    x_bytes: int  # the interval, limited to the axis from `MIN_X` to `MAX_X`
    headers_mean: float
    headers_p99: float
    p99_text: str  # the typical p99 time of a lookup with the log in memory, such as "≈ 12 µs"
    name: str


@dataclass(frozen=True, kw_only=True)
class TuningCurveView:
    """The headers that lookups read at each interval. Each array has one value per interval."""

    title: str
    caption: str
    intervals: np.ndarray
    headers_mean: np.ndarray
    headers_p50: np.ndarray
    headers_p99: np.ndarray
    hover_texts: tuple[str, ...]
    today: CurveMark
    considered: CurveMark | None
    # the size of the smallest batch; None if unknown; all smaller intervals have the same effect
    least_batch_bytes: int | None
    # how many headers can be read within the p99 budget: `low` at the model's highest time per
    # header, `high` at its lowest; None without a budget
    budget: Range | None
    budget_text: str

    @property
    def marks(self) -> list[CurveMark]:
        return [mark for mark in (self.today, self.considered) if mark]


def view(
    costs_by_interval: Sequence[IntervalCost],
    current: IntervalCost,
    considered_bytes: int,
    *,
    least_batch_bytes: int | None,
    budgets: Budgets,
    costs: LookupCosts,
    is_today_known: bool = True,
    headline: str = "",
) -> TuningCurveView:
    """Returns the curve of headers per lookup over the interval.

    Args:
        costs_by_interval: the costs of each computed interval, including the considered one.
        current: the costs of the index on disk, which has today's interval.
        is_today_known: whether today's interval is known; otherwise it is inferred or assumed.
        headline: the title; if it is "", the title compares both intervals.
    """
    by_interval = {cost.interval_bytes: cost for cost in costs_by_interval}
    considered = by_interval[considered_bytes]
    if considered_bytes == current.interval_bytes:
        considered = current
    compared = considered if considered is not current else _comparison_point(by_interval, current)
    drawn = [cost for cost in costs_by_interval if MIN_X <= cost.interval_bytes <= MAX_X]
    columns = {name: np.array([cost.row[name] for cost in drawn]) for name in ROW_COLUMNS}
    budget = _budget_headers(budgets, costs)
    comparison = _title(current, compared)
    texts = [comparison if headline else "", _bytes_text(current, compared)]
    texts = [*map(end_sentence, texts), say("curves.band")]
    if _is_drawn(budget, most_headers(columns["headers_p99"])):
        texts.append(say("curves.below_budget"))
    if least_batch_bytes is not None and least_batch_bytes > MIN_X:
        texts.append(say("curves.plateau", bytes=least_batch_bytes))
    return TuningCurveView(
        title=headline or comparison,
        caption=join_sentences(texts),
        intervals=np.array([cost.interval_bytes for cost in drawn]),
        **columns,
        hover_texts=tuple(map(_hover_text, drawn)),
        today=_curve_mark(current, "curves.today" if is_today_known else "curves.today_unknown"),
        considered=None if considered is current else _curve_mark(considered, "curves.considered"),
        least_batch_bytes=least_batch_bytes,
        budget=budget,
        budget_text=say("curves.budget", us=f"{budgets.p99_us:g}") if budget else "",
    )


def before_sweep(curve: TuningCurveView) -> TuningCurveView:
    """Returns the curve to show before other intervals are measured: only today's interval."""
    is_today = curve.intervals == curve.today.interval_bytes
    today = format_count(curve.today.interval_bytes)
    return replace(
        curve,
        title=say("curves.headers_today", interval=today),
        caption=say("curves.band"),
        **{name: getattr(curve, name)[is_today] for name in ("intervals", *ROW_COLUMNS)},
        hover_texts=tuple(compress(curve.hover_texts, is_today)),
        considered=None,
        least_batch_bytes=None,
        budget=None,
    )


def _comparison_point(
    by_interval: Mapping[int, IntervalCost], current: IntervalCost
) -> IntervalCost:
    """Returns the costs to compare with today's, if the user considers no other interval.

    If the index on disk differs from a replay with today's interval, returns the replay's costs.
    Otherwise returns the costs of the first interval from 64 KiB on.
    """
    replayed_current = by_interval.get(current.interval_bytes, current)
    if _differs_on_disk(replayed_current, current):
        return replayed_current
    longer = (cost for interval, cost in by_interval.items() if interval >= COMPARED_BYTES)
    return next(longer, current)


def _differs_on_disk(replayed_current: IntervalCost, current: IntervalCost) -> bool:
    """Returns whether mean headers on disk and in the replay differ by `ALIKE_SHARE` or more."""
    on_disk = max(float(current.row["headers_mean"]), 1e-9)
    return abs(float(replayed_current.row["headers_mean"]) / on_disk - 1) >= ALIKE_SHARE


def _curve_mark(interval_cost: IntervalCost, key: str) -> CurveMark:
    interval_bytes = interval_cost.interval_bytes
    return CurveMark(
        interval_bytes=interval_bytes,
        x_bytes=min(max(interval_bytes, MIN_X), MAX_X),
        headers_mean=float(interval_cost.row["headers_mean"]),
        headers_p99=float(interval_cost.row["headers_p99"]),
        p99_text=f"≈ {format_us(interval_cost.p99_us.typical)}",
        name=say(key, interval=format_bytes(interval_bytes)),
    )


def _budget_headers(budgets: Budgets, costs: LookupCosts) -> Range | None:
    if budgets.p99_us is None:
        return None
    prices = zip(costs.first_us, costs.header_us, strict=True)
    cheap, typical, dear = (
        max((budgets.p99_us - first_us) / header_us, 0.0) for first_us, header_us in prices
    )
    return Range(dear, typical, cheap)


def _title(current: IntervalCost, compared: IntervalCost) -> str:
    """Returns the title: "A lookup reads 3.7 headers at 4 KiB, and 8.9 headers at 16 KiB"."""
    is_replay = compared.interval_bytes == current.interval_bytes
    key = "headers_on_disk" if is_replay and _differs_on_disk(compared, current) else "headers"
    return say(
        f"curves.{key}_title",
        now=headers_text(float(current.row["headers_mean"])),
        then=headers_text(float(compared.row["headers_mean"])),
        today=format_bytes(current.interval_bytes),
        other=format_bytes(compared.interval_bytes),
    )


def _bytes_text(current: IntervalCost, compared: IntervalCost) -> str:
    before = int(current.row["index_bytes"])
    after = int(compared.row["index_bytes"])
    key = ("stays", "grows", "shrinks")[int(np.sign(after - before))]
    return say(f"curves.index_{key}", before=format_bytes(before), after=format_bytes(after))


def _hover_text(interval_cost: IntervalCost) -> str:
    row = interval_cost.row
    mean = headers_text(row["headers_mean"])
    headers = say("curves.told_headers", headers=mean, p99=int(row["headers_p99"]))
    entries = say(
        "curves.hover_entries",
        offsets=int(row["entries"]),
        times=interval_cost.time_entries,
        size=int(row["index_bytes"]),
    )
    times = say(
        "curves.told_time", mean=interval_cost.mean_us.typical, p99=interval_cost.p99_us.typical
    )
    name = f"<b>{format_count(interval_cost.interval_bytes)} B</b>"
    return "<br>".join((name, headers, entries, times))


QUANTILES = ("headers_p50", "headers_p90", "headers_p99", "headers_max")
# the columns of the CSV file
COLUMNS = (
    "interval_bytes", "entries", "index_bytes", "index_percent", "headers_mean", *QUANTILES,
    "skipped_bytes_mean", "warm_p99_us_low", "warm_p99_us", "warm_p99_us_high",
    "cold_mean_us_low", "cold_mean_us", "cold_mean_us_high",
)  # fmt: skip


def rows(costs_by_interval: Sequence[IntervalCost]) -> list[tuple]:
    """Returns one row of unformatted numbers per interval.

    A row has the interval, the entries and bytes of the indexes, the batch headers and bytes that
    lookups read, and modelled times in µs.
    """
    return [
        (
            cost.interval_bytes,
            int(cost.row["entries"]),
            int(cost.row["index_bytes"]),
            round(100 * cost.index_share, 4),
            round(float(cost.row["headers_mean"]), 3),
            *(int(cost.row[name]) for name in QUANTILES),
            round(float(cost.row["skipped_bytes_mean"]), 1),
            *(round(us, 2) for us in cost.p99_us),
            *(round(us, 1) for us in cost.cold_mean_us),
        )
        for cost in costs_by_interval
    ]


# the columns of the table, by the keys of their heads
CELLS: dict[str, Callable[[IntervalCost], str]] = {
    "tuning.head_interval": lambda cost: format_count(cost.interval_bytes),
    "tuning.head_entries": lambda cost: format_count(int(cost.row["entries"])),
    "common.both_indexes": lambda cost: format_bytes(int(cost.row["index_bytes"])),
    "report.of_the_log": lambda cost: format_percent(cost.index_share, 1),
    "tuning.head_headers_mean": lambda cost: f"{cost.row['headers_mean']:.1f}",
    "p50": lambda cost: format_count(int(cost.row["headers_p50"])),
    "p99": lambda cost: format_count(int(cost.row["headers_p99"])),
    "cli_tune.head_max": lambda cost: format_count(int(cost.row["headers_max"])),
    "tuning.head_warm_p99": lambda cost: range_text(cost.p99_us),
}


def table(
    costs_by_interval: Sequence[IntervalCost], today_bytes: int, *, has_share: bool = False
) -> tuple[list[str], list[Sequence[str]], int]:
    """Returns the heads and the rows of a table of all intervals, and the index of today's row.

    `has_share`: whether to add a column with the size of the indexes as a share of the log.
    """
    heads = [head for head in CELLS if has_share or head != "report.of_the_log"]
    cells: list[Sequence[str]] = [
        tuple(CELLS[head](cost) for head in heads) for cost in costs_by_interval
    ]
    intervals = [cost.interval_bytes for cost in costs_by_interval]
    texts = [say(head) if "." in head else head for head in heads]
    return texts, cells, intervals.index(today_bytes)


def most_headers(headers_p99: np.ndarray) -> float:
    return max(12.0, 1.3 * float(headers_p99.max(initial=1)))


def _is_drawn(budget: Range | None, most: float) -> bool:
    """Returns whether the band for the p99 budget is on the axis, from 1 to `most` headers."""
    return budget is not None and budget.low < most and budget.high > 1


def figure(curve: TuningCurveView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    scan = colours["scan"]
    most = most_headers(curve.headers_p99)
    p50 = np.maximum(curve.headers_p50, 1)
    p99 = np.maximum(curve.headers_p99, 1)
    mean = np.maximum(curve.headers_mean, 1)
    p99_line = {"color": scan, "width": 1.4, "dash": "5px,3px"}
    band = {"fill": "tonexty", "fillcolor": theme.fade(scan, 0.16)}
    line_names = [
        (text, float(line[-1]), "scan_text")
        for text, line in (("p99", p99), (f"<b>{say('curves.mean')}</b>", mean))
        if len(line)
    ]
    budget = curve.budget if _is_drawn(curve.budget, most) else None
    if budget:
        typical = float(np.clip(budget.typical, 1, most))
        line_names.append((f"<b>{curve.budget_text}</b>", typical, "warning_text"))
    most_power = float(np.log10(most))
    height_px = HEIGHT_PX - TOP - BOTTOM
    name_places = (
        (text, colours[colour], height_px * (1 - np.log10(value) / most_power))
        for text, value, colour in line_names
    )
    chart = go.Figure(
        [
            _curve_line(curve, p50, "median", {"width": 0}),
            _curve_line(curve, p99, "p99", p99_line) | band,
            _curve_line(curve, mean, "mean", {"color": scan, "width": 2.6}),
            _hover_points(curve, mean),
            _dots(curve, "headers_mean", "marks", colours),
            _dots(curve, "headers_p99", "marks of the p99", colours),
        ]
    )
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (LEFT, RIGHT, TOP, BOTTOM)),
        hovermode="x",
        hoverdistance=24,
        clickmode="event+select",
        dragmode=False,
        xaxis={
            "type": "log",
            "range": np.log10([MIN_X, MAX_X]).tolist(),
            **theme.ticks(X_TICKS, format_bytes),
            **theme.outside_ticks(colours),
            **theme.PLAIN_AXIS,
            "showspikes": False,
            "automargin": False,
            "hoverformat": ".0f",
        },
        yaxis={
            "type": "log",
            "range": [0.0, most_power],
            **theme.ticks([value for value in HEADER_TICKS if value <= most], format_count),
            **theme.grid_lines(colours),
            **theme.PLAIN_AXIS,
            "automargin": False,
        },
        shapes=[
            *_plateau(curve, colours),
            *_budget_shapes(budget, colours),
            *_mark_lines(curve, colours),
        ],
        annotations=[
            *theme.line_names(name_places, height_px, gap_px=LINE_PX),
            *_mark_annotations(curve, colours),
            *_p99_texts(curve, colours),
            theme.axis_name(config_def.label("index.interval.bytes"), colours),
            theme.vertical_axis_name(say("curves.axis_headers"), colours, left_px=LEFT, y=1),
        ],
    )


def _curve_line(curve: TuningCurveView, y: np.ndarray, name: str, line: dict) -> dict:
    place = {"type": "scatter", "x": curve.intervals, "y": y, "mode": "lines"}
    return place | {"line": line, "hoverinfo": "skip", "name": name}


def _hover_points(curve: TuningCurveView, y: np.ndarray) -> dict:
    """Returns invisible points, one per interval, that hold the interval and a hover text."""
    intervals = curve.intervals.tolist()
    invisible = {"marker": {"opacity": 0}}
    return {
        "type": "scatter",
        "x": intervals,
        "y": y.tolist(),
        "mode": "markers",
        "marker": {"size": 6, "opacity": 0},
        "selected": invisible,
        "unselected": invisible,
        "name": "points",
        "customdata": list(map(list, zip(intervals, curve.hover_texts, strict=True))),
        "hovertemplate": "%{customdata[1]}<extra></extra>",
    }


def _dots(curve: TuningCurveView, column: str, name: str, colours: dict[str, str]) -> dict:
    """Returns a dot for each mark on the line of `column`. The dots do not fade after a click."""
    opaque = {"opacity": 1}
    outline = {"color": colours["raised"], "width": 2}
    return {
        "type": "scatter",
        "x": [mark.x_bytes for mark in curve.marks],
        "y": [max(getattr(mark, column), 1) for mark in curve.marks],
        "mode": "markers",
        "marker": {"size": 10, "color": colours["scan"], "line": outline} | opaque,
        "selected": {"marker": opaque},
        "unselected": {"marker": opaque},
        "name": name,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _p99_texts(curve: TuningCurveView, colours: dict[str, str]) -> list[dict]:
    """Returns labels of the p99 time at today's and the considered interval, left of each line."""
    return [
        theme.note(
            mark.p99_text,
            colours["scan_text"],
            x=float(np.log10(mark.x_bytes)),
            xanchor="right",
            xshift=-5,
            y=float(np.log10(max(mark.headers_p99, 1))),
            yanchor="bottom",
            yshift=3,
            bgcolor=colours["raised"],  # covers the line of the other mark
        )
        for mark in curve.marks
    ]


def _mark_lines(curve: TuningCurveView, colours: dict[str, str]) -> list[dict]:
    styles = (
        {"color": colours["ink_3"], "width": 1.2, "dash": "4px,3px"},
        {"color": colours["ink"], "width": 1.8},
    )
    marks = zip(curve.marks, styles, strict=False)
    return [theme.vertical_line(mark.x_bytes, line) for mark, line in marks]


def _mark_annotations(curve: TuningCurveView, colours: dict[str, str]) -> list[dict]:
    """Returns the names of the marked intervals, next to their vertical lines and off the curve.

    Today's name is on the left of its line if the considered interval is close on the right, or if
    the line is near the right end; else on the right, at the foot. All other names are at the top.
    """
    annotations = []
    for mark in curve.marks:
        is_considered = mark is curve.considered
        if is_considered:
            is_left = mark.x_bytes >= LEFT_BYTES
        else:
            is_close = any(
                mark.x_bytes < other.x_bytes <= CLOSE_RATIO * mark.x_bytes for other in curve.marks
            )
            has_room = mark.x_bytes >= CLOSE_RATIO * MIN_X
            is_left = (is_close and has_room) or mark.x_bytes >= MAX_X / CLOSE_RATIO
        is_top = is_considered or is_left
        top_px = 0 if is_considered else -LINE_PX - 2
        name = theme.note(
            mark.name,
            colours["ink" if is_considered else "ink_2"],
            x=float(np.log10(mark.x_bytes)),
            yref="paper",
            y=1 if is_top else 0,
            yanchor="top" if is_top else "bottom",
            yshift=top_px if is_top else FOOT_PX,
            xanchor="right" if is_left else "left",
            xshift=-4 if is_left else 4,
            bgcolor=colours["raised"],  # the background covers the line of a budget
        )
        name["font"]["weight"] = 600 if is_considered else 400
        annotations.append(name)
    return annotations


def _plateau(curve: TuningCurveView, colours: dict[str, str]) -> list[dict]:
    """Returns an area over the intervals below `least_batch_bytes`; [] if there are none."""
    least_bytes = curve.least_batch_bytes
    if least_bytes is None or least_bytes <= MIN_X:
        return []
    fill = theme.fade(colours["log_soft"], 0.55)
    return [theme.area(fill, x0=MIN_X, x1=min(least_bytes, MAX_X), yref="paper", y0=0, y1=1)]


def _budget_shapes(budget: Range | None, colours: dict[str, str]) -> list[dict]:
    """Returns a band from `budget.low` to `budget.high`, and a line at `budget.typical`."""
    if budget is None:
        return []
    # a logarithmic axis has no 0; Plotly cuts shapes at the end of the axis
    low, typical, high = (max(headers, 0.1) for headers in budget)
    fill = theme.fade(colours["warning"], 0.1)
    line = {"color": colours["warning"], "width": 1.4, "dash": "2px,3px"}
    place = {"xref": "paper", "x0": 0, "x1": 1}
    return [
        theme.area(fill, y0=low, y1=high, **place),
        place | {"type": "line", "y0": typical, "y1": typical, "line": line},
    ]
