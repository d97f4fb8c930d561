"""What a consumer makes of fetches: the first record that it gets from an offset on.

A fetch brings whole batches. Control records, records below the offset, and to read_committed those
of aborted transactions are passed over; a batch that leaves none, such as one that compaction
emptied, is followed by another fetch behind its last offset. A broker hands out batches unread; the
consumer looks at their checksums first (check.crcs, which is on unless somebody says no).
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.search import fetch as fetching
from kafkaviz.search.batches import Batch, FileBatch, LogReader
from kafkaviz.search.bounds import READ_COMMITTED, Bounds
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.served import ServedLog


@dataclass(frozen=True)
class Record:
    """A record, and where: the base offset of its segment, the byte of the .log where its batch
    starts.
    """

    offset: int
    timestamp_ms: int
    segment: int
    batch_position: int


class CorruptRecord(KafkavizError):
    """What a consumer throws for a batch whose checksum is wrong (CompletedFetch.maybeEnsureValid;
    in older clients a KafkaException).
    """

    class_name = "org.apache.kafka.common.errors.CorruptRecordException"


def fetches(
    log: ServedLog, offset: int, of: SearchProfile, bounds: Bounds, isolation: str
) -> Iterator[tuple[Fetch, Record | CorruptRecord | None]]:
    """Fetch after fetch, each of one batch, until one has a record for the consumer, or a wrong
    checksum, or nothing is left.

    OffsetOutOfRange.
    """
    while True:
        found = fetching.fetch(log, offset, of, bounds, max_bytes=1)
        record = _first(log, found, of, bounds, isolation) if found.size_bytes else None
        yield found, record
        if record or not found.size_bytes or found.batch.last_offset < offset:
            return
        offset = found.batch.last_offset + 1


def _first(
    log: ServedLog, found: Fetch, of: SearchProfile, bounds: Bounds, isolation: str
) -> Record | CorruptRecord | None:
    """The first record of a fetch's batch that the consumer is given, or what it throws."""
    segment = next(one for one in log.segments if one.base_offset == found.segment)
    wrong = segment.reading(lambda reader: _wrong_checksum(_batch(reader, found).whole, found))
    if wrong:
        what, offset, cause = wrong
        return CorruptRecord(
            f"{what} for partition {log.name} at offset {offset} is invalid, cause: {cause}"
        )
    if found.batch.is_control or (
        isolation == READ_COMMITTED and _is_aborted(log, found, of, bounds)
    ):
        return None
    return segment.reading(lambda reader: _record(_batch(reader, found).heads(), found))


def _batch(reader: LogReader, found: Fetch) -> FileBatch:
    """The batch that a fetch found, read for the consumer."""
    batch = next(reader.batches(found.position), None)
    if batch is None:
        raise CorruptBytes(
            found.position, "the batch that was found here is gone: the file has become shorter"
        )
    return batch


def _wrong_checksum(data: bytes, found: Fetch) -> tuple[str, int, str] | None:
    """(what, its offset, why) of a batch that the consumer refuses; below magic 2 only the message
    that it would be given is checked.
    """
    batch = found.batch
    first = None
    if batch.magic < MAGIC_2:
        with suppress(CorruptBytes):  # told by the reader of the records
            first = next(
                (one for one in batch_records.iterate(data) if one.offset >= found.offset), None
            )
        if first is None or first.is_valid:
            return None
    try:
        batch_records.ensure_valid(data)
    except CorruptBytes as fault:
        return (
            ("Record", first.offset, fault.what)
            if first
            else ("Record batch", batch.base_offset, fault.what)
        )
    # within a wrapper that is whole
    return (
        ("Record", first.offset, f"Record is corrupt (stored crc = {first.crc})") if first else None
    )


def _record(heads: Iterator, found: Fetch) -> Record | None:
    for head in heads:
        if head.offset >= found.offset:
            return Record(head.offset, head.timestamp_ms, found.segment, found.position)
    return None


def _is_aborted(log: ServedLog, found: Fetch, of: SearchProfile, bounds: Bounds) -> bool:
    """Whether the batch belongs to a transaction that the fetch names as aborted, and that began
    before the batch ends.
    """
    batch: Batch = found.batch
    if not batch.is_transactional:
        return False
    aborted, _ = fetching.aborted_transactions(log, found, of, bounds.end_offset)
    return bool(
        (
            (aborted["producer_id"] == batch.producer_id)
            & (aborted["first_offset"] <= batch.last_offset)
        ).any()
    )
