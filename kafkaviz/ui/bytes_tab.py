"""The bytes below the segment ruler: which file, what the colours mean, and the view of the pinned batch or slot."""

import streamlit as st

from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE
from kafkaviz.figures import segment_bytes
from kafkaviz.figures.segment_bytes import Wanted
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.ui import anatomies, parts, state
from kafkaviz.ui.components import bytes as view
from kafkaviz.ui.components import ruler


def show(anatomy: Anatomy, pin: Chosen) -> None:
    """The bytes of the pin, in the file that the reader chooses."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_bytes_head"):
        above = st.container(width="stretch")
        options = {"key": state.FILE, "bind": "query-params", "label_visibility": "collapsed"}
        file = st.segmented_control("File", segment_bytes.files(anatomy), default=".log", required=True, **options)
    of = anatomies.key(anatomy.segment)
    key = f"{of} {file} {pin.row}" if file == ".log" else f"{of} {file}"
    told = view.wanted(key)
    shown = segment_bytes.view(anatomy, file, *pin, Wanted(told.get("outer"), told.get("inner")), _by_time(of))
    with above:
        st.html(parts.key((f"byte-{kind}", words) for kind, words in segment_bytes.legend(shown)))
    view.bytes_view(segment_bytes.message(shown, key))


def _by_time(of: str) -> bool:
    """Whether the pin was chosen by a time entry that has no offset entry beside it: then its time is what to look at."""
    picked = ruler.state("pin", of)
    return bool(picked) and picked["time"] != NONE and picked["slot"] == NONE
