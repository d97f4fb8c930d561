"""What the Rolls page looks at: a simulated log, the open topic-partition, or one of the others
that rolled most.
"""

from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.log.broker import Broker
from kafkaviz.ui import parts, state
from kafkaviz.ui.pick import InPartition, Place
from kafkaviz.words import counted, say

SIMULATED = "Simulated"  # as a value of state.ROLLS_OF
OTHERS, NAME_CHARACTERS = 2, 22


def head(place: Place) -> str:
    """Title, and the choice between a simulated log and the open topic-partition or another; what
    was chosen.
    """
    labels = {parts.middle(one, NAME_CHARACTERS): one for one in _sources(place)}
    now = _shown_now(list(labels))
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = st.container(width="stretch")
        look: dict[str, Any] = {
            "default": now,
            "required": True,
            "label_visibility": "collapsed",
            "key": f"kv_rolls_of_{now}",
        }
        label = (
            st.segmented_control(say("rolls.of"), list(labels), format_func=_called, **look) or now
        )
    of = labels[label]
    if label != now:
        st.session_state[state.ROLLS_ON_DISK] = of != SIMULATED
        there = (
            place.address
            if of == SIMULATED
            else state.address(place.directory, of) | {state.ROLLS_OF: label}
        )
        st.switch_page("pages/rolls.py", query_params=there)
    with lead:
        parts.title(
            say("common.page_rolls"),
            say("rolls.lead") if of == SIMULATED else _told_on_disk(cast(InPartition, place)),
            gap=0,
        )
    return of


def _called(label: str) -> str:
    """What a choice is called: a topic-partition by its name."""
    return say("rolls.simulated") if label == SIMULATED else parts.plain(label)


def _shown_now(labels: list[str]) -> str:
    """Simulated or the open topic-partition, as the address says; else as it was looked at before;
    else the simulated log.

    Not bound to the address: it can only change together with the topic-partition, which is the
    frame's.
    """
    said = st.query_params.get(state.ROLLS_OF)
    if said == SIMULATED or len(labels) == 1:
        return labels[0]
    return labels[1] if said in labels or st.session_state.get(state.ROLLS_ON_DISK) else labels[0]


def _sources(place: Place) -> list[str]:
    """The simulated log, the open topic-partition, and the two others that rolled most."""
    if not place.partition:
        return [SIMULATED]
    own = place.partition.directory
    others = sorted(_rolled(cast(InPartition, place).broker, own), key=lambda one: -one[1])[:OTHERS]
    return [SIMULATED, units.legible(own), *(name for name, _ in others)]


def _rolled(broker: Broker, own: str) -> list[tuple[str, int]]:
    """Topic-partitions with more than one segment, and how many."""
    found = (
        (one.directory, len(one.live))
        for one in broker.partitions
        if one.state == "current" and one.directory != own
    )
    return [(units.legible(name), count) for name, count in found if count > 1]


def _told_on_disk(place: InPartition) -> str:
    """How many segments there are."""
    count = len(place.partition.live)
    return counted(
        "rolls.lead_on_disk",
        count,
        n=units.group(count),
        partition=units.legible(place.partition.label),
    )
