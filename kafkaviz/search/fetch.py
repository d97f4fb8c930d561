"""A fetch by offset: the segment, its index, the batches from there on, and if need be the next
segment.

LocalLog.read and LogSegment.read of Kafka 1.1 to 4.3.1. Of segments 0, 100 and 200, offset 140: the
greatest base offset not above it is 100; its index leads to a byte of the .log; from there the
batches are gone through to the first that reaches 140. Where compaction left none, the search goes
on in segment 200.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, cast

import numpy as np

from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import txn_index
from kafkaviz.messages import verbatim
from kafkaviz.search import index
from kafkaviz.search.batches import Batch
from kafkaviz.search.bounds import Bounds
from kafkaviz.search.by_time import EARLIEST, EARLIEST_LOCAL, LATEST, MAX_TIMESTAMP, TimeSearch
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.log_view import NO_TIMESTAMP, LogView, SegmentView
from kafkaviz.search.profile import BATCH_BASE, SearchProfile
from kafkaviz.search.scan import ForwardScan, translate

MAX_BYTES = 1 << 20  # max.partition.fetch.bytes
OUT_OF_RANGE = "org.apache.kafka.common.errors.OffsetOutOfRangeException"


class OffsetOutOfRange(KafkavizError):
    """What Kafka answers for an offset below the log start or above the log end."""

    class_name = OUT_OF_RANGE


@dataclass(frozen=True)
class Fetch:
    """A fetch and what it gives: size_bytes of a .log from a batch on, none at the limit.

    searches, scans: one of each segment that was tried. segment, position: where the bytes begin.
    batch: the one found, None where no segment had one. metadata_offset: the offset that goes with
    the result. is_incomplete: the bytes end within their first batch.
    """

    offset: int
    searches: tuple[IndexSearch, ...]
    scans: tuple[ForwardScan, ...]
    batch: Batch | Any  # Any for None: where there are bytes there is a batch
    segment: int
    position: int
    size_bytes: int
    metadata_offset: int
    is_incomplete: bool = False


def fetch(
    log: LogView,
    offset: int,
    profile: SearchProfile,
    bounds: Bounds,
    max_bytes: int = MAX_BYTES,
    *,
    at_least_one: bool = True,
) -> Fetch:
    """What a broker reads for an offset. bounds: where the log starts and ends, and up to which
    offset records may be seen.

    at_least_one: the first batch is given whole though it is larger than max_bytes. Raises
    OffsetOutOfRange with Kafka's words.
    """
    place = _in_range(log, offset, bounds)
    if offset >= bounds.limit_offset:
        return Fetch(offset, (), (), None, log.active.base_offset, log.active.size_bytes, 0, offset)
    searches, scans = [], []
    for segment in log.segments[place:]:
        search, scan = translate(segment, offset, profile)
        searches.append(search)
        scans.append(scan)
        if scan.batch:
            return _slice(
                offset,
                searches,
                scans,
                segment,
                bounds,
                profile=profile,
                max_bytes=max_bytes,
                at_least_one=at_least_one,
            )
    return Fetch(
        offset,
        tuple(searches),
        tuple(scans),
        None,
        log.active.base_offset,
        log.active.size_bytes,
        0,
        bounds.end_offset,
    )


def aborted_transactions(
    log: LogView, fetch_result: Fetch, profile: SearchProfile, end_offset: int
) -> tuple[np.ndarray, IndexSearch]:
    """(txn_index.ENTRY of the aborted transactions that a read_committed consumer is told with a
    fetch, the search for their bound).

    LocalLog.addAbortedTransactions: the bound is an offset behind the bytes, not always the next
    one. CorruptFile for a .txnindex that Kafka refuses to read.
    """
    place = next(
        number
        for number, candidate in enumerate(log.segments)
        if candidate.base_offset == fetch_result.segment
    )
    bound_search = index.upper_bound(
        log.segments[place], fetch_result.position, fetch_result.size_bytes, profile
    )
    following = log.segments[place + 1].base_offset if place + 1 < len(log.segments) else end_offset
    bound, entry_parts = bound_search.entry[0] if bound_search.entry else following, []
    for segment in log.segments[place:]:
        try:
            entries, is_complete = txn_index.collect(segment.aborted, fetch_result.offset, bound)
        except CorruptBytes as fault:
            txnindex_file = cast("FileView", segment.txnindex)  # without one there are no entries
            raise fault.in_file(txnindex_file.path or txnindex_file.name) from None
        entry_parts.append(entries)
        if is_complete:
            break
    return np.concatenate(entry_parts), bound_search


def _in_range(log: LogView, offset: int, bounds: Bounds) -> int:
    """Which segment a fetch begins in."""
    words = (
        f"Received request for offset {offset} for partition {log.name}, but we only have log "
        "segments "
    )
    if offset < bounds.start_offset:
        raise OffsetOutOfRange(verbatim(f"{words}starting from offset: {bounds.start_offset}."))
    place = log.floor(offset)
    if offset > bounds.end_offset or place is None:
        raise OffsetOutOfRange(verbatim(f"{words}upto {bounds.end_offset}."))
    return place


def _slice(
    offset: int,
    searches: list[IndexSearch],
    scans: list[ForwardScan],
    segment: SegmentView,
    bounds: Bounds,
    *,
    profile: SearchProfile,
    max_bytes: int,
    at_least_one: bool,
) -> Fetch:
    """The stretch of a .log that goes out, the batch found at its start."""
    batch = scans[-1].batch
    most_bytes = max(max_bytes, batch.size_bytes) if at_least_one else max_bytes
    metadata_offset = batch.base_offset if profile.metadata_offset == BATCH_BASE else offset
    search_path = (tuple(searches), tuple(scans), batch, segment.base_offset, batch.position)
    if not most_bytes:
        return Fetch(offset, *search_path, 0, metadata_offset)
    stop = (
        segment.size_bytes if segment.base_offset != bounds.limit_segment else bounds.limit_position
    )
    size_bytes = min(max(0, stop - batch.position), most_bytes)
    return Fetch(offset, *search_path, size_bytes, metadata_offset, most_bytes < batch.size_bytes)


class SegmentReason(Enum):
    """Why a segment is searched, or is not."""

    GREATEST_BASE = auto()  # the greatest base offset that is not above the target: begins here
    NEXT = auto()  # nothing in the segment before reaches the target
    BASE_ABOVE = auto()
    LATER_BASE = auto()  # the base offset of a later one is not above the target either
    FIRST_REACHING = auto()  # the first whose largest timestamp is not below the target
    TOO_OLD = auto()  # its largest timestamp is below the target
    EARLIER_SEARCHED = auto()
    LARGEST = auto()  # has the largest timestamp of all
    NOT_LARGEST = auto()
    # no segment is searched:
    OUT_OF_RANGE = auto()
    BEYOND_STABLE = auto()  # the offset is at the last stable offset or behind it
    BEYOND_END = auto()
    LOG_START = auto()  # which is known
    LOG_END = auto()
    STABLE_END = auto()  # the last stable offset is the end for this consumer
    NOTHING_TIERED = auto()


BEGINNINGS = (SegmentReason.GREATEST_BASE, SegmentReason.FIRST_REACHING, SegmentReason.LARGEST)


class SegmentMiss(Enum):
    """Why a segment that was searched does not answer."""

    NOTHING_REACHES = auto()  # no batch in it reaches the offset
    NO_RECORD = auto()  # none is late enough; later segments are not tried
    HIDDEN = auto()  # the record found lies behind the last stable offset


class SegmentChoice(NamedTuple):
    """A segment: chosen is the one whose bytes answer, or the last that was searched.

    target: the offset or timestamp. largest_ms: its largest timestamp where that decides, -1 for
    none; is_file_time: it is the time of the .log, since the time index tells none.
    """

    base_offset: int
    reason: SegmentReason
    target: int
    chosen: bool = False
    miss: SegmentMiss | None = None
    largest_ms: int = NO_TIMESTAMP
    is_file_time: bool = False


def explain_fetch(
    log: LogView, offset: int, fetch: Fetch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    """Of a fetch."""
    if fetch.scans:
        return tuple(_fetch_choices(log, offset, fetch))
    is_below_end = offset < bounds.end_offset
    return explain_no_segment(
        log, offset, SegmentReason.BEYOND_STABLE if is_below_end else SegmentReason.BEYOND_END
    )


def explain_no_segment(
    log: LogView, target: int, reason: SegmentReason
) -> tuple[SegmentChoice, ...]:
    """Of a lookup that goes into no segment."""
    return tuple(SegmentChoice(segment.base_offset, reason, target) for segment in log.segments)


def explain_time_search(
    log: LogView, time_search: TimeSearch, bounds: Bounds
) -> tuple[SegmentChoice, ...]:
    """Of a search for a timestamp."""
    target_ms = time_search.timestamp_ms
    if target_ms >= 0:
        return tuple(_time_choices(log, time_search))
    if target_ms == MAX_TIMESTAMP:
        return tuple(_largest_choices(log, time_search))
    is_cut = bounds.limit_offset < bounds.end_offset
    reasons = {
        LATEST: SegmentReason.STABLE_END if is_cut else SegmentReason.LOG_END,
        EARLIEST: SegmentReason.LOG_START,
        EARLIEST_LOCAL: SegmentReason.LOG_START,
    }
    return explain_no_segment(log, target_ms, reasons.get(target_ms, SegmentReason.NOTHING_TIERED))


def _fetch_choices(log: LogView, offset: int, fetch: Fetch) -> Iterator[SegmentChoice]:
    tried_offsets = [scan.segment for scan in fetch.scans]
    first, last = tried_offsets[0], tried_offsets[-1]
    for segment in log.segments:
        base = segment.base_offset
        if base not in tried_offsets:
            reason = SegmentReason.BASE_ABOVE if base > offset else SegmentReason.LATER_BASE
            yield SegmentChoice(base, reason, offset)
            continue
        reason = SegmentReason.GREATEST_BASE if base == first else SegmentReason.NEXT
        miss = None if base == last and fetch.batch else SegmentMiss.NOTHING_REACHES
        yield SegmentChoice(base, reason, offset, base == last, miss)


def _time_choices(log: LogView, time_search: TimeSearch) -> Iterator[SegmentChoice]:
    chosen, miss = time_search.segment, None
    if time_search.is_hidden:
        miss = SegmentMiss.HIDDEN
    elif time_search.answer is None:
        miss = SegmentMiss.NO_RECORD
    for place, segment in enumerate(log.segments):
        base, target_ms = segment.base_offset, time_search.timestamp_ms
        if chosen is not None and place > chosen:
            yield SegmentChoice(base, SegmentReason.EARLIER_SEARCHED, target_ms)
            continue
        is_chosen = place == chosen
        yield SegmentChoice(
            base,
            SegmentReason.FIRST_REACHING if is_chosen else SegmentReason.TOO_OLD,
            target_ms,
            is_chosen,
            miss if is_chosen else None,
            segment.largest_timestamp_ms,
            segment.max_timestamp[0] < 0,
        )


def _largest_choices(log: LogView, time_search: TimeSearch) -> Iterator[SegmentChoice]:
    for place, segment in enumerate(log.segments):
        chosen = place == time_search.segment
        yield SegmentChoice(
            segment.base_offset,
            SegmentReason.LARGEST if chosen else SegmentReason.NOT_LARGEST,
            time_search.timestamp_ms,
            chosen,
            largest_ms=segment.max_timestamp[0],
        )
