"""Computes how long a log takes to roll a segment, for each limit alone.

The limit with the shortest time rolls the segment. The formulas assume that batches of one size
arrive at a constant speed, so that index entries are G bytes apart. For example, with batches of
1000 B and index.interval.bytes 4096, every 5th batch gets an entry and G is 5000 B:

    segment.bytes        1 GiB / 1 MB/s                    1074 s
    offset index         12 800 slots * 5000 B / 1 MB/s      64 s
    time index            8 532 slots * 5000 B / 1 MB/s      43 s   the first

So with indexes of 100 KiB, the log rolls every 43 s. The rules follow LogSegment.shouldRoll (4.3.1)
on a leader, where each append is a single batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from kafkaviz.format import offset_index, time_index
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.simulate.config import IndexConfig, LogConfig
from kafkaviz.simulate.writer.append_loop import entry_rows
from kafkaviz.simulate.writer.roll_reason import RollCause

CAUSES = tuple(RollCause)
# The causes that can end a segment while a log is written. An offset overflow is not among them,
# because a writer does not skip offsets.
ENDS = (RollCause.SIZE, RollCause.TIME, RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
MAX_SEGMENT_BYTES = 2**31 - 1  # segment.bytes is an int
OFFSETS = 2**31  # number of offsets that fit in one segment
HALVINGS = 30  # steps of a binary search, enough for ten digits
SPEEDS = np.geomspace(10, 1e8, 281)  # write speeds at which curves are drawn, in bytes per second


class IndexRoom(StrEnum):
    NONE = "cannot be made"  # too small for one entry
    # The time index has room for one entry, which Kafka reserves for the roll. So the index is
    # always full, and every append rolls the segment.
    ALWAYS_FULL = "always full"
    WORKS = "works"


@dataclass(frozen=True)
class WriteLoad:
    """The batches that a topic-partition receives."""

    batch_bytes: float
    records_per_batch: float = 1
    spread: float = 0  # the standard deviation of batch sizes divided by their mean


@dataclass(frozen=True)
class SpeedRange:
    cause: RollCause
    first: float
    last: float


def index_room(segment_index_bytes: int) -> IndexRoom:
    """Returns whether indexes of this size have room for entries.

    An entry takes 8 or 12 bytes, but Kafka accepts 4 bytes or more (before Kafka 3.3, any size).
    """
    if segment_index_bytes < time_index.ENTRY.itemsize:
        return IndexRoom.NONE
    # Kafka reserves the last slot of a time index for the entry that a roll adds
    has_room = IndexConfig(segment_index_bytes=segment_index_bytes).usable_time_slots
    return IndexRoom.WORKS if has_room else IndexRoom.ALWAYS_FULL


def gap_bytes(index_interval_bytes: int, batch_bytes: float) -> float:
    """Returns the .log bytes between two index entries, for batches of one size.

    For example, 5000 for an interval of 4096 bytes and batches of 1000 bytes.
    """
    return (index_interval_bytes // batch_bytes + 1) * batch_bytes


def time_share(gap: float, bytes_per_s: float | np.ndarray) -> float | np.ndarray:
    """Returns the share of offset entries that are written together with a time entry.

    A time entry is written only if the largest timestamp has grown by at least 1 ms. `gap` is the
    number of .log bytes between two offset entries.
    """
    return np.minimum(1.0, 1000 * gap / bytes_per_s)


def offset_index_full_bytes(segment_index_bytes: int, gap: float) -> float:
    return IndexConfig(segment_index_bytes=segment_index_bytes).offset_slots * gap


def time_index_full_bytes(segment_index_bytes: int, gap: float, share: float = 1) -> float:
    """Returns the .log size at which the time index is full. `gap`: .log bytes per offset entry."""
    return IndexConfig(segment_index_bytes=segment_index_bytes).usable_time_slots * gap / share


def safe_index_bytes(segment_bytes: int, gap: float, share: float = 1) -> int:
    """Returns the smallest segment.index.bytes with which no index is full before the .log."""
    offset = offset_index.ENTRY.itemsize
    time = time_index.ENTRY.itemsize
    return max(offset * ceil(segment_bytes / gap), time * (ceil(share * segment_bytes / gap) + 2))


def mean_jitter_ms(config: LogConfig) -> float:
    """Returns the mean jitter by which Kafka shortens segment.ms.

    The jitter is random, from 0 to the smaller of segment.jitter.ms and segment.ms.
    """
    return min(config.segment_jitter_ms, config.segment_ms) / 2


def seconds_until_roll(
    config: LogConfig, load: WriteLoad, bytes_per_s: float | np.ndarray
) -> dict[RollCause, np.ndarray]:
    """Returns the seconds until a segment reaches each limit, per speed in `bytes_per_s`.

    Infinite if the limit is never reached.
    """
    speed = np.asarray(bytes_per_s, np.float64)
    gap = gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = time_share(gap, speed)
    mean_overshoot = load.batch_bytes * (1 + load.spread**2) / 2
    mean_segment_ms = config.most_segment_ms - mean_jitter_ms(config)
    with np.errstate(divide="ignore"):
        time_index_s = config.usable_time_slots * gap / (share * speed)
    return {
        RollCause.SIZE: np.maximum(config.segment_bytes - mean_overshoot, 0) / speed,
        RollCause.TIME: np.maximum(mean_segment_ms / 1000 + load.batch_bytes / speed, 0),
        RollCause.OFFSET_INDEX_FULL: config.offset_slots * gap / speed,
        RollCause.TIME_INDEX_FULL: time_index_s,
        RollCause.OFFSET_OVERFLOW: OFFSETS * load.batch_bytes / (load.records_per_batch * speed),
    }


def first_limit(times: Mapping[RollCause, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Returns, per speed, (first limit as an index into CAUSES, seconds until it is reached)."""
    roll_times_s = np.vstack([np.atleast_1d(times[cause]) for cause in CAUSES])
    first = roll_times_s.argmin(axis=0)
    return first, roll_times_s[first, np.arange(roll_times_s.shape[1])]


def speed_ranges(
    config: LogConfig, load: WriteLoad, speeds: np.ndarray = SPEEDS
) -> tuple[SpeedRange, ...]:
    """Returns ranges of write speeds (bytes/s), each with the limit that rolls the segment.

    The ranges are in ascending order.
    """

    def deciding_limits(speeds: np.ndarray) -> np.ndarray:
        return first_limit(seconds_until_roll(config, load, speeds))[0]

    limit_numbers = deciding_limits(speeds)
    changes = np.flatnonzero(np.diff(limit_numbers))
    low = speeds[changes]
    high = speeds[changes + 1]
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        is_before = deciding_limits(middle) == limit_numbers[changes]
        low = np.where(is_before, middle, low)
        high = np.where(is_before, high, middle)
    edges = [float(speeds[0]), *high.tolist()]
    causes = limit_numbers[[0, *(changes + 1)]]
    return tuple(
        SpeedRange(CAUSES[cause], first, last)
        for cause, first, last in zip(causes, edges, [*edges[1:], float(speeds[-1])], strict=True)
    )


# ---- the progress of one segment towards each limit, append by append
#
# Kafka calls LogSegment.shouldRoll before it writes an append. So a limit is reached when an append
# does not fit any more. For example, with segment.bytes 2000, index.interval.bytes 900 and batches
# of 500 B:
#
#     append            0     1     2     3     4
#     .log with it    500  1000  1500  2000  2500    append 4 does not fit: it reaches the limit
#     entries before    0     0     0     1     1    1 of 4 slots
#
# Appends are still counted after the segment's roll, to show when each limit alone would have ended
# the segment.


@dataclass(frozen=True, kw_only=True)
class LimitRace:
    """How a segment approaches each limit. Arrays have one value per append."""

    at_ms: np.ndarray  # broker time since the segment's first append
    log_bytes: np.ndarray
    # the bytes, milliseconds or index entries that Kafka compares with each limit
    amounts: Mapping[RollCause, np.ndarray]
    limits: Mapping[RollCause, int]
    # the number of the first append that reaches each limit; None: no append does
    reached: Mapping[RollCause, int | None]
    # the limit reached first. If one append reaches several, the first in Kafka's order.
    cause: RollCause | None

    @property
    def roll(self) -> int | None:
        return None if self.cause is None else self.reached[self.cause]

    def shares(self, cause: RollCause) -> np.ndarray:
        """Returns the used share of a limit at each append. Reached: above 1; indexes: at 1."""
        limit = self.limits[cause]
        amounts = np.maximum(self.amounts[cause], 0)
        return amounts / limit if limit > 0 else np.ones(len(amounts))


def race(rows: np.ndarray, config: LogConfig) -> LimitRace:
    """Returns how near a segment is to each limit at each append, and which limit rolls it.

    The segment begins with the first of `rows`, an array of roll_history.APPEND. Appends after the
    roll may follow. Assumes no jitter, and a leader, where each append is a single batch.
    """
    sizes = rows["size_bytes"]
    log_bytes = np.cumsum(sizes) - sizes
    clock = "max_timestamp_ms" if rows["max_timestamp_ms"][0] >= 0 else "now_ms"
    amounts = {
        RollCause.SIZE: log_bytes + sizes,
        RollCause.TIME: rows[clock] - rows[clock][0],
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


def _entries(rows: np.ndarray, interval_bytes: int) -> dict[RollCause, np.ndarray]:
    """Returns the number of entries in each index before each append.

    Each offset entry comes with a time entry if the largest timestamp has grown since the last one.
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
    """Returns the number (from 0) of the first append that rolls a segment. None: none does.

    A segment rolls when an index has `limit` entries. For other causes, the amount must be larger
    than `limit`.
    """
    is_index = cause in (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
    beyond = amounts >= limit if is_index else amounts > limit
    append = int(beyond.argmax())
    return append if beyond[append] else None
