"""From an offset or a timestamp to a record, as Kafka goes, with every step.

Its parts:

    segment choice    which .log, and why not the others
    searches          in its time index and its offset index, slot by slot
    scan              forward through the batches from the byte that the index gave
    record, answer    what a client gets
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from itertools import chain
from typing import cast

import numpy as np

from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import batch_records, legacy_messages
from kafkaviz.format.batch import CORRUPT_RECORD, MAGIC_2
from kafkaviz.html_table import html_table
from kafkaviz.messages import Message, message, render, verbatim
from kafkaviz.search import by_time
from kafkaviz.search.by_time import OffsetAndTimestamp, TimeSearch
from kafkaviz.search.fetch import (
    BEGINNINGS,
    ISOLATIONS,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Bounds,
    Fetch,
    OffsetOutOfRange,
    SegmentChoice,
    SegmentReason,
    aborted_transactions,
    explain_fetch,
    explain_no_segment,
    fetch_offset,
    find_bounds,
)
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.log_view import LogView
from kafkaviz.search.scan import (
    Batch,
    FailedRead,
    FileBatch,
    ForwardScan,
    LogReader,
    failed_read,
    log_path,
    run_search,
)
from kafkaviz.versions import SearchProfile


@dataclass(frozen=True)
class ConsumerRecord:
    """A record and its location.

    Attributes:
        segment: the base offset of its segment.
        batch_position: the byte of the .log where its batch starts.
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
    """The error of a consumer for a batch whose checksum is wrong.

    CompletedFetch.maybeEnsureValid; in older clients a KafkaException.
    """

    class_name = CORRUPT_RECORD


FetchResult = ConsumerRecord | CorruptRecord | FailedRead | PassedOver | None


def fetches(
    log: LogView, offset: int, profile: SearchProfile, bounds: Bounds, isolation: str
) -> Iterator[tuple[Fetch, FetchResult]]:
    """Fetch after fetch, each of one batch, until the consumer has a record, or cannot have one.

    The last has a record, or what is thrown, or nothing is left.

    Raises:
        OffsetOutOfRange: the offset is outside the log.
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
        if batch is None or not isinstance(result, PassedOver) or batch.last_offset < offset:
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
) -> ConsumerRecord | CorruptRecord | FailedRead | PassedOver:
    """The first record of a fetch's batch for the consumer, what is thrown, or why it goes on."""
    segment = next(
        candidate for candidate in log.segments if candidate.base_offset == fetch.segment
    )
    aborted = None
    try:
        if isolation == READ_COMMITTED:
            aborted, _ = aborted_transactions(log, fetch, profile, bounds.end_offset)
        refusal = run_search(
            segment,
            lambda reader: _wrong_checksum(_batch(reader, fetch).content, batch, fetch.offset),
        )
        if refusal:
            what, offset, cause = refusal
            return CorruptRecord(
                verbatim(
                    f"{what} for partition {log.name} at offset {offset} is invalid, cause: {cause}"
                )
            )
        if batch.is_control:
            return PassedOver.MARKER
        if aborted is not None and batch.is_transactional and _is_aborted(batch, aborted):
            return PassedOver.ABORTED
        with segment.log.open_reader() as read:
            reader = LogReader(read, segment.log.size_bytes)
            return _record(_batch(reader, fetch), fetch)
    except FailedRead as fault:
        return fault
    except CorruptBytes as fault:
        return failed_read(log_path(segment), fault)


def _batch(reader: LogReader, fetch: Fetch) -> FileBatch:
    """The batch that a fetch found, read for the consumer."""
    batch = next(reader.batches(fetch.position), None)
    if batch is None:
        raise CorruptBytes(fetch.position, message("corrupt.batch_gone"))
    return batch


def _wrong_checksum(data: bytes, batch: Batch, offset: int) -> tuple[str, int, str] | None:
    """Why the consumer refuses a batch.

    Below magic 2 only the message that it would get is checked.

    Args:
        offset: of the fetch.

    Returns:
        What is wrong, its offset, and why; None where nothing is.
    """
    what, first_offset, checked = "Record batch", batch.base_offset, memoryview(data)
    if batch.magic < MAGIC_2:
        first_message = _message_from(data, offset)
        if first_message is None:
            return None
        what, (first_offset, checked) = "Record", first_message
    try:
        batch_records.ensure_valid(checked)
    except CorruptBytes as fault:
        return what, first_offset, str(fault.what)
    return None


def _message_from(data: bytes, offset: int) -> tuple[int, memoryview] | None:
    """The first message of a batch of magic 0 or 1 at an offset or behind it.

    Returns:
        Its offset, and its bytes, no longer compressed; None where none can be read.
    """
    messages = legacy_messages.read(data, reads_parts=False)
    places = np.flatnonzero(messages.rows["offset"] >= offset)
    if not len(places):
        return None
    row = messages.rows[places[0]]
    start = int(row["position"])
    message_bytes = memoryview(messages.data)[start : start + int(row["size_bytes"])]
    return int(row["offset"]), message_bytes


def _record(batch: FileBatch, fetch: Fetch) -> ConsumerRecord | PassedOver:
    """The first record that the consumer wants of a batch.

    Raises:
        CorruptBytes: it cannot be read, or one before it.
    """
    for head in batch.heads(is_streamed=True):
        if head.offset >= fetch.offset:
            if batch.is_legacy:
                _read_parts(batch, fetch.offset)
            return ConsumerRecord(head.offset, head.timestamp_ms, fetch.segment, fetch.position)
    return PassedOver.EMPTY


def _read_parts(batch: FileBatch, offset: int) -> None:
    """Reads key and value of the message that the consumer gets.

    Raises:
        CorruptBytes: that is not possible.
    """
    first_message = _message_from(batch.content, offset)
    fault = legacy_messages.read(first_message[1]).fault if first_message else None
    if fault:
        raise CorruptBytes(batch.position + fault.position, fault.what)


def _is_aborted(batch: Batch, aborted: np.ndarray) -> bool:
    """Whether the batch belongs to one of the aborted transactions, which began before it ends.

    Args:
        aborted: of its fetch.
    """
    return bool(
        (
            (aborted["producer_id"] == batch.producer_id)
            & (aborted["first_offset"] <= batch.last_offset)
        ).any()
    )


class LookupOutcome(StrEnum):
    """What comes of the batch that was found, or that none was."""

    NO_BATCH = "no_batch"
    CORRUPT = "corrupt"  # the consumer throws
    NO_RECORD = "no_record"  # nothing for the consumer is in it or behind it
    MARKER = "marker"  # it ends a transaction; the record comes with a later fetch
    EMPTY = "empty"  # it has no record for the consumer; so does this
    COMPACTED = "gone"  # compaction took the record of that offset away
    FIRST = "first"  # the record is the batch's first
    SKIPS = "skips"  # the consumer skips those before it
    HIDDEN = "hidden"  # the record lies behind the last stable offset
    TOO_EARLY = "too_early"  # no record is late enough
    RECORD_TIME = "record_time"
    RECORD_LARGEST = "record_largest"


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A lookup in a partition with its path.

    Attributes:
        choices: every segment, and why it was searched or not.
        searches: for a timestamp the time index first, then the offset index; for an offset one in
            each segment that was tried.
        scans: of those segments.
        record: for an offset the first one that a consumer gets from there, which may be batches
            behind the first fetch.
        answer: what the client gets, None for nothing.
        offset: the target, None of a lookup by timestamp.
        timestamp_ms: the target, None of a lookup by offset; below 0 it is one of by_time's special
            values.
        fetches: all that it took to get the record.
        error: the exception that the broker answers with, or a consumer throws at the last fetch;
            None for none.
        outcome: None where no batch was looked for.
    """

    partition: str
    profile: SearchProfile
    bounds: Bounds
    choices: tuple[SegmentChoice, ...]
    searches: tuple[IndexSearch, ...]
    scans: tuple[ForwardScan, ...]
    record: ConsumerRecord | None
    answer: OffsetAndTimestamp | None
    offset: int | None = None
    timestamp_ms: int | None = None
    fetches: tuple[Fetch, ...] = ()
    error: OffsetOutOfRange | CorruptRecord | FailedRead | None = None
    outcome: LookupOutcome | None = None

    @property
    def title(self) -> Message:
        """What was looked up, and what came of it."""
        answer = message("html_table.no_answer")
        if self.answer:
            answer = message(
                "html_table.answer",
                offset=self.answer.offset,
                timestamp_ms=self.answer.timestamp_ms,
            )
        key = "lookup_offset" if self.timestamp_ms is None else "lookup_timestamp"
        target = self.offset if self.timestamp_ms is None else self.timestamp_ms
        return message(f"html_table.{key}", target=target, partition=self.partition, answer=answer)

    def _repr_html_(self) -> str:
        """A row a search, as a notebook shows it."""
        columns = (
            "common.file",
            "tuning.head_entries",
            "page_cache.probes",
            "page_cache.slot",
            "html_table.entry",
        )
        rows = (
            (
                search.file,
                search.slot_search.entries,
                len(search.slot_search.probes),
                search.slot_search.slot,
                search.entry and " → ".join(map(str, search.entry)),
            )
            for search in self.searches
        )
        return html_table(render(self.title), columns, rows)

    @property
    def beginning(self) -> SegmentChoice:
        """The segment where it begins.

        Where it goes into none, any of them: they have one reason.
        """
        return next(
            (choice for choice in self.choices if choice.reason in BEGINNINGS), self.choices[0]
        )

    @property
    def path(self) -> Iterator[IndexSearch | ForwardScan]:
        """Searches and scans in order: of an offset in turns, of a timestamp searches first."""
        if self.timestamp_ms is None and self.scans:
            return chain.from_iterable(zip(self.searches, self.scans, strict=True))
        return chain(self.searches, self.scans)

    @property
    def scan(self) -> ForwardScan | None:
        """The last scan, which found the batch if any did."""
        return self.scans[-1] if self.scans else None


def by_offset(
    log: LogView,
    offset: int,
    profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    bounds: Bounds | None = None,
) -> Lookup:
    """A fetch, and what a consumer gets of it.

    Args:
        bounds: where they are known already.

    Raises:
        CorruptFile: the log cannot be opened, or is refused here and not by Kafka.
    """
    bounds = bounds or find_bounds(log, profile, isolation)
    try:
        results = list(fetches(log, offset, profile, bounds, isolation))
    except OffsetOutOfRange as error:
        return Lookup(
            partition=log.name,
            profile=profile,
            bounds=bounds,
            choices=explain_no_segment(log, offset, SegmentReason.OUT_OF_RANGE),
            searches=(),
            scans=(),
            record=None,
            answer=None,
            offset=offset,
            error=error,
        )
    first, last = results[0][0], results[-1][1]
    record = last if isinstance(last, ConsumerRecord) else None
    answer = OffsetAndTimestamp(record.offset, record.timestamp_ms) if record else None
    choices = explain_fetch(log, offset, first, bounds)
    return Lookup(
        partition=log.name,
        profile=profile,
        bounds=bounds,
        choices=choices,
        searches=first.searches,
        scans=first.scans,
        record=record,
        answer=answer,
        offset=offset,
        fetches=tuple(fetch for fetch, _ in results),
        error=last if isinstance(last, CorruptRecord | FailedRead) else None,
        outcome=_fetch_outcome(results),
    )


def _fetch_outcome(results: list[tuple[Fetch, FetchResult]]) -> LookupOutcome | None:
    (first, result), last = results[0], results[-1][1]
    if not first.scans:
        return None
    if first.fault:
        return LookupOutcome.CORRUPT
    if first.batch is None:
        return LookupOutcome.NO_BATCH
    if isinstance(last, CorruptRecord | FailedRead):
        return LookupOutcome.CORRUPT
    if not isinstance(last, ConsumerRecord):
        return LookupOutcome.NO_RECORD
    if isinstance(result, PassedOver):
        return LookupOutcome.MARKER if result is PassedOver.MARKER else LookupOutcome.EMPTY
    if last.offset != first.offset:
        return LookupOutcome.COMPACTED
    is_first = first.batch.base_offset == first.offset
    return LookupOutcome.FIRST if is_first else LookupOutcome.SKIPS


def by_timestamp(
    log: LogView,
    timestamp_ms: int,
    profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    bounds: Bounds | None = None,
) -> Lookup:
    """The offset for a timestamp; a transaction marker may be the answer, as in Kafka."""
    bounds = bounds or find_bounds(log, profile, isolation)
    time_search = by_time.list_offset(log, timestamp_ms, profile, bounds)
    record = None
    if time_search.answer and time_search.scan and time_search.scan.batch:
        record = ConsumerRecord(
            time_search.answer.offset,
            time_search.answer.timestamp_ms,
            time_search.scan.segment,
            time_search.scan.batch.position,
        )
    scans = (time_search.scan,) if time_search.scan else ()
    choices = by_time.explain_choices(log, time_search, bounds)
    return Lookup(
        partition=log.name,
        profile=profile,
        bounds=bounds,
        choices=choices,
        searches=time_search.searches,
        scans=scans,
        record=record,
        answer=time_search.answer,
        timestamp_ms=timestamp_ms,
        error=time_search.fault,
        outcome=_time_outcome(time_search),
    )


def _time_outcome(time_search: TimeSearch) -> LookupOutcome | None:
    if time_search.scan is None:
        return None
    if time_search.fault:
        return LookupOutcome.CORRUPT
    if time_search.is_hidden:
        return LookupOutcome.HIDDEN
    if time_search.answer is None:
        return LookupOutcome.TOO_EARLY
    is_time = time_search.timestamp_ms >= 0
    return LookupOutcome.RECORD_TIME if is_time else LookupOutcome.RECORD_LARGEST


def lookup(
    log: LogView,
    profile: SearchProfile,
    offset: int | None = None,
    timestamp_ms: int | str | None = None,
    isolation: str = READ_UNCOMMITTED,
) -> Lookup:
    """A lookup by one of offset and timestamp_ms.

    Args:
        timestamp_ms: also "earliest", "latest" or "max".
        isolation: one of ISOLATIONS.

    Raises:
        KafkavizError: neither or both of them, or one that is none.
    """
    if (offset is None) == (timestamp_ms is None):
        raise KafkavizError(message("lookup_request.one_target"))
    if isolation not in ISOLATIONS:
        raise KafkavizError(
            message("lookup_request.unknown_isolation", isolation=isolation, known=ISOLATIONS)
        )
    if offset is not None:
        return by_offset(log, offset, profile, isolation)
    if isinstance(timestamp_ms, str):
        if timestamp_ms not in by_time.NAMES:
            raise KafkavizError(message("lookup_request.no_timestamp", timestamp=timestamp_ms))
        timestamp_ms = by_time.NAMES[timestamp_ms]
    return by_timestamp(log, cast("int", timestamp_ms), profile, isolation)
