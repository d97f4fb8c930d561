"""The Page cache page: index pages that a search touches, which are cold, and other searches.

The lookups of a reader at the tail follow KAFKA-6432. Long growths compare the faults by turnover,
which is the amount of log after which a page is cold, and by reader.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import index_layouts, page_replay
from kafkaviz.analysis.page_cache.page_replay import (
    LAGGARD,
    TAIL,
    IndexGrowth,
    IndexSizeRange,
    Memory,
    Replay,
    TailLookups,
    index_size_ranges,
)
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache.simulation_cache import CACHE_ENTRIES, ReplaySettings, replays
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.page_cache.controls import (
    DEFAULT_SEED,
    LAGGARDS,
    MB,
    render_controls,
    render_index_choice,
    size_text,
)
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.page_cache import fault_bars, layout_bars, page_faults, tail_pages
from kafkaviz.figures.page_cache import tail_growth as tail_growth_figure
from kafkaviz.figures.page_cache.fault_bars import TurnoverFaults
from kafkaviz.figures.page_cache.page_faults import PLAIN, WARM
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import language, say, say_count
from kafkaviz.search.index import ENTRY_BYTES, OFFSET
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
    legend = elements.key((word, say(f"page_cache.key_{word}")) for word in KEY)
    st.html(tag("div", legend, style="margin-top:10px"))
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
    cells = [(size_text(name), *map(_rate_text, rates)) for name, rates in rows.items()]
    marked_row = next(
        (
            place
            for place, share in enumerate(LAGGARDS.values())
            if share == settings.readers.laggard_share
        ),
        None,
    )
    table(heads, cells, "lrrrr", marked_row)
    elements.paragraph(say("page_cache.protected_why"), above_px=10)
    download(
        say("page_cache.csv"),
        lambda: to_csv(FAULT_RATE_COLUMNS, fault_rate_values(rows)),
        "protected.csv",
        "kv_protected_csv",
    )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _reader_fault_rates(settings: ReplaySettings) -> dict[str, tuple[float | None, ...]]:
    """Returns faults per 1000 lookups, by the key in LAGGARDS.

    The order is plain binary search and warm section for readers at the tail, then both for
    laggards. A rate is None without readers of that kind.
    """
    growth = _lengthen(settings.growth)
    rates = {}
    for name, share in LAGGARDS.items():
        readers = replace(settings.readers, laggard_share=share)
        plain, warm = (
            page_replay.replay(growth, settings.memory, readers, warm_bytes)
            for warm_bytes in (None, settings.warm_bytes)
        )
        rates[name] = tuple(
            replay.faults_per_thousand(reader)
            for reader in (TAIL, LAGGARD)
            for replay in (plain, warm)
        )
    return rates


def fault_rate_values(
    rows: Mapping[str, tuple[float | None, ...]],
) -> list[tuple[float | str, ...]]:
    """Returns the FAULT_RATE_COLUMNS of each row. A kind of reader that is missing has ""."""
    return [
        (LAGGARDS[name], *("" if rate is None else round(rate, 6) for rate in rates))
        for name, rates in rows.items()
    ]


def _rate_text(faults: float | None) -> str:
    if faults is None:
        return units.MISSING
    if not faults:
        return "0"
    if faults < 10:
        return f"{faults:.2f}"
    return units.format_count(round(faults))


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


def _render_growth(location: Location) -> None:
    render_growth(*render_controls(location))


def _render_entries(_location: Location) -> None:
    with st.container():
        render_example()
    st.space(32)
    with st.container(gap=None):
        render_published()


def _render_experts(location: Location) -> None:
    settings, _ = render_controls(location)
    st.space(16)
    render_turnovers(settings)
    st.space(32)
    render_reader_faults(settings)


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
        format_func=lambda name: say(f"page_cache.pattern_{PATTERN_KEYS[name]}"),
        required=True,
        label_visibility="collapsed",
    )
    st.space(12)
    keys = offsets if pattern == OPEN_INDEX else None
    view = layout_bars.view(
        *_compare_layouts(pattern, key if keys is not None else "", keys),
        say(f"page_cache.keys_{PATTERN_KEYS[pattern]}"),
    )
    with st.container(key="kv_fig_layouts"):
        charts.render_titled(("layouts", pattern, key), layout_bars.figure, view, "kv_layouts")
    columns = (
        "way",
        "probes",
        "most_probes",
        "pages",
        "most_pages",
        "at_the_tail",
        "in_the_heap",
    )
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


@st.cache_resource(max_entries=8, show_spinner=False)
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
    heads = [say(f"page_cache.published_{name}") for name in ("entries", "pages", "plain", "warm")]
    table(heads, map(_published_row, _size_ranges()), "llll")
    elements.paragraph(say("page_cache.published_note"), above_px=10)


def _published_row(size_range: IndexSizeRange) -> tuple[str, Html, Html, Html]:
    """Returns a row for a range of index sizes. Published pages are struck out where wrong."""
    sizes = (
        units.format_count(size_range.first)
        if size_range.first == size_range.last
        else f"{units.format_count(size_range.first)}–{units.format_count(size_range.last)}"
    )
    published, plain, warm = (
        elements.mono(" ".join(map(str, pages or ())))
        for pages in (size_range.published_pages, size_range.plain, size_range.warm)
    )
    if size_range.is_as_published:
        return sizes, published, join((tag("b", plain), "\u2002✓")), warm
    return sizes, tag("s", published, class_="kv-fnt"), tag("b", plain), warm


@st.cache_resource(show_spinner=False)
def _size_ranges() -> tuple[IndexSizeRange, ...]:
    """Returns the index sizes that KAFKA-6432 names: those of its 13th and 14th page."""
    return index_size_ranges(
        12 * index_layouts.ENTRIES_PER_PAGE + 1, 14 * index_layouts.ENTRIES_PER_PAGE
    )


RENDERERS: dict[str, Callable[[Location], None]] = {
    ANSWER: lambda _location: render_sizes(),  # needs no directory
    GROWTH: _render_growth,
    ENTRIES: _render_entries,
    LAYOUTS: render_layouts,
    EXPERTS: _render_experts,
}
