"""What a consumer makes of fetches: the first record that it gets from an offset on.

A fetch brings whole batches. Control records, records below the offset, and to read_committed those of aborted transactions are
passed over; a batch that leaves none, such as one that compaction emptied, is followed by another fetch behind its last offset.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kafkaviz.search import fetch as fetching
from kafkaviz.search.batches import Batch
from kafkaviz.search.bounds import READ_COMMITTED, Bounds
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.served import ServedLog


@dataclass(frozen=True)
class Record:
    """A record, and where: the base offset of its segment, the byte of the .log where its batch starts."""

    offset: int
    timestamp_ms: int
    segment: int
    batch_position: int


def fetches(log: ServedLog, offset: int, of: SearchProfile, bounds: Bounds, isolation: str) -> Iterator[tuple[Fetch, Record | None]]:
    """Fetch after fetch, each of one batch, until one has a record for the consumer or nothing is left. OffsetOutOfRange."""
    while True:
        found = fetching.fetch(log, offset, of, bounds, max_bytes=1)
        record = _first(log, found, of, bounds, isolation) if found.size_bytes else None
        yield found, record
        if record or not found.size_bytes or found.batch.last_offset < offset:
            return
        offset = found.batch.last_offset + 1


def _first(log: ServedLog, found: Fetch, of: SearchProfile, bounds: Bounds, isolation: str) -> Record | None:
    """The first record of a fetch's batch that the consumer is given."""
    if found.batch.is_control or (isolation == READ_COMMITTED and _is_aborted(log, found, of, bounds)):
        return None
    segment = next(one for one in log.segments if one.base_offset == found.segment)
    return segment.reading(lambda reader: _record(next(reader.batches(found.position)).heads(), found))


def _record(heads: Iterator, found: Fetch) -> Record | None:
    for head in heads:
        if head.offset >= found.offset:
            return Record(head.offset, head.timestamp_ms, found.segment, found.position)
    return None


def _is_aborted(log: ServedLog, found: Fetch, of: SearchProfile, bounds: Bounds) -> bool:
    """Whether the batch belongs to a transaction that the fetch names as aborted, and that began before the batch ends."""
    batch: Batch = found.batch
    if not batch.is_transactional:
        return False
    aborted, _ = fetching.aborted_transactions(log, found, of, bounds.end_offset)
    return bool(((aborted["producer_id"] == batch.producer_id) & (aborted["first_offset"] <= batch.last_offset)).any())
