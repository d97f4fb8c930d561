"""Shows how each segment filled until it rolled: bytes, time and index entries.

The states of a simulated log come from its appended batches. The states of a partition on disk come
from its index files, whose entries show the size of the .log at some times:

    .index       (99, 4500) (199, 9000)
    .timeindex   (..:00.450, 99) (..:00.900, 199) (..:01.000, 219)

At ..:00.450 the segment had 4500 B and one entry in each index. At ..:00.900 it had 9000 B and two
entries in each.

For a partition on disk, the cause of a roll is inferred from neighbouring segments
(inferred_settings).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from kafkaviz.analysis.inferred_settings import (
    NO_BATCH,
    SETTING,
    FirstBatch,
    InferredLimit,
    SegmentFacts,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.open_segment import OpenSegment
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason

# segments to compare with on each side: enough to see a pattern, few enough to read quickly
NEIGHBOURS = 40
POINTS = 48  # points per segment: a line of a few hundred pixels has no room for more
FILL: np.dtype = np.dtype(
    [  # the state of a segment after an append
        ("at_ms", "i8"),
        ("log_bytes", "i8"),
        ("waited_ms", "i8"),
        ("offset_entries", "i8"),
        ("time_entries", "i8"),
    ]
)
APPEND: np.dtype = np.dtype(
    [
        (name, INCOMING[name])
        for name in ("base_offset", "last_offset", "size_bytes", "max_timestamp_ms", "now_ms")
    ]
)


def roll_reason(partition: Partition, base_offset: int) -> RollCause | None:
    """Returns why the segment with this base offset was rolled. None: no cause fits."""
    live = partition.live
    bases = [segment.base_offset for segment in live]
    if base_offset not in bases:
        return None
    number = bases.index(base_offset)
    first = max(0, number - NEIGHBOURS)
    try:
        facts = [segment_facts(segment) for segment in live[first : number + NEIGHBOURS + 1]]
    except KafkavizError:
        return None
    return roll_reasons(facts)[number - first]


def segment_facts(segment: LogSegment) -> SegmentFacts:
    """Returns the numbers of a segment from which a roll's cause is inferred.

    Reads only the first batch and the ends of the indexes. The largest timestamp comes from
    the last time entry, because a roll adds an entry for it.
    """
    offsets, times = segment.index_ends()
    return SegmentFacts(
        base_offset=segment.base_offset,
        log_bytes=segment.log.size_bytes,
        first_batch=_first_batch(segment),
        max_timestamp_ms=-1 if times.last is None else int(times.last["timestamp_ms"]),
        offset_entries=offsets.entries,
        time_entries=times.entries,
    )


def _first_batch(segment: LogSegment) -> FirstBatch:
    header = file.read(segment.log.path, 0, batch.HEADER_BYTES)
    if len(header) <= batch.MAGIC_END:
        return NO_BATCH
    padded = np.frombuffer(header.ljust(batch.HEADER_BYTES, b"\0"), np.uint8).reshape(1, -1)
    return FirstBatch.from_row(batch.rows(np.zeros(1, np.int64), padded.copy())[0])


@dataclass(frozen=True, kw_only=True)
class SegmentHistory:
    """How one segment filled until it rolled."""

    base_offset: int
    opened_ms: int  # the time of the segment's first batch
    # the time of the next segment's first batch; for the active segment, of its last batch
    ended_ms: int
    log_bytes: int
    offset_entries: int
    time_entries: int  # in a simulated log, without the entry that the roll added
    # why the segment rolled; None: the segment is active, or no known cause fits
    reason: RollReason | None
    is_active: bool
    # a function that returns the states of the segment, an array of FILL
    read_fills: Callable[[], np.ndarray]

    @cached_property
    def fills(self) -> np.ndarray:
        return self.read_fills()


@dataclass(frozen=True)
class RollHistory:
    """The segments of a log in order, and the limits at which they roll."""

    segments: tuple[SegmentHistory, ...]
    config: LogConfig
    # limits that were inferred from the rolls, by setting name
    inferred_limits: Mapping[str, InferredLimit] = field(default_factory=dict)
    # the number of batches in a simulated log; None: the partition is on disk
    batches: int | None = None

    @property
    def log_bytes(self) -> int:
        return sum(segment.log_bytes for segment in self.segments)

    @property
    def span_ms(self) -> int:
        return self.segments[-1].ended_ms - self.segments[0].opened_ms if self.segments else 0

    @property
    def bytes_per_s(self) -> float:
        return 1000 * self.log_bytes / self.span_ms if self.span_ms > 0 else 0.0

    def rolls(self) -> dict[RollCause | None, int]:
        """Returns the number of rolls by cause. The key is None for rolls of unknown cause."""
        causes = [
            segment.reason.cause if segment.reason else None
            for segment in self.segments
            if not segment.is_active
        ]
        return {cause: causes.count(cause) for cause in (*RollCause, None) if cause in causes}


# ---- the history of a simulated log


def appended_rows(rows: np.ndarray) -> np.ndarray:
    thinned = np.empty(len(rows), APPEND)
    for name in field_names(APPEND):
        thinned[name] = rows[name]
    return thinned


def history_of_log(
    segments: Sequence[OpenSegment], appends: np.ndarray, config: LogConfig
) -> RollHistory:
    """Returns the history of a simulated log. `appends` is an array of APPEND with all batches."""
    bases = [segment.base_offset for segment in segments]
    first = np.searchsorted(appends["base_offset"], bases)
    edges = zip(segments, first, [*first[1:], len(appends)], strict=True)
    histories = tuple(
        _history_from_appends(segment, appends, int(low), int(high))
        for segment, low, high in edges
        if high > low
    )
    return RollHistory(histories, config, batches=len(appends))


def _history_from_appends(
    segment: OpenSegment, appends: np.ndarray, low: int, high: int
) -> SegmentHistory:
    rows = appends[low:high]
    positions = segment.index.entries["position"]
    timestamps_ms = segment.timeindex.entries["timestamp_ms"]
    log_bytes = int(rows["size_bytes"].sum())
    # an append that was refused may have left entries; these are not counted
    offset_entries = int(np.searchsorted(positions, log_bytes))
    time_entries = len(timestamps_ms) - segment.has_end_entry
    if offset_entries < len(positions):
        time_entries = int(_fills(rows, positions, timestamps_ms)["time_entries"][-1])

    def read_fills() -> np.ndarray:
        fills = _fills(rows, positions, timestamps_ms)
        # the last time entry may have the time of a later batch of the same append
        fills["time_entries"][-1] = time_entries
        return fills

    return SegmentHistory(
        base_offset=segment.base_offset,
        opened_ms=int(rows["now_ms"][0]),
        ended_ms=int(appends["now_ms"][min(high, len(appends) - 1)]),
        log_bytes=log_bytes,
        offset_entries=offset_entries,
        time_entries=time_entries,
        reason=segment.roll_reason,
        is_active=segment.roll_reason is None and high == len(appends),
        read_fills=read_fills,
    )


def _fills(rows: np.ndarray, positions: np.ndarray, timestamps_ms: np.ndarray) -> np.ndarray:
    """Returns how full the log and its indexes were after each sampled append (`_sample`).

    The last append is always sampled. A time entry counts if it was written together with an
    offset entry. The time entry that a roll adds is written alone, so it does not count.
    """
    size = np.cumsum(rows["size_bytes"])
    newest = np.maximum.accumulate(rows["max_timestamp_ms"])
    # the row of the batch that starts at each entry's position
    points = np.searchsorted(size, positions, "right")
    newest_at_points = newest[np.minimum(points, len(rows) - 1)]
    samples = _sample(len(rows))
    fills = np.empty(len(samples), FILL)
    fills["at_ms"] = rows["now_ms"][samples]
    fills["log_bytes"] = size[samples]
    # the same clock as in LogSegment.timeWaitedForRoll
    clock = "max_timestamp_ms" if rows["max_timestamp_ms"][0] >= 0 else "now_ms"
    fills["waited_ms"] = np.maximum(rows[clock][samples] - rows[clock][0], 0)
    fills["offset_entries"] = np.searchsorted(points, samples, "right")
    # -1 before the first entry
    last_newest_ms = np.append(newest_at_points, -1)[fills["offset_entries"] - 1]
    fills["time_entries"] = np.searchsorted(timestamps_ms, last_newest_ms, "right")
    return fills


def _sample(count: int) -> np.ndarray:
    """Returns at most POINTS numbers from 0 to `count` - 1, evenly spaced."""
    return np.arange(count) if count <= POINTS else np.linspace(0, count - 1, POINTS).astype(int)


# ---- the history of a partition on disk


def history_of_partition(
    partition: Partition, config: LogConfig, known_settings: Collection[str] = ()
) -> RollHistory:
    """Returns the history of a partition on disk.

    Args:
        known_settings: topic settings whose values in `config` are certain. If the rolls contradict
            an uncertain value in `config`, this value is inferred from the rolls.

    Raises:
        KafkavizError: a file cannot be read.
    """
    live_segments = [segment for segment in partition.live if segment.log.size_bytes]
    facts = [segment_facts(segment) for segment in live_segments]
    reasons = roll_reasons(facts)
    contradicted_settings = {
        SETTING[roll.cause]
        for roll in _rolls(facts, reasons, config)
        if roll and not exceeds_limit(roll) and roll.cause in SETTING
    }
    bounds = {
        name: limit
        for name, limit in inferred_limits(facts, reasons).items()
        if name in contradicted_settings and name not in known_settings
    }
    config = replace(
        config, **{name.replace(".", "_"): limit.value for name, limit in bounds.items()}
    )
    rolls = [*_rolls(facts, reasons, config), None]
    histories = map(_history_on_disk, live_segments, facts, [*facts[1:], None], rolls)
    return RollHistory(tuple(histories), config, bounds)


def _rolls(
    facts: Sequence[SegmentFacts], reasons: Sequence[RollCause | None], config: LogConfig
) -> list[RollReason | None]:
    return [
        _reason(reason, fact, next_facts, config) if reason else None
        for (fact, next_facts), reason in zip(pairwise(facts), reasons, strict=False)
    ]


def _history_on_disk(
    segment: Segment, fact: SegmentFacts, next_facts: SegmentFacts | None, reason: RollReason | None
) -> SegmentHistory:
    fills = _fills_on_disk(segment, fact)
    opened_ms = fact.first_batch.max_timestamp_ms
    ended_ms = fact.max_timestamp_ms
    if next_facts and next_facts.first_batch.max_timestamp_ms >= 0:
        ended_ms = next_facts.first_batch.max_timestamp_ms
    return SegmentHistory(
        base_offset=segment.base_offset,
        opened_ms=opened_ms,
        ended_ms=max(ended_ms, opened_ms),
        log_bytes=fact.log_bytes,
        offset_entries=fact.offset_entries,
        time_entries=fact.time_entries,
        reason=reason,
        is_active=next_facts is None,
        read_fills=lambda: fills,
    )


def _reason(
    cause: RollCause, fact: SegmentFacts, next_facts: SegmentFacts, config: LogConfig
) -> RollReason:
    waited_ms = next_facts.first_batch.max_timestamp_ms - fact.first_batch.max_timestamp_ms
    relative_offset = next_facts.first_batch.last_offset - fact.base_offset
    time_slots = config.usable_time_slots
    value, limit = {
        RollCause.SIZE: (fact.log_bytes, config.segment_bytes),
        RollCause.TIME: (waited_ms, config.most_segment_ms),
        RollCause.OFFSET_INDEX_FULL: (fact.offset_entries, config.offset_slots),
        RollCause.TIME_INDEX_FULL: (min(fact.time_entries, time_slots), time_slots),
        RollCause.OFFSET_OVERFLOW: (relative_offset, MAX_RELATIVE_OFFSET),
    }[cause]
    return RollReason(cause, value, limit, next_facts.first_batch.size_bytes)


def exceeds_limit(reason: RollReason) -> bool:
    """Returns whether the roll fits `reason.limit`. If not, the limit probably changed later."""
    if reason.cause == RollCause.SIZE:
        return reason.actual + reason.incoming_bytes > reason.limit
    is_index = reason.cause in (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
    return reason.actual == reason.limit if is_index else reason.actual > reason.limit


def _fills_on_disk(segment: Segment, fact: SegmentFacts) -> np.ndarray:
    """Returns a segment's states at its time entries and at its end.

    The .log size at a time entry comes from the offset entry that was written with it.
    """
    offsets = segment.offset_index
    times = segment.time_index
    opened_ms = fact.first_batch.max_timestamp_ms
    shown_times = times[(times["timestamp_ms"] >= opened_ms) & (times["timestamp_ms"] > 0)]
    shown_times = shown_times[_sample(len(shown_times))]
    # the offset entry of the batch that holds the time entry's offset, or of a later batch
    point = np.searchsorted(offsets["offset"], shown_times["offset"])
    is_inside = point < len(offsets)
    fills = np.zeros(int(is_inside.sum()) + 1, FILL)
    fills["at_ms"][:-1] = shown_times["timestamp_ms"][is_inside]
    fills["log_bytes"][:-1] = offsets["position"][point[is_inside]]
    fills["offset_entries"][:-1] = point[is_inside] + 1
    fills["time_entries"][:-1] = np.searchsorted(
        times["timestamp_ms"], shown_times["timestamp_ms"][is_inside], "right"
    )
    ended_ms = max(fact.max_timestamp_ms, opened_ms)
    fills[-1] = (ended_ms, fact.log_bytes, 0, fact.offset_entries, fact.time_entries)
    fills["waited_ms"] = np.maximum(fills["at_ms"] - opened_ms, 0)
    return fills


def fill_limits(config: LogConfig) -> Mapping[str, int]:
    """Returns the limits at which a segment rolls: column of FILL -> value."""
    return {
        "log_bytes": config.segment_bytes,
        "waited_ms": config.most_segment_ms,
        "offset_entries": config.offset_slots,
        "time_entries": config.usable_time_slots,
    }
