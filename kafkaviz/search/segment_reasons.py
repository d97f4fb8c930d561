"""The segments that a lookup searches, and why it does not search the others.

A lookup by offset starts in the last segment that begins at or below the offset (floor_segment in
log_view.py). If no batch of that segment reaches the offset, the next segment is searched. A lookup
by timestamp searches one segment: the first one with a timestamp at or after the target, or the one
with the largest timestamp (first_segment_reaching and latest_segment in by_time.py). Code in this
file searches nothing: it takes the reasons from a search that has ended.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from kafkaviz.messages import Message, message
from kafkaviz.search.by_time import EARLIEST, EARLIEST_LOCAL, LATEST, MAX_TIMESTAMP, TimeSearch
from kafkaviz.search.fetch import Bounds, Fetch
from kafkaviz.search.log_view import NO_TIMESTAMP, LogView


class SegmentReason(Enum):
    """Why a segment is searched, or why not."""

    GREATEST_BASE = auto()  # has the greatest base offset not above the target; searched first
    NEXT = auto()  # the previous segment has no batch that reaches the target
    BASE_ABOVE = auto()
    LATER_BASE = auto()  # a later segment's base offset is not above the target either
    FIRST_REACHING = auto()  # the first segment whose largest timestamp is not below the target
    TOO_OLD = auto()  # its largest timestamp is below the target
    EARLIER_SEARCHED = auto()
    LARGEST = auto()  # has the largest timestamp of all segments
    NOT_LARGEST = auto()
    # The other reasons are for lookups that search no segment:
    OUT_OF_RANGE = auto()
    BEYOND_STABLE = auto()  # the offset is at or above the last stable offset
    BOUNDS_UNKNOWN = auto()  # the log's end or its last stable offset cannot be found
    BEYOND_END = auto()
    LOG_START = auto()  # known without a search
    LOG_END = auto()
    STABLE_END = auto()  # the last stable offset is the end for this consumer
    NOTHING_TIERED = auto()
    TIERED_OFFSETS = auto()  # the copied and the local offsets are known


START_REASONS = (SegmentReason.GREATEST_BASE, SegmentReason.FIRST_REACHING, SegmentReason.LARGEST)


class SegmentMiss(Enum):
    """Why a searched segment does not contain the answer."""

    NOTHING_REACHES = auto()  # no batch in it reaches the offset
    NO_RECORD = auto()  # no record is late enough; later segments are not tried
    HIDDEN = auto()  # the record is at or above the last stable offset


# the message of each reason and of each miss
_REASONS = {
    SegmentReason.GREATEST_BASE: "segment_choice.greatest_base",
    SegmentReason.NEXT: "segment_choice.next_segment",
    SegmentReason.BASE_ABOVE: "segment_choice.base_above",
    SegmentReason.LATER_BASE: "segment_choice.later_base",
    SegmentReason.FIRST_REACHING: "segment_choice.first_reaching",
    SegmentReason.TOO_OLD: "segment_choice.too_old",
    SegmentReason.EARLIER_SEARCHED: "segment_choice.earlier_searched",
    SegmentReason.LARGEST: "segment_choice.largest",
    SegmentReason.NOT_LARGEST: "segment_choice.not_largest",
    SegmentReason.OUT_OF_RANGE: "segment_choice.not_for_offset",
    SegmentReason.BEYOND_STABLE: "segment_choice.not_for_offset",
    SegmentReason.BEYOND_END: "segment_choice.not_for_offset",
    SegmentReason.BOUNDS_UNKNOWN: "segment_choice.bounds_unknown",
    SegmentReason.LOG_START: "segment_choice.log_start_known",
    SegmentReason.LOG_END: "segment_choice.log_end_known",
    SegmentReason.STABLE_END: "segment_choice.log_end_known",
    SegmentReason.NOTHING_TIERED: "segment_choice.nothing_tiered",
    SegmentReason.TIERED_OFFSETS: "segment_choice.tiered_offsets",
}
_MISSES = {
    SegmentMiss.NOTHING_REACHES: "segment_choice.but_nothing_reaches",
    SegmentMiss.NO_RECORD: "segment_choice.but_no_record",
    SegmentMiss.HIDDEN: "segment_choice.but_hidden",
}


class SegmentChoice(NamedTuple):
    """A segment, and why it was searched or not."""

    base_offset: int
    reason: SegmentReason
    target: int  # the offset or timestamp
    chosen: bool = False  # whether this segment gives the answer, or was the last one searched
    miss: SegmentMiss | None = None
    # the segment's largest timestamp if the reason depends on it, else -1
    largest_ms: int = NO_TIMESTAMP
    # whether largest_ms is the .log's modification time, because the time index is empty
    is_file_time: bool = False


def explain_fetch(
    log: LogView, offset: int, fetch: Fetch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    if fetch.scans:
        return tuple(_fetch_choices(log, offset, fetch))
    is_below_end = offset < bounds.end_offset
    return explain_no_segment(
        log, offset, SegmentReason.BEYOND_STABLE if is_below_end else SegmentReason.BEYOND_END
    )


def explain_no_segment(
    log: LogView, target: int, reason: SegmentReason
) -> tuple[SegmentChoice, ...]:
    """Returns a `SegmentChoice` with `reason` for every segment, none of which is searched."""
    return tuple(SegmentChoice(segment.base_offset, reason, target) for segment in log.segments)


def _fetch_choices(log: LogView, offset: int, fetch: Fetch) -> Iterator[SegmentChoice]:
    tried_offsets = [scan.base_offset for scan in fetch.scans]
    first = tried_offsets[0]
    last = tried_offsets[-1]
    for segment in log.segments:
        base = segment.base_offset
        if base not in tried_offsets:
            reason = SegmentReason.BASE_ABOVE if base > offset else SegmentReason.LATER_BASE
            yield SegmentChoice(base, reason, offset)
            continue
        reason = SegmentReason.GREATEST_BASE if base == first else SegmentReason.NEXT
        miss = None if base == last and fetch.batch else SegmentMiss.NOTHING_REACHES
        yield SegmentChoice(base, reason, offset, base == last, miss)


def explain_time_search(
    log: LogView, time_search: TimeSearch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    target_ms = time_search.timestamp_ms
    if target_ms >= 0:
        return tuple(_time_choices(log, time_search))
    if target_ms == MAX_TIMESTAMP:
        return tuple(_largest_choices(log, time_search))
    is_cut = bounds.limit_offset < bounds.end_offset
    is_tiered = log.tiered is not None
    tiered_reason = SegmentReason.TIERED_OFFSETS if is_tiered else SegmentReason.NOTHING_TIERED
    reasons = {
        LATEST: SegmentReason.STABLE_END if is_cut else SegmentReason.LOG_END,
        EARLIEST: SegmentReason.LOG_START,
        EARLIEST_LOCAL: SegmentReason.TIERED_OFFSETS if is_tiered else SegmentReason.LOG_START,
    }
    return explain_no_segment(log, target_ms, reasons.get(target_ms, tiered_reason))


def _time_choices(log: LogView, time_search: TimeSearch) -> Iterator[SegmentChoice]:
    chosen = time_search.segment_index
    miss = None
    if time_search.is_hidden:
        miss = SegmentMiss.HIDDEN
    elif time_search.answer is None:
        miss = SegmentMiss.NO_RECORD
    for place, segment in enumerate(log.segments):
        base = segment.base_offset
        target_ms = time_search.timestamp_ms
        if chosen is not None and place > chosen:
            yield SegmentChoice(base, SegmentReason.EARLIER_SEARCHED, target_ms)
            continue
        is_chosen = place == chosen
        yield SegmentChoice(
            base,
            SegmentReason.FIRST_REACHING if is_chosen else SegmentReason.TOO_OLD,
            target_ms,
            is_chosen,
            miss if is_chosen else None,
            segment.largest_timestamp_ms,
            segment.max_timestamp[0] < 0,
        )


def _largest_choices(log: LogView, time_search: TimeSearch) -> Iterator[SegmentChoice]:
    for place, segment in enumerate(log.segments):
        chosen = place == time_search.segment_index
        yield SegmentChoice(
            segment.base_offset,
            SegmentReason.LARGEST if chosen else SegmentReason.NOT_LARGEST,
            time_search.timestamp_ms,
            chosen,
            largest_ms=segment.max_timestamp[0],
        )


def describe_choice(choice: SegmentChoice) -> Message:
    reason = message(
        _REASONS[choice.reason], target=choice.target, largest=_describe_largest(choice)
    )
    if choice.miss is None:
        return reason
    return message(_MISSES[choice.miss], reason=reason, target=choice.target)


def _describe_largest(choice: SegmentChoice) -> Message:
    if choice.is_file_time:
        return message("segment_choice.file_time", ms=choice.largest_ms)
    if choice.largest_ms < 0:
        return message("segment_choice.no_timestamp")
    return message("segment_choice.entry_time", ms=choice.largest_ms)
