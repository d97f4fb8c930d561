"""An index that grows: which pages its searches touch, plain and warm, and one lookup at its end,
probe by probe.
"""

import numpy as np
import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import index_layouts
from kafkaviz.analysis.page_replay import Replay
from kafkaviz.app.pages.page_cache import replays
from kafkaviz.app.pages.page_cache.replays import ReplaySettings
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import page_faults, tail_pages
from kafkaviz.figures.page_faults import PLAIN, WARM
from kafkaviz.words import say, say_count

HALF = (0.5, 0.5)
KEY = ("touched", "fault", "end")
FIRST_N, LAST_N, DEFAULT_N = 6145, 7168, 6901
# of files, here and below
PAGE_COLUMNS = ("page", "lookups_plain", "faults_plain", "lookups_warm", "faults_warm")
PROBE_COLUMNS = ("search", "probe", "slot", "page")


def render_growth(settings: ReplaySettings, clock: np.ndarray | None) -> None:
    """Both images, and what is in them as a table."""
    plain, warm = replays.images(settings, clock)
    st.space(16)
    for column, replay, search in zip(
        st.columns(HALF, gap=20), (plain, warm), (PLAIN, WARM), strict=True
    ):
        with column, st.container(key=f"kv_fig_{search}"):
            view = page_faults.view(replay, search, settings.warm_bytes)
            charts.render_titled((search, settings), page_faults.figure, view, f"kv_image_{search}")
    st.html(
        '<div style="margin-top:10px">'
        f"{elements.key((word, say(f'page_cache.key_{word}')) for word in KEY)}</div>"
    )
    st.space(12)
    with st.expander(say_count("page_cache.pages_table", plain.pages, n=units.group(plain.pages))):
        table = pd.DataFrame(
            page_faults.rows(plain, warm),
            # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
            columns=[say(f"page_cache.{name}") for name in PAGE_COLUMNS],
        )
        st.dataframe(table, hide_index=True, height=280, row_height=31, key="kv_pages_table")
        with st.container(horizontal=True):
            download(
                say("page_cache.pages_csv"),
                lambda: table.to_csv(index=False, header=list(PAGE_COLUMNS)),
                "pages.csv",
                "kv_pages_csv",
            )
            download(
                say("page_cache.plain_csv"),
                lambda: faults_csv(plain),
                "faults-plain.csv",
                "kv_faults_plain",
            )
            download(
                say("page_cache.warm_csv"),
                lambda: faults_csv(warm),
                "faults-warm.csv",
                "kv_faults_warm",
            )


def faults_csv(replay: Replay) -> str:
    """Each fault: when the index had how many entries, which page, idle for how many bytes of log,
    whose lookup.
    """
    faults = replay.first_faults.tolist()
    return to_csv(
        ("entries", "page", "idle_bytes", "reader"),
        ((*fault[:3], "laggard" if fault[3] else "tail") for fault in faults),
    )


def render_example() -> None:
    """The 13th and 14th page of KAFKA-6432, entry by entry."""
    with st.container(key="kv_fig_example"):
        head, control = st.columns((0.66, 0.34), gap=24, vertical_alignment="bottom")
        count = slider_default(page_state.ENTRIES, FIRST_N, LAST_N)
        entry_count = int(
            st.session_state.get(page_state.ENTRIES)
            or page_state.number(st.query_params.get(page_state.ENTRIES))
            or count
        )
        page, entries_before = divmod(entry_count - 1, index_layouts.ENTRIES_A_PAGE)
        label = say("page_cache.entries", n=units.group(entries_before + 1), page=page)
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


def slider_default(key: str, least: int, most: int) -> int:
    """Where a slider begins; a number of the address that lies outside is passed over."""
    number = page_state.number(st.query_params.get(key))
    if (
        key not in st.session_state
        and key in st.query_params
        and (number is None or not least <= number <= most)
    ):
        st.query_params.pop(key)
    return DEFAULT_N
