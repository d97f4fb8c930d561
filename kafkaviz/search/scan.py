"""Forward through the batches of a .log from a position: to an offset, or to a timestamp.

FileRecords of Kafka 1.1 to 4.3.1. Three batches at 0, 324 and 700 hold the offsets 0 to 9, 10 to 24
and 25 to 30; target 12:

    last_offset, up to 4.0   (0, 17) (0, 61)  9 < 12   (324, 17) (324, 61)  24 >= 12: found
    base_offset, from 4.1    (0, 17)  0 < 12   (324, 17)  10 < 12   (700, 17)  25 > 12: the one
    before, if (324, 61)  24 >= 12
"""

from dataclasses import dataclass
from typing import Any

from kafkaviz.search.batches import Batch, FileBatch, LogRead, LogReader
from kafkaviz.search.profile import LAST_OFFSET


@dataclass(frozen=True)
class ForwardScan:
    """A scan of one .log and what it found.

    segment: the base offset of the .log. reads: of Kafka, in order. batch: None where the end came
    first. offset, timestamp_ms: of the record found, where the scan was for a timestamp; else None.
    """

    segment: int
    from_position: int
    reads: tuple[LogRead, ...]
    batch: Batch | Any  # Any for None: whoever found an offset has its batch and time too
    offset: int | None = None
    timestamp_ms: int | Any = None


def find_offset(
    log: LogReader, segment: int, target: int, position: int, comparison: str
) -> ForwardScan:
    """The first batch that ends at the target or behind it, from a position on
    (searchForOffsetFromPosition).

    comparison: "last_offset" or "base_offset"; they come to the same batch by other reads.
    """
    batch = (_by_last_offset if comparison == LAST_OFFSET else _by_base_offset)(
        log, target, position
    )
    return ForwardScan(segment, position, tuple(log.reads), batch.to_batch() if batch else None)


def find_timestamp(
    log: LogReader, segment: int, target_ms: int, position: int, start_offset: int
) -> ForwardScan:
    """The first record of that time or later, at start_offset or behind it (searchForTimestamp)."""
    for batch in log.batches(position):
        if batch.max_timestamp_ms >= target_ms:
            for record in batch.heads():
                if record.timestamp_ms >= target_ms and record.offset >= start_offset:
                    return ForwardScan(
                        segment,
                        position,
                        tuple(log.reads),
                        batch.to_batch(),
                        record.offset,
                        record.timestamp_ms,
                    )
    return ForwardScan(segment, position, tuple(log.reads), None)


def find_largest_timestamp(
    log: LogReader, segment: int, largest_ms: int, position: int
) -> ForwardScan:
    """The first record that has the largest timestamp of the segment, in the first batch that has
    it (from 3.8 on).
    """
    for batch in log.batches(position):
        if batch.max_timestamp_ms == largest_ms:
            offset = next(
                (record.offset for record in batch.heads() if record.timestamp_ms == largest_ms),
                None,
            )
            timestamp_ms = None if offset is None else largest_ms
            return ForwardScan(
                segment, position, tuple(log.reads), batch.to_batch(), offset, timestamp_ms
            )
    return ForwardScan(segment, position, tuple(log.reads), None)


def _by_last_offset(log: LogReader, target: int, position: int) -> FileBatch | None:
    return next((batch for batch in log.batches(position) if batch.last_offset >= target), None)


def _by_base_offset(log: LogReader, target: int, position: int) -> FileBatch | None:
    previous = None
    for batch in log.batches(position):
        base_offset = batch.base_offset
        if base_offset == target:
            return batch
        if base_offset > target:
            return previous if previous and previous.last_offset >= target else batch
        previous = batch
    return previous if previous and previous.last_offset >= target else None
