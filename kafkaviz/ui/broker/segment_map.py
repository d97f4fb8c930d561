"""The map of the segments: a row a topic-partition, a bar a segment; a click on a bar opens it."""

from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analyse import overview as table
from kafkaviz.analyse.overview import Overview
from kafkaviz.figures import map_rows
from kafkaviz.figures.map_rows import AT_ONCE, LARGEST, SAYS
from kafkaviz.ui import cache, charts, choice, parts, state
from kafkaviz.ui.broker.kinds import ALWAYS, SOMETIMES
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.frame import pages
from kafkaviz.ui.pick import Place
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.figures.broker_map import BrokerMapView


def segment_map(place: Place, here: Listed, known: Overview) -> None:
    """The map; a click on a bar opens that segment."""
    with st.container(key="kv_fig_map"):
        head, middle, foot = _line("head"), st.container(), _line("foot")
        words, order = head.container(), _order(head)
        signs = foot.empty()
        drawn = cache.broker_map(
            here, order, _pages_of_rows(foot, len(known.partitions)), charts.mode()
        )
        signs.html(_key_of(known, drawn.view))
        with words:
            parts.figure_head(drawn.view.title, drawn.view.below)
        with middle:
            event = charts.plot(
                drawn.figure, "kv_map", drawn.view.alt, on_select="rerun", selection_mode="points"
            )
    if event.selection.points:
        directory, base_offset = event.selection.points[0]["customdata"]
        st.switch_page(
            pages()["Segment"].script,
            query_params=state.address(place.directory, directory, int(base_offset)),
        )


def _line(name: str) -> DeltaGenerator:
    """What stands beside each other above the map, or below it."""
    return st.container(horizontal=True, key=f"kv_map_{name}")


def _order(head: DeltaGenerator) -> str:
    """By what the rows are ordered."""
    look: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
    return choice.ask(
        head.segmented_control,
        say("broker.order"),
        SAYS,
        LARGEST,
        state.ORDER,
        lambda one: say(SAYS[one]),
        **look,
    )


def _key_of(known: Overview, drawn: "BrokerMapView") -> str:
    """What the colours and marks of the map mean, as HTML: of the rare ones those that are
    there.
    """
    kinds = [*ALWAYS, *(kind for kind in SOMETIMES if known.count(kind))]
    swatches = {kind: f"common.kind_{kind}" for kind in kinds}
    swatches |= ({"torn": "broker.key_torn"} if table.torn(known.segments).any() else {}) | {
        "dense": "broker.key_dense"
    }
    found = {mark.severity for row in drawn.rows if (mark := row.mark)}
    swatches |= {
        severity: f"broker.key_{severity}" for severity in ("error", "warning") if severity in found
    }
    return parts.key((swatch, say(key)) for swatch, key in swatches.items())


def _pages_of_rows(foot: DeltaGenerator, count: int) -> int:
    """Which of the map's pages is shown, from 0; where one is enough there is nothing to choose."""
    if map_rows.pages(count) == 1:
        return 0
    page = foot.pagination(map_rows.pages(count), key=state.ROWS, bind="query-params") - 1
    first, last = page * AT_ONCE + 1, min((page + 1) * AT_ONCE, count)
    shown = say(
        "broker.rows_of", first=units.group(first), last=units.group(last), count=units.group(count)
    )
    foot.html(f'<div class="kv-sm kv-fnt">{shown}</div>')
    return page
