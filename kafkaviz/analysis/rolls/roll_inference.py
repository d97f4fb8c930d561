"""The cause of a segment's roll, inferred quickly from its neighbours.

It needs file sizes, the first header of each .log, and the index files.
"""

import numpy as np

from kafkaviz.analysis.inference import SegmentFacts, roll_reasons
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.roll_cause import RollCause

NEIGHBOURS = 40  # on each side: enough to show a pattern, few enough to read while a page loads


def roll_reason(partition: Partition, base_offset: int) -> RollCause | None:
    """Returns why the live segment with this base offset was rolled, or None if no cause fits."""
    live = partition.live
    number = next(
        (
            place
            for place, live_segment in enumerate(live)
            if live_segment.base_offset == base_offset
        ),
        None,
    )
    if number is None:
        return None
    neighbours = live[max(0, number - NEIGHBOURS) : number + NEIGHBOURS + 1]
    try:
        return roll_reasons([segment_facts(neighbour) for neighbour in neighbours])[
            neighbours.index(live[number])
        ]
    except KafkavizError:
        return None


def segment_facts(segment: LogSegment) -> SegmentFacts:
    """Returns the facts about a segment without reading its batches.

    The largest timestamp comes from the last time entry, which a roll writes last.
    """
    first = _first_batch(segment)
    times = segment.time_index
    return SegmentFacts(
        base_offset=segment.base_offset,
        log_bytes=segment.log.size_bytes,
        first_batch_bytes=int(first["size_bytes"]),
        first_batch_max_timestamp_ms=int(first["max_timestamp_ms"]),
        first_batch_last_offset=int(first["last_offset"]),
        max_timestamp_ms=int(times["timestamp_ms"][-1]) if len(times) else -1,
        offset_entries=len(segment.offset_index),
        time_entries=len(times),
    )


def _first_batch(segment: LogSegment) -> np.void | np.ndarray:
    """Returns the first row of the .log; in an empty log, its offset and timestamp are -1."""
    header = file.read(segment.log.path, 0, batch.HEADER_BYTES)
    if len(header) <= batch.MAGIC_END:
        empty_row = np.zeros((), batch.BATCH)
        empty_row["max_timestamp_ms"] = empty_row["last_offset"] = -1
        return empty_row[()]
    padded = np.frombuffer(header.ljust(batch.HEADER_BYTES, b"\0"), np.uint8).reshape(1, -1)
    return batch.rows(np.zeros(1, np.int64), padded.copy())[0]
