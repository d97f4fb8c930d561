"""When each limit alone would roll a segment, in closed form.

Which one binds, and how large an index must be not to be the one.

Batches of one size arrive at one speed. Then index points are G bytes apart, and each limit has its
time until a roll:

    batches of 1000 B, index.interval.bytes 4096: an entry every 5th batch, G = 5000 B
    segment.bytes        1 GiB / 1 MB/s                              1074 s
    offset index         12 800 slots * 5000 B / 1 MB/s                64 s
    time index            8 532 slots * 5000 B / 1 MB/s                43 s   the lowest: with 100
    KiB of index it rolls every 43 s

As LogSegment.shouldRoll of Kafka 4.3.1. The sums hold for a leader, whose appends are single
batches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from kafkaviz.format import offset_index, time_index
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.config import IndexConfig, LogConfig

CAUSES = tuple(RollCause)
# what ends a segment of a log as it is written; no offsets are skipped there
ENDS = (
    RollCause.SIZE,
    RollCause.TIME,
    RollCause.OFFSET_INDEX_FULL,
    RollCause.TIME_INDEX_FULL,
)
MAX_SEGMENT_BYTES = 2**31 - 1  # segment.bytes is an int
OFFSETS = 2**31  # that fit one segment
HALVINGS = 30  # to ten digits
SPEEDS = np.geomspace(10, 1e8, 281)  # bytes a second, where curves are drawn


class IndexRoom(StrEnum):
    """What segment.index.bytes leaves a log to work with."""

    NONE = "cannot be made"  # below one entry of either kind
    ALWAYS_FULL = "always full"  # one time entry, which is kept for the roll: every append rolls
    WORKS = "works"


@dataclass(frozen=True)
class WriteLoad:
    """What is written to a topic-partition.

    Attributes:
        batch_bytes: the mean.
        spread: the standard deviation of the batch sizes over their mean, 0 where all are alike.
        time_share: of the index points, how many find a newer timestamp; None for stamps of the
            clock, in milliseconds.
    """

    batch_bytes: float
    records_a_batch: float = 1
    spread: float = 0
    time_share: float | None = None


@dataclass(frozen=True)
class SpeedRange:
    """Speeds, in bytes a second, between which one limit is the first to be reached."""

    cause: RollCause
    first: float
    last: float


def index_room(segment_index_bytes: int) -> IndexRoom:
    """What a log can do with indexes of so many bytes.

    A limit of Kafka's own only from 3.3 on, which is 4.
    """
    if segment_index_bytes < time_index.ENTRY.itemsize:
        return IndexRoom.NONE
    return IndexRoom.WORKS if usable_time_slots(segment_index_bytes) else IndexRoom.ALWAYS_FULL


def offset_slots(segment_index_bytes: int) -> int:
    """The entries with which an offset index is full."""
    return IndexConfig(segment_index_bytes=segment_index_bytes).offset_slots


def usable_time_slots(segment_index_bytes: int) -> int:
    """The entries with which a time index is full.

    Its last slot is kept for the entry of the roll.
    """
    return IndexConfig(segment_index_bytes=segment_index_bytes).usable_time_slots


def gap_bytes(index_interval_bytes: int, batch_bytes: float) -> float:
    """The .log between two index points where all batches are of one size.

    The first multiple above the interval.
    """
    return (index_interval_bytes // batch_bytes + 1) * batch_bytes


def time_share(gap: float, bytes_per_s: float | np.ndarray) -> float | np.ndarray:
    """How many of the index points find a newer timestamp than the last entry's.

    The timestamps are of a clock of milliseconds.
    """
    return np.minimum(1.0, 1000 * gap / bytes_per_s)


def offset_index_full_bytes(segment_index_bytes: int, gap: float) -> float:
    """The .log at which the offset index is full."""
    return offset_slots(segment_index_bytes) * gap


def time_index_full_bytes(segment_index_bytes: int, gap: float, share: float = 1) -> float:
    """The .log at which the time index is full.

    This share of the index points adds an entry to it.
    """
    return usable_time_slots(segment_index_bytes) * gap / share


def safe_index_bytes(segment_bytes: int, gap: float, share: float = 1) -> int:
    """The least segment.index.bytes with which no index fills before a segment of so many bytes."""
    offset, time = offset_index.ENTRY.itemsize, time_index.ENTRY.itemsize
    return max(offset * ceil(segment_bytes / gap), time * (ceil(share * segment_bytes / gap) + 2))


def mean_jitter_ms(config: LogConfig) -> float:
    """The jitter of a segment, drawn anew for each.

    It is spread evenly below segment.jitter.ms, or below segment.ms where that is less.
    """
    return min(config.segment_jitter_ms, config.segment_ms) / 2


def seconds_until_roll(
    config: LogConfig, load: WriteLoad, bytes_per_s: float | np.ndarray
) -> dict[RollCause, np.ndarray]:
    """The seconds until a roll by each limit alone, at each speed.

    Infinite where a limit is never reached.
    """
    speed = np.asarray(bytes_per_s, np.float64)
    gap = gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = (
        time_share(gap, speed) if load.time_share is None else np.full_like(speed, load.time_share)
    )
    mean_overshoot = load.batch_bytes * (1 + load.spread**2) / 2
    segment_ms_s = (
        config.most_segment_ms - mean_jitter_ms(config)
    ) / 1000 + load.batch_bytes / speed
    with np.errstate(divide="ignore"):
        time_index_s = usable_time_slots(config.segment_index_bytes) * gap / (share * speed)
    return {
        RollCause.SIZE: np.maximum(config.segment_bytes - mean_overshoot, 0) / speed,
        RollCause.TIME: np.maximum(segment_ms_s, 0),
        RollCause.OFFSET_INDEX_FULL: offset_index_full_bytes(config.segment_index_bytes, gap)
        / speed,
        RollCause.TIME_INDEX_FULL: time_index_s,
        RollCause.OFFSET_OVERFLOW: OFFSETS * load.batch_bytes / (load.records_a_batch * speed),
    }


def first_limit(times: Mapping[RollCause, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Which limit is reached first at each speed, and after how many seconds.

    Limits have their numbers in Kafka's order.
    """
    roll_times_s = np.vstack([np.atleast_1d(times[cause]) for cause in CAUSES])
    first = roll_times_s.argmin(axis=0)
    return first, roll_times_s[first, np.arange(roll_times_s.shape[1])]


def speed_ranges(
    config: LogConfig, load: WriteLoad, speeds: np.ndarray = SPEEDS
) -> tuple[SpeedRange, ...]:
    """Which limit decides from which speed to which, slowest first.

    The speeds between are found by halving.
    """

    def deciding_limits(speeds: np.ndarray) -> np.ndarray:
        return first_limit(seconds_until_roll(config, load, speeds))[0]

    limit_numbers = deciding_limits(speeds)
    changes = np.flatnonzero(np.diff(limit_numbers))
    low, high = speeds[changes], speeds[changes + 1]
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        is_before = deciding_limits(middle) == limit_numbers[changes]
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    edges = [float(speeds[0]), *high.tolist()]
    causes = limit_numbers[[0, *(changes + 1)]]
    return tuple(
        SpeedRange(CAUSES[cause], first, last)
        for cause, first, last in zip(causes, edges, [*edges[1:], float(speeds[-1])], strict=True)
    )
