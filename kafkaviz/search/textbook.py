"""The same questions answered without any index, by looking at everything in order: what a search is held against.

Where Kafka's answer is another one, something is worth a look: a damaged entry, timestamps out of order, a time index that is gone.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record_heads
from kafkaviz.format.batch import UNKNOWN
from kafkaviz.format.walk import Walk
from kafkaviz.search.batches import LogReader
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.search.slots import NONE


class Found(NamedTuple):
    """A record, and the segment that it lies in by its base offset."""

    offset: int
    timestamp_ms: int
    segment: int


def floor_slot(keys: np.ndarray, target: int) -> int:
    """The last slot whose key is not above the target, -1 for none; keys that run backwards are all looked at."""
    below = np.flatnonzero(np.asarray(keys) <= target)
    return int(below[-1]) if len(below) else NONE


def ceiling_slot(keys: np.ndarray, target: int) -> int:
    """The first slot whose key is not below the target, -1 for none: Kafka's upper bound may be one further."""
    reaches = np.asarray(keys) >= target
    return int(np.argmax(reaches)) if reaches.any() else NONE


def batch_of(segment: ServedSegment, offset: int) -> np.void | None:
    """The first batch (format.batch.BATCH) of a segment that ends at an offset or behind it, or None; reads every header before it."""
    for batches in _walk(segment):
        reaches = batches["last_offset"] >= offset
        if reaches.any():
            return batches[np.argmax(reaches)]
    return None


def first_from(log: ServedLog, timestamp_ms: int) -> Found | None:
    """The first record of the log, in the order of offsets, that has this timestamp or a later one; None for none."""
    return next(_records(log, lambda batches: batches["max_timestamp_ms"] >= timestamp_ms, timestamp_ms), None)


def closest_to(log: ServedLog, timestamp_ms: int) -> Found | None:
    """The record whose timestamp is nearest, the first of several: what one might expect of a lookup, and Kafka never does.

    Reads every record of the log.
    """
    seen = (one for one in _records(log, lambda batches: batches["max_timestamp_ms"] > UNKNOWN) if one.timestamp_ms > UNKNOWN)
    return min(seen, key=lambda one: abs(one.timestamp_ms - timestamp_ms), default=None)


def _records(log: ServedLog, wanted: Callable[[np.ndarray], np.ndarray], least_ms: int = UNKNOWN) -> Iterator[Found]:
    """The records from the log's start on, of batches that are wanted, of a timestamp at least."""
    for segment in log.segments:
        for batches in _walk(segment):
            for position, size_bytes in batches[wanted(batches)][["position", "size_bytes"]].tolist():
                for head in _heads(segment, position, size_bytes):
                    if head.timestamp_ms >= least_ms and head.offset >= log.log_start_offset:
                        yield Found(head.offset, head.timestamp_ms, segment.base_offset)


def _heads(segment: ServedSegment, position: int, size_bytes: int) -> list[record_heads.RecordHead]:
    def whole(log: LogReader) -> list[record_heads.RecordHead]:
        try:
            return list(record_heads.heads(log.peek(position, size_bytes)))
        except CorruptBytes as fault:
            raise CorruptBytes(position + fault.position, fault.what) from None

    return segment.reading(whole)


def _walk(segment: ServedSegment) -> Iterator[np.ndarray]:
    with segment.log.opened() as read:
        yield from Walk(read, 0, segment.size_bytes)
