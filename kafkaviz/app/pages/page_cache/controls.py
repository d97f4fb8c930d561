"""The controls: how the index grows, what memory holds, and who reads.

The keys of the dictionaries below are the words of each choice in the address.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.analysis.page_cache.page_replay import (
    COLD_AFTER_BYTES,
    EXPONENTIAL,
    FIXED,
    UNIFORM,
    IndexGrowth,
    Memory,
    Readers,
)
from kafkaviz.app import page_state
from kafkaviz.app.cache.segment_cache import HASH_FUNCS
from kafkaviz.app.cache.simulation_cache import ReplaySettings
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import BrokerLocation, Location
from kafkaviz.app.widgets import choice, elements
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.text.sentences import describe_error
from kafkaviz.html import tag
from kafkaviz.log.broker import Broker
from kafkaviz.log.segment import Segment
from kafkaviz.messages import say
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME

MB = 1_000_000
KIB = 1024
COLD = {f"{megabytes} MB": megabytes * MB for megabytes in (1, 2, 4, 8, 16, 32, 64, 256)}
DEFAULT_COLD = next(name for name, size in COLD.items() if size == COLD_AFTER_BYTES)
GROW = {
    f"{count} pages": count * index_layouts.ENTRIES_PER_PAGE
    for count in (14, 20, 40, 100, 512, 2560)
}
GAP = {f"{gap} B": gap for gap in (1024, 2304, 4608, 16384)}
PAGE_SIZE = {f"{kib} KiB": kib * KIB for kib in (4, 16, 64)}
SECTION = {"none": None, **{f"{kib} KiB": kib * KIB for kib in (4, 8, 16, 64, 256, 1024)}}
LAGGARDS = {"none": 0.0, "0.1 %": 0.001, "1 %": 0.01, "5 %": 0.05, "20 %": 0.2}
LAG = {
    "anywhere": (UNIFORM, 0),
    "about 30 entries": (EXPONENTIAL, 30),
    "about 300 entries": (EXPONENTIAL, 300),
    "about 3000 entries": (EXPONENTIAL, 3000),
    "always 3000 entries": (FIXED, 3000),
}
READ_AROUND = {"none": 0, "128 KiB": 128 * KIB, "1 MiB": 1024 * KIB, "8 MiB": 8192 * KIB}
LOOKUP_INTERVALS = {
    "each append": 1,
    "10 appends": 10,
    "100 appends": 100,
    "1000 appends": 1000,
    "5000 appends": 5000,
}
ENTRY_SIZE = {
    f"{kind.capitalize()} index, {ENTRY_BYTES[kind]} B": ENTRY_BYTES[kind]
    for kind in (OFFSET, TIME)
}
DEFAULT_SEED = 6432
LARGEST_SEED = 999_999
PRACTICE = "A practice log"


def render_controls(location: Location) -> tuple[ReplaySettings, np.ndarray | None]:
    """Draws the sliders.

    Returns:
        The settings, and the positions of the index entries if a real index is chosen.
    """
    is_practice = _chosen_index(location) == PRACTICE
    with st.container(key="kv_set"):
        first = st.columns(3, gap=28)
        second = st.columns(3, gap=28)
        cold = _render_slider(
            first[0],
            "cold",
            page_state.COLD,
            COLD,
            DEFAULT_COLD,
            help=say("page_cache.cold_about"),
        )
        entries = _render_slider(
            first[1],
            "grow",
            page_state.GROW,
            GROW,
            "40 pages",
            describe=_pages_text,
            disabled=not is_practice,
        )
        gap = _render_slider(
            first[2], "gap", page_state.GAP, GAP, "4608 B", disabled=not is_practice
        )
        page_bytes = _render_slider(
            second[0], "page_size", page_state.PAGE_SIZE, PAGE_SIZE, "4 KiB"
        )
        warm_bytes = _render_slider(
            second[1], "section", page_state.SECTION, SECTION, "8 KiB", describe=size_text
        )
        share = _render_slider(
            second[2], "laggards", page_state.LAGGARDS, LAGGARDS, "none", describe=size_text
        )
        read_around_bytes, appends_per_lookup, entry_bytes, lag, seed, index_name = _render_more(
            location
        )
    key, _, clock = _open_index(location, index_name)
    if clock is not None:
        entries = len(clock)
        gap = max(1, int(clock[-1]) // len(clock)) if len(clock) else 1
        entry_bytes = 8
        text = say(
            "page_cache.real",
            name=index_name,
            entries=units.format_count(entries),
            gap=units.format_count(gap),
        )
        st.html(tag("p", text, class_="kv-sm kv-fnt", style="margin-top:10px"))
    kind_of_lag, lag_entries = lag
    readers = Readers(
        laggard_share=share,
        lag=kind_of_lag,
        lag_entries=lag_entries,
        appends_per_lookup=appends_per_lookup,
        seed=seed,
    )
    return (
        ReplaySettings(
            IndexGrowth(entries, gap, entry_bytes),
            Memory(page_bytes, cold, read_around_bytes),
            readers,
            warm_bytes,
            key,
        ),
        clock,
    )


def render_index_choice(location: Location) -> tuple[str, np.ndarray | None]:
    """Draws the choice of a real index. Returns its key and its offsets, or "" and None."""
    names = _index_names(location)
    if len(names) == 1:
        return "", None
    index_name = choice.draw_bound(
        st.selectbox,
        say("page_cache.index_compared"),
        names,
        PRACTICE,
        page_state.INDEX,
        format_func=lambda name: say("common.none") if name == PRACTICE else name,
    )
    key, offsets, _ = _open_index(location, index_name)
    return key, offsets


def _index_names(location: Location) -> list[str]:
    return [PRACTICE, *_offset_indexes(location.broker)]


def _chosen_index(location: Location) -> str:
    name = st.session_state.get(page_state.INDEX) or st.query_params.get(page_state.INDEX)
    return name if name in _offset_indexes(location.broker) else PRACTICE


def _render_more(location: Location) -> tuple:
    names = _index_names(location)
    with st.expander(say("page_cache.more")):
        first = st.columns(3, gap=28)
        second = st.columns(3, gap=28)
        read_around_bytes = _render_slider(
            first[0],
            "around",
            page_state.READ_AHEAD,
            READ_AROUND,
            "none",
            describe=size_text,
        )
        appends_per_lookup = _render_slider(
            first[1],
            "every",
            page_state.APPENDS_PER_LOOKUP,
            LOOKUP_INTERVALS,
            "each append",
            describe=_lookup_interval_text,
        )
        lag = _render_slider(first[2], "lag", page_state.LAG, LAG, "anywhere", describe=_lag_text)
        kinds = list(ENTRY_SIZE)
        kind = choice.draw_bound(
            second[0].selectbox,
            say("page_cache.kind"),
            kinds,
            kinds[0],
            page_state.ENTRY_SIZE,
            format_func=_index_kind_text,
        )
        index_name = choice.draw_bound(
            second[1].selectbox,
            say("page_cache.index"),
            names,
            PRACTICE,
            page_state.INDEX,
            format_func=_index_text,
            help=say("page_cache.index_about"),
        )
        seeds = (0, LARGEST_SEED, DEFAULT_SEED)
        seed = second[2].number_input(
            say("page_cache.seed"), *seeds, key=page_state.SEED, bind="query-params"
        )
    return (
        read_around_bytes,
        appends_per_lookup,
        ENTRY_SIZE[kind],
        lag,
        int(seed or 0),
        index_name,
    )


def _render_slider(
    column,
    name: str,
    key: str,
    values: dict,
    default: str,
    *,
    describe: Callable[[str], str] = str,
    **widget_options: object,
):
    """Draws a slider with its value at the right of the label, and returns the chosen value.

    Args:
        name: the message key of the label.
        describe: returns the text of a key of `values`.
    """
    with column:
        value_slot = st.empty()
        value_name = choice.draw_bound(
            st.select_slider,
            say(f"page_cache.{name}"),
            values,
            default,
            key,
            format_func=describe,
            **widget_options,
        )
        kind = "kv-value asked" if "help" in widget_options else "kv-value"
        value_slot.html(tag("div", describe(value_name), class_=kind, aria_hidden="true"))
    return values[value_name]


def _open_index(
    location: Location, index_name: str
) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """Returns the key, offsets and positions of a real index, or "", None and None."""
    segment = _offset_indexes(location.broker).get(index_name)
    if segment is None or not isinstance(location, BrokerLocation):
        return "", None, None
    try:
        key = f"{location.snapshot.key} {index_name}"
        return key, *read_index(segment)
    except KafkavizError as fault:
        finding = say("page_cache.unread", name=units.escape_controls(index_name))
        with elements.state(
            "unread",
            "warning",
            finding,
            say("page_cache.unread_below", fault=describe_error(fault)),
        ):
            pass
        return "", None, None


def _offset_indexes(broker: Broker | None) -> dict[str, Segment]:
    """Returns the largest segment of each topic-partition with two index entries, by name."""
    segments_by_name = {}
    if broker is None:
        return segments_by_name
    for partition in broker.partitions:
        with suppress(CannotOpen):
            segment = page_location.largest_segment(partition)
            if segment.index and segment.index.size_bytes >= 2 * ENTRY_BYTES[OFFSET]:
                name = units.escape_controls(broker.partition_name(partition))
                segments_by_name[name] = segment
    return segments_by_name


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def read_index(segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """Returns the offsets and the positions of the index entries, in rising order.

    In a damaged index, entries whose offset falls are left out, and a falling position keeps the
    value before it.
    """
    entries = segment.offset_index
    offsets = entries["offset"].astype(np.int64)
    positions = entries["position"].astype(np.int64)
    largest_before = (
        np.maximum.accumulate(np.concatenate([[-1], offsets[:-1]])) if len(offsets) else offsets
    )
    rises = offsets > largest_before
    return offsets[rises], np.maximum.accumulate(positions[rises]) if rises.any() else positions[
        rises
    ]


def size_text(name: str) -> str:
    """Returns a size or a share, which is the same in every language, or the word for none."""
    return say("common.none") if name == "none" else name


def _pages_text(name: str) -> str:
    return say("common.n_pages", n=GROW[name] // index_layouts.ENTRIES_PER_PAGE)


def _lookup_interval_text(name: str) -> str:
    if LOOKUP_INTERVALS[name] == 1:
        return say("page_cache.each_append")
    return say("page_cache.n_appends", n=LOOKUP_INTERVALS[name])


def _lag_text(name: str) -> str:
    kind, entries = LAG[name]
    return say(f"page_cache.lag_{kind}", n=entries)


def _index_kind_text(name: str) -> str:
    size = ENTRY_SIZE[name]
    return say(f"page_cache.kind_{'offset' if size == ENTRY_BYTES[OFFSET] else 'time'}", bytes=size)


def _index_text(name: str) -> str:
    return say("page_cache.practice") if name == PRACTICE else name
