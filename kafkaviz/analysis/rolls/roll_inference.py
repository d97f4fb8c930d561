"""Why a segment was rolled, inferred from a glance at it and its neighbours.

File sizes, the first header, the index files.
"""

import numpy as np

from kafkaviz.analysis.inference import SegmentFacts, roll_reasons
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.roll_cause import RollCause

NEIGHBOURS = 40  # on each side: enough to see a pattern, few enough to look at while a page waits


def roll_reason(partition: Partition, base_offset: int) -> RollCause | None:
    """The reason why the live segment with this base offset was rolled.

    Returns:
        In the words of inference.roll.roll_reasons; None where none is seen.
    """
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
    """A segment without walking it.

    Its newest time is that of the last time entry, which a roll writes last.
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
    """The first row of the log; a row of -1 for a log without one."""
    header = file.read(segment.log.path, 0, batch.HEADER_BYTES)
    if len(header) <= batch.MAGIC_END:
        empty_row = np.zeros((), batch.BATCH)
        empty_row["max_timestamp_ms"] = empty_row["last_offset"] = -1
        return empty_row[()]
    padded = np.frombuffer(header.ljust(batch.HEADER_BYTES, b"\0"), np.uint8).reshape(1, -1)
    return batch.rows(np.zeros(1, np.int64), padded.copy())[0]
