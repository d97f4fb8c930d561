"""A long growth: faults a page by how soon pages go cold, what was told of that, and who is
spared.
"""

from collections.abc import Iterable

import streamlit as st

from kafkaviz import units
from kafkaviz.figures import fault_bars
from kafkaviz.search.pages import Stretch
from kafkaviz.ui import charts, parts
from kafkaviz.ui.page_cache import options, replays
from kafkaviz.ui.page_cache.replays import Protected, Settings
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import say

READERS = ("by_laggards", "tail_plain", "tail_warm", "laggards_plain", "laggards_warm")
PROTECTED_COLUMNS = ("laggard_share", *READERS[1:])


def turnovers(wanted: Settings) -> None:
    """Faults a grown page, plain against warm, and the closed form."""
    growth, share = replays.long(wanted.growth), wanted.readers.laggard_share
    key = "page_cache.bars_laggards" if share else "page_cache.bars"
    span = {
        "first": units.group(growth.counted_from),
        "last": units.group(growth.entries),
        "gap": units.group(growth.gap_bytes),
    }
    below = say(key, share=f"{100 * share:g}", **span)
    with st.container(key="kv_fig_bars"):
        shown = fault_bars.view(replays.bars(wanted), wanted.memory.cold_after_bytes, below)
        charts.titled(("bars", wanted), fault_bars.figure, shown, "kv_bars")
    st.space(12)
    with st.expander(say("page_cache.bars_table")):
        rows = fault_bars.rows(shown)
        table(
            [say(f"page_cache.{name}") for name in ("cold_after", "replayed", "formula", "warm")],
            rows,
            "lrrr",
        )
        download(
            say("page_cache.csv"),
            lambda: csv_of(fault_bars.COLUMNS, fault_bars.values(shown)),
            "turnover.csv",
            "kv_bars_csv",
        )


def as_told() -> None:
    """What was published about pages 12 and 13, and what the code does."""
    parts.heading(say("page_cache.as_told"))
    st.space(8)
    head = "".join(
        f"<th>{parts.escape(say(f'page_cache.told_{name}'))}</th>"
        for name in ("entries", "told", "plain", "warm")
    )
    parts.table(head, map(told_row, replays.stretches()))
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{parts.escape(say('page_cache.told'))}</p>"
    )


def told_row(one: Stretch) -> str:
    """A stretch of sizes; what was published is struck out where it is not so."""
    sizes = (
        units.group(one.first)
        if one.first == one.last
        else f"{units.group(one.first)}–{units.group(one.last)}"
    )
    told, plain, warm = (
        " ".join(map(str, pages or ())) for pages in (one.told, one.plain, one.warm)
    )
    said = parts.mono(told) if one.as_told else f'<s class="kv-fnt">{parts.mono(told)}</s>'
    mark = "&ensp;✓" if one.as_told else ""
    return (
        f"<tr><td>{sizes}</td><td>{said}</td><td><b>{parts.mono(plain)}</b>{mark}</td>"
        f"<td>{parts.mono(warm)}</td></tr>"
    )


def who_is_protected(wanted: Settings) -> None:
    """Faults of each kind of reader, by how many of them lag."""
    rows = replays.protected(wanted)
    aside = say("page_cache.protected_below", cold=fault_bars.name(wanted.memory.cold_after_bytes))
    parts.heading(say("page_cache.protected"), aside)
    st.space(8)
    heads = [say(f"page_cache.{name}") for name in READERS]
    cells = [
        (
            options.or_none(one.name),
            *map(rate, (one.plain_tail, one.warm_tail, one.plain_laggard, one.warm_laggard)),
        )
        for one in rows
    ]
    mine = next(
        (
            place
            for place, share in enumerate(options.LAGGARDS.values())
            if share == wanted.readers.laggard_share
        ),
        None,
    )
    table(heads, cells, "lrrrr", mine)
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{parts.escape(say('page_cache.protected_why'))}</p>"
    )
    download(
        say("page_cache.csv"),
        lambda: csv_of(PROTECTED_COLUMNS, protected_values(rows)),
        "protected.csv",
        "kv_protected_csv",
    )


def protected_values(rows: Iterable[Protected]) -> list[tuple[float | str, ...]]:
    """PROTECTED_COLUMNS of each: faults per 1000 lookups, empty where there is no such reader."""
    found = (
        (one.name, (one.plain_tail, one.warm_tail, one.plain_laggard, one.warm_laggard))
        for one in rows
    )
    return [
        (options.LAGGARDS[name], *("" if one is None else round(one, 6) for one in faults))
        for name, faults in found
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
