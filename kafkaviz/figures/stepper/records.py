"""The records of the batch that a lookup found, near the record that it looked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.stepper import LookupContext, LookupRecord
from kafkaviz.figures.text.sentences import describe_error
from kafkaviz.messages import say
from kafkaviz.search.lookup import ConsumerRecord
from kafkaviz.units import format_count

DRAWN_RECORDS = 9


@dataclass(frozen=True)
class RecordsView:
    """The records near the one found.

    Attributes:
        first_number: the index of the first of them in the batch.
        count: number of records in the batch.
        fault: why no records can be shown, or ""; a lookup may not need the bytes that are damaged.
    """

    records: tuple[LookupRecord, ...]
    first_number: int
    count: int
    hit_offset: int | None
    fault: str = ""


def view(context: LookupContext) -> RecordsView:
    records, fault = _read_records(context)
    hit = _hit_offset(context)
    first_number = _first_drawn(records, hit)
    return RecordsView(
        tuple(records[first_number : first_number + DRAWN_RECORDS]),
        first_number,
        len(records),
        hit,
        fault,
    )


def _read_records(context: LookupContext) -> tuple[Sequence[LookupRecord], str]:
    """Returns the records of the batch, or none and the reason."""
    try:
        return _batch_records(context), ""
    except KafkavizError as fault:
        return (), describe_error(fault)


def _batch_records(context: LookupContext) -> Sequence[LookupRecord]:
    scan = context.result.scan
    record = context.result.record
    if record:
        return context.records(record.segment, record.batch_position)
    return context.records(scan.segment, scan.batch.position) if scan and scan.batch else ()


def _hit_offset(context: LookupContext) -> int | None:
    return context.result.record.offset if context.result.record else None


def _first_drawn(records: Sequence[LookupRecord], hit_offset: int | None) -> int:
    hit_index = next(
        (index for index, record in enumerate(records) if record.offset == hit_offset), 0
    )
    return max(0, min(len(records) - DRAWN_RECORDS, hit_index - 3))


def title(records_view: RecordsView, context: LookupContext, *, is_read: bool) -> str:
    if is_read and records_view.fault:
        return say("stepper_figures.fault", fault=records_view.fault)
    hit_index = next(
        (
            index
            for index, record in enumerate(records_view.records)
            if record.offset == records_view.hit_offset
        ),
        None,
    )
    if not is_read or hit_index is None:
        return say("stepper_figures.not_read" if not is_read else "stepper_figures.no_answer")
    number_text = format_count(records_view.first_number + hit_index + 1)
    count_text = format_count(records_view.count)
    position = format_count(cast(ConsumerRecord, context.result.record).batch_position)
    return say(
        "stepper_figures.answer",
        offset=format_count(records_view.hit_offset),
        number=number_text,
        count=count_text,
        position=position,
    )


def browser_rows(records_view: RecordsView, *, is_by_time: bool) -> list[list[str]]:
    """Returns offset, formatted offset, label or time, and hover text of each record."""
    format_time = units.clock if len(records_view.records) <= 6 else lambda ms: units.clock(ms)[3:]
    labels = [
        format_time(record.timestamp_ms) if is_by_time or not record.label else record.label
        for record in records_view.records
    ]
    rows = zip(records_view.records, labels, strict=True)
    return [
        [str(record.offset), format_count(record.offset), label, units.moment(record.timestamp_ms)]
        for record, label in rows
    ]


def hint_text(records_view: RecordsView) -> str:
    """Says which records are drawn; "" if all are."""
    if records_view.count <= len(records_view.records):
        return ""
    first = records_view.first_number + 1
    last = records_view.first_number + len(records_view.records)
    return say(
        "stepper_figures.some_records",
        first=format_count(first),
        last=format_count(last),
        count=format_count(records_view.count),
    )
