"""One lookup among all: how many targets of the segment take as many probes, pages or headers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from kafkaviz.analysis.cost.lookup_cost import HEADERS, LookupCounts
from kafkaviz.messages import say, say_count
from kafkaviz.units import format_count, format_percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_BARS = 40
HEIGHT = 190


@dataclass(frozen=True, kw_only=True)
class HistogramView:
    """Bars of the same width: bar i covers starts[i] to starts[i] + width - 1.

    Attributes:
        shares: the share of targets in each bar.
        outline: the shares of the other search.
        target_bar: the index of the bar that counts this target; None if no bar does.
    """

    title: str
    caption: str
    measure: str
    width: int
    starts: tuple[int, ...]
    shares: tuple[float, ...]
    outline: tuple[float, ...] | None
    target_bar: int | None


def view(
    costs: LookupCounts,
    other_costs: LookupCounts | None,
    measure: str,
    target_count: int,
    unit: str,
) -> HistogramView:
    """Returns the targets by their number of `measure`.

    Args:
        other_costs: the costs of the other search.
        target_count: the number for this target.
        unit: "offset" or "millisecond".
    """
    counts = costs.counts_of(measure)
    other_counts = (
        None if other_costs is None or measure == HEADERS else other_costs.counts_of(measure)
    )
    counts_present = (
        np.flatnonzero(counts)
        if other_counts is None
        else np.union1d(np.flatnonzero(counts), np.flatnonzero(other_counts))
    )
    if not len(counts_present):
        return HistogramView(
            title=say("probe_histogram.none"),
            caption="",
            measure=measure,
            width=1,
            starts=(),
            shares=(),
            outline=None,
            target_bar=None,
        )
    first_count = int(counts_present[0])
    last_count = int(counts_present[-1])
    width = -(-(last_count - first_count + 1) // MAX_BARS)
    starts = tuple(range(first_count, last_count + 1, width))
    shares, outline = (
        None if counts_ is None else _bin_shares(counts_, first_count, width, len(starts))
        for counts_ in (counts, other_counts)
    )
    target_bar = (target_count - first_count) // width
    caption = say(f"probe_histogram.{'beside' if outline else 'needed'}_{measure}")
    drawn_bar = target_bar if 0 <= target_bar < len(starts) else None
    return HistogramView(
        title=_title(counts, measure, target_count, unit),
        caption=caption,
        measure=measure,
        width=width,
        starts=starts,
        shares=cast(tuple[float, ...], shares),
        outline=outline,
        target_bar=drawn_bar,
    )


def _bin_shares(counts: np.ndarray, first_count: int, width: int, bars: int) -> tuple[float, ...]:
    padded = np.zeros(bars * width)
    counts_drawn = counts[first_count : first_count + len(padded)]
    padded[: len(counts_drawn)] = counts_drawn
    return tuple((padded.reshape(bars, width).sum(axis=1) / counts.sum()).tolist())


def _title(counts: np.ndarray, measure: str, target_count: int, unit: str) -> str:
    same_count = int(counts[target_count]) if target_count < len(counts) else 0
    total = int(counts.sum())
    cost_text = say_count(f"common.n_{measure}", target_count)
    return say_count(
        f"probe_histogram.title_{unit}",
        total,
        count=cost_text,
        share=format_percent(same_count, total),
    )


def rows(histogram: HistogramView) -> list[tuple[str, str, str]]:
    """Returns rows of number, share of targets, share for the other search."""
    names = [
        f"{format_count(start)}"
        if histogram.width == 1
        else f"{format_count(start)}–{format_count(start + histogram.width - 1)}"
        for start in histogram.starts
    ]
    outline = (
        [f"{100 * outline_share:.2f} %" for outline_share in histogram.outline]
        if histogram.outline
        else ["–"] * len(names)
    )
    return [
        (name, f"{100 * bar_share:.2f} %", outline_text)
        for name, bar_share, outline_text in zip(names, histogram.shares, outline, strict=True)
    ]


def figure(histogram: HistogramView, mode: str) -> "go.Figure":
    import plotly.graph_objects as go

    from kafkaviz.figures.theme import chart_layout, colours

    palette = colours(mode)
    middles = [start + (histogram.width - 1) / 2 for start in histogram.starts]
    fills = [
        palette["ink"] if index == histogram.target_bar else palette["log"]
        for index in range(len(middles))
    ]
    labels = [row[0] for row in rows(histogram)]
    hover = say(
        f"probe_histogram.hover_{histogram.measure}", count="%{customdata}", share="%{y:.2%}"
    )
    bars = go.Bar(
        x=middles,
        y=histogram.shares,
        width=0.66 * histogram.width,
        marker={"color": fills, "line": {"width": 0}, "cornerradius": 2},
        customdata=labels,
        hovertemplate=f"{hover}<extra></extra>",
    )
    chart = go.Figure(bars)
    most_share = max((*histogram.shares, *(histogram.outline or ())), default=1) or 1
    chart.update_layout(
        chart_layout(mode, HEIGHT, (40, 4, 18, 34)),
        bargap=0,
        shapes=_outline_shapes(histogram, middles, palette["ink_3"]),
        xaxis=_x_axis(histogram, middles, labels),
        yaxis=_y_axis(most_share),
    )
    if histogram.target_bar is not None:
        middle = middles[histogram.target_bar]
        outline_share = histogram.outline[histogram.target_bar] if histogram.outline else 0
        if histogram.target_bar == 0 and len(middles) > 2:
            anchor = "left"
        elif histogram.target_bar == len(middles) - 1 > 1:
            anchor = "right"
        else:
            anchor = "center"
        chart.add_annotation(
            x=middle,
            y=max(outline_share, histogram.shares[histogram.target_bar]),
            yshift=9,
            text=f"<b>{say('probe_histogram.mine')}</b>",
            showarrow=False,
            font={"size": 12, "color": palette["ink"]},
            xanchor=anchor,
        )
    return chart


def _x_axis(histogram: HistogramView, middles: list[float], labels: list[str]) -> dict:
    step = max(1, -(-len(middles) // 16))
    title = {
        "text": say(f"probe_histogram.axis_{histogram.measure}"),
        "standoff": 4,
        "font": {"size": 12},
    }
    label_texts = [
        f"<b>{label}</b>" if index == histogram.target_bar else label
        for index, label in enumerate(labels)
    ]
    return {
        "tickvals": middles[::step],
        "ticktext": label_texts[::step],
        "showgrid": False,
        "fixedrange": True,
        "title": title,
    }


def _y_axis(most_share: float) -> dict:
    shares = [0, most_share / 2, most_share]
    ticks = {"tickvals": shares, "ticktext": [f"{100 * tick_share:.0f} %" for tick_share in shares]}
    return ticks | {
        "range": [0, most_share * 1.12],
        "fixedrange": True,
        "title": None,
        "zeroline": False,
    }


def _outline_shapes(histogram: HistogramView, middles: list[float], colour: str) -> list[dict]:
    """Draws dashed rectangles, because a bar's own outline cannot be dashed."""
    half = 0.38 * histogram.width
    line = {"color": colour, "width": 1, "dash": "2px,2px"}
    return [
        {
            "type": "rect",
            "x0": middle - half,
            "x1": middle + half,
            "y0": 0,
            "y1": outline_share,
            "line": line,
        }
        for middle, outline_share in zip(middles, histogram.outline or (), strict=False)
        if outline_share
    ]
