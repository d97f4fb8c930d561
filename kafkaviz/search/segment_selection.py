"""Which segment a lookup goes into, and why not into the others."""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from kafkaviz.search.bounds import Bounds
from kafkaviz.search.by_time import EARLIEST, EARLIEST_LOCAL, LATEST, MAX_TIMESTAMP, TimeSearch
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.log_view import NO_TIMESTAMP, LogView


class SegmentReason(Enum):
    """Why a segment is searched, or is not."""

    GREATEST_BASE = auto()  # the greatest base offset that is not above the target: begins here
    NEXT = auto()  # nothing in the segment before reaches the target
    BASE_ABOVE = auto()
    LATER_BASE = auto()  # the base offset of a later one is not above the target either
    FIRST_REACHING = auto()  # the first whose largest timestamp is not below the target
    TOO_OLD = auto()  # its largest timestamp is below the target
    EARLIER_SEARCHED = auto()
    LARGEST = auto()  # has the largest timestamp of all
    NOT_LARGEST = auto()
    # no segment is searched:
    OUT_OF_RANGE = auto()
    BEYOND_STABLE = auto()  # the offset is at the last stable offset or behind it
    BEYOND_END = auto()
    LOG_START = auto()  # which is known
    LOG_END = auto()
    STABLE_END = auto()  # the last stable offset is the end for this consumer
    NOTHING_TIERED = auto()


BEGINNINGS = (SegmentReason.GREATEST_BASE, SegmentReason.FIRST_REACHING, SegmentReason.LARGEST)


class SegmentMiss(Enum):
    """Why a segment that was searched does not answer."""

    NOTHING_REACHES = auto()  # no batch in it reaches the offset
    NO_RECORD = auto()  # none is late enough; later segments are not tried
    HIDDEN = auto()  # the record found lies behind the last stable offset


class SegmentChoice(NamedTuple):
    """A segment: chosen is the one whose bytes answer, or the last that was searched.

    target: the offset or timestamp. largest_ms: its largest timestamp where that decides, -1 for
    none; is_file_time: it is the time of the .log, since the time index tells none.
    """

    base_offset: int
    reason: SegmentReason
    target: int
    chosen: bool = False
    miss: SegmentMiss | None = None
    largest_ms: int = NO_TIMESTAMP
    is_file_time: bool = False


def explain_fetch(
    log: LogView, offset: int, fetch: Fetch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    """Of a fetch."""
    if fetch.scans:
        return tuple(_fetch_choices(log, offset, fetch))
    is_below_end = offset < bounds.end_offset
    return explain_no_segment(
        log, offset, SegmentReason.BEYOND_STABLE if is_below_end else SegmentReason.BEYOND_END
    )


def explain_no_segment(
    log: LogView, target: int, reason: SegmentReason
) -> tuple[SegmentChoice, ...]:
    """Of a lookup that goes into no segment."""
    return tuple(SegmentChoice(segment.base_offset, reason, target) for segment in log.segments)


def explain_time_search(
    log: LogView, time_search: TimeSearch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    """Of a search for a timestamp."""
    target_ms = time_search.timestamp_ms
    if target_ms >= 0:
        return tuple(_time_choices(log, time_search))
    if target_ms == MAX_TIMESTAMP:
        return tuple(_largest_choices(log, time_search))
    is_cut = bounds.limit_offset < bounds.end_offset
    reasons = {
        LATEST: SegmentReason.STABLE_END if is_cut else SegmentReason.LOG_END,
        EARLIEST: SegmentReason.LOG_START,
        EARLIEST_LOCAL: SegmentReason.LOG_START,
    }
    return explain_no_segment(log, target_ms, reasons.get(target_ms, SegmentReason.NOTHING_TIERED))


def _fetch_choices(log: LogView, offset: int, fetch: Fetch) -> Iterator[SegmentChoice]:
    tried_offsets = [scan.segment for scan in fetch.scans]
    first, last = tried_offsets[0], tried_offsets[-1]
    for segment in log.segments:
        base = segment.base_offset
        if base not in tried_offsets:
            reason = SegmentReason.BASE_ABOVE if base > offset else SegmentReason.LATER_BASE
            yield SegmentChoice(base, reason, offset)
            continue
        reason = SegmentReason.GREATEST_BASE if base == first else SegmentReason.NEXT
        miss = None if base == last and fetch.batch else SegmentMiss.NOTHING_REACHES
        yield SegmentChoice(base, reason, offset, base == last, miss)


def _time_choices(log: LogView, time_search: TimeSearch) -> Iterator[SegmentChoice]:
    chosen, miss = time_search.segment, None
    if time_search.is_hidden:
        miss = SegmentMiss.HIDDEN
    elif time_search.answer is None:
        miss = SegmentMiss.NO_RECORD
    for place, segment in enumerate(log.segments):
        base, target_ms = segment.base_offset, time_search.timestamp_ms
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
        chosen = place == time_search.segment
        yield SegmentChoice(
            segment.base_offset,
            SegmentReason.LARGEST if chosen else SegmentReason.NOT_LARGEST,
            time_search.timestamp_ms,
            chosen,
            largest_ms=segment.max_timestamp[0],
        )
