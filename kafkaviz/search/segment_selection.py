"""Which segment a lookup goes into, and why not into the others, in words."""

from typing import NamedTuple

from kafkaviz.search.by_time import EARLIEST, EARLIEST_LOCAL, LATEST, MAX_TIMESTAMP, TimeSearch
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.log_view import LogView, SegmentView


class SegmentChoice(NamedTuple):
    """A segment: chosen is the one whose bytes answer, or the last that was searched."""

    base_offset: int
    chosen: bool
    why: str


def explain_fetch(log: LogView, offset: int, fetch: Fetch) -> tuple[SegmentChoice, ...]:
    """Of a fetch."""
    if not fetch.scans:
        return explain_no_segment(log, offset)
    tried_offsets = [scan.segment for scan in fetch.scans]
    return tuple(_explain_offset(segment, offset, tried_offsets, fetch) for segment in log.segments)


def explain_no_segment(log: LogView, offset: int) -> tuple[SegmentChoice, ...]:
    """Of a fetch that goes into no segment."""
    return tuple(
        SegmentChoice(segment.base_offset, False, f"no segment is searched for offset {offset}")
        for segment in log.segments
    )


def explain_time_search(log: LogView, time_search: TimeSearch) -> tuple[SegmentChoice, ...]:
    """Of a search for a timestamp."""
    if time_search.timestamp_ms >= 0:
        return tuple(
            _explain_time(segment, place, time_search) for place, segment in enumerate(log.segments)
        )
    if time_search.timestamp_ms == MAX_TIMESTAMP:
        return tuple(
            _explain_largest(segment, place == time_search.segment)
            for place, segment in enumerate(log.segments)
        )
    answers = {
        LATEST: "the log's end is known",
        EARLIEST: "the log's start is known",
        EARLIEST_LOCAL: "the log's start is known",
    }
    why = (
        "no segment is searched: "
        f"{answers.get(time_search.timestamp_ms, 'nothing is in tiered storage')}"
    )
    return tuple(SegmentChoice(segment.base_offset, False, why) for segment in log.segments)


def _explain_offset(
    segment: SegmentView, offset: int, tried_offsets: list[int], fetch: Fetch
) -> SegmentChoice:
    base_offset = segment.base_offset
    if base_offset not in tried_offsets:
        is_above = base_offset > offset
        return SegmentChoice(
            base_offset,
            False,
            f"base offset above {offset}"
            if is_above
            else f"a later base offset is not above {offset} either",
        )
    chosen = base_offset == tried_offsets[-1]
    greatest = (
        f"greatest base offset not above {offset}"
        if base_offset == tried_offsets[0]
        else "the next segment"
    )
    return SegmentChoice(
        base_offset,
        chosen,
        greatest if chosen and fetch.batch else f"{greatest}, but nothing in it reaches {offset}",
    )


def _explain_time(segment: SegmentView, place: int, time_search: TimeSearch) -> SegmentChoice:
    if time_search.segment is not None and place > time_search.segment:
        return SegmentChoice(segment.base_offset, False, "an earlier segment is searched")
    if place != time_search.segment:
        return SegmentChoice(
            segment.base_offset,
            False,
            f"{_describe_largest(segment)} is below {time_search.timestamp_ms}",
        )
    first = (
        f"the first whose largest timestamp is not below {time_search.timestamp_ms}: "
        f"{_describe_largest(segment)}"
    )
    if time_search.is_hidden:
        return SegmentChoice(
            segment.base_offset,
            True,
            f"{first}; yet the record found lies behind the last stable offset",
        )
    nothing = (
        ""
        if time_search.answer
        else "; yet no record in it answers, and later segments are not tried"
    )
    return SegmentChoice(segment.base_offset, True, first + nothing)


def _explain_largest(segment: SegmentView, chosen: bool) -> SegmentChoice:
    return SegmentChoice(
        segment.base_offset,
        chosen,
        f"{'the largest of all: ' if chosen else ''}{_describe_largest(segment, remembered=True)}",
    )


def _describe_largest(segment: SegmentView, remembered: bool = False) -> str:
    """The largest timestamp, and where Kafka has it from."""
    timestamp_ms = segment.max_timestamp[0]
    if timestamp_ms >= 0 or remembered:
        return (
            f"largest timestamp {timestamp_ms}, by the last time index entry"
            if timestamp_ms >= 0
            else "no timestamp is known"
        )
    return (
        f"largest timestamp {segment.largest_timestamp_ms}, the time of the .log, since the time "
        "index tells none"
    )
