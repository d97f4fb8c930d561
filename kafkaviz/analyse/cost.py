"""What a lookup costs, for every target of a segment at once: probes, pages, and headers read.

Between two keys of an index every search goes the same way, so that one search speaks for all
targets there: of the keys 6 14 22, 6 is searched itself, 7 for the targets 7 to 13, 14, 15 for 15
to 21, and so on. The numbers are exact, whatever the number of targets.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME
from kafkaviz.search.profile import BASE_OFFSET, SearchProfile
from kafkaviz.search.served import ServedSegment
from kafkaviz.search.slots import PAGE_BYTES

PROBES, PAGES, HEADERS = "probes", "pages", "headers"
NO_BATCH = -1


@dataclass(frozen=True)
class Costs:
    """How many targets take how many: probes, pages and headers, each by its number from 0.

    headers: batches whose header is read, of those targets that a batch answers. first, last: the
    targets.
    """

    first: int
    last: int
    probes: np.ndarray
    pages: np.ndarray
    headers: np.ndarray

    @property
    def targets(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def of(self, what: str) -> np.ndarray:
        """The targets by their number of "probes", "pages" or "headers"."""
        return {PROBES: self.probes, PAGES: self.pages, HEADERS: self.headers}[what]


def of_offsets(
    segment: ServedSegment, batches: np.ndarray, of: SearchProfile, page_bytes: int = PAGE_BYTES
) -> Costs:
    """Of every offset from the segment's base offset to its last; batches: all of its .log, as
    format.batch.BATCH names them.
    """
    keys = segment.offset_slots["relative_offset"].astype(np.int64) + segment.base_offset
    first, last = segment.base_offset, int((batches["last_offset"] if len(batches) else keys)[-1])
    by_base_offset = of.scan == BASE_OFFSET
    known = batches["base_offset" if by_base_offset else "last_offset"] if len(batches) else keys
    targets, weights = representatives(
        np.concatenate((keys, keys + 1, known, known + 1)), first, last
    )
    found = slots.floors(keys, targets, ENTRY_BYTES[OFFSET], of.warm, of.warm_bytes, page_bytes)
    starts = _starts(segment, found[:, 0], batches)
    headers = _headers_to_offset(batches, starts, targets, by_base_offset)
    return _costs(first, last, weights, found, headers)


def of_timestamps(
    segment: ServedSegment, batches: np.ndarray, of: SearchProfile, page_bytes: int = PAGE_BYTES
) -> Costs | None:
    """Of every millisecond for which Kafka looks here, from the first batch's on; None where no
    batch has a time.

    Probes and pages are those in the time index.
    """
    keys = segment.time_slots["timestamp_ms"].astype(np.int64)
    times = batches["max_timestamp_ms"][batches["max_timestamp_ms"] >= 0]
    if not len(times):
        return None
    first, last = (
        int(times.min()),
        max(int(times.min()), min(int(times.max()), segment.largest_timestamp_ms)),
    )
    targets, weights = representatives(np.concatenate((keys, keys + 1, times + 1)), first, last)
    found = slots.floors(keys, targets, ENTRY_BYTES[TIME], of.warm, of.warm_bytes, page_bytes)
    # relative ones on both sides
    offsets = _looked_up(segment.time_slots["relative_offset"], found[:, 0], 0)
    entry = slots.floors(segment.offset_slots["relative_offset"], offsets, ENTRY_BYTES[OFFSET])
    starts = _starts(segment, entry[:, 0], batches)
    headers = _headers_to_time(np.ascontiguousarray(batches["max_timestamp_ms"]), starts, targets)
    return _costs(first, last, weights, found, headers)


def representatives(borders: np.ndarray, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """One target for each stretch between two borders, and how many targets it stands for."""
    targets = np.append(borders[(borders > first) & (borders <= last)], first).astype(np.int64)
    targets.sort()  # and not np.unique, which takes six times as long for millions of them
    targets = targets[np.diff(targets, prepend=first - 1) > 0]
    return targets, np.diff(targets, append=last + 1)


def _looked_up(column: np.ndarray, found: np.ndarray, otherwise: int) -> np.ndarray:
    """The value in each slot that was found; `otherwise` for slot -1."""
    if not len(column):
        return np.full(len(found), otherwise, np.int64)
    return np.where(found >= 0, column[np.maximum(found, 0)].astype(np.int64), otherwise)


def _starts(segment: ServedSegment, found: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """The row of the batch that each scan starts at; NO_BATCH where the index points at none."""
    positions = _looked_up(segment.offset_slots["position"], found, 0)
    rows = np.searchsorted(batches["position"], positions)
    inside = rows < len(batches)
    true = (
        inside & (batches["position"][np.minimum(rows, max(0, len(batches) - 1))] == positions)
        if len(batches)
        else inside
    )
    return np.where(true, rows, NO_BATCH)


def _headers_to_offset(
    batches: np.ndarray, starts: np.ndarray, targets: np.ndarray, by_base_offset: bool
) -> np.ndarray:
    """How many headers each scan reads, NO_BATCH where it finds none.

    By last offset up to the batch that reaches the target. By base offset also the next one's,
    unless the target is a base offset or nothing follows.
    """
    if not len(batches):
        return np.full(len(targets), NO_BATCH)
    column = batches["base_offset" if by_base_offset else "last_offset"]
    ends = np.minimum(np.searchsorted(column, targets), len(batches) - 1)
    answered = (starts != NO_BATCH) & (targets <= batches["last_offset"][-1])
    return np.where(answered, np.maximum(ends, starts) - starts + 1, NO_BATCH)


@njit(cache=True)
def _headers_to_time(newest_ms, starts, targets):
    """How many headers each scan reads: to the first batch whose largest timestamp is not below the
    target.
    """
    headers = np.full(len(targets), NO_BATCH)
    for at in range(len(targets)):
        if starts[at] < 0:
            continue
        for row in range(starts[at], len(newest_ms)):
            if newest_ms[row] >= targets[at]:
                headers[at] = row - starts[at] + 1
                break
    return headers


def _costs(
    first: int, last: int, weights: np.ndarray, found: np.ndarray, headers: np.ndarray
) -> Costs:
    answered = headers >= 0
    counted = [
        np.bincount(found[:, 1], weights),
        np.bincount(found[:, 2], weights),
        np.bincount(headers[answered], weights[answered]),
    ]
    return Costs(first, last, *(one.astype(np.int64) for one in counted))
