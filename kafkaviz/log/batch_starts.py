"""The positions in a .log where a batch is known to start: reading may begin or end there.

They come from index entries, but an index is never trusted. The entry (offset 1035, position 4096)
counts only if a batch with a valid checksum begins at byte 4096. In a search by offset, that batch
must not begin after offset 1035. An entry of a .timeindex counts only if its timestamp is the
largest timestamp of the batch that holds its offset.

Offsets are assumed to increase along the log, as Kafka ensures. If they do not, nothing can be
skipped by offset.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from types import ModuleType
from typing import Any

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CannotOpen
from kafkaviz.format import batch_records, offset_index, time_index
from kafkaviz.format.batch import BATCH, HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2, UNKNOWN
from kafkaviz.format.walk import CHUNK_BYTES, Walk, batch_at
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.remote import address
from kafkaviz.log.remote.block_cache import (
    BLOCK_BYTES,
    POINT_BYTES,
    REQUEST_BYTES,
    is_fetched_whole,
)
from kafkaviz.log.segment import LogSegment

TRIES = 16  # index entries tried near a position; each lookup reads this many
MAX_TRIES = 64  # entries tried after damage, or before a byte that is inspected
STEPS = 1024  # the most headers read between an index entry and the batch of an offset
# If batches are this large on average, only the headers are read, one by one. If they are smaller,
# everything is read.
HOP_BYTES = 4096
SPARE_SHARE = 1.1  # factor on the expected bytes, because batches may grow
# entries read after an offset: for its batch, the next batch, and the end of the next batch
END_ENTRIES = 3
SAMPLE_BATCHES = 16  # batches over which the average is taken
LENGTH_START = field_start(HEADER, "batch_length_bytes")
LENGTH_BYTES = LENGTH_END - LENGTH_START
UNWRITTEN_KEY = inf  # the key of a slot that was never written; sorts last


@contextmanager
def open_batch_starts(
    segment: LogSegment,
    *,
    is_index_needed: bool = True,
    first_offset: float = -inf,
    last_offset: float = inf,
) -> Generator["BatchStarts"]:
    """Opens a segment and yields its `BatchStarts`: verified positions of batches in the .log.

    An index that cannot be opened counts as empty.

    Args:
        is_index_needed: if False and the log is in a remote store, the indexes are read only if the
            log alone does not suffice. This can save two requests per index.
        first_offset: the first offset that will be read, if known.
        last_offset: the last offset that will be read, if known. If given, one request fetches the
            bytes from `first_offset` to `last_offset`, up to the largest size of a request.
    """
    with ExitStack() as stack:
        log = stack.enter_context(file.reader(segment.log.path))
        end = None
        if not is_index_needed:
            end = _sound_end(segment, log, first_offset, last_offset)
        if end is not None:
            segment = replace(segment, index=None, timeindex=None)
        batch_starts = BatchStarts(
            segment,
            log,
            _open_slots(stack, segment.index, offset_index),
            _open_slots(stack, segment.timeindex, time_index),
            segment.log.size_bytes if end is None else end,
        )
        if end is None and last_offset < inf:
            batch_starts.fetch_offsets(first_offset, last_offset)
        yield batch_starts


def _sound_end(
    segment: LogSegment, read: ReadInto, first_offset: float, last_offset: float
) -> int | None:
    """Returns the byte up to which a log can be read without its .index, or None.

    - The size of the log, if one request fetches the whole log and all batches are valid.
    - Else the position of the first batch after `last_offset`, if `first_offset` is not above the
      base offset, and at most two requests from byte 0 on fetch all bytes before it.
    """
    size_bytes = segment.log.size_bytes
    if sound_end_offset(segment, read) is not None:
        return size_bytes
    if first_offset > segment.base_offset or last_offset == inf or not _is_stored(segment):
        return None
    start = 0
    stop = min(POINT_BYTES, size_bytes)
    while start < stop <= REQUEST_BYTES:
        read(start, np.empty(stop - start, np.uint8))  # one request
        batches, end = _sound_batches(segment, read, stop)
        behind = batches["position"][batches["base_offset"] > last_offset]
        if len(behind):
            return int(behind[0])
        if start or not end:
            return None
        offset_bytes = end / (int(batches["last_offset"][-1]) + 1 - segment.base_offset)
        expected_bytes = offset_bytes * (last_offset + 1 - segment.base_offset)
        start = stop
        stop = min(size_bytes, int(SPARE_SHARE * expected_bytes) + POINT_BYTES // 4)
    return None


def sound_end_offset(segment: LogSegment, read: ReadInto) -> int | None:
    """Returns the log end offset if one request to a store can prove it, else None.

    None if the .log is not in a store, is damaged, or is too large for one request. `read` reads
    the .log.
    """
    size_bytes = segment.log.size_bytes
    if not is_fetched_whole(segment.log.path, size_bytes) or not _is_stored(segment):
        return None
    batches, end = _sound_batches(segment, read, size_bytes)
    if end < size_bytes:
        return None
    return int(batches["last_offset"][-1]) + 1 if len(batches) else segment.base_offset


def ends_before(segment: LogSegment, offset: int) -> bool:
    """Returns whether one request to a store can prove that `offset` is the log end offset.

    True if the last bytes are a batch with a valid checksum that ends just before `offset`.
    """
    size_bytes = segment.log.size_bytes
    start = max(0, -(-size_bytes // BLOCK_BYTES) * BLOCK_BYTES - POINT_BYTES)
    if not _is_stored(segment):
        return False
    with file.reader(segment.log.path) as read:
        tail = np.empty(size_bytes - start, np.uint8)
        tail = tail[: read(start, tail)]
        if len(tail) < HEADER_BYTES:
            return False
        windows = np.lib.stride_tricks.sliding_window_view(tail[LENGTH_START:], LENGTH_BYTES)
        lengths = np.ascontiguousarray(windows).view(">i4")[:, 0]
        ends = np.arange(len(lengths)) + LENGTH_END + lengths  # where a batch from there would end
        for batch_start in np.flatnonzero(ends == len(tail)).tolist():
            batch = batch_at(read, start + batch_start, size_bytes)
            if batch is not None and batch["last_offset"] + 1 == offset:
                return batch_records.has_valid_crc(read, batch)
    return False


def _is_stored(segment: LogSegment) -> bool:
    return address.mirrored_file(segment.log.path) is not None


def _sound_batches(segment: LogSegment, read: ReadInto, stop: int) -> tuple[np.ndarray, int]:
    """Returns the batches from byte 0 on, and the byte after the last batch.

    Ends at `stop`, or where no batch begins. If any checksum is wrong, or the offsets do not
    increase, returns no batch and 0.
    """
    walk = Walk(read, 0, stop)
    end_offset = segment.base_offset
    parts = [np.empty(0, BATCH)]
    for batches in walk:
        ends = np.concatenate(([end_offset], batches["last_offset"] + 1))
        is_sound = (batches["base_offset"] >= ends[:-1]) & (ends[1:] > batches["base_offset"])
        if not is_sound.all() or not all(batch_records.has_valid_crc(read, row) for row in batches):
            return np.empty(0, BATCH), 0
        parts.append(batches)
        end_offset = int(ends[-1])
    return np.concatenate(parts), walk.end.position


@dataclass(eq=False)
class BatchStarts:
    """Finds positions in a .log at which a batch begins.

    Takes the positions from index entries, and checks that a batch begins there. `read` reads the
    .log, of which the first `_size_bytes` bytes may be read.
    """

    _segment: LogSegment
    read: ReadInto
    _offsets: "IndexSlots"
    _times: "IndexSlots"
    _size_bytes: int

    def fetch_offsets(self, first: float, last: float) -> None:
        """Fetches the bytes of the offsets `first` to `last` from a store, in one request.

        The size of a request is limited, so the last bytes may be missing. The .index is not
        verified here. If it is wrong, the wrong bytes are fetched.
        """
        log = self._segment.log
        if not _is_stored(self._segment) or is_fetched_whole(log.path, log.size_bytes):
            return
        base_offset = self._segment.base_offset
        slot = bisect_right(self._offsets, first - base_offset, key=_offset)
        start = int(self._offsets[slot - 1]["position"]) if slot else 0
        slot = bisect_right(self._offsets, last - base_offset, key=_offset)
        behind = self._offsets[slot + END_ENTRIES - 1 : slot + END_ENTRIES]
        end = _position(behind[0]) if len(behind) else inf
        if self._segment.state == "active" and end > log.size_bytes - POINT_BYTES:
            end = inf  # a reader of committed records asks for the end too
        stop = int(min(end, log.size_bytes, start + REQUEST_BYTES))
        if start < stop:
            self.read(start, np.empty(stop - start, np.uint8))

    def find_first(self, start: int, stop: int) -> int | None:
        slot = bisect_left(self._offsets, start, key=_position)
        for entry in self._offsets[slot : slot + MAX_TRIES]:
            if start <= _position(entry) < stop and self.is_intact(int(entry["position"])):
                return int(entry["position"])
        return None

    def find_last(self, position: int) -> int:
        """Returns where the last verified batch at or before `position` begins, or 0."""
        slot = bisect_right(self._offsets, position, key=_position)
        for entry in self._offsets[max(0, slot - MAX_TRIES) : slot][::-1]:
            if 0 < _position(entry) <= position and self.is_intact(int(entry["position"])):
                return int(entry["position"])
        return 0

    def positions(self, start: int, stop: int) -> np.ndarray:
        """Returns sorted, unverified .log positions from the .index, between `start` and `stop`."""
        first = bisect_left(self._offsets, start + 1, key=_position)
        last = bisect_left(self._offsets, stop, key=_position)
        entry_positions = np.unique(self._offsets[first:last]["position"].astype(np.int64))
        return entry_positions[(entry_positions > start) & (entry_positions < stop)]

    def position_before_offset(self, offset: float) -> int:
        """Returns the position of a batch whose first offset is at most `offset`, or 0.

        All batches before this position have smaller offsets.
        """
        slot = bisect_right(self._offsets, offset - self._segment.base_offset, key=_offset)
        for entry in self._offsets[max(0, slot - TRIES) : slot][::-1]:
            batch = self._intact_batch(entry)
            if batch is not None and _first_offset(batch) <= offset:
                return int(batch["position"])
        return 0

    def position_after_offset(self, offset: float) -> int:
        """Returns where a batch with a base offset above `offset` begins, or the .log's end."""
        slot = bisect_right(self._offsets, offset - self._segment.base_offset, key=_offset)
        for entry in self._offsets[slot : slot + TRIES]:
            batch = self._intact_batch(entry)
            if batch is not None and UNKNOWN != batch["base_offset"] > offset:
                return int(batch["position"])
        return self._size_bytes

    def position_before_time(self, timestamp_ms: float) -> int:
        """Returns a batch's position, or 0. All records before it are older than `timestamp_ms`."""
        slot = bisect_left(self._times, timestamp_ms, key=_timestamp)
        for entry in self._times[max(0, slot - TRIES) : slot][::-1]:
            if (batch := self._newest_batch(entry)) is not None:
                return int(batch["position"])
        return 0

    def position_after_time(self, timestamp_ms: float) -> int:
        """Returns the end of the first batch with a record after the timestamp.

        Considers only batches that the .timeindex points to. Without such a batch, returns the end
        of the .log.
        """
        slot = bisect_right(self._times, timestamp_ms, key=_timestamp)
        for entry in self._times[slot : slot + TRIES]:
            if (batch := self._newest_batch(entry)) is not None:
                return int(batch["position"] + batch["size_bytes"])
        return self._size_bytes

    def is_intact(self, position: int) -> bool:
        """Returns whether a complete batch with a valid checksum begins at this byte."""
        batch = self.header(position)
        return batch is not None and batch_records.has_valid_crc(self.read, batch)

    def header(self, position: int) -> np.void | None:
        """Returns the batch header at this byte as a row of format.batch.BATCH.

        Returns None if the batch is incomplete, or its length or magic is impossible.
        """
        batch = batch_at(self.read, position, self._size_bytes)
        return batch if batch is not None and 0 <= batch["magic"] <= MAGIC_2 else None

    def _intact_batch(self, entry: np.ndarray) -> np.void | None:
        """Returns an entry's batch. None if it is damaged, or begins above the entry's offset."""
        batch = self.header(int(entry["position"]))
        key = self._segment.base_offset + int(entry["relative_offset"])
        if batch is None or batch["base_offset"] > key:
            return None
        return batch if batch_records.has_valid_crc(self.read, batch) else None

    def _newest_batch(self, entry: np.ndarray) -> np.void | None:
        """Returns the batch that holds the offset of a time entry.

        Returns None if the entry's timestamp is not the largest in that batch.
        """
        offset = self._segment.base_offset + int(entry["relative_offset"])
        position = self.position_before_offset(offset)
        for _ in range(STEPS):
            batch = self.header(position)
            if batch is None:
                return None
            if batch["last_offset"] >= offset:
                return batch if batch["max_timestamp_ms"] == entry["timestamp_ms"] else None
            position += int(batch["size_bytes"])
        return None


class IndexSlots:
    """The slots of an index file as a sequence. A slot is read when it is accessed."""

    def __init__(self, read: ReadInto | None, size_bytes: int, layout: np.dtype) -> None:
        """Takes the open file. `read` is None for a missing file."""
        self._read: ReadInto | Any = read  # Any allows calls: if it is None, len is 0
        self._layout = layout
        self._slots = size_bytes // layout.itemsize if read else 0

    def __len__(self) -> int:
        return self._slots

    def __getitem__(self, index: int | slice) -> np.ndarray:
        """Returns an entry or a range of entries. Beyond the end of a shortened file: zeros."""
        if isinstance(index, int):
            return self[index : index + 1][0]
        first, stop, _ = index.indices(self._slots)
        entries = np.zeros(max(0, stop - first), self._layout)
        if len(entries):
            self._read(first * self._layout.itemsize, entries.view(np.uint8))
        return entries


def _open_slots(stack: ExitStack, index_file: FileInfo | None, layout: ModuleType) -> IndexSlots:
    try:
        read = stack.enter_context(file.reader(index_file.path)) if index_file else None
    except CannotOpen:
        read = None
    return IndexSlots(read, index_file.size_bytes if index_file else 0, layout.ENTRY)


def _slot_key(name: str, entry: np.ndarray) -> float:
    return int(entry[name]) if _is_written(entry) else UNWRITTEN_KEY


_position = partial(_slot_key, "position")
_offset = partial(_slot_key, "relative_offset")
_timestamp = partial(_slot_key, "timestamp_ms")


def _is_written(entry: np.ndarray) -> bool:
    """Returns whether a slot has a byte other than 0. False for preallocated slots.

    Also False for an entry with timestamp 0 and the base offset. Searches do not need this entry.
    """
    return any(entry.tobytes())


def _first_offset(batch: np.void) -> int:
    """Returns the first offset of a batch.

    The header of a compressed message of magic 0 or 1 lacks the first offset. For such a message,
    returns the last offset.
    """
    return int(batch["last_offset"] if batch["base_offset"] == UNKNOWN else batch["base_offset"])


def chunk_bytes(batch_starts: BatchStarts, start: int) -> int:
    """Returns how many bytes of a .log to read at once if not every batch is needed.

    HEADER_BYTES if the batches from `start` on are large, else CHUNK_BYTES.
    """
    position = start
    count = 0
    while count < SAMPLE_BATCHES and (batch := batch_starts.header(position)) is not None:
        position += int(batch["size_bytes"])
        count += 1
    is_large = count > 0 and position - start >= count * HOP_BYTES
    return HEADER_BYTES if is_large else CHUNK_BYTES
