"""One lookup at the end of an index, page by page: where plain bisection probes, and where the
search with a warm section does.
"""

from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.figures.listed import listed
from kafkaviz.search import slots
from kafkaviz.search.layouts import A_PAGE, ENTRY_BYTES
from kafkaviz.search.pages import tail_search
from kafkaviz.search.slots import WARM_BYTES
from kafkaviz.units import group
from kafkaviz.words import say

FEWEST_PAGES = 14  # drawn, those that are not there yet dashed
MOST_PAGES = 40  # drawn one by one
HEIGHT, LANE, ROOM = 176, 46, 72  # a lane's height, and from one lane to the next


@dataclass(frozen=True)
class Lane:
    """One of the two searches. probes: the slots it reads, in order; warm_from: a slot, None for
    plain.
    """

    name: str
    probes: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from: int | None


@dataclass(frozen=True)
class TailPagesView:
    """Both searches in an index of so many entries; pages_drawn: how many pages have room."""

    title: str
    below: str
    entries: int
    pages: int
    pages_drawn: int
    lanes: tuple[Lane, ...]


def view(entries: int) -> TailPagesView:
    """A lookup at the end of an index of 8 bytes an entry and 4 KiB a page."""
    plain, warm = (
        _lane(say(f"tail_pages.{name}"), entries, warm_bytes)
        for name, warm_bytes in (("plain", None), ("warm", WARM_BYTES))
    )
    key = f"tail_pages.title{'' if len(plain.pages) > 1 else '_one' if plain.pages else '_none'}"
    title = say(key, entries=group(entries), pages=_numbers(plain.pages))
    below = say("tail_pages.below", pages=_numbers(warm.pages))
    pages = slots.page_count(entries, ENTRY_BYTES)
    return TailPagesView(title, below, entries, pages, max(FEWEST_PAGES, pages), (plain, warm))


def _lane(name: str, entries: int, warm_bytes: int | None) -> Lane:
    search = tail_search(entries, warm_bytes)
    probes = tuple(probe.slot for probe in search.probes)
    return Lane(
        name,
        probes,
        search.pages,
        None if warm_bytes is None else slots.first_warm_slot(entries, ENTRY_BYTES, warm_bytes),
    )


def _numbers(pages: tuple[int, ...]) -> str:
    return listed(map(str, pages)) or say("tail_pages.none")


def rows(shown: TailPagesView) -> list[tuple[str, str, str, str]]:
    """The figure as a table: the search, its n-th probe, the slot, its page."""
    return [
        (lane.name, str(n), group(slot), str(slot // A_PAGE))
        for lane in shown.lanes
        for n, slot in enumerate(lane.probes, 1)
    ]


def figure(shown: TailPagesView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"; an x is a page, a y a pixel from the top."""
    ink = theme.colours(mode)
    tops = [28 + number * ROOM for number in range(len(shown.lanes))]
    shapes = [
        shape
        for lane, top in zip(shown.lanes, tops, strict=True)
        for shape in _lane_shapes(shown, lane, top, ink)
    ]
    chart = go.Figure(
        [
            trace
            for lane, top in zip(shown.lanes, tops, strict=True)
            for trace in _traces(shown, lane, top, ink)
        ]
    )
    axis = {
        "showgrid": False,
        "fixedrange": True,
        "showline": False,
        "zeroline": False,
        "showticklabels": False,
        "ticks": "",
        "title": None,
    }
    names = [
        note for lane, top in zip(shown.lanes, tops, strict=True) for note in _names(lane, top, ink)
    ]
    chart.update_layout(
        template=theme.template(mode),
        height=HEIGHT,
        margin={"l": 112, "r": 2, "t": 0, "b": 0},
        showlegend=False,
        barmode="overlay",
        shapes=shapes,
        xaxis=axis | {"range": [0, shown.pages_drawn]},
        yaxis=axis | {"range": [HEIGHT, 0]},
        annotations=[*_page_numbers(shown, ink), *names],
    )
    return chart


def _lane_shapes(shown: TailPagesView, lane: Lane, top: int, ink: dict[str, str]) -> list[dict]:
    """A box a page: those touched outlined, those not there yet dashed."""
    found = []
    for page in range(shown.pages_drawn):
        there, touched = page < shown.pages, page in lane.pages
        line = (
            {"color": ink["ink"], "width": 2}
            if touched
            else {"color": ink["line_2"], "width": 0 if there else 1, "dash": "dot"}
        )
        fill = ink["offset_soft"] if there else "rgba(0,0,0,0)"
        box = {
            "x0": page + 0.025,
            "x1": page + 0.975,
            "y0": top,
            "y1": top + LANE,
            "fillcolor": fill,
            "layer": "below",
        }
        found.append({"type": "rect", "line": line, **box})
    return found


def _traces(shown: TailPagesView, lane: Lane, top: int, ink: dict[str, str]) -> list:
    """What is hatched, and the dots."""
    end = shown.entries / A_PAGE
    free = (
        end,
        shown.pages - 0.025,
        top + 1,
        LANE - 2,
        ".",
        ink["unwritten"],
        ink["unwritten_soft"],
        say("tail_pages.free"),
    )
    hatched = [free] if shown.entries % A_PAGE else []
    if lane.warm_from is not None:
        hatched.append(
            (
                lane.warm_from / A_PAGE,
                end,
                top + LANE - 6,
                6,
                "/",
                ink["warm"],
                ink["warm_soft"],
                say("tail_pages.section"),
            )
        )
    hover = say(
        "tail_pages.hover",
        probe="%{customdata[0]}",
        slot="%{customdata[1]}",
        page="%{customdata[2]}",
    )
    dots = go.Scatter(
        x=[slot / A_PAGE for slot in lane.probes],
        y=[top + 10 + number % 3 * 10 for number in range(len(lane.probes))],
        mode="markers",
        marker={"size": 7, "color": ink["ink"], "opacity": 0.85},
        cliponaxis=False,
        name=lane.name,
        customdata=[
            (number, group(slot), slot // A_PAGE) for number, slot in enumerate(lane.probes, 1)
        ],
        hovertemplate=f"{hover}<extra></extra>",
    )
    return [*(_hatch(*one) for one in hatched), dots]


def _hatch(
    x0: float, x1: float, top: int, height: int, shape: str, colour: str, soft: str, words: str
) -> go.Bar:
    pattern = {
        "shape": shape,
        "fgcolor": colour,
        "bgcolor": soft,
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
        name=words,
        marker={"pattern": pattern, "line": {"width": 0}, "cornerradius": 0},
        hovertemplate=f"{words}<extra></extra>",
    )


def _page_numbers(shown: TailPagesView, ink: dict[str, str]) -> list[dict]:
    plain = shown.lanes[0].pages
    step = 1 if shown.pages_drawn <= MOST_PAGES else -(-shown.pages_drawn // MOST_PAGES)
    found = []
    for page in range(shown.pages_drawn):
        touched = page in plain
        if touched or page % step == 0:
            name = say("tail_pages.first_page", page=page) if page == 0 else str(page)
            text = f"<b>{name}</b>" if touched else str(page)
            font = {"size": 12, "color": ink["ink" if touched else "ink_3"]}
            found.append(
                {
                    "x": page + 0.5,
                    "y": 18,
                    "text": text,
                    "font": font,
                    "xanchor": "center",
                    "showarrow": False,
                }
            )
    return found


def _names(lane: Lane, top: int, ink: dict[str, str]) -> list[dict]:
    count = say("tail_pages.costs", probes=len(lane.probes), pages=len(lane.pages))
    words = ((lane.name, 14, 13.5, "ink", True), (count, 32, 12, "ink_3", False))
    return [
        {
            "xref": "paper",
            "x": 0,
            "xshift": -112,
            "y": top + down,
            "text": f"<b>{text}</b>" if bold else text,
            "showarrow": False,
            "xanchor": "left",
            "font": {"size": size, "color": ink[colour]},
        }
        for text, down, size, colour, bold in words
    ]
