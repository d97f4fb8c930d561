"""A growing index replayed, kept between reruns: which pages its searches touch and which had gone
cold.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.analysis import index_layouts, page_replay
from kafkaviz.analysis.page_replay import LAGGARD, TAIL, IndexGrowth, Memory, Readers, Replay
from kafkaviz.app.pages.page_cache.options import LAGGARDS, MB
from kafkaviz.figures.fault_bars import TurnoverFaults
from kafkaviz.figures.page_faults import COLUMNS
from kafkaviz.search.index import ENTRY_BYTES, OFFSET

CACHE_ENTRIES = 128
TURNOVERS_MB = (1, 4, 16, 64, 256)
LONG_GROWTH = (20_000, 262_144)  # the growth that faults a page are told of


@dataclass(frozen=True)
class ReplaySettings:
    """What the sliders say. warm_bytes: None where the search has no warm section; key: of a real
    index, "" for a made one.
    """

    growth: IndexGrowth
    memory: Memory
    readers: Readers
    warm_bytes: int | None
    key: str = ""


@dataclass(frozen=True)
class ReaderFaultRates:
    """Faults per 1000 lookups of readers at the tail and of laggards, where so many of all are
    laggards; None for no such reader.
    """

    name: str
    plain_tail: float | None
    warm_tail: float | None
    plain_laggard: float | None
    warm_laggard: float | None


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def images(settings: ReplaySettings, _clock: np.ndarray | None = None) -> tuple[Replay, Replay]:
    """The growth replayed plain, and with the warm section first."""
    options: dict[str, Any] = {"columns": COLUMNS, "clock": _clock}
    plain, warm = (
        page_replay.replay(
            settings.growth, settings.memory, settings.readers, warm_bytes, **options
        )
        for warm_bytes in (None, settings.warm_bytes)
    )
    return plain, warm


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def turnover_bars(settings: ReplaySettings) -> tuple[TurnoverFaults, ...]:
    """Faults a grown page of a long growth, a bar a turnover."""
    growth = lengthen(settings.growth)
    return tuple(
        _turnover(growth, replace(settings.memory, cold_after_bytes=size * MB), settings)
        for size in TURNOVERS_MB
    )


def lengthen(growth: IndexGrowth) -> IndexGrowth:
    """The same gap and entries, grown far."""
    return replace(growth, entries=LONG_GROWTH[1], counted_from=LONG_GROWTH[0])


def _turnover(growth: IndexGrowth, memory: Memory, settings: ReplaySettings) -> TurnoverFaults:
    plain, warm = (
        page_replay.replay(growth, memory, settings.readers, warm_bytes)
        for warm_bytes in (None, settings.warm_bytes)
    )
    is_at_tail = (
        not settings.readers.laggard_share
        and settings.readers.appends_a_lookup == 1
        and growth.entry_bytes == ENTRY_BYTES[OFFSET]
    )
    formula = (
        page_replay.expected_faults(growth, memory) / plain.grown_pages
        if is_at_tail and not memory.read_around_bytes
        else None
    )
    return TurnoverFaults(
        memory.cold_after_bytes, plain.faults_a_grown_page, warm.faults_a_grown_page, formula
    )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def reader_fault_rates(settings: ReplaySettings) -> tuple[ReaderFaultRates, ...]:
    """Who meets cold pages, by the share of laggards, in a long growth."""
    return tuple(
        _reader_fault_rates(name, replace(settings.readers, laggard_share=share), settings)
        for name, share in LAGGARDS.items()
    )


def _reader_fault_rates(name: str, readers: Readers, settings: ReplaySettings) -> ReaderFaultRates:
    growth = lengthen(settings.growth)
    plain, warm = (
        page_replay.replay(growth, settings.memory, readers, warm_bytes)
        for warm_bytes in (None, settings.warm_bytes)
    )
    return ReaderFaultRates(
        name,
        *(
            replay.faults_a_thousand(reader)
            for reader in (TAIL, LAGGARD)
            for replay in (plain, warm)
        ),
    )


@st.cache_resource(show_spinner=False)
def size_ranges() -> tuple[page_replay.IndexSizeRange, ...]:
    """The sizes of an index that KAFKA-6432 tells of: its 13th and its 14th page."""
    return page_replay.index_size_ranges(
        12 * index_layouts.ENTRIES_A_PAGE + 1, 14 * index_layouts.ENTRIES_A_PAGE
    )
