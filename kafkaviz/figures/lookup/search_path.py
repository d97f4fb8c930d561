"""The path of a lookup through its indexes: each probe, and the slot that it reads.

There is one panel per searched index: the time index, then the offset index of each segment that
was tried.
"""

from collections.abc import Mapping

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.search.index_search import IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.units import format_count

PANEL_PX = 190
HEAD_PX = 8
FOOT_PX = 44


def figure(lookup: Lookup, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    count = max(len(lookup.searches), 1)
    chart = go.Figure()
    height = HEAD_PX + FOOT_PX + PANEL_PX * count
    chart.update_layout(
        theme.chart_layout(mode, height, (64, 16, HEAD_PX, FOOT_PX)),
        annotations=[theme.axis_name(say("search_path.axis_probe"), colours)],
    )
    for number, search in enumerate(lookup.searches, start=1):
        _add_panel(chart, search, number, count, colours)
    return chart


def _add_panel(
    chart: go.Figure, search: IndexSearch, number: int, count: int, colours: Mapping[str, str]
) -> None:
    slots = search.slot_search
    suffix = "" if number == 1 else str(number)
    top = 1 - (number - 1) / count
    bottom = 1 - number / count
    names = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    steps = list(range(1, len(slots.probes) + 1))
    chart.add_scatter(
        x=steps,
        y=[probe.slot for probe in slots.probes],
        mode="lines+markers",
        line={"color": colours[f"{search.kind}_text"], "width": 1.5},
        marker={"size": 8, "color": colours[search.kind]},
        customdata=[(format_count(each.slot), each.key, each.compare) for each in slots.probes],
        hovertemplate=say("search_path.hover") + "<extra></extra>",
        **names,
    )
    if slots.slot >= 0:
        chart.add_scatter(
            x=[len(steps) + 1],
            y=[slots.slot],
            mode="markers",
            marker={"size": 12, "symbol": "diamond", "color": colours["ink"]},
            hovertemplate=say("search_path.hover_found", slot=slots.slot) + "<extra></extra>",
            **names,
        )
    last = max(slots.entries - 1, 1)
    axis = theme.PLAIN_AXIS | theme.grid_lines(colours)
    chart.update_layout(
        {
            f"xaxis{suffix}": axis
            | {
                "range": [0.5, len(steps) + 1.5],
                "dtick": 1,
                "showgrid": False,
                "anchor": names["yaxis"],
                "showticklabels": number == count,
            },
            f"yaxis{suffix}": axis
            | {"range": [-0.06 * last, 1.06 * last], "domain": [bottom, top - 0.24 / count]},
        }
    )
    if slots.warm_from_slot is not None and slots.entries:
        section = theme.area(colours[search.kind], x0=0, x1=1, xref=f"{names['xaxis']} domain")
        height = {"yref": names["yaxis"], "y0": slots.warm_from_slot, "y1": slots.entries - 1}
        chart.add_shape(section | height | {"opacity": 0.12})
    y = top - 0.13 / count
    text = say("search_path.panel", n=len(slots.probes), file=search.file, entries=slots.entries)
    title = theme.note(text, colours["ink_2"], xref="paper", x=0, xanchor="left", y=y)
    chart.add_annotation(title | {"yref": "paper", "yanchor": "bottom"})
