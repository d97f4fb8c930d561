"""What the Rolls page looks at: a simulated log, the open topic-partition, or one of the others
that rolled most.
"""

from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location, PartitionLocation
from kafkaviz.app.widgets import elements
from kafkaviz.log.broker import Broker
from kafkaviz.words import say, say_count

SIMULATED = "Simulated"  # as a value of state.ROLLS_SUBJECT
OTHER_PARTITIONS, NAME_CHARACTERS = 2, 22


def render_head(location: Location) -> str:
    """Title, and the choice between a simulated log and the open topic-partition or another; what
    was chosen.
    """
    labels = {
        elements.cut_middle(source, NAME_CHARACTERS): source for source in _source_names(location)
    }
    current = _current_label(list(labels))
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = st.container(width="stretch")
        widget_options: dict[str, Any] = {
            "default": current,
            "required": True,
            "label_visibility": "collapsed",
            "key": f"kv_rolls_of_{current}",
        }
        label = (
            st.segmented_control(
                say("rolls.of"), list(labels), format_func=_label_text, **widget_options
            )
            or current
        )
    source_name = labels[label]
    if label != current:
        st.session_state[page_state.ROLLS_ON_DISK] = source_name != SIMULATED
        parameters = (
            location.address
            if source_name == SIMULATED
            else page_state.address(location.directory, source_name)
            | {page_state.ROLLS_SUBJECT: label}
        )
        st.switch_page("pages/rolls.py", query_params=parameters)
    with lead:
        elements.title(
            say("common.page_rolls"),
            say("rolls.lead")
            if source_name == SIMULATED
            else _disk_lead(cast(PartitionLocation, location)),
            gap=0,
        )
    return source_name


def _label_text(label: str) -> str:
    """What a choice is called: a topic-partition by its name."""
    return say("rolls.simulated") if label == SIMULATED else elements.escape_markdown(label)


def _current_label(labels: list[str]) -> str:
    """Simulated or the open topic-partition, as the address says; else as it was looked at before;
    else the simulated log.

    Not bound to the address: it can only change together with the topic-partition, which is the
    frame's.
    """
    label = st.query_params.get(page_state.ROLLS_SUBJECT)
    if label == SIMULATED or len(labels) == 1:
        return labels[0]
    return (
        labels[1]
        if label in labels or st.session_state.get(page_state.ROLLS_ON_DISK)
        else labels[0]
    )


def _source_names(location: Location) -> list[str]:
    """The simulated log, the open topic-partition, and the two others that rolled most."""
    if not location.partition:
        return [SIMULATED]
    own_directory = location.partition.directory
    other_partitions = sorted(
        _segment_counts(cast(PartitionLocation, location).broker, own_directory),
        key=lambda pair: -pair[1],
    )[:OTHER_PARTITIONS]
    return [
        SIMULATED,
        units.escape_controls(own_directory),
        *(name for name, _ in other_partitions),
    ]


def _segment_counts(broker: Broker, own_directory: str) -> list[tuple[str, int]]:
    """Topic-partitions with more than one segment, and how many."""
    counts = (
        (partition.directory, len(partition.live))
        for partition in broker.partitions
        if partition.state == "current" and partition.directory != own_directory
    )
    return [(units.escape_controls(name), count) for name, count in counts if count > 1]


def _disk_lead(location: PartitionLocation) -> str:
    """How many segments there are."""
    count = len(location.partition.live)
    return say_count(
        "rolls.lead_on_disk",
        count,
        n=units.group(count),
        partition=units.escape_controls(location.partition.label),
    )
