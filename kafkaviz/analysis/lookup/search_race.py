"""The two searches of an index raced for the same target: plain bisection, and warm section first.

A probe of a page in memory takes nanoseconds; one of a page that is not waits for the disk. Which
slots and pages are read is exact. What memory holds is a model: the pages that a reader at the tail
read, by the same search, when the index was one page shorter, and the pages written since. That
reader in KAFKA-6432, when an index of 13 full pages has grown to 14:

    plain    read  0 6 9 11 12    reads  0 7 10 12 13    waits for 7 and 10; 13 was written since
    warm     read 10 11 12        reads 11 12 13         waits for none

A reader far behind finds the pages of that other reader in memory, and few of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz.analysis.cost.cost_model import OBJECT_STORE, PROBE_US, SEARCH_US, STORAGES
from kafkaviz.analysis.page_cache.page_replay import tail_search
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
        warm_from_slot: where the warm section begins, None of an index without entries.
    """

    kind: str
    entries: int
    pages: int
    page_bytes: int
    warm_from_slot: int | None
    plain: RacedSearch
    warm: RacedSearch

    @property
    def page_slots(self) -> float:
        """How many entries a page holds."""
        return self.page_bytes / ENTRY_BYTES[self.kind]

    @property
    def is_hot(self) -> bool:
        """Whether neither waits."""
        return not self.plain.cold_pages and not self.warm.cold_pages

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
) -> SearchRace:
    """Both searches for an offset, or for a timestamp in ms, in an index of the segment.

    Args:
        kind: "offset" or "time".
        warm_bytes: Kafka's are 8192; smaller ones are for indexes of a lesson, as are the pages.
    """
    keys = (
        KeyColumn(segment.time_slots["timestamp_ms"])
        if kind == TIME
        else KeyColumn(segment.offset_slots["relative_offset"], segment.base_offset)
    )
    count, entry_bytes = len(keys), ENTRY_BYTES[kind]
    earlier = max(0, count - page_bytes // entry_bytes)
    last_page = slots.page_count(count, entry_bytes, page_bytes) - 1
    first_written = slots.pages_of(earlier, entry_bytes, page_bytes).start
    written_pages = set(range(first_written, last_page + 1))

    def run(*, warm: bool) -> RacedSearch:
        search = slots.floor(keys, target, entry_bytes, warm=warm, warm_bytes=warm_bytes)
        before = tail_search(earlier, warm_bytes if warm else None, entry_bytes)
        probed = (slots.pages_of(probe.slot, entry_bytes, page_bytes) for probe in before.probes)
        hot_pages = written_pages.union(*probed)
        probes = _probes(search, hot_pages, entry_bytes, page_bytes)
        return RacedSearch(search, tuple(sorted(hot_pages)), probes)

    plain, warm = run(warm=False), run(warm=True)
    return SearchRace(
        kind=kind,
        entries=count,
        pages=last_page + 1,
        page_bytes=page_bytes,
        warm_from_slot=warm.search.warm_from_slot,
        plain=plain,
        warm=warm,
    )


def _probes(
    search: SlotSearch, hot_pages: set[int], entry_bytes: int, page_bytes: int
) -> tuple[RaceProbe, ...]:
    """The probes of a search: a page is cold once, then it is in memory."""
    in_memory, probes = set(hot_pages), []
    for probe in search.probes:
        pages = tuple(slots.pages_of(probe.slot, entry_bytes, page_bytes))
        probes.append(RaceProbe(probe.slot, pages, tuple(p for p in pages if p not in in_memory)))
        in_memory.update(pages)
    return tuple(probes)
