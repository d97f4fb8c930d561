"""Why a timestamp gave this offset: the times of a whole partition in the order of its offsets, and
what the target meets there.

Kafka's rule has two parts: the first segment whose largest timestamp is not below the target, and
in it the first record, in the order of offsets, that is not older than the target. Records with
times 10 30 20 40 and target 15 give the second one, though the third is closer: a consumer that
starts at the third would miss a record of time 30, and one that wants the closest has to look
itself.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.served import ServedLog, ServedSegment

SEARCHED, OLDER, LATER = "searched", "older", "later"
DECODED = 24  # batches around the target whose records are looked at, to find the closest


class Near(NamedTuple):
    """A record: its offset and timestamp."""

    offset: int
    timestamp_ms: int


@dataclass(frozen=True)
class SegmentTimes:
    """A segment and the target.

    end_offset: of the next segment, or of the log. largest_ms: what Kafka goes by; of_file: the
    time of the .log, as no entry tells one. fate: "searched", "older" (its largest timestamp is
    below the target) or "later" (an earlier one is searched). batches: all of it, None where the
    .log was not read.
    """

    base_offset: int
    end_offset: int
    largest_ms: int
    of_file: bool
    fate: str
    batches: np.ndarray | None


@dataclass(frozen=True)
class Why:
    """The partition around a target.

    answer: what Kafka gives, None for nothing. closest: the record whose time is nearest to the
    target, as far as it was looked for. older_behind: batches behind the answer with no record as
    late as the target. faults: what kept a batch near the target from being looked at; Kafka itself
    need not read there.
    """

    target_ms: int
    segments: tuple[SegmentTimes, ...]
    answer: Near | None
    closest: Near | None
    older_behind: int
    faults: tuple[str, ...] = ()


def why(
    found: Lookup,
    log: ServedLog,
    batches: Callable[[int], np.ndarray | None],
    records: Callable[[int, int], Iterable],
) -> Why:
    """Of a lookup by timestamp. batches: those of a segment, None not to read it; records: of a
    batch, with offset and timestamp_ms.
    """
    target_ms = cast(int, found.timestamp_ms)
    segments = tuple(
        _segment(one, place, found, log, batches) for place, one in enumerate(log.segments)
    )
    answer = Near(found.answer.offset, found.answer.timestamp_ms) if found.answer else None
    behind = sum(_older_behind(one, answer, target_ms) for one in segments) if answer else 0
    closest, faults = _closest(segments, target_ms, records)
    return Why(target_ms, segments, answer, closest, behind, faults)


def _segment(
    one: ServedSegment,
    place: int,
    found: Lookup,
    log: ServedLog,
    batches: Callable[[int], np.ndarray | None],
) -> SegmentTimes:
    searched = next(
        (at for at, choice in enumerate(found.choices) if choice.chosen), len(found.choices)
    )
    fate = SEARCHED if place == searched else OLDER if place < searched else LATER
    end = (
        log.segments[place + 1].base_offset
        if place + 1 < len(log.segments)
        else found.bounds.end_offset
    )
    return SegmentTimes(
        one.base_offset,
        end,
        one.largest_timestamp_ms,
        one.max_timestamp[0] < 0,
        fate,
        batches(one.base_offset),
    )


def _older_behind(one: SegmentTimes, answer: Near, target_ms: int) -> int:
    if one.batches is None:
        return 0
    later = one.batches["base_offset"] > answer.offset
    return int(
        (
            later
            & (one.batches["max_timestamp_ms"] < target_ms)
            & (one.batches["max_timestamp_ms"] >= 0)
        ).sum()
    )


def _closest(
    segments: Sequence[SegmentTimes], target_ms: int, records: Callable[[int, int], Iterable]
) -> tuple[Near | None, tuple[str, ...]]:
    """Of all records of the batches whose times enclose the target or come nearest to it; and the
    faults of those that are damaged.
    """
    away = sorted(
        one
        for segment in segments
        if segment.batches is not None
        for one in _nearest(segment, target_ms)
    )
    candidates, faults = [], []
    for _, base_offset, position in away[:DECODED]:
        try:
            seen = [
                (abs(one.timestamp_ms - target_ms), one.offset, one.timestamp_ms)
                for one in records(base_offset, position)
            ]
        except KafkavizError as fault:
            faults.append(str(fault))
            continue
        candidates += [one for one in seen if one[2] >= 0]
    return (Near(*min(candidates)[1:]) if candidates else None), tuple(faults)


def _nearest(segment: SegmentTimes, target_ms: int) -> list[tuple[int, int, int]]:
    """(how far its times are away, base offset of its segment, position) of the batches that may
    hold the closest record.
    """
    batches = cast(np.ndarray, segment.batches)
    newest = batches["max_timestamp_ms"]
    oldest = (
        batches["base_timestamp_ms"]
        if "base_timestamp_ms" in cast("tuple[str, ...]", batches.dtype.names)
        else newest
    )
    away = np.where(
        newest < target_ms,
        target_ms - newest,
        np.maximum(0, np.minimum(oldest, newest) - target_ms),
    )
    timed = np.flatnonzero(newest >= 0)
    rows = timed[np.argsort(away[timed], kind="stable")[:DECODED]]
    return [(int(away[row]), segment.base_offset, int(batches["position"][row])) for row in rows]
