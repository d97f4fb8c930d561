"""A search in an index of a segment: the file, every probe, and the entry found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kafkaviz.format import offset_index, time_index
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import SlotSearch
from kafkaviz.search.log_view import NO_TIMESTAMP, KeyColumn, SegmentView
from kafkaviz.versions import SearchProfile

OFFSET = "offset"
TIME = "time"
ENTRY_BYTES = {OFFSET: offset_index.ENTRY.itemsize, TIME: time_index.ENTRY.itemsize}


@dataclass(frozen=True)
class IndexSearch:
    base_offset: int  # the base offset of the segment
    file: str
    kind: Literal["offset", "time"]
    slot_search: SlotSearch
    # (offset, position), or (timestamp in ms, offset) for a time index; None if no entry was found.
    # Offsets are absolute.
    entry: tuple[int, int] | None


def find_offset(segment: SegmentView, offset: int, profile: SearchProfile) -> IndexSearch:
    """Finds the last entry whose offset is not above `offset` (OffsetIndex.lookup)."""
    keys = KeyColumn(segment.offset_slots["relative_offset"], segment.base_offset)
    return _offset_search(segment, _run(binary_search.floor, keys, offset, OFFSET, profile))


def find_time(segment: SegmentView, timestamp_ms: int, profile: SearchProfile) -> IndexSearch:
    """Finds the last entry whose timestamp is not above `timestamp_ms` (TimeIndex.lookup)."""
    keys = KeyColumn(segment.time_slots["timestamp_ms"])
    slot_search = _run(binary_search.floor, keys, timestamp_ms, TIME, profile)
    entry = None
    if slot_search.slot >= 0:
        timestamp, relative_offset = segment.time_slots[slot_search.slot].item()
        entry = (timestamp, relative_offset + segment.base_offset)
    return IndexSearch(
        segment.base_offset, segment.file_name("timeindex"), TIME, slot_search, entry
    )


def upper_bound(
    segment: SegmentView, position: int, size_bytes: int, profile: SearchProfile
) -> IndexSearch:
    """Finds the first entry whose position is at or above the end of a byte range.

    The end is `position` + `size_bytes`. As in OffsetIndex.fetchUpperBoundOffset, this 32-bit sum
    may overflow.
    """
    target = (position + size_bytes + 2**31) % 2**32 - 2**31
    keys = KeyColumn(segment.offset_slots["position"])
    return _offset_search(segment, _run(binary_search.upper_bound, keys, target, OFFSET, profile))


def position_of(search: IndexSearch) -> int:
    """Returns the position in the found entry (negative if damaged), or 0 without an entry."""
    return search.entry[1] if search.entry else 0


def time_entry_of(search: IndexSearch, segment: SegmentView) -> tuple[int, int]:
    """Returns the (timestamp in ms, offset) found in the time index, or (-1, base offset)."""
    return search.entry or (NO_TIMESTAMP, segment.base_offset)


def _run(
    find: Callable[..., SlotSearch], keys: KeyColumn, target: int, kind: str, profile: SearchProfile
) -> SlotSearch:
    return find(
        keys, target, ENTRY_BYTES[kind], warm=profile.is_warm, warm_bytes=profile.warm_bytes
    )


def _offset_search(segment: SegmentView, slot_search: SlotSearch) -> IndexSearch:
    entry = None
    if slot_search.slot >= 0:
        relative_offset, position = segment.offset_slots[slot_search.slot].item()
        entry = (relative_offset + segment.base_offset, position)
    return IndexSearch(segment.base_offset, segment.file_name("index"), OFFSET, slot_search, entry)
