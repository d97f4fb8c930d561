"""Other ways to search an index, in both currencies: probes and pages."""

from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.analysis import index_layouts as search_layouts
from kafkaviz.app.pages.page_cache.options import DEFAULT_SEED
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import layout_bars
from kafkaviz.simulate.lessons import index_keys
from kafkaviz.words import say

KEY_COUNT, TARGET_COUNT = 200_000, 4000
OPEN_INDEX = "Open index"
PATTERNS = tuple(index_keys.WORKLOADS)
KEYS = {
    index_keys.STEADY: "steady",
    index_keys.BURSTY: "bursty",
    index_keys.HEAVY: "heavy",
    OPEN_INDEX: "open",
}
LAYOUT_COLUMNS = (
    "way",
    "probes",
    "most_probes",
    "pages",
    "most_pages",
    "tail_probes_pages",
    "heap",
    "note",
)
CACHE_ENTRIES = 8


def render_layouts(key: str, offsets: np.ndarray | None) -> None:
    """Other ways to search an index, in both currencies."""
    elements.heading(say("page_cache.what_if"), say("page_cache.what_if_below"))
    patterns = [*PATTERNS, *([OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    widget_options: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
    describe = pattern_text
    pattern = choice.ask(
        st.segmented_control,
        say("page_cache.keys"),
        patterns,
        patterns[0],
        page_state.PATTERN,
        describe,
        **widget_options,
    )
    keys = offsets if pattern == OPEN_INDEX else None
    view = layout_bars.view(
        *compare_layouts(pattern, key if keys is not None else "", keys), workload_text(pattern)
    )
    with st.container(key="kv_fig_layouts"):
        charts.render_titled(("layouts", pattern, key), layout_bars.figure, view, "kv_layouts")
    columns = ("way", "probes", "at_most", "pages", "at_most", "at_the_tail", "in_the_heap")
    heads = [*(say(f"page_cache.{name}") for name in columns), ""]
    with st.expander(say("page_cache.as_table")):
        rows = layout_bars.rows(view)
        table(heads, rows, "lrrrrrrl", view.kafka_row)
        download(
            say("page_cache.csv"),
            lambda: to_csv(LAYOUT_COLUMNS, rows),
            "layouts.csv",
            "kv_layouts_csv",
        )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def compare_layouts(
    pattern: str, key: str = "", _keys: np.ndarray | None = None
) -> tuple[tuple[search_layouts.Cost, ...], int, int]:
    """Every layout on made keys, or on those of a real index; how many entries, how many
    targets.
    """
    keys = index_keys.generate_keys(pattern, KEY_COUNT) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGET_COUNT)
    return search_layouts.compare(keys, targets), len(keys), TARGET_COUNT


def workload_text(pattern: str) -> str:
    """Which keys are compared."""
    return say(f"page_cache.keys_{KEYS[pattern]}")


def pattern_text(pattern: str) -> str:
    """The same in a word."""
    return say(f"page_cache.pattern_{KEYS[pattern]}")
