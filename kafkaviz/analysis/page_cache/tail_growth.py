"""The lookups of a reader at the tail at each size of an index, in full pages.

Each has the slots read by the plain search and by the warm section first, and the pages that they
waited for since the index was one page shorter. For example, plain bisection reads pages 0, 6, 9,
11 and 12 at 13 full pages. At 14 it reads pages 7, 10 and 12 in the middle; pages 7 and 10 were
last touched 7.9 and 1.8 MB of log earlier.

The slots are exact. The pages in memory follow the model in page_replay, with a lookup after each
entry.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.page_cache import page_replay
from kafkaviz.analysis.page_cache.index_layouts import ENTRIES_PER_PAGE
from kafkaviz.analysis.page_cache.page_replay import ENTRY_BYTES, IndexGrowth, Memory, tail_search
from kafkaviz.search.slots import WARM_BYTES, first_warm_slot

MAX_PAGES = 40
MEMORY = Memory()


@dataclass(frozen=True)
class TailLookup:
    """One search for the end of an index.

    Attributes:
        probes: the slots that it reads, in order.
        warm_from_slot: the first slot of the warm section; None for a plain search.
        waits: rows of page_replay.FAULT, one per page that was not in memory when a lookup needed
            it, since the index was one page shorter.
    """

    probes: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from_slot: int | None
    waits: np.ndarray


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
        page_replay.replay(growth, memory, warm_bytes=warm_bytes).first_faults
        for warm_bytes in (None, WARM_BYTES)
    )
    return tuple(
        TailLookups(
            pages, _lookup(pages, plain_faults, None), _lookup(pages, warm_faults, WARM_BYTES)
        )
        for pages in range(1, most_pages + 1)
    )


def _lookup(pages: int, faults: np.ndarray, warm_bytes: int | None) -> TailLookup:
    entries = pages * ENTRIES_PER_PAGE
    search = tail_search(entries, warm_bytes)
    warm_from_slot = (
        None if warm_bytes is None else first_warm_slot(entries, ENTRY_BYTES, warm_bytes)
    )
    since = entries - ENTRIES_PER_PAGE
    waits = faults[(faults["entries"] > since) & (faults["entries"] <= entries)]
    return TailLookup(
        tuple(probe.slot for probe in search.probes),
        search.pages,
        warm_from_slot,
        np.sort(waits, order="page"),
    )
