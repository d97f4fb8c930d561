"""The Page cache page: index pages that a search touches, which are cold, and other searches.

The lookups of a reader at the tail follow KAFKA-6432.
"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import index_layouts, page_replay
from kafkaviz.analysis.page_cache.page_replay import IndexSizeRange, TailLookups, index_size_ranges
from kafkaviz.app import frontend, page_state
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache import growth
from kafkaviz.app.pages.page_cache.controls import (
    DEFAULT_SEED,
    render_controls,
    render_index_choice,
)
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import layout_bars, tail_pages
from kafkaviz.figures.page_cache import tail_growth as tail_growth_figure
from kafkaviz.messages import language, say, say_count
from kafkaviz.simulate.lessons import practice

# the tabs, by their word in the address, and the message keys of their labels
ANSWER = "Answer"
GROWTH = "Growth"
ENTRIES = "Entries"
LAYOUTS = "Layouts"
EXPERTS = "Experts"
PARTS = {
    ANSWER: "common.tab_answer",
    GROWTH: "page_cache.tab_growth",
    ENTRIES: "page_cache.tab_entries",
    LAYOUTS: "page_cache.tab_layouts",
    EXPERTS: "page_cache.tab_experts",
}
CONTROLS = {
    ENTRIES: (page_state.ENTRIES,),
    LAYOUTS: (page_state.PATTERN,),
    GROWTH: (
        page_state.COLD,
        page_state.GROW,
        page_state.GAP,
        page_state.PAGE_SIZE,
        page_state.SECTION,
        page_state.LAGGARDS,
        page_state.READ_AHEAD,
        page_state.APPENDS_PER_LOOKUP,
        page_state.LAG,
        page_state.ENTRY_SIZE,
        page_state.INDEX,
        page_state.SEED,
    ),
}


@in_turn
def render_page() -> None:
    location = frame("Page cache")
    apply_print_style()
    elements.title(say("common.page_page_cache"), say("page_cache.lead"), gap=4)
    choice.open_by_address(CONTROLS)
    _render_body(location)


@st.fragment
def _render_body(location: Location) -> None:
    """Draws the open tab. A slider reruns only this part."""
    names = {part: say(key) for part, key in PARTS.items()}
    with st.container(gap=None, key="kv_lab"):
        part, container = choice.render_tabs(names, CONTROLS)
        with container, st.container(gap=None):
            RENDERERS[part](location)


def _render_answer(_location: Location) -> None:
    render_sizes()


def _render_growth(location: Location) -> None:
    growth.render_growth(*render_controls(location))


def _render_entries(_location: Location) -> None:
    with st.container():
        render_example()
    st.space(32)
    with st.container(gap=None):
        render_published()


def _render_experts(location: Location) -> None:
    settings, _ = render_controls(location)
    st.space(16)
    growth.render_turnovers(settings)
    st.space(32)
    growth.render_reader_faults(settings)


KEY_COUNT = 200_000
TARGET_COUNT = 4000
OPEN_INDEX = "Open index"
PATTERNS = tuple(practice.WORKLOADS)
PATTERN_KEYS = {
    practice.STEADY: "steady",
    practice.BURSTY: "bursty",
    practice.HEAVY: "heavy",
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
    keys = practice.generate_keys(pattern, KEY_COUNT) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGET_COUNT)
    return index_layouts.compare(keys, targets), len(keys), TARGET_COUNT


def _workload_text(pattern: str) -> str:
    return say(f"page_cache.keys_{PATTERN_KEYS[pattern]}")


def _pattern_text(pattern: str) -> str:
    return say(f"page_cache.pattern_{PATTERN_KEYS[pattern]}")


FIRST_N = 6145
LAST_N = 7168
DEFAULT_N = 6901
PROBE_COLUMNS = ("search", "probe", "slot", "page")
SIZE_HEADS = (
    "pages",
    "published_entries",
    "plain_pages",
    "plain_waits",
    "warm_pages",
    "warm_waits",
)


def render_sizes() -> None:
    frontend.tail_growth(_browser_payload(language()))
    st.space(12)
    rows = tail_growth_figure.rows(_lookups())
    with st.expander(say("page_cache.sizes_table")):
        heads = [say(f"page_cache.{name}") for name in SIZE_HEADS]
        table(heads, rows, "rrllll", tail_growth_figure.FIRST_PAGES - 1)
        download(
            say("page_cache.csv"),
            lambda: to_csv(tail_growth_figure.COLUMNS, rows),
            "index-sizes.csv",
            "kv_sizes_csv",
        )


@st.cache_resource(show_spinner=False)
def _lookups() -> tuple[TailLookups, ...]:
    return page_replay.grow()


@st.cache_resource(show_spinner=False)
def _browser_payload(language_code: str) -> dict:
    view = tail_growth_figure.view(_lookups(), page_replay.MEMORY)
    return tail_growth_figure.browser_payload(view)


def render_example() -> None:
    with st.container(key="kv_fig_example"):
        head, control = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
        count = _slider_default(page_state.ENTRIES, FIRST_N, LAST_N)
        entry_count = int(
            st.session_state.get(page_state.ENTRIES)
            or page_state.number(st.query_params.get(page_state.ENTRIES))
            or count
        )
        page, entries_before = divmod(entry_count - 1, index_layouts.ENTRIES_PER_PAGE)
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
    """Returns the default of a slider. A number in the address that is out of range is removed."""
    number = page_state.number(st.query_params.get(key))
    if (
        key not in st.session_state
        and key in st.query_params
        and (number is None or not least <= number <= most)
    ):
        st.query_params.pop(key)
    return DEFAULT_N


def render_published() -> None:
    """Draws the published results for pages 12 and 13, and those of Kafka's code."""
    elements.heading(say("page_cache.published"))
    st.space(8)
    head = "".join(
        f"<th>{elements.escape(say(f'page_cache.published_{name}'))}</th>"
        for name in ("entries", "pages", "plain", "warm")
    )
    elements.table(head, map(_published_row, _size_ranges()))
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{elements.escape(say('page_cache.published_note'))}</p>"
    )


def _published_row(size_range: IndexSizeRange) -> str:
    """Returns a row for a range of index sizes. Published pages are struck out where wrong."""
    sizes = (
        units.format_count(size_range.first)
        if size_range.first == size_range.last
        else f"{units.format_count(size_range.first)}–{units.format_count(size_range.last)}"
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
    """Returns the index sizes that KAFKA-6432 names: those of its 13th and 14th page."""
    return index_size_ranges(
        12 * index_layouts.ENTRIES_PER_PAGE + 1, 14 * index_layouts.ENTRIES_PER_PAGE
    )


RENDERERS: dict[str, Callable[[Location], None]] = {
    ANSWER: _render_answer,
    GROWTH: _render_growth,
    ENTRIES: _render_entries,
    LAYOUTS: render_layouts,
    EXPERTS: _render_experts,
}
