"""A figure of the index pages that a lookup of the newest entry reads, at two index sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.page_replay import (
    ENTRIES_PER_PAGE,
    IndexGrowth,
    Memory,
    Replay,
    tail_search,
)
from kafkaviz.app import page_state
from kafkaviz.figures import theme
from kafkaviz.figures.tokens import Kind, bar_marker, page_legend
from kafkaviz.messages import message, say
from kafkaviz.render.sentences import join_comma
from kafkaviz.search import binary_search
from kafkaviz.search.index_search import ENTRY_BYTES, OFFSET
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import page_faults
from kafkaviz.workshop.figures.figure import (
    Destination,
    Part,
    drawing,
    drawn_figure,
    hover_points,
    note,
    quiz_figure,
)
from kafkaviz.workshop.figures.page_faults import PageFaultsView
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEIGHT_PX = 252
HEAD_PX = 26
LANE_PX = 72
LANE_STEP_PX = 118
MAX_NUMBERED = 40  # with more pages, only some are numbered
GAP = 0.03  # the gap between two pages, as a share of a page
HEAT: tuple[Kind, ...] = ("hot", "cold")
NO_LABELS = {"showgrid": False, "showticklabels": False, "ticks": "", "title": None}


@dataclass(frozen=True)
class PagesLane:
    """An index at one size, and the lookup of its newest entry."""

    entries: int
    pages: int
    probed_pages: tuple[int, ...]  # pages that the lookup reads, in the order of their first probe
    fresh_pages: tuple[int, ...]  # of these, the pages that were not read at the smaller size
    hot_pages: tuple[int, ...]  # pages in memory: read at the smaller size, or written since


@dataclass(frozen=True)
class MovingMiddlesView:
    title: str
    question: str
    caption: str
    lanes: tuple[PagesLane, PagesLane]


def _lane(entries: int, before: PagesLane | None) -> PagesLane:
    search = tail_search(entries, None)
    probed_pages = tuple(dict.fromkeys(probe.slot // ENTRIES_PER_PAGE for probe in search.probes))
    pages = binary_search.page_count(entries, ENTRY_BYTES[OFFSET])
    known_pages = before.probed_pages if before else probed_pages
    written_pages = range(before.pages, pages) if before else ()
    fresh_pages = tuple(page for page in probed_pages if page not in known_pages)
    return PagesLane(entries, pages, probed_pages, fresh_pages, (*known_pages, *written_pages))


def _join(pages: tuple[int, ...]) -> str:
    return join_comma(map(str, pages)) or say("common.none")


def rows(middles: MovingMiddlesView) -> list[tuple[str, str, str, str]]:
    """Returns a row per size: entries, pages, pages read, pages not read before."""
    return [
        (
            format_count(lane.entries),
            str(lane.pages),
            _join(lane.probed_pages),
            _join(lane.fresh_pages),
        )
        for lane in middles.lanes
    ]


def question_figure(middles: MovingMiddlesView, mode: str) -> go.Figure:
    return figure(middles, mode, is_answered=False)


def figure(middles: MovingMiddlesView, mode: str, *, is_answered: bool = True) -> go.Figure:
    colours = theme.colours(mode)
    before, after = middles.lanes
    lanes = ((before, HEAD_PX, True), (after, HEAD_PX + LANE_STEP_PX, is_answered))
    bars = [_page_bars(lane, top, kind, mode) for lane, top, _ in lanes for kind in HEAT]
    hover = [_hover_trace(lane, top) for lane, top, is_shown in lanes if is_shown]
    return go.Figure([*bars, *hover]).update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (2, 2, 0, 0)),
        hovermode="closest",
        barmode="overlay",
        shapes=[
            shape
            for lane, top, is_shown in lanes
            if is_shown
            for shape in _frames(lane, top, colours)
        ],
        xaxis=theme.PLAIN_AXIS | NO_LABELS | {"range": [0, max(before.pages, after.pages)]},
        yaxis=theme.PLAIN_AXIS | NO_LABELS | {"range": [HEIGHT_PX, 0]},
        annotations=[
            note
            for lane, top, is_shown in lanes
            for note in _notes(lane, top, colours, is_shown=is_shown)
        ],
    )


def _page_bars(lane: PagesLane, top: int, kind: Kind, mode: str) -> go.Bar:
    pages = [page for page in range(lane.pages) if (page in lane.hot_pages) == (kind == "hot")]
    return go.Bar(
        orientation="h",
        base=[page + GAP for page in pages],
        x=[1 - 2 * GAP] * len(pages),
        y=[top] * len(pages),
        width=LANE_PX,
        offset=0,
        name=kind,
        marker=bar_marker(kind, mode) | {"cornerradius": 0},
        hoverinfo="skip",
    )


def _frames(lane: PagesLane, top: int, colours: Mapping[str, str]) -> list[dict]:
    line = {"color": colours["ink"], "width": 2}
    return [
        theme.rectangle(page + GAP, page + 1 - GAP, top, top + LANE_PX, line=line)
        for page in lane.probed_pages
    ]


def _notes(lane: PagesLane, top: int, colours: Mapping[str, str], *, is_shown: bool) -> list[dict]:
    name = f"<b>{say('moving_middles.lane', entries=lane.entries, n=lane.pages)}</b>"
    if not is_shown:
        name = say("moving_middles.open", lane=name)
    notes = [note(0, top - 13, name, colours["ink"], xanchor="left")]
    step = -(-lane.pages // MAX_NUMBERED)
    below = top + LANE_PX + 11
    for page in range(lane.pages):
        x = page + 0.5
        if is_shown and page in lane.probed_pages:
            order = _ordinal(lane.probed_pages.index(page) + 1)
            notes += [
                note(x, below, f"<b>{page}</b>", colours["ink"], xanchor="center"),
                note(x, top + LANE_PX / 2, order, colours["ink"], size=18, xanchor="center"),
            ]
        elif page % step == 0 and (is_shown or step == 1):
            notes.append(note(x, below, str(page), colours["ink_3"], size=12, xanchor="center"))
    return notes


def _ordinal(order: int) -> str:
    circled = "①②③④⑤⑥⑦⑧⑨"
    return circled[order - 1] if order <= len(circled) else str(order)


def _hover_trace(lane: PagesLane, top: int) -> go.Scatter:
    keys = {True: "moving_middles.hover_fresh", False: "moving_middles.hover"}
    texts = [
        say(keys[page in lane.fresh_pages], page=page, order=order)
        for order, page in enumerate(lane.probed_pages, 1)
    ]
    x = [page + 0.5 for page in lane.probed_pages]
    y = [top + LANE_PX / 2] * len(x)
    return hover_points(str(lane.entries), x, y, texts, size=30)


MB = 1_000_000
MIDDLES_HEADS = (
    "moving_middles.head_entries",
    "page_cache.pages",
    "moving_middles.head_read",
    "moving_middles.head_fresh",
)
MAX_MIDDLES_ENTRIES = 40 * ENTRIES_PER_PAGE


def _make_page_faults(block: LessonBlock) -> PageFaultsView:
    growth = IndexGrowth(block["pages"] * ENTRIES_PER_PAGE, block["gap"], ENTRY_BYTES[OFFSET])
    memory = Memory(cold_after_bytes=block["cold"] * MB)
    return page_faults.view(_replay(growth, memory, block["search"]), block["search"])


@st.cache_resource(max_entries=128, show_spinner=False)
def _replay(growth: IndexGrowth, memory: Memory, search: str) -> Replay:
    warm_bytes = None if search == page_faults.PLAIN else binary_search.WARM_BYTES
    return page_replay.replay(growth, memory, warm_bytes=warm_bytes, columns=page_faults.COLUMNS)


def _draw_page_faults(
    view: PageFaultsView, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    if not is_answered:
        view = page_faults.cut(view, block["until"] * ENTRIES_PER_PAGE)
        key = f"{key}_until"
    return [drawing(page_faults.figure, view, block, key, below=page_legend(*HEAT))]


def _make_middles(block: LessonBlock) -> MovingMiddlesView:
    if not 0 < block["entries"] < block["then"] <= MAX_MIDDLES_ENTRIES:
        raise NoValue(message("moving_middles.sizes", most=MAX_MIDDLES_ENTRIES))
    before = _lane(block["entries"], None)
    after = _lane(block["then"], before)
    read_before = _join(before.probed_pages)
    read = _join(after.probed_pages)
    return MovingMiddlesView(
        say("moving_middles.title", pages=after.pages, read=read, before=read_before),
        say("moving_middles.question", pages=before.pages, read=read_before),
        say("moving_middles.below"),
        (before, after),
    )


def _link_to_size(pages: int) -> Destination:
    return "Page cache", {page_state.INDEX_PAGES: str(pages)}


PAGES = quiz_figure(
    _make_page_faults, _draw_page_faults, lambda block: _link_to_size(block["pages"])
)
MIDDLES = drawn_figure(
    _make_middles,
    lambda block: _link_to_size(binary_search.page_count(block["then"], ENTRY_BYTES[OFFSET])),
    (figure, question_figure),
    heads=MIDDLES_HEADS,
    rows=rows,
    kinds="rrll",
    legend=partial(page_legend, *HEAT),
)
