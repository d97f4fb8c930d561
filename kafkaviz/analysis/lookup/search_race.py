"""The two searches of an index raced for the same target: plain bisection, and warm section first.

A probe of a page in memory takes nanoseconds; one of a page that is not waits for the disk. Which
slots and pages are read is exact. What memory holds is the model of page_replay: a reader at the
tail has looked up every entry, by the same search. When an index of 13 full pages has grown to 14,
the case of KAFKA-6432:

    plain    reads 0 7 10 12 13    waits for 7, which nobody read while 7.9 MB were written
    warm     reads 11 12 13        waits for none

One entry earlier the middle was on page 6, where the reader of the entry before had read it: there
plain bisection waits for none either. A reader far behind finds the pages of that other reader in
memory, and few of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.cost.cost_model import OBJECT_STORE, PROBE_US, SEARCH_US, STORAGES
from kafkaviz.analysis.page_cache import page_replay
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME
from kafkaviz.search.log_view import KeyColumn, SegmentView
from kafkaviz.search.slots import PAGE_BYTES, SlotSearch
from kafkaviz.versions import WARM_BYTES

# where the directory of a log may lie
DISKS = tuple(storage for name, storage in STORAGES.items() if name not in ("memory", OBJECT_STORE))


class RaceProbe(NamedTuple):
    """A probe and the pages it reads.

    Attributes:
        cold_pages: those of them that are not in memory when it comes to them.
    """

    slot: int
    pages: tuple[int, ...]
    cold_pages: tuple[int, ...]


class ProbeTime(NamedTuple):
    """When a probe begins, has its pages in memory, and is done, in µs since the search began."""

    begin_us: float
    ready_us: float
    end_us: float


@dataclass(frozen=True)
class RacedSearch:
    """One of the two searches.

    Attributes:
        hot_pages: in memory before it begins, in ascending order.
    """

    search: SlotSearch
    hot_pages: tuple[int, ...]
    probes: tuple[RaceProbe, ...]

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages that it reads, in ascending order."""
        return tuple(sorted({page for probe in self.probes for page in probe.pages}))

    @property
    def cold_pages(self) -> tuple[int, ...]:
        """The pages that it waits for, in the order of its probes."""
        return tuple(page for probe in self.probes for page in probe.cold_pages)

    def times(self, read_us: float) -> list[ProbeTime]:
        """When each probe does what.

        Args:
            read_us: what a read of one page from the disk takes.
        """
        times, now_us = [], SEARCH_US.typical
        for probe in self.probes:
            ready_us = now_us + len(probe.cold_pages) * read_us
            times.append(ProbeTime(now_us, ready_us, ready_us + PROBE_US.typical))
            now_us = times[-1].end_us
        return times

    def finish_us(self, read_us: float) -> float:
        """What it takes; a search without a probe takes nothing."""
        return max((time.end_us for time in self.times(read_us)), default=0.0)


@dataclass(frozen=True, kw_only=True)
class SearchRace:
    """Both searches over one index, each with a memory of its own.

    Attributes:
        kind: "offset" or "time".
        warm_bytes: how long the warm section is.
        warm_from_slot: where the warm section begins, None of an index without entries.
    """

    kind: str
    entries: int
    pages: int
    page_bytes: int
    warm_bytes: int
    warm_from_slot: int | None
    plain: RacedSearch
    warm: RacedSearch

    @property
    def page_slots(self) -> float:
        """How many entries a page holds."""
        return self.page_bytes / ENTRY_BYTES[self.kind]

    @property
    def warm_entries(self) -> int:
        """How many entries are warm, but for the one in front of them where the section begins."""
        return self.entries - 1 - (self.warm_from_slot or 0)

    @property
    def is_hot(self) -> bool:
        """Whether neither waits."""
        return not self.plain.cold_pages and not self.warm.cold_pages

    @property
    def is_at_tail(self) -> bool:
        """Whether the last entry is found, as by a reader who has read all but the newest."""
        return 0 < self.entries == self.plain.search.slot + 1

    @property
    def is_even(self) -> bool:
        """Whether both read as many slots and pages, and wait for as many."""
        plain, warm = (
            (len(raced.probes), len(raced.pages), len(raced.cold_pages))
            for raced in (self.plain, self.warm)
        )
        return plain == warm


def race(
    segment: SegmentView,
    kind: str,
    target: int,
    *,
    warm_bytes: int = WARM_BYTES,
    page_bytes: int = PAGE_BYTES,
    entries: int | None = None,
) -> SearchRace:
    """Both searches for an offset, or for a timestamp in ms, in an index of the segment.

    Args:
        kind: "offset" or "time".
        warm_bytes: Kafka's are 8192; smaller ones are for indexes of a lesson, as are the pages.
        entries: how many the index has; None for all that are there.
    """
    column, base_offset = (
        (segment.time_slots["timestamp_ms"], 0)
        if kind == TIME
        else (segment.offset_slots["relative_offset"], segment.base_offset)
    )
    keys, entry_bytes = KeyColumn(column[:entries], base_offset), ENTRY_BYTES[kind]
    growth, memory = IndexGrowth(len(keys), entry_bytes=entry_bytes), Memory(page_bytes)
    clock = _clock(segment, kind)[:entries]

    def run(*, warm: bool) -> RacedSearch:
        search = slots.floor(keys, target, entry_bytes, warm=warm, warm_bytes=warm_bytes)
        hot_pages = page_replay.hot_pages(growth, memory, warm_bytes if warm else None, clock)
        return RacedSearch(search, hot_pages, _probes(search, hot_pages, entry_bytes, page_bytes))

    plain, warm = run(warm=False), run(warm=True)
    return SearchRace(
        kind=kind,
        entries=len(keys),
        pages=slots.page_count(len(keys), entry_bytes, page_bytes),
        page_bytes=page_bytes,
        warm_bytes=warm_bytes,
        warm_from_slot=warm.search.warm_from_slot,
        plain=plain,
        warm=warm,
    )


def race_before_jump(segment: SegmentView, target: int, jump: SearchRace) -> SearchRace | None:
    """The same one entry earlier, when no middle had yet moved to a page that nobody read lately.

    Args:
        jump: the race for the target in an index of the segment.

    Returns:
        None where plain bisection does not wait now, or did one entry earlier too.
    """
    if not jump.is_at_tail or not jump.plain.cold_pages or jump.entries < 2:
        return None
    before = race(
        segment,
        jump.kind,
        target,
        warm_bytes=jump.warm_bytes,
        page_bytes=jump.page_bytes,
        entries=jump.entries - 1,
    )
    return None if before.plain.cold_pages else before


def _clock(segment: SegmentView, kind: str) -> np.ndarray:
    """The bytes of log before the batch of each entry, ascending.

    Returns:
        (entries,) int64; without a log one as far apart as IndexGrowth has them.
    """
    offset_slots, time_slots = segment.offset_slots, segment.time_slots
    count = len(time_slots if kind == TIME else offset_slots)
    if not segment.size_bytes:
        return IndexGrowth(count).clock
    positions = np.maximum.accumulate(offset_slots["position"].astype(np.int64))
    if kind != TIME:
        return positions
    if not len(positions):
        return np.linspace(0, segment.size_bytes, count).astype(np.int64)
    # the batch of the largest timestamp so far, at or before that of the newest entry
    slot = np.searchsorted(offset_slots["relative_offset"], time_slots["relative_offset"])
    return np.maximum.accumulate(positions[np.minimum(slot, len(positions) - 1)])


def _probes(
    search: SlotSearch, hot_pages: Iterable[int], entry_bytes: int, page_bytes: int
) -> tuple[RaceProbe, ...]:
    """The probes of a search: a page is cold once, then it is in memory."""
    in_memory, probes = set(hot_pages), []
    for probe in search.probes:
        pages = tuple(slots.pages_of(probe.slot, entry_bytes, page_bytes))
        probes.append(RaceProbe(probe.slot, pages, tuple(p for p in pages if p not in in_memory)))
        in_memory.update(pages)
    return tuple(probes)
