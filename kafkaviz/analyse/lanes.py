"""How each segment of a log filled until it rolled: bytes, time and both indexes, against the limit
of each.

A lane is a segment. Of a simulated log it is told from the batches that were appended; of a
partition on disk from its index files, whose entries say how far the .log was at which time, so
that no log needs to be read:

    .index       (99, 4500) (199, 9000)        .timeindex  (..:00.450, 99) (..:00.900, 199)
    (..:01.000, 219)
    fills        at ..:00.450 4500 B and one entry of each kind, at ..:00.900 9000 B and two, at the
    end the size of the .log
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import numpy as np

from kafkaviz.analyse.infer import InferredLimit, SegmentFacts, inferred_limits, roll_reasons
from kafkaviz.analyse.infer.limit import SETTING
from kafkaviz.analyse.rolled import glance
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.incoming import INCOMING
from kafkaviz.simulate.writing.roll import Cause, RollReason

POINTS = 48  # of a lane: a line of some hundred pixels has no room for more
FILL: np.dtype = np.dtype(
    [  # how far a segment was, after an append
        ("at_ms", "i8"),
        ("log_bytes", "i8"),
        ("waited_ms", "i8"),
        ("offset_entries", "i8"),
        ("time_entries", "i8"),
    ]
)
APPENDED: np.dtype = np.dtype(
    [
        (name, INCOMING[name])
        for name in ("base_offset", "last_offset", "size_bytes", "max_timestamp_ms", "now_ms")
    ]
)


@dataclass(frozen=True)
class Lane:
    """One segment. opened_ms: when its first batch came; ended_ms: when the next one's came, or its
    own last.

    time_entries: without the one that its end added. reason: None where it is active, or where
    nothing that is known fits.
    """

    base_offset: int
    opened_ms: int
    ended_ms: int
    log_bytes: int
    offset_entries: int
    time_entries: int
    reason: RollReason | None
    is_active: bool
    fills: np.ndarray  # FILL


@dataclass(frozen=True)
class Lanes:
    """The segments of a log in order, and its limits. inferred: those of them that the rolls
    themselves bound, by the setting's name.
    """

    lanes: tuple[Lane, ...]
    config: LogConfig
    inferred: Mapping[str, InferredLimit] = field(default_factory=dict)
    batches: int | None = None

    @property
    def log_bytes(self) -> int:
        """The log, all segments together."""
        return sum(one.log_bytes for one in self.lanes)

    @property
    def span_ms(self) -> int:
        """From the first batch to the last."""
        return self.lanes[-1].ended_ms - self.lanes[0].opened_ms if self.lanes else 0

    @property
    def bytes_per_s(self) -> float:
        """The mean speed; 0 where there is no span of time."""
        return 1000 * self.log_bytes / self.span_ms if self.span_ms > 0 else 0.0

    def rolls(self) -> dict[Cause | None, int]:
        """How many rolls had which cause, in Kafka's order; None where no cause is seen."""
        causes = [
            one.reason.cause if one.reason else None for one in self.lanes if not one.is_active
        ]
        return {cause: causes.count(cause) for cause in (*Cause, None) if cause in causes}


# ---- of a simulated log


def thin(rows: np.ndarray) -> np.ndarray:
    """Of INCOMING rows what a lane needs of them, as APPENDED."""
    kept = np.empty(len(rows), APPENDED)
    for name in cast("tuple[str, ...]", APPENDED.names):
        kept[name] = rows[name]
    return kept


def of_log(segments: Sequence, appended: np.ndarray, config: LogConfig) -> Lanes:
    """The lanes of a simulate.writing.writer.Log: its segments, and all that was appended to it, as
    APPENDED rows.
    """
    bases = [one.base_offset for one in segments]
    first = np.searchsorted(appended["base_offset"], bases)
    edges = zip(segments, first, [*first[1:], len(appended)], strict=True)
    lanes = tuple(
        _simulated(one, appended, int(low), int(high)) for one, low, high in edges if high > low
    )
    return Lanes(lanes, config, batches=len(appended))


def _simulated(one, appended: np.ndarray, low: int, high: int) -> Lane:
    own, is_active = appended[low:high], one.rolled is None and high == len(appended)
    fills = _fills(own, one.index.entries, one.timeindex.entries, one.base_offset)
    ended = appended["now_ms"][min(high, len(appended) - 1)]
    return Lane(
        one.base_offset,
        int(own["now_ms"][0]),
        int(ended),
        int(own["size_bytes"].sum()),
        int(fills["offset_entries"][-1]),
        int(fills["time_entries"][-1]),
        one.rolled,
        is_active,
        fills,
    )


def _fills(
    own: np.ndarray, offset_entries: np.ndarray, time_entries: np.ndarray, base_offset: int
) -> np.ndarray:
    """A segment's state after some of its appends, the last among them.

    A time entry was written at the first index point that had seen its timestamp; the entry of the
    roll is at none.
    """
    size = np.cumsum(own["size_bytes"])
    newest = np.maximum.accumulate(own["max_timestamp_ms"])
    # the batch that starts at an entry's position
    points = np.searchsorted(size, offset_entries["position"], "right")
    seen_ms = newest[np.minimum(points, len(own) - 1)]
    at = np.unique(np.linspace(0, len(own) - 1, POINTS).astype(int))
    fills = np.empty(len(at), FILL)
    fills["at_ms"], fills["log_bytes"] = own["now_ms"][at], size[at]
    # as LogSegment.timeWaitedForRoll
    clock = "max_timestamp_ms" if own["max_timestamp_ms"][0] >= 0 else "now_ms"
    fills["waited_ms"] = np.maximum(own[clock][at] - own[clock][0], 0)
    fills["offset_entries"] = np.searchsorted(points, at, "right")
    last_seen = (
        np.where(
            fills["offset_entries"] > 0, seen_ms[np.maximum(fills["offset_entries"] - 1, 0)], -1
        )
        if len(points)
        else -1
    )
    fills["time_entries"] = np.searchsorted(time_entries["timestamp_ms"], last_seen, "right")
    return fills


# ---- of a partition on disk


def of_partition(partition: Partition, config: LogConfig, known: Collection[str] = ()) -> Lanes:
    """The lanes of what lies on disk. Raises KafkavizError as reading the index files does.

    known: the settings of config that were found, by the topic's name; any other that a roll
    contradicts is inferred from the rolls.
    """
    live = [one for one in partition.live if one.log and one.log.size_bytes]
    facts = [glance(one) for one in live]
    reasons = roll_reasons(facts)
    contradicted = {
        SETTING[one]
        for one, roll in _told(facts, reasons, config)
        if roll and not trips(roll) and one in SETTING
    }
    bounds = {
        name: one
        for name, one in inferred_limits(facts, reasons).items()
        if name in contradicted and name not in known
    }
    config = replace(config, **{name.replace(".", "_"): one.value for name, one in bounds.items()})
    told = [roll for _, roll in _told(facts, reasons, config)]
    behind, ends = [*facts[1:], None], [*told, None]
    found = [_found(*one) for one in zip(live, facts, behind, ends, strict=False)]
    return Lanes(tuple(found), config, bounds)


def _told(
    facts: Sequence[SegmentFacts], reasons: Sequence[str | None], config: LogConfig
) -> list[tuple[str | None, RollReason | None]]:
    """Each roll's cause, with its numbers beside the limits."""
    return [
        (reason, _reason(Cause(reason), fact, after, config) if reason else None)
        for (fact, after), reason in zip(pairwise(facts), reasons, strict=False)
    ]


def _found(
    one: Segment, fact: SegmentFacts, after: SegmentFacts | None, told: RollReason | None
) -> Lane:
    fills = _fills_on_disk(one, fact)
    opened = fact.first_batch_max_timestamp_ms
    last = max(fact.max_timestamp_ms, opened)
    ended = (
        max(after.first_batch_max_timestamp_ms, opened)
        if after and after.first_batch_max_timestamp_ms >= 0
        else last
    )
    return Lane(
        one.base_offset,
        opened,
        ended,
        fact.log_bytes,
        fact.offset_entries,
        fact.time_entries,
        told,
        after is None,
        fills,
    )


def _reason(cause: Cause, fact: SegmentFacts, after: SegmentFacts, config: LogConfig) -> RollReason:
    """The numbers of a cause that was inferred, beside the limit that the settings give."""
    found, limit = {
        Cause.SIZE: (fact.log_bytes, config.segment_bytes),
        Cause.TIME: (
            after.first_batch_max_timestamp_ms - fact.first_batch_max_timestamp_ms,
            config.most_segment_ms,
        ),
        Cause.OFFSET_INDEX_FULL: (fact.offset_entries, config.offset_slots),
        Cause.TIME_INDEX_FULL: (
            min(fact.time_entries, config.usable_time_slots),
            config.usable_time_slots,
        ),
        Cause.OFFSET_OVERFLOW: (after.first_batch_last_offset - fact.base_offset, 2**31 - 1),
    }[cause]
    return RollReason(cause, found, limit, after.first_batch_bytes)


def trips(reason: RollReason) -> bool:
    """Whether the numbers are above the limit: settings that were changed since may say
    otherwise.
    """
    if reason.cause == Cause.SIZE:
        return reason.found + reason.incoming_bytes > reason.limit
    is_index = reason.cause in (Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)
    return reason.found == reason.limit if is_index else reason.found > reason.limit


def _fills_on_disk(one: Segment, fact: SegmentFacts) -> np.ndarray:
    """By the time entries, each beside the offset entry of the same index point, and the end."""
    offsets, times = one.offset_index, one.time_index
    opened = fact.first_batch_max_timestamp_ms
    known = times[(times["timestamp_ms"] >= opened) & (times["timestamp_ms"] > 0)]
    known = (
        known[
            np.unique(np.linspace(0, max(len(known) - 1, 0), min(POINTS, len(known))).astype(int))
        ]
        if len(known)
        else known
    )
    # the entry of a batch, or of one behind the record it names
    point = np.searchsorted(offsets["offset"], known["offset"])
    inside = point < len(offsets)
    fills = np.zeros(int(inside.sum()) + 1, FILL)
    fills["at_ms"][:-1] = known["timestamp_ms"][inside]
    fills["log_bytes"][:-1] = offsets["position"][point[inside]]
    fills["offset_entries"][:-1] = point[inside] + 1
    fills["time_entries"][:-1] = np.searchsorted(
        times["timestamp_ms"], known["timestamp_ms"][inside], "right"
    )
    fills[-1] = (
        max(fact.max_timestamp_ms, opened),
        fact.log_bytes,
        0,
        fact.offset_entries,
        fact.time_entries,
    )
    fills["waited_ms"] = np.maximum(fills["at_ms"] - opened, 0)
    return fills


def limits(config: LogConfig) -> Mapping[str, int]:
    """What each column of FILL runs to: the value at which it makes a segment roll."""
    return {
        "log_bytes": config.segment_bytes,
        "waited_ms": config.most_segment_ms,
        "offset_entries": config.offset_slots,
        "time_entries": config.usable_time_slots,
    }
