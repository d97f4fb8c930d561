"""Broker: what a broker directory holds, and how densely it is indexed."""

import streamlit as st

from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.broker.head import render_head
from kafkaviz.app.pages.broker.page_links import render_page_links
from kafkaviz.app.pages.broker.partition_rows import render_partition_table
from kafkaviz.app.pages.broker.path_form import render_path_form
from kafkaviz.app.pages.broker.segment_map import render_segment_map
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import faults, ingest_status
from kafkaviz.words import say


def main() -> None:
    """The page, or what is wrong with a directory that holds no topic-partition."""
    location = frame("Broker")
    status_slot = render_path_form(location)
    snapshot = page_location.snapshot(location)
    overview = broker_cache.overview(snapshot)
    if not overview.partitions:
        return faults.no_partition(snapshot.broker.path, overview.problems)
    source_note = say(
        "broker.read_full" if broker_cache.is_fresh(snapshot) else "broker.read_names"
    )
    status_slot.html(f'<div class="kv-sm kv-fnt kv-right">{source_note}</div>')
    render_body(location, snapshot, overview)


def render_body(location: Location, snapshot: BrokerSnapshot, overview: BrokerOverview) -> None:
    """What the directory holds, the ways on, the map, the table, and what could not be read."""
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
    with strip:  # last, because it may start Spark: all else is on its way to the reader by then
        ingest_status.render_strip(snapshot)


main()
