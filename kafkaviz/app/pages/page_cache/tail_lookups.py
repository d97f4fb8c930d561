"""Lookups of a reader at the tail, after KAFKA-6432.

They show which cold pages such a lookup waits for when its index grows by a page.
"""

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import index_layouts, tail_growth
from kafkaviz.analysis.page_cache.page_replay import IndexSizeRange, index_size_ranges
from kafkaviz.analysis.page_cache.tail_growth import TailLookups
from kafkaviz.app import frontend, page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import tail_growth as tail_growth_figure
from kafkaviz.figures.page_cache import tail_pages
from kafkaviz.messages import language, say, say_count

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
    return tail_growth.grow()


@st.cache_resource(show_spinner=False)
def _browser_payload(language_code: str) -> dict:
    view = tail_growth_figure.view(_lookups(), tail_growth.MEMORY)
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
        12 * index_layouts.ENTRIES_A_PAGE + 1, 14 * index_layouts.ENTRIES_A_PAGE
    )
