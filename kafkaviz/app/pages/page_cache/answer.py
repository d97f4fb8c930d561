"""The answer: an index one page longer, and what its reader at the tail has to wait for."""

import streamlit as st

from kafkaviz.analysis.page_cache import tail_growth
from kafkaviz.analysis.page_cache.tail_growth import TailLookups
from kafkaviz.app.frontend.tail_growth import tail_growth as render_tail_growth
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import tail_growth as tail_growth_figure
from kafkaviz.messages import language, say

HEADS = ("pages", "told_entries", "plain_pages", "plain_waits", "warm_pages", "warm_waits")


def render_answer() -> None:
    """Both searches at each size of the index, and all sizes as a table."""
    render_tail_growth(_message(language()))
    st.space(12)
    rows = tail_growth_figure.rows(_lookups())
    with st.expander(say("page_cache.sizes_table")):
        heads = [say(f"page_cache.{name}") for name in HEADS]
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
def _message(language_code: str) -> dict:
    view = tail_growth_figure.view(_lookups(), tail_growth.MEMORY)
    return tail_growth_figure.message(view)
