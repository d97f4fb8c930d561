"""Compares plain binary search with a search that tries the warm section first.

The warm section is the last 8192 bytes of an index. A probe is one slot that a search reads. A
probe waits for the disk unless its memory page is in the page cache. The slots and pages are exact.
Which pages are in memory comes from the model in cost/page_replay.py: a reader at the log end has
looked up every entry with the same search. For example, an index grows from 13 full pages to 14
(KAFKA-6432):

    plain    reads pages 0 7 10 12 13    waits for page 7, last read when the log was 7.9 MB smaller
    warm     reads pages 11 12 13        does not wait

With one entry fewer, the middle of the index is on page 6. Then plain binary search does not wait,
because the previous lookup also read page 6.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.cost_model import OBJECT_STORE, STORAGES
from kafkaviz.analysis.cost.page_replay import IndexGrowth, Memory
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import PAGE_BYTES, SlotSearch
from kafkaviz.search.index_search import ENTRY_BYTES, TIME
from kafkaviz.search.log_view import KeyColumn, SegmentView
from kafkaviz.versions import WARM_BYTES

# the kinds of storage that a log directory can be on
DISKS = tuple(storage for name, storage in STORAGES.items() if name not in ("memory", OBJECT_STORE))


class RaceProbe(NamedTuple):
    """A probe, and the memory pages that it reads."""

    slot: int
    pages: tuple[int, ...]
    cold_pages: tuple[int, ...]  # those not in memory at this probe


@dataclass(frozen=True)
class RacedSearch:
    """A search, its probes, and the pages in memory."""

    search: SlotSearch
    hot_pages: tuple[int, ...]  # in memory before the search, ascending
    probes: tuple[RaceProbe, ...]

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(sorted({page for probe in self.probes for page in probe.pages}))

    @property
    def cold_pages(self) -> tuple[int, ...]:
        return tuple(page for probe in self.probes for page in probe.cold_pages)


@dataclass(frozen=True, kw_only=True)
class SearchRace:
    """Plain binary search and the search with a warm section, compared in one index.

    Attributes:
        warm_from_slot: the first slot of the warm section. None: the index has no entries.
        lagging: the searches (plain, warm) of a lagging reader, for a target before the warm
            section. None: no such target.
    """

    kind: str
    entries: int
    pages: int
    page_bytes: int
    warm_bytes: int
    warm_from_slot: int | None
    plain: RacedSearch
    warm: RacedSearch
    lagging: tuple[RacedSearch, RacedSearch] | None = None

    @property
    def page_slots(self) -> float:
        return self.page_bytes / ENTRY_BYTES[self.kind]

    @property
    def warm_entries(self) -> int:
        """The number of entries in the warm section after its first entry."""
        return self.entries - 1 - (self.warm_from_slot or 0)

    @property
    def is_at_tail(self) -> bool:
        """Whether both searches end at the last entry of the index."""
        return 0 < self.entries == self.plain.search.slot + 1

    @property
    def is_even(self) -> bool:
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
    lagging_target: int | None = None,
) -> SearchRace:
    """Runs both searches of a SearchRace. `target` is an offset, or a timestamp in ms.

    Args:
        warm_bytes: the size of the warm section. Lessons use less than 8192 to show small indexes.
        entries: how many of the first entries to use. None: all.
        lagging_target: the target of a lagging reader. None: no such reader.
    """
    if kind == TIME:
        keys = KeyColumn(segment.time_slots["timestamp_ms"][:entries], 0)
    else:
        keys = KeyColumn(segment.offset_slots["relative_offset"][:entries], segment.base_offset)
    entry_bytes = ENTRY_BYTES[kind]
    growth = IndexGrowth(len(keys), entry_bytes=entry_bytes)
    memory = Memory(page_bytes)
    clock = _clock(segment, kind)[:entries]
    plain_hot, warm_hot = (
        page_replay.hot_pages(growth, memory, section_bytes, clock)
        for section_bytes in (None, warm_bytes)
    )

    def run(sought: int, hot_pages: tuple[int, ...], *, warm: bool) -> RacedSearch:
        search = binary_search.floor(keys, sought, entry_bytes, warm=warm, warm_bytes=warm_bytes)
        return RacedSearch(search, hot_pages, _probes(search, hot_pages, entry_bytes, page_bytes))

    plain = run(target, plain_hot, warm=False)
    warm = run(target, warm_hot, warm=True)
    lagging = None
    if lagging_target is not None:
        lagging_warm = run(lagging_target, warm_hot, warm=True)
        # the target of another segment is above or below all keys of this segment
        if lagging_warm.search.section == "cold" and lagging_warm.search.slot >= 0:
            lagging = (run(lagging_target, plain_hot, warm=False), lagging_warm)
    return SearchRace(
        kind=kind,
        entries=len(keys),
        pages=binary_search.page_count(len(keys), entry_bytes, page_bytes),
        page_bytes=page_bytes,
        warm_bytes=warm_bytes,
        warm_from_slot=warm.search.warm_from_slot,
        plain=plain,
        warm=warm,
        lagging=lagging,
    )


def race_without_last_entry(
    segment: SegmentView, target: int, full_race: SearchRace
) -> SearchRace | None:
    """Returns the race without the index's last entry, to show what this entry changes.

    Returns None unless all of these are true: the search finds the last entry, plain binary search
    waits for the disk, and without the last entry it does not wait.
    """
    if not full_race.is_at_tail or not full_race.plain.cold_pages or full_race.entries < 2:
        return None
    before = race(
        segment,
        full_race.kind,
        target,
        warm_bytes=full_race.warm_bytes,
        page_bytes=full_race.page_bytes,
        entries=full_race.entries - 1,
        lagging_target=full_race.lagging[0].search.target if full_race.lagging else None,
    )
    return None if before.plain.cold_pages else before


def _clock(segment: SegmentView, kind: str) -> np.ndarray:
    """Returns the position of each entry's batch in the .log, ascending, int64.

    Unknown positions, for example without a .log, are evenly spaced.
    """
    offset_slots = segment.offset_slots
    time_slots = segment.time_slots
    count = len(time_slots if kind == TIME else offset_slots)
    if not segment.size_bytes:
        return IndexGrowth(count).clock
    positions = np.maximum.accumulate(offset_slots["position"].astype(np.int64))
    if kind != TIME:
        return positions
    if not len(positions):
        return np.linspace(0, segment.size_bytes, count).astype(np.int64)
    # a time entry has the offset of the largest timestamp, in a batch that is not after the batch
    # of the offset entry with which it was written
    slot = np.searchsorted(offset_slots["relative_offset"], time_slots["relative_offset"])
    return np.maximum.accumulate(positions[np.minimum(slot, len(positions) - 1)])


def _probes(
    search: SlotSearch, hot_pages: Iterable[int], entry_bytes: int, page_bytes: int
) -> tuple[RaceProbe, ...]:
    """Returns the probes of a search. Each probe loads its pages into memory for later probes."""
    in_memory = set(hot_pages)
    probes = []
    for probe in search.probes:
        pages = tuple(binary_search.pages_of(probe.slot, entry_bytes, page_bytes))
        probes.append(RaceProbe(probe.slot, pages, tuple(p for p in pages if p not in in_memory)))
        in_memory.update(pages)
    return tuple(probes)


# ---- targets that show the warm section
#
# For example, an index has the keys 6, 14, 22, 26, 31 and 40, and its warm section starts at slot
# 3, with key 26. A search for 27 or above ends in the section; a search for 26 or below continues
# before it. Searches for all targets are run, to find targets for which the search with the warm
# section needs other probes or pages than plain binary search.


# in a larger index, only targets near a sample of about this many entries are searched
ALL_SEARCHED = 1 << 16
# columns of binary_search.floors
PROBES = 1
PAGES = 2


@dataclass(frozen=True)
class WarmTargets:
    """Targets of lookups that show how the warm section works.

    Attributes:
        tail: a target in the warm section, preferably one for which plain binary search needs more
            probes or pages. None: no target is in the warm section.
        before_warm: a target before the warm section, preferably one for which plain binary search
            needs one probe fewer. None: no target is before the warm section.
        default: the first of `tail` and `before_warm` for which the two searches need different
            numbers of probes or pages. None: no such target.
        is_all_warm: whether the warm section is the whole index, so both searches are the same.
    """

    tail: int | None = None
    before_warm: int | None = None
    default: int | None = None
    is_all_warm: bool = False


def warm_range(
    keys: binary_search.Column, first: int, last: int, entry_bytes: int, *, warm_bytes: int
) -> tuple[int, int] | None:
    """Returns the first and the last target whose search ends in the warm section.

    Such a target is from `first` to `last`, and above the first key of the warm section. Returns
    None if none exists.
    """
    if not len(keys):
        return None
    warm_from = binary_search.first_warm_slot(len(keys), entry_bytes, warm_bytes)
    first_warm = max(first, int(keys[warm_from]) + 1)
    return (first_warm, last) if first_warm <= last else None


def choose_targets(
    keys: np.ndarray,
    first: int,
    last: int,
    entry_bytes: int,
    *,
    warm_bytes: int,
    page_bytes: int = PAGE_BYTES,
) -> WarmTargets:
    """Returns targets from `first` to `last` (inclusive) that show how the warm section works."""
    if not len(keys) or first > last:
        return WarmTargets()
    warm_from = binary_search.first_warm_slot(len(keys), entry_bytes, warm_bytes)
    if warm_from == 0:
        return WarmTargets(is_all_warm=True)
    sample = keys[:: max(1, len(keys) // ALL_SEARCHED)]
    targets = _representatives(np.concatenate((sample, sample + 1, [last])), first, last)
    warm, plain = (
        binary_search.floors(
            keys, targets, entry_bytes, warm=is_warm, warm_bytes=warm_bytes, page_bytes=page_bytes
        )
        for is_warm in (True, False)
    )
    change = warm - plain
    ends_in_warm = targets > keys[warm_from]
    differs = (change[:, PROBES] != 0) | (change[:, PAGES] != 0)
    saves = differs & (change[:, PROBES] <= 0) & (change[:, PAGES] <= 0)
    tail = _pick_target(targets, ends_in_warm, saves, differs)
    before_warm = _pick_target(targets, ~ends_in_warm, change[:, PROBES] == 1, differs, share=0.5)
    showing = set(targets[differs].tolist())
    return WarmTargets(
        tail, before_warm, next((t for t in (tail, before_warm) if t in showing), None)
    )


def _representatives(borders: np.ndarray, first: int, last: int) -> np.ndarray:
    """Returns the targets to try, ascending: `first`, and all `borders` after it up to `last`."""
    targets = np.append(borders[(borders > first) & (borders <= last)], first).astype(np.int64)
    targets.sort()  # np.unique takes six times as long for millions of targets
    return targets[np.diff(targets, prepend=first - 1) > 0]


def _pick_target(
    targets: np.ndarray, is_candidate: np.ndarray, *preferred: np.ndarray, share: float = 1.0
) -> int | None:
    """Returns one of the candidates, or None if there is none.

    Each of `preferred` is a mask of targets. Chooses among the candidates in the first mask that
    has any; if no mask has any, among all. `share` 0 takes the first, 1 the last, 0.5 the middle.
    """
    for is_preferred in (*preferred, np.ones(len(targets), bool)):
        rows = np.flatnonzero(is_candidate & is_preferred)
        if len(rows):
            return int(targets[rows[int((len(rows) - 1) * share)]])
    return None
