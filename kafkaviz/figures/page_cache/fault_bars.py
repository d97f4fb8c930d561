"""Page faults per new page of an index, by how soon a page goes cold.

Plain binary search is compared with the warm section.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.units import format_count

COLUMNS = ("cold_after_bytes", "plain", "closed_form", "warm")  # of the CSV file
ROW_PX = 37
TOP = 4
BOTTOM = 44


@dataclass(frozen=True)
class TurnoverFaults:
    """Page faults per new page, if a page goes cold after so many bytes of log.

    Attributes:
        formula: the closed form of `plain`, or None.
    """

    cold_after_bytes: int
    plain: float
    warm: float
    formula: float | None


@dataclass(frozen=True)
class FaultBarsView:
    """One bar per turnover: the log bytes after which an unused page is cold.

    Attributes:
        considered_bar: the index of the bar of the considered turnover; None if there is none.
    """

    title: str
    caption: str
    bars: tuple[TurnoverFaults, ...]
    considered_bar: int | None


def view(bars: Sequence[TurnoverFaults], cold_after_bytes: int, caption: str) -> FaultBarsView:
    """Returns the bars of the turnovers.

    Args:
        cold_after_bytes: the considered turnover.
    """
    considered_bar = next(
        (index for index, bar in enumerate(bars) if bar.cold_after_bytes == cold_after_bytes), None
    )
    return FaultBarsView(_title(bars), caption, tuple(bars), considered_bar)


def _title(bars: Sequence[TurnoverFaults]) -> str:
    most_faults = max((bar.plain for bar in bars), default=0)
    warm_faults = max((bar.warm for bar in bars), default=0)
    if not most_faults and not warm_faults:
        return say("fault_bars.none")
    return say(
        "fault_bars.title" if warm_faults else "fault_bars.title_none",
        plain=f"{most_faults:.1f}",
        warm=f"{warm_faults:.1f}",
    )


def turnover_text(cold_after_bytes: int) -> str:
    """Returns a turnover such as 16 MB, in the decimal units of throughput."""
    return f"{format_count(cold_after_bytes // 1_000_000)} MB"


def rows(faults: FaultBarsView) -> list[tuple[str, str, str, str]]:
    """Returns rows of turnover, plain, its closed form, warm section first."""
    return [
        (
            turnover_text(bar.cold_after_bytes),
            f"{bar.plain:.2f}",
            "–" if bar.formula is None else f"{bar.formula:.2f}",
            f"{bar.warm:.2f}",
        )
        for bar in faults.bars
    ]


def file_values(faults: FaultBarsView) -> list[tuple[float | str, ...]]:
    return [
        (
            bar.cold_after_bytes,
            round(bar.plain, 6),
            "" if bar.formula is None else round(bar.formula, 6),
            round(bar.warm, 6),
        )
        for bar in faults.bars
    ]


def figure(faults: FaultBarsView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    indexes = list(range(len(faults.bars)))
    most_faults = max((max(bar.plain, bar.warm) for bar in faults.bars), default=0) or 1
    chart = go.Figure(
        [_plain_bars(faults, indexes, colours), *_warm_bars(faults, indexes, colours)]
    )
    chart.update_layout(
        theme.chart_layout(mode, ROW_PX * len(indexes) + TOP + BOTTOM, (66, 16, TOP, BOTTOM)),
        barmode="overlay",
        xaxis=theme.bar_axis(most_faults * 1.12, 7)
        | {"title": {"text": say("fault_bars.axis"), "standoff": 4}},
        yaxis=theme.row_axis([turnover_text(bar.cold_after_bytes) for bar in faults.bars]),
    )
    return chart


def _plain_bars(faults: FaultBarsView, indexes: list[int], colours: dict[str, str]) -> go.Bar:
    bar_colours = [
        colours["ink"] if index == faults.considered_bar else colours["log"] for index in indexes
    ]
    bar_texts = [
        f" <b>{bar.plain:.2f}</b>" if index == faults.considered_bar else f" {bar.plain:.2f}"
        for index, bar in enumerate(faults.bars)
    ]
    hover_texts = [
        say("fault_bars.hover", plain=plain, formula=formula, warm=warm)
        for _, plain, formula, warm in rows(faults)
    ]
    return go.Bar(
        orientation="h",
        x=[bar.plain for bar in faults.bars],
        y=indexes,
        width=0.6,
        marker={"color": bar_colours, "line": {"width": 0}},
        text=bar_texts,
        textposition="outside",
        cliponaxis=False,
        textfont={"color": colours["ink_2"]},
        name="plain",
        **theme.hover(hover_texts),
    )


def _warm_bars(faults: FaultBarsView, indexes: list[int], colours: dict[str, str]) -> list[go.Bar]:
    if not any(bar.warm for bar in faults.bars):
        return []
    pattern = {
        "shape": "/",
        "fgcolor": colours["warm"],
        "bgcolor": colours["warm_soft"],
        "size": 6,
        "fillmode": "replace",
    }
    hover = say("fault_bars.hover_warm", warm="%{x:.2f}")
    return [
        go.Bar(
            orientation="h",
            x=[bar.warm for bar in faults.bars],
            y=[index + 0.38 for index in indexes],
            width=0.14,
            name="warm",
            marker={"pattern": pattern, "line": {"width": 0}},
            hovertemplate=f"{hover}<extra></extra>",
        )
    ]
