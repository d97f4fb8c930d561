"""A segment: a .log and the indexes with the same base offset, as far as these files exist."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import batch_records, legacy_messages, offset_index, time_index, txn_index
from kafkaviz.format.batch import BATCH, MAGIC_2, MAGIC_END, UNKNOWN
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.walk import CHUNK_BYTES, Walk, WalkEnd
from kafkaviz.html import html_table
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import message, say
from kafkaviz.units import file_stem

# Decompressing more than this takes seconds; the pipeline does it instead.
FILLED_LIMIT_BYTES = 64 << 20
OFFSET_ENTRY: np.dtype = np.dtype(
    [("slot", "i8"), ("relative_offset", "i8"), ("offset", "i8"), ("position", "i8")]
)
TIME_ENTRY: np.dtype = np.dtype(
    [("slot", "i8"), ("timestamp_ms", "i8"), ("relative_offset", "i8"), ("offset", "i8")]
)


class WalkResult(NamedTuple):
    """Every batch of a log (one BATCH row each), and where the batches end."""

    batches: np.ndarray
    end: WalkEnd


class Index(NamedTuple):
    """The contents of an index file."""

    entries: np.ndarray  # one row per written slot (OFFSET_ENTRY or TIME_ENTRY)
    slots: int  # in the file, written or not
    trailing_bytes: int  # in an incomplete last slot

    @property
    def unwritten_slots(self) -> int:
        """The number of preallocated slots after the last written slot."""
        return self.slots - len(self.entries)


class IndexEnd(NamedTuple):
    """The number of entries in an index, and the last entry. None: the index has no entries."""

    entries: int
    last: np.void | None


@dataclass(frozen=True, kw_only=True)
class Segment:
    """The files with one base offset in a topic-partition; a LogSegment if there is a .log.

    The attribute for a file is None if the file does not exist. Even the .log may be missing.
    Files are read when they are needed.
    """

    base_offset: int
    # "active" for the last one of its partition, "closed" for others; or the suffix of its files:
    # "deleted", "cleaned" or "swap"
    state: str
    log: FileInfo | None = field(default=None, init=False)
    index: FileInfo | None = None
    timeindex: FileInfo | None = None
    txnindex: FileInfo | None = None

    @property
    def name(self) -> str:
        return file_stem(self.base_offset)

    def _repr_html_(self) -> str:
        indexes = {"index": self.offset_slots, "timeindex": self.time_slots}
        rows = []
        for kind in ("log", "index", "timeindex", "txnindex"):
            info = getattr(self, kind)
            index = indexes.get(kind)
            counts = (index.slots, len(index.entries)) if index else (None, None)
            rows += [(info.name, info.size_bytes, *counts)] if info else []
        title = say("html_table.segment_title", name=self.name, state=self.state)
        columns = ["common.file", "batch_areas.head_bytes"]
        columns += ["html_table.slots", "html_table.written"]
        return html_table(title, columns, rows)

    @property
    def is_in_use(self) -> bool:
        """Whether a broker would use the segment: its files have no suffix."""
        return self.state in ("active", "closed")

    @property
    def files(self) -> tuple[FileInfo, ...]:
        return tuple(info for info in (self.log, self.index, self.timeindex, self.txnindex) if info)

    def file_name(self, kind: str) -> str:
        """Returns the name of a "log", "index", "timeindex" or "txnindex" file.

        If the file does not exist, returns the name that Kafka would give it.
        """
        info = getattr(self, kind)
        return info.name if info else f"{self.name}.{kind}"

    def scan(
        self,
        start: int = 0,
        stop: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        *,
        fill_wrapper_fields: bool = False,
    ) -> "BatchScan":
        """Returns the batches between two positions of the .log. Raises CannotOpen without a .log.

        Iterate over the BatchScan to get arrays of format.batch.BATCH. Afterwards its `end` says
        where the batches end.

        Args:
            stop: the position where the scan ends, by default the end of the .log.
            fill_wrapper_fields: whether to decompress each wrapper of magic 0 and 1, to find the
                first offset, the first time and the number of messages. If a wrapper cannot be
                read, these fields stay UNKNOWN.
        """
        log = self.with_log().log
        stop = log.size_bytes if stop is None else stop
        return BatchScan(
            log=log,
            start=start,
            stop=stop,
            chunk_bytes=chunk_bytes,
            fills_wrapper_fields=fill_wrapper_fields,
        )

    def full_scan(self) -> "BatchScan":
        """Returns every batch. Logs above 64 MiB keep wrappers of magic 0 and 1 compressed."""
        return self.scan(fill_wrapper_fields=self.fills_wrapper_fields)

    @property
    def fills_wrapper_fields(self) -> bool:
        """Whether `full_scan` decompresses wrappers of magic 0 and 1."""
        return self.with_log().log.size_bytes <= FILLED_LIMIT_BYTES

    def walk(self) -> WalkResult:
        """Returns every batch of the .log at once; no batches if there is no .log."""
        if self.log is None:
            return WalkResult(np.empty(0, BATCH), WalkEnd(0, "end"))
        scan = self.full_scan()
        return WalkResult(np.concatenate([np.empty(0, BATCH), *scan]), scan.end)

    def batches(self) -> np.ndarray:
        """Returns an array of format.batch.BATCH, one row per batch of the .log, shape (batches,).

        Empty if there is no .log. The array ends at the first batch that cannot be read. `walk`
        also returns the position and the reason of this end.
        """
        return self.walk().batches

    @property
    def offset_index(self) -> np.ndarray:
        """The entries of the .index as an array of OFFSET_ENTRY, shape (written slots,).

        Offsets are absolute. Positions are bytes of the .log. Empty without a file.
        """
        return self.offset_slots.entries

    @property
    def time_index(self) -> np.ndarray:
        """The entries of the .timeindex as an array of TIME_ENTRY, shape (written slots,).

        Timestamps are in ms since 1970. Offsets are absolute. Empty if the file is missing.
        """
        return self.time_slots.entries

    @cached_property
    def offset_slots(self) -> Index:
        """The .index, without entries for batches appended after the .log was listed."""
        slots, count, trailing_bytes = _read_slots(self.index, offset_index)
        entries = _absolute_entries(slots, OFFSET_ENTRY, self.base_offset)
        if self.has_changed():
            entries = _first_true(entries, entries["position"] < self._listed_end(entries)[0])
        return Index(entries, count, trailing_bytes)

    @cached_property
    def time_slots(self) -> Index:
        """The .timeindex, without entries for batches appended after the .log was listed."""
        slots, count, trailing_bytes = _read_slots(self.timeindex, time_index)
        entries = _absolute_entries(slots, TIME_ENTRY, self.base_offset)
        if self.has_changed():
            _, last_offset = self._listed_end(self.offset_slots.entries)
            entries = _first_true(entries, entries["offset"] <= last_offset)
        return Index(entries, count, trailing_bytes)

    def index_ends(self) -> tuple[IndexEnd, IndexEnd]:
        """Returns the entry count and the last entry of the .index, and of the .timeindex.

        If the last slot of a file is written, only that slot is read.
        """
        if self.has_changed():
            return _end_of(self.offset_index), _end_of(self.time_index)
        return _read_end(self.index, offset_index), _read_end(self.timeindex, time_index)

    def has_changed(self) -> bool:
        """Returns whether a broker has appended to the active .log, or cut it, since the listing.

        A broker writes a batch first into the .log, then into the indexes. So an index that is read
        after the listing may be ahead of the listed .log.
        """
        log = self.log
        if log is None or self.state != "active":
            return False
        try:
            return file.info(log.path).size_bytes != log.size_bytes
        except CannotOpen:  # the reader of the .log will raise it
            return False

    def _listed_end(self, entries: np.ndarray) -> tuple[int, int]:
        """Returns (end position, last offset) of the last complete batch in the listed .log.

        The scan begins at the second to last of those `entries` that point into this .log.
        """
        log = self.with_log().log
        size_bytes = min(log.size_bytes, file.info(log.path).size_bytes)
        positions = entries["position"][entries["position"] < size_bytes]
        start = int(positions[-2]) if len(positions) > 1 and positions[-2] >= 0 else 0
        scan = self.scan(start)
        last_offset = self.base_offset - 1
        for batches in scan:
            if len(batches):
                last_offset = int(batches["last_offset"][-1])
        return scan.end.position, last_offset

    @cached_property
    def txn_index(self) -> np.ndarray:
        """The entries of the .txnindex as an array of format.txn_index.ENTRY. Empty without a file.

        Entries for markers that were appended after the .log was listed are left out.
        """
        entries = txn_index.parse(file.read(self.txnindex.path) if self.txnindex else b"")
        if self.has_changed():
            _, last_offset = self._listed_end(self.offset_slots.entries)
            entries = _first_true(entries, entries["last_offset"] <= last_offset)
        return entries

    def records(self, position: int) -> list[BatchRecord]:
        """Returns the records of the batch that starts at a position of the .log, for any magic.

        Raises CorruptFile if no batch starts there or its records cannot be read.
        """
        return list(self.iterate(position))

    def iterate(self, position: int) -> Iterator[BatchRecord]:
        """Yields the same records as `records`, one at a time. See batch_records.iterate."""
        try:
            yield from batch_records.iterate(self.batch_bytes(position))
        except CorruptBytes as fault:
            raise fault.in_file(self.with_log().log.path, position) from None

    def batch_bytes(self, position: int) -> bytes:
        """Returns the complete batch that starts at a position of the .log.

        Raises CorruptFile if no batch starts there or the batch is larger than LIMIT_BYTES.
        """
        path = self.with_log().log.path
        try:
            size_bytes = batch_records.size_bytes(
                file.read(path, position, MAGIC_END) if position >= 0 else b""
            )
            if size_bytes > LIMIT_BYTES:
                what = message("corrupt.batch_too_large", size=size_bytes, limit=LIMIT_BYTES)
                raise CorruptBytes(0, what)
            return bytes(batch_records.batch_bytes(file.read(path, position, size_bytes)))
        except CorruptBytes as fault:
            raise fault.in_file(path, position) from None

    def with_log(self) -> "LogSegment":
        """Returns the same segment as a LogSegment. Raises CannotOpen without a .log."""
        hint = message("errors.index_files_alone")
        raise CannotOpen(f"{self.name}.log", message("errors.not_there"), hint, kind="missing")


@dataclass(frozen=True, kw_only=True)
class LogSegment(Segment):
    """A segment that has a .log, with or without indexes."""

    log: FileInfo = field()

    def with_log(self) -> "LogSegment":
        return self


def segment_of_files(base_offset: int, state: str, files: Mapping[str, FileInfo]) -> Segment:
    """Returns a segment. A key of `files` is "log", "index", "timeindex" or "txnindex"."""
    segment_class = LogSegment if "log" in files else Segment
    return segment_class(base_offset=base_offset, state=state, **files)


@dataclass(kw_only=True, eq=False)
class BatchScan:
    """The batches in a range of a .log. Iterating opens the .log, reads it and closes it."""

    log: FileInfo
    start: int
    stop: int
    chunk_bytes: int
    fills_wrapper_fields: bool
    end: WalkEnd = field(init=False, repr=False)  # set after the last batch

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yields arrays of format.batch.BATCH with up to 16 384 rows each."""
        with file.reader(self.log.path) as read:
            walk = Walk(read, self.start, self.stop, self.chunk_bytes)
            for batches in walk:
                if self.fills_wrapper_fields:
                    fill_wrapper_fields(batches, read)
                yield batches
            self.end = walk.end


def fill_wrapper_fields(batches: np.ndarray, read: ReadInto) -> None:
    """Fills in the fields that wrapper headers of magic 0 and 1 lack. See Segment.scan."""
    for row in np.flatnonzero((batches["magic"] < MAGIC_2) & (batches["record_count"] == UNKNOWN)):
        position = int(batches["position"][row])
        size_bytes = int(batches["size_bytes"][row])
        if size_bytes > LIMIT_BYTES:
            continue
        buffer = np.empty(size_bytes, np.uint8)
        messages = legacy_messages.read(buffer[: read(position, buffer)].data)
        if messages.fault is None:
            first_message = messages.rows[0]
            batches["base_offset"][row] = first_message["offset"]
            batches["base_timestamp_ms"][row] = first_message["timestamp_ms"]
            batches["record_count"][row] = len(messages.rows)


def _first_true(entries: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return entries if mask.all() else entries[: int(np.argmin(mask))]


def _read_slots(info: FileInfo | None, layout: ModuleType) -> tuple[np.ndarray, int, int]:
    """Returns the written slots of an index file.

    Also returns the number of slots in the file, and the number of bytes after the last complete
    slot.
    """
    if info is None:
        return np.empty(0, layout.ENTRY), 0, 0
    data, size = file.read_data(info.path)
    padding = -len(data) % layout.ENTRY.itemsize
    entries = layout.parse(data + bytes(min(padding, size - len(data))))
    return entries[: layout.count_entries(entries)], *divmod(size, layout.ENTRY.itemsize)


def _read_end(info: FileInfo | None, layout: ModuleType) -> IndexEnd:
    if info is not None:
        slot_bytes = layout.ENTRY.itemsize
        slots = file.info(info.path).size_bytes // slot_bytes
        last_slot = file.read(info.path, max(0, slots - 1) * slot_bytes, slot_bytes)
        if slots and any(last_slot):
            return IndexEnd(slots, layout.parse(last_slot)[0])
    return _end_of(_read_slots(info, layout)[0])


def _end_of(entries: np.ndarray) -> IndexEnd:
    return IndexEnd(len(entries), entries[-1] if len(entries) else None)


def _absolute_entries(slots: np.ndarray, layout: np.dtype, base_offset: int) -> np.ndarray:
    entries = np.empty(len(slots), layout)
    entries["slot"] = np.arange(len(slots))
    for name in field_names(slots.dtype):
        entries[name] = slots[name]
    entries["offset"] = entries["relative_offset"] + base_offset
    return entries
