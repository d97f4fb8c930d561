"""The consumer's side of a lookup by offset: it fetches until it gets a record or an error.

For example, offset 7 is looked up, but compaction has removed it. The log has these batches:

    offsets 0 to 9, records 1 and 4    the first fetch: no record at or after 7
    offset 10, a transaction marker    the second fetch: no record for a consumer
    offsets 11 to 15                   the third fetch: record 11

The consumer verifies the checksum of each batch. With isolation.level=read_committed it also skips
the batches of aborted transactions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import batch_records, legacy_messages
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.java import CORRUPT_RECORD
from kafkaviz.messages import message, verbatim
from kafkaviz.search.fetch import READ_COMMITTED, Bounds, Fetch, aborted_transactions, fetch_offset
from kafkaviz.search.log_view import LogView
from kafkaviz.search.scan import Batch, FailedRead, FileBatch, LogReader, failed_read, log_path
from kafkaviz.versions import SearchProfile


@dataclass(frozen=True)
class ConsumerRecord:
    """A record, and where its batch is in the log."""

    offset: int
    timestamp_ms: int
    segment_base_offset: int
    batch_position: int


class SkipReason(Enum):
    """Why a batch has no record for the consumer."""

    MARKER = auto()  # a transaction marker
    ABORTED = auto()
    EMPTY = auto()  # compaction left no record at or after the offset


class CorruptRecord(KafkavizError):
    """A consumer's error for a wrong checksum (CompletedFetch.maybeEnsureValid).

    Older clients throw a KafkaException.
    """

    class_name = CORRUPT_RECORD


FetchResult = ConsumerRecord | CorruptRecord | FailedRead | SkipReason | None


def fetches(
    log: LogView, offset: int, profile: SearchProfile, bounds: Bounds, isolation: str
) -> Iterator[tuple[Fetch, FetchResult]]:
    """Yields (fetch, result), one batch per fetch, until the consumer gets a record or an error.

    The last result is the record, the exception, or None if no batch is left. Raises
    OffsetOutOfRange if the offset is outside the log.
    """
    while True:
        fetch = fetch_offset(log, offset, profile, bounds, max_bytes=1)
        batch = fetch.batch
        result: FetchResult = fetch.fault
        if batch and fetch.size_bytes:
            result = _first_record(
                log, fetch, batch, profile=profile, bounds=bounds, isolation=isolation
            )
        yield fetch, result
        if batch is None or not isinstance(result, SkipReason) or batch.last_offset < offset:
            return
        offset = batch.last_offset + 1


def _first_record(
    log: LogView,
    fetch: Fetch,
    batch: Batch,
    *,
    profile: SearchProfile,
    bounds: Bounds,
    isolation: str,
) -> ConsumerRecord | CorruptRecord | FailedRead | SkipReason:
    """Returns the first record that the consumer gets from a batch, or why it gets none."""
    segment = log.segments[log.place_of(fetch.segment_base_offset)]
    aborted = None
    try:
        if isolation == READ_COMMITTED:
            aborted = aborted_transactions(log, fetch, profile, bounds.end_offset).entries
        with segment.log.open_reader() as read:
            file_batch = next(LogReader(read, segment.log.size_bytes).batches(fetch.position), None)
            if file_batch is None:
                raise CorruptBytes(fetch.position, message("corrupt.batch_gone"))
            refusal = _wrong_checksum(file_batch.content, batch, fetch.offset)
            if refusal:
                what, offset, cause = refusal
                place = f"partition {log.name} at offset {offset}"
                return CorruptRecord(verbatim(f"{what} for {place} is invalid, cause: {cause}"))
            if batch.is_control:
                return SkipReason.MARKER
            if aborted is not None and batch.is_transactional and _is_aborted(batch, aborted):
                return SkipReason.ABORTED
            return _record(file_batch, fetch)
    except FailedRead as fault:
        return fault
    except CorruptBytes as fault:
        return failed_read(log_path(segment), fault)


def _wrong_checksum(data: bytes, batch: Batch, offset: int) -> tuple[str, int, str] | None:
    """Checks the checksum of a batch; for magic 0 and 1, of the first message from `offset` on.

    Returns None if the checksum is right. Otherwise returns ("Record batch" or "Record", offset of
    the batch or message, reason).
    """
    what = "Record batch"
    first_offset = batch.base_offset
    checked = memoryview(data)
    if batch.magic < MAGIC_2:
        first_message = _message_from(data, offset)
        if first_message is None:
            return None
        what = "Record"
        first_offset, checked = first_message
    try:
        batch_records.ensure_valid(checked)
    except CorruptBytes as fault:
        return what, first_offset, str(fault.what)
    return None


def _message_from(data: bytes, offset: int) -> tuple[int, memoryview] | None:
    """Returns (offset, bytes) of the first message at or after `offset`. For magic 0 and 1."""
    messages = legacy_messages.read(data, reads_parts=False)
    places = np.flatnonzero(messages.rows["offset"] >= offset)
    if not len(places):
        return None
    row = messages.rows[places[0]]
    start = int(row["position"])
    message_bytes = memoryview(messages.data)[start : start + int(row["size_bytes"])]
    return int(row["offset"]), message_bytes


def _record(batch: FileBatch, fetch: Fetch) -> ConsumerRecord | SkipReason:
    """Returns the first record in a batch at or after the fetched offset.

    Raises CorruptBytes if a record before it, or the record itself, cannot be read.
    """
    for head in batch.heads(is_streamed=True):
        if head.offset >= fetch.offset:
            if batch.is_legacy:
                _read_parts(batch, fetch.offset)
            return ConsumerRecord(
                head.offset, head.timestamp_ms, fetch.segment_base_offset, fetch.position
            )
    return SkipReason.EMPTY


def _read_parts(batch: FileBatch, offset: int) -> None:
    first_message = _message_from(batch.content, offset)
    fault = legacy_messages.read(first_message[1]).fault if first_message else None
    if fault:
        raise fault.after(batch.position)


def _is_aborted(batch: Batch, aborted: np.ndarray) -> bool:
    is_own = aborted["producer_id"] == batch.producer_id
    return bool((aborted["first_offset"][is_own] <= batch.last_offset).any())
