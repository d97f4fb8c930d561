"""Which segment a lookup goes into, and why not into the others, in words."""

from typing import NamedTuple

from kafkaviz.search.by_time import EARLIEST, EARLIEST_LOCAL, LATEST, MAX_TIMESTAMP, TimeSearch
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.served import ServedLog, ServedSegment


class Choice(NamedTuple):
    """A segment: chosen is the one whose bytes answer, or the last that was searched."""

    base_offset: int
    chosen: bool
    why: str


def of_offset(log: ServedLog, offset: int, found: Fetch) -> tuple[Choice, ...]:
    """Of a fetch."""
    if not found.scans:
        return of_none(log, offset)
    tried = [one.segment for one in found.scans]
    return tuple(_of_offset(one, offset, tried, found) for one in log.segments)


def of_none(log: ServedLog, offset: int) -> tuple[Choice, ...]:
    """Of a fetch that goes into no segment."""
    return tuple(
        Choice(one.base_offset, False, f"no segment is searched for offset {offset}")
        for one in log.segments
    )


def of_time(log: ServedLog, found: TimeSearch) -> tuple[Choice, ...]:
    """Of a search for a timestamp."""
    if found.timestamp_ms >= 0:
        return tuple(_of_time(one, place, found) for place, one in enumerate(log.segments))
    if found.timestamp_ms == MAX_TIMESTAMP:
        return tuple(
            _of_largest(one, place == found.segment) for place, one in enumerate(log.segments)
        )
    answers = {
        LATEST: "the log's end is known",
        EARLIEST: "the log's start is known",
        EARLIEST_LOCAL: "the log's start is known",
    }
    why = (
        f"no segment is searched: {answers.get(found.timestamp_ms, 'nothing is in tiered storage')}"
    )
    return tuple(Choice(one.base_offset, False, why) for one in log.segments)


def _of_offset(one: ServedSegment, offset: int, tried: list[int], found: Fetch) -> Choice:
    base_offset = one.base_offset
    if base_offset not in tried:
        above = base_offset > offset
        return Choice(
            base_offset,
            False,
            f"base offset above {offset}"
            if above
            else f"a later base offset is not above {offset} either",
        )
    chosen = base_offset == tried[-1]
    greatest = (
        f"greatest base offset not above {offset}"
        if base_offset == tried[0]
        else "the next segment"
    )
    return Choice(
        base_offset,
        chosen,
        greatest if chosen and found.batch else f"{greatest}, but nothing in it reaches {offset}",
    )


def _of_time(one: ServedSegment, place: int, found: TimeSearch) -> Choice:
    if found.segment is not None and place > found.segment:
        return Choice(one.base_offset, False, "an earlier segment is searched")
    if place != found.segment:
        return Choice(one.base_offset, False, f"{_largest(one)} is below {found.timestamp_ms}")
    first = f"the first whose largest timestamp is not below {found.timestamp_ms}: {_largest(one)}"
    if found.hidden:
        return Choice(
            one.base_offset,
            True,
            f"{first}; yet the record found lies behind the last stable offset",
        )
    nothing = (
        "" if found.answer else "; yet no record in it answers, and later segments are not tried"
    )
    return Choice(one.base_offset, True, first + nothing)


def _of_largest(one: ServedSegment, chosen: bool) -> Choice:
    return Choice(
        one.base_offset,
        chosen,
        f"{'the largest of all: ' if chosen else ''}{_largest(one, remembered=True)}",
    )


def _largest(one: ServedSegment, remembered: bool = False) -> str:
    """The largest timestamp, and where Kafka has it from."""
    known = one.max_timestamp[0]
    if known >= 0 or remembered:
        return (
            f"largest timestamp {known}, by the last time index entry"
            if known >= 0
            else "no timestamp is known"
        )
    return (
        f"largest timestamp {one.largest_timestamp_ms}, the time of the .log, since the time index "
        "tells none"
    )
