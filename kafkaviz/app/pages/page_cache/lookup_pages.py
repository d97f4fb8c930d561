"""The pages that a single lookup reads.

Those of KAFKA-6432 probe by probe, and what was published of them; what other layouts of an index
would cost, in probes and in pages.
"""

from typing import Any

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.analysis.page_cache.page_replay import IndexSizeRange, index_size_ranges
from kafkaviz.app.pages.page_cache.controls import DEFAULT_SEED, render_index_choice
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import layout_bars, tail_pages
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.lessons import index_keys

FIRST_N, LAST_N, DEFAULT_N = 6145, 7168, 6901
PROBE_COLUMNS = ("search", "probe", "slot", "page")  # of a file, as LAYOUT_COLUMNS
KEY_COUNT, TARGET_COUNT = 200_000, 4000
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


def render_example() -> None:
    """The 13th and 14th page of KAFKA-6432, entry by entry."""
    with st.container(key="kv_fig_example"):
        head, control = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
        count = _slider_default(page_state.ENTRIES, FIRST_N, LAST_N)
        entry_count = int(
            st.session_state.get(page_state.ENTRIES)
            or page_state.number(st.query_params.get(page_state.ENTRIES))
            or count
        )
        page, entries_before = divmod(entry_count - 1, index_layouts.ENTRIES_A_PAGE)
        label = say_count("page_cache.entries", entries_before + 1, page=page)
        entries = control.slider(
            label, FIRST_N, LAST_N, count, key=page_state.ENTRIES, bind="query-params"
        )
        view = tail_pages.view(entries)
        with head:
            elements.figure_head(view.title, view.caption)
        charts.render_figure(("example", entries), tail_pages.figure, view, "kv_example")
    with st.expander(say("page_cache.probes_table")):
        rows = tail_pages.rows(view)
        table([say(f"page_cache.{name}") for name in PROBE_COLUMNS], rows, "lrrr")
        download(
            say("page_cache.csv"),
            lambda: to_csv(PROBE_COLUMNS, rows),
            "probes.csv",
            "kv_probes_csv",
        )


def _slider_default(key: str, least: int, most: int) -> int:
    """Where a slider begins; a number of the address that lies outside is passed over."""
    number = page_state.number(st.query_params.get(key))
    if (
        key not in st.session_state
        and key in st.query_params
        and (number is None or not least <= number <= most)
    ):
        st.query_params.pop(key)
    return DEFAULT_N


def render_published() -> None:
    """What was published about pages 12 and 13, and what the code does."""
    elements.heading(say("page_cache.as_told"))
    st.space(8)
    head = "".join(
        f"<th>{elements.escape(say(f'page_cache.told_{name}'))}</th>"
        for name in ("entries", "told", "plain", "warm")
    )
    elements.table(head, map(_published_row, _size_ranges()))
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{elements.escape(say('page_cache.told'))}</p>"
    )


def _published_row(size_range: IndexSizeRange) -> str:
    """A stretch of sizes; what was published is struck out where it is not so."""
    sizes = (
        units.group(size_range.first)
        if size_range.first == size_range.last
        else f"{units.group(size_range.first)}–{units.group(size_range.last)}"
    )
    published, plain, warm = (
        " ".join(map(str, pages or ()))
        for pages in (size_range.published_pages, size_range.plain, size_range.warm)
    )
    published_html = (
        elements.mono(published)
        if size_range.is_as_published
        else f'<s class="kv-fnt">{elements.mono(published)}</s>'
    )
    mark = "&ensp;✓" if size_range.is_as_published else ""
    return (
        f"<tr><td>{sizes}</td><td>{published_html}</td><td><b>{elements.mono(plain)}</b>{mark}</td>"
        f"<td>{elements.mono(warm)}</td></tr>"
    )


@st.cache_resource(show_spinner=False)
def _size_ranges() -> tuple[IndexSizeRange, ...]:
    """The sizes of an index that KAFKA-6432 names: its 13th and its 14th page."""
    return index_size_ranges(
        12 * index_layouts.ENTRIES_A_PAGE + 1, 14 * index_layouts.ENTRIES_A_PAGE
    )


def render_layouts(location: Location) -> None:
    """Other ways to search an index, in both currencies."""
    elements.heading(say("page_cache.what_if"), say("page_cache.what_if_below"))
    st.space(8)
    pattern_column, index_column = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
    with index_column:
        key, offsets = render_index_choice(location)
    patterns = [*PATTERNS, *([OPEN_INDEX] if offsets is not None and len(offsets) else [])]
    widget_options: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
    pattern = choice.ask(
        pattern_column.segmented_control,
        say("page_cache.keys"),
        patterns,
        patterns[0],
        page_state.PATTERN,
        format_func=_pattern_text,
        **widget_options,
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
    """Every layout on invented keys, or on those of a real index.

    How many entries, how many targets.
    """
    keys = index_keys.generate_keys(pattern, KEY_COUNT) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGET_COUNT)
    return index_layouts.compare(keys, targets), len(keys), TARGET_COUNT


def _workload_text(pattern: str) -> str:
    """Which keys are compared."""
    return say(f"page_cache.keys_{PATTERN_KEYS[pattern]}")


def _pattern_text(pattern: str) -> str:
    """The same in a word."""
    return say(f"page_cache.pattern_{PATTERN_KEYS[pattern]}")
