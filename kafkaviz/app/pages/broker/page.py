"""The Broker page: the contents of a broker directory, and how densely it is indexed."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.analysis.broker.overview import BrokerOverview
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.broker.head import render_head, render_page_links
from kafkaviz.app.pages.broker.partition_table import render_partition_table
from kafkaviz.app.pages.broker.segment_map import render_segment_map
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import faults, progress_strip, upload
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
