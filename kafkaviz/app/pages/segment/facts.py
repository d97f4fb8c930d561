"""The facts of a segment's three files, at the right of the ruler or of what stands in its
place.
"""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.app.widgets import segment_widgets
from kafkaviz.figures.segment_facts import FactGroups

# 728 and 276 pixels in a window 1280 wide, as Streamlit shares out what the gap leaves
WIDTHS = (0.7207, 0.2793)


def columns() -> Sequence[DeltaGenerator]:
    """The place of the ruler, and that of the facts."""
    return st.columns(WIDTHS, gap=20)


def render_facts(column: DeltaGenerator, groups: FactGroups) -> None:
    """The facts, in their column."""
    with column, st.container(key="kv_fig_facts"):
        segment_widgets.facts(groups)
