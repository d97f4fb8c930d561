"""Scans the batches of a .log for an offset or timestamp, and records each decision.

As in Kafka 4.3.1's FileLogInputStream and FileChannelRecordBatch, a step to the next batch reads 17
bytes. The last offset or largest timestamp of a batch needs its header (61 bytes for magic 2).
Records need the complete batch. A header or batch is read only once.

The scan follows FileRecords in Kafka 1.1 to 4.3.1. For example, three batches at 0, 324 and 700
hold the offsets 0 to 9, 10 to 24 and 25 to 30. For target 12 the reads (position, bytes) are:

    last_offset, up to 4.0   (0, 17) (0, 61)  9 < 12   (324, 17) (324, 61)  24 >= 12: found
    base_offset, from 4.1    (0, 17)  0 < 12   (324, 17)  10 < 12   (700, 17)  25 > 12: go back
                             to the previous batch   (324, 61)  24 >= 12: found
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, StrEnum, auto
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import ReadInto, read_bytes
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes, CorruptFile, FaultKind
from kafkaviz.format import batch_records, java
from kafkaviz.format.batch import (
    CONTROL,
    HEADER,
    HEADER_BYTES,
    LEGACY_HEADER,
    LENGTH_END,
    MAGIC_2,
    MAGIC_END,
    MIN_LENGTH,
    TRANSACTIONAL,
    UNKNOWN,
)
from kafkaviz.format.batch_records import RecordHead
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.search import index_search
from kafkaviz.search.index_search import IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.versions import LAST_OFFSET, SearchProfile

SearchResult = TypeVar("SearchResult")

WINDOW_BYTES = 1 << 14  # bytes per read; Kafka makes a system call per step, kafkaviz makes few
# 18: a header of magic 0 ends here, because it has no timestamp
TIMESTAMP_START = field_start(LEGACY_HEADER, "timestamp_ms")
# faults for which kafkaviz refuses data that Kafka would read
OWN_REFUSALS = (
    "codec.expands_past_limit",
    "corrupt.batch_cut",
    "corrupt.batch_gone",
    "corrupt.batch_too_large",
)


class FailedRead(CorruptFile):
    """Damaged bytes that make a broker or consumer throw the Java exception `class_name`."""

    def __init__(self, path: Path | str, position: int, what: Message, kind: FaultKind) -> None:
        super().__init__(path, position, what)
        self.kind = kind
        self.class_name = java.EXCEPTIONS[kind]


def failed_read(path: str, fault: CorruptBytes) -> FailedRead:
    """Returns the exception that Kafka throws at a fault in a .log.

    Raises:
        CorruptFile: kafkaviz refuses the data, but Kafka would read it.
    """
    if fault.what.key in OWN_REFUSALS:
        raise fault.in_file(path) from None
    return FailedRead(path, fault.position, fault.what, fault.kind)


class ReadPart(Enum):
    """The part of a batch that one read covers: the first 17 bytes, the header, or all."""

    START = auto()  # offset, length and magic: 17 bytes
    HEADER = auto()
    BATCH = auto()


class LogRead(NamedTuple):
    position: int  # the position of the first byte
    size: int  # the number of bytes requested
    part: ReadPart


@dataclass(frozen=True, kw_only=True)
class Batch:
    base_offset: int  # of the first record, or of the first message in a compressed wrapper
    last_offset: int
    position: int
    size_bytes: int
    magic: int
    leader_epoch: int = UNKNOWN
    producer_id: int = UNKNOWN
    is_control: bool = False
    is_transactional: bool = False


class LogReader:
    """The bytes of an open .log, and a list of Kafka's reads."""

    def __init__(self, read: ReadInto, size_bytes: int, path: str = "") -> None:
        """Takes an open .log. The log ends at `size_bytes`, even if the file is longer."""
        self._read = read
        self.size_bytes = size_bytes
        self.path = path
        self.reads = []
        self._window = b""
        self._start = 0

    def read_recorded(self, position: int, size: int, part: ReadPart) -> bytes:
        """Reads bytes that Kafka reads too, and adds the read to `reads`."""
        self.reads.append(LogRead(position, size, part))
        return self.peek(position, size)

    def peek(self, position: int, size: int) -> bytes:
        """Reads bytes without adding the read to `reads`. Returns fewer bytes if the log ends."""
        window_position = position - self._start
        if window_position < 0 or window_position + size > len(self._window):
            window_bytes = min(max(size, WINDOW_BYTES), self.size_bytes - position)
            self._window = read_bytes(self._read, position, window_bytes)
            self._start = position
            window_position = 0
        return self._window[window_position : window_position + size]

    def batches(self, position: int) -> Iterator["FileBatch"]:
        """Yields the complete batches from a position on, like Kafka's nextBatch.

        Raises:
            CorruptBytes: a length is invalid, or a damaged index gave a negative position.
        """
        if position < 0:
            words = f"The file channel position cannot be negative, but it is {position}"
            raise CorruptBytes(position, verbatim(words), FaultKind.ARGUMENT)
        while position < self.size_bytes - MAGIC_END:
            start = self.read_recorded(position, MAGIC_END, ReadPart.START)
            if len(start) < MAGIC_END:
                return
            header = np.frombuffer(start.ljust(HEADER_BYTES, b"\0"), HEADER)[0]
            size_bytes = LENGTH_END + int(header["batch_length_bytes"])
            length = size_bytes - LENGTH_END
            if length < MIN_LENGTH:
                words = f"Found record size {length} smaller than minimum record overhead (14)"
                raise CorruptBytes(position, verbatim(words), FaultKind.LENGTH)
            if position > self.size_bytes - size_bytes:
                return
            offset = int(header["base_offset"])
            yield FileBatch(self, position, offset, size_bytes, int(header["magic"]))
            position += size_bytes


@dataclass(eq=False)
class FileBatch:
    """A batch whose first 17 bytes have been read. Other attributes may need another read."""

    _log: LogReader
    position: int
    _offset: int  # of the first record; of the last message in a wrapper
    size_bytes: int
    magic: int

    @property
    def is_legacy(self) -> bool:
        """Whether the batch is a message or wrapper of magic 0 or 1."""
        return self.magic < MAGIC_2

    @property
    def base_offset(self) -> int:
        """The offset of the first record. For a legacy batch this reads the complete batch."""
        return self._first_offset(self.content) if self.is_legacy else self._offset

    @property
    def last_offset(self) -> int:
        """The last offset of the batch, even if compaction removed that record."""
        if self.is_legacy:
            return self._offset
        return self._offset + int(self._header["last_offset_delta"])

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp of the records, or -1."""
        if self.magic == 0:
            self._header  # noqa: B018  Kafka reads the header too, although it has no timestamp
            return UNKNOWN
        return int(self._header["timestamp_ms" if self.is_legacy else "max_timestamp_ms"])

    @cached_property
    def content(self) -> bytes:
        if self.size_bytes > LIMIT_BYTES:
            what = message("corrupt.batch_too_large", size=self.size_bytes, limit=LIMIT_BYTES)
            raise CorruptBytes(self.position, what)
        data = self._log.read_recorded(self.position, self.size_bytes, ReadPart.BATCH)
        if len(data) < self.size_bytes:  # the file has become shorter since it was listed
            what = message("corrupt.batch_cut", size=self.size_bytes, available=len(data))
            raise CorruptBytes(self.position, what)
        return data

    def heads(self, *, is_streamed: bool = False) -> Iterator[RecordHead]:
        """Yields each record's offset and time (batch_records.heads).

        Raises CorruptBytes if a record cannot be read.
        """
        try:
            yield from batch_records.heads(self.content, is_streamed=is_streamed)
        except CorruptBytes as fault:
            raise fault.after(self.position) from None

    def to_batch(self) -> Batch:
        """Returns a Batch. Reads that only this method needs are not recorded."""
        if self.is_legacy:
            try:
                first = self._first_offset(
                    self._log.peek(self.position, self.size_bytes).ljust(MAGIC_END, b"\0")
                )
            except CorruptBytes:  # a scan by last offsets does not read these bytes
                first = self._offset
            return Batch(
                base_offset=first,
                last_offset=self._offset,
                position=self.position,
                size_bytes=self.size_bytes,
                magic=self.magic,
            )
        header = np.frombuffer(
            self._log.peek(self.position, HEADER_BYTES).ljust(HEADER_BYTES, b"\0"), HEADER
        )[0]
        attributes = int(header["attributes"])
        return Batch(
            base_offset=self._offset,
            last_offset=self._offset + int(header["last_offset_delta"]),
            position=self.position,
            size_bytes=self.size_bytes,
            magic=self.magic,
            leader_epoch=int(header["leader_epoch"]),
            producer_id=int(header["producer_id"]),
            is_control=bool(attributes & CONTROL),
            is_transactional=bool(attributes & TRANSACTIONAL),
        )

    @cached_property
    def _header(self) -> np.void:
        layout = LEGACY_HEADER if self.is_legacy else HEADER
        size = TIMESTAMP_START if self.magic == 0 else layout.itemsize
        data = (
            self.content
            if "content" in self.__dict__
            else self._log.read_recorded(self.position, size, ReadPart.HEADER)
        )
        return np.frombuffer(data[: layout.itemsize].ljust(layout.itemsize, b"\0"), layout)[0]

    def _first_offset(self, batch_bytes: bytes) -> int:
        try:
            return next(batch_records.heads(batch_bytes), RecordHead(self._offset, UNKNOWN)).offset
        except CorruptBytes as fault:
            raise fault.after(self.position) from None


class HeaderOutcome(StrEnum):
    """The decision of a scan about a batch, after reading the header or more of the batch."""

    BASE_BELOW = "base_below"  # the batch starts below the target and may hold it
    BASE_EQUAL = "base_equal"
    BASE_ABOVE = "base_above"  # the batch is the answer: no batch was scanned before it
    BASE_ABOVE_BACK = "base_above_back"  # the last offset of the previous batch must be read
    REACHES = "reaches"  # the last offset is at or above the target: the batch is found
    REACHES_NOT = "reaches_not"
    LAST_BELOW = "last_below"
    LAST_FOUND = "last_found"
    TIME_EARLY = "time_early"
    TIME_HIDDEN = "time_hidden"  # late enough, but only because of records before the start offset
    TIME_FOUND = "time_found"
    LARGEST_NOT = "largest_not"
    LARGEST_FOUND = "largest_found"


class HeaderDecision(NamedTuple):
    """A decision of a scan about a batch, and the value that the scan compared."""

    position: int
    outcome: HeaderOutcome
    value: int  # the base offset, last offset or largest timestamp that was compared
    size_bytes: int  # the size of the batch
    reads: int  # the number of reads in the scan so far, including this header


@dataclass(frozen=True, kw_only=True)
class ForwardScan:
    """A scan of one .log and its result."""

    base_offset: int  # the base offset of the .log
    from_position: int
    target: int  # an offset or a timestamp
    reads: tuple[LogRead, ...]  # Kafka's reads, in order
    headers: tuple[HeaderDecision, ...]  # the decisions
    batch: Batch | None  # the batch found, or None if the scan came to the end first
    offset: int | None = None  # the offset of the record found, in a search for a timestamp
    timestamp_ms: int | None = None  # the timestamp of that record
    fault: FailedRead | None = None  # Kafka's exception, if the scan ended in damaged bytes
    # the base offset of the batch at from_position; None below magic 2, or if no batch is there
    first_base_offset: int | None = None


def run_search(segment: SegmentView, search: Callable[[LogReader], SearchResult]) -> SearchResult:
    """Calls `search` with a reader of the segment's .log, and returns the result.

    Raises CorruptFile if the search meets corrupt bytes.
    """
    with segment.log.open_reader() as read:
        try:
            return search(LogReader(read, segment.log.size_bytes, log_path(segment)))
        except CorruptBytes as fault:
            raise fault.in_file(log_path(segment)) from None


def log_path(segment: SegmentView) -> str:
    return segment.log.path or segment.log.name


def translate(
    segment: SegmentView, offset: int, profile: SearchProfile
) -> tuple[IndexSearch, ForwardScan]:
    """Finds the first batch of a segment that ends at or after an offset.

    Like LogSegment.translateOffset, treats a negative position in the index as zero.
    """
    search = index_search.find_offset(segment, offset, profile)
    start = max(0, index_search.position_of(search))
    return search, run_search(
        segment, lambda log: find_offset(log, segment.base_offset, offset, start, profile.scan)
    )


def find_offset(
    log: LogReader, base_offset: int, target: int, position: int, comparison: str
) -> ForwardScan:
    """Finds the first batch that ends at or after `target` (searchForOffsetFromPosition).

    `comparison` ("last_offset" or "base_offset") is the offset of a batch that Kafka compares with
    `target`. The two values find the same batch, but with different reads.
    """
    scan = _Scan(log, base_offset, target, position)
    search = scan.by_last_offset if comparison == LAST_OFFSET else scan.by_base_offset
    return scan.run(lambda: scan.result(search()))


def find_timestamp(
    log: LogReader,
    base_offset: int,
    target_ms: int,
    position: int,
    start_offset: int,
    *,
    is_streamed: bool = False,
) -> ForwardScan:
    """Finds the first record at or after a time (searchForTimestamp).

    Records below `start_offset` are skipped. With `is_streamed` (since 4.4), damage after the found
    record does not matter.
    """
    scan = _Scan(log, base_offset, target_ms, position)
    return scan.run(lambda: scan.by_timestamp(start_offset, is_streamed=is_streamed))


def find_largest_timestamp(
    log: LogReader, base_offset: int, largest_ms: int, position: int
) -> ForwardScan:
    """Finds the first record with the largest timestamp of the segment (since 3.8).

    In a batch of magic 0 no record is found (RecordBatch.offsetOfMaxTimestamp).
    """
    scan = _Scan(log, base_offset, largest_ms, position)
    return scan.run(scan.by_largest_timestamp)


class _Scan:
    def __init__(self, log: LogReader, base_offset: int, target: int, position: int) -> None:
        self._log = log
        self._base_offset = base_offset
        self._target = target
        self._position = position
        self._headers: list[HeaderDecision] = []
        self._first_base_offset: int | None = None

    def run(self, search: Callable[[], ForwardScan]) -> ForwardScan:
        """Runs `search`, one of the methods below. If bytes are damaged, the result has a fault."""
        try:
            return search()
        except CorruptBytes as fault:
            return replace(self.result(None), fault=failed_read(self._log.path, fault))

    def decide(self, batch: FileBatch, outcome: HeaderOutcome, value: int) -> None:
        if batch.position == self._position and not batch.is_legacy:
            self._first_base_offset = batch.base_offset
        self._headers.append(
            HeaderDecision(batch.position, outcome, value, batch.size_bytes, len(self._log.reads))
        )

    def result(
        self, batch: FileBatch | None, offset: int | None = None, timestamp_ms: int | None = None
    ) -> ForwardScan:
        return ForwardScan(
            base_offset=self._base_offset,
            from_position=self._position,
            target=self._target,
            reads=tuple(self._log.reads),
            headers=tuple(self._headers),
            batch=batch.to_batch() if batch else None,
            offset=offset,
            timestamp_ms=timestamp_ms,
            first_base_offset=self._first_base_offset,
        )

    def by_timestamp(self, start_offset: int, *, is_streamed: bool) -> ForwardScan:
        for batch in self._log.batches(self._position):
            newest_ms = batch.max_timestamp_ms
            if newest_ms < self._target:
                self.decide(batch, HeaderOutcome.TIME_EARLY, newest_ms)
                continue
            for record in batch.heads(is_streamed=is_streamed):
                if record.timestamp_ms >= self._target and record.offset >= start_offset:
                    self.decide(batch, HeaderOutcome.TIME_FOUND, newest_ms)
                    return self.result(batch, record.offset, record.timestamp_ms)
            self.decide(batch, HeaderOutcome.TIME_HIDDEN, newest_ms)
        return self.result(None)

    def by_largest_timestamp(self) -> ForwardScan:
        for batch in self._log.batches(self._position):
            newest_ms = batch.max_timestamp_ms
            if newest_ms != self._target:
                self.decide(batch, HeaderOutcome.LARGEST_NOT, newest_ms)
                continue
            offset = None
            if batch.magic != 0:
                heads = batch.heads(is_streamed=True)
                offsets = (head.offset for head in heads if head.timestamp_ms == newest_ms)
                offset = next(offsets, None)
            self.decide(batch, HeaderOutcome.LARGEST_FOUND, newest_ms)
            return self.result(batch, offset, None if offset is None else newest_ms)
        return self.result(None)

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
        reaches = batch.last_offset >= self._target
        outcome = HeaderOutcome.REACHES if reaches else HeaderOutcome.REACHES_NOT
        self.decide(batch, outcome, batch.last_offset)
        return reaches
