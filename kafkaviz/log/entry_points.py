"""Where reading of a .log may begin or end inside it: at index entries that the .log confirms.

An index is never trusted. Of the entry (offset 1035, position 4096) this much must be true in the
.log before 4096 counts: a batch begins there that is complete by its checksum; and, where it is
looked for by its offset, it does not begin behind 1035. An entry of a .timeindex counts if the
batch that holds its offset has its timestamp as the newest. Slots are read one by one, as a search
needs them: of an index of 512 KiB about a hundred bytes.

Offsets are taken to grow along a log, as Kafka sees to; where they do not, which is a finding of
its own, nothing can be skipped by them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
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
from kafkaviz.log.remote.block_cache import BLOCK_BYTES, POINT_BYTES, REQUEST_BYTES, comes_whole
from kafkaviz.log.segment import LogSegment

TRIES = 16  # entries that are looked at around a place: each lookup reads so many
MAX_TRIES = 64  # of those behind damage, or before a byte that somebody looks at
STEPS = 1024  # headers from an entry on, to the batch that holds an offset
# of batches this large on average the headers alone are read, one by one; of smaller ones
# everything
HOP_BYTES = 4096
SPARE_SHARE = 1.1  # of what is expected to be read, for batches that grow
END_ENTRIES = 3  # of batches behind an offset: that which has it, the next, where that ends
SAMPLE_BATCHES = 16  # batches that the average is of
LENGTH_START = field_start(HEADER, "batch_length_bytes")
LENGTH_BYTES = LENGTH_END - LENGTH_START
UNWRITTEN_KEY = inf  # the key of a slot that was never written: behind all others


@contextmanager
def entry_points(
    segment: LogSegment,
    *,
    is_index_needed: bool = True,
    first_offset: float = -inf,
    last_offset: float = inf,
) -> Generator["EntryPoints"]:
    """The entry points of a segment with a .log, while its files are open.

    An index that cannot be opened proves none.

    Args:
        is_index_needed: False to leave out the indexes of a log in a store, each of which would be
            two requests more, where the log comes whole or is read from its start on, and nothing
            in what is read is damaged.
        first_offset: of what will be read, where that is known.
        last_offset: the same. What lies between both by the .index comes by one request.
    """
    with ExitStack() as stack:
        log = stack.enter_context(file.reader(segment.log.path))
        end = None
        if not is_index_needed:
            end = _sound_end(segment, log, first_offset, last_offset)
        if end is not None:
            segment = replace(segment, index=None, timeindex=None)
        points = EntryPoints(
            segment,
            log,
            _open_slots(stack, segment.index, offset_index),
            _open_slots(stack, segment.timeindex, time_index),
            segment.log.size_bytes if end is None else end,
        )
        if end is None and last_offset < inf:
            points.fetch_offsets(first_offset, last_offset)
        yield points


def _sound_end(
    segment: LogSegment, read: ReadInto, first_offset: float, last_offset: float
) -> int | None:
    """The byte up to which a log is read without its .index; None where that is needed.

    That of a log that comes whole, if it is sound; of a larger one that is read from its start the
    one behind the last offset, where two requests bring that: the first tells how much more.
    """
    size_bytes = segment.log.size_bytes
    if sound_end_offset(segment, read) is not None:
        return size_bytes
    if first_offset > segment.base_offset or last_offset == inf or not _is_stored(segment):
        return None
    start, stop = 0, min(POINT_BYTES, size_bytes)
    while start < stop <= REQUEST_BYTES:
        read(start, np.empty(stop - start, np.uint8))  # by one request
        batches, end = _sound_batches(segment, read, stop)
        behind = batches["position"][batches["base_offset"] > last_offset]
        if len(behind):
            return int(behind[0])
        if start or not end:
            return None
        offset_bytes = end / (int(batches["last_offset"][-1]) + 1 - segment.base_offset)
        expected_bytes = offset_bytes * (last_offset + 1 - segment.base_offset)
        start, stop = stop, min(size_bytes, int(SPARE_SHARE * expected_bytes) + POINT_BYTES // 4)
    return None


def sound_end_offset(segment: LogSegment, read: ReadInto) -> int | None:
    """One past the last offset of a .log that a store gives whole, if nothing in it is damaged.

    Args:
        read: of the .log.

    Returns:
        None of any other .log.
    """
    size_bytes = segment.log.size_bytes
    if not comes_whole(segment.log.path, size_bytes) or not _is_stored(segment):
        return None
    batches, end = _sound_batches(segment, read, size_bytes)
    if end < size_bytes:
        return None
    return int(batches["last_offset"][-1]) + 1 if len(batches) else segment.base_offset


def ends_before(segment: LogSegment, offset: int) -> bool:
    """Whether a store shows by one request that this is the log end offset.

    The last bytes of the .log are then a batch with the right checksum and the offset before.
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
        ends = np.arange(len(lengths)) + LENGTH_END + lengths  # of batches that began there
        for batch_start in np.flatnonzero(ends == len(tail)).tolist():
            batch = batch_at(read, start + batch_start, size_bytes)
            if batch is not None and batch["last_offset"] + 1 == offset:
                return batch_records.has_valid_crc(read, batch)
    return False


def _is_stored(segment: LogSegment) -> bool:
    """Whether the bytes of a .log come from a store."""
    return address.mirror_behind(segment.log.path) is not None


def _sound_batches(segment: LogSegment, read: ReadInto, stop: int) -> tuple[np.ndarray, int]:
    """The batches from the first byte on up to damage, and the byte behind the last one.

    Each begins where the one before it ends, with a larger offset and the right checksum. There are
    none where a checksum or an offset is wrong.
    """
    walk, end_offset, parts = Walk(read, 0, stop), segment.base_offset, [np.empty(0, BATCH)]
    for batches in walk:
        ends = np.concatenate(([end_offset], batches["last_offset"] + 1))
        is_sound = (batches["base_offset"] >= ends[:-1]) & (ends[1:] > batches["base_offset"])
        if not is_sound.all() or not all(batch_records.has_valid_crc(read, row) for row in batches):
            return np.empty(0, BATCH), 0
        parts.append(batches)
        end_offset = int(ends[-1])
    return np.concatenate(parts), walk.end.position


class EntryPoints:
    """The proven positions of one segment; each is a byte of its .log where a batch begins."""

    def __init__(
        self,
        segment: LogSegment,
        log: ReadInto,
        offsets: "IndexSlots",
        times: "IndexSlots",
        size_bytes: int,
    ) -> None:
        """Takes the open files of the segment.

        Args:
            log: reads the .log.
            size_bytes: of the .log as far as it is read.
        """
        self.read = log
        self._segment, self._size_bytes, self._offsets, self._times = (
            segment,
            size_bytes,
            offsets,
            times,
        )

    def fetch_offsets(self, first: float, last: float) -> None:
        """Lets a store give what holds these offsets by one request, as far as one brings it.

        What the .index says is not proven here: where it is wrong, other bytes come.
        """
        log = self._segment.log
        if not _is_stored(self._segment) or comes_whole(log.path, log.size_bytes):
            return
        base_offset = self._segment.base_offset
        slot = bisect_right(self._offsets, first - base_offset, key=_offset)
        start = int(self._offsets[slot - 1]["position"]) if slot else 0
        slot = bisect_right(self._offsets, last - base_offset, key=_offset)
        behind = self._offsets[slot + END_ENTRIES - 1 : slot + END_ENTRIES]
        end = _position(behind[0]) if len(behind) else inf
        if self._segment.state == "active" and end > log.size_bytes - POINT_BYTES:
            end = inf  # which a reader of what is committed asks for too
        stop = int(min(end, log.size_bytes, start + REQUEST_BYTES))
        if start < stop:
            self.read(start, np.empty(stop - start, np.uint8))

    def find_first(self, start: int, stop: int) -> int | None:
        """The first proven position in [start, stop), None if no entry leads to one."""
        slot = bisect_left(self._offsets, start, key=_position)
        for entry in self._offsets[slot : slot + MAX_TRIES]:
            if start <= _position(entry) < stop and self.is_intact(int(entry["position"])):
                return int(entry["position"])
        return None

    def find_last(self, position: int) -> int:
        """The last proven position at or before a byte; byte 0 if no entry leads to one."""
        slot = bisect_right(self._offsets, position, key=_position)
        for entry in self._offsets[max(0, slot - MAX_TRIES) : slot][::-1]:
            if 0 < _position(entry) <= position and self.is_intact(int(entry["position"])):
                return int(entry["position"])
        return 0

    def positions(self, start: int, stop: int) -> np.ndarray:
        """The positions in the entries between two bytes, proven or not; in order, each once.

        Args:
            start: this byte itself is left out.
        """
        first, last = (
            bisect_left(self._offsets, edge, key=_position) for edge in (start + 1, stop)
        )
        entry_positions = np.unique(self._offsets[first:last]["position"].astype(np.int64))
        return entry_positions[(entry_positions > start) & (entry_positions < stop)]

    def position_before_offset(self, offset: float) -> int:
        """A position before which all offsets are smaller; byte 0 where no entry proves one."""
        slot = bisect_right(self._offsets, offset - self._segment.base_offset, key=_offset)
        for entry in self._offsets[max(0, slot - TRIES) : slot][::-1]:
            batch = self._intact_batch(entry)
            if batch is not None and _first_offset(batch) <= offset:
                return int(batch["position"])
        return 0

    def position_behind_offset(self, offset: float) -> int:
        """A position from which on all offsets are larger.

        The end of the .log where no entry proves one.
        """
        slot = bisect_right(self._offsets, offset - self._segment.base_offset, key=_offset)
        for entry in self._offsets[slot : slot + TRIES]:
            batch = self._intact_batch(entry)
            if batch is not None and UNKNOWN != batch["base_offset"] > offset:
                return int(batch["position"])
        return self._size_bytes

    def position_before_time(self, timestamp_ms: float) -> int:
        """A position before which no record is as new as this, by the .timeindex.

        Byte 0 where the .log confirms no entry of it.
        """
        slot = bisect_left(self._times, timestamp_ms, key=_timestamp)
        for entry in self._times[max(0, slot - TRIES) : slot][::-1]:
            if (batch := self._newest_batch(entry)) is not None:
                return int(batch["position"])
        return 0

    def position_behind_time(self, timestamp_ms: float) -> int:
        """The end of a batch with a record newer than this, as early as the .timeindex has one.

        The end of the .log without one.
        """
        slot = bisect_right(self._times, timestamp_ms, key=_timestamp)
        for entry in self._times[slot : slot + TRIES]:
            if (batch := self._newest_batch(entry)) is not None:
                return int(batch["position"] + batch["size_bytes"])
        return self._size_bytes

    def is_intact(self, position: int) -> bool:
        """Whether a complete batch begins at this byte, by its checksum."""
        batch = self.header(position)
        return batch is not None and batch_records.has_valid_crc(self.read, batch)

    def header(self, position: int) -> np.void | None:
        """The batch whose header is at this byte, if its length is possible.

        Returns:
            A row of format.batch.BATCH.
        """
        batch = batch_at(self.read, position, self._size_bytes)
        return batch if batch is not None and 0 <= batch["magic"] <= MAGIC_2 else None

    def _intact_batch(self, entry: np.ndarray) -> np.void | None:
        """The batch that an entry leads to.

        Returns:
            None unless it is complete and does not begin behind the entry's key.
        """
        batch = self.header(int(entry["position"]))
        key = self._segment.base_offset + int(entry["relative_offset"])
        return (
            batch
            if batch is not None
            and batch["base_offset"] <= key
            and batch_records.has_valid_crc(self.read, batch)
            else None
        )

    def _newest_batch(self, entry: np.ndarray) -> np.void | None:
        """The batch that holds the offset of a time entry.

        Returns:
            None unless the entry's timestamp is that of its newest record.
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
    """The slots of an index file as a sequence, each read when it is accessed."""

    def __init__(self, read: ReadInto | None, size_bytes: int, layout: np.dtype) -> None:
        """Takes the open file.

        Args:
            read: None where there is no file.
        """
        self._read: ReadInto | Any = read  # Any for None: then there are no slots
        self._layout = layout
        self._slots = size_bytes // layout.itemsize if read else 0

    def __len__(self) -> int:
        return self._slots

    def __getitem__(self, index: int | slice) -> np.ndarray:
        """An entry, or the entries of a range of slots.

        Those of a file that has become shorter are zeros.
        """
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


def _position(entry: np.ndarray) -> float:
    return int(entry["position"]) if _is_written(entry) else UNWRITTEN_KEY


def _offset(entry: np.ndarray) -> float:
    return int(entry["relative_offset"]) if _is_written(entry) else UNWRITTEN_KEY


def _timestamp(entry: np.ndarray) -> float:
    return int(entry["timestamp_ms"]) if _is_written(entry) else UNWRITTEN_KEY


def _is_written(entry: np.ndarray) -> bool:
    """Whether a slot is not all zeros, as one is that was set ahead.

    An entry of time 0 at the base offset looks the same and is not needed.
    """
    return any(entry.tobytes())


def _first_offset(batch: np.void) -> int:
    """The first offset of a batch.

    The last of a wrapper of magic 0 and 1, whose header does not name its first.
    """
    return int(batch["last_offset"] if batch["base_offset"] == UNKNOWN else batch["base_offset"])


def chunk_bytes(points: EntryPoints, start: int) -> int:
    """How much of a .log to read at once where not every batch is needed.

    Of large batches from a byte on the header of one, else much.
    """
    position = start
    for number in range(SAMPLE_BATCHES):
        batch = points.header(position)
        if batch is None:
            return (
                HEADER_BYTES if number and position - start >= number * HOP_BYTES else CHUNK_BYTES
            )
        position += int(batch["size_bytes"])
    return HEADER_BYTES if position - start >= SAMPLE_BATCHES * HOP_BYTES else CHUNK_BYTES
