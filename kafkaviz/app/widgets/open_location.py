"""The open location that a page needs; without it the page says why, and stops."""

from typing import cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import faults
from kafkaviz.errors import CannotOpen


def snapshot(location: Location) -> BrokerSnapshot:
    """Returns the open broker directory, or shows why none is open and stops the page."""
    if location.snapshot is None:
        faults.cannot_open(location.fault) if location.fault else faults.nothing_open()
        st.stop()
    page_location.remember(location.directory)
    return location.snapshot


def require_partition(location: Location) -> PartitionLocation:
    """Returns the location if its topic-partition exists, else shows why and stops the page."""
    broker = snapshot(location).broker
    if not isinstance(location, PartitionLocation):
        if broker.partitions:
            faults.not_in_broker(cast(CannotOpen, location.fault), location.directory)
        else:
            faults.no_partition(broker.path, broker.problems)
        st.stop()
    return location


def require_segment(location: Location) -> SegmentLocation:
    """Returns the location if its segment exists, else shows why and stops the page."""
    location = require_partition(location)
    if not isinstance(location, SegmentLocation):
        faults.not_in_broker(cast(CannotOpen, location.fault), location.directory)
        st.stop()
    return location
