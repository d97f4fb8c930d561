"""The timestamps of a real segment around a target, and the record that a lookup returns."""

from typing import cast

import numpy as np

from kafkaviz.app.widgets.tables import table_html
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.workshop.drawings import timestamp_zigzag as zigzag_figure
from kafkaviz.workshop.drawings.timestamp_zigzag import TimedRecord, TimestampLookup, ZigzagView
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure
from kafkaviz.workshop.figures.lookups import make_lookup, to_lookup
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

# records shown before the start of the scan and after the answer
BEFORE = 24
BEHIND = 48
HEADS = ("segment.head_offset", "lookup.by_timestamp", "zigzag.head_newest", "zigzag.head_mark")


def _make(block: LessonBlock) -> ZigzagView:
    """Returns the records around a block's target.

    Raises:
        NoValue: the block does not look up a timestamp, or the answer is in another segment.
    """
    location, anatomy = block_location.anatomy(block)
    if block["by"] != "timestamp":
        raise NoValue(message("lesson.zigzag_needs_timestamp"))
    result = make_lookup(block).result
    answer = result.answer
    scan = result.scan
    all_batches = anatomy.batches.all_rows()
    last_offset = int(all_batches["last_offset"][-1])
    if (
        answer is None
        or scan is None
        or not location.segment.base_offset <= answer.offset <= last_offset
    ):
        raise NoValue(message("zigzag.not_here", segment=location.segment.name))
    start_row = np.searchsorted(all_batches["position"], scan.from_position)
    start_offset = int(all_batches["base_offset"][start_row])
    batches = all_batches[
        (all_batches["last_offset"] >= start_offset - BEFORE)
        & (all_batches["base_offset"] <= answer.offset + BEHIND)
    ]
    segment = cast(LogSegment, location.segment)
    records = tuple(
        TimedRecord(record.offset, record.timestamp_ms)
        for position in batches["position"].tolist()
        for record in segment.records(position)
    )
    before_ms = all_batches["max_timestamp_ms"][
        all_batches["base_offset"] < batches["base_offset"][0]
    ]
    return zigzag_figure.view(
        TimestampLookup(
            base_offset=segment.base_offset,
            target_ms=block["target"],
            records=records,
            newest_before_ms=int(before_ms.max(initial=-1)),
            entries=tuple(
                TimedRecord(int(entry["offset"]), int(entry["timestamp_ms"]))
                for entry in segment.time_index
                if records[0].offset <= entry["offset"] <= records[-1].offset
            ),
            start_offset=start_offset,
            answer=TimedRecord(answer.offset, answer.timestamp_ms),
        ),
        location.partition.directory,
        block["data"],
    )


def _table(view: ZigzagView) -> str:
    return table_html(list(map(say, HEADS)), zigzag_figure.rows(view), "rrrl")


ZIGZAG = drawn_figure(
    _make,
    to_lookup,
    (zigzag_figure.figure, zigzag_figure.question_figure),
    _table,
    words=zigzag_figure.describe,
)
