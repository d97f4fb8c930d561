"""The batches of a log as a stream, and the batches of two logs around an offset.

In a segment without a fault, `BatchStream` reads only headers. In other segments it verifies all
checksums, so that it also finds the batches after the damage:

    segment 0     rows, rows
    segment 100   rows, UnreadableRange(130, 139), rows

`find_batches` pairs the batches around an offset. For example, a follower became leader at 180:

    a   178–179 epoch 2    180–185 epoch 3                    186–187 epoch 3
    b   178–179 epoch 2    180–184 epoch 5   185–187 epoch 5
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from kafkaviz.analysis.comparison.byte_differences import ByteDifference, describe_batches
from kafkaviz.binary.file_view import ReadInto, read_bytes
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records
from kafkaviz.format.batch import BATCH, UNKNOWN
from kafkaviz.format.deep_scan import plain_batches
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.walk import tail_kind
from kafkaviz.log import file
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.partition import Partition
from kafkaviz.log.scans import CheckedScan, Hole
from kafkaviz.log.segment import LogSegment, fill_wrapper_fields

TAIL_BYTES = 16 << 20  # at most this much of the bytes after the last batch is examined
# the number of batches of each log that are shown before the offset, and from the offset on
BEFORE = 4
AFTER = 8
MAX_BATCH_BYTES = 4 << 20  # only this many bytes of a batch are compared


@dataclass(frozen=True)
class UnreadableRange:
    """A range of offsets whose batches cannot be read."""

    segment: LogSegment
    first: int  # first, last: the offsets that the unreadable bytes may have held
    last: int
    position: int  # the first unreadable byte of the .log
    size_bytes: int


@dataclass(frozen=True)
class LogTail:
    """The bytes after the last batch of a log; `kind` is "torn", "garbage" or "zeros"."""

    segment: LogSegment
    position: int
    size_bytes: int
    kind: str


class BatchStream:
    """Streams the batches of consecutive segments.

    Args:
        next_base: the base offset of the segment after `segments`; None: the log ends with them.

    Attributes:
        rows: the next batches of `segment`, an array of format.batch.BATCH.
        unreadable: the next unreadable range; None: `rows` has the next batches.
        segment: the segment of `rows` or `unreadable`; `read` reads its .log.
        tail: the bytes after the log's last batch, if any; None until all batches have been taken.
        next_offset: the offset after the last batch that was taken.
        max_timestamp_ms: the largest timestamp of the batches that were taken; None: no timestamp.
    """

    segment: LogSegment
    read: ReadInto

    def __init__(
        self, segments: Sequence[LogSegment], next_base: int | None = None, next_offset: int = 0
    ) -> None:
        self.segments = segments
        self._next_base = next_base
        self._parts = self._iterate()
        self.rows = np.empty(0, BATCH)
        self.unreadable: UnreadableRange | None = None
        self.tail: LogTail | None = None
        self.next_offset = next_offset
        self.max_timestamp_ms: int | None = None

    def __enter__(self) -> "BatchStream":
        return self

    def __exit__(self, *_error: object) -> None:
        self._parts.close()

    def fill(self) -> bool:
        """Reads the next `rows` or `unreadable` if both are empty. Returns False at the end."""
        while not len(self.rows) and self.unreadable is None:
            part = next(self._parts, None)
            if part is None:
                return False
            if isinstance(part, UnreadableRange):
                self.unreadable = part
            else:
                self.rows = part
        return True

    def take(self, count: int) -> np.ndarray:
        taken_rows = self.rows[:count]
        self.rows = self.rows[count:]
        if count:
            self.next_offset = max(self.next_offset, int(taken_rows["last_offset"].max()) + 1)
            newest_ms = int(taken_rows["max_timestamp_ms"].max())
            if newest_ms >= 0:
                self.max_timestamp_ms = max(newest_ms, self.max_timestamp_ms or 0)
        return taken_rows

    def readable_rows(self) -> Iterator[np.ndarray]:
        """Yields all readable batches in arrays.

        An array counts as taken only when the next one is requested.
        """
        while self.fill():
            self.unreadable = None
            if len(self.rows):
                yield self.rows
                self.take(len(self.rows))

    def batch_bytes(self, row: np.void) -> bytes:
        return read_bytes(self.read, int(row["position"]), int(row["size_bytes"]))

    def _iterate(self) -> Generator[np.ndarray | UnreadableRange]:
        next_bases = [segment.base_offset for segment in self.segments[1:]]
        for segment, next_base in zip(self.segments, [*next_bases, self._next_base], strict=False):
            with file.reader(segment.log.path) as read:
                self.segment = segment
                self.read = read
                yield from self._segment_parts(segment, next_base)

    def _segment_parts(
        self, segment: LogSegment, next_base: int | None
    ) -> Iterator[np.ndarray | UnreadableRange]:
        next_offset = segment.base_offset
        if _is_sound(segment):
            for batches in segment.scan(fill_wrapper_fields=True):
                yield _with_first_offsets(batches, next_offset)
                next_offset = int(batches["last_offset"][-1]) + 1
            return
        hole = None
        for part in _checked_parts(segment):
            if isinstance(part, Hole):
                hole = part
            elif len(part):
                fill_wrapper_fields(part, self.read)
                part = _with_first_offsets(part, next_offset)
                if hole:
                    yield _unreadable(segment, hole, next_offset, int(part["base_offset"][0]) - 1)
                    hole = None
                yield part
                next_offset = int(part["last_offset"][-1]) + 1
        if hole and next_base is not None:
            yield _unreadable(segment, hole, next_offset, next_base - 1)
        elif hole:
            size_bytes = hole.stop - hole.start
            data = file.read(segment.log.path, hole.start, min(size_bytes, TAIL_BYTES))
            kind = tail_kind(data, next_offset - 1, size_bytes)
            self.tail = LogTail(segment, hole.start, size_bytes, kind)


def record_offsets(stream: BatchStream, selection: np.ndarray) -> Iterator[np.ndarray]:
    """Yields arrays with the record offsets of some batches of `stream.rows`, in order.

    `selection` is a mask of the rows. If a batch has fewer records than offsets, its records are
    read up to the first fault.
    """
    for batch in stream.rows[selection]:
        first = int(batch["base_offset"])
        last = int(batch["last_offset"])
        if batch["record_count"] == last - first + 1:
            yield np.arange(first, last + 1)
        elif batch["record_count"] != 0:
            with suppress(CorruptBytes):
                for offsets, _ in batch_records.offsets_and_times(stream.batch_bytes(batch)):
                    yield np.asarray(offsets)


def _unreadable(segment: LogSegment, hole: Hole, first: int, last: int) -> UnreadableRange:
    return UnreadableRange(segment, first, max(first - 1, last), hole.start, hole.stop - hole.start)


def _with_first_offsets(batches: np.ndarray, next_offset: int) -> np.ndarray:
    """Replaces unknown first offsets of wrapper messages by the lowest possible offsets."""
    ends = np.append(next_offset, batches["last_offset"][:-1] + 1)
    batches["base_offset"] = np.where(
        batches["base_offset"] == UNKNOWN, ends, batches["base_offset"]
    )
    return batches


def _is_sound(segment: LogSegment) -> bool:
    """Returns whether a scan of the headers finds ascending offsets up to the .log's end."""
    scan = segment.scan()
    last_offset = segment.base_offset - 1
    for batches in scan:
        lasts = batches["last_offset"]
        firsts = batches["base_offset"]
        is_known = firsts >= 0  # a wrapper's first offset is unknown until it is opened
        ends = np.append(last_offset, lasts[:-1])
        if (lasts <= ends).any() or (firsts[is_known] <= ends[is_known]).any():
            return False
        last_offset = int(lasts[-1])
    return scan.end.reason == "end"


def _checked_parts(segment: LogSegment) -> Iterator[np.ndarray | Hole]:
    size_bytes = segment.log.size_bytes
    with open_batch_starts(segment) as batch_starts:
        scan = CheckedScan(batch_starts, size_bytes, segment.base_offset)
        for part in scan:
            yield part if isinstance(part, Hole) else plain_batches(part)
        if scan.end.position < size_bytes:
            yield Hole(scan.end.position, size_bytes, scan.end.reason)


@dataclass(frozen=True, eq=False)
class WindowBatch:
    """A batch of one of the compared logs; `row` is a row of format.batch.BATCH."""

    segment: LogSegment
    row: np.void
    is_crc_valid: bool

    def number(self, field: str) -> int:
        return int(self.row[field])

    def read(self) -> bytes:
        size_bytes = min(self.number("size_bytes"), MAX_BATCH_BYTES)
        return file.read(self.segment.log.path, self.number("position"), size_bytes)


@dataclass(frozen=True)
class BatchPair:
    """Two batches with the same base offset, one per log. None: that log has no such batch."""

    batches: tuple[WindowBatch | None, WindowBatch | None]
    is_equal: bool

    @property
    def base_offset(self) -> int:
        return next(batch.number("base_offset") for batch in self.batches if batch)


def find_batches(a: Partition | None, b: Partition | None, offset: int) -> tuple[BatchPair, ...]:
    """Returns the batches of both logs around an offset, paired by base offset.

    Raises CannotOpen if a .log cannot be read.
    """
    sides = [
        {batch.number("base_offset"): batch for batch in _around(partition, offset)}
        for partition in (a, b)
    ]
    first, last = _common_window(sides, offset)
    return tuple(
        _pair(sides[0].get(base_offset), sides[1].get(base_offset))
        for base_offset in sorted(sides[0].keys() | sides[1].keys())
        if first <= base_offset <= last
    )


def _common_window(sides: Sequence[Mapping[int, WindowBatch]], offset: int) -> tuple[int, int]:
    """Returns the range (first, last) of base offsets in which both sides are complete."""
    first = 0
    last = MAX_OFFSET
    for bases in map(sorted, sides):
        place = sum(base < offset for base in bases)
        if place >= BEFORE:
            first = max(first, bases[0])
        if len(bases) - place >= AFTER:
            last = min(last, bases[-1])
    return first, last


def describe_pair(pair: BatchPair) -> list[ByteDifference]:
    a, b = pair.batches
    if a is None or b is None:
        return []
    sides = [(batch.segment, batch.row, batch.read()) for batch in (a, b)]
    return describe_batches(sides, (a.is_crc_valid, b.is_crc_valid))


def _pair(a: WindowBatch | None, b: WindowBatch | None) -> BatchPair:
    is_equal = (
        a is not None
        and b is not None
        and a.number("size_bytes") == b.number("size_bytes")
        and a.read() == b.read()
    )
    return BatchPair((a, b), is_equal)


def _around(partition: Partition | None, offset: int) -> Iterator[WindowBatch]:
    if partition is None or not partition.live:
        return
    live = partition.live
    place = max(0, bisect_right(live, offset, key=attrgetter("base_offset")) - 1)
    before: deque[WindowBatch] = deque(maxlen=BEFORE)
    after: list[WindowBatch] = []
    for batch in _iterate(live[place:], offset):
        (before if batch.number("last_offset") < offset else after).append(batch)
        if len(after) == AFTER:
            break
    if place and len(before) < BEFORE:
        yield from deque(_iterate(live[place - 1 : place], offset), maxlen=BEFORE - len(before))
    yield from before
    yield from after


def _iterate(segments: Sequence[LogSegment], offset: int) -> Iterator[WindowBatch]:
    with BatchStream(segments) as stream:
        for rows in stream.readable_rows():
            first = int(np.searchsorted(rows["last_offset"], offset))
            for row in rows[max(0, first - BEFORE) : first + AFTER]:
                is_valid = batch_records.has_valid_crc(stream.read, row)
                yield WindowBatch(stream.segment, row.copy(), is_valid)
