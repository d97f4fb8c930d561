"""From an offset or a timestamp to a record, as Kafka goes, with every step kept.

segment choice    which .log, and why not the others
searches          in its time index and its offset index, slot by slot
scan              forward through the batches from the byte that the index gave
record, answer    what a client is told
"""

from dataclasses import dataclass
from typing import cast

from kafkaviz.errors import KafkavizError
from kafkaviz.search import by_time, choice
from kafkaviz.search.bounds import READ_UNCOMMITTED, Bounds, bounds_of
from kafkaviz.search.by_time import Answer
from kafkaviz.search.choice import Choice
from kafkaviz.search.consumer import CorruptRecord, Record, fetches
from kafkaviz.search.fetch import Fetch, OffsetOutOfRange
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import Scan
from kafkaviz.search.served import ServedLog


@dataclass(frozen=True)
class Lookup:
    """A lookup in a partition and its whole path.

    offset, timestamp_ms: what was asked for, the other is None; timestamp_ms below 0 is one of
    by_time's special values. choices: every segment, and why it was searched or not. searches: for
    a timestamp the time index first, then the offset index; for an offset one in each segment that
    was tried. scans: of those segments. record: for an offset the first one that a consumer gets
    from there, which may be batches behind the first fetch; fetches are all it took. answer: what
    the client is told, None for nothing. error: the exception that the broker answers with, or a
    consumer throws at the last fetch; None for none.
    """

    partition: str
    profile: SearchProfile
    bounds: Bounds
    choices: tuple[Choice, ...]
    searches: tuple[IndexSearch, ...]
    scans: tuple[Scan, ...]
    record: Record | None
    answer: Answer | None
    offset: int | None = None
    timestamp_ms: int | None = None
    fetches: tuple[Fetch, ...] = ()
    error: OffsetOutOfRange | CorruptRecord | None = None

    @property
    def scan(self) -> Scan | None:
        """The last scan, the one that found the batch if any did."""
        return self.scans[-1] if self.scans else None


def by_offset(
    log: ServedLog,
    offset: int,
    of: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    bounds: Bounds | None = None,
) -> Lookup:
    """A fetch, and what a consumer gets of it; bounds: where they are known already.

    CorruptFile where the way leads into damage.
    """
    bounds = bounds or bounds_of(log, of, isolation)
    try:
        done = list(fetches(log, offset, of, bounds, isolation))
    except OffsetOutOfRange as error:
        return Lookup(
            log.name,
            of,
            bounds,
            choice.of_none(log, offset),
            (),
            (),
            None,
            None,
            offset,
            error=error,
        )
    first, last = done[0][0], done[-1][1]
    record, wrong = (None, last) if isinstance(last, CorruptRecord) else (last, None)
    answer = Answer(record.offset, record.timestamp_ms) if record else None
    choices = choice.of_offset(log, offset, first)
    return Lookup(
        log.name,
        of,
        bounds,
        choices,
        first.searches,
        first.scans,
        record,
        answer,
        offset,
        fetches=tuple(found for found, _ in done),
        error=wrong,
    )


def by_timestamp(
    log: ServedLog,
    timestamp_ms: int,
    of: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    bounds: Bounds | None = None,
) -> Lookup:
    """The offset that goes with a timestamp; a transaction marker may be the answer, as in
    Kafka.
    """
    bounds = bounds or bounds_of(log, of, isolation)
    found = by_time.list_offset(log, timestamp_ms, of, bounds)
    record = None
    if found.answer and found.scan:
        record = Record(
            found.answer.offset,
            found.answer.timestamp_ms,
            found.scan.segment,
            found.scan.batch.position,
        )
    scans = (found.scan,) if found.scan else ()
    choices = choice.of_time(log, found)
    return Lookup(
        log.name,
        of,
        bounds,
        choices,
        found.searches,
        scans,
        record,
        found.answer,
        timestamp_ms=timestamp_ms,
    )


def lookup(
    log: ServedLog,
    of: SearchProfile,
    offset: int | None = None,
    timestamp_ms: int | str | None = None,
    isolation: str = READ_UNCOMMITTED,
) -> Lookup:
    """One of the two; timestamp_ms: also "earliest", "latest" or "max"."""
    if (offset is None) == (timestamp_ms is None):
        raise KafkavizError("give an offset or a timestamp, and not both")
    if offset is not None:
        return by_offset(log, offset, of, isolation)
    asked_ms = cast("int", by_time.NAMES.get(timestamp_ms, timestamp_ms))
    return by_timestamp(log, asked_ms, of, isolation)
