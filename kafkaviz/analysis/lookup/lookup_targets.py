"""The targets of the Lookup page: the offsets and timestamps that it can look up in a log or index.

A `LookupSource` is a log or an index with its targets. `warm_targets` chooses targets that show the
effect of the warm section (the last entries of an index, which Kafka searches first). For example,
in an index of 7168 entries, plain binary search for the last entry reads a page that is not in
memory. A search that begins in the warm section does not.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz import versions
from kafkaviz.analysis.lookup import search_race
from kafkaviz.analysis.lookup.search_race import WarmTargets
from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.search import binary_search, index_search
from kafkaviz.search.binary_search import PAGE_BYTES
from kafkaviz.search.index_search import ENTRY_BYTES
from kafkaviz.search.log_view import KeyColumn, LogView, SegmentView

OFFSET = "offset"
TIMESTAMP = "timestamp"
TARGETS = (OFFSET, TIMESTAMP)
# offset entries in Kafka's 8 KiB
KAFKAS_WARM = binary_search.warm_entries(ENTRY_BYTES[index_search.OFFSET])
# below SMALL_WARM warm entries, pages are drawn with SMALL_PAGE_SLOTS slots
SMALL_PAGE_SLOTS = 4
SMALL_WARM = 64


class LookupRecord(NamedTuple):
    """A record in the batch that a lookup found. `label` is a word from its content, or ""."""

    offset: int
    timestamp_ms: int
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class LookupSource:
    """A log or an index in which offsets or timestamps are looked up."""

    key: str  # changes whenever the content does
    title: str
    note: str
    log: LogView
    # first_offset, last_offset: the range of offsets that can be looked up
    first_offset: int
    last_offset: int
    # first_ms, last_ms: the range of timestamps, None if the log has none
    first_ms: int | None
    last_ms: int | None
    segment: SegmentView  # the segment that the page shows
    # last_offset_of_segment, last_ms_of_segment: the last targets that are searched in `segment`
    last_offset_of_segment: int
    last_ms_of_segment: int
    # default_offset, default_timestamp_ms: the targets in `segment` that the page shows first if no
    # target shows the effect of the warm section
    default_offset: int
    default_timestamp_ms: int
    # called with a base offset; returns the segment's batches
    batches: Callable[[int], BatchTable]
    # called with a base offset and the position of a batch; returns the batch's records
    records: Callable[[int, int], Iterable[LookupRecord]]
    # called with a base offset; returns the segment's batches, or None if the partition is so large
    # that only the batches of `segment` may be read
    times: Callable[[int], BatchTable | None]
    kinds: tuple[str, ...] = TARGETS  # the kinds of targets
    is_synthetic: bool = False
    is_index_only: bool = False
    warm_entries: int = KAFKAS_WARM

    def warm_targets(self, target_kind: str, warm_entries: int) -> WarmTargets:
        warm_bytes = warm_section_bytes(warm_entries, target_kind)
        bounds = {segment.base_offset: targets for segment, *targets in self._searched(target_kind)}
        first, last = bounds.get(self.segment.base_offset, (0, -1))
        is_time = target_kind == TIMESTAMP
        last_here = self.last_ms_of_segment if is_time else self.last_offset_of_segment
        column, base = key_column(self.segment, target_kind)
        return search_race.choose_targets(
            column.astype(np.int64) + base,
            first,
            min(last, last_here),
            searched_entry_bytes(target_kind),
            warm_bytes=warm_bytes,
            page_bytes=drawn_page_bytes(warm_bytes, target_kind),
        )

    def warm_ranges(self, target_kind: str, warm_entries: int) -> list[tuple[int, int]]:
        """Returns the targets that are found in the warm section, as one range per segment."""
        ranges = (
            search_race.warm_range(
                KeyColumn(*key_column(segment, target_kind)),
                first,
                last,
                searched_entry_bytes(target_kind),
                warm_bytes=warm_section_bytes(warm_entries, target_kind),
            )
            for segment, first, last in self._searched(target_kind)
        )
        return [targets for targets in ranges if targets]

    def _searched(self, target_kind: str) -> Iterator[tuple[SegmentView, int, int]]:
        segments = self.log.segments
        if target_kind == TIMESTAMP:
            reached_ms = (self.first_ms or 0) - 1
            for segment in segments:
                if segment.largest_timestamp_ms > reached_ms:
                    yield segment, reached_ms + 1, segment.largest_timestamp_ms
                    reached_ms = segment.largest_timestamp_ms
            return
        bases = [segment.base_offset for segment in segments]
        firsts = [self.first_offset, *(max(self.first_offset, base) for base in bases[1:])]
        lasts = [*(base - 1 for base in bases[1:]), self.last_offset]
        for segment, first, last in zip(segments, firsts, lasts, strict=True):
            if first <= last:
                yield segment, first, last

    def span(self, target_kind: str) -> tuple[int, int] | None:
        """Returns the first and the last target. None: there are fewer than two targets."""
        is_time = target_kind == TIMESTAMP
        low = self.first_ms if is_time else self.first_offset
        high = self.last_ms if is_time else self.last_offset
        if low is not None and high is not None and low < high:
            return (low, high)
        return None


def warm_section_bytes(warm_entries: int, target_kind: str) -> int:
    """Returns the size of the warm section: 8 KiB for KAFKAS_WARM, whatever the entry size."""
    if warm_entries == KAFKAS_WARM:
        return versions.WARM_BYTES
    return warm_entries * searched_entry_bytes(target_kind)


def key_column(segment: SegmentView, target_kind: str) -> tuple[np.ndarray, int]:
    """Returns the keys of the first index that a lookup searches, and the base to add to each."""
    if target_kind == TIMESTAMP:
        return segment.time_slots["timestamp_ms"], 0
    return segment.offset_slots["relative_offset"], segment.base_offset


def drawn_page_bytes(warm_bytes: int, target_kind: str) -> int:
    """Returns the size of a drawn index page: 4 KiB, or four slots if the warm section is small."""
    if warm_bytes < SMALL_WARM * ENTRY_BYTES[index_search.OFFSET]:
        return SMALL_PAGE_SLOTS * searched_entry_bytes(target_kind)
    return PAGE_BYTES


def searched_entry_bytes(target_kind: str) -> int:
    return ENTRY_BYTES[index_search.TIME if target_kind == TIMESTAMP else index_search.OFFSET]
