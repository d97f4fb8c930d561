"""What each index interval costs a lookup, and what it costs in index: two curves over the same
axis, today's interval marked.

Headers and bytes are counted, not modelled; only the line of a budget, which is given in
microseconds, stands where a model puts it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go

from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import At, Budgets
from kafkaviz.figures import theme
from kafkaviz.figures.tuning_terms import headers_words, micros
from kafkaviz.units import group, size
from kafkaviz.words import say

# of the axis: no batch is smaller than its header, and none that Kafka takes by default is larger
LEAST_X, MOST_X = 64, 4 << 20
X_TICKS = [64 << 2 * power for power in range(9)]
HEADER_TICKS = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1000,
    2000,
    5000,
    10_000,
    20_000,
    50_000,
    100_000,
]
BYTE_TICKS = [10, 100, *(unit << shift for shift in (10, 20, 30) for unit in (1, 10, 100))]
HEADERS_PX, BYTES_PX = 330, 232
LEFT, RIGHT, TOP, BOTTOM = 58, 92, 14, 40
LINE_PX, FOOT_PX = 16, 2
# a share: mean headers of the index on disk and of its replay that differ no more are those of one
# index
ALIKE = 0.1
CLOSE = 8  # times the other: two marks whose words would meet
WIDE_PLATEAU = 1024  # bytes from which on its words have room inside
ELSEWHERE = 65_536  # what today is held against where nothing else is considered


@dataclass(frozen=True)
class Mark:
    """An interval that is marked. x_bytes: where it is drawn, 64 B at least."""

    interval_bytes: int
    x_bytes: int
    headers_mean: float
    index_bytes: int
    words: str


@dataclass(frozen=True)
class TuningCurveView:
    """Both curves. Arrays have a value an interval from 64 B on.

    budget: the headers at which a p99 lookup would reach its budget, at the dear and at the cheap
    end of the model; None without one. least_batch_bytes: intervals below it change nothing; None
    where that is not known.
    """

    titles: tuple[str, str]
    intervals: np.ndarray
    headers_mean: np.ndarray
    headers_p50: np.ndarray
    headers_p99: np.ndarray
    index_bytes: np.ndarray
    told: tuple[str, ...]
    today: Mark
    considered: Mark | None
    least_batch_bytes: int | None
    budget: tuple[float, float] | None
    budget_words: str


def view(
    every: Sequence[At],
    now: At,
    considered_bytes: int,
    log_bytes: int,
    least_batch_bytes: int | None,
    budgets: Budgets,
    costs: Costs,
) -> TuningCurveView:
    """every: each swept interval with its prices, the considered one among them. now: today's,
    beside the curve where no replay is it.
    """
    other = (
        now
        if considered_bytes == now.interval_bytes
        else next(one for one in every if one.interval_bytes == considered_bytes)
    )
    held = other if other is not now else _instead(every, now)
    shown = [one for one in every if LEAST_X <= one.interval_bytes <= MOST_X]
    columns = {
        name: np.array([one.row[name] for one in shown])
        for name in ("headers_mean", "headers_p50", "headers_p99", "index_bytes")
    }
    return TuningCurveView(
        (_headers_title(now, held), _bytes_title(now, held, log_bytes)),
        np.array([one.interval_bytes for one in shown]),
        **columns,
        told=tuple(map(_told, shown)),
        today=_mark(now, "curves.today"),
        considered=None if other is now else _mark(other, "curves.considered"),
        least_batch_bytes=least_batch_bytes,
        budget=_budget(budgets, costs),
        budget_words=""
        if budgets.p99_us is None
        else say("curves.budget", us=f"{budgets.p99_us:g}"),
    )


def _instead(every: Sequence[At], now: At) -> At:
    """What today is held against where nothing is considered: the same interval batch by batch, or
    where that is it already, 64 KiB.
    """
    same = next((one for one in every if one.interval_bytes == now.interval_bytes), now)
    if _is_other(same, now):
        return same
    return next((one for one in every if one.interval_bytes >= ELSEWHERE), now)


def _is_other(same: At, now: At) -> bool:
    """Whether the index on disk is not the one that a replay gives: its entries stand for whole
    appends.
    """
    return (
        abs(float(same.row["headers_mean"]) / max(float(now.row["headers_mean"]), 1e-9) - 1)
        >= ALIKE
    )


def _mark(one: At, key: str) -> Mark:
    x_bytes = min(max(one.interval_bytes, LEAST_X), MOST_X)
    words = say(key, interval=size(one.interval_bytes))
    return Mark(
        one.interval_bytes,
        x_bytes,
        float(one.row["headers_mean"]),
        int(one.row["index_bytes"]),
        words,
    )


def _budget(budgets: Budgets, costs: Costs) -> tuple[float, float] | None:
    if budgets.p99_us is None:
        return None
    ends = [
        (budgets.p99_us - first) / each
        for first, each in zip(costs.first_us, costs.header_us, strict=True)
    ]
    return max(ends[2], 0.0), max(ends[0], 0.0)


def _headers_title(now: At, held: At) -> str:
    """16 KiB instead of 4 KiB: a lookup reads 2.4 times as many headers."""
    before, after = float(now.row["headers_mean"]), float(held.row["headers_mean"])
    times = after / before if before else 1.0
    told = {"other": size(held.interval_bytes), "today": size(now.interval_bytes)}
    if held.interval_bytes == now.interval_bytes and _is_other(held, now):
        return say(
            "curves.headers_on_disk",
            **told,
            disk=headers_words(before),
            replayed=headers_words(after),
        )
    if abs(times - 1) < 0.005:
        return say("curves.headers_same", **told)
    if times < 1:
        return say("curves.headers_fewer", **told, percent=f"{100 * (1 - times):.0f}")
    if times < 1.1:
        return say("curves.headers_more", **told, percent=f"{100 * (times - 1):.0f}")
    return say("curves.headers_times", **told, times=f"{times:.1f}")


def _bytes_title(now: At, held: At, log_bytes: int) -> str:
    before, after = int(now.row["index_bytes"]), int(held.row["index_bytes"])
    key = "stays" if before == after else "shrinks" if after < before else "grows"
    return say(f"curves.index_{key}", before=size(before), after=size(after), log=size(log_bytes))


def _told(one: At) -> str:
    row = one.row
    return "<br>".join(
        (
            f"<b>{group(one.interval_bytes)} B</b>",
            say(
                "curves.told_headers",
                headers=headers_words(row["headers_mean"]),
                p99=group(int(row["headers_p99"])),
            ),
            say(
                "curves.told_entries",
                offsets=group(int(row["entries"])),
                times=group(one.time_entries),
                size=size(int(row["index_bytes"])),
            ),
            say(
                "curves.told_time", mean=micros(one.mean_us.typical), p99=micros(one.p99_us.typical)
            ),
        )
    )


def rows(every: Sequence[At]) -> list[tuple]:
    """The figures as a table, numbers as they are: each interval with its entries, bytes, headers
    and modelled times.
    """
    return [
        (
            one.interval_bytes,
            int(one.row["entries"]),
            int(one.row["index_bytes"]),
            round(100 * one.index_share, 4),
            round(float(one.row["headers_mean"]), 3),
            *(int(one.row[f"headers_{name}"]) for name in ("p50", "p90", "p99", "max")),
            round(float(one.row["skipped_bytes_mean"]), 1),
            *(round(us, 2) for us in one.p99_us),
            *(round(us, 1) for us in one.cold_p99_us),
        )
        for one in every
    ]


COLUMNS = (
    "interval_bytes",
    "entries",
    "index_bytes",
    "index_percent",
    "headers_mean",
    "headers_p50",
    "headers_p90",
    "headers_p99",
    "headers_max",
    "skipped_bytes_mean",
    "warm_p99_us_low",
    "warm_p99_us",
    "warm_p99_us_high",
    "cold_p99_us_low",
    "cold_p99_us",
    "cold_p99_us_high",
)


def below() -> tuple[str, str]:
    """How to read either figure."""
    return say("curves.below_headers"), say("curves.below_bytes")


# ---- drawn


def headers_figure(shown: TuningCurveView, mode: str) -> go.Figure:
    """The headers of a lookup in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    most = max(12.0, 1.3 * float(shown.headers_p99.max(initial=1)))
    p50, p99 = np.maximum(shown.headers_p50, 1), np.maximum(shown.headers_p99, 1)
    line = {"color": ink["scan"], "width": 2.6}
    chart = go.Figure(
        [
            go.Scatter(
                x=shown.intervals,
                y=p50,
                mode="lines",
                line={"width": 0},
                hoverinfo="skip",
                name="median",
            ),
            go.Scatter(
                x=shown.intervals,
                y=p99,
                mode="lines",
                line={"color": ink["scan"], "width": 1.4, "dash": "5px,3px"},
                fill="tonexty",
                fillcolor=_faint(ink["scan"], 0.16),
                hoverinfo="skip",
                name="p99",
            ),
            go.Scatter(
                x=shown.intervals,
                y=np.maximum(shown.headers_mean, 1),
                mode="lines",
                line=line,
                hoverinfo="skip",
                name="mean",
            ),
            _points(shown, np.maximum(shown.headers_mean, 1)),
            _dots(shown, [max(one.headers_mean, 1) for one in _marks(shown)], ink["scan"], ink),
        ]
    )
    ticks = {value: group(value) for value in HEADER_TICKS if value <= most}
    names = [
        ("p99", p99, "scan_text", False),
        (say("curves.mean"), shown.headers_mean, "scan_text", True),
    ]
    names = [
        (text, float(line[-1]), colour, is_bold)
        for text, line, colour, is_bold in names
        if len(line)
    ]
    if shown.budget and 1 < shown.budget[0] < most:
        names.append((shown.budget_words, shown.budget[0], "warning_text", True))
    look = {"height": HEADERS_PX, "range": [0, np.log10(most)], "ticks": ticks}
    notes = [*_names(names, look, ink), *_marked(shown, ink), *_plateau_words(shown, ink)]
    return _laid_out(
        chart,
        look,
        [*_plateau(shown, ink), *_budget_shapes(shown, most, ink), *_lines(shown, ink)],
        notes,
        mode,
    )


def bytes_figure(shown: TuningCurveView, mode: str) -> go.Figure:
    """The bytes of both indexes in a mode."""
    ink = theme.colours(mode)
    most, least = (
        1.5 * float(shown.index_bytes.max(initial=8)),
        max(8.0, float(shown.index_bytes[shown.index_bytes > 0].min(initial=1e12))),
    )
    least = min(least, most) * 0.7
    chart = go.Figure(
        [
            go.Scatter(
                x=shown.intervals,
                y=[float(one) if one else None for one in shown.index_bytes],
                mode="lines",
                line={"color": ink["offset"], "width": 2.6},
                hoverinfo="skip",
                name="both indexes",
            ),
            _points(shown, np.maximum(shown.index_bytes, least)),
            _dots(
                shown, [float(one.index_bytes) or None for one in _marks(shown)], ink["offset"], ink
            ),
        ]
    )
    ticks = {
        value: size(value)
        for value in BYTE_TICKS
        if 0.5 * least / 0.7 <= value <= most and value >= least
    }
    look = {"height": BYTES_PX, "range": [np.log10(least), np.log10(most)], "ticks": ticks}
    last = max(float(shown.index_bytes[-1]), least) if len(shown.index_bytes) else least
    notes = _names([(say("curves.both_indexes"), last, "offset_text", True)], look, ink)
    return _laid_out(chart, look, [*_plateau(shown, ink), *_lines(shown, ink)], notes, mode)


def _laid_out(
    chart: go.Figure, look: dict, shapes: list[dict], notes: list[dict], mode: str
) -> go.Figure:
    ink = theme.colours(mode)
    chart.update_layout(
        template=theme.template(mode),
        height=look["height"],
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM},
        showlegend=False,
        hovermode="x",
        hoverdistance=24,
        clickmode="event+select",
        dragmode=False,
        xaxis={
            "type": "log",
            "range": np.log10([LEAST_X, MOST_X]).tolist(),
            "tickvals": X_TICKS,
            "ticktext": [size(one) for one in X_TICKS],
            "ticks": "outside",
            "ticklen": 5,
            "tickcolor": ink["line"],
            "showgrid": False,
            "showline": False,
            "zeroline": False,
            "fixedrange": True,
            "title": None,
            "showspikes": False,
            "automargin": False,
            "hoverformat": ".0f",
        },
        yaxis={
            "type": "log",
            "range": [float(one) for one in look["range"]],
            "tickvals": list(look["ticks"]),
            "ticktext": list(look["ticks"].values()),
            "ticks": "",
            "ticklabelstandoff": 8,
            "showgrid": True,
            "gridcolor": ink["line"],
            "showline": False,
            "zeroline": False,
            "fixedrange": True,
            "title": None,
            "automargin": False,
        },
        shapes=shapes,
        annotations=[*notes, _axis_name(ink)],
    )
    return chart


def _points(shown: TuningCurveView, y: np.ndarray) -> go.Scatter:
    """What a pointer meets: nothing to see, the words of each interval, and its bytes for a
    click.
    """
    still = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=shown.intervals,
        y=y,
        mode="markers",
        marker={"size": 14, "opacity": 0},
        selected=still,
        unselected=still,
        name="points",
        customdata=[
            [int(one), told] for one, told in zip(shown.intervals, shown.told, strict=True)
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _marks(shown: TuningCurveView) -> list[Mark]:
    return [one for one in (shown.today, shown.considered) if one]


def _dots(
    shown: TuningCurveView, y: list[float | None], colour: str, ink: dict[str, str]
) -> go.Scatter:
    marker = {
        "size": 10,
        "color": colour,
        "line": {"color": ink["raised"], "width": 2},
        "opacity": 1,
    }
    still = {"marker": {"opacity": 1}}
    return go.Scatter(
        x=[one.x_bytes for one in _marks(shown)],
        y=y,
        mode="markers",
        marker=marker,
        selected=still,
        unselected=still,
        name="marks",
        hoverinfo="skip",
        cliponaxis=False,
    )


def _lines(shown: TuningCurveView, ink: dict[str, str]) -> list[dict]:
    look = {"type": "line", "yref": "paper", "y0": 0, "y1": 1}
    found = [
        look
        | {
            "x0": shown.today.x_bytes,
            "x1": shown.today.x_bytes,
            "line": {"color": ink["ink_3"], "width": 1.2, "dash": "4px,3px"},
        }
    ]
    if shown.considered:
        found.append(
            look
            | {
                "x0": shown.considered.x_bytes,
                "x1": shown.considered.x_bytes,
                "line": {"color": ink["ink"], "width": 1.8},
            }
        )
    return found


def _marked(shown: TuningCurveView, ink: dict[str, str]) -> list[dict]:
    """The names of the marks, near the foot; a name steps aside where the other line is close
    behind its own.

    On the right of its line the considered one stands higher, where today's name has room; on the
    left the curve comes down there.
    """
    pairs = (
        (shown.today, shown.considered, "ink_2", 400, FOOT_PX),
        (shown.considered, shown.today, "ink", 600, FOOT_PX + LINE_PX + 2),
    )
    found = []
    for one, other, colour, weight, up in pairs:
        if one:
            is_close = other is not None and one.x_bytes < other.x_bytes <= CLOSE * one.x_bytes
            is_left = (is_close and one.x_bytes > CLOSE * LEAST_X) or one.x_bytes > MOST_X / CLOSE
            found.append(
                {
                    "x": float(np.log10(one.x_bytes)),
                    "yref": "paper",
                    "y": 0,
                    "yanchor": "bottom",
                    "yshift": FOOT_PX if is_left else up,
                    "showarrow": False,
                    "xanchor": "right" if is_left else "left",
                    "xshift": -4 if is_left else 4,
                    "text": one.words,
                    # a budget's line may pass behind
                    "font": {"size": 12, "color": ink[colour], "weight": weight},
                    "bgcolor": ink["raised"],
                }
            )
    return found


def _plateau(shown: TuningCurveView, ink: dict[str, str]) -> list[dict]:
    if not shown.least_batch_bytes or shown.least_batch_bytes <= LEAST_X:
        return []
    edge = min(shown.least_batch_bytes, MOST_X)
    return [
        {
            "type": "rect",
            "x0": LEAST_X,
            "x1": edge,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"width": 0},
            "layer": "below",
            "fillcolor": _faint(ink["log_soft"], 0.55),
        }
    ]


def _plateau_words(shown: TuningCurveView, ink: dict[str, str]) -> list[dict]:
    if not _plateau(shown, ink):
        return []
    least_bytes = cast(int, shown.least_batch_bytes)
    is_wide = least_bytes >= WIDE_PLATEAU
    first = (
        say("curves.plateau_inside")
        if is_wide
        else say("curves.plateau_left", bytes=group(least_bytes))
    )
    place = {
        "xref": "x",
        "x": float(np.log10(LEAST_X if is_wide else least_bytes)),
        "xshift": 4,
        "xanchor": "left",
        "align": "left",
    }
    return [
        place
        | {
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "yshift": 3,
            "showarrow": False,
            # what is marked may stand behind
            "bgcolor": "rgba(0,0,0,0)" if is_wide else ink["raised"],
            "text": f'<span style="font-weight:600">{first}</span>'
            f"<br>{say('curves.nothing_changes')}",
            "font": {"size": 12, "color": ink["ink_2"]},
        }
    ]


def _budget_shapes(shown: TuningCurveView, most: float, ink: dict[str, str]) -> list[dict]:
    """Dotted where the dear end of the model meets the budget, shaded from there to the cheap
    end.
    """
    if not shown.budget or not 1 < shown.budget[0] < most:
        return []
    low, high = shown.budget[0], min(shown.budget[1], most)
    look = {"xref": "paper", "x0": 0, "x1": 1}
    band = look | {
        "type": "rect",
        "y0": low,
        "y1": high,
        "line": {"width": 0},
        "fillcolor": _faint(ink["warning"], 0.1),
        "layer": "below",
    }
    return [
        band,
        look
        | {
            "type": "line",
            "y0": low,
            "y1": low,
            "line": {"color": ink["warning"], "width": 1.4, "dash": "2px,3px"},
        },
    ]


def _names(
    names: list[tuple[str, float, str, bool]], look: dict, ink: dict[str, str]
) -> list[dict]:
    """Each line's name at its right end; names that would meet move apart."""
    tall = look["height"] - TOP - BOTTOM
    low, high = (float(one) for one in look["range"])
    ends: list[list[Any]] = sorted(
        (
            [tall * (1 - (np.log10(max(value, 1e-9)) - low) / (high - low)), text, colour, is_bold]
            for text, value, colour, is_bold in names
        ),
        key=lambda one: one[0],
    )
    for place in range(1, len(ends)):
        ends[place][0] = max(ends[place][0], ends[place - 1][0] + LINE_PX)
    return [
        {
            "xref": "paper",
            "x": 1,
            "xanchor": "left",
            "xshift": 6,
            "yref": "paper",
            "yanchor": "middle",
            "showarrow": False,
            "y": float(1 - at / tall),
            "text": f"<b>{text}</b>" if is_bold else text,
            "font": {"size": 12, "color": ink[colour]},
        }
        for at, text, colour, is_bold in ends
    ]


def _axis_name(ink: dict[str, str]) -> dict:
    place = {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": -23,
        "showarrow": False,
    }
    return place | {"text": "index.interval.bytes", "font": {"size": 12, "color": ink["ink_3"]}}


def _faint(colour: str, opacity: float) -> str:
    """A colour that lets through what is below it."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
