"""What is pinned: the batch and the slots that the page is about, and the slice of the segment that
the ruler is sent around it.
"""

from typing import cast

import streamlit as st

from kafkaviz.analyse import pin
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.pin import Asked
from kafkaviz.figures import segment_tables
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.ui import anatomies, state
from kafkaviz.ui.components import ruler
from kafkaviz.ui.pick import InPartition
from kafkaviz.ui.segment import bytes_tab


def chosen(place: InPartition, anatomy: Anatomy) -> Chosen:
    """The pin: what the reader chose in the ruler, else what the address names, else a telling
    batch.
    """
    picked = ruler.state("pin", anatomies.key(anatomy.segment))
    if picked:
        return segment_tables.chosen(
            anatomy, int(picked["row"]), int(picked["slot"]), int(picked["time"])
        )
    sought = _asked(anatomy, st.query_params.get(state.PIN, ""))
    shown = pin.telling(anatomy) if sought.row is None else sought
    return segment_tables.chosen(anatomy, cast(int, shown.row), shown.slot, shown.time)


def _asked(anatomy: Anatomy, offset: str) -> Asked:
    """The batch of an offset; without one that of the byte that a link led to, else a telling
    one.
    """
    byte = None if offset else bytes_tab.came(anatomies.key(anatomy.segment))
    return pin.at_byte(anatomy, *byte) if byte else pin.find(anatomy, offset)


def drawn(place: InPartition, anatomy: Anatomy) -> bytes:
    """What the ruler is sent: the slice it asked for, around the offset that was asked for."""
    wanted = ruler.state("slice", anatomies.key(anatomy.segment))
    sought = _asked(anatomy, wanted.get("offset") or st.query_params.get(state.PIN, ""))
    return anatomies.message(
        anatomy, sought, st.session_state[state.SHADE], _centre_row(anatomy, wanted), place.address
    )


def _centre_row(anatomy: Anatomy, wanted: dict) -> int | None:
    """Around which row the ruler wants its slice; None: around the pin."""
    if "row" in wanted:
        return int(wanted["row"])
    return pin.row_at(anatomy, int(wanted["position"])) if "position" in wanted else None
