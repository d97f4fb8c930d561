"""One lookup at the end of an index, page by page.

The figure shows the probes of plain binary search and those of the search with a warm section.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.analysis.page_cache.index_layouts import ENTRIES_PER_PAGE, ENTRY_BYTES
from kafkaviz.analysis.page_cache.page_replay import TailLookup, tail_lookup
from kafkaviz.figures import theme
from kafkaviz.figures.text.sentences import join_comma
from kafkaviz.messages import say
from kafkaviz.search import slots
from kafkaviz.search.slots import WARM_BYTES
from kafkaviz.units import format_count

FEWEST_PAGES = 14  # pages drawn at least; pages that do not exist yet are dashed
MAX_PAGES = 40  # with more pages, only some are numbered
LANE_AXIS = {  # an invisible axis for lanes of pages
    "showgrid": False,
    "fixedrange": True,
    "showline": False,
    "zeroline": False,
    "showticklabels": False,
    "ticks": "",
    "title": None,
}
# figure, lane, and from one lane to the next
HEIGHT_PX = 176
LANE_PX = 46
LANE_STEP_PX = 72


@dataclass(frozen=True, kw_only=True)
class TailPagesView:
    """The two searches in an index.

    Attributes:
        pages_drawn: number of pages that have room.
        lanes: the search by plain binary search, and the one with a warm section.
    """

    title: str
    caption: str
    entries: int
    pages: int
    pages_drawn: int
    lanes: tuple[TailLookup, TailLookup]


def view(entries: int) -> TailPagesView:
    """Returns a lookup at the end of an index of 8 bytes per entry and 4 KiB per page."""
    plain = tail_lookup(entries, None)
    warm = tail_lookup(entries, WARM_BYTES)
    if len(plain.pages) > 1:
        title_key = "tail_pages.title"
    elif plain.pages:
        title_key = "tail_pages.title_one"
    else:
        title_key = "tail_pages.title_none"
    title = say(title_key, entries=format_count(entries), pages=_join_pages(plain.pages))
    caption = say("tail_pages.below", pages=_join_pages(warm.pages))
    pages = slots.page_count(entries, ENTRY_BYTES)
    return TailPagesView(
        title=title,
        caption=caption,
        entries=entries,
        pages=pages,
        pages_drawn=max(FEWEST_PAGES, pages),
        lanes=(plain, warm),
    )


def _join_pages(pages: tuple[int, ...]) -> str:
    return join_comma(map(str, pages)) or say("common.none")


def _named_lanes(pages_view: TailPagesView) -> Iterator[tuple[str, TailLookup]]:
    return zip((say("tail_pages.plain"), say("tail_pages.warm")), pages_view.lanes, strict=True)


def rows(pages_view: TailPagesView) -> list[tuple[str, str, str, str]]:
    """Returns rows of search, number of the probe, slot, page."""
    return [
        (name, str(n), format_count(slot), str(slot // ENTRIES_PER_PAGE))
        for name, lane in _named_lanes(pages_view)
        for n, slot in enumerate(lane.probes, 1)
    ]


def figure(pages_view: TailPagesView, mode: str) -> go.Figure:
    """Draws the view in a mode, "light" or "dark"; x counts pages, y pixels from the top."""
    colours = theme.colours(mode)
    shapes = []
    traces = []
    annotations = _page_annotations(pages_view, colours)
    for number, (name, lane) in enumerate(_named_lanes(pages_view)):
        top = 28 + number * LANE_STEP_PX
        shapes += _lane_shapes(pages_view, lane, top, colours)
        traces += _lane_traces(pages_view, name, lane, top, colours)
        annotations += _lane_annotations(name, lane, top, colours)
    chart = go.Figure(traces)
    chart.update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (112, 2, 0, 0)),
        barmode="overlay",
        shapes=shapes,
        xaxis=LANE_AXIS | {"range": [0, pages_view.pages_drawn]},
        yaxis=LANE_AXIS | {"range": [HEIGHT_PX, 0]},
        annotations=annotations,
    )
    return chart


def _lane_shapes(
    pages_view: TailPagesView, lane: TailLookup, top: int, colours: dict[str, str]
) -> list[dict]:
    """Draws a box per page: touched pages have a frame, pages that do not exist yet are dashed."""
    boxes = []
    for page in range(pages_view.pages_drawn):
        is_present = page < pages_view.pages
        is_touched = page in lane.pages
        line = (
            {"color": colours["ink"], "width": 2}
            if is_touched
            else {"color": colours["line_2"], "width": 0 if is_present else 1, "dash": "dot"}
        )
        fill = colours["offset_soft"] if is_present else "rgba(0,0,0,0)"
        box = {
            "x0": page + 0.025,
            "x1": page + 0.975,
            "y0": top,
            "y1": top + LANE_PX,
            "fillcolor": fill,
            "layer": "below",
        }
        boxes.append({"type": "rect", "line": line, **box})
    return boxes


def _lane_traces(
    pages_view: TailPagesView, name: str, lane: TailLookup, top: int, colours: dict[str, str]
) -> list:
    end = pages_view.entries / ENTRIES_PER_PAGE
    bars = []
    if pages_view.entries % ENTRIES_PER_PAGE:
        bars.append(
            _hatched_bar(
                end,
                pages_view.pages - 0.025,
                top + 1,
                LANE_PX - 2,
                shape=".",
                colour=colours["unwritten"],
                background=colours["unwritten_soft"],
                name=say("tail_pages.free"),
            )
        )
    if lane.warm_from_slot is not None:
        bars.append(
            _hatched_bar(
                lane.warm_from_slot / ENTRIES_PER_PAGE,
                end,
                top + LANE_PX - 6,
                6,
                shape="/",
                colour=colours["warm"],
                background=colours["warm_soft"],
                name=say("tail_pages.section"),
            )
        )
    hover = say(
        "tail_pages.hover",
        probe="%{customdata[0]}",
        slot="%{customdata[1]}",
        page="%{customdata[2]}",
    )
    dots = go.Scatter(
        x=[slot / ENTRIES_PER_PAGE for slot in lane.probes],
        y=[top + 10 + number % 3 * 10 for number in range(len(lane.probes))],
        mode="markers",
        marker={"size": 7, "color": colours["ink"], "opacity": 0.85},
        cliponaxis=False,
        name=name,
        customdata=[
            (number, format_count(slot), slot // ENTRIES_PER_PAGE)
            for number, slot in enumerate(lane.probes, 1)
        ],
        hovertemplate=f"{hover}<extra></extra>",
    )
    return [*bars, dots]


def _hatched_bar(
    x0: float,
    x1: float,
    top: int,
    height: int,
    *,
    shape: str,
    colour: str,
    background: str,
    name: str,
) -> go.Bar:
    pattern = {
        "shape": shape,
        "fgcolor": colour,
        "bgcolor": background,
        "size": 6,
        "solidity": 0.25,
        "fillmode": "replace",
    }
    return go.Bar(
        orientation="h",
        base=[x0],
        x=[x1 - x0],
        y=[top],
        width=[height],
        offset=0,
        name=name,
        marker={"pattern": pattern, "line": {"width": 0}, "cornerradius": 0},
        hovertemplate=f"{name}<extra></extra>",
    )


def _page_annotations(pages_view: TailPagesView, colours: dict[str, str]) -> list[dict]:
    plain = pages_view.lanes[0].pages
    step = 1 if pages_view.pages_drawn <= MAX_PAGES else -(-pages_view.pages_drawn // MAX_PAGES)
    annotations = []
    for page in range(pages_view.pages_drawn):
        is_touched = page in plain
        if is_touched or page % step == 0:
            name = say("tail_pages.first_page", page=page) if page == 0 else str(page)
            text = f"<b>{name}</b>" if is_touched else str(page)
            colour = colours["ink" if is_touched else "ink_3"]
            annotations.append(theme.note(text, colour, x=page + 0.5, y=18, xanchor="center"))
    return annotations


def _lane_annotations(name: str, lane: TailLookup, top: int, colours: dict[str, str]) -> list[dict]:
    count = say("tail_pages.costs", probes=len(lane.probes), pages=len(lane.pages))
    left = {"xref": "paper", "x": 0, "xshift": -112, "xanchor": "left"}
    return [
        theme.note(f"<b>{name}</b>", colours["ink"], 13.5, y=top + 14, **left),
        theme.note(count, colours["ink_3"], y=top + 32, **left),
    ]
