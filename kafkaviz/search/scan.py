"""Forward through the batches of a .log from a position: to an offset, or to a timestamp; with what
each header decides.

FileRecords of Kafka 1.1 to 4.3.1. Three batches at 0, 324 and 700 hold the offsets 0 to 9, 10 to 24
and 25 to 30; target 12:

    last_offset, up to 4.0   (0, 17) (0, 61)  9 < 12   (324, 17) (324, 61)  24 >= 12: found
    base_offset, from 4.1    (0, 17)  0 < 12   (324, 17)  10 < 12   (700, 17)  25 > 12: the one
    before, if (324, 61)  24 >= 12
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from kafkaviz.search import index
from kafkaviz.search.batches import Batch, FileBatch, LogRead, LogReader
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.profile import LAST_OFFSET, SearchProfile


class HeaderOutcome(StrEnum):
    """What follows from a batch's header."""

    BASE_BELOW = "base_below"  # it starts below the target and may hold it
    BASE_EQUAL = "base_equal"
    BASE_ABOVE = "base_above"  # the first that can be, and none is before it
    BASE_ABOVE_BACK = "base_above_back"  # the one before it is asked how far it reaches
    REACHES = "reaches"  # that one holds the target
    REACHES_NOT = "reaches_not"
    LAST_BELOW = "last_below"
    LAST_FOUND = "last_found"
    TIME_EARLY = "time_early"
    TIME_HIDDEN = "time_hidden"  # late enough, but by records in front of the log's start
    TIME_FOUND = "time_found"
    LARGEST_NOT = "largest_not"
    LARGEST_FOUND = "largest_found"


class HeaderDecision(NamedTuple):
    """A header, or more of its batch, and what it decides.

    value: what was compared, its base offset, last offset or largest timestamp. size_bytes: of the
    batch. reads: how many of the scan's were made up to here.
    """

    position: int
    outcome: HeaderOutcome
    value: int
    size_bytes: int
    reads: int


@dataclass(frozen=True)
class ForwardScan:
    """A scan of one .log and what it found.

    segment: the base offset of the .log. target: an offset or a timestamp. reads: of Kafka, in
    order; headers: what they decide. batch: None where the end came first. offset, timestamp_ms: of
    the record found, where the scan was for a timestamp; else None.
    """

    segment: int
    from_position: int
    target: int
    reads: tuple[LogRead, ...]
    headers: tuple[HeaderDecision, ...]
    batch: Batch | Any  # Any for None: whoever found an offset has its batch and time too
    offset: int | None = None
    timestamp_ms: int | Any = None


def translate(
    segment: SegmentView, offset: int, profile: SearchProfile
) -> tuple[IndexSearch, ForwardScan]:
    """The batch of a segment that holds an offset, or the next one behind a gap, by its index and
    the batches from there on (LogSegment.translateOffset); CorruptFile where a length cannot be.
    """
    search = index.find_offset(segment, offset, profile)
    start = index.position_of(search, segment)
    return search, segment.run_search(
        lambda log: find_offset(log, segment.base_offset, offset, start, profile.scan)
    )


def find_offset(
    log: LogReader, segment: int, target: int, position: int, comparison: str
) -> ForwardScan:
    """The first batch that ends at the target or behind it, from a position on
    (searchForOffsetFromPosition).

    comparison: "last_offset" or "base_offset"; they come to the same batch by other reads.
    """
    scan = _Scan(log, segment, target, position)
    return scan.result(
        scan.by_last_offset() if comparison == LAST_OFFSET else scan.by_base_offset()
    )


def find_timestamp(
    log: LogReader, segment: int, target_ms: int, position: int, start_offset: int
) -> ForwardScan:
    """The first record of that time or later, at start_offset or behind it (searchForTimestamp)."""
    scan = _Scan(log, segment, target_ms, position)
    for batch in log.batches(position):
        newest_ms = batch.max_timestamp_ms
        if newest_ms < target_ms:
            scan.decide(batch, HeaderOutcome.TIME_EARLY, newest_ms)
            continue
        for record in batch.heads():
            if record.timestamp_ms >= target_ms and record.offset >= start_offset:
                scan.decide(batch, HeaderOutcome.TIME_FOUND, newest_ms)
                return scan.result(batch, record.offset, record.timestamp_ms)
        scan.decide(batch, HeaderOutcome.TIME_HIDDEN, newest_ms)
    return scan.result(None)


def find_largest_timestamp(
    log: LogReader, segment: int, largest_ms: int, position: int
) -> ForwardScan:
    """The first record that has the largest timestamp of the segment, in the first batch that has
    it (from 3.8 on).
    """
    scan = _Scan(log, segment, largest_ms, position)
    for batch in log.batches(position):
        newest_ms = batch.max_timestamp_ms
        if newest_ms == largest_ms:
            offset = next(
                (record.offset for record in batch.heads() if record.timestamp_ms == largest_ms),
                None,
            )
            scan.decide(batch, HeaderOutcome.LARGEST_FOUND, newest_ms)
            return scan.result(batch, offset, None if offset is None else largest_ms)
        scan.decide(batch, HeaderOutcome.LARGEST_NOT, newest_ms)
    return scan.result(None)


class _Scan:
    """A scan while it goes on."""

    def __init__(self, log: LogReader, segment: int, target: int, position: int) -> None:
        self._log, self._segment, self._target, self._position = log, segment, target, position
        self._headers: list[HeaderDecision] = []

    def decide(self, batch: FileBatch, outcome: HeaderOutcome, value: int) -> None:
        self._headers.append(
            HeaderDecision(batch.position, outcome, value, batch.size_bytes, len(self._log.reads))
        )

    def result(
        self, batch: FileBatch | None, offset: int | None = None, timestamp_ms: int | None = None
    ) -> ForwardScan:
        return ForwardScan(
            self._segment,
            self._position,
            self._target,
            tuple(self._log.reads),
            tuple(self._headers),
            batch.to_batch() if batch else None,
            offset,
            timestamp_ms,
        )

    def by_last_offset(self) -> FileBatch | None:
        for batch in self._log.batches(self._position):
            last_offset = batch.last_offset
            if last_offset >= self._target:
                self.decide(batch, HeaderOutcome.LAST_FOUND, last_offset)
                return batch
            self.decide(batch, HeaderOutcome.LAST_BELOW, last_offset)
        return None

    def by_base_offset(self) -> FileBatch | None:
        previous = None
        for batch in self._log.batches(self._position):
            base_offset = batch.base_offset
            if base_offset == self._target:
                self.decide(batch, HeaderOutcome.BASE_EQUAL, base_offset)
                return batch
            if base_offset > self._target:
                outcome = HeaderOutcome.BASE_ABOVE_BACK if previous else HeaderOutcome.BASE_ABOVE
                self.decide(batch, outcome, base_offset)
                return previous if previous and self._reaches(previous) else batch
            self.decide(batch, HeaderOutcome.BASE_BELOW, base_offset)
            previous = batch
        return previous if previous and self._reaches(previous) else None

    def _reaches(self, batch: FileBatch) -> bool:
        last_offset = batch.last_offset
        outcome = (
            HeaderOutcome.REACHES if last_offset >= self._target else HeaderOutcome.REACHES_NOT
        )
        self.decide(batch, outcome, last_offset)
        return outcome is HeaderOutcome.REACHES
