"""The Page cache page: which index pages a reader at the log's end waits for."""

from functools import partial

import streamlit as st

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.page_replay import LAGGING, IndexGrowth, Readers, TailLookups
from kafkaviz.app import frontend
from kafkaviz.app.frame import frame
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.lookup import tail_growth
from kafkaviz.messages import language, say
from kafkaviz.search.binary_search import WARM_BYTES

HEADS = ("pages", "entries", "plain_pages", "plain_waits", "warm_pages", "warm_waits")
# One sentence of the page is about a lagging reader. This reader makes one lookup in a hundred,
# anywhere in an index of 512 pages. In such an index, the pages in the middle go cold.
LAGGING_READERS = Readers(lagging_share=0.01)
LARGE_INDEX = IndexGrowth(262_144, counted_from=20_000)


@in_turn
def render_page() -> None:
    frame("Page cache")
    elements.apply_print_style()
    with st.container(gap=None, key="kv_head"):
        elements.title(say("common.page_page_cache"), say("page_cache.lead"), gap=4)
    frontend.tail_growth(_browser_payload(language()))
    with st.container(gap=12, key="kv_below"):
        plain, warm = _lagging_waits()
        text = say("page_cache.lagging", plain=f"{plain:.1f}", warm=f"{warm:.1f}")
        elements.paragraph(text, above_px=12)
        rows = tail_growth.rows(_lookups())
        with st.expander(say("page_cache.sizes_table")):
            heads = [say(f"page_cache.{name}") for name in HEADS]
            table(heads, rows, "rrllll", tail_growth.FIRST_PAGES - 1)
            data = partial(to_csv, tail_growth.COLUMNS, rows)
            download(say("page_cache.csv"), data, "index-sizes.csv", "kv_sizes_csv")


@st.cache_resource(show_spinner=False)
def _lookups() -> tuple[TailLookups, ...]:
    return page_replay.grow()


@st.cache_resource(show_spinner=False)
def _browser_payload(language_code: str) -> dict:
    return tail_growth.browser_payload(tail_growth.view(_lookups(), page_replay.MEMORY))


@st.cache_resource(show_spinner=False)
def _lagging_waits() -> tuple[float, float]:
    """Returns a lagging reader's page faults per lookup: (plain search, warm search)."""
    plain, warm = (
        page_replay.replay(LARGE_INDEX, readers=LAGGING_READERS, warm_bytes=warm_bytes)
        for warm_bytes in (None, WARM_BYTES)
    )
    plain_faults = plain.faults_per_thousand(LAGGING) or 0
    warm_faults = warm.faults_per_thousand(LAGGING) or 0
    return plain_faults / 1000, warm_faults / 1000
