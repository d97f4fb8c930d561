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
from types import ModuleType
from typing import Any

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CannotOpen
from kafkaviz.format import batch_records, offset_index, time_index
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2, UNKNOWN
from kafkaviz.format.walk import CHUNK_BYTES, Walk, batch_at
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.remote import address, block_cache
from kafkaviz.log.segment import LogSegment

TRIES = 16  # entries that are looked at around a place: each lookup reads so many
MAX_TRIES = 64  # of those behind damage, or before a byte that somebody looks at
STEPS = 1024  # headers from an entry on, to the batch that holds an offset
# of batches this large on average the headers alone are read, one by one; of smaller ones
# everything
HOP_BYTES = 4096
SAMPLE_BATCHES = 16  # batches that the average is of
UNWRITTEN_KEY = float("inf")  # the key of a slot that was never written: behind all others


@contextmanager
def entry_points(segment: LogSegment, *, is_index_needed: bool = True) -> Generator["EntryPoints"]:
    """The entry points of a segment with a .log, while its files are open.

    An index that cannot be opened proves none.

    Args:
        is_index_needed: False to leave out the indexes of a log that a store gives whole by one
            request, if nothing in it is damaged: each of them would be two requests more.
    """
    with ExitStack() as stack:
        log = stack.enter_context(file.reader(segment.log.path))
        if not is_index_needed and sound_end_offset(segment, log) is not None:
            segment = replace(segment, index=None, timeindex=None)
        yield EntryPoints(
            segment,
            log,
            _open_slots(stack, segment.index, offset_index),
            _open_slots(stack, segment.timeindex, time_index),
        )


def sound_end_offset(segment: LogSegment, read: ReadInto) -> int | None:
    """One past the last offset of a .log that a store gives whole, if nothing in it is damaged.

    Each batch begins where the one before it ends, with a larger offset and the right checksum.

    Args:
        read: of the .log.

    Returns:
        None of any other .log.
    """
    path, size_bytes = segment.log.path, segment.log.size_bytes
    if not block_cache.comes_whole(path, size_bytes) or address.mirror_behind(path) is None:
        return None
    walk, end_offset = Walk(read, 0, size_bytes), segment.base_offset
    for batches in walk:
        ends = np.concatenate(([end_offset], batches["last_offset"] + 1))
        is_sound = (batches["base_offset"] >= ends[:-1]) & (ends[1:] > batches["base_offset"])
        if not is_sound.all() or not all(batch_records.has_valid_crc(read, row) for row in batches):
            return None
        end_offset = int(ends[-1])
    return end_offset if walk.end.position == size_bytes else None


class EntryPoints:
    """The proven positions of one segment; each is a byte of its .log where a batch begins."""

    def __init__(
        self, segment: LogSegment, log: ReadInto, offsets: "IndexSlots", times: "IndexSlots"
    ) -> None:
        """Takes the open files of the segment.

        Args:
            log: reads the .log.
        """
        self.read = log
        self._segment, self._size_bytes, self._offsets, self._times = (
            segment,
            segment.log.size_bytes,
            offsets,
            times,
        )

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
