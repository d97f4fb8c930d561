"""The progress of one segment towards each of its limits, at every append.

Kafka calls LogSegment.shouldRoll before it writes an append. So a limit is reached by the append
that no longer fits. For example, with segment.bytes 2000, index.interval.bytes 900 and batches of
500 B:

    append            0     1     2     3     4
    .log with it    500  1000  1500  2000  2500    append 4 does not fit: it reaches the size limit
    entries before    0     0     0     1     1    1 of 4 slots

The segment is followed beyond its roll as if it had no other limit, so that each limit shows when
it alone would have ended the segment.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.lessons.practice import entry_rows
from kafkaviz.simulate.writer.roll_reason import RollCause


@dataclass(frozen=True, kw_only=True)
class LimitRace:
    """The progress of a segment, one value per append.

    Attributes:
        at_ms: broker time since the segment's first append.
        log_bytes: bytes of the .log before the append.
        amounts: the amounts that Kafka compares with each limit.
        limits: the value of each limit.
        reached: the append that each limit alone would not admit; None if it admits all.
        cause: the limit reached first; in Kafka's order if one append reaches several.
    """

    at_ms: np.ndarray
    log_bytes: np.ndarray
    amounts: Mapping[RollCause, np.ndarray]
    limits: Mapping[RollCause, int]
    reached: Mapping[RollCause, int | None]
    cause: RollCause | None

    @property
    def roll(self) -> int | None:
        return None if self.cause is None else self.reached[self.cause]

    def shares(self, cause: RollCause) -> np.ndarray:
        """Returns the used share of a limit at each append; 1 is the limit."""
        limit = self.limits[cause]
        amounts = np.maximum(self.amounts[cause], 0)
        return amounts / limit if limit > 0 else np.ones(len(amounts))


def race(rows: np.ndarray, config: LogConfig) -> LimitRace:
    """Returns the progress of the segment that begins with the first of these appends.

    It has no jitter, and belongs to a leader, whose appends are single batches.

    Args:
        rows: rows of roll_history.APPEND, not empty; rows after the roll belong to the next
            segment.
    """
    sizes = rows["size_bytes"]
    log_bytes = np.cumsum(sizes) - sizes
    amounts = {
        RollCause.SIZE: log_bytes + sizes,
        RollCause.TIME: _waited_ms(rows),
        **_entries(rows, config.index_interval_bytes),
        RollCause.OFFSET_OVERFLOW: rows["last_offset"] - rows["base_offset"][0],
    }
    limits = {
        RollCause.SIZE: config.segment_bytes,
        RollCause.TIME: config.most_segment_ms,
        RollCause.OFFSET_INDEX_FULL: config.offset_slots,
        RollCause.TIME_INDEX_FULL: config.usable_time_slots,
        RollCause.OFFSET_OVERFLOW: MAX_RELATIVE_OFFSET,
    }
    reached = {cause: _first_append(cause, amounts[cause], limits[cause]) for cause in RollCause}
    ends = [(append, cause) for cause, append in reached.items() if append is not None]
    return LimitRace(
        at_ms=rows["now_ms"] - rows["now_ms"][0],
        log_bytes=log_bytes,
        amounts=amounts,
        limits=limits,
        reached=reached,
        cause=min(ends, key=lambda end: end[0])[1] if ends else None,
    )


def _waited_ms(rows: np.ndarray) -> np.ndarray:
    """Returns the time as LogSegment.timeWaitedForRoll counts it.

    It follows the records' timestamps, or the clock if they have none.
    """
    column = "max_timestamp_ms" if rows["max_timestamp_ms"][0] >= 0 else "now_ms"
    return rows[column] - rows[column][0]


def _entries(rows: np.ndarray, interval_bytes: int) -> dict[RollCause, np.ndarray]:
    """Returns the number of entries in each index before each append.

    A time entry is written with an offset entry if the largest timestamp so far has grown.
    """
    points = entry_rows(rows["size_bytes"], interval_bytes)
    newest_ms = np.maximum.accumulate(rows["max_timestamp_ms"])[points]
    has_grown = np.diff(newest_ms, prepend=-1) > 0
    appends = np.arange(len(rows))
    return {
        RollCause.OFFSET_INDEX_FULL: np.searchsorted(points, appends),
        RollCause.TIME_INDEX_FULL: np.searchsorted(points[has_grown], appends),
    }


def _first_append(cause: RollCause, amounts: np.ndarray, limit: int) -> int | None:
    """Returns the first append that a limit does not admit, or None.

    An index is full when its amount equals the limit; other amounts must exceed it.
    """
    is_index = cause in (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
    beyond = amounts >= limit if is_index else amounts > limit
    append = int(beyond.argmax())
    return append if beyond[append] else None
