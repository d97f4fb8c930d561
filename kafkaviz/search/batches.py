"""Batches of a .log one after another, each read that Kafka makes for them kept.

As FileLogInputStream and FileChannelRecordBatch, 4.3.1: a step to the next batch reads 17 bytes;
asking a batch for its last offset or largest timestamp reads its header, 61 bytes of magic 2;
asking for its records reads all of it. What was read once is kept.

    (position 0, 17 bytes)  (0, 61)  (324, 17)  (324, 61)     two batches, both asked for their last
    offset
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import ReadInto, read_bytes
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record_heads
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
from kafkaviz.format.record_heads import RecordHead
from kafkaviz.messages import message, verbatim

WINDOW_BYTES = 1 << 14  # read at once: a step of Kafka's is a system call, one of ours rarely
# 18: where a message of magic 0 has no timestamp its header ends
TIMESTAMP_START = field_start(LEGACY_HEADER, "timestamp_ms")


class ReadPart(Enum):
    """What of a batch a read is for."""

    START = auto()  # offset, length and magic: 17 bytes
    HEADER = auto()
    BATCH = auto()


class LogRead(NamedTuple):
    """A read of a .log: from which byte, and how many are asked for."""

    position: int
    size: int
    part: ReadPart


@dataclass(frozen=True)
class Batch:
    """A batch that was found. base_offset: of a compressed wrapper of magic 0 or 1 the offset of
    its first message.
    """

    base_offset: int
    last_offset: int
    position: int
    size_bytes: int
    magic: int
    leader_epoch: int
    producer_id: int
    is_control: bool
    is_transactional: bool

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.position + self.size_bytes


class LogReader:
    """The bytes of an open .log, and which of them Kafka would have read, in order."""

    def __init__(self, read: ReadInto, size_bytes: int) -> None:
        """size_bytes: where the log ends for Kafka, whatever lies behind."""
        self._read, self.size_bytes, self.reads = read, size_bytes, []
        self._window, self._start = b"", 0

    def kafka_reads(self, position: int, size: int, part: ReadPart) -> bytes:
        """Bytes that Kafka reads too."""
        self.reads.append(LogRead(position, size, part))
        return self.peek(position, size)

    def peek(self, position: int, size: int) -> bytes:
        """Bytes for ourselves; fewer where the log ends."""
        window_position = position - self._start
        if window_position < 0 or window_position + size > len(self._window):
            self._start, self._window, window_position = (
                position,
                self._read_window(position, max(size, WINDOW_BYTES)),
                0,
            )
        return self._window[window_position : window_position + size]

    def batches(self, position: int) -> Iterator["FileBatch"]:
        """The batches from a position on, as nextBatch gives them: one that is not all there is
        none.

        CorruptBytes for a position before the file, which only a damaged index gives
        (Utils.readFully).
        """
        if position < 0:
            raise CorruptBytes(
                position,
                verbatim(f"The file channel position cannot be negative, but it is {position}"),
            )
        while position < self.size_bytes - MAGIC_END:
            start = self.kafka_reads(position, MAGIC_END, ReadPart.START)
            if len(start) < MAGIC_END:
                return
            header = np.frombuffer(start.ljust(HEADER_BYTES, b"\0"), HEADER)[0]
            size_bytes = LENGTH_END + int(header["batch_length_bytes"])
            if size_bytes < LENGTH_END + MIN_LENGTH:
                raise CorruptBytes(
                    position,
                    verbatim(
                        f"Found record size {size_bytes - LENGTH_END} smaller than minimum record "
                        "overhead (14)"
                    ),
                )
            if position > self.size_bytes - size_bytes:
                return
            yield FileBatch(
                self, position, int(header["base_offset"]), size_bytes, int(header["magic"])
            )
            position += size_bytes

    def _read_window(self, position: int, size: int) -> bytes:
        return read_bytes(self._read, position, min(size, self.size_bytes - position))


class FileBatch:
    """A batch of which 17 bytes are read; each thing more that is asked for may take a read."""

    def __init__(
        self, log: LogReader, position: int, offset: int, size_bytes: int, magic: int
    ) -> None:
        """offset: the field of that name, of a wrapper the offset of its last message."""
        self._log, self._offset = log, offset
        self.position, self.size_bytes, self.magic = position, size_bytes, magic

    @property
    def is_legacy(self) -> bool:
        """A message or wrapper of magic 0 or 1."""
        return self.magic < MAGIC_2

    @property
    def base_offset(self) -> int:
        """Of the first record; of a legacy batch it takes the whole batch to know."""
        return self._first_offset(self.content) if self.is_legacy else self._offset

    @property
    def last_offset(self) -> int:
        """Of the last record, or of the last that compaction took away."""
        return (
            self._offset
            if self.is_legacy
            else self._offset + int(self._header["last_offset_delta"])
        )

    @property
    def max_timestamp_ms(self) -> int:
        """The largest of its records, -1 for none."""
        if self.magic == 0:
            self._header  # noqa: B018  Kafka reads it, and finds no timestamp there
            return UNKNOWN
        return int(self._header["timestamp_ms" if self.is_legacy else "max_timestamp_ms"])

    @cached_property
    def content(self) -> bytes:
        """All its bytes."""
        if self.size_bytes > LIMIT_BYTES:
            raise CorruptBytes(
                self.position,
                message("corrupt.batch_too_large", size=self.size_bytes, limit=LIMIT_BYTES),
            )
        data = self._log.kafka_reads(self.position, self.size_bytes, ReadPart.BATCH)
        if len(data) < self.size_bytes:  # the file has become shorter since it was listed
            raise CorruptBytes(
                self.position,
                message("corrupt.batch_cut", size=self.size_bytes, available=len(data)),
            )
        return data

    def heads(self) -> Iterator[RecordHead]:
        """Offset and time of each record."""
        try:
            yield from record_heads.heads(self.content)
        except CorruptBytes as fault:
            raise CorruptBytes(self.position + fault.position, fault.what) from None

    def to_batch(self) -> Batch:
        """What it is, read for ourselves."""
        if self.is_legacy:
            first = self._first_offset(
                self._log.peek(self.position, self.size_bytes).ljust(MAGIC_END, b"\0")
            )
            return Batch(
                first,
                self._offset,
                self.position,
                self.size_bytes,
                self.magic,
                leader_epoch=UNKNOWN,
                producer_id=UNKNOWN,
                is_control=False,
                is_transactional=False,
            )
        header = np.frombuffer(
            self._log.peek(self.position, HEADER_BYTES).ljust(HEADER_BYTES, b"\0"), HEADER
        )[0]
        attributes = int(header["attributes"])
        return Batch(
            self._offset,
            self._offset + int(header["last_offset_delta"]),
            self.position,
            self.size_bytes,
            self.magic,
            int(header["leader_epoch"]),
            int(header["producer_id"]),
            bool(attributes & CONTROL),
            bool(attributes & TRANSACTIONAL),
        )

    @cached_property
    def _header(self) -> np.void:
        """Read, unless the whole batch was."""
        layout = LEGACY_HEADER if self.is_legacy else HEADER
        size = TIMESTAMP_START if self.magic == 0 else layout.itemsize
        data = (
            self.content
            if "content" in self.__dict__
            else self._log.kafka_reads(self.position, size, ReadPart.HEADER)
        )
        return np.frombuffer(data[: layout.itemsize].ljust(layout.itemsize, b"\0"), layout)[0]

    def _first_offset(self, batch_bytes: bytes) -> int:
        try:
            return next(record_heads.heads(batch_bytes), RecordHead(self._offset, UNKNOWN)).offset
        except CorruptBytes as fault:
            raise CorruptBytes(self.position + fault.position, fault.what) from None
