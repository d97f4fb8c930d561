"""Compares two indexes of the same part of a log, and finds out why they differ.

Which batches get an entry depends on where a broker began to count bytes. For example, two replicas
have the same 67 batches, but one broker was restarted after the 30th. One index has 43 entries, the
other has 44, and 29 entries are in both. Neither index is wrong. Only an entry that no Kafka
release writes for these batches is damage.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.comparison.byte_differences import ByteDifference, FileLocation, pair
from kafkaviz.analysis.inferred_settings import IntervalBounds, interval_bounds
from kafkaviz.analysis.segment.links import Aim, link
from kafkaviz.format import offset_index, time_index
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import TIME_ENTRY, Index, LogSegment
from kafkaviz.search import index_search
from kafkaviz.search.binary_search import SlotSearch
from kafkaviz.search.log_view import view_segment
from kafkaviz.versions import SearchProfile

MAX_SLOTS = 1000  # at most this many slots with entries that the other index lacks are listed
KINDS = ("index", "timeindex")
NO_TIMES = np.zeros(0, TIME_ENTRY)
COLUMNS = {"index": ("offset", "position"), "timeindex": ("timestamp_ms", "offset")}


class IndexReason(StrEnum):
    MISSING = "missing"  # one side lacks the file
    UNWRITTEN = "unwritten"  # equal entries, but different numbers of unwritten slots
    DAMAGE = "damage"  # an entry that the batches contradict, or zeros between entries
    # keys are first offsets, as before Kafka 2.0 (KAFKA-6530)
    FIRST_OFFSET_KEYS = "first-offset-keys"
    # one entry per append of several batches, up to 3.9.0 and in 4.0.0 (KAFKA-806)
    PER_APPEND = "per-append"
    INTERVAL = "interval"  # the sides had different values of index.interval.bytes
    OTHER_BATCHES = "other-batches"  # the segments have different batches
    LENGTH = "length"  # one log is longer, and so is its index
    ZEROED = "zeroed"  # one side has zeros instead of the last entries
    CUT = "cut"  # one side lacks the last entries
    SEGMENT_END = "segment-end"  # one more entry, by a roll, a shutdown or a recovery
    RESTART = "restart"  # a restart or truncation changed where bytes are counted from


class LookupReads(NamedTuple):
    """A lookup of one offset with one of the two indexes."""

    search: SlotSearch
    position: int
    headers: int  # batch headers that the scan reads from `position` on


@dataclass(frozen=True)
class LookupComparison:
    """An example lookup, and the mean cost of all lookups. Pairs have one value per index."""

    target_offset: int  # in the example, the lowest key that only one side has
    reads: tuple[LookupReads, LookupReads]
    mean_headers: tuple[float, float]  # if each batch's first offset is looked up once


@dataclass(frozen=True, kw_only=True)
class IndexComparison:
    """The .index or .timeindex of one segment. Pairs have one value per side.

    Attributes:
        entries: the number of written entries; None: no file.
        common: the number of entries that both sides have.
        alone: the slots of the first MAX_SLOTS entries that the other side lacks.
        alone_counts: the number of entries that the other side lacks.
        unwritten_slots: the number of slots after the last entry.
        contradicted: the slots of entries that contradict the batches.
        intervals: index.interval.bytes from the settings. If the setting is unknown, or the entries
            contradict it: the range that fits the entries. None for a .timeindex.
        lookup: a comparison of lookups, if the .log is equal but the entries of the .index differ.
    """

    segment: int
    kind: str
    reason: IndexReason
    entries: tuple[int | None, int | None]
    common: int
    alone: tuple[tuple[int, ...], tuple[int, ...]]
    alone_counts: tuple[int, int]
    unwritten_slots: tuple[int, int]
    contradicted: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    intervals: tuple[IntervalBounds, IntervalBounds] | None = None
    lookup: LookupComparison | None = None


def is_equal_index(a: FileInfo | None, b: FileInfo | None) -> bool:
    """Returns whether two index files have the same bytes; holes count as zeros."""
    if a is None or b is None:
        return a is b
    if a.size_bytes != b.size_bytes:
        return False
    data_a = file.read_data(a.path)[0]
    data_b = file.read_data(b.path)[0]
    return data_a.rstrip(b"\0") == data_b.rstrip(b"\0")


def compare_indexes(
    a: LogSegment,
    b: LogSegment,
    profile: SearchProfile,
    known_intervals: tuple[int | None, int | None] = (None, None),
    *,
    is_same_log: bool,
    is_per_append: bool,
) -> tuple[IndexComparison, ...]:
    """Returns a comparison for each differing index of two segments.

    Args:
        known_intervals: index.interval.bytes in the settings of each side.
        is_per_append: whether the release of a or b wrote entries per append, not per batch.
    """
    kinds = [kind for kind in KINDS if not is_equal_index(getattr(a, kind), getattr(b, kind))]
    if not kinds:
        return ()
    batches = a.batches(), b.batches()
    comparisons: list[IndexComparison] = []
    for kind in kinds:
        sides = _IndexSide(a, kind, batches[0]), _IndexSide(b, kind, batches[1])
        alone = _slots_alone(*sides), _slots_alone(*sides[::-1])
        comparison = _compare(sides, alone, known_intervals)
        offset_reason = comparisons[0].reason if comparisons else None
        reason = _reason(comparison, sides, offset_reason, is_per_append=is_per_append)
        lookup = None
        has_both = None not in comparison.entries
        if kind == "index" and is_same_log and has_both and any(comparison.alone_counts):
            lookup = _compare_lookups(sides, alone, profile)
        comparisons.append(replace(comparison, reason=reason, lookup=lookup))
    return tuple(comparisons)


@dataclass(frozen=True)
class _IndexSide:
    segment: LogSegment
    kind: str
    batches: np.ndarray

    @property
    def slots(self) -> Index:
        return self.segment.offset_slots if self.kind == "index" else self.segment.time_slots

    @property
    def entries(self) -> np.ndarray:
        return self.slots.entries


_Sides = tuple[_IndexSide, _IndexSide]


def _slots_alone(side: _IndexSide, other: _IndexSide) -> np.ndarray:
    own_keys = _keys(side.entries, side.kind)
    return np.flatnonzero(~np.isin(own_keys, _keys(other.entries, side.kind)))


def _compare(
    sides: _Sides,
    alone: tuple[np.ndarray, np.ndarray],
    known_intervals: tuple[int | None, int | None],
) -> IndexComparison:
    """Returns the comparison. Its `reason` and lookups are still to be filled in."""
    kind = sides[0].kind
    intervals = None
    if kind == "index":
        intervals = pair(map(_interval, sides, known_intervals))
    return IndexComparison(
        segment=sides[0].segment.base_offset,
        kind=kind,
        reason=IndexReason.MISSING,
        entries=pair(
            None if getattr(side.segment, kind) is None else len(side.entries) for side in sides
        ),
        common=len(sides[0].entries) - len(alone[0]),
        alone=pair(tuple(slots[:MAX_SLOTS].tolist()) for slots in alone),
        alone_counts=pair(map(len, alone)),
        unwritten_slots=pair(side.slots.unwritten_slots for side in sides),
        contradicted=pair(map(_contradicted, sides)),
        intervals=intervals,
    )


def _interval(side: _IndexSide, known: int | None) -> IntervalBounds:
    """Returns the index.interval.bytes with which the entries were probably written.

    The setting `known` is ignored if two entries are closer together than `known`. It is also
    ignored if two entries are more than twice `known` apart, because one restart cannot cause this.
    It is never ignored if entries were written per append.
    """
    bounds = interval_bounds(side.batches, side.entries)
    if known is None:
        return bounds
    is_earlier = bounds.high_bytes is not None and (
        bounds.high_bytes < known or (bounds.low_bytes or 0) > 2 * known
    )
    if is_earlier and not bounds.per_append:
        return bounds
    return replace(bounds, low_bytes=known, high_bytes=known)


def _keys(entries: np.ndarray, kind: str) -> np.ndarray:
    columns = COLUMNS[kind]
    pairs = np.empty(len(entries), [(name, "i8") for name in columns])
    for name in columns:
        pairs[name] = entries[name]
    return pairs


def _contradicted(side: _IndexSide) -> tuple[int, ...]:
    """Returns the slots of entries that no release writes for these batches."""
    entries = side.entries
    batches = side.batches
    if side.kind == "index":
        links = link(batches, entries, NO_TIMES, side.segment.base_offset)
        is_wrong = links.entry_aim > Aim.COARSE
    elif not len(batches):
        is_wrong = np.ones(len(entries), bool)
    else:
        rows = np.searchsorted(batches["last_offset"], entries["offset"])
        rows = np.minimum(rows, len(batches) - 1)
        newest_ms = np.maximum.accumulate(batches["max_timestamp_ms"])[rows]
        is_wrong = (entries["timestamp_ms"] > newest_ms) & (entries["timestamp_ms"] >= 0)
        is_wrong |= entries["offset"] > batches["last_offset"][-1]
        is_wrong[1:] |= np.diff(entries["timestamp_ms"]) < 0
    return tuple(np.flatnonzero(is_wrong)[:MAX_SLOTS].tolist())


def _reason(
    comparison: IndexComparison,
    sides: _Sides,
    offset_reason: IndexReason | None,
    *,
    is_per_append: bool,
) -> IndexReason:
    """Returns why two indexes differ.

    `offset_reason` is why the segment's .index differs, or None. Only a .timeindex uses it, because
    Kafka writes the entries of both indexes together.
    """
    if None in comparison.entries:
        return IndexReason.MISSING
    if any(side.slots.trailing_bytes for side in sides) or any(comparison.contradicted):
        return IndexReason.DAMAGE
    if not any(comparison.alone_counts):
        return IndexReason.UNWRITTEN
    batches = [side.batches for side in sides]
    if not _is_prefix_of_batches(*batches):
        return IndexReason.OTHER_BATCHES
    is_longer = len(batches[0]) != len(batches[1])
    shorter = sides[0] if len(sides[0].entries) < len(sides[1].entries) else sides[1]
    cut_or_zeroed = IndexReason.ZEROED if shorter.slots.unwritten_slots else IndexReason.CUT
    is_prefix = _is_prefix(*(side.entries for side in sides))
    if comparison.kind == "timeindex":
        if _differ_at_end(comparison, sides):
            return IndexReason.SEGMENT_END
        if is_longer and (is_prefix or _differ_in_last_entry(comparison)):
            return IndexReason.LENGTH
        if is_prefix and offset_reason is None:
            return cut_or_zeroed
        is_of_both = offset_reason not in (None, IndexReason.UNWRITTEN, IndexReason.DAMAGE)
        return offset_reason if offset_reason and is_of_both else IndexReason.RESTART
    assert comparison.intervals is not None
    if _has_first_offset_keys(sides[0]) != _has_first_offset_keys(sides[1]):
        return IndexReason.FIRST_OFFSET_KEYS
    if comparison.intervals[0].per_append != comparison.intervals[1].per_append:
        return IndexReason.PER_APPEND
    if is_longer and is_prefix:
        return IndexReason.LENGTH
    if is_per_append and _has_long_gap(sides, comparison.intervals):
        return IndexReason.PER_APPEND
    if is_prefix:
        return cut_or_zeroed
    return IndexReason.RESTART if _overlap(*comparison.intervals) else IndexReason.INTERVAL


def _differ_at_end(comparison: IndexComparison, sides: _Sides) -> bool:
    if not _differ_in_last_entry(comparison) or all(comparison.alone_counts):
        return False
    side = 0 if comparison.alone_counts[0] else 1
    other = sides[1 - side].batches
    last_offset = sides[side].entries["offset"][-1]
    return bool(len(other)) and bool(last_offset <= other["last_offset"][-1])


def _differ_in_last_entry(comparison: IndexComparison) -> bool:
    return all(
        not alone or alone == ((entries or 0) - 1,)
        for alone, entries in zip(comparison.alone, comparison.entries, strict=True)
    )


def _is_prefix_of_batches(a: np.ndarray, b: np.ndarray) -> bool:
    count = min(len(a), len(b))
    return all(
        bool((a[name][:count] == b[name][:count]).all())
        for name in ("position", "base_offset", "last_offset", "max_timestamp_ms")
    )


def _has_long_gap(sides: _Sides, intervals: tuple[IntervalBounds, IntervalBounds]) -> bool:
    """Returns whether only one side has a gap that a restart cannot explain.

    A restart makes a gap up to twice as long. Followers up to 3.9.0, and in 4.0.0, make longer
    gaps: they write one entry per append of many batches.
    """
    highs = [bounds.high_bytes for bounds in intervals if bounds.high_bytes is not None]
    if not highs or not all(len(side.batches) for side in sides):
        return False
    largest_bytes = max(int(side.batches["size_bytes"].max()) for side in sides)
    limit_bytes = 2 * (min(highs) + largest_bytes)
    is_long = []
    for side in sides:
        last_positions = side.batches["position"][-1:]
        positions = np.concatenate([[0], side.entries["position"], last_positions])
        is_long.append(bool(np.diff(positions).max() > limit_bytes))
    return is_long[0] != is_long[1]


def _has_first_offset_keys(side: _IndexSide) -> bool:
    batches = side.batches
    entries = side.entries
    rows = np.searchsorted(batches["position"], entries["position"])
    known = rows < len(batches)
    firsts = batches["base_offset"][rows[known]]
    lasts = batches["last_offset"][rows[known]]
    keys = entries["offset"][known]
    return bool((keys[firsts < lasts] == firsts[firsts < lasts]).any())


def _is_prefix(a: np.ndarray, b: np.ndarray) -> bool:
    count = min(len(a), len(b))
    return bool((a[:count] == b[:count]).all())


def _overlap(a: IntervalBounds, b: IntervalBounds) -> bool:
    low = max(a.low_bytes or 0, b.low_bytes or 0)
    highs = [bounds.high_bytes for bounds in (a, b) if bounds.high_bytes is not None]
    return not highs or low <= min(highs)


def _compare_lookups(
    sides: _Sides, alone: tuple[np.ndarray, np.ndarray], profile: SearchProfile
) -> LookupComparison:
    target = min(
        int(side.entries["offset"][slots[0]])
        for side, slots in zip(sides, alone, strict=True)
        if len(slots)
    )
    reads = []
    for side in sides:
        search = index_search.find_offset(view_segment(side.segment), target, profile)
        position = search.entry[1] if search.entry else 0
        start = int(np.searchsorted(side.batches["position"], position))
        stop = int(np.searchsorted(side.batches["last_offset"], target))
        reads.append(LookupReads(search.slot_search, position, max(0, stop - start + 1)))
    return LookupComparison(target, pair(reads), pair(map(_mean_headers, sides)))


def _mean_headers(side: _IndexSide) -> float:
    batches = side.batches
    entries = side.entries
    if not len(batches):
        return 0.0
    slots = np.searchsorted(entries["offset"], batches["base_offset"], "right") - 1
    positions = np.where(slots >= 0, np.append(entries["position"], 0)[slots], 0)
    starts = np.searchsorted(batches["position"], positions)
    return float((np.arange(len(batches)) - starts + 1).clip(min=0).mean())


def describe_index(a: LogSegment, b: LogSegment, comparison: IndexComparison) -> ByteDifference:
    """Returns where two index files first differ, and which entry each file has there."""
    infos = [getattr(segment, comparison.kind) for segment in (a, b)]
    data = [file.read_data(info.path)[0] if info else b"" for info in infos]
    sizes = [info.size_bytes if info else 0 for info in infos]
    length = min(max(map(len, data)), *sizes)  # both files have only zeros after their data
    arrays = [np.frombuffer(part.ljust(length, b"\0"), np.uint8, length) for part in data]
    places = np.flatnonzero(arrays[0] != arrays[1])
    position = int(places[0]) if len(places) else min(sizes)
    has_entries = bool(len(places)) or any(part[position:].strip(b"\0") for part in data)
    if None in infos:
        what = "file"
    elif has_entries:
        what = "entry"
    else:
        what = "size"
    layout = offset_index if comparison.kind == "index" else time_index
    entry_bytes = layout.ENTRY.itemsize
    values = []
    locations = []
    for segment, info, size_bytes in zip((a, b), infos, sizes, strict=True):
        slots = segment.offset_slots if comparison.kind == "index" else segment.time_slots
        slot_keys = _keys(slots.entries, comparison.kind)[position // entry_bytes :]
        values.append(str(slot_keys[0].item()) if len(slot_keys) else None)
        rest_bytes = max(0, size_bytes - position)
        if len(places):
            rest_bytes = min(entry_bytes - position % entry_bytes, rest_bytes)
        location = FileLocation(segment.file_name(comparison.kind), position, rest_bytes)
        locations.append(location if info else None)
    if what == "size":
        values = [str(size_bytes) for size_bytes in sizes]
    return ByteDifference(pair(locations), what, pair(values))
