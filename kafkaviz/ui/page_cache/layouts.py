"""Other ways to search an index, in both currencies: probes and pages."""

from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.figures import layout_bars
from kafkaviz.search import layouts as search_layouts
from kafkaviz.simulate.lessons import index_keys
from kafkaviz.ui import charts, choice, parts, state
from kafkaviz.ui.page_cache.options import DEFAULT_SEED
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import say

COMPARED, TARGETS = 200_000, 4000
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
KEPT = 8


def what_if(key: str, offsets: np.ndarray | None) -> None:
    """Other ways to search an index, in both currencies."""
    parts.heading(say("page_cache.what_if"), say("page_cache.what_if_below"))
    patterns = [*PATTERNS, *([OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    look: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
    says = pattern_words
    pattern = choice.ask(
        st.segmented_control,
        say("page_cache.keys"),
        patterns,
        patterns[0],
        state.PATTERN,
        says,
        **look,
    )
    keys = offsets if pattern == OPEN_INDEX else None
    shown = layout_bars.view(
        *compared(pattern, key if keys is not None else "", keys), workload_words(pattern)
    )
    with st.container(key="kv_fig_layouts"):
        charts.titled(("layouts", pattern, key), layout_bars.figure, shown, "kv_layouts")
    told = ("way", "probes", "at_most", "pages", "at_most", "at_the_tail", "in_the_heap")
    heads = [*(say(f"page_cache.{name}") for name in told), ""]
    with st.expander(say("page_cache.as_table")):
        rows = layout_bars.rows(shown)
        table(heads, rows, "lrrrrrrl", shown.kafkas)
        download(
            say("page_cache.csv"),
            lambda: csv_of(LAYOUT_COLUMNS, rows),
            "layouts.csv",
            "kv_layouts_csv",
        )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def compared(
    pattern: str, key: str = "", _keys: np.ndarray | None = None
) -> tuple[tuple[search_layouts.Cost, ...], int, int]:
    """Every layout on made keys, or on those of a real index; how many entries, how many
    targets.
    """
    keys = index_keys.made_keys(pattern, COMPARED) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGETS)
    return search_layouts.compare(keys, targets), len(keys), TARGETS


def workload_words(pattern: str) -> str:
    """Which keys are compared."""
    return say(f"page_cache.keys_{KEYS[pattern]}")


def pattern_words(pattern: str) -> str:
    """The same in a word."""
    return say(f"page_cache.pattern_{KEYS[pattern]}")
