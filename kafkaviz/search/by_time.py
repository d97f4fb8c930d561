"""List-offsets: the offset that goes with a timestamp, or with the log's start, its end or its
largest timestamp.

UnifiedLog.fetchOffsetByTimestamp of Kafka 1.1 to 4.3.1. Segments 0, 100 and 200 with the largest
timestamps 50, 90 and 80; target 60: the first segment whose largest timestamp is not below it is
100. Its time index gives an offset that no record of that time can lie before, its offset index the
byte for that offset, and from there on the first record of time 60 or later is the answer. It is
the first one in the order of offsets: neither the nearest in time, nor does a later segment get its
turn when this one has none.
"""

from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.search import index, scan
from kafkaviz.search.bounds import Bounds
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.profile import DEEP, SearchProfile
from kafkaviz.search.scan import Scan
from kafkaviz.search.served import NO_TIMESTAMP, ServedLog, ServedSegment

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = (
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
)
NAMES = {"latest": LATEST, "earliest": EARLIEST, "max": MAX_TIMESTAMP}
ASKED = {
    MAX_TIMESTAMP: versions.MAX_TIMESTAMP_ASKED,
    EARLIEST_LOCAL: versions.EARLIEST_LOCAL_ASKED,
    LATEST_TIERED: versions.LATEST_TIERED_ASKED,
    EARLIEST_PENDING_UPLOAD: versions.EARLIEST_PENDING_ASKED,
}


@dataclass(frozen=True)
class Answer:
    """What a client gets: timestamp_ms is -1 for the log's start and end. leader_epoch: of the
    batch, None where none was read.
    """

    offset: int
    timestamp_ms: int
    leader_epoch: int | None = None


@dataclass(frozen=True)
class TimeSearch:
    """A search for a timestamp.

    segment: which one was searched, by its place in the log, None for none. searches: in the time
    index, then in the offset index. scan: None where no batch was read. hidden: what was found lies
    where the isolation lets nothing be seen.
    """

    timestamp_ms: int
    segment: int | None
    searches: tuple[IndexSearch, ...]
    scan: Scan | None
    answer: Answer | None
    hidden: bool = False


def list_offset(log: ServedLog, timestamp_ms: int, of: SearchProfile, bounds: Bounds) -> TimeSearch:
    """The answer to a timestamp in ms or one of the special values, below 0; KafkavizError for one
    that the release does not know.
    """
    _refuse_unknown(timestamp_ms, of)
    if timestamp_ms >= 0:
        return _seen(_ordinary(log, timestamp_ms, of, bounds), bounds)
    if timestamp_ms == MAX_TIMESTAMP:
        return _seen(_largest(log, of), bounds)
    if timestamp_ms in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return TimeSearch(timestamp_ms, None, (), None, None)  # nothing is tiered
    offset = bounds.limit_offset if timestamp_ms == LATEST else bounds.start_offset
    return TimeSearch(timestamp_ms, None, (), None, Answer(offset, NO_TIMESTAMP))


def first_reaching(log: ServedLog, timestamp_ms: int) -> int | None:
    """Which segment is the first whose largest timestamp is not below this one."""
    return next(
        (
            place
            for place, one in enumerate(log.segments)
            if one.largest_timestamp_ms >= timestamp_ms
        ),
        None,
    )


def latest_segment(log: ServedLog) -> int:
    """Which segment has the largest timestamp that is remembered, the first of several."""
    return max(range(len(log.segments)), key=lambda place: log.segments[place].max_timestamp[0])


def _ordinary(log: ServedLog, timestamp_ms: int, of: SearchProfile, bounds: Bounds) -> TimeSearch:
    place = first_reaching(log, timestamp_ms)
    if place is None:
        return TimeSearch(timestamp_ms, None, (), None, None)
    searches, scanned = find_in_segment(log.segments[place], timestamp_ms, of, bounds.start_offset)
    return TimeSearch(timestamp_ms, place, searches, scanned, _answer(scanned))


def find_in_segment(
    segment: ServedSegment, timestamp_ms: int, of: SearchProfile, start_offset: int
) -> tuple[tuple[IndexSearch, ...], Scan]:
    """The first record of that time or later in one segment, at start_offset or behind
    (LogSegment.findOffsetByTimestamp).
    """
    by_time = index.find_time(segment, timestamp_ms, of)
    by_offset = index.find_offset(
        segment, max(index.time_entry_of(by_time, segment)[1], start_offset), of
    )
    position, base_offset = index.position_of(by_offset, segment), segment.base_offset
    scanned = segment.reading(
        lambda log: scan.to_timestamp(log, base_offset, timestamp_ms, position, start_offset)
    )
    return (by_time, by_offset), scanned


def _largest(log: ServedLog, of: SearchProfile) -> TimeSearch:
    """MAX_TIMESTAMP (KIP-734)."""
    place = latest_segment(log)
    segment = log.segments[place]
    largest_ms, offset = segment.max_timestamp
    if of.max_timestamp != DEEP:
        answer = Answer(offset, largest_ms) if largest_ms >= 0 else None
        return TimeSearch(MAX_TIMESTAMP, place, (), None, answer)
    searched = index.find_offset(segment, offset, of)
    position = index.position_of(searched, segment)
    scanned = segment.reading(
        lambda log: scan.to_largest_timestamp(log, segment.base_offset, largest_ms, position)
    )
    return TimeSearch(MAX_TIMESTAMP, place, (searched,), scanned, _answer(scanned))


def _answer(scanned: Scan) -> Answer | None:
    if scanned.offset is None:
        return None
    epoch = scanned.batch.leader_epoch
    return Answer(scanned.offset, scanned.timestamp_ms, epoch if epoch >= 0 else None)


def _seen(found: TimeSearch, bounds: Bounds) -> TimeSearch:
    """Partition.fetchOffsetForTimestamp: an answer at the limit or behind it is none."""
    if found.answer is None or found.answer.offset < bounds.limit_offset:
        return found
    return TimeSearch(
        found.timestamp_ms, found.segment, found.searches, found.scan, None, hidden=True
    )


def _refuse_unknown(timestamp_ms: int, of: SearchProfile) -> None:
    if timestamp_ms < EARLIEST_PENDING_UPLOAD:
        raise KafkavizError(f"{timestamp_ms} is no timestamp and none of Kafka's special values")
    way = ASKED.get(timestamp_ms, versions.TIME_INDEX if timestamp_ms >= 0 else None)
    if way and not way.of(of.release):
        named = next(
            (f'"{name}"' for name, value in NAMES.items() if value == timestamp_ms),
            f"timestamp {timestamp_ms}",
        )
        what = "a time index" if timestamp_ms >= 0 else f"an answer to {named}"
        raise KafkavizError(
            f"Kafka has {what} from {'.'.join(map(str, way.first))} on; this was to be read as "
            f"{of.version}"
        )
