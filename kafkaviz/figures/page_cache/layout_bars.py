"""Other ways to search an index: probes and pages of one search, one row per layout.

Probes and pages are drawn side by side.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.analysis.page_cache.index_layouts import Cost
from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.units import format_bytes, format_count

ROW_PX = 26
TOP = 22
BOTTOM = 26
LEFT = 168
HALVES = ((0.0, 0.46), (0.54, 1.0))
CURRENCIES = ("probes", "pages")  # one for each half
WARM = "Warm section first"  # the name in LAYOUTS


@dataclass(frozen=True, kw_only=True)
class LayoutCost:
    """The cost of one layout: mean and largest probes and 4 KiB pages, over all targets.

    Attributes:
        tail: probes and pages of a lookup at the tail.
        extra_size: the bytes it keeps in addition to the index.
        note: an explanation.
    """

    name: str
    probes: float
    most_probes: int
    pages: float
    most_pages: int
    tail: str
    extra_size: str
    note: str


@dataclass(frozen=True)
class LayoutBarsView:
    """The layouts.

    Attributes:
        kafka_row: the row of Kafka's own layout, which is highlighted; None if that is not among
            the rows.
    """

    title: str
    caption: str
    layouts: tuple[LayoutCost, ...]
    kafka_row: int | None


def view(costs: Sequence[Cost], entries: int, targets: int, workload: str) -> LayoutBarsView:
    """Returns the layouts for an index of `entries` entries, over `targets` targets.

    Args:
        workload: a description of the keys.
    """
    layouts = tuple(map(_layout_cost, costs))
    kafka_row = next((index for index, cost in enumerate(costs) if cost.layout.name == WARM), None)
    caption = say(
        "layout_bars.below",
        workload=workload,
        targets=format_count(targets),
        entries=format_count(entries),
    )
    return LayoutBarsView(_title(layouts, kafka_row), caption, layouts, kafka_row)


def _layout_cost(cost: Cost) -> LayoutCost:
    name = text_key(cost.layout.name)
    extra = format_bytes(cost.extra_bytes) if cost.extra_bytes else say("common.none")
    return LayoutCost(
        name=say(name),
        probes=cost.probes_mean,
        most_probes=cost.probes_max,
        pages=cost.pages_mean,
        most_pages=cost.pages_max,
        tail=f"{cost.tail_probes} / {cost.tail_pages}",
        extra_size=extra,
        note=say(f"{name}_note"),
    )


def text_key(name: str) -> str:
    """Returns the message key of a layout.

    For "Piecewise linear, ε 8" it is layout_bars.piecewise_linear_8.
    """
    return "layout_bars." + "_".join(re.findall(r"[a-z0-9]+", name.lower()))


def _title(layouts: Sequence[LayoutCost], kafka_row: int | None) -> str:
    if kafka_row is None:
        return say("layout_bars.none")
    fewest_probes = min(layouts, key=lambda layout: layout.probes)
    fewest_pages = min(layouts, key=lambda layout: (layout.pages, layout.probes))
    kafka_layout = layouts[kafka_row]
    return say(
        "layout_bars.title",
        fewest=fewest_probes.name,
        other=fewest_pages.name[0].lower() + fewest_pages.name[1:],
        probes=f"{fewest_probes.probes:.1f}",
        kafkas=f"{kafka_layout.probes:.1f}",
        pages=f"{fewest_pages.pages:.1f}",
        kafkas_pages=f"{kafka_layout.pages:.1f}",
    )


def rows(layouts_view: LayoutBarsView) -> list[tuple[str, ...]]:
    """Returns rows of layout, mean and most probes, mean and most pages, tail, extra size, note."""
    return [
        (
            layout.name,
            f"{layout.probes:.1f}",
            format_count(layout.most_probes),
            f"{layout.pages:.1f}",
            format_count(layout.most_pages),
            layout.tail,
            layout.extra_size,
            layout.note,
        )
        for layout in layouts_view.layouts
    ]


def figure(layouts_view: LayoutBarsView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    layout_names = [
        f"<b>{layout.name}</b>" if index == layouts_view.kafka_row else layout.name
        for index, layout in enumerate(layouts_view.layouts)
    ]
    height_px = ROW_PX * max(len(layout_names), 1) + TOP + BOTTOM
    chart = go.Figure()
    for number, currency in enumerate(CURRENCIES, 1):
        _add_panel(chart, number, currency, layouts_view, colours)
    axis = theme.row_axis(layout_names) | {"automargin": False}
    chart.update_layout(
        theme.chart_layout(mode, height_px, (LEFT, 8, TOP, BOTTOM)),
        barmode="overlay",
        annotations=[
            _heading_annotation(currency, half[0], colours)
            for currency, half in zip(CURRENCIES, HALVES, strict=True)
        ],
        yaxis=axis,
        yaxis2=axis | {"anchor": "x2", "showticklabels": False},
    )
    return chart


def _add_panel(
    chart: go.Figure,
    number: int,
    currency: str,
    layouts_view: LayoutBarsView,
    colours: Mapping[str, str],
) -> None:
    """Draws the means of one currency as bars, and the largest values as lines under the bars."""
    means = [getattr(layout, currency) for layout in layouts_view.layouts]
    most_values = [getattr(layout, f"most_{currency}") for layout in layouts_view.layouts]
    indexes = list(range(len(means)))
    limit = max(means, default=1) * 1.6
    bar_colours = [
        colours["ink"] if index == layouts_view.kafka_row else colours["log"] for index in indexes
    ]
    axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number > 1 else {}
    hover_texts = [
        say(
            f"layout_bars.hover_{currency}",
            name=layout.name,
            mean=f"{mean:.1f}",
            most=format_count(most),
        )
        for layout, mean, most in zip(layouts_view.layouts, means, most_values, strict=True)
    ]
    chart.add_bar(
        orientation="h",
        x=[min(most, limit) for most in most_values],
        y=indexes,
        width=0.1,
        marker={"color": colours["line_2"], "line": {"width": 0}, "cornerradius": 0},
        name=f"most {currency}",
        **theme.hover(hover_texts),
        **axes,
    )
    chart.add_bar(
        orientation="h",
        x=means,
        y=indexes,
        width=0.56,
        marker={"color": bar_colours, "line": {"width": 0}},
        name=currency,
        **theme.hover(hover_texts),
        **axes,
    )
    chart.add_scatter(
        x=[max(mean, min(most, limit)) for mean, most in zip(means, most_values, strict=True)],
        y=indexes,
        mode="text",
        hoverinfo="skip",
        text=[f" {mean:.1f}" for mean in means],
        textposition="middle right",
        cliponaxis=False,
        name=f"{currency} in figures",
        textfont={"size": 12, "color": colours["ink_2"]},
        **axes,
    )
    half = {"domain": list(HALVES[number - 1])}
    axis_name = f"xaxis{number if number > 1 else ''}"
    chart.update_layout({axis_name: theme.bar_axis(limit * 1.12, 5) | half})


def _heading_annotation(text: str, x: float, colours: Mapping[str, str]) -> dict:
    return theme.note(
        say(f"layout_bars.{text}"),
        colours["ink_2"],
        xref="paper",
        x=x,
        xanchor="left",
        yref="paper",
        y=1,
        yshift=10,
    )
