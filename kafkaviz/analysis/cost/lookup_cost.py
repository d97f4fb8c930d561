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
from kafkaviz.search.log_view import BatchTable, SegmentView
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


@dataclass(frozen=True)
class _KeyStretches:
    """Stretches of targets between the keys of an index: in each, every search goes the same way.

    Attributes:
        first: (n,) the first target of each, ascending.
        weights: (n,) how many targets.
        floors: (n, 3) what slots.floors gives for them.
        last: the last target of all.
    """

    first: np.ndarray
    weights: np.ndarray
    floors: np.ndarray
    last: int


def entry_rows(segment: SegmentView, batches: BatchTable) -> np.ndarray:
    """The row of the batch at which a scan starts that each slot of the .index leads to.

    Returns:
        A row a slot, and one more for scans that start at byte 0; NO_BATCH where none starts there.
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
    """Of every offset from the segment's base offset to its last.

    Args:
        batches: all of its .log, as format.batch.BATCH names them.
        slot_rows: what entry_rows gives, where it is known already.
    """
    keys = segment.offset_slots["relative_offset"].astype(np.int64) + segment.base_offset
    last = batches.row(len(batches) - 1)["last_offset"] if len(batches) else keys[-1]
    stretches = _key_stretches(
        keys, (segment.base_offset, int(last)), OFFSET, search_profile, page_bytes
    )
    slot_rows = entry_rows(segment, batches) if slot_rows is None else slot_rows
    starts = slot_rows[stretches.floors[:, 0]]  # of slot -1 the last: byte 0
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
    """Of every millisecond for which Kafka looks here, from the first batch's on.

    Probes and pages are those in the time index.

    Args:
        batches: all of its .log, as format.batch.BATCH names them.
        slot_rows: what entry_rows gives, where it is known already.

    Returns:
        None where no batch has a time.
    """
    keys, known_ms = segment.time_slots["timestamp_ms"].astype(np.int64), batches.known_ms
    if known_ms is None:
        return None
    first, newest_ms = known_ms
    last = max(first, min(newest_ms, segment.largest_timestamp_ms))
    stretches = _key_stretches(keys, (first, last), TIME, search_profile, page_bytes)
    # relative ones on both sides
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


def _headers_to_offsets(
    batches: BatchTable, column: str, stretches: _KeyStretches, starts: np.ndarray
) -> np.ndarray:
    """How many targets have so many headers read, by that number; none where no batch is found.

    By last offset up to the batch that reaches the target. By base offset also the next one's,
    unless the target is a base offset or nothing follows.
    """
    histogram = _Histogram()
    next_row, first = 0, int(stretches.first[0])
    for chunk in batches:
        next_row, first_row = next_row + len(chunk), next_row
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
    """How many targets have so many headers read, by that number.

    Each scan goes to the first batch whose largest timestamp is not below the target, so that those
    of a stretch, which start at one batch, end at the batches that are newer than all before them.
    """
    histogram = _Histogram()
    order = np.argsort(starts, kind="stable")
    order = order[starts[order] != NO_BATCH]
    start_rows, reached_ms = starts[order], stretches.first[order] - 1
    last_ms = reached_ms + stretches.weights[order]
    open_scans, next_scan, first_row = np.empty(0, np.int64), 0, 0
    for chunk in batches:
        stop = int(np.searchsorted(start_rows, first_row + len(chunk)))
        open_scans = np.append(open_scans, np.arange(next_scan, stop))
        newest_ms = np.ascontiguousarray(chunk["max_timestamp_ms"])
        histogram.add(
            *_end_scans(newest_ms, first_row, open_scans, start_rows, reached_ms, last_ms)
        )
        open_scans = open_scans[reached_ms[open_scans] < last_ms[open_scans]]
        next_scan, first_row = stop, first_row + len(chunk)
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
    """How many headers are read by the scans that end in a stretch of the log.

    Args:
        newest_ms: of the batches, from first_row on.
        open_scans: which scans go on here.
        reached_ms: of each scan the target up to which it is answered; moved on.
        last_ms: of each scan its last target.

    Returns:
        Numbers of headers, and for how many targets.
    """
    headers, weights = [np.int64(0)], [np.int64(0)]
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
    """How many targets have each number, piece by piece."""

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
