"""Where one lookup stands among all: how many targets of the segment take as many probes, pages or
headers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from kafkaviz.analyse.cost import HEADERS, Costs
from kafkaviz.figures.lookup_words import count
from kafkaviz.units import group, share
from kafkaviz.words import counted, say

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_BARS = 40
HEIGHT = 190


@dataclass(frozen=True)
class HistogramView:
    """Bars of the same width: starts[i] to starts[i] + width - 1, with the share of targets in
    each; outline: of the other search.

    mine: which bar this target is in, None where it is in none.
    """

    title: str
    below: str
    what: str
    width: int
    starts: tuple[int, ...]
    shares: tuple[float, ...]
    outline: tuple[float, ...] | None
    mine: int | None


def view(costs: Costs, other: Costs | None, what: str, mine: int, unit: str) -> HistogramView:
    """The targets by their number of `what`; other: those of the other search. mine: of this
    target. unit: "offset" or "millisecond".
    """
    counts = costs.of(what)
    beside = None if other is None or what == HEADERS else other.of(what)
    used = (
        np.flatnonzero(counts)
        if beside is None
        else np.union1d(np.flatnonzero(counts), np.flatnonzero(beside))
    )
    if not len(used):
        return HistogramView(say("probe_histogram.none"), "", what, 1, (), (), None, None)
    first, last = int(used[0]), int(used[-1])
    width = -(-(last - first + 1) // MOST_BARS)
    starts = tuple(range(first, last + 1, width))
    shares, outline = (
        None if one is None else _binned(one, first, width, len(starts)) for one in (counts, beside)
    )
    place = (mine - first) // width
    below = say(f"probe_histogram.{'beside' if outline else 'needed'}_{what}")
    marked = place if 0 <= place < len(starts) else None
    return HistogramView(
        _title(counts, what, mine, unit),
        below,
        what,
        width,
        starts,
        cast(tuple[float, ...], shares),
        outline,
        marked,
    )


def _binned(counts: np.ndarray, first: int, width: int, bars: int) -> tuple[float, ...]:
    room = np.zeros(bars * width)
    part = counts[first : first + len(room)]
    room[: len(part)] = part
    return tuple((room.reshape(bars, width).sum(axis=1) / counts.sum()).tolist())


def _title(counts: np.ndarray, what: str, mine: int, unit: str) -> str:
    same, total = int(counts[mine]) if mine < len(counts) else 0, int(counts.sum())
    told = count(f"probe_histogram.n_{what}", mine)
    return counted(
        f"probe_histogram.title_{unit}", total, n=group(total), count=told, share=share(same, total)
    )


def rows(shown: HistogramView) -> list[tuple[str, str, str]]:
    """The figure as a table: how many, the share of targets, that of the other search."""
    names = [
        f"{group(start)}"
        if shown.width == 1
        else f"{group(start)}–{group(start + shown.width - 1)}"
        for start in shown.starts
    ]
    outline = (
        [f"{100 * one:.2f} %" for one in shown.outline] if shown.outline else ["–"] * len(names)
    )
    return [
        (name, f"{100 * one:.2f} %", beside)
        for name, one, beside in zip(names, shown.shares, outline, strict=True)
    ]


def figure(shown: HistogramView, mode: str) -> "go.Figure":
    """The view as bars."""
    import plotly.graph_objects as go

    from kafkaviz.figures.theme import colours, template

    colour = colours(mode)
    middles = [start + (shown.width - 1) / 2 for start in shown.starts]
    fills = [
        colour["ink"] if place == shown.mine else colour["log"] for place in range(len(middles))
    ]
    labels = [words[0] for words in rows(shown)]
    hover = say(f"probe_histogram.hover_{shown.what}", count="%{customdata}", share="%{y:.2%}")
    bars = go.Bar(
        x=middles,
        y=shown.shares,
        width=0.66 * shown.width,
        marker={"color": fills, "line": {"width": 0}, "cornerradius": 2},
        customdata=labels,
        hovertemplate=f"{hover}<extra></extra>",
    )
    chart = go.Figure(bars)
    most = max((*shown.shares, *(shown.outline or ())), default=1) or 1
    chart.update_layout(
        template=template(mode),
        height=HEIGHT,
        margin={"l": 40, "r": 4, "t": 18, "b": 34},
        showlegend=False,
        bargap=0,
        shapes=_outlines(shown, middles, colour["ink_3"]),
        xaxis=_across(shown, middles, labels),
        yaxis=_upward(most),
    )
    if shown.mine is not None:
        at, beside = middles[shown.mine], shown.outline[shown.mine] if shown.outline else 0
        chart.add_annotation(
            x=at,
            y=max(beside, shown.shares[shown.mine]),
            yshift=9,
            text=f"<b>{say('probe_histogram.mine')}</b>",
            showarrow=False,
            font={"size": 12, "color": colour["ink"]},
            xanchor="left"
            if shown.mine == 0 and len(middles) > 2
            else "right"
            if shown.mine == len(middles) - 1 > 1
            else "center",
        )
    return chart


def _across(shown: HistogramView, middles: list[float], labels: list[str]) -> dict:
    step = max(1, -(-len(middles) // 16))
    title = {"text": say(f"probe_histogram.axis_{shown.what}"), "standoff": 4, "font": {"size": 12}}
    words = [
        f"<b>{label}</b>" if place == shown.mine else label for place, label in enumerate(labels)
    ]
    return {
        "tickvals": middles[::step],
        "ticktext": words[::step],
        "showgrid": False,
        "fixedrange": True,
        "title": title,
    }


def _upward(most: float) -> dict:
    shares = [0, most / 2, most]
    ticks = {"tickvals": shares, "ticktext": [f"{100 * one:.0f} %" for one in shares]}
    return ticks | {"range": [0, most * 1.12], "fixedrange": True, "title": None, "zeroline": False}


def _outlines(shown: HistogramView, middles: list[float], colour: str) -> list[dict]:
    """Dashed rectangles: a bar's own outline cannot be dashed."""
    half, line = 0.38 * shown.width, {"color": colour, "width": 1, "dash": "2px,2px"}
    return [
        {
            "type": "rect",
            "x0": middle - half,
            "x1": middle + half,
            "y0": 0,
            "y1": part,
            "line": line,
        }
        for middle, part in zip(middles, shown.outline or (), strict=False)
        if part
    ]
