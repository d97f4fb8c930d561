"""What a consumer makes of fetches: the first record that it gets from an offset on.

A fetch brings whole batches. Control records, records below the offset, and to read_committed those
of aborted transactions are passed over; a batch that leaves none, such as one that compaction
emptied, is followed by another fetch behind its last offset. A broker hands out batches unread; the
consumer looks at their checksums first (check.crcs, which is on unless somebody says no).
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import batch_records
from kafkaviz.format.batch import CORRUPT_RECORD, MAGIC_2
from kafkaviz.messages import message, verbatim
from kafkaviz.search import fetch as fetching
from kafkaviz.search.batches import Batch, FileBatch, LogReader
from kafkaviz.search.bounds import READ_COMMITTED, Bounds
from kafkaviz.search.fetch import Fetch
from kafkaviz.search.log_view import LogView
from kafkaviz.search.profile import SearchProfile


@dataclass(frozen=True)
class ConsumerRecord:
    """A record, and where: the base offset of its segment, the byte of the .log where its batch
    starts.
    """

    offset: int
    timestamp_ms: int
    segment: int
    batch_position: int


class PassedOver(Enum):
    """Why a batch has no record for the consumer."""

    MARKER = auto()  # the end of a transaction
    ABORTED = auto()
    EMPTY = auto()  # compaction left none from the offset on


class CorruptRecord(KafkavizError):
    """What a consumer throws for a batch whose checksum is wrong (CompletedFetch.maybeEnsureValid;
    in older clients a KafkaException).
    """

    class_name = CORRUPT_RECORD


def fetches(
    log: LogView, offset: int, profile: SearchProfile, bounds: Bounds, isolation: str
) -> Iterator[tuple[Fetch, ConsumerRecord | CorruptRecord | PassedOver | None]]:
    """Fetch after fetch, each of one batch, until one has a record for the consumer, or a wrong
    checksum, or nothing is left.

    OffsetOutOfRange.
    """
    while True:
        fetch = fetching.fetch(log, offset, profile, bounds, max_bytes=1)
        result = _first_record(log, fetch, profile, bounds, isolation) if fetch.size_bytes else None
        yield fetch, result
        if not isinstance(result, PassedOver) or fetch.batch.last_offset < offset:
            return
        offset = fetch.batch.last_offset + 1


def _first_record(
    log: LogView, fetch: Fetch, profile: SearchProfile, bounds: Bounds, isolation: str
) -> ConsumerRecord | CorruptRecord | PassedOver:
    """The first record of a fetch's batch that the consumer is given, what it throws, or why it
    goes on.
    """
    segment = next(
        candidate for candidate in log.segments if candidate.base_offset == fetch.segment
    )
    refusal = segment.run_search(
        lambda reader: _wrong_checksum(_batch(reader, fetch).content, fetch)
    )
    if refusal:
        what, offset, cause = refusal
        return CorruptRecord(
            verbatim(
                f"{what} for partition {log.name} at offset {offset} is invalid, cause: {cause}"
            )
        )
    if fetch.batch.is_control:
        return PassedOver.MARKER
    if isolation == READ_COMMITTED and _is_aborted(log, fetch, profile, bounds):
        return PassedOver.ABORTED
    return segment.run_search(lambda reader: _record(_batch(reader, fetch).heads(), fetch))


def _batch(reader: LogReader, fetch: Fetch) -> FileBatch:
    """The batch that a fetch found, read for the consumer."""
    batch = next(reader.batches(fetch.position), None)
    if batch is None:
        raise CorruptBytes(fetch.position, message("corrupt.batch_gone"))
    return batch


def _wrong_checksum(data: bytes, fetch: Fetch) -> tuple[str, int, str] | None:
    """(what, its offset, why) of a batch that the consumer refuses; below magic 2 only the message
    that it would be given is checked.
    """
    batch = fetch.batch
    first = None
    if batch.magic < MAGIC_2:
        with suppress(CorruptBytes):  # told by the reader of the records
            first = next(
                (record for record in batch_records.iterate(data) if record.offset >= fetch.offset),
                None,
            )
        if first is None or first.is_valid:
            return None
    try:
        batch_records.ensure_valid(data)
    except CorruptBytes as fault:
        return (
            ("Record", first.offset, str(fault.what))
            if first
            else ("Record batch", batch.base_offset, str(fault.what))
        )
    # within a wrapper that is whole
    return (
        ("Record", first.offset, f"Record is corrupt (stored crc = {first.crc})") if first else None
    )


def _record(heads: Iterator, fetch: Fetch) -> ConsumerRecord | PassedOver:
    for head in heads:
        if head.offset >= fetch.offset:
            return ConsumerRecord(head.offset, head.timestamp_ms, fetch.segment, fetch.position)
    return PassedOver.EMPTY


def _is_aborted(log: LogView, fetch: Fetch, profile: SearchProfile, bounds: Bounds) -> bool:
    """Whether the batch belongs to a transaction that the fetch names as aborted, and that began
    before the batch ends.
    """
    batch: Batch = fetch.batch
    if not batch.is_transactional:
        return False
    aborted, _ = fetching.aborted_transactions(log, fetch, profile, bounds.end_offset)
    return bool(
        (
            (aborted["producer_id"] == batch.producer_id)
            & (aborted["first_offset"] <= batch.last_offset)
        ).any()
    )
