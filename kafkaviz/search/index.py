"""A search in an index of a segment: which file, every probe, and the entry that it found."""

from dataclasses import dataclass
from typing import cast

from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptFile
from kafkaviz.format import offset_index, time_index
from kafkaviz.search import slots
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.served import NO_TIMESTAMP, Keys, ServedFile, ServedSegment
from kafkaviz.search.slots import SlotSearch

OFFSET, TIME = "offset", "time"
ENTRY_BYTES = {OFFSET: offset_index.ENTRY.itemsize, TIME: time_index.ENTRY.itemsize}


@dataclass(frozen=True)
class IndexSearch:
    """A search in one index.

    kind: "offset" or "time". entry: (offset, position) or (timestamp in ms, offset) in the slot
    that was found, None of slot -1; offsets absolute.
    """

    file: str
    kind: str
    found: SlotSearch
    entry: tuple[int, int] | None


def find_offset(segment: ServedSegment, offset: int, of: SearchProfile) -> IndexSearch:
    """The greatest entry that is not above an offset (OffsetIndex.lookup)."""
    keys = Keys(segment.offset_slots["relative_offset"], segment.base_offset)
    found = slots.floor(keys, offset, offset_index.ENTRY.itemsize, of.warm, of.warm_bytes)
    return IndexSearch(
        segment.file_name("index"), OFFSET, found, _offset_entry(segment, found.slot)
    )


def find_time(segment: ServedSegment, timestamp_ms: int, of: SearchProfile) -> IndexSearch:
    """The greatest entry that is not above a timestamp (TimeIndex.lookup)."""
    found = slots.floor(
        Keys(segment.time_slots["timestamp_ms"]),
        timestamp_ms,
        time_index.ENTRY.itemsize,
        of.warm,
        of.warm_bytes,
    )
    entry = None
    if found.slot >= 0:
        timestamp, relative_offset = segment.time_slots[found.slot].item()
        entry = (timestamp, relative_offset + segment.base_offset)
    return IndexSearch(segment.file_name("timeindex"), TIME, found, entry)


def upper_bound(
    segment: ServedSegment, position: int, size_bytes: int, of: SearchProfile
) -> IndexSearch:
    """The entry of the first position not below the end of a stretch
    (OffsetIndex.fetchUpperBoundOffset); the sum is one of 32 bits.
    """
    target = (position + size_bytes + 2**31) % 2**32 - 2**31
    found = slots.upper_bound(
        Keys(segment.offset_slots["position"]),
        target,
        offset_index.ENTRY.itemsize,
        of.warm,
        of.warm_bytes,
    )
    return IndexSearch(
        segment.file_name("index"), OFFSET, found, _offset_entry(segment, found.slot)
    )


def kept_by_truncation(
    segment: ServedSegment, offset: int, kind: str, of: SearchProfile
) -> tuple[SlotSearch, int]:
    """(the search, how many entries of an index truncateTo(offset) leaves): those below the offset,
    by the offsets of either index.
    """
    slots_of, layout = (
        (segment.offset_slots, offset_index) if kind == OFFSET else (segment.time_slots, time_index)
    )
    keys = Keys(slots_of["relative_offset"], segment.base_offset)
    found = slots.floor(keys, offset, layout.ENTRY.itemsize, of.warm, of.warm_bytes)
    return found, found.slot + (found.slot < 0 or keys[found.slot] != offset)


def position_of(search: IndexSearch, segment: ServedSegment) -> int:
    """The byte that a scan starts at: 0 where no entry was found.

    CorruptFile for an entry before the .log (Utils.readFully).
    """
    position = search.entry[1] if search.entry else 0
    if position < 0:
        at = search.found.slot * offset_index.ENTRY.itemsize + field_start(
            offset_index.ENTRY, "position"
        )
        what = (
            f"slot {search.found.slot} points before the .log: The file channel position cannot be "
            f"negative, but it is {position}"
        )
        damaged = cast("ServedFile", segment.index)  # without one there are no entries
        raise CorruptFile(damaged.path or search.file, at, what)
    return position


def time_entry_of(search: IndexSearch, segment: ServedSegment) -> tuple[int, int]:
    """(timestamp, offset) that a search in the time index gives: (-1, base offset) where no entry
    was found.
    """
    return search.entry or (NO_TIMESTAMP, segment.base_offset)


def _offset_entry(segment: ServedSegment, slot: int) -> tuple[int, int] | None:
    if slot < 0:
        return None
    relative_offset, position = segment.offset_slots[slot].item()
    return relative_offset + segment.base_offset, position
