"""Binary search in the slots of an index. The result lists every slot that was read.

This is AbstractIndex.indexSlotRangeFor. Up to 2.0 it searches all slots. Since 2.1 (KAFKA-6432) it
tries the warm section first: the last 8 KiB of entries. Searches near the log's end then read the
same few pages, however large the index is. For example, with the keys 6 14 22 26 31, all of them
warm, and target 23:

    slot 0   6 < 23   the warm section starts here: continue in it
    slot 2   22 < 23  lo = 2
    slot 3   26 > 23  hi = 2, so slot 2 is the greatest slot not above 23
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.versions import WARM_BYTES

PAGE_BYTES = 4096
NONE = -1


class Column(Protocol):
    """The keys of an index by slot: an array, or an object that computes each key."""

    def __len__(self) -> int: ...

    def __getitem__(self, slot: int, /) -> Any: ...


class Branch(Enum):
    """Where a search continues after a probe."""

    INTO_WARM = auto()  # the warm section starts below the target: continue in it
    BEFORE_WARM = auto()  # the warm section does not start below the target: continue with slot 0
    NO_ENTRY = auto()  # slot 0 is above the target: nothing is found
    FROM_FIRST = auto()  # slot 0 is not above the target: continue from there
    EXACT = auto()  # the probed slot holds the target
    RIGHT = auto()  # the probed slot is below the target: continue from there
    LEFT = auto()  # the probed slot is above the target: continue before it


_AT_WARM_START = {"<": Branch.INTO_WARM, "=": Branch.BEFORE_WARM, ">": Branch.BEFORE_WARM}
_AT_FIRST = {"<": Branch.FROM_FIRST, "=": Branch.FROM_FIRST, ">": Branch.NO_ENTRY}
_AT_MIDDLE = {"<": Branch.RIGHT, "=": Branch.EXACT, ">": Branch.LEFT}


class Probe(NamedTuple):
    """A slot that a binary search reads, and where the search continues."""

    slot: int
    key: int  # the key in the slot
    # lo, hi: the first and last slot that were possible before the probe
    lo: int
    hi: int
    compare: Literal["<", "=", ">"]  # how the key compares with the target
    branch: Branch
    # the first and last slot that are possible after the probe, or None
    remaining: tuple[int, int] | None
    page: int  # the 4 KiB page with the slot's first byte


@dataclass(frozen=True, kw_only=True)
class SlotSearch:
    entries: int
    target: int
    slot: int  # the slot found, or -1
    probes: tuple[Probe, ...]
    pages: tuple[int, ...]  # the 4 KiB pages that contain the probed entries, in ascending order
    section: str  # "warm" or "cold": where the search ended; "cold" for a plain search
    warm_from_slot: int | None  # the first slot of the warm section; None for a plain search


def floor(
    keys: Column, target: int, entry_bytes: int, *, warm: bool = True, warm_bytes: int = WARM_BYTES
) -> SlotSearch:
    """Returns the greatest slot whose key is not above the target, or -1.

    Follows OffsetIndex.lookup and TimeIndex.lookup.

    Args:
        keys: the keys as the index holds them, sorted or not, shape (n,).
        warm_bytes: Kafka's value is 8192; lessons with small indexes use less.
    """
    return _Search(keys, target, entry_bytes, warm_bytes if warm else None).run(upper=False)


def upper_bound(
    keys: Column, target: int, entry_bytes: int, *, warm: bool = True, warm_bytes: int = WARM_BYTES
) -> SlotSearch:
    """Returns the smallest slot whose key is not below the target, or -1.

    As in OffsetIndex.fetchUpperBoundOffset, slot 0 cannot match exactly: if the target equals its
    key, the answer is slot 1.
    """
    return _Search(keys, target, entry_bytes, warm_bytes if warm else None).run(upper=True)


def first_warm_slot(entries: int, entry_bytes: int, warm_bytes: int = WARM_BYTES) -> int:
    """Returns the first slot of the warm section: `warm_entries` before the last slot, or 0."""
    return max(0, entries - 1 - warm_entries(entry_bytes, warm_bytes))


def warm_entries(entry_bytes: int, warm_bytes: int = WARM_BYTES) -> int:
    """Returns the number of warm entries: 1024 in an offset index, 682 in a time index."""
    return warm_bytes // entry_bytes


@njit(cache=True)
def page_span(slot: int, entry_bytes: int, page_bytes: int) -> tuple[int, int]:
    return slot * entry_bytes // page_bytes, ((slot + 1) * entry_bytes - 1) // page_bytes


def pages_of(slot: int, entry_bytes: int, page_bytes: int = PAGE_BYTES) -> range:
    """Returns the numbers of the pages that hold an entry. A time entry may be on two pages."""
    first, last = page_span.py_func(slot, entry_bytes, page_bytes)
    return range(first, last + 1)


def page_count(entries: int, entry_bytes: int, page_bytes: int = PAGE_BYTES) -> int:
    return pages_of(entries - 1, entry_bytes, page_bytes).stop if entries else 0


class _Search:
    def __init__(self, keys: Column, target: int, entry_bytes: int, warm_bytes: int | None) -> None:
        self._keys = keys
        self._target = target
        self._entry_bytes = entry_bytes
        self._warm_from = None
        if warm_bytes is not None and len(keys):
            self._warm_from = first_warm_slot(len(keys), entry_bytes, warm_bytes)
        self._probes: list[Probe] = []
        self._section = "cold"

    def run(self, *, upper: bool) -> SlotSearch:
        slot = self._slot(upper=upper)
        pages = {page for probe in self._probes for page in pages_of(probe.slot, self._entry_bytes)}
        return SlotSearch(
            entries=len(self._keys),
            target=self._target,
            slot=slot,
            probes=tuple(self._probes),
            pages=tuple(sorted(pages)),
            section=self._section,
            warm_from_slot=self._warm_from,
        )

    def _slot(self, *, upper: bool) -> int:
        last = len(self._keys) - 1
        if last < 0:
            return NONE
        if self._warm_from is not None:
            probe = self._probe(self._warm_from, 0, last, _AT_WARM_START)
            if probe.branch is Branch.INTO_WARM:
                self._section = "warm"
                return self._between(self._warm_from, last, upper=upper)
            last = self._warm_from
        if self._probe(0, 0, last, _AT_FIRST).branch is Branch.NO_ENTRY:
            return 0 if upper else NONE
        return self._between(0, last, upper=upper)

    def _between(self, lo: int, hi: int, *, upper: bool) -> int:
        while lo < hi:
            probe = self._probe((lo + hi + 1) // 2, lo, hi, _AT_MIDDLE)
            if probe.branch is Branch.EXACT:
                return probe.slot
            lo, hi = cast("tuple[int, int]", probe.remaining)
        if upper:
            return NONE if lo == len(self._keys) - 1 else lo + 1
        return lo

    def _probe(self, slot: int, lo: int, hi: int, branches: dict[str, Branch]) -> Probe:
        key = int(self._keys[slot])
        if key < self._target:
            compare = "<"
        elif key > self._target:
            compare = ">"
        else:
            compare = "="
        branch = branches[compare]
        remaining = _remaining_slots(branch, slot, lo, hi)
        page = pages_of(slot, self._entry_bytes).start
        probe = Probe(slot, key, lo, hi, compare, branch, remaining, page)
        self._probes.append(probe)
        return probe


def _remaining_slots(branch: Branch, slot: int, lo: int, hi: int) -> tuple[int, int] | None:
    if branch is Branch.NO_ENTRY:
        return None
    if branch is Branch.EXACT:
        return slot, slot
    if branch is Branch.LEFT:
        return lo, slot - 1
    return (lo, hi) if branch is Branch.BEFORE_WARM else (slot, hi)


def floors(
    keys: np.ndarray,
    targets: np.ndarray,
    entry_bytes: int,
    *,
    warm: bool = True,
    warm_bytes: int = WARM_BYTES,
    page_bytes: int = PAGE_BYTES,
) -> np.ndarray:
    """Runs many searches at once, each like `floor`.

    Returns an array of shape (m, 3): for each target the slot found, the number of slots read, and
    the number of pages read.
    """
    keys = np.ascontiguousarray(keys, np.int64)
    targets = np.ascontiguousarray(targets, np.int64)
    warm_from = first_warm_slot(len(keys), entry_bytes, warm_bytes) if warm and len(keys) else NONE
    return _floors(keys, targets, entry_bytes, warm_from, page_bytes)


def sum_pages(
    entries: int, entry_bytes: int, *, warm_bytes: int = WARM_BYTES, page_bytes: int = PAGE_BYTES
) -> int:
    """Returns the total number of pages that are read by one search for each entry.

    The target of each search is just above the entry's key. The result is the sum of the last
    column of `floors` for these targets.
    """
    warm_from = first_warm_slot(entries, entry_bytes, warm_bytes)
    return _sum_pages(entries, entry_bytes, warm_from, page_bytes) if entries else 0


@njit(cache=True)
def _sum_pages(entries: int, entry_bytes: int, warm_from: int, page_bytes: int) -> int:
    # the pages that the current search has read, and the slots that are possible after them
    pages = np.empty(2 * 66, np.int64)
    pending = np.empty((66, 3), np.int64)
    total = 0
    warm_count = _add_pages(pages, 0, warm_from, entry_bytes, page_bytes)
    for is_cold in range(2 if warm_from else 1):
        if is_cold:
            count = _add_pages(pages, warm_count, 0, entry_bytes, page_bytes)
            pending[0] = (0, warm_from, count)
        else:
            pending[0] = (warm_from, entries - 1, warm_count)
        left = 1
        while left:
            left -= 1
            lo, hi, count = pending[left]
            if lo < hi:
                middle = (lo + hi + 1) // 2
                count = _add_pages(pages, count, middle, entry_bytes, page_bytes)
                pending[left] = (lo, middle - 1, count)
                pending[left + 1] = (middle, hi, count)
                left += 2
            elif (
                not is_cold or lo < warm_from
            ):  # a target above warm_from is found by the warm search
                total += count
    return total


@njit(cache=True)
def _add_pages(pages: np.ndarray, count: int, slot: int, entry_bytes: int, page_bytes: int) -> int:
    """Appends those pages of an entry that pages[:count] lacks. Returns the new count."""
    first, last = page_span(slot, entry_bytes, page_bytes)
    for page in range(first, last + 1):
        is_known = False
        for place in range(count):
            is_known |= pages[place] == page
        if not is_known:
            pages[count] = page
            count += 1
    return count


@njit(cache=True)
def _floors(
    keys: np.ndarray, targets: np.ndarray, entry_bytes: int, warm_from: int, page_bytes: int
) -> np.ndarray:
    results = np.empty((len(targets), 3), np.int64)
    probed_slots = np.empty(2 + 64, np.int64)
    for row in range(len(targets)):
        slot, count = _floor(keys, targets[row], warm_from, probed_slots)
        results[row, 0] = slot
        results[row, 1] = count
        results[row, 2] = _pages(probed_slots[:count], entry_bytes, page_bytes)
    return results


@njit(cache=True)
def _floor(
    keys: np.ndarray, target: int, warm_from: int, probed_slots: np.ndarray
) -> tuple[int, int]:
    """Searches for one target and fills `probed_slots`. Returns (slot, number of probes)."""
    lo = 0
    hi = len(keys) - 1
    count = 0
    if hi < 0:
        return NONE, 0
    if warm_from >= 0:
        probed_slots[0] = warm_from
        count = 1
    if warm_from >= 0 and keys[warm_from] < target:
        lo = warm_from
    else:
        probed_slots[count] = 0
        count += 1
        if keys[0] > target:
            return NONE, count
        hi = warm_from if warm_from >= 0 else hi
    while lo < hi:
        middle = (lo + hi + 1) // 2
        probed_slots[count] = middle
        count += 1
        if keys[middle] == target:
            return middle, count
        if keys[middle] > target:
            hi = middle - 1
        else:
            lo = middle
    return lo, count


@njit(cache=True)
def _pages(slots: np.ndarray, entry_bytes: int, page_bytes: int) -> int:
    known_pages = np.empty(2 * len(slots), np.int64)
    count = 0
    for slot in slots:
        count = _add_pages(known_pages, count, slot, entry_bytes, page_bytes)
    return count
