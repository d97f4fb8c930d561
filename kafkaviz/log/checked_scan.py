"""A scan that checks the batches of a .log and continues after damage.

The index may be damaged too, so the scan searches the bytes of the .log for the next batch. It
looks for the eight bytes of the next expected offset at which a batch with a valid checksum begins.
After offsets 10 to 19 these bytes are 00 00 00 00 00 00 00 14.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.format import batch_records
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2, UNKNOWN, rows
from kafkaviz.format.deep_scan import (
    CHECKED_BATCH,
    BatchFault,
    CheckLevel,
    DeepScan,
    believed_batches,
)
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.format.walk import Walk, WalkEnd, batch_at
from kafkaviz.log.entry_points import EntryPoints, chunk_bytes
from kafkaviz.log.resync_scan import BatchWalk, ResynchronisingScan

SEARCHED_BYTES = 16 << 20  # how far the next expected offset is searched for
TRIES = 64  # per chunk: batches with a wrong checksum; per search: matches
MAX_HOLES = 100  # after this many holes the scan ends at the next one
# Limits the doubtful headers that are verified by reading the batch. Compaction leaves gaps between
# offsets that look doubtful.
MAX_DOUBTS = 1000


class CheckedScan(ResynchronisingScan):
    """Checks every checksum and decodes every record from byte 0 on, or less, as `level` says.

    The arrays have the type format.deep_scan.CHECKED_BATCH. After damage, the scan continues at the
    batch that has the next expected offset and a valid checksum. If it finds none, it continues at
    a valid batch that an index entry points to.
    """

    def __init__(
        self,
        points: EntryPoints,
        stop: int,
        base_offset: int,
        take_faults: Callable[[Sequence[BatchFault]], None],
        *,
        first_walk: BatchWalk | None = None,
        level: CheckLevel = CheckLevel.RECORDS,
    ) -> None:
        """Prepares the scan without reading.

        Args:
            base_offset: the base offset of the segment.
            take_faults: called with the faults in the records of each chunk.
            first_walk: the batches from byte 0 on if they were checked before and have no fault.
            level: how much of each batch is checked.
        """
        super().__init__(0, stop)
        self._first_walk = first_walk
        self._level = level
        self._points = points
        self._take_faults = take_faults
        self._last_offset = base_offset - 1  # of the last batch with a valid checksum
        self._hole_count = 0

    def _walk(self, position: int) -> BatchWalk:
        if position == 0 and self._first_walk is not None:
            return self._first_walk
        if self._level == CheckLevel.HEADERS:
            return _HeaderWalk(self._points, position, self._stop)
        return _CheckedWalk(
            self._points.read,
            position,
            self._stop,
            self._take_faults,
            reads_records=self._level == CheckLevel.RECORDS,
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
        """Returns the next batch if a batch with a wrong checksum has a length that skips it.

        Returns None if the length is plausible or the next batch is not found.
        """
        position = int(batch["position"])
        end = int(batch["position"] + batch["size_bytes"])
        if batch["magic"] != MAGIC_2 or end >= self._stop:
            return None
        start = position + HEADER_BYTES
        next_offset = int(batch["last_offset"]) + 1
        following = batch_at(self._points.read, end, self._stop)
        if following is None:
            next_position = self._find_offset(next_offset, start, position + SEARCHED_BYTES)
            return self._stop if next_position is None and self._fills(batch) else next_position
        if following["base_offset"] == next_offset:
            return None
        return self._find_offset(next_offset, start, end)

    def _find_next(self, position: int) -> int | None:
        if self._hole_count >= MAX_HOLES:
            return None
        next_position = self._find_behind_header(position)
        if next_position is None:
            start = position + 1
            next_position = self._find_offset(self._last_offset + 1, start, start + SEARCHED_BYTES)
        if next_position is None:
            next_position = self._points.find_first(position + 1, self._stop)
        self._hole_count += next_position is not None
        return next_position

    def _find_behind_header(self, position: int) -> int | None:
        """Returns the batch after a header in which only the length is wrong, or None."""
        header = np.empty((1, HEADER_BYTES), np.uint8)
        if self._points.read(position, header[0]) < HEADER_BYTES:
            return None
        batch = rows(np.array([position]), header)[0]
        if batch["magic"] != MAGIC_2:
            return None
        if self._fills(batch):
            return self._stop
        start = position + HEADER_BYTES
        return self._find_offset(int(batch["last_offset"]) + 1, start, start + SEARCHED_BYTES)

    def _fills(self, batch: np.void) -> bool:
        """Returns whether the checksum is valid if the batch extends to the end of the range."""
        last_batch = batch.copy()
        last_batch["size_bytes"] = self._stop - int(batch["position"])
        return last_batch["size_bytes"] <= SEARCHED_BYTES and batch_records.has_valid_crc(
            self._points.read, last_batch
        )

    def _find_offset(self, base_offset: int, start: int, stop: int) -> int | None:
        """Returns where the first valid batch with this base offset begins, in [start, stop)."""
        if not 0 <= base_offset <= MAX_OFFSET:
            return None
        pattern = base_offset.to_bytes(8, "big")
        data = bytearray(max(0, min(stop + len(pattern), self._stop) - start))
        end = self._points.read(start, np.frombuffer(data, np.uint8))
        index = data.find(pattern, 0, end)
        tries = 0
        while index >= 0 and tries < TRIES:
            if self._points.is_intact(start + index):
                return start + index
            index = data.find(pattern, index + 1, end)
            tries = tries + 1
        return None


class _CheckedWalk:
    """The batches of a deep scan as arrays; the faults in records go to `take_faults`."""

    def __init__(
        self,
        read: ReadInto,
        start: int,
        stop: int,
        take_faults: Callable[[Sequence[BatchFault]], None],
        *,
        reads_records: bool,
    ) -> None:
        self._scan = DeepScan(read, start, stop, reads_records=reads_records)
        self._take_faults = take_faults

    @property
    def end(self) -> WalkEnd:
        return self._scan.end

    def __iter__(self) -> Iterator[np.ndarray]:
        for chunk in self._scan:
            self._take_faults(chunk.faults)
            yield chunk.batches


class _HeaderWalk:
    """Reads headers only. Checksums are checked only where offsets or magic do not continue."""

    def __init__(self, points: EntryPoints, start: int, stop: int) -> None:
        self._read = points.read
        self._stop = stop
        self._walk = Walk(points.read, start, stop, chunk_bytes(points, start))
        self._doubts = MAX_DOUBTS

    @property
    def end(self) -> WalkEnd:
        return self._walk.end

    def __iter__(self) -> Iterator[np.ndarray]:
        last_batch = np.empty(0, CHECKED_BATCH)
        for part in self._walk:
            batches = np.concatenate((last_batch, believed_batches(part)))
            doubtful = np.flatnonzero(_leads_astray(batches[:-1], batches[1:]))
            self._look_again(batches, np.union1d(doubtful, doubtful + 1)[: self._doubts])
            self._doubts -= min(len(doubtful), self._doubts)
            yield batches[:-1]
            last_batch = batches[-1:]
        if self._walk.end.position < self._stop:
            self._look_again(last_batch, np.arange(len(last_batch)))
        yield last_batch

    def _look_again(self, batches: np.ndarray, places: np.ndarray) -> None:
        for place in places.tolist():
            batches["crc_valid"][place] = batch_records.has_valid_crc(self._read, batches[place])


def _leads_astray(batches: np.ndarray, following: np.ndarray) -> np.ndarray:
    """Returns for each batch whether the next one does not continue its offsets or its magic."""
    is_gap = (following["base_offset"] != batches["last_offset"] + 1) & (
        following["base_offset"] != UNKNOWN
    )
    return is_gap | (following["magic"] != batches["magic"])
