"""The Broker page: the contents of a broker directory, and how densely it is indexed.

Its map has one row per topic-partition and one bar per segment.
"""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame, pages
from kafkaviz.app.pages.broker.head import render_head, render_page_links
from kafkaviz.app.pages.broker.partition_table import render_partition_table
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements, faults, progress_strip, upload
from kafkaviz.figures.broker import map_rows
from kafkaviz.figures.broker.broker_map import REMOTE
from kafkaviz.figures.broker.map_rows import LARGEST, ROWS_PER_PAGE, TEXT_KEYS
from kafkaviz.messages import say
from kafkaviz.units import escape_controls


@in_turn
def render_page() -> None:
    """Draws the page, or a notice if the directory has no topic-partition."""
    location = frame("Broker")
    status_slot = _render_path_form(location)
    snapshot = faults.require_snapshot(location)
    overview = broker_cache.overview(snapshot)
    if not overview.partitions:
        return faults.no_partition(snapshot.broker.path, overview.problems)
    source_note = say(
        "broker.read_full" if broker_cache.is_fresh(snapshot) else "broker.read_names"
    )
    status_slot.html(f'<div class="kv-sm kv-fnt kv-right">{source_note}</div>')
    _render_body(location, snapshot, overview)


def _render_body(location: Location, snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    render_head(snapshot, overview)
    render_page_links(location, overview)
    st.space(24)
    render_segment_map(location, snapshot, overview)
    st.space(12)
    strip = st.container()
    st.space(28)
    render_partition_table(location, overview)
    if overview.problems:
        st.space(28)
        faults.partial(
            int((~overview.segments["left_out"]).sum()),
            len(overview.segments),
            snapshot.broker.path,
            overview.problems,
        )
    with strip:  # last, because it may start Spark: the rest has been sent to the browser by then
        progress_strip.render_ingest_strip(snapshot)


def _render_path_form(location: Location) -> DeltaGenerator:
    """Draws the path field and the upload button. Returns the place for a note next to them."""
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # Each opening gets a new field, even for the same directory: in an old field the browser
        # would keep the typed text.
        directory_text = escape_controls(location.directory_text)
        key = f"kv_directory {st.session_state.get(page_state.OPEN_COUNT, 0)} {directory_text}"
        st.text_input(
            say("broker.field"),
            directory_text,
            label_visibility="collapsed",
            key=key,
            width=520,
            on_change=_request_open,
            args=(key, location.directory),
        )
        st.button(
            say("broker.open"),
            type="primary",
            key="kv_open",
            on_click=_request_open,
            args=(key, location.directory),
        )
        if (new_directory := st.session_state.pop(page_state.TYPED_PATH, None)) is not None:
            st.session_state[page_state.OPEN_COUNT] = (
                st.session_state.get(page_state.OPEN_COUNT, 0) + 1
            )
            st.switch_page("app.py", query_params=page_state.address(new_directory))
        if access.takes_uploads() and st.button(
            say("broker.upload"), icon=":material/upload:", key="kv_upload"
        ):
            upload.dialog()
        return st.empty()


def _request_open(key: str, directory: str) -> None:
    """Requests to open the typed path, when it has changed or when Open is pressed."""
    text = st.session_state.get(key)
    is_same = text in (None, escape_controls(page_location.directory_text(directory)))
    st.session_state[page_state.TYPED_PATH] = page_location.clean_path(
        directory if is_same else text
    )


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
    first = page * ROWS_PER_PAGE + 1
    last = min((page + 1) * ROWS_PER_PAGE, count)
    rows_text = say(
        "broker.rows_of",
        first=units.format_count(first),
        last=units.format_count(last),
        count=units.format_count(count),
    )
    foot.html(f'<div class="kv-sm kv-fnt">{rows_text}</div>')
    return page
