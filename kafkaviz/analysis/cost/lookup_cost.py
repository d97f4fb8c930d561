"""The exact cost of a lookup for all targets of a segment at once: probes, pages, and headers read.

All targets between two keys of an index are searched the same way, so one search stands for all of
them. With the keys 6, 14 and 22, one search covers the target 6, one covers 7 to 13, one covers 14,
and so on.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, OFFSET, TIME
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.versions import SearchProfile

PROBES = "probes"
PAGES = "pages"
HEADERS = "headers"
NO_BATCH = -1


@dataclass(frozen=True)
class LookupCounts:
    """The number of targets by their number of probes, pages and headers, each counted from 0.

    Attributes:
        first, last: the range of all targets.
        headers: batches whose header is read; only targets that a batch answers are counted.
    """

    first: int
    last: int
    probes: np.ndarray
    pages: np.ndarray
    headers: np.ndarray

    @property
    def targets(self) -> int:
        return self.last - self.first + 1

    def counts_of(self, quantity: str) -> np.ndarray:
        return {PROBES: self.probes, PAGES: self.pages, HEADERS: self.headers}[quantity]


@dataclass(frozen=True)
class _KeyStretches:
    """Ranges of targets that are searched the same way, between the keys of an index.

    Attributes:
        first: the first target of each, ascending, shape (n,).
        weights: the number of targets in each, shape (n,).
        floors: the results of slots.floors, shape (n, 3).
        last: the largest target.
    """

    first: np.ndarray
    weights: np.ndarray
    floors: np.ndarray
    last: int


def entry_rows(segment: SegmentView, batches: BatchTable) -> np.ndarray:
    """Returns the row of the batch at which a scan starts, for each slot of the .index.

    Returns:
        One row per slot, and one more for scans that start at byte 0; NO_BATCH if no batch starts
        there.
    """
    positions = np.append(segment.offset_slots["position"].astype(np.int64), 0)
    return batches.rows_at_positions(positions)


def offset_lookup_counts(
    segment: SegmentView,
    batches: BatchTable,
    search_profile: SearchProfile,
    page_bytes: int = PAGE_BYTES,
    *,
    slot_rows: np.ndarray | None = None,
) -> LookupCounts:
    """Returns the counts for every offset from the segment's base offset to its last.

    Args:
        batches: all batches of its .log.
        slot_rows: the result of entry_rows, if already known.
    """
    keys = segment.offset_slots["relative_offset"].astype(np.int64) + segment.base_offset
    last = batches.row(len(batches) - 1)["last_offset"] if len(batches) else keys[-1]
    stretches = _key_stretches(
        keys, (segment.base_offset, int(last)), OFFSET, search_profile, page_bytes
    )
    slot_rows = entry_rows(segment, batches) if slot_rows is None else slot_rows
    starts = slot_rows[stretches.floors[:, 0]]  # slot -1 selects the last row, for byte 0
    column = "base_offset" if search_profile.by_base_offset else "last_offset"
    return _count_lookups(stretches, _headers_to_offsets(batches, column, stretches, starts))


def timestamp_lookup_counts(
    segment: SegmentView,
    batches: BatchTable,
    search_profile: SearchProfile,
    page_bytes: int = PAGE_BYTES,
    *,
    slot_rows: np.ndarray | None = None,
) -> LookupCounts | None:
    """Returns the counts for every millisecond that Kafka looks up in this segment.

    They begin with the first batch's timestamp.

    Probes and pages are those in the time index.

    Args:
        batches: all batches of its .log.
        slot_rows: the result of entry_rows, if already known.

    Returns:
        None if no batch has a timestamp.
    """
    keys = segment.time_slots["timestamp_ms"].astype(np.int64)
    known_ms = batches.known_ms
    if known_ms is None:
        return None
    first, newest_ms = known_ms
    last = max(first, min(newest_ms, segment.largest_timestamp_ms))
    stretches = _key_stretches(keys, (first, last), TIME, search_profile, page_bytes)
    # both indexes hold relative offsets, so no conversion is needed
    offsets = _values_at_slots(segment.time_slots["relative_offset"], stretches.floors[:, 0], 0)
    entry = slots.floors(segment.offset_slots["relative_offset"], offsets, ENTRY_BYTES[OFFSET])
    slot_rows = entry_rows(segment, batches) if slot_rows is None else slot_rows
    starts = slot_rows[entry[:, 0]]
    return _count_lookups(stretches, _headers_to_times(batches, stretches, starts))


def _key_stretches(
    keys: np.ndarray,
    bounds: tuple[int, int],
    kind: str,
    search_profile: SearchProfile,
    page_bytes: int,
) -> _KeyStretches:
    targets, weights = representatives(np.concatenate((keys, keys + 1)), *bounds)
    floors = slots.floors(
        keys,
        targets,
        ENTRY_BYTES[kind],
        warm=search_profile.is_warm,
        warm_bytes=search_profile.warm_bytes,
        page_bytes=page_bytes,
    )
    return _KeyStretches(targets, weights, floors, bounds[1])


def representatives(borders: np.ndarray, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns one target per range between two borders, and the number of targets in the range."""
    targets = np.append(borders[(borders > first) & (borders <= last)], first).astype(np.int64)
    targets.sort()  # np.unique takes six times as long for millions of targets
    targets = targets[np.diff(targets, prepend=first - 1) > 0]
    return targets, np.diff(targets, append=last + 1)


def _values_at_slots(column: np.ndarray, found_slots: np.ndarray, default: int) -> np.ndarray:
    if not len(column):
        return np.full(len(found_slots), default, np.int64)
    return np.where(found_slots >= 0, column[np.maximum(found_slots, 0)].astype(np.int64), default)


def _headers_to_offsets(
    batches: BatchTable, column: str, stretches: _KeyStretches, starts: np.ndarray
) -> np.ndarray:
    """Returns the number of targets by headers read; targets without a batch are left out.

    A scan by last offset ends at the batch that reaches the target. A scan by base offset also
    reads the next header, unless the target is a base offset or no batch follows.
    """
    histogram = _Histogram()
    next_row = 0
    first = int(stretches.first[0])
    for chunk in batches:
        first_row = next_row
        next_row = next_row + len(chunk)
        is_end = next_row == len(batches)
        last = stretches.last if is_end else min(int(chunk[column][-1]), stretches.last)
        if not len(chunk) or last < first:
            continue
        chunk_keys = np.ascontiguousarray(chunk[column])
        start, stop = np.searchsorted(stretches.first, (first, last), "right")
        borders = np.concatenate((chunk_keys, chunk_keys + 1, stretches.first[start:stop]))
        targets, weights = representatives(borders, first, last)
        target_starts = starts[np.searchsorted(stretches.first, targets, "right") - 1]
        ends = np.minimum(np.searchsorted(chunk_keys, targets), len(chunk) - 1) + first_row
        is_answered = target_starts != NO_BATCH
        if is_end:
            is_answered &= targets <= chunk["last_offset"][-1]
        headers = np.maximum(ends, target_starts) - target_starts + 1
        histogram.add(headers[is_answered], weights[is_answered])
        first = last + 1
    return histogram.counts


def _headers_to_times(
    batches: BatchTable, stretches: _KeyStretches, starts: np.ndarray
) -> np.ndarray:
    """Returns the number of targets by headers read.

    Each scan ends at the first batch whose largest timestamp is not below the target. The scans of
    a stretch start at the same batch, so they end at batches that are newer than all before them.
    """
    histogram = _Histogram()
    order = np.argsort(starts, kind="stable")
    order = order[starts[order] != NO_BATCH]
    start_rows = starts[order]
    reached_ms = stretches.first[order] - 1
    last_ms = reached_ms + stretches.weights[order]
    open_scans = np.empty(0, np.int64)
    next_scan = 0
    first_row = 0
    for chunk in batches:
        stop = int(np.searchsorted(start_rows, first_row + len(chunk)))
        open_scans = np.append(open_scans, np.arange(next_scan, stop))
        newest_ms = np.ascontiguousarray(chunk["max_timestamp_ms"])
        histogram.add(
            *_end_scans(newest_ms, first_row, open_scans, start_rows, reached_ms, last_ms)
        )
        open_scans = open_scans[reached_ms[open_scans] < last_ms[open_scans]]
        next_scan = stop
        first_row = first_row + len(chunk)
    return histogram.counts


@njit(cache=True)
def _end_scans(
    newest_ms: np.ndarray,
    first_row: int,
    open_scans: np.ndarray,
    start_rows: np.ndarray,
    reached_ms: np.ndarray,
    last_ms: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns how many headers the scans read that end in this chunk of the log.

    Args:
        newest_ms: the largest timestamps of the batches, from first_row on.
        open_scans: numbers of the scans that have not ended before this chunk.
        reached_ms: the last answered target of each scan; updated here.
        last_ms: the largest target of each scan.

    Returns:
        Numbers of headers, and the number of targets for each.
    """
    headers = [np.int64(0)]
    weights = [np.int64(0)]
    for scan in open_scans:
        for row in range(max(0, start_rows[scan] - first_row), len(newest_ms)):
            if newest_ms[row] > reached_ms[scan]:
                answered_ms = min(newest_ms[row], last_ms[scan])
                headers.append(first_row + row - start_rows[scan] + 1)
                weights.append(answered_ms - reached_ms[scan])
                reached_ms[scan] = answered_ms
                if answered_ms == last_ms[scan]:
                    break
    return np.array(headers)[1:], np.array(weights)[1:]


class _Histogram:
    """How many targets have each value, such as a number of headers; collected chunk by chunk."""

    def __init__(self) -> None:
        self.counts = np.zeros(0, np.int64)

    def add(self, numbers: np.ndarray, weights: np.ndarray) -> None:
        counts = np.bincount(numbers, weights).astype(np.int64)
        if len(counts) > len(self.counts):
            self.counts, counts = counts, self.counts
        self.counts[: len(counts)] += counts


def _count_lookups(stretches: _KeyStretches, headers: np.ndarray) -> LookupCounts:
    probes, pages = (
        np.bincount(stretches.floors[:, column], stretches.weights).astype(np.int64)
        for column in (1, 2)
    )
    return LookupCounts(int(stretches.first[0]), stretches.last, probes, pages, headers)
