"""How far one segment is towards each of its limits, at every append.

LogSegment.shouldRoll asks before an append is written, so a limit is reached by the append that the
segment may no longer take. With segment.bytes 2000, index.interval.bytes 900 and batches of 500 B:

    append            0     1     2     3     4
    .log with it    500  1000  1500  2000  2500    4 is too many: size is reached at append 4
    entries before    0     0     0     1     1    1 of 4 slots

Beyond the append that rolled it the segment is followed as if no other limit were there: so each
limit is asked when it alone would have ended the segment.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.lessons.index_keys import entry_rows


@dataclass(frozen=True, kw_only=True)
class LimitRace:
    """A segment's way to its limits, a value an append.

    Attributes:
        at_ms: since the segment's first append, by the clock of the broker.
        log_bytes: of the .log before the append.
        amounts: of each limit what is compared with it.
        limits: what each is compared with.
        reached: the append that each limit alone would have kept out; None if none did.
        cause: which came first, in Kafka's order where several came at once.
    """

    at_ms: np.ndarray
    log_bytes: np.ndarray
    amounts: Mapping[RollCause, np.ndarray]
    limits: Mapping[RollCause, int]
    reached: Mapping[RollCause, int | None]
    cause: RollCause | None

    @property
    def roll(self) -> int | None:
        """The number of the append that starts the next segment."""
        return None if self.cause is None else self.reached[self.cause]

    def shares(self, cause: RollCause) -> np.ndarray:
        """How much of a limit was used up at each append: 1 is the limit."""
        limit = self.limits[cause]
        amounts = np.maximum(self.amounts[cause], 0)
        return amounts / limit if limit > 0 else np.ones(len(amounts))


def race(rows: np.ndarray, config: LogConfig) -> LimitRace:
    """The way of the segment that begins with the first of these appends.

    Of one without jitter, and of a leader, whose appends are single batches.

    Args:
        rows: roll_history.APPEND, at least one; those behind the roll are the next segment's.
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
    """As LogSegment.timeWaitedForRoll: by the records' time, by the clock where they have none."""
    column = "max_timestamp_ms" if rows["max_timestamp_ms"][0] >= 0 else "now_ms"
    return rows[column] - rows[column][0]


def _entries(rows: np.ndarray, interval_bytes: int) -> dict[RollCause, np.ndarray]:
    """How many entries each index has before each append.

    The time index gets one beside an offset entry if the largest timestamp so far has grown.
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
    """The first that a limit keeps out; an index is full at its limit, the rest beyond it."""
    is_index = cause in (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
    beyond = amounts >= limit if is_index else amounts > limit
    append = int(beyond.argmax())
    return append if beyond[append] else None
