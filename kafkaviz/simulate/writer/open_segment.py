"""A segment while Kafka writes it: its state in memory, and its two indexes.

Follows LogSegment of Kafka 2.4 to 4.4.0.

- The counter of bytes since the last index entry is not stored on disk. It is 0 after opening or
  truncating a segment.
- The .index of a new segment exists at once. The .timeindex is created at its first use.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz.binary.file_view import FileView
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import offset_index, time_index, txn_index
from kafkaviz.format.walk import Walk
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.recovery import RecoveredSegment
from kafkaviz.simulate.writer import append_loop, roll_reason
from kafkaviz.simulate.writer.roll_reason import RollReason


class IndexFile:
    """An offset or time index of one segment."""

    def __init__(self, dtype: np.dtype, content: bytes | None = None) -> None:
        """Loads `content`; each complete slot is an entry. None means that the file is missing."""
        self.dtype = dtype  # offset_index.ENTRY or time_index.ENTRY; offsets are relative
        self.exists = content is not None
        self.file_bytes = len(content or b"")
        self.count = self._used_slots = self.file_bytes // dtype.itemsize
        self._slots = np.frombuffer(content or b"", dtype, self.count).copy()

    @property
    def entries(self) -> np.ndarray:
        return self._slots[: self.count]

    @property
    def slots(self) -> int:
        return self.file_bytes // self.dtype.itemsize

    def open(self, most_bytes: int) -> None:
        """If the file is missing, creates it with the complete slots that fit into `most_bytes`."""
        if not self.exists:
            self.exists = True
            self.file_bytes = most_bytes // self.dtype.itemsize * self.dtype.itemsize

    def append(self, entries: np.ndarray) -> None:
        end = self.count + len(entries)
        if end > len(self._slots):
            larger = np.zeros(max(end, 2 * len(self._slots), 16), self.dtype)
            larger[: self._used_slots] = self._slots[: self._used_slots]
            self._slots = larger
        self._slots[self.count : end] = entries
        self.count = end
        self._used_slots = max(end, self._used_slots)

    def resize(self, most_bytes: int) -> None:
        self.file_bytes = most_bytes // self.dtype.itemsize * self.dtype.itemsize
        self._used_slots = min(self._used_slots, self.slots)
        self._slots = self._slots[: max(self._used_slots, self.count)]

    def trim(self) -> None:
        """Cuts the file to its entries (trimToValidSize)."""
        self.resize(self.count * self.dtype.itemsize)

    def used_bytes(self) -> bytes:
        """Returns the file's bytes without the unused slots at the end."""
        return self._slots[: self._used_slots].tobytes()

    def content(self) -> bytes:
        data = self.used_bytes()
        return data + bytes(self.file_bytes - len(data))


UNKNOWN = -1


class OpenSegment:
    """A segment that a simulated broker has open: the state that the broker keeps in memory."""

    def __init__(
        self,
        base_offset: int,
        config: LogConfig,
        now_ms: int,
        *,
        jitter_ms: int,
        index: bytes | None = None,
        timeindex: bytes | None = None,
    ) -> None:
        """Opens a segment. None for `index` or `timeindex` means that the file is missing."""
        self.base_offset = base_offset
        self._room_bytes = config.segment_index_bytes
        self.index = IndexFile(offset_index.ENTRY, index)
        self.timeindex = IndexFile(time_index.ENTRY, timeindex)
        self.txnindex: bytes | None = None  # None until its first entry creates the file
        self.roll_reason: RollReason | None = None
        # whether `end` added a time entry
        self.has_end_entry = False
        # whether the largest timestamp was read since the segment was opened
        self._is_time_known = False
        self.counters = np.zeros(1, append_loop.STATE)  # one row: sizes, timestamps, counts
        state = self.counters[0]
        state["base_offset"] = state["max_timestamp_offset"] = base_offset
        state["created_ms"] = now_ms
        state["jitter_ms"] = jitter_ms
        state["reference_ms"] = state["max_timestamp_ms"] = UNKNOWN
        state["offset_slots"] = config.offset_slots
        state["time_slots"] = config.usable_time_slots
        self.index.open(self._room_bytes)
        self._count()

    @property
    def log_bytes(self) -> int:
        """The size of the .log without preallocated space."""
        return int(self.counters["log_bytes"][0])

    def max_timestamp(self) -> tuple[int, int]:
        """Returns the largest timestamp and its offset (readMaxTimestampAndOffsetSoFar).

        Returns -1 and the base offset if no batch has a timestamp.
        """
        if not self._is_time_known:
            self._is_time_known = True
            self.timeindex.open(self._room_bytes)
            state = self.counters[0]
            state["max_timestamp_ms"], state["max_timestamp_offset"] = self._last_time()
        state = self.counters[0]
        return int(state["max_timestamp_ms"]), int(state["max_timestamp_offset"])

    # ---- appends, and the end of a segment

    def take(
        self,
        rows: np.ndarray,
        time_offsets: np.ndarray,
        start: int,
        *,
        is_rolled: bool,
        limits: np.ndarray,
        new: np.ndarray,
    ) -> tuple[int, int, RollReason | None]:
        """Appends rows until an append needs a roll or is refused; see append_loop.take.

        Returns the next row, the outcome, and the reason of the roll or None.
        """
        if self.timeindex.exists:
            self.max_timestamp()
        row, outcome, cause, offsets, times = append_loop.take(
            rows, time_offsets, start, is_rolled, self.counters, limits, new
        )
        is_written = row > start or outcome >= append_loop.OFFSET_FULL
        # Kafka checks the rules in order; the first ones do not open the time index
        early_causes = (0, roll_reason.SIZE, roll_reason.TIME, roll_reason.OFFSET_FULL)
        if is_written or cause not in early_causes:
            self._is_time_known = True
            self.timeindex.open(self._room_bytes)
        self._append_entries(self.index, new[:offsets, :2])
        self._append_entries(self.timeindex, new[:times, 2:])
        return row, outcome, self._reason(cause, rows, row, limits) if cause else None

    def add_aborted(self, entries: np.ndarray) -> None:
        """Adds entries (txn_index.ENTRY) to the transaction index."""
        if len(entries):
            self.txnindex = (self.txnindex or b"") + txn_index.build(entries)

    def end(self) -> None:
        """Adds the last time entry, and trims both indexes (onBecomeInactiveSegment, close)."""
        self.timeindex.open(self._room_bytes)
        self._put_last_time()
        for file in (self.index, self.timeindex):
            file.trim()

    def make_room(self, config: LogConfig) -> None:
        """Resizes both indexes of an active segment to segment.index.bytes (resizeIndexes)."""
        for file in (self.index, self.timeindex):
            file.open(config.segment_index_bytes)
            file.resize(config.segment_index_bytes)
        self._count()

    def _put_last_time(self) -> None:
        timestamp_ms, offset = self.max_timestamp()
        last_ms, last_offset = self._last_time()
        if timestamp_ms > (last_ms if self.timeindex.count else UNKNOWN) and offset >= last_offset:
            entry = np.array([(timestamp_ms, offset - self.base_offset)], np.int64)
            self._append_entries(self.timeindex, entry)
            self._count()
            self.has_end_entry = True

    # ---- truncation, and opening an existing segment

    def truncate(self, target_offset: int, log: FileView, now_ms: int) -> int | None:
        """Removes the batch with `target_offset` and all later batches (truncateTo).

        Returns the new size of the .log; None if nothing is cut.
        """
        position = self._position_of(target_offset, log)
        self.timeindex.open(self._room_bytes)
        self.has_end_entry = False
        if self.txnindex is not None:
            aborted = txn_index.parse(self.txnindex)
            count = txn_index.count_after_truncation(aborted, target_offset)
            self.txnindex = txn_index.build(aborted[:count])
        relative_offset = target_offset - self.base_offset
        for file in (self.index, self.timeindex):
            # the bytes of the removed entries stay (truncateToEntries)
            file.count = int(np.searchsorted(file.entries["relative_offset"], relative_offset))
            file.resize(self._room_bytes)
        self._count()
        state = self.counters[0]
        state["bytes_since_last_index_entry"] = 0
        if position is not None:
            state["log_bytes"] = position
        if not state["log_bytes"]:
            state["created_ms"] = now_ms
            state["reference_ms"] = UNKNOWN
        if self.max_timestamp()[0] >= 0:
            state["max_timestamp_ms"], state["max_timestamp_offset"] = self._read_max_timestamp(log)
        return position

    def read_log(self, log: FileView) -> None:
        """Reads the size of an existing .log, and the timestamp from which segment.ms counts."""
        self.counters["log_bytes"] = log.size_bytes
        for batches in _batches(log):
            self.counters["reference_ms"] = batches["max_timestamp_ms"][0]
            return

    def store_max_timestamp(self, recovered_segment: RecoveredSegment) -> None:
        """Stores the largest timestamp that the recovery of this segment found."""
        if recovered_segment.max_timestamp_ms >= 0:
            self._is_time_known = True
            self.counters["max_timestamp_ms"] = recovered_segment.max_timestamp_ms
            self.counters["max_timestamp_offset"] = recovered_segment.max_timestamp_offset

    def _position_of(self, offset: int, log: FileView) -> int | None:
        for batches in _batches(log, self._floor_position(offset)):
            reaching = np.flatnonzero(batches["last_offset"] >= offset)
            if len(reaching):
                return int(batches["position"][reaching[0]])
        return None

    def _read_max_timestamp(self, log: FileView) -> tuple[int, int]:
        """Returns the largest timestamp in a .log, and its offset (readLargestTimestamp)."""
        best_ms, best_offset = self._last_time()
        limit = self.log_bytes
        for batches in _batches(log, self._floor_position(best_offset)):
            batches = batches[batches["position"] < limit]
            if len(batches) and batches["max_timestamp_ms"].max() > best_ms:
                row = int(batches["max_timestamp_ms"].argmax())
                best_ms = int(batches["max_timestamp_ms"][row])
                best_offset = int(batches["last_offset"][row])
        return best_ms, best_offset

    def _floor_position(self, offset: int) -> int:
        entries = self.index.entries
        relative_offset = offset - self.base_offset
        count = int(np.searchsorted(entries["relative_offset"], relative_offset, "right"))
        return int(entries["position"][count - 1]) if count else 0

    # ---- entries in the files and in the counters

    def _last_time(self) -> tuple[int, int]:
        if not self.timeindex.count:
            return UNKNOWN, self.base_offset
        timestamp_ms, relative_offset = self.timeindex.entries[-1].item()
        return timestamp_ms, self.base_offset + relative_offset

    def _count(self) -> None:
        state = self.counters[0]
        keys = self.index.entries["relative_offset"]
        state["offset_entries"] = self.index.count
        state["time_entries"] = self.timeindex.count
        state["last_key"] = self.base_offset + (int(keys[-1]) if len(keys) else 0)
        state["last_time_ms"], state["last_time_offset"] = self._last_time()

    def _append_entries(self, file: IndexFile, new: np.ndarray) -> None:
        if len(new):
            entries = np.empty(len(new), file.dtype)
            for column, name in enumerate(field_names(file.dtype)):
                entries[name] = new[:, column]
            file.append(entries)

    def _reason(self, number: int, rows: np.ndarray, row: int, limits: np.ndarray) -> RollReason:
        state = self.counters[0]
        append = append_rows(rows, row)
        waited_ms = roll_reason.waited_ms(
            int(state["reference_ms"]),
            int(append["max_timestamp_ms"].max()),
            int(append["now_ms"][0]),
            int(state["created_ms"]),
        )
        return roll_reason.roll_reason(
            number,
            state,
            limits[0],
            waited_ms=waited_ms,
            relative_offset=int(append["last_offset"][-1]) - self.base_offset,
            incoming_bytes=int(append["size_bytes"].sum()),
        )


def append_rows(rows: np.ndarray, start: int) -> np.ndarray:
    number = rows["append"][start]
    end = start + 1
    while end < len(rows) and rows["append"][end] == number:
        end += 1
    return rows[start:end]


def _batches(log: FileView, start: int = 0) -> Iterator[np.ndarray]:
    with log.open_reader() as read:
        yield from Walk(read, start, log.size_bytes)
