"""The path of a lookup through its indexes: each probe, and the slot that it reads.

There is one panel per searched index: the time index, then the offset index of each segment that
was tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.messages import render, say
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.units import format_count

PANEL_PX = 190
HEAD_PX = 8
FOOT_PX = 44


@dataclass(frozen=True, kw_only=True)
class SearchPanel:
    title: str
    kind: str
    entries: int
    # for each probe: the slot, its key, and how the key compares with the target
    probes: tuple[tuple[int, int, str], ...]
    slot: int  # the slot that was found, -1 for none
    warm_from_slot: int | None  # the first slot of the warm section; None for a plain search


@dataclass(frozen=True)
class SearchPathView:
    title: str
    panels: tuple[SearchPanel, ...]


def view(lookup: Lookup) -> SearchPathView:
    return SearchPathView(render(lookup.title), tuple(map(_panel, lookup.searches)))


def _panel(search: IndexSearch) -> SearchPanel:
    slots = search.slot_search
    count = len(slots.probes)
    return SearchPanel(
        title=say("search_path.panel", n=count, file=search.file, entries=slots.entries),
        kind="offset" if search.kind == OFFSET else "time",
        entries=slots.entries,
        probes=tuple((probe.slot, probe.key, probe.compare) for probe in slots.probes),
        slot=slots.slot,
        warm_from_slot=slots.warm_from_slot,
    )


def figure(path: SearchPathView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    count = max(len(path.panels), 1)
    chart = go.Figure()
    height = HEAD_PX + FOOT_PX + PANEL_PX * count
    chart.update_layout(
        theme.chart_layout(mode, height, (64, 16, HEAD_PX, FOOT_PX)),
        annotations=[theme.axis_name(say("search_path.axis_probe"), colours)],
    )
    for number, panel in enumerate(path.panels, start=1):
        _add_panel(chart, panel, number, count, colours)
    return chart


def _add_panel(
    chart: go.Figure, panel: SearchPanel, number: int, count: int, colours: Mapping[str, str]
) -> None:
    suffix = "" if number == 1 else str(number)
    top = 1 - (number - 1) / count
    bottom = 1 - number / count
    names = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    steps = list(range(1, len(panel.probes) + 1))
    chart.add_scatter(
        x=steps,
        y=[slot for slot, _, _ in panel.probes],
        mode="lines+markers",
        line={"color": colours[f"{panel.kind}_text"], "width": 1.5},
        marker={"size": 8, "color": colours[panel.kind]},
        customdata=[(format_count(slot), key, compare) for slot, key, compare in panel.probes],
        hovertemplate=say("search_path.hover") + "<extra></extra>",
        **names,
    )
    if panel.slot >= 0:
        chart.add_scatter(
            x=[len(steps) + 1],
            y=[panel.slot],
            mode="markers",
            marker={"size": 12, "symbol": "diamond", "color": colours["ink"]},
            hovertemplate=say("search_path.hover_found", slot=panel.slot) + "<extra></extra>",
            **names,
        )
    last = max(panel.entries - 1, 1)
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
    if panel.warm_from_slot is not None and panel.entries:
        section = theme.area(colours[panel.kind], x0=0, x1=1, xref=f"{names['xaxis']} domain")
        height = {"yref": names["yaxis"], "y0": panel.warm_from_slot, "y1": panel.entries - 1}
        chart.add_shape(section | height | {"opacity": 0.12})
    y = top - 0.13 / count
    title = theme.note(panel.title, colours["ink_2"], xref="paper", x=0, xanchor="left", y=y)
    chart.add_annotation(title | {"yref": "paper", "yanchor": "bottom"})
