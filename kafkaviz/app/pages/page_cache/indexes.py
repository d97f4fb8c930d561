"""The offset indexes of the open broker directory, any of which can be grown in place of a made
one.
"""

from contextlib import suppress

import numpy as np
import streamlit as st

from kafkaviz.app.state import page_location
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import Broker
from kafkaviz.log.segment import Segment
from kafkaviz.search.index import ENTRY_BYTES, OFFSET
from kafkaviz.units import escape_controls


def indexes(broker: Broker | None) -> dict[str, Segment]:
    """The largest segment of each topic-partition, by name, where it has an offset index of more
    than one entry's bytes.
    """
    segments_by_name = {}
    for partition in broker.partitions if broker else ():
        with suppress(CannotOpen):
            segment = page_location.largest_segment(partition)
            if segment.index and segment.index.size_bytes >= 2 * ENTRY_BYTES[OFFSET]:
                segments_by_name[escape_controls(partition.directory)] = segment
    return segments_by_name


@st.cache_resource(max_entries=8, show_spinner=False)
def read_index(key: str, _segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """The offsets and positions of an index, rising; entries of a damaged one that do not rise are
    left out.
    """
    entries = _segment.offset_index
    offsets, positions = entries["offset"].astype(np.int64), entries["position"].astype(np.int64)
    largest_before = (
        np.maximum.accumulate(np.concatenate([[-1], offsets[:-1]])) if len(offsets) else offsets
    )
    rises = offsets > largest_before
    return offsets[rises], np.maximum.accumulate(positions[rises]) if rises.any() else positions[
        rises
    ]
