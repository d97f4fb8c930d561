"""What a lookup costs, for every target of a segment at once: probes, pages, and headers read.

Between two keys of an index every search goes the same way, so that one search speaks for all
targets there: of the keys 6 14 22, 6 is searched itself, 7 for the targets 7 to 13, 14, 15 for 15
to 21, and so on. The numbers are exact, whatever the number of targets.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.versions import SearchProfile

PROBES, PAGES, HEADERS = "probes", "pages", "headers"
NO_BATCH = -1


@dataclass(frozen=True)
class LookupCounts:
    """How many targets take how many: probes, pages and headers, each by its number from 0.

    Attributes:
        first: the first target.
        last: the last target.
        headers: batches whose header is read, of those targets that a batch answers.
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

    def counts_of(self, quantity: str) -> np.ndarray:
        """The targets by their number of "probes", "pages" or "headers"."""
        return {PROBES: self.probes, PAGES: self.pages, HEADERS: self.headers}[quantity]


def offset_lookup_counts(
    segment: SegmentView,
    batches: np.ndarray,
    search_profile: SearchProfile,
    page_bytes: int = PAGE_BYTES,
) -> LookupCounts:
    """Of every offset from the segment's base offset to its last.

    Args:
        batches: all of its .log, as format.batch.BATCH names them.
    """
    keys = segment.offset_slots["relative_offset"].astype(np.int64) + segment.base_offset
    first, last = segment.base_offset, int((batches["last_offset"] if len(batches) else keys)[-1])
    by_base_offset = search_profile.by_base_offset
    batch_keys = (
        batches["base_offset" if by_base_offset else "last_offset"] if len(batches) else keys
    )
    targets, weights = representatives(
        np.concatenate((keys, keys + 1, batch_keys, batch_keys + 1)), first, last
    )
    floors = slots.floors(
        keys,
        targets,
        ENTRY_BYTES[OFFSET],
        warm=search_profile.is_warm,
        warm_bytes=search_profile.warm_bytes,
        page_bytes=page_bytes,
    )
    starts = _starts(segment, floors[:, 0], batches)
    headers = _headers_to_offset(batches, starts, targets, by_base_offset=by_base_offset)
    return _count_lookups(first, last, weights, floors, headers)


def timestamp_lookup_counts(
    segment: SegmentView,
    batches: np.ndarray,
    search_profile: SearchProfile,
    page_bytes: int = PAGE_BYTES,
) -> LookupCounts | None:
    """Of every millisecond for which Kafka looks here, from the first batch's on.

    Probes and pages are those in the time index.

    Returns:
        None where no batch has a time.
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
    floors = slots.floors(
        keys,
        targets,
        ENTRY_BYTES[TIME],
        warm=search_profile.is_warm,
        warm_bytes=search_profile.warm_bytes,
        page_bytes=page_bytes,
    )
    # relative ones on both sides
    offsets = _values_at_slots(segment.time_slots["relative_offset"], floors[:, 0], 0)
    entry = slots.floors(segment.offset_slots["relative_offset"], offsets, ENTRY_BYTES[OFFSET])
    starts = _starts(segment, entry[:, 0], batches)
    headers = _headers_to_time(np.ascontiguousarray(batches["max_timestamp_ms"]), starts, targets)
    return _count_lookups(first, last, weights, floors, headers)


def representatives(borders: np.ndarray, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """One target for each stretch between two borders, and how many targets it stands for."""
    targets = np.append(borders[(borders > first) & (borders <= last)], first).astype(np.int64)
    targets.sort()  # and not np.unique, which takes six times as long for millions of them
    targets = targets[np.diff(targets, prepend=first - 1) > 0]
    return targets, np.diff(targets, append=last + 1)


def _values_at_slots(column: np.ndarray, found_slots: np.ndarray, default: int) -> np.ndarray:
    """The value in each slot that was found; `default` for slot -1."""
    if not len(column):
        return np.full(len(found_slots), default, np.int64)
    return np.where(found_slots >= 0, column[np.maximum(found_slots, 0)].astype(np.int64), default)


def _starts(segment: SegmentView, found_slots: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """The row of the batch that each scan starts at; NO_BATCH where the index points at none."""
    positions = _values_at_slots(segment.offset_slots["position"], found_slots, 0)
    rows = np.searchsorted(batches["position"], positions)
    is_inside = rows < len(batches)
    is_batch_start = (
        is_inside & (batches["position"][np.minimum(rows, max(0, len(batches) - 1))] == positions)
        if len(batches)
        else is_inside
    )
    return np.where(is_batch_start, rows, NO_BATCH)


def _headers_to_offset(
    batches: np.ndarray, starts: np.ndarray, targets: np.ndarray, *, by_base_offset: bool
) -> np.ndarray:
    """How many headers each scan reads, NO_BATCH where it finds none.

    By last offset up to the batch that reaches the target. By base offset also the next one's,
    unless the target is a base offset or nothing follows.
    """
    if not len(batches):
        return np.full(len(targets), NO_BATCH)
    column = batches["base_offset" if by_base_offset else "last_offset"]
    ends = np.minimum(np.searchsorted(column, targets), len(batches) - 1)
    is_answered = (starts != NO_BATCH) & (targets <= batches["last_offset"][-1])
    return np.where(is_answered, np.maximum(ends, starts) - starts + 1, NO_BATCH)


@njit(cache=True)
def _headers_to_time(newest_ms: np.ndarray, starts: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """How many headers each scan reads.

    To the first batch whose largest timestamp is not below the target.
    """
    headers = np.full(len(targets), NO_BATCH)
    for target_row in range(len(targets)):
        if starts[target_row] < 0:
            continue
        for row in range(starts[target_row], len(newest_ms)):
            if newest_ms[row] >= targets[target_row]:
                headers[target_row] = row - starts[target_row] + 1
                break
    return headers


def _count_lookups(
    first: int, last: int, weights: np.ndarray, floors: np.ndarray, headers: np.ndarray
) -> LookupCounts:
    is_answered = headers >= 0
    histograms = [
        np.bincount(floors[:, 1], weights),
        np.bincount(floors[:, 2], weights),
        np.bincount(headers[is_answered], weights[is_answered]),
    ]
    return LookupCounts(first, last, *(histogram.astype(np.int64) for histogram in histograms))
