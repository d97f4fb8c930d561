"""A segment: a .log and the indexes that share its base offset, whichever of them exist."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import batch_records, legacy_messages, offset_index, time_index, txn_index
from kafkaviz.format.batch import BATCH, MAGIC_2, MAGIC_END, UNKNOWN
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.walk import CHUNK_BYTES, Walk, WalkEnd
from kafkaviz.html_table import html_table
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import message, say
from kafkaviz.units import file_stem

LOOK_INSIDE_LIMIT_BYTES = (
    64 << 20
)  # decompressing takes seconds for more; that is left to the pipeline
OFFSET_ENTRY: np.dtype = np.dtype(
    [("slot", "i8"), ("relative_offset", "i8"), ("offset", "i8"), ("position", "i8")]
)
TIME_ENTRY: np.dtype = np.dtype(
    [("slot", "i8"), ("timestamp_ms", "i8"), ("relative_offset", "i8"), ("offset", "i8")]
)


class WalkResult(NamedTuple):
    """Every batch of a log, one BATCH row each, and where the walk ended."""

    batches: np.ndarray
    end: WalkEnd


class Index(NamedTuple):
    """An index as it is on disk.

    Attributes:
        entries: one row a written slot (OFFSET_ENTRY or TIME_ENTRY).
        slots: how many the file has, written or not.
        trailing_bytes: what is left of a last slot that was cut.
    """

    entries: np.ndarray
    slots: int
    trailing_bytes: int

    @property
    def unwritten_slots(self) -> int:
        """Slots behind the last written one: zeros, preallocated and never filled."""
        return self.slots - len(self.entries)


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One base offset of a topic-partition; with a .log it is a LogSegment.

    A file that does not exist is None: a log without an index, or an index without its log.

    Attributes:
        state: "active" is the last of its partition, "closed" any other; "deleted", "cleaned" and
            "swap" carry that suffix.
    """

    base_offset: int
    state: str
    log: FileInfo | None = field(default=None, init=False)
    index: FileInfo | None = None
    timeindex: FileInfo | None = None
    txnindex: FileInfo | None = None

    @property
    def name(self) -> str:
        """The stem of its files: the base offset in 20 digits."""
        return file_stem(self.base_offset)

    def _repr_html_(self) -> str:
        """A row a file, as a notebook shows it."""
        indexes = {"index": self.offset_slots, "timeindex": self.time_slots}
        rows = []
        for kind in ("log", "index", "timeindex", "txnindex"):
            info, index = getattr(self, kind), indexes.get(kind)
            counts = (index.slots, len(index.entries)) if index else (None, None)
            rows += [(info.name, info.size_bytes, *counts)] if info else []
        title = say("html_table.segment_title", name=self.name, state=self.state)
        return html_table(
            title,
            ("common.file", "batch_areas.head_bytes", "html_table.slots", "html_table.written"),
            rows,
        )

    @property
    def is_in_use(self) -> bool:
        """Whether a broker would serve it: its files carry no suffix."""
        return self.state in ("active", "closed")

    @property
    def files(self) -> tuple[FileInfo, ...]:
        """The files that exist."""
        return tuple(info for info in (self.log, self.index, self.timeindex, self.txnindex) if info)

    def file_name(self, kind: str) -> str:
        """The name of its "log", "index", "timeindex" or "txnindex".

        Of a file that does not exist, the one that Kafka would give it.
        """
        info = getattr(self, kind)
        return info.name if info else f"{self.name}.{kind}"

    def scan(
        self,
        start: int = 0,
        stop: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        *,
        look_inside: bool = False,
    ) -> "BatchScan":
        """The batches from one byte of the .log to another, array by array.

        Its .end says where it stopped.

        Args:
            look_inside: decompress each wrapper of magic 0 and 1 for what its header does not
                contain, its first offset and time and how many messages it holds. Of one that
                cannot be read these stay UNKNOWN.
        """
        log = self.with_log().log
        return BatchScan(
            log,
            start,
            log.size_bytes if stop is None else stop,
            chunk_bytes,
            look_inside=look_inside,
        )

    def full_scan(self) -> "BatchScan":
        """Every batch of the .log, array by array.

        Only in small logs are old wrappers looked into.
        """
        return self.scan(look_inside=self.is_looked_into)

    @property
    def is_looked_into(self) -> bool:
        """Whether a full scan looks into old wrappers: only in a small log."""
        return self.with_log().log.size_bytes <= LOOK_INSIDE_LIMIT_BYTES

    def walk(self) -> WalkResult:
        """Every batch of the .log at once, as full_scan(); a segment without a .log has none."""
        if self.log is None:
            return WalkResult(np.empty(0, BATCH), WalkEnd(0, "end"))
        scan = self.full_scan()
        parts = list(scan)
        return WalkResult(np.concatenate(parts) if parts else np.empty(0, BATCH), scan.end)

    def batches(self) -> np.ndarray:
        """One row a batch of the .log: format.batch.BATCH."""
        return self.walk().batches

    @property
    def offset_index(self) -> np.ndarray:
        """The entries of the .index, one row a written slot; empty where there is no file.

        Returns:
            An array of OFFSET_ENTRY.
        """
        return self.offset_slots.entries

    @property
    def time_index(self) -> np.ndarray:
        """The entries of the .timeindex, one row a written slot; empty where there is no file.

        Returns:
            An array of TIME_ENTRY.
        """
        return self.time_slots.entries

    @cached_property
    def offset_slots(self) -> Index:
        """The .index as it is on disk: its entries, and the slots that were never written.

        Without the entries of batches that were appended after the .log was listed.
        """
        slots, count, trailing_bytes = _read_slots(self.index, offset_index)
        entries = _offset_entries(slots, self.base_offset)
        if self.has_grown():
            entries = _first_true(entries, entries["position"] < self._listed_end(entries)[0])
        return Index(entries, count, trailing_bytes)

    @cached_property
    def time_slots(self) -> Index:
        """The .timeindex as it is on disk, as the .index."""
        slots, count, trailing_bytes = _read_slots(self.timeindex, time_index)
        entries = _time_entries(slots, self.base_offset)
        if self.has_grown():
            _, last_offset = self._listed_end(self.offset_slots.entries)
            entries = _first_true(entries, entries["offset"] <= last_offset)
        return Index(entries, count, trailing_bytes)

    def has_grown(self) -> bool:
        """Whether a broker has appended to the .log since it was listed.

        A broker writes a batch into the .log first and into the indexes then, so that an index that
        is read later than the .log was listed may be ahead of it.
        """
        log = self.log
        if log is None or self.state != "active":
            return False
        try:
            return file.info(log.path).size_bytes > log.size_bytes
        except CannotOpen:  # who reads it says so
            return False

    def _listed_end(self, entries: np.ndarray) -> tuple[int, int]:
        """The end of the last complete batch of the .log as it was listed, and its last offset.

        Args:
            entries: OFFSET_ENTRY, by which the scan for it begins near that end.
        """
        positions = entries["position"][entries["position"] < self.with_log().log.size_bytes]
        start = int(positions[-2]) if len(positions) > 1 and positions[-2] >= 0 else 0
        scan, last_offset = self.scan(start), self.base_offset - 1
        for batches in scan:
            if len(batches):
                last_offset = int(batches["last_offset"][-1])
        return scan.end.position, last_offset

    @cached_property
    def txn_index(self) -> np.ndarray:
        """The entries of the .txnindex, as they are on disk; empty where there is no file.

        Without those of markers that were appended after the .log was listed. The file is never
        preallocated: what its size leaves over after complete entries is a torn one.

        Returns:
            An array of format.txn_index.ENTRY.
        """
        entries = txn_index.parse(file.read(self.txnindex.path) if self.txnindex else b"")
        if self.has_grown():
            _, last_offset = self._listed_end(self.offset_slots.entries)
            entries = _first_true(entries, entries["last_offset"] <= last_offset)
        return entries

    def records(self, position: int) -> list[BatchRecord]:
        """The records of the batch that starts at this byte of the .log, of any magic.

        Raises:
            CorruptFile: as batch_records.read_batch.
        """
        return list(self.iterate(position))

    def iterate(self, position: int) -> Iterator[BatchRecord]:
        """The same as records one by one, as batch_records.iterate gives them."""
        try:
            yield from batch_records.iterate(self.batch_bytes(position))
        except CorruptBytes as fault:
            raise fault.in_file(self.with_log().log.path, position) from None

    def batch_bytes(self, position: int) -> bytes:
        """The complete batch that starts at this byte of the .log.

        Raises:
            CorruptFile: none does, or one above LIMIT_BYTES.
        """
        path = self.with_log().log.path
        try:
            size_bytes = batch_records.size_bytes(
                file.read(path, position, MAGIC_END) if position >= 0 else b""
            )
            if size_bytes > LIMIT_BYTES:
                raise CorruptBytes(
                    0, message("corrupt.batch_too_large", size=size_bytes, limit=LIMIT_BYTES)
                )
            return bytes(batch_records.batch_bytes(file.read(path, position, size_bytes)))
        except CorruptBytes as fault:
            raise fault.in_file(path, position) from None

    def with_log(self) -> "LogSegment":
        """The same segment as a LogSegment.

        Raises:
            CannotOpen: it has no .log.
        """
        raise CannotOpen(
            f"{self.name}.log",
            message("errors.not_there"),
            message("errors.index_files_alone"),
            kind="missing",
        )


@dataclass(frozen=True, kw_only=True)
class LogSegment(Segment):
    """A segment whose .log exists, with or without indexes."""

    log: FileInfo = field()

    def with_log(self) -> "LogSegment":
        """The segment itself."""
        return self


def segment_of_files(base_offset: int, state: str, files: Mapping[str, FileInfo]) -> Segment:
    """The segment of these files.

    Args:
        files: by kind: "log", "index", "timeindex", "txnindex".
    """
    return (LogSegment if "log" in files else Segment)(
        base_offset=base_offset, state=state, **files
    )


class BatchScan:
    """A pass over a range of a .log, which is open only while it is read.

    .end is known once all batches were taken.
    """

    end: WalkEnd

    def __init__(
        self, log: FileInfo, start: int, stop: int, chunk_bytes: int, *, look_inside: bool
    ) -> None:
        self._log, self._start, self._stop, self._chunk_bytes, self._look_inside = (
            log,
            start,
            stop,
            chunk_bytes,
            look_inside,
        )

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of format.batch.BATCH, up to 16 384 rows each."""
        with file.reader(self._log.path) as read:
            walk = Walk(read, self._start, self._stop, self._chunk_bytes)
            for batches in walk:
                if self._look_inside:
                    look_inside(batches, read)
                yield batches
            self.end = walk.end


def look_inside(batches: np.ndarray, read: ReadInto) -> None:
    """Fills in what the headers of wrappers of magic 0 and 1 lack, as Segment.scan describes."""
    for row in np.flatnonzero((batches["magic"] < MAGIC_2) & (batches["record_count"] == UNKNOWN)):
        position, size_bytes = int(batches["position"][row]), int(batches["size_bytes"][row])
        if size_bytes > LIMIT_BYTES:
            continue
        buffer = np.empty(size_bytes, np.uint8)
        messages = legacy_messages.read(buffer[: read(position, buffer)].data)
        if messages.fault is None:
            first_message = messages.rows[0]
            batches["base_offset"][row], batches["base_timestamp_ms"][row] = (
                first_message["offset"],
                first_message["timestamp_ms"],
            )
            batches["record_count"][row] = len(messages.rows)


def _first_true(entries: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The entries in front of the first one that the mask leaves out."""
    return entries if mask.all() else entries[: int(np.argmin(mask))]


def _read_slots(info: FileInfo | None, layout: ModuleType) -> tuple[np.ndarray, int, int]:
    """The written slots of an index file.

    Returns:
        The entries, the number of slots in the file, and the bytes after the last complete one.
    """
    if info is None:
        return np.empty(0, layout.ENTRY), 0, 0
    data, size = file.read_data(info.path)
    padding = -len(data) % layout.ENTRY.itemsize
    entries = layout.parse(data + bytes(min(padding, size - len(data))))
    return entries[: layout.count_entries(entries)], *divmod(size, layout.ENTRY.itemsize)


def _offset_entries(slots: np.ndarray, base_offset: int) -> np.ndarray:
    entries = np.empty(len(slots), OFFSET_ENTRY)
    entries["slot"], entries["position"] = np.arange(len(slots)), slots["position"]
    entries["relative_offset"] = slots["relative_offset"]
    entries["offset"] = entries["relative_offset"] + base_offset
    return entries


def _time_entries(slots: np.ndarray, base_offset: int) -> np.ndarray:
    entries = np.empty(len(slots), TIME_ENTRY)
    entries["slot"], entries["timestamp_ms"] = np.arange(len(slots)), slots["timestamp_ms"]
    entries["relative_offset"] = slots["relative_offset"]
    entries["offset"] = entries["relative_offset"] + base_offset
    return entries
