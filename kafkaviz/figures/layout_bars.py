"""What if Kafka searched otherwise: probes and pages of one search, a row a way, two currencies
side by side.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.search.layouts import Cost
from kafkaviz.units import group, size
from kafkaviz.words import say

ROW_PX, TOP, BOTTOM, LEFT = 26, 22, 26, 168
HALVES = ((0.0, 0.46), (0.54, 1.0))
WARM = "Warm section first"  # in LAYOUTS


@dataclass(frozen=True)
class Way:
    """One way: means and largest of probes and of 4 KiB pages, over all targets; what it keeps
    beside the index, and why that is.
    """

    name: str
    probes: float
    most_probes: int
    pages: float
    most_pages: int
    tail: str
    extra: str
    note: str


@dataclass(frozen=True)
class LayoutBarsView:
    """The ways, Kafka's own marked by its place."""

    title: str
    below: str
    ways: tuple[Way, ...]
    kafkas: int | None


def view(costs: Sequence[Cost], entries: int, targets: int, workload: str) -> LayoutBarsView:
    """Of an index of so many entries, over so many targets; workload: which keys these are, in
    words.
    """
    ways = tuple(map(_way, costs))
    kafkas = next((place for place, cost in enumerate(costs) if cost.layout.name == WARM), None)
    below = say(
        "layout_bars.below", workload=workload, targets=group(targets), entries=group(entries)
    )
    return LayoutBarsView(_title(ways, kafkas), below, ways, kafkas)


def _way(cost: Cost) -> Way:
    name = key(cost.layout.name)
    extra = size(cost.extra_bytes) if cost.extra_bytes else say("layout_bars.no_extra")
    means = (cost.probes_mean, cost.probes_max, cost.pages_mean, cost.pages_max)
    return Way(
        say(name), *means, f"{cost.tail_probes} / {cost.tail_pages}", extra, say(f"{name}_note")
    )


def key(name: str) -> str:
    """Where the catalogue has the words of a layout: layout_bars.piecewise_linear_8 of "Piecewise
    linear, ε 8".
    """
    return "layout_bars." + "_".join(re.findall(r"[a-z0-9]+", name.lower()))


def _title(ways: Sequence[Way], kafkas: int | None) -> str:
    if kafkas is None:
        return say("layout_bars.none")
    fewest = min(ways, key=lambda way: way.probes)
    pages = min(ways, key=lambda way: (way.pages, way.probes))
    own = ways[kafkas]
    values = {
        "probes": fewest.probes,
        "kafkas": own.probes,
        "pages": pages.pages,
        "kafkas_pages": own.pages,
    }
    told = {name: f"{value:.1f}" for name, value in values.items()}
    return say("layout_bars.title", fewest=fewest.name, other=_lower(pages.name), **told)


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def rows(shown: LayoutBarsView) -> list[tuple[str, ...]]:
    """The figure as a table: the way, probes, the most, pages, the most, at the tail, beside the
    index, a note.
    """
    return [
        (
            way.name,
            f"{way.probes:.1f}",
            group(way.most_probes),
            f"{way.pages:.1f}",
            group(way.most_pages),
            way.tail,
            way.extra,
            way.note,
        )
        for way in shown.ways
    ]


def figure(shown: LayoutBarsView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    places = list(range(len(shown.ways)))
    chart = go.Figure()
    heads = []
    for number, (head, mean, most) in enumerate(
        (("probes", "probes", "most_probes"), ("pages", "pages", "most_pages")), 1
    ):
        means, worst = (
            [getattr(way, mean) for way in shown.ways],
            [getattr(way, most) for way in shown.ways],
        )
        _panel(chart, number, places, means, worst, head, shown, ink)
        limit = max(means, default=1) * 1.6
        chart.update_layout(
            {f"xaxis{number if number > 1 else ''}": _across(limit, HALVES[number - 1])}
        )
        heads.append(_head(head, HALVES[number - 1][0], ink))
    axis = {
        "range": [len(places) - 0.5, -0.5],
        "ticks": "",
        "ticklabelstandoff": 6,
        "showgrid": False,
        "fixedrange": True,
        "title": None,
        "automargin": False,
    }
    names = [
        f"<b>{way.name}</b>" if place == shown.kafkas else way.name
        for place, way in enumerate(shown.ways)
    ]
    chart.update_layout(
        template=theme.template(mode),
        height=ROW_PX * max(len(places), 1) + TOP + BOTTOM,
        showlegend=False,
        barmode="overlay",
        margin={"l": LEFT, "r": 8, "t": TOP, "b": BOTTOM},
        annotations=heads,
        yaxis=axis | {"tickvals": places, "ticktext": names},
        yaxis2=axis | {"anchor": "x2", "showticklabels": False},
    )
    return chart


def _panel(chart, number, places, means, worst, what, shown, ink) -> None:
    limit = max(means, default=1) * 1.6
    colours = [ink["ink"] if place == shown.kafkas else ink["log"] for place in places]
    axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number > 1 else {}
    told = [
        say(f"layout_bars.hover_{what}", name=way.name, mean=f"{mean:.1f}", most=group(most))
        for way, mean, most in zip(shown.ways, means, worst, strict=True)
    ]
    hover = {"customdata": told, "hovertemplate": "%{customdata}<extra></extra>"}
    thin = {"color": ink["line_2"], "line": {"width": 0}, "cornerradius": 0}
    chart.add_bar(
        orientation="h",
        x=[min(one, limit) for one in worst],
        y=places,
        width=0.1,
        marker=thin,
        name=f"most {what}",
        **hover,
        **axes,
    )
    chart.add_bar(
        orientation="h",
        x=means,
        y=places,
        width=0.56,
        marker={"color": colours, "line": {"width": 0}},
        name=what,
        **hover,
        **axes,
    )
    chart.add_scatter(
        x=[max(mean, min(most, limit)) for mean, most in zip(means, worst, strict=True)],
        y=places,
        mode="text",
        hoverinfo="skip",
        text=[f" {mean:.1f}" for mean in means],
        textposition="middle right",
        cliponaxis=False,
        name=f"{what} in figures",
        textfont={"size": 12, "color": ink["ink_2"]},
        **axes,
    )


def _across(limit: float, half: tuple[float, float]) -> dict:
    look = {
        "showgrid": True,
        "showline": False,
        "ticks": "",
        "fixedrange": True,
        "nticks": 5,
        "title": None,
    }
    return look | {"range": [0, limit * 1.12], "domain": list(half)}


def _head(text: str, x: float, ink: dict[str, str]) -> dict:
    place = {"xref": "paper", "x": x, "yref": "paper", "y": 1, "yshift": 10}
    return place | {
        "text": say(f"layout_bars.{text}"),
        "showarrow": False,
        "xanchor": "left",
        "font": {"size": 12, "color": ink["ink_2"]},
    }
