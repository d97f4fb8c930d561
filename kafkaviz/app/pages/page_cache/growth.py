"""The replay of a growing index: pages that lookups touch, and page faults on cold pages.

Long growths compare the faults by turnover, the amount of log after which a page is cold, and by
reader.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import page_replay
from kafkaviz.analysis.page_cache.page_replay import (
    LAGGARD,
    TAIL,
    IndexGrowth,
    Memory,
    Readers,
    Replay,
)
from kafkaviz.app.cache.simulation_cache import CACHE_ENTRIES, ReplaySettings, replays
from kafkaviz.app.pages.page_cache.controls import LAGGARDS, MB, size_text
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import fault_bars, page_faults
from kafkaviz.figures.page_cache.fault_bars import TurnoverFaults
from kafkaviz.figures.page_cache.page_faults import PLAIN, WARM
from kafkaviz.messages import say, say_count
from kafkaviz.search.index import ENTRY_BYTES, OFFSET

KEY = ("touched", "fault", "end")
PAGE_COLUMNS = ("page", "lookups_plain", "faults_plain", "lookups_warm", "faults_warm")
READER_COLUMNS = ("by_laggards", "tail_plain", "tail_warm", "laggards_plain", "laggards_warm")
FAULT_RATE_COLUMNS = ("laggard_share", *READER_COLUMNS[1:])
TURNOVERS_MB = (1, 4, 16, 64, 256)
LONG_GROWTH = (20_000, 262_144)  # entries where counting starts, and where the growth ends


def render_growth(settings: ReplaySettings, clock: np.ndarray | None) -> None:
    plain, warm = replays(settings, clock)
    st.space(16)
    for column, replay, search in zip(
        st.columns(2, gap=20), (plain, warm), (PLAIN, WARM), strict=True
    ):
        with column, st.container(key=f"kv_fig_{search}"):
            view = page_faults.view(replay, search, settings.warm_bytes)
            charts.render_titled((search, settings), page_faults.figure, view, f"kv_image_{search}")
    st.html(
        '<div style="margin-top:10px">'
        f"{elements.key((word, say(f'page_cache.key_{word}')) for word in KEY)}</div>"
    )
    st.space(12)
    with st.expander(say_count("page_cache.pages_table", plain.pages)):
        page_table = pd.DataFrame(
            page_faults.rows(plain, warm),
            # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
            columns=[say(f"page_cache.{name}") for name in PAGE_COLUMNS],
        )
        st.dataframe(page_table, hide_index=True, height=280, row_height=31, key="kv_pages_table")
        with st.container(horizontal=True):
            download(
                say("page_cache.pages_csv"),
                lambda: page_table.to_csv(index=False, header=list(PAGE_COLUMNS)),
                "pages.csv",
                "kv_pages_csv",
            )
            download(
                say("page_cache.plain_csv"),
                lambda: _faults_csv(plain),
                "faults-plain.csv",
                "kv_faults_plain",
            )
            download(
                say("page_cache.warm_csv"),
                lambda: _faults_csv(warm),
                "faults-warm.csv",
                "kv_faults_warm",
            )


def _faults_csv(replay: Replay) -> str:
    """Returns one row per fault: entries in the index, page, bytes it was idle, and reader."""
    faults = replay.first_faults.tolist()
    return to_csv(
        ("entries", "page", "idle_bytes", "reader"),
        ((*fault[:3], "laggard" if fault[3] else "tail") for fault in faults),
    )


def render_turnovers(settings: ReplaySettings) -> None:
    """Draws the faults per new page by turnover for both searches, and the closed form."""
    growth = _lengthen(settings.growth)
    share = settings.readers.laggard_share
    key = "page_cache.bars_laggards" if share else "page_cache.bars"
    below = say(
        key,
        share=f"{100 * share:g}",
        first=units.format_count(growth.counted_from),
        last=units.format_count(growth.entries),
        gap=units.format_count(growth.gap_bytes),
    )
    with st.container(key="kv_fig_bars"):
        view = fault_bars.view(_turnover_bars(settings), settings.memory.cold_after_bytes, below)
        charts.render_titled(("bars", settings), fault_bars.figure, view, "kv_bars")
    st.space(12)
    with st.expander(say("page_cache.bars_table")):
        rows = fault_bars.rows(view)
        table(
            [say(f"page_cache.{name}") for name in ("cold_after", "replayed", "formula", "warm")],
            rows,
            "lrrr",
        )
        download(
            say("page_cache.csv"),
            lambda: to_csv(fault_bars.COLUMNS, fault_bars.file_values(view)),
            "turnover.csv",
            "kv_bars_csv",
        )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _turnover_bars(settings: ReplaySettings) -> tuple[TurnoverFaults, ...]:
    growth = _lengthen(settings.growth)
    return tuple(
        _turnover_faults(growth, replace(settings.memory, cold_after_bytes=size * MB), settings)
        for size in TURNOVERS_MB
    )


def _lengthen(growth: IndexGrowth) -> IndexGrowth:
    return replace(growth, entries=LONG_GROWTH[1], counted_from=LONG_GROWTH[0])


def _turnover_faults(
    growth: IndexGrowth, memory: Memory, settings: ReplaySettings
) -> TurnoverFaults:
    plain, warm = (
        page_replay.replay(growth, memory, settings.readers, warm_bytes)
        for warm_bytes in (None, settings.warm_bytes)
    )
    # the closed form holds for readers at the tail after every append, without read-around
    is_at_tail = (
        not settings.readers.laggard_share
        and settings.readers.appends_per_lookup == 1
        and growth.entry_bytes == ENTRY_BYTES[OFFSET]
    )
    formula = (
        page_replay.expected_faults(growth, memory) / plain.grown_pages
        if is_at_tail and not memory.read_around_bytes
        else None
    )
    return TurnoverFaults(
        memory.cold_after_bytes, plain.faults_per_new_page, warm.faults_per_new_page, formula
    )


@dataclass(frozen=True)
class ReaderFaultRates:
    """Faults per 1000 lookups at one share of laggards, None without readers of that kind."""

    name: str
    plain_tail: float | None
    warm_tail: float | None
    plain_laggard: float | None
    warm_laggard: float | None


def render_reader_faults(settings: ReplaySettings) -> None:
    """Draws the faults of readers at the tail and of laggards, by the share of laggards."""
    rows = _reader_fault_rates(settings)
    aside = say(
        "page_cache.protected_below",
        cold=fault_bars.turnover_text(settings.memory.cold_after_bytes),
    )
    elements.heading(say("page_cache.protected"), aside)
    st.space(8)
    heads = [say(f"page_cache.{name}") for name in READER_COLUMNS]
    cells = [
        (
            size_text(rates.name),
            *map(
                _rate_text,
                (rates.plain_tail, rates.warm_tail, rates.plain_laggard, rates.warm_laggard),
            ),
        )
        for rates in rows
    ]
    marked_row = next(
        (
            place
            for place, share in enumerate(LAGGARDS.values())
            if share == settings.readers.laggard_share
        ),
        None,
    )
    table(heads, cells, "lrrrr", marked_row)
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{elements.escape(say('page_cache.protected_why'))}</p>"
    )
    download(
        say("page_cache.csv"),
        lambda: to_csv(FAULT_RATE_COLUMNS, fault_rate_values(rows)),
        "protected.csv",
        "kv_protected_csv",
    )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _reader_fault_rates(settings: ReplaySettings) -> tuple[ReaderFaultRates, ...]:
    return tuple(
        _rates_of_share(name, replace(settings.readers, laggard_share=share), settings)
        for name, share in LAGGARDS.items()
    )


def _rates_of_share(name: str, readers: Readers, settings: ReplaySettings) -> ReaderFaultRates:
    growth = _lengthen(settings.growth)
    plain, warm = (
        page_replay.replay(growth, settings.memory, readers, warm_bytes)
        for warm_bytes in (None, settings.warm_bytes)
    )
    return ReaderFaultRates(
        name,
        *(
            replay.faults_per_thousand(reader)
            for reader in (TAIL, LAGGARD)
            for replay in (plain, warm)
        ),
    )


def fault_rate_values(rows: Iterable[ReaderFaultRates]) -> list[tuple[float | str, ...]]:
    """Returns the FAULT_RATE_COLUMNS of each row. A kind of reader that is missing has ""."""
    faults_by_name = (
        (rates.name, (rates.plain_tail, rates.warm_tail, rates.plain_laggard, rates.warm_laggard))
        for rates in rows
    )
    return [
        (
            LAGGARDS[name],
            *("" if fault_rate is None else round(fault_rate, 6) for fault_rate in faults),
        )
        for name, faults in faults_by_name
    ]


def _rate_text(faults: float | None) -> str:
    if faults is None:
        return units.MISSING
    if not faults:
        return "0"
    if faults < 10:
        return f"{faults:.2f}"
    return units.format_count(round(faults))
