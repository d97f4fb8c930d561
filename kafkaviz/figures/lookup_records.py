"""The records of the batch that a lookup found, as they are drawn: those near the one that was
looked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.figures.lookup_made import Made, Seen
from kafkaviz.search.consumer import Record
from kafkaviz.units import group
from kafkaviz.words import say

DRAWN_RECORDS = 9


@dataclass(frozen=True)
class RecordsView:
    """The records near the one found. first: the number of the first of them, from 0; count: how
    many the batch has.

    fault: why the batch has no records to show, "" where it has; a lookup may need none of the
    bytes that are damaged.
    """

    near: tuple[Seen, ...]
    first: int
    count: int
    hit_offset: int | None
    fault: str = ""


def view(made: Made) -> RecordsView:
    """What there is to draw of them."""
    (records, fault), hit = _readable(made), _hit(made)
    first = _first_shown(records, hit)
    return RecordsView(
        tuple(records[first : first + DRAWN_RECORDS]), first, len(records), hit, fault
    )


def _readable(made: Made) -> tuple[Sequence[Seen], str]:
    """The records of the batch, or none and why."""
    try:
        return _records(made), ""
    except KafkavizError as fault:
        return (), fault_words.told(fault)


def _records(made: Made) -> Sequence[Seen]:
    scan, record = made.found.scan, made.found.record
    if record:
        return made.records(record.segment, record.batch_position)
    return made.records(scan.segment, scan.batch.position) if scan and scan.batch else ()


def _hit(made: Made) -> int | None:
    return made.found.record.offset if made.found.record else None


def _first_shown(records: Sequence[Seen], hit: int | None) -> int:
    at = next((place for place, one in enumerate(records) if one.offset == hit), 0)
    return max(0, min(len(records) - DRAWN_RECORDS, at - 3))


def title(shown: RecordsView, made: Made, is_read: bool) -> str:
    """What the figure of the records shows, before and after they are read."""
    if is_read and shown.fault:
        return say("stepper_figures.fault", fault=shown.fault)
    at = next(
        (place for place, one in enumerate(shown.near) if one.offset == shown.hit_offset), None
    )
    if not is_read or at is None:
        return say("stepper_figures.not_read" if not is_read else "stepper_figures.no_answer")
    number, count_of = group(shown.first + at + 1), group(shown.count)
    position = group(cast(Record, made.found.record).batch_position)
    return say(
        "stepper_figures.answer",
        offset=group(shown.hit_offset),
        number=number,
        count=count_of,
        position=position,
    )


def sent(shown: RecordsView, by_time: bool) -> list[list[str]]:
    """Offset, the same to read, a word of what is in it or its time, and what hovering tells."""
    time = units.clock if len(shown.near) <= 6 else lambda ms: units.clock(ms)[3:]
    words = [
        time(one.timestamp_ms) if by_time or not one.label else one.label for one in shown.near
    ]
    rows = zip(shown.near, words, strict=True)
    return [
        [str(one.offset), group(one.offset), word, units.moment(one.timestamp_ms)]
        for one, word in rows
    ]


def hint(shown: RecordsView) -> str:
    """Which of them are drawn, where not all are."""
    if shown.count <= len(shown.near):
        return ""
    first, last = shown.first + 1, shown.first + len(shown.near)
    return say(
        "stepper_figures.some_records",
        first=group(first),
        last=group(last),
        count=group(shown.count),
    )
