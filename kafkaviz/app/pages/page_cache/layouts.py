"""Other searches and layouts of an index: the cost of each in probes and pages."""

import numpy as np
import streamlit as st

from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.app import page_state
from kafkaviz.app.pages.page_cache.controls import DEFAULT_SEED, render_index_choice
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import layout_bars
from kafkaviz.messages import say
from kafkaviz.simulate.lessons import index_keys

KEY_COUNT = 200_000
TARGET_COUNT = 4000
OPEN_INDEX = "Open index"
PATTERNS = tuple(index_keys.WORKLOADS)
PATTERN_KEYS = {
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


def render_layouts(location: Location) -> None:
    elements.heading(say("page_cache.what_if"), say("page_cache.what_if_below"))
    st.space(8)
    pattern_column, index_column = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
    with index_column:
        key, offsets = render_index_choice(location)
    patterns = [*PATTERNS, *([OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    pattern = choice.draw_bound(
        pattern_column.segmented_control,
        say("page_cache.keys"),
        patterns,
        patterns[0],
        page_state.PATTERN,
        format_func=_pattern_text,
        required=True,
        label_visibility="collapsed",
    )
    st.space(12)
    keys = offsets if pattern == OPEN_INDEX else None
    view = layout_bars.view(
        *_compare_layouts(pattern, key if keys is not None else "", keys), _workload_text(pattern)
    )
    with st.container(key="kv_fig_layouts"):
        charts.render_titled(("layouts", pattern, key), layout_bars.figure, view, "kv_layouts")
    columns = ("way", "probes", "at_most", "pages", "at_most", "at_the_tail", "in_the_heap")
    heads = [*(say(f"page_cache.{name}") for name in columns), ""]
    with st.expander(say("common.as_table")):
        rows = layout_bars.rows(view)
        table(heads, rows, "lrrrrrrl", view.kafka_row)
        download(
            say("page_cache.csv"),
            lambda: to_csv(LAYOUT_COLUMNS, rows),
            "layouts.csv",
            "kv_layouts_csv",
        )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _compare_layouts(
    pattern: str, key: str = "", _keys: np.ndarray | None = None
) -> tuple[tuple[index_layouts.Cost, ...], int, int]:
    """Returns the cost of every layout, the number of keys, and the number of targets.

    Args:
        _keys: the offsets of a real index, cached under `key`. Without them, keys are generated.
    """
    keys = index_keys.generate_keys(pattern, KEY_COUNT) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGET_COUNT)
    return index_layouts.compare(keys, targets), len(keys), TARGET_COUNT


def _workload_text(pattern: str) -> str:
    return say(f"page_cache.keys_{PATTERN_KEYS[pattern]}")


def _pattern_text(pattern: str) -> str:
    return say(f"page_cache.pattern_{PATTERN_KEYS[pattern]}")
