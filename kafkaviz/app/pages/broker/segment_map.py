"""The map of the segments: one row per topic-partition, one bar per segment."""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis.broker import overview as overview_table
from kafkaviz.analysis.broker.overview import BrokerOverview
from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import pages
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.figures.broker import map_rows
from kafkaviz.figures.broker.broker_map import REMOTE
from kafkaviz.figures.broker.map_rows import LARGEST, ROWS_A_PAGE, TEXT_KEYS
from kafkaviz.messages import say

if TYPE_CHECKING:
    from kafkaviz.figures.broker.broker_map import BrokerMapView

# kinds of segments that are always in the legend, and those that are only if they occur
USUAL_KINDS = ("closed", "active", "deleted")
RARE_KINDS = ("cleaned", "swap")


def render_segment_map(
    location: Location, snapshot: BrokerSnapshot, overview: BrokerOverview
) -> None:
    """Draws the map. A click on a bar opens that segment."""
    with st.container(key="kv_fig_map"):
        head = _map_row("head")
        middle = st.container()
        foot = _map_row("foot")
        heading = head.container()
        row_order = _choose_order(head)
        legend = foot.empty()
        broker_map = broker_cache.broker_map(
            snapshot, row_order, _choose_page(foot, len(overview.partitions)), charts.mode()
        )
        legend.html(_legend_html(overview, broker_map.view))
        with heading:
            elements.figure_head(broker_map.view.title, broker_map.view.caption)
        with middle:
            event = charts.plot(
                broker_map.figure,
                "kv_map",
                broker_map.view.alt,
                on_select="rerun",
                selection_mode="points",
            )
    if event.selection.points:
        directory, base_offset = event.selection.points[0]["customdata"]
        st.switch_page(
            pages()["Segment"].script,
            query_params=page_state.address(location.directory, directory, int(base_offset)),
        )


def _map_row(name: str) -> DeltaGenerator:
    return st.container(horizontal=True, key=f"kv_map_{name}")


def _choose_order(head: DeltaGenerator) -> str:
    return choice.draw_bound(
        head.segmented_control,
        say("broker.order"),
        TEXT_KEYS,
        LARGEST,
        page_state.ORDER,
        format_func=lambda order_name: say(TEXT_KEYS[order_name]),
        required=True,
        label_visibility="collapsed",
    )


def _legend_html(overview: BrokerOverview, view: "BrokerMapView") -> str:
    """Returns the legend as HTML, rare colours and badges only if they occur."""
    kinds = [*USUAL_KINDS, *(kind for kind in RARE_KINDS if overview.count_kind(kind))]
    swatches = {kind: f"common.kind_{kind}" for kind in kinds}
    if any(partition.remote_bases for partition in overview.partitions):
        swatches[REMOTE] = "broker.hover_remote"
    swatches |= (
        {"torn": "broker.key_torn"} if overview_table.torn_mask(overview.segments).any() else {}
    ) | {"dense": "broker.key_dense"}
    severities = {badge.severity for row in view.rows if (badge := row.badge)}
    swatches |= {
        severity: f"broker.key_{severity}"
        for severity in ("error", "warning")
        if severity in severities
    }
    return elements.key((swatch, say(key)) for swatch, key in swatches.items())


def _choose_page(foot: DeltaGenerator, count: int) -> int:
    """Draws the page control, if there are several pages, and returns the page, from 0."""
    if map_rows.page_count(count) == 1:
        return 0
    page = foot.pagination(map_rows.page_count(count), key=page_state.ROWS, bind="query-params") - 1
    first = page * ROWS_A_PAGE + 1
    last = min((page + 1) * ROWS_A_PAGE, count)
    rows_text = say(
        "broker.rows_of",
        first=units.format_count(first),
        last=units.format_count(last),
        count=units.format_count(count),
    )
    foot.html(f'<div class="kv-sm kv-fnt">{rows_text}</div>')
    return page
