"""What the Page cache page works out, kept between reruns: replays of a growing index, comparisons of layouts, tried rules."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from kafkaviz.errors import CannotOpen
from kafkaviz.figures.fault_bars import Turnover
from kafkaviz.figures.page_faults import COLUMNS
from kafkaviz.log.broker import Broker
from kafkaviz.log.segment import Segment
from kafkaviz.search import exercise, layouts, pages
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME
from kafkaviz.search.pages import EXPONENTIAL, FIXED, LAGGARD, TAIL, UNIFORM, Growth, Memory, Readers, Replay
from kafkaviz.simulate.lessons import index_keys
from kafkaviz.ui import pick
from kafkaviz.units import legible
from kafkaviz.words import language, say

MB, KIB = 1_000_000, 1024
KEPT = 128
PRACTICE = "A practice log"
COLD = {f"{megabytes} MB": megabytes * MB for megabytes in (1, 2, 4, 8, 16, 32, 64, 256)}
GROW = {f"{count} pages": count * layouts.A_PAGE for count in (14, 20, 40, 100, 512, 2560)}
GAP = {f"{gap} B": gap for gap in (1024, 2304, 4608, 16384)}
PAGE_SIZE = {f"{kib} KiB": kib * KIB for kib in (4, 16, 64)}
SECTION = {"none": None, **{f"{kib} KiB": kib * KIB for kib in (4, 8, 16, 64, 256, 1024)}}
LAGGARDS = {"none": 0.0, "0.1 %": 0.001, "1 %": 0.01, "5 %": 0.05, "20 %": 0.2}
LAG = {
    "anywhere": (UNIFORM, 0), "about 30 entries": (EXPONENTIAL, 30), "about 300 entries": (EXPONENTIAL, 300),
    "about 3000 entries": (EXPONENTIAL, 3000), "always 3000 entries": (FIXED, 3000),
}  # fmt: skip
AROUND = {"none": 0, "128 KiB": 128 * KIB, "1 MiB": 1024 * KIB, "8 MiB": 8192 * KIB}
EVERY = {"each append": 1, "10 appends": 10, "100 appends": 100, "1000 appends": 1000, "5000 appends": 5000}
ENTRY_SIZE = {f"{kind.capitalize()} index, {ENTRY_BYTES[kind]} B": ENTRY_BYTES[kind] for kind in (OFFSET, TIME)}
DEFAULT_SEED, LARGEST_SEED = 6432, 999_999
TURNOVERS_MB = (1, 4, 16, 64, 256)
LONG = (20_000, 262_144)  # the growth that faults a page are told of
COMPARED, TARGETS = 200_000, 4000
TRIED = {"5 keys": 5, "1310 keys": 1310}
OPEN_INDEX = "Open index"
PATTERNS = tuple(index_keys.WORKLOADS)
KEYS = {index_keys.STEADY: "steady", index_keys.BURSTY: "bursty", index_keys.HEAVY: "heavy", OPEN_INDEX: "open"}


@dataclass(frozen=True)
class Settings:
    """What the sliders say. warm_bytes: None where the search has no warm section; key: of a real index, "" for a made one."""

    growth: Growth
    memory: Memory
    readers: Readers
    warm_bytes: int | None
    key: str = ""


@dataclass(frozen=True)
class Protected:
    """Faults per 1000 lookups of readers at the tail and of laggards, where so many of all are laggards; None for no such reader."""

    name: str
    plain_tail: float | None
    warm_tail: float | None
    plain_laggard: float | None
    warm_laggard: float | None


def indexes(broker: Broker | None) -> dict[str, Segment]:
    """The largest segment of each topic-partition, by name, where it has an offset index of more than one entry's bytes."""
    found = {}
    for partition in broker.partitions if broker else ():
        with suppress(CannotOpen):
            segment = pick.largest(partition)
            if segment.index and segment.index.size_bytes >= 2 * ENTRY_BYTES[OFFSET]:
                found[legible(partition.directory)] = segment
    return found


@st.cache_resource(max_entries=8, show_spinner=False)
def read(key: str, _segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """The offsets and positions of an index, rising; entries of a damaged one that do not rise are left out."""
    entries = _segment.offset_index
    offsets, positions = entries["offset"].astype(np.int64), entries["position"].astype(np.int64)
    before = np.maximum.accumulate(np.concatenate([[-1], offsets[:-1]])) if len(offsets) else offsets
    rises = offsets > before
    return offsets[rises], np.maximum.accumulate(positions[rises]) if rises.any() else positions[rises]


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def images(wanted: Settings, _clock: np.ndarray | None = None) -> tuple[Replay, Replay]:
    """The growth replayed plain, and with the warm section first."""
    options = {"columns": COLUMNS, "clock": _clock}
    plain, warm = (pages.replay(wanted.growth, wanted.memory, wanted.readers, one, **options) for one in (None, wanted.warm_bytes))
    return plain, warm


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def bars(wanted: Settings) -> tuple[Turnover, ...]:
    """Faults a grown page of a long growth, a bar a turnover."""
    growth = long(wanted.growth)
    return tuple(_turnover(growth, replace(wanted.memory, cold_after_bytes=size * MB), wanted) for size in TURNOVERS_MB)


def long(growth: Growth) -> Growth:
    """The same gap and entries, grown far."""
    return replace(growth, entries=LONG[1], counted_from=LONG[0])


def _turnover(growth: Growth, memory: Memory, wanted: Settings) -> Turnover:
    plain, warm = (pages.replay(growth, memory, wanted.readers, one) for one in (None, wanted.warm_bytes))
    at_the_tail = not wanted.readers.laggard_share and wanted.readers.appends_a_lookup == 1 and growth.entry_bytes == ENTRY_BYTES[OFFSET]
    formula = pages.expected_faults(growth, memory) / plain.grown_pages if at_the_tail and not memory.read_around_bytes else None
    return Turnover(memory.cold_after_bytes, plain.faults_a_grown_page, warm.faults_a_grown_page, formula)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def protected(wanted: Settings) -> tuple[Protected, ...]:
    """Who meets cold pages, by the share of laggards, in a long growth."""
    return tuple(_protected(name, replace(wanted.readers, laggard_share=share), wanted) for name, share in LAGGARDS.items())


def _protected(name: str, readers: Readers, wanted: Settings) -> Protected:
    growth = long(wanted.growth)
    plain, warm = (pages.replay(growth, wanted.memory, readers, one) for one in (None, wanted.warm_bytes))
    return Protected(name, *(one.faults_a_thousand(reader) for reader in (TAIL, LAGGARD) for one in (plain, warm)))


@st.cache_resource(max_entries=8, show_spinner=False)
def compared(pattern: str, key: str = "", _keys: np.ndarray | None = None) -> tuple[tuple[layouts.Cost, ...], int, int]:
    """Every layout on made keys, or on those of a real index; how many entries, how many targets."""
    keys = index_keys.made_keys(pattern, COMPARED) if _keys is None else _keys
    if not len(keys):
        return (), 0, 0
    targets = np.random.default_rng(DEFAULT_SEED).integers(keys[0], keys[-1] + 1, TARGETS)
    return layouts.compare(keys, targets), len(keys), TARGETS


def figure(of: str, mode: str, draw: Callable, shown: object) -> object:
    """A view as it is drawn in a mode; of: what the view depends on. To make a figure takes Plotly as long as all else of a rerun."""
    return _figure(of, mode, language(), draw, shown)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _figure(of: str, mode: str, spoken: str, _draw: Callable, _shown: object) -> object:
    return _draw(_shown, mode)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def tried(rule: str, on: str) -> exercise.Checked:
    """A rule tried on one of TRIED. Raises NoRule."""
    return exercise.check(exercise.parse(rule), tried_keys(on))


@st.cache_resource(show_spinner=False)
def tried_keys(on: str) -> np.ndarray:
    """The keys of one of TRIED: those of the article, or of a larger index."""
    count = TRIED[on]
    return np.array(exercise.ARTICLE) if count == len(exercise.ARTICLE) else index_keys.made_keys(index_keys.STEADY, count)


# ---- what the choices are called; in the address they stand as they are above


def workload_words(pattern: str) -> str:
    """Which keys are compared."""
    return say(f"page_cache.keys_{KEYS[pattern]}")


def pattern_words(pattern: str) -> str:
    """The same in a word."""
    return say(f"page_cache.pattern_{KEYS[pattern]}")


def or_none(name: str) -> str:
    """A size or a share, which every language writes alike, or none."""
    return say("page_cache.none") if name == "none" else name


def pages_words(name: str) -> str:
    """How far an index grows, of GROW."""
    return say("page_cache.n_pages", n=GROW[name] // layouts.A_PAGE)


def every_words(name: str) -> str:
    """When there is a lookup, of EVERY."""
    return say("page_cache.each_append") if EVERY[name] == 1 else say("page_cache.n_appends", n=EVERY[name])


def lag_words(name: str) -> str:
    """How far laggards are behind, of LAG."""
    kind, entries = LAG[name]
    return say(f"page_cache.lag_{kind}", n=entries)


def kind_words(name: str) -> str:
    """An index, of ENTRY_SIZE."""
    size = ENTRY_SIZE[name]
    return say(f"page_cache.kind_{'offset' if size == ENTRY_BYTES[OFFSET] else 'time'}", bytes=size)


def index_words(name: str) -> str:
    """An index to grow: the practice log, or a topic-partition by its name."""
    return say("page_cache.practice") if name == PRACTICE else name


def tried_words(name: str) -> str:
    """On how many keys a rule is tried, of TRIED."""
    return say("page_cache.n_keys", n=TRIED[name])


@st.cache_resource(show_spinner=False)
def stretches() -> tuple[pages.Stretch, ...]:
    """The sizes of an index that KAFKA-6432 tells of: its 13th and its 14th page."""
    return pages.stretches(12 * layouts.A_PAGE + 1, 14 * layouts.A_PAGE)
