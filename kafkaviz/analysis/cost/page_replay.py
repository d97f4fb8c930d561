"""Replays lookups in a growing index, and counts reads of pages that had left the page cache.

This is the problem in KAFKA-6432. A reader at the log's end looks up an offset after every append.
Plain binary search reads the middle of the index, its three-quarter point and so on. As the index
grows, these points move to pages that were last read long ago. A search that tries the last entries
first (kafkaviz.search.binary_search) reads only the newest pages.

Time is counted in bytes appended to the log. A page leaves the modelled page cache when it was not
touched for `cold_after_bytes`. For example, with 512 entries per page and 13 full pages, a plain
search for the end reads pages 0, 6, 9, 11 and 12. With 14 full pages, it reads pages 0, 7, 10, 12
and 13. Page 7 was last touched 7.9 MB of log earlier.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import offset_index
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import PAGE_BYTES, WARM_BYTES, first_warm_slot, page_span

ENTRY_BYTES = offset_index.ENTRY.itemsize
ENTRIES_PER_PAGE = PAGE_BYTES // ENTRY_BYTES
UNIFORM = "uniform"
EXPONENTIAL = "exponential"
FIXED = "fixed"
TAIL = 0
LAGGING = 1
MAX_FAULTS = 20_000  # more page faults are counted, but not listed
# This fits, for example, a log written at 4.7 kB/s on a broker that writes 300 MB/s in total and
# has a page cache of 64 GB.
COLD_AFTER_BYTES = 1_000_000
NEVER = -1
FAULT: np.dtype = np.dtype(
    [("entries", np.int64), ("page", np.int64), ("idle_bytes", np.int64), ("reader", np.int8)]
)
MAX_PAGES = 40


@dataclass(frozen=True)
class IndexGrowth:
    """An index that gets more and more entries."""

    entries: int  # the number of entries at the end
    gap_bytes: int = 4608  # .log bytes between two entries
    entry_bytes: int = ENTRY_BYTES
    # lookups in an index with at most this many entries only fill the page cache; later lookups are
    # counted
    counted_from: int = 0

    @property
    def clock(self) -> np.ndarray:
        return np.arange(1, self.entries + 1, dtype=np.int64) * self.gap_bytes


@dataclass(frozen=True)
class Memory:
    """A model of the page cache."""

    page_bytes: int = PAGE_BYTES
    # a page that no lookup touches leaves memory after this many bytes have been appended to the
    # .log
    cold_after_bytes: int = COLD_AFTER_BYTES
    read_around_bytes: int = 0  # how much the kernel reads around a missing page; 0: only this page


@dataclass(frozen=True, kw_only=True)
class Readers:
    """Readers that look up offsets while an index grows.

    There is one lookup per `appends_per_lookup` appends. Lagging readers make `lagging_share` (0 to
    1) of the lookups. Readers at the tail make the others, and look up the end of the log.
    """

    lagging_share: float = 0.0
    # the distance of a lagging reader's target from the end, in entries. "uniform": any distance.
    # "exponential": `lag_entries` on average. "fixed": always `lag_entries`.
    lag: str = UNIFORM
    lag_entries: int = 0
    appends_per_lookup: int = 1
    seed: int = 6432
    from_entries: int = 0  # the number of entries at which lookups begin


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The page faults and touched pages of lookups while an index grew.

    Pairs are (readers at the tail, lagging readers). The pairs and `first_faults` do not count the
    lookups in an index with `IndexGrowth.counted_from` or fewer entries.
    """

    entries: int
    pages: int
    grown_pages: float  # the pages by which the index grew while lookups were counted
    lookups: tuple[int, int]
    faults: tuple[int, int]
    most_pages: tuple[int, int]  # the most pages that one lookup touched
    # how often each page was touched, shape (pages, columns). The columns divide the growth of the
    # index into equal parts.
    touched: np.ndarray
    # how often each page was touched while it was not in memory, in the shape of `touched`
    faulted: np.ndarray
    first_faults: np.ndarray  # the first page faults, at most MAX_FAULTS, an array of FAULT
    # the .log bytes appended since each page was last touched, shape (pages,). Lookups after the
    # last append do not count.
    idle_bytes: np.ndarray

    def faults_per_thousand(self, reader: int) -> float | None:
        """Returns the page faults per 1000 lookups of TAIL or LAGGING readers. None: no lookups."""
        return 1000 * self.faults[reader] / self.lookups[reader] if self.lookups[reader] else None


def replay(
    growth: IndexGrowth,
    memory: Memory = Memory(),
    readers: Readers = Readers(),
    warm_bytes: int | None = WARM_BYTES,
    *,
    columns: int = 1,
    clock: np.ndarray | None = None,
) -> Replay:
    """Counts the pages that readers touch while an index grows.

    No replayed search ends early at a key that equals its target. Such keys are rare if a batch has
    several records. The first write to a page is not a page fault.

    Args:
        warm_bytes: the length of the warm section. None: plain binary search.
        clock: the length of the .log at each entry, ascending, shape (entries,). None: entries are
            `gap_bytes` apart.
    """
    entry_counts, target_slots, is_lagging = targets(growth, readers)
    pages = binary_search.page_count(growth.entries, growth.entry_bytes, memory.page_bytes)
    touched = np.zeros((pages, columns), np.int32)
    faulted = np.zeros((pages, columns), np.int32)
    fault_rows = np.zeros((MAX_FAULTS, 4), np.int64)
    counts = np.zeros((3, 2), np.int64)
    idle_bytes = np.zeros(pages, np.int64)
    clock_bytes = growth.clock if clock is None else np.ascontiguousarray(clock, np.int64)
    warm_entries = NEVER
    if warm_bytes is not None:
        warm_entries = binary_search.warm_entries(growth.entry_bytes, warm_bytes)
    count = _replay(
        clock_bytes,
        entry_counts,
        target_slots,
        is_lagging,
        growth.entry_bytes,
        memory.page_bytes,
        memory.cold_after_bytes,
        memory.read_around_bytes // memory.page_bytes,
        growth.counted_from,
        warm_entries,
        touched,
        faulted,
        fault_rows,
        counts,
        idle_bytes,
    )
    grown_pages = (growth.entries - growth.counted_from) * growth.entry_bytes / memory.page_bytes
    lookups, faults, most_pages = (cast("tuple[int, int]", tuple(row)) for row in counts.tolist())
    return Replay(
        entries=growth.entries,
        pages=pages,
        grown_pages=grown_pages,
        lookups=lookups,
        faults=faults,
        most_pages=most_pages,
        touched=touched,
        faulted=faulted,
        first_faults=np.array(list(map(tuple, fault_rows[:count])), FAULT),
        idle_bytes=idle_bytes,
    )


def hot_pages(
    growth: IndexGrowth,
    memory: Memory = Memory(),
    warm_bytes: int | None = WARM_BYTES,
    clock: np.ndarray | None = None,
) -> tuple[int, ...]:
    """Returns the pages in memory just before the last entry is looked up.

    A reader at the tail looks up every entry. Lookups more than `cold_after_bytes` before the last
    entry are not replayed: their pages have left memory. `memory.read_around_bytes` must be 0.
    """
    if not growth.entries:
        return ()
    clock_bytes = growth.clock if clock is None else clock
    first = np.searchsorted(clock_bytes, clock_bytes[-1] - memory.cold_after_bytes)
    readers = Readers(from_entries=int(first) + 1)
    idle_bytes = replay(growth, memory, readers, warm_bytes, clock=clock_bytes).idle_bytes
    return tuple(np.flatnonzero(idle_bytes <= memory.cold_after_bytes).tolist())


def targets(growth: IndexGrowth, readers: Readers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns all lookups that the readers make while the index grows, as three arrays.

    The arrays: the number of entries at the time of each lookup, the slot that the lookup finds,
    and whether the reader is lagging.
    """
    entry_counts = np.arange(
        readers.appends_per_lookup, growth.entries + 1, readers.appends_per_lookup, dtype=np.int64
    )
    entry_counts = entry_counts[entry_counts >= readers.from_entries]
    random = np.random.default_rng(readers.seed)
    lagging = random.random(len(entry_counts)) < readers.lagging_share
    back = _entries_back(entry_counts, readers, random)
    slots_found = np.where(lagging, np.maximum(entry_counts - 1 - back, 0), entry_counts - 1)
    return entry_counts, slots_found, lagging.astype(np.int8)


def _entries_back(
    entry_counts: np.ndarray, readers: Readers, random: np.random.Generator
) -> np.ndarray:
    if readers.lag == UNIFORM:
        return (random.random(len(entry_counts)) * entry_counts).astype(np.int64)
    if readers.lag == EXPONENTIAL:
        return random.exponential(readers.lag_entries, len(entry_counts)).astype(np.int64)
    return np.full(len(entry_counts), readers.lag_entries, np.int64)


@njit(cache=True)
def _replay(
    clock: np.ndarray,
    entry_counts: np.ndarray,
    target_slots: np.ndarray,
    is_lagging: np.ndarray,
    entry_bytes: int,
    page_bytes: int,
    cold_after: int,
    around: int,
    counted_from: int,
    warm_entries: int,
    touched: np.ndarray,
    faulted: np.ndarray,
    fault_rows: np.ndarray,
    counts: np.ndarray,
    idle_bytes: np.ndarray,
) -> int:
    """Replays all lookups into the last five arrays; returns the number of filled `fault_rows`."""
    entries = len(clock)
    columns = touched.shape[1]
    last_used = np.full(len(touched), NEVER, np.int64)
    read_by = np.full(len(touched), NEVER, np.int64)
    probed_slots = np.empty(2 + 64, np.int64)
    lookup = fault_count = 0
    for count in range(1, entries + 1):
        now_bytes = clock[count - 1]
        column = (count - 1) * columns // entries
        first_page, last_page = page_span(count - 1, entry_bytes, page_bytes)
        last_used[first_page] = now_bytes
        last_used[last_page] = now_bytes
        if count == entries:
            idle_bytes[:] = now_bytes - last_used
        if lookup == len(entry_counts) or entry_counts[lookup] != count:
            continue
        reader = is_lagging[lookup]
        probes = _probes(count, target_slots[lookup], warm_entries, probed_slots)
        lookup += 1
        fresh_pages = cold_pages = 0
        for probe in range(probes):
            first, last = page_span(probed_slots[probe], entry_bytes, page_bytes)
            for page in range(first, last + 1):
                if read_by[page] == lookup:
                    continue
                read_by[page] = lookup
                fresh_pages += 1
                touched[page, column] += 1
                idle = now_bytes - last_used[page]
                if idle > cold_after:
                    cold_pages += 1
                    faulted[page, column] += 1
                    if fault_count < len(fault_rows) and count > counted_from:
                        fault_rows[fault_count, 0] = count
                        fault_rows[fault_count, 1] = page
                        fault_rows[fault_count, 2] = idle
                        fault_rows[fault_count, 3] = reader
                        fault_count += 1
                    _load_around(last_used, page, around, last_page, now_bytes)
                last_used[page] = now_bytes
        if count > counted_from:
            counts[0, reader] += 1
            counts[1, reader] += cold_pages
            counts[2, reader] = max(counts[2, reader], fresh_pages)
    return fault_count


@njit(cache=True)
def _probes(entries: int, slot: int, warm_entries: int, probed_slots: np.ndarray) -> int:
    """Fills `probed_slots` with the slots that a search for `slot` reads. Returns how many.

    No key equals the target, so a search never ends early.
    """
    lo = 0
    hi = entries - 1
    count = 0
    if warm_entries >= 0:
        probed_slots[0] = max(0, entries - 1 - warm_entries)
        count = 1
    if count and probed_slots[0] <= slot:
        lo = probed_slots[0]
    else:
        hi = probed_slots[0] if count else hi
        probed_slots[count] = 0
        count += 1
    while lo < hi:
        middle = (lo + hi + 1) // 2
        probed_slots[count] = middle
        count += 1
        if middle <= slot:
            lo = middle
        else:
            hi = middle - 1
    return count


@njit(cache=True)
def _load_around(
    last_used: np.ndarray, page: int, around: int, last_page: int, now_bytes: int
) -> None:
    """Marks `around` pages as used now. Half of these pages are before `page`."""
    start = max(0, page - around // 2)
    for other in range(start, min(start + around, last_page + 1)):
        last_used[other] = now_bytes


def tail_search(entries: int, warm_bytes: int | None = WARM_BYTES) -> binary_search.SlotSearch:
    """Returns the search of a reader at the log's end: the target is above the last key."""
    is_warm = warm_bytes is not None
    keys = np.arange(entries)
    return binary_search.floor(keys, entries, ENTRY_BYTES, warm=is_warm, warm_bytes=warm_bytes or 0)


MEMORY = Memory()


@dataclass(frozen=True)
class TailLookup:
    """A search for the end of an index whose pages are all full."""

    probes: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from_slot: int | None  # the first slot of the warm section; None: plain binary search
    # the page faults of lookups while the last page was filled, an array of FAULT
    waits: np.ndarray
    hot_pages: tuple[int, ...]  # the pages in memory after the search


@dataclass(frozen=True)
class TailLookups:
    pages: int
    plain: TailLookup
    warm: TailLookup

    @property
    def entries(self) -> int:
        return self.pages * ENTRIES_PER_PAGE


def grow(most_pages: int = MAX_PAGES, memory: Memory = MEMORY) -> tuple[TailLookups, ...]:
    growth = IndexGrowth(most_pages * ENTRIES_PER_PAGE)
    plain_faults, warm_faults = (
        replay(growth, memory, warm_bytes=warm_bytes).first_faults
        for warm_bytes in (None, WARM_BYTES)
    )
    return tuple(
        TailLookups(
            pages,
            _lookup(pages, memory, plain_faults, None),
            _lookup(pages, memory, warm_faults, WARM_BYTES),
        )
        for pages in range(1, most_pages + 1)
    )


def _lookup(pages: int, memory: Memory, faults: np.ndarray, warm_bytes: int | None) -> TailLookup:
    entries = pages * ENTRIES_PER_PAGE
    since = entries - ENTRIES_PER_PAGE
    waits = faults[(faults["entries"] > since) & (faults["entries"] <= entries)]
    search = tail_search(entries, warm_bytes)
    hot = {*hot_pages(IndexGrowth(entries), memory, warm_bytes), *search.pages}
    return TailLookup(
        tuple(probe.slot for probe in search.probes),
        search.pages,
        None if warm_bytes is None else first_warm_slot(entries, ENTRY_BYTES, warm_bytes),
        np.sort(waits, order="page"),
        tuple(sorted(hot)),
    )
