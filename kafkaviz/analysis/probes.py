"""How many slots and pages a search in an index of so many entries touches, whichever entry it ends
at.

Neither depends on the keys, as long as no search meets one by the way: of five entries each search
reads as many slots in a heartbeat's index as in any other. So the tables are worked out once for a
number of entries, by the search itself (search.slots).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES, WARM_BYTES

REPLAYED_BITS = 18  # of a number of entries: a 2 MiB .index


@dataclass(frozen=True)
class Probes:
    """Of each slot that a search can end at, (n,): the slots read and the pages touched; without
    the read of the result.

    tail_probes, tail_pages: for the reader at the end, whose target is above the last key.
    """

    probes: np.ndarray
    pages: np.ndarray
    tail_probes: int
    tail_pages: int


@lru_cache(maxsize=64)
def probes(
    entries: int,
    entry_bytes: int,
    *,
    warm: bool = True,
    warm_bytes: int = WARM_BYTES,
    page_bytes: int = PAGE_BYTES,
) -> Probes:
    """Of an index of so many entries; none is met exactly, as of a target between two keys."""
    keys = 2 * np.arange(entries, dtype=np.int64)
    floors = slots.floors(
        keys, keys + 1, entry_bytes, warm=warm, warm_bytes=warm_bytes, page_bytes=page_bytes
    )
    tail = floors[-1] if entries else np.zeros(3, np.int64)
    floors.setflags(write=False)
    return Probes(floors[:, 1], floors[:, 2], int(tail[1]), int(tail[2]))


@lru_cache(maxsize=512)
def mean_touched_pages(entries: int, entry_bytes: int, stretch_bytes: int = PAGE_BYTES) -> float:
    """How many stretches of so many bytes a search touches on average: pages, or what the kernel
    reads around a page that is missing.

    Beyond as many entries as are worth playing through, each time that they double adds one.
    """
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    pages = probes.__wrapped__(entries >> doublings, entry_bytes, page_bytes=stretch_bytes).pages
    return float(pages.mean()) + doublings if len(pages) else 0.0
