"""A lookup: all the steps from an offset or a timestamp to a record.

A lookup has these parts:

    choices           the .log that is searched, and why the others are not (segment_reasons.py)
    searches          slot by slot in the time index and the offset index (index_search.py)
    scan              batch by batch, from the position that the index gave (scan.py)
    record, answer    the result for the client (consumer.py, by_time.py)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import NamedTuple, cast

from kafkaviz.errors import KafkavizError
from kafkaviz.html import html_table
from kafkaviz.messages import Message, message, render
from kafkaviz.search import by_time
from kafkaviz.search.by_time import OffsetAndTimestamp, TimeSearch
from kafkaviz.search.consumer import ConsumerRecord, CorruptRecord, FetchResult, SkipReason, fetches
from kafkaviz.search.fetch import (
    ISOLATIONS,
    READ_UNCOMMITTED,
    Bounds,
    FailedBounds,
    Fetch,
    OffsetOutOfRange,
    find_bounds,
)
from kafkaviz.search.index_search import OFFSET, IndexSearch
from kafkaviz.search.log_view import LogView
from kafkaviz.search.scan import FailedRead, ForwardScan
from kafkaviz.search.segment_reasons import (
    START_REASONS,
    SegmentChoice,
    SegmentReason,
    explain_fetch,
    explain_no_segment,
    explain_time_search,
)
from kafkaviz.versions import SearchProfile


class LookupOutcome(StrEnum):
    """Whether the batch that a lookup found has the record that the consumer gets, and where."""

    NO_BATCH = "no_batch"
    CORRUPT = "corrupt"  # the consumer throws
    NO_RECORD = "no_record"  # neither this batch nor a later one has a record for the consumer
    MARKER = "marker"  # the batch is a transaction marker; a later fetch has the record
    EMPTY = "empty"  # the batch has no record for the consumer; a later fetch has one
    COMPACTED = "gone"  # compaction removed the record with that offset
    FIRST = "first"  # the record is the first in the batch
    SKIPS = "skips"  # the consumer skips the records before it
    HIDDEN = "hidden"  # the record is at or above the last stable offset
    TOO_EARLY = "too_early"  # no record is late enough
    RECORD_TIME = "record_time"
    RECORD_LARGEST = "record_largest"


class WrongEntry(NamedTuple):
    """An .index entry that points to a batch above the entry's own offset.

    A scan from that batch misses the offsets from the entry's offset to `base_offset` - 1. The
    log may have no batch with these offsets. Compare Aim.PAST in analysis/segment/links.py.
    """

    search: IndexSearch  # the search that found the entry
    base_offset: int  # the base offset of the batch at the entry's position

    @property
    def description(self) -> Message:
        offset, position = cast("tuple[int, int]", self.search.entry)
        return message(
            "lookup.wrong_entry",
            slot=self.search.slot_search.slot,
            file=self.search.file,
            offset=offset,
            byte=position,
            base_offset=self.base_offset,
            last=self.base_offset - 1,
        )


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A lookup in a partition, with all its steps.

    Attributes:
        choices: every segment, and why it was searched or not.
        searches: the index searches. A lookup by timestamp searches the time index, then the offset
            index. A lookup by offset has one search per segment that was tried.
        record: the record found. For an offset, it may be several batches after the first fetch.
        offset: the target, or None for a lookup by timestamp.
        timestamp_ms: the target in ms or a negative special value, or None for a lookup by offset.
        error: the exception of the broker, or of the consumer at the last fetch, or None.
        outcome: whether the batch that was found has `record`. None: no batch was searched for.
    """

    partition: str
    profile: SearchProfile
    bounds: Bounds
    choices: tuple[SegmentChoice, ...]
    searches: tuple[IndexSearch, ...] = ()
    scans: tuple[ForwardScan, ...] = ()
    record: ConsumerRecord | None = None
    answer: OffsetAndTimestamp | None = None
    offset: int | None = None
    timestamp_ms: int | None = None
    fetches: tuple[Fetch, ...] = ()
    error: OffsetOutOfRange | CorruptRecord | FailedRead | None = None
    outcome: LookupOutcome | None = None

    @property
    def title(self) -> Message:
        answer = message("html_table.no_answer")
        if self.answer:
            time_ms = self.answer.timestamp_ms
            answer = message("html_table.answer", offset=self.answer.offset, timestamp_ms=time_ms)
        key = "lookup_offset" if self.timestamp_ms is None else "lookup_timestamp"
        target = self.offset if self.timestamp_ms is None else self.timestamp_ms
        return message(f"html_table.{key}", target=target, partition=self.partition, answer=answer)

    def _repr_html_(self) -> str:
        columns = (
            "common.file",
            "tuning.head_entries",
            "page_cache.probes",
            "segment.head_slot",
            "html_table.entry",
        )
        rows = []
        for search in self.searches:
            slots = search.slot_search
            entry = search.entry and " → ".join(map(str, search.entry))
            rows.append((search.file, slots.entries, len(slots.probes), slots.slot, entry))
        return html_table(render(self.title), columns, rows)

    @property
    def start_choice(self) -> SegmentChoice:
        """The segment in which the search begins; the first segment if none is searched."""
        return next(
            (choice for choice in self.choices if choice.reason in START_REASONS), self.choices[0]
        )

    @property
    def path(self) -> Iterator[IndexSearch | ForwardScan]:
        """The searches and scans in order.

        A lookup by offset alternates between searches and scans. A lookup by timestamp makes all
        searches before its scan.
        """
        if self.timestamp_ms is None and self.scans:
            return chain.from_iterable(zip(self.searches, self.scans, strict=True))
        return chain(self.searches, self.scans)

    @property
    def wrong_entries(self) -> tuple[WrongEntry, ...]:
        """The .index entries that were found and point to a batch above the entry's offset."""
        scans = {scan.base_offset: scan for scan in self.scans}
        wrong_entries = []
        for search in self.searches:
            scan = scans.get(search.base_offset)
            if search.kind != OFFSET or search.entry is None or scan is None:
                continue
            offset, position = search.entry
            base_offset = scan.first_base_offset
            is_start = 0 < position == scan.from_position
            if is_start and base_offset is not None and base_offset > offset:
                wrong_entries.append(WrongEntry(search, base_offset))
        return tuple(wrong_entries)

    @property
    def scan(self) -> ForwardScan | None:
        """The last scan, or None. Only the last scan can have found the batch."""
        return self.scans[-1] if self.scans else None


def by_offset(
    log: LogView,
    offset: int,
    profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    bounds: Bounds | None = None,
) -> Lookup:
    """Returns the lookup of an offset, with its fetches and the consumer's record.

    Raises CorruptFile if the log cannot be opened, or kafkaviz refuses data that Kafka would read.
    """
    try:
        bounds = bounds or find_bounds(log, profile, isolation)
    except FailedBounds as fault:
        return _failed_lookup(log, profile, fault, offset=offset)
    try:
        results = list(fetches(log, offset, profile, bounds, isolation))
    except OffsetOutOfRange as error:
        return Lookup(
            partition=log.name,
            profile=profile,
            bounds=bounds,
            choices=explain_no_segment(log, offset, SegmentReason.OUT_OF_RANGE),
            offset=offset,
            error=error,
        )
    first = results[0][0]
    last = results[-1][1]
    record = last if isinstance(last, ConsumerRecord) else None
    return Lookup(
        partition=log.name,
        profile=profile,
        bounds=bounds,
        choices=explain_fetch(log, offset, first, bounds),
        searches=first.searches,
        scans=first.scans,
        record=record,
        answer=OffsetAndTimestamp(record.offset, record.timestamp_ms) if record else None,
        offset=offset,
        fetches=tuple(fetch for fetch, _ in results),
        error=last if isinstance(last, CorruptRecord | FailedRead) else None,
        outcome=_fetch_outcome(results),
    )


def _fetch_outcome(results: list[tuple[Fetch, FetchResult]]) -> LookupOutcome | None:
    first, result = results[0]
    last = results[-1][1]
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
    if isinstance(result, SkipReason):
        return LookupOutcome.MARKER if result is SkipReason.MARKER else LookupOutcome.EMPTY
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
    """Returns the lookup of a timestamp. As in Kafka, the answer may be a transaction marker."""
    try:
        bounds = bounds or find_bounds(log, profile, isolation)
    except FailedBounds as fault:
        return _failed_lookup(log, profile, fault, timestamp_ms=timestamp_ms)
    time_search = by_time.list_offset(log, timestamp_ms, profile, bounds)
    record = None
    if time_search.answer and time_search.scan and time_search.scan.batch:
        record = ConsumerRecord(
            time_search.answer.offset,
            time_search.answer.timestamp_ms,
            time_search.scan.base_offset,
            time_search.scan.batch.position,
        )
    return Lookup(
        partition=log.name,
        profile=profile,
        bounds=bounds,
        choices=explain_time_search(log, time_search, bounds),
        searches=time_search.searches,
        scans=(time_search.scan,) if time_search.scan else (),
        record=record,
        answer=time_search.answer,
        timestamp_ms=timestamp_ms,
        error=time_search.fault,
        outcome=_time_outcome(time_search),
    )


def _failed_lookup(
    log: LogView,
    profile: SearchProfile,
    fault: FailedBounds,
    offset: int | None = None,
    timestamp_ms: int | None = None,
) -> Lookup:
    """Returns a lookup that ends in `fault`, with the steps that lead to the damaged bytes."""
    start = log.log_start_offset
    target = cast("int", timestamp_ms if offset is None else offset)
    return Lookup(
        partition=log.name,
        profile=profile,
        bounds=Bounds(start, start, start, fault.scan.base_offset, fault.scan.from_position),
        choices=explain_no_segment(log, target, SegmentReason.BOUNDS_UNKNOWN),
        searches=(fault.search,),
        scans=(fault.scan,),
        offset=offset,
        timestamp_ms=timestamp_ms,
        error=fault,
        outcome=LookupOutcome.CORRUPT,
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


def lookup_in_view(
    log: LogView,
    profile: SearchProfile,
    offset: int | None = None,
    timestamp_ms: int | str | None = None,
    isolation: str = READ_UNCOMMITTED,
) -> Lookup:
    """Returns a lookup by offset or by timestamp, in a log as a broker has it open.

    Args:
        timestamp_ms: milliseconds since 1970, a special value of Kafka, "earliest", "latest" or
            "max".
        isolation: one of ISOLATIONS.

    Raises:
        KafkavizError: neither or both targets are given, or one of the arguments is invalid.
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
