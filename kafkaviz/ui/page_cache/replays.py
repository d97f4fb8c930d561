"""A growing index replayed, kept between reruns: which pages its searches touch and which had gone
cold.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from kafkaviz.figures.fault_bars import Turnover
from kafkaviz.figures.page_faults import COLUMNS
from kafkaviz.search import layouts, pages
from kafkaviz.search.index import ENTRY_BYTES, OFFSET
from kafkaviz.search.pages import LAGGARD, TAIL, Growth, Memory, Readers, Replay
from kafkaviz.ui.page_cache.options import LAGGARDS, MB

KEPT = 128
TURNOVERS_MB = (1, 4, 16, 64, 256)
LONG = (20_000, 262_144)  # the growth that faults a page are told of


@dataclass(frozen=True)
class Settings:
    """What the sliders say. warm_bytes: None where the search has no warm section; key: of a real
    index, "" for a made one.
    """

    growth: Growth
    memory: Memory
    readers: Readers
    warm_bytes: int | None
    key: str = ""


@dataclass(frozen=True)
class Protected:
    """Faults per 1000 lookups of readers at the tail and of laggards, where so many of all are
    laggards; None for no such reader.
    """

    name: str
    plain_tail: float | None
    warm_tail: float | None
    plain_laggard: float | None
    warm_laggard: float | None


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def images(wanted: Settings, _clock: np.ndarray | None = None) -> tuple[Replay, Replay]:
    """The growth replayed plain, and with the warm section first."""
    options: dict[str, Any] = {"columns": COLUMNS, "clock": _clock}
    plain, warm = (
        pages.replay(wanted.growth, wanted.memory, wanted.readers, one, **options)
        for one in (None, wanted.warm_bytes)
    )
    return plain, warm


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def bars(wanted: Settings) -> tuple[Turnover, ...]:
    """Faults a grown page of a long growth, a bar a turnover."""
    growth = long(wanted.growth)
    return tuple(
        _turnover(growth, replace(wanted.memory, cold_after_bytes=size * MB), wanted)
        for size in TURNOVERS_MB
    )


def long(growth: Growth) -> Growth:
    """The same gap and entries, grown far."""
    return replace(growth, entries=LONG[1], counted_from=LONG[0])


def _turnover(growth: Growth, memory: Memory, wanted: Settings) -> Turnover:
    plain, warm = (
        pages.replay(growth, memory, wanted.readers, one) for one in (None, wanted.warm_bytes)
    )
    at_the_tail = (
        not wanted.readers.laggard_share
        and wanted.readers.appends_a_lookup == 1
        and growth.entry_bytes == ENTRY_BYTES[OFFSET]
    )
    formula = (
        pages.expected_faults(growth, memory) / plain.grown_pages
        if at_the_tail and not memory.read_around_bytes
        else None
    )
    return Turnover(
        memory.cold_after_bytes, plain.faults_a_grown_page, warm.faults_a_grown_page, formula
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def protected(wanted: Settings) -> tuple[Protected, ...]:
    """Who meets cold pages, by the share of laggards, in a long growth."""
    return tuple(
        _protected(name, replace(wanted.readers, laggard_share=share), wanted)
        for name, share in LAGGARDS.items()
    )


def _protected(name: str, readers: Readers, wanted: Settings) -> Protected:
    growth = long(wanted.growth)
    plain, warm = (
        pages.replay(growth, wanted.memory, readers, one) for one in (None, wanted.warm_bytes)
    )
    return Protected(
        name,
        *(one.faults_a_thousand(reader) for reader in (TAIL, LAGGARD) for one in (plain, warm)),
    )


@st.cache_resource(show_spinner=False)
def stretches() -> tuple[pages.Stretch, ...]:
    """The sizes of an index that KAFKA-6432 tells of: its 13th and its 14th page."""
    return pages.stretches(12 * layouts.A_PAGE + 1, 14 * layouts.A_PAGE)
