"""A long growth: faults a page by how soon pages go cold, what was told of that, and who is
spared.
"""

from collections.abc import Iterable

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_replay import IndexSizeRange
from kafkaviz.app.pages.page_cache import options, replays
from kafkaviz.app.pages.page_cache.replays import ReaderFaultRates, ReplaySettings
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import fault_bars
from kafkaviz.words import say

READERS = ("by_laggards", "tail_plain", "tail_warm", "laggards_plain", "laggards_warm")
FAULT_RATE_COLUMNS = ("laggard_share", *READERS[1:])


def render_turnovers(settings: ReplaySettings) -> None:
    """Faults a grown page, plain against warm, and the closed form."""
    growth, share = replays.lengthen(settings.growth), settings.readers.laggard_share
    key = "page_cache.bars_laggards" if share else "page_cache.bars"
    span = {
        "first": units.group(growth.counted_from),
        "last": units.group(growth.entries),
        "gap": units.group(growth.gap_bytes),
    }
    below = say(key, share=f"{100 * share:g}", **span)
    with st.container(key="kv_fig_bars"):
        view = fault_bars.view(
            replays.turnover_bars(settings), settings.memory.cold_after_bytes, below
        )
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


def render_published() -> None:
    """What was published about pages 12 and 13, and what the code does."""
    elements.heading(say("page_cache.as_told"))
    st.space(8)
    head = "".join(
        f"<th>{elements.escape(say(f'page_cache.told_{name}'))}</th>"
        for name in ("entries", "told", "plain", "warm")
    )
    elements.table(head, map(published_row, replays.size_ranges()))
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{elements.escape(say('page_cache.told'))}</p>"
    )


def published_row(size_range: IndexSizeRange) -> str:
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


def render_reader_faults(settings: ReplaySettings) -> None:
    """Faults of each kind of reader, by how many of them lag."""
    rows = replays.reader_fault_rates(settings)
    aside = say(
        "page_cache.protected_below",
        cold=fault_bars.turnover_text(settings.memory.cold_after_bytes),
    )
    elements.heading(say("page_cache.protected"), aside)
    st.space(8)
    heads = [say(f"page_cache.{name}") for name in READERS]
    cells = [
        (
            options.size_text(rates.name),
            *map(
                rate, (rates.plain_tail, rates.warm_tail, rates.plain_laggard, rates.warm_laggard)
            ),
        )
        for rates in rows
    ]
    marked_row = next(
        (
            place
            for place, share in enumerate(options.LAGGARDS.values())
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


def fault_rate_values(rows: Iterable[ReaderFaultRates]) -> list[tuple[float | str, ...]]:
    """PROTECTED_COLUMNS of each: faults per 1000 lookups, empty where there is no such reader."""
    faults_by_name = (
        (rates.name, (rates.plain_tail, rates.warm_tail, rates.plain_laggard, rates.warm_laggard))
        for rates in rows
    )
    return [
        (
            options.LAGGARDS[name],
            *("" if fault_rate is None else round(fault_rate, 6) for fault_rate in faults),
        )
        for name, faults in faults_by_name
    ]


def rate(faults: float | None) -> str:
    """Faults per 1000 lookups."""
    return (
        units.MISSING
        if faults is None
        else "0"
        if not faults
        else f"{faults:.2f}"
        if faults < 10
        else units.group(round(faults))
    )
