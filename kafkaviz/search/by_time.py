"""ListOffsets: the offset for a timestamp, or the log's start, end or largest timestamp.

This is UnifiedLog.fetchOffsetByTimestamp of Kafka 1.1 to 4.3.1. For example, segments 0, 100 and
200 have the largest timestamps 50, 90 and 80, and the target is 60:

- Segment 100 is searched: the first one whose largest timestamp is not below 60.
- Its time index gives an offset before which no record has the time 60.
- Its offset index gives a position for that offset.
- From there, the first record with time 60 or later is the answer.

The answer is the first record by offset, not the nearest in time. If the segment has no such
record, later segments are not searched.
"""

from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.log.tiered.tiered_view import TieredOffsets
from kafkaviz.messages import Text, message
from kafkaviz.search import index_search, scan
from kafkaviz.search.fetch import Bounds
from kafkaviz.search.index_search import IndexSearch
from kafkaviz.search.log_view import NO_TIMESTAMP, LogView, SegmentView
from kafkaviz.search.scan import FailedRead, ForwardScan, LogReader
from kafkaviz.versions import DEEP, SearchProfile

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
NAMES = {"latest": LATEST, "earliest": EARLIEST, "max": MAX_TIMESTAMP}
SPECIAL_TIMESTAMPS = {
    MAX_TIMESTAMP: versions.MAX_TIMESTAMP_QUERY,
    EARLIEST_LOCAL: versions.EARLIEST_LOCAL_QUERY,
    LATEST_TIERED: versions.LATEST_TIERED_QUERY,
    EARLIEST_PENDING_UPLOAD: versions.EARLIEST_PENDING_QUERY,
}


def name_of(timestamp_ms: int | None) -> str:
    return next((name for name, value in NAMES.items() if value == timestamp_ms), "")


@dataclass(frozen=True)
class OffsetAndTimestamp:
    """The offset and timestamp that a client gets as the answer."""

    offset: int
    timestamp_ms: int  # -1 for the log's start and end
    leader_epoch: int | None = None  # the batch's leader epoch, or None if no batch was read


@dataclass(frozen=True, kw_only=True)
class TimeSearch:
    timestamp_ms: int
    segment_index: int | None = None  # the index of the searched segment in the log, or None
    # the search in the time index, then the one in the offset index
    searches: tuple[IndexSearch, ...] = ()
    scan: ForwardScan | None = None  # the scan of the .log, or None if no batch was read
    answer: OffsetAndTimestamp | None = None
    is_hidden: bool = False  # whether the record found is not visible at this isolation level

    @property
    def fault(self) -> FailedRead | None:
        return self.scan.fault if self.scan else None


def list_offset(
    log: LogView, timestamp_ms: int, profile: SearchProfile, bounds: Bounds
) -> TimeSearch:
    """Searches for the offset of a timestamp in ms, or of a special value such as EARLIEST."""
    _refuse_unknown(timestamp_ms, profile)
    if timestamp_ms >= 0 or timestamp_ms == MAX_TIMESTAMP:
        if timestamp_ms >= 0:
            search = _search_timestamp(log, timestamp_ms, profile, bounds)
        else:
            search = _largest(log, profile)
        if search.answer is None or search.answer.offset < bounds.limit_offset:
            return search
        return replace(search, answer=None, is_hidden=True)  # as in fetchOffsetForTimestamp
    offset = _known_offset(log, timestamp_ms, bounds)
    answer = None if offset is None else OffsetAndTimestamp(offset, NO_TIMESTAMP)
    return TimeSearch(timestamp_ms=timestamp_ms, answer=answer)


def _known_offset(log: LogView, timestamp_ms: int, bounds: Bounds) -> int | None:
    """Returns the offset that LATEST or another special value asks for. None: no such offset."""
    start = bounds.start_offset
    tiered = log.tiered
    if timestamp_ms == LATEST:
        return bounds.limit_offset
    if timestamp_ms == EARLIEST_LOCAL and tiered:
        if tiered.local_log_start is not None:
            return max(tiered.local_log_start, start)
        return _pending_offset(tiered, start)
    if timestamp_ms == LATEST_TIERED:
        return tiered.latest_tiered if tiered else None
    if timestamp_ms == EARLIEST_PENDING_UPLOAD:
        return _pending_offset(tiered, start) if tiered else None
    return start


def _pending_offset(tiered: TieredOffsets, start_offset: int) -> int:
    copied_end = 0 if tiered.latest_tiered is None else tiered.latest_tiered + 1
    return max(copied_end, start_offset)


def first_segment_reaching(log: LogView, timestamp_ms: int) -> int | None:
    """Returns the index of the first segment with a time at or after `timestamp_ms`, or None."""
    for place, segment in enumerate(log.segments):
        if segment.largest_timestamp_ms >= timestamp_ms:
            return place
    return None


def latest_segment(log: LogView) -> int:
    """Returns the index of the segment whose last time entry has the largest timestamp.

    The result is an index into `log.segments`. If several segments qualify, returns the first one.
    """
    return max(range(len(log.segments)), key=lambda place: log.segments[place].max_timestamp[0])


def _search_timestamp(
    log: LogView, timestamp_ms: int, profile: SearchProfile, bounds: Bounds
) -> TimeSearch:
    place = first_segment_reaching(log, timestamp_ms)
    if place is None:
        return TimeSearch(timestamp_ms=timestamp_ms)
    searches, batch_scan = find_in_segment(
        log.segments[place], timestamp_ms, profile, bounds.start_offset
    )
    return TimeSearch(
        timestamp_ms=timestamp_ms,
        segment_index=place,
        searches=searches,
        scan=batch_scan,
        answer=_answer(batch_scan),
    )


def find_in_segment(
    segment: SegmentView, timestamp_ms: int, profile: SearchProfile, start_offset: int
) -> tuple[tuple[IndexSearch, ...], ForwardScan]:
    """Finds the first record in a segment at or after a time (LogSegment.findOffsetByTimestamp).

    Records below `start_offset` are skipped.
    """
    time_search = index_search.find_time(segment, timestamp_ms, profile)
    offset_search = index_search.find_offset(
        segment, max(index_search.time_entry_of(time_search, segment)[1], start_offset), profile
    )
    position = index_search.position_of(offset_search)

    def search(log: LogReader) -> ForwardScan:
        is_streamed = profile.streams_times
        return scan.find_timestamp(
            log, segment.base_offset, timestamp_ms, position, start_offset, is_streamed=is_streamed
        )

    return (time_search, offset_search), scan.run_search(segment, search)


def _largest(log: LogView, profile: SearchProfile) -> TimeSearch:
    """Searches for the record with the largest timestamp (MAX_TIMESTAMP, KIP-734)."""
    place = latest_segment(log)
    segment = log.segments[place]
    largest_ms, offset = segment.max_timestamp
    if profile.max_timestamp != DEEP:
        answer = OffsetAndTimestamp(offset, largest_ms) if largest_ms >= 0 else None
        return TimeSearch(timestamp_ms=MAX_TIMESTAMP, segment_index=place, answer=answer)
    search = index_search.find_offset(segment, offset, profile)
    position = index_search.position_of(search)
    batch_scan = scan.run_search(
        segment,
        lambda log: scan.find_largest_timestamp(log, segment.base_offset, largest_ms, position),
    )
    return TimeSearch(
        timestamp_ms=MAX_TIMESTAMP,
        segment_index=place,
        searches=(search,),
        scan=batch_scan,
        answer=_answer(batch_scan),
    )


def _answer(batch_scan: ForwardScan) -> OffsetAndTimestamp | None:
    batch = batch_scan.batch
    if batch is None or batch_scan.offset is None or batch_scan.timestamp_ms is None:
        return None
    epoch = batch.leader_epoch if batch.leader_epoch >= 0 else None
    return OffsetAndTimestamp(batch_scan.offset, batch_scan.timestamp_ms, epoch)


def _refuse_unknown(timestamp_ms: int, profile: SearchProfile) -> None:
    if timestamp_ms < EARLIEST_PENDING_UPLOAD:
        raise KafkavizError(message("lookup_request.no_timestamp", timestamp=timestamp_ms))
    behaviour = SPECIAL_TIMESTAMPS.get(
        timestamp_ms, versions.TIME_INDEX if timestamp_ms >= 0 else None
    )
    if behaviour and not behaviour.applies_to(profile.release):
        since = ".".join(map(str, behaviour.first_release))
        version = profile.version
        if timestamp_ms >= 0:
            what = message("lookup_request.no_time_index", since=since, version=version)
            raise KafkavizError(what)
        target: Text = message("lookup_request.timestamp", timestamp=timestamp_ms)
        if name := name_of(timestamp_ms):
            target = f'"{name}"'
        what = message("lookup_request.no_answer", target=target, since=since, version=version)
        raise KafkavizError(what)
