"""Explains the offset that a lookup by timestamp returns.

Kafka searches the first segment whose largest timestamp is not below the target. It returns the
first record, by offset, that is not older than the target. For example, with record times 10, 30,
20, 40 and the target 15, it returns the second record, although the third is closer. A consumer
that started at the third record would miss the record of time 30.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message
from kafkaviz.search.log_view import LogView
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.segment_reasons import SegmentReason

SEARCHED = "searched"
OLDER = "older"
LATER = "later"
FATES = {
    SegmentReason.FIRST_REACHING: SEARCHED,
    SegmentReason.TOO_OLD: OLDER,
    SegmentReason.EARLIER_SEARCHED: LATER,
}
# the records of at most this many batches near the target are decoded to find the closest record
MAX_DECODED_BATCHES = 24


class RecordTime(NamedTuple):
    offset: int
    timestamp_ms: int


@dataclass(frozen=True, kw_only=True)
class SegmentTimes:
    """A segment, and whether Kafka searches it for the target.

    Attributes:
        end_offset: the base offset of the next segment. For the last segment, the log end offset.
        largest_ms: the largest timestamp, by which Kafka chooses the segment.
        is_file_time: whether `largest_ms` is the .log's modification time, because there are no
            time entries.
        fate: "searched", "older" (`largest_ms` is below the target) or "later" (Kafka searches an
            earlier segment).
        batches: the batches of the segment. None: the .log was not read.
    """

    base_offset: int
    end_offset: int
    largest_ms: int
    is_file_time: bool
    fate: str
    batches: BatchTable | None


@dataclass(frozen=True, kw_only=True)
class OffsetExplanation:
    """The facts that explain the result of a lookup by timestamp.

    Attributes:
        answer: the record that Kafka returns, or None.
        closest: the record whose time is nearest to the target. None: no record was decoded.
        older_batches: the number of batches after the answer with only records older than the
            target.
        faults: faults in batches near the target, which Kafka does not necessarily read.
    """

    target_ms: int
    segments: tuple[SegmentTimes, ...]
    answer: RecordTime | None
    closest: RecordTime | None
    older_batches: int
    faults: tuple[Message, ...] = ()


def explain_offset(
    result: Lookup,
    log: LogView,
    batches: Callable[[int], BatchTable | None],
    records: Callable[[int, int], Iterable],
) -> OffsetExplanation:
    """Explains the result of a lookup by timestamp.

    `batches` is called with a segment's base offset, and returns None to skip the segment.
    `records` is called with a segment's base offset and the position of a batch in its .log.
    """
    target_ms = cast(int, result.timestamp_ms)
    bases = [segment_view.base_offset for segment_view in log.segments]
    ends = [*bases[1:], result.bounds.end_offset]
    segments = tuple(
        SegmentTimes(
            base_offset=segment_view.base_offset,
            end_offset=end_offset,
            largest_ms=segment_view.largest_timestamp_ms,
            is_file_time=segment_view.max_timestamp[0] < 0,
            fate=FATES[choice.reason],
            batches=batches(segment_view.base_offset),
        )
        for segment_view, end_offset, choice in zip(
            log.segments, ends, result.choices, strict=False
        )
    )
    answer = None
    older_batches = 0
    if result.answer:
        answer = RecordTime(result.answer.offset, result.answer.timestamp_ms)
        older_batches = sum(_count_older_batches(times, answer, target_ms) for times in segments)
    closest, faults = _closest(segments, target_ms, records)
    return OffsetExplanation(
        target_ms=target_ms,
        segments=segments,
        answer=answer,
        closest=closest,
        older_batches=older_batches,
        faults=faults,
    )


def _count_older_batches(segment_times: SegmentTimes, answer: RecordTime, target_ms: int) -> int:
    batches = segment_times.batches
    if batches is None:
        return 0
    blocks = batches.blocks
    count = 0
    has_older = (blocks["base_offset"] > answer.offset) & (blocks["oldest_ms"] < target_ms)
    for number in np.flatnonzero(has_older):
        rows = batches.block(int(number))
        newest_ms = rows["max_timestamp_ms"]
        is_older = (newest_ms < target_ms) & (newest_ms >= 0)
        count += int(np.count_nonzero(is_older & (rows["base_offset"] > answer.offset)))
    return count


def _closest(
    segments: Sequence[SegmentTimes], target_ms: int, records: Callable[[int, int], Iterable]
) -> tuple[RecordTime | None, tuple[Message, ...]]:
    """Returns the record whose time is closest to the target, and the faults of damaged batches.

    Decodes only the MAX_DECODED_BATCHES nearest batches.
    """
    read_segments = [segment for segment in segments if segment.batches is not None]
    nearest_batches = chain.from_iterable(_nearest(each, target_ms) for each in read_segments)
    candidates = []
    faults = []
    for _, base_offset, position in nsmallest(MAX_DECODED_BATCHES, nearest_batches):
        try:
            distances = (
                (abs(record.timestamp_ms - target_ms), record.offset, record.timestamp_ms)
                for record in records(base_offset, position)
                if record.timestamp_ms >= 0
            )
            closest = min(distances, default=None)
        except KafkavizError as error:
            faults.append(error.message)
            continue
        if closest:
            candidates.append(closest)
    return (RecordTime(*min(candidates)[1:]) if candidates else None), tuple(faults)


def _nearest(segment: SegmentTimes, target_ms: int) -> list[tuple[int, int, int]]:
    """Returns the batches in a segment whose times are nearest to the target, the nearest first.

    Each tuple is (distance from the target in ms, base offset of the segment, batch's position).
    """
    batches = cast(BatchTable, segment.batches)
    blocks = batches.blocks
    nearest: list[tuple[int, int, int]] = []  # distance, row, position
    bounds_ms = _distances(blocks["newest_ms"], blocks["start_ms"], target_ms)
    for number in np.argsort(bounds_ms, kind="stable").tolist():
        first_row = number * batches.block_rows
        is_full = len(nearest) == MAX_DECODED_BATCHES
        if is_full and (int(bounds_ms[number]), first_row) > nearest[-1][:2]:
            break
        rows = batches.block(number)
        newest_ms = rows["max_timestamp_ms"]
        has_start = "base_timestamp_ms" in field_names(rows.dtype)
        oldest_ms = rows["base_timestamp_ms"] if has_start else newest_ms
        distances_ms = _distances(newest_ms, np.minimum(oldest_ms, newest_ms), target_ms)
        timed_rows = np.flatnonzero(newest_ms >= 0)
        order = np.argsort(distances_ms[timed_rows], kind="stable")[:MAX_DECODED_BATCHES]
        nearest += [
            (int(distances_ms[row]), first_row + int(row), int(rows["position"][row]))
            for row in timed_rows[order]
        ]
        nearest = sorted(nearest)[:MAX_DECODED_BATCHES]
    return [(distance_ms, segment.base_offset, position) for distance_ms, _, position in nearest]


def _distances(newest_ms: np.ndarray, start_ms: np.ndarray, target_ms: int) -> np.ndarray:
    return np.where(
        newest_ms < target_ms, target_ms - newest_ms, np.maximum(0, start_ms - target_ms)
    )
