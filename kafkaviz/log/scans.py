"""Scans of a .log that continue after damage, and a list of the main classes that scan a .log.

Each class does something that the classes above it in this list do not:

- format.walk.Walk reads headers up to the first impossible length, as a broker's reader does.
- log.segment.BatchScan, from Segment.scan, is a Walk on a file. It opens the file only during the
  iteration. It can fill in the header fields that wrappers of magic 0 or 1 lack.
- format.deep_scan.DeepScan computes checksums and decodes records in compiled loops.
- HeaderScan (here) is a Walk that continues after damage, at the next batch to which a verified
  index entry points. It can begin at any position, as the data source and the bytes view need.
- CheckedScan (here) is a DeepScan that continues after damage, at the batch with the next expected
  offset. Checks and comparisons use it.
- SharedScan (here) passes the batches of a CheckedScan to observers of Segment.scan, so that an
  ingest with checks reads each .log only once.
- analysis.checks.log_scan.ValidatedScan is a CheckedScan that also decides which batches can be
  trusted.
- analysis.comparison.batches.BatchStream reads the batches of several segments.
- search.scan.LogReader reads as Kafka does for one lookup, and remembers every read.
- pipeline.ingest.segment_splits.DecodedWalk reads the batches of a compressed segment that several
  tasks of an ingest have decoded.

HeaderScan and CheckedScan continue like this:

    position 0      offsets 0 to 9
    position 500    offsets 10 to 19, length 2 000 000 000, which leads nowhere
    position 1000   offsets 20 to 29, with a valid checksum
    result: the batches at 0 and 1000, and Hole(500, 1000, "torn") between them

Among batches of magic 2, CheckedScan needs no index: it searches the .log for the eight bytes of
the next expected offset. After offsets 10 to 19 these bytes are 00 00 00 00 00 00 00 14. In a log
without damage both scans return the same batches as Segment.scan.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from kafkaviz.format import batch_records
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2, UNKNOWN, rows
from kafkaviz.format.deep_scan import (
    CHECKED_BATCH,
    CheckLevel,
    DeepScan,
    TakeFaults,
    as_checked_batches,
    plain_batches,
)
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.walk import (
    CHUNK_BYTES,
    MAX_ROWS,
    BatchObserver,
    Walk,
    WalkEnd,
    batch_at,
    observe_scan,
)
from kafkaviz.log import file
from kafkaviz.log.batch_starts import BatchStarts, chunk_bytes
from kafkaviz.log.segment import LogSegment, fill_wrapper_fields

# entries that point into complete batches; an index with more of them is not trusted
MAX_REFUTED = 64
MISLED = "misled"


class Hole(NamedTuple):
    """The bytes from `start` to `stop` of a .log. They contain no readable batch."""

    start: int
    stop: int
    reason: str  # as in format.walk.WalkEnd, or "misled" if a length leads past the next batch


class BatchWalk(Protocol):
    """Arrays of consecutive batches. `end` is known once all have been read."""

    @property
    def end(self) -> WalkEnd: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


class ResynchronisingScan(ABC, Iterable[np.ndarray | Hole]):
    """Yields the batches of a range as arrays, and the holes between them, in order."""

    def __init__(self, start: int, stop: int) -> None:
        """Prepares the scan without reading. A batch is expected to begin at byte `start`."""
        self._start = start
        self._stop = stop
        # the position and reason of the scan's end, known once all batches have been read; it is
        # before the end of the range if no batch is found after a damaged place
        self.end = WalkEnd(start, "end")

    def __iter__(self) -> Iterator[np.ndarray | Hole]:
        position: int | None = self._start
        while position is not None and position < self._stop:
            walk = self._walk(position)
            position = None
            hole_start = 0
            reason = MISLED
            for batches in walk:
                row, position = self._find_misleading(batches)
                yield batches[:row]
                if position is not None:
                    hole_start = int(batches["position"][row])
                    break
            else:
                self.end = walk.end
                hole_start = walk.end.position
                reason = walk.end.reason
                position = self._find_next(hole_start) if hole_start < self._stop else None
            if position is not None:
                yield Hole(hole_start, position, reason)
                self.end = WalkEnd(position, "end")

    @abstractmethod
    def _walk(self, position: int) -> BatchWalk:
        """Returns the batches from a byte on, up to the first damage."""

    @abstractmethod
    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        """Looks for a batch whose length leads past the next batch.

        Returns (row of this batch, position of the next batch). If every length is right, returns
        (`len(batches)`, None).
        """

    @abstractmethod
    def _find_next(self, position: int) -> int | None:
        """Returns where the first batch after byte `position` begins, or None if there is none."""


class HeaderScan(ResynchronisingScan):
    """Yields batches by reading only their headers, as arrays of format.batch.BATCH.

    An array has up to 16 384 rows. After damage, the scan continues at the next batch to which
    a verified index entry points.
    """

    def __init__(
        self, batch_starts: BatchStarts, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        """Prepares the scan without reading. It will read `chunk_bytes` bytes at a time."""
        super().__init__(start, stop)
        self._batch_starts = batch_starts
        self._chunk_bytes = chunk_bytes
        self._refuted_count = 0

    def _walk(self, position: int) -> Walk:
        return Walk(self._batch_starts.read, position, self._stop, self._chunk_bytes)

    def _find_next(self, position: int) -> int | None:
        return self._batch_starts.find_first(position + 1, self._stop)

    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        starts = batches["position"]
        ends = batches["position"] + batches["size_bytes"]
        entries = self._batch_starts.positions(int(starts[0]), int(ends[-1]))
        next_entries = np.searchsorted(entries, starts, "right")
        for row in np.flatnonzero(next_entries < np.searchsorted(entries, ends)).tolist():
            if self._refuted_count >= MAX_REFUTED:
                break
            if self._batch_starts.is_intact(int(starts[row])):
                self._refuted_count += 1
            elif (
                next_start := self._batch_starts.find_first(int(starts[row]) + 1, int(ends[row]))
            ) is not None:
                return row, next_start
        return len(batches), None


SEARCHED_BYTES = 16 << 20  # how far the next expected offset is searched for
TRIES = 64  # the most wrong checksums examined per chunk, and the most matches examined per search
MAX_HOLES = 100  # after this many holes the scan ends at the next one
# Limits the doubtful headers that are verified by reading the batch. Compaction leaves gaps between
# offsets that look doubtful.
MAX_DOUBTS = 1000


class CheckedScan(ResynchronisingScan):
    """Checks the batches of a .log from byte 0 on, as thoroughly as `level` says.

    Yields arrays of format.deep_scan.CHECKED_BATCH. After damage, the scan continues at a batch
    with the next expected offset and a valid checksum. If there is none, it continues at a valid
    batch to which an index entry points.
    """

    def __init__(
        self,
        batch_starts: BatchStarts,
        stop: int,
        base_offset: int,
        take_faults: TakeFaults | None = None,
        *,
        decoded_walk: BatchWalk | None = None,
        level: CheckLevel = CheckLevel.RECORDS,
    ) -> None:
        """Prepares the scan without reading.

        Args:
            take_faults: see DeepScan.
            decoded_walk: batches from byte 0 on that were checked before and have no fault.
            level: how much of each batch is checked.
        """
        super().__init__(0, stop)
        self._decoded_walk = decoded_walk
        self._level = level
        self._batch_starts = batch_starts
        self._take_faults = take_faults
        self._last_offset = base_offset - 1  # of the last batch with a valid checksum
        self._hole_count = 0

    def _walk(self, position: int) -> BatchWalk:
        if position == 0 and self._decoded_walk is not None:
            return self._decoded_walk
        if self._level == CheckLevel.HEADERS:
            return _HeaderWalk(self._batch_starts, position, self._stop)
        reads_records = self._level == CheckLevel.RECORDS
        return DeepScan(
            self._batch_starts.read,
            position,
            self._stop,
            self._take_faults,
            reads_records=reads_records,
        )

    def _find_misleading(self, batches: np.ndarray) -> tuple[int, int | None]:
        row = len(batches)
        position = None
        for number in np.flatnonzero(~batches["crc_valid"])[:TRIES].tolist():
            if (position := self._find_hidden(batches[number])) is not None:
                row = number
                self._hole_count = self._hole_count + 1
                break
        offsets = batches["last_offset"][:row][batches["crc_valid"][:row]]
        self._last_offset = int(offsets[-1]) if len(offsets) else self._last_offset
        return row, position

    def _find_hidden(self, batch: np.void) -> int | None:
        """Returns where `batch` really ends, if the length in its header is wrong.

        The checksum of `batch` must be wrong. For the last batch, returns the end of the range.
        Returns None if the length seems right, or if the real end was not found.
        """
        position = int(batch["position"])
        end = int(batch["position"] + batch["size_bytes"])
        if end >= self._stop:
            return None
        if batch["magic"] != MAGIC_2:
            return self._batch_starts.find_first(position + 1, end)
        start = position + HEADER_BYTES
        next_offset = int(batch["last_offset"]) + 1
        following = batch_at(self._batch_starts.read, end, self._stop)
        if following is None:
            next_position = self._find_offset(next_offset, start, position + SEARCHED_BYTES)
            if next_position is None and self._is_valid_to_end(batch):
                return self._stop
            return next_position
        if following["base_offset"] == next_offset:
            return None
        return self._find_offset(next_offset, start, end)

    def _find_next(self, position: int) -> int | None:
        if self._hole_count >= MAX_HOLES:
            return None
        next_position = self._find_after_header(position)
        if next_position is None:
            start = position + 1
            next_position = self._find_offset(self._last_offset + 1, start, start + SEARCHED_BYTES)
        if next_position is None:
            next_position = self._batch_starts.find_first(position + 1, self._stop)
        self._hole_count += next_position is not None
        return next_position

    def _find_after_header(self, position: int) -> int | None:
        """Returns where the batch at `position` ends if its length is wrong. None: not found."""
        header = np.empty((1, HEADER_BYTES), np.uint8)
        if self._batch_starts.read(position, header[0]) < HEADER_BYTES:
            return None
        batch = rows(np.array([position]), header)[0]
        if batch["magic"] != MAGIC_2:
            return None
        if self._is_valid_to_end(batch):
            return self._stop
        start = position + HEADER_BYTES
        return self._find_offset(int(batch["last_offset"]) + 1, start, start + SEARCHED_BYTES)

    def _is_valid_to_end(self, batch: np.void) -> bool:
        """Returns whether the checksum is right if the batch ends where the scan ends."""
        last_batch = batch.copy()
        last_batch["size_bytes"] = self._stop - int(batch["position"])
        return last_batch["size_bytes"] <= SEARCHED_BYTES and batch_records.has_valid_crc(
            self._batch_starts.read, last_batch
        )

    def _find_offset(self, base_offset: int, start: int, stop: int) -> int | None:
        if not 0 <= base_offset <= MAX_OFFSET:
            return None
        pattern = base_offset.to_bytes(8, "big")
        data = bytearray(max(0, min(stop + len(pattern), self._stop) - start))
        end = self._batch_starts.read(start, np.frombuffer(data, np.uint8))
        index = data.find(pattern, 0, end)
        tries = 0
        while index >= 0 and tries < TRIES:
            if self._batch_starts.is_intact(start + index):
                return start + index
            index = data.find(pattern, index + 1, end)
            tries = tries + 1
        return None


class _HeaderWalk:
    """Yields batches by their headers. Verifies checksums only at unexpected offsets or magics."""

    def __init__(self, batch_starts: BatchStarts, start: int, stop: int) -> None:
        self._read = batch_starts.read
        self._stop = stop
        self._walk = Walk(batch_starts.read, start, stop, chunk_bytes(batch_starts, start))
        self._doubts = MAX_DOUBTS

    @property
    def end(self) -> WalkEnd:
        return self._walk.end

    def __iter__(self) -> Iterator[np.ndarray]:
        last_batch = np.empty(0, CHECKED_BATCH)
        for part in self._walk:
            batches = np.concatenate((last_batch, as_checked_batches(part)))
            doubtful = np.flatnonzero(_has_unexpected_successor(batches[:-1], batches[1:]))
            self._verify_checksums(batches, np.union1d(doubtful, doubtful + 1)[: self._doubts])
            self._doubts -= min(len(doubtful), self._doubts)
            yield batches[:-1]
            last_batch = batches[-1:]
        if self._walk.end.position < self._stop:
            self._verify_checksums(last_batch, np.arange(len(last_batch)))
        yield last_batch

    def _verify_checksums(self, batches: np.ndarray, places: np.ndarray) -> None:
        for place in places.tolist():
            batches["crc_valid"][place] = batch_records.has_valid_crc(self._read, batches[place])


def _has_unexpected_successor(batches: np.ndarray, following: np.ndarray) -> np.ndarray:
    """Returns for each batch whether the next one has an unexpected offset or a different magic."""
    is_gap = (following["base_offset"] != batches["last_offset"] + 1) & (
        following["base_offset"] != UNKNOWN
    )
    return is_gap | (following["magic"] != batches["magic"])


class SharedScan(BatchObserver[int]):
    """Passes the batches of a CheckedScan to observers, so that a .log is read once.

    The observers get the same batches as from Segment.scan(fill_wrapper_fields=True).
    """

    def __init__(
        self,
        segment: LogSegment,
        *observers: BatchObserver[Any],
        take_checked: Callable[[np.ndarray], None] | None = None,
    ) -> None:
        """Prepares the scan without reading.

        Args:
            take_checked: called with rows of CHECKED_BATCH, before the observers get these batches.
                Not called for batches that the CheckedScan did not read.
        """
        self._segment = segment
        self._observers = observers
        self._take_checked = take_checked
        self._end_position = 0
        self._has_parted = False
        # Rows are collected because a deep scan gives as few as one batch at a time.
        self._rows: list[np.ndarray] = []
        self._row_count = 0

    def observe(self, batches: np.ndarray) -> None:
        """Takes the next batches of the CheckedScan: rows of CHECKED_BATCH, from byte 0 on."""
        if self._has_parted or not len(batches):
            return
        if batches["position"][0] != self._end_position:
            self._has_parted = True
            return
        self._end_position = int(batches["position"][-1] + batches["size_bytes"][-1])
        self._rows.append(batches)
        self._row_count += len(batches)
        if self._row_count >= MAX_ROWS:
            self._show()

    def result(self) -> int:
        """Passes the remaining batches to the observers. Returns the position where the scan ends.

        Batches that the CheckedScan has not read are read from the .log. Raises CannotOpen if the
        .log cannot be read.
        """
        self._show()
        scan = self._segment.scan(self._end_position, fill_wrapper_fields=True)
        observe_scan(scan, *self._observers)
        return scan.end.position

    def _show(self) -> None:
        if not self._rows:
            return
        checked = np.concatenate(self._rows)
        rows = plain_batches(checked)
        self._rows = []
        self._row_count = 0
        if (rows["magic"] < MAGIC_2).any():
            with file.reader(self._segment.log.path) as read:
                fill_wrapper_fields(rows, read)
        if self._take_checked is not None:
            self._take_checked(checked)
        observe_scan([rows], *self._observers)
