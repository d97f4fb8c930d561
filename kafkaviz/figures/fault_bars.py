"""Cold faults for each page an index grows by, over how long a page outlives: plain bisection
beside the warm section.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.units import group
from kafkaviz.words import say

COLUMNS = ("cold_after_bytes", "plain", "closed_form", "warm")  # of a file
ROW_PX, TOP, BOTTOM = 37, 4, 44


@dataclass(frozen=True)
class Turnover:
    """Faults a grown page where a page goes cold after so many bytes of log; formula: the closed
    form of the plain ones, or None.
    """

    cold_after_bytes: int
    plain: float
    warm: float
    formula: float | None


@dataclass(frozen=True)
class FaultBarsView:
    """A bar a turnover; chosen: which of them is the considered one, None for none."""

    title: str
    below: str
    bars: tuple[Turnover, ...]
    chosen: int | None


def view(bars: Sequence[Turnover], cold_after_bytes: int, below: str) -> FaultBarsView:
    """cold_after_bytes: the considered one."""
    chosen = next(
        (place for place, bar in enumerate(bars) if bar.cold_after_bytes == cold_after_bytes), None
    )
    return FaultBarsView(_title(bars), below, tuple(bars), chosen)


def _title(bars: Sequence[Turnover]) -> str:
    most, warm = (
        max((bar.plain for bar in bars), default=0),
        max((bar.warm for bar in bars), default=0),
    )
    if not most and not warm:
        return say("fault_bars.none")
    return say(
        "fault_bars.title" if warm else "fault_bars.title_none",
        plain=f"{most:.1f}",
        warm=f"{warm:.1f}",
    )


def name(cold_after_bytes: int) -> str:
    """16 MB, in the decimal units of throughput."""
    return f"{group(cold_after_bytes // 1_000_000)} MB"


def rows(shown: FaultBarsView) -> list[tuple[str, str, str, str]]:
    """The figure as a table: turnover, plain, its closed form, warm section first."""
    return [
        (
            name(bar.cold_after_bytes),
            f"{bar.plain:.2f}",
            "–" if bar.formula is None else f"{bar.formula:.2f}",
            f"{bar.warm:.2f}",
        )
        for bar in shown.bars
    ]


def values(shown: FaultBarsView) -> list[tuple[float | str, ...]]:
    """COLUMNS of each bar."""
    return [
        (
            bar.cold_after_bytes,
            round(bar.plain, 6),
            "" if bar.formula is None else round(bar.formula, 6),
            round(bar.warm, 6),
        )
        for bar in shown.bars
    ]


def figure(shown: FaultBarsView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    places = list(range(len(shown.bars)))
    most = max((max(bar.plain, bar.warm) for bar in shown.bars), default=0) or 1
    chart = go.Figure([_bars(shown, places, ink), *_warm(shown, places, ink)])
    chart.update_layout(
        template=theme.template(mode),
        height=ROW_PX * len(places) + TOP + BOTTOM,
        margin={"l": 66, "r": 16, "t": TOP, "b": BOTTOM},
        showlegend=False,
        barmode="overlay",
        xaxis={
            "range": [0, most * 1.12],
            "showgrid": True,
            "showline": False,
            "ticks": "",
            "fixedrange": True,
            "nticks": 7,
            "title": {"text": say("fault_bars.axis"), "standoff": 4},
        },
        yaxis={
            "range": [len(places) - 0.5, -0.5],
            "tickvals": places,
            "ticktext": [name(bar.cold_after_bytes) for bar in shown.bars],
            "ticks": "",
            "ticklabelstandoff": 6,
            "showgrid": False,
            "fixedrange": True,
            "title": None,
        },
    )
    return chart


def _bars(shown: FaultBarsView, places: list[int], ink: dict[str, str]) -> go.Bar:
    colours = [ink["ink"] if place == shown.chosen else ink["log"] for place in places]
    words = [
        f" <b>{bar.plain:.2f}</b>" if place == shown.chosen else f" {bar.plain:.2f}"
        for place, bar in enumerate(shown.bars)
    ]
    told = [
        say("fault_bars.hover", plain=plain, formula=formula, warm=warm)
        for _, plain, formula, warm in rows(shown)
    ]
    return go.Bar(
        orientation="h",
        x=[bar.plain for bar in shown.bars],
        y=places,
        width=0.6,
        marker={"color": colours, "line": {"width": 0}},
        text=words,
        textposition="outside",
        cliponaxis=False,
        textfont={"color": ink["ink_2"]},
        name="plain",
        customdata=told,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _warm(shown: FaultBarsView, places: list[int], ink: dict[str, str]) -> list[go.Bar]:
    """A thin bar below, where the warm section has faults too."""
    if not any(bar.warm for bar in shown.bars):
        return []
    pattern = {
        "shape": "/",
        "fgcolor": ink["warm"],
        "bgcolor": ink["warm_soft"],
        "size": 6,
        "fillmode": "replace",
    }
    hover = say("fault_bars.hover_warm", warm="%{x:.2f}")
    return [
        go.Bar(
            orientation="h",
            x=[bar.warm for bar in shown.bars],
            y=[place + 0.38 for place in places],
            width=0.14,
            name="warm",
            marker={"pattern": pattern, "line": {"width": 0}},
            hovertemplate=f"{hover}<extra></extra>",
        )
    ]
