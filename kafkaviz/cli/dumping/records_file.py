"""Reads a .log batch by batch, as Kafka 4.3.1's FileRecords does, with the same exceptions."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from kafkaviz.binary import crc32c
from kafkaviz.binary.file_view import ReadInto, read_bytes
from kafkaviz.binary.layouts import field_start
from kafkaviz.cli.dumping import MAX_INT, java
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.errors import CannotOpen
from kafkaviz.format import batch, batch_records
from kafkaviz.format.java import CORRUPT_RECORD, ILLEGAL_ARGUMENT
from kafkaviz.format.walk import Walk, WalkEnd
from kafkaviz.log import file

# Batches up to this many bytes are in memory at once, so that they fit into the processor's cache.
# A larger batch is in memory as a whole.
STRETCH_BYTES = 1 << 20
_LENGTH = slice(field_start(batch.HEADER, "batch_length_bytes"), batch.LENGTH_END)
_MAGIC_AT = field_start(batch.HEADER, "magic")
LEGACY_CRC_START = field_start(batch.LEGACY_HEADER, "magic")


@dataclass(frozen=True)
class RecordsFile:
    """An open .log. `path` is the name that error messages contain."""

    path: str
    size_bytes: int
    read: ReadInto

    def slice_stop(self, position: int, length_bytes: int) -> int:
        """Returns the end of a slice, at most the file size. Raises a `slice_exception`, if any."""
        if exception := self.slice_exception(position, length_bytes):
            raise exception
        return min(self.size_bytes, position + length_bytes)

    def slice_exception(self, position: int, length_bytes: int) -> JavaException | None:
        """Returns Kafka's exception for a wrong position or length; None for a valid slice."""
        records = f"FileRecords(size={self.size_bytes}, file={self.path}, start=0, end={MAX_INT})"
        if position < 0:
            what = f"Invalid position: {position} in read from {records}"
        elif position > self.size_bytes:
            what = f"Slice from position {position} exceeds end position of {records}"
        elif length_bytes < 0:
            what = f"Invalid size: {length_bytes} in read from {records}"
        else:
            return None
        return JavaException(ILLEGAL_ARGUMENT, what)

    def batches(self, start: int, stop: int) -> "Batches":
        """Returns the batches between two positions, as an iterable of arrays."""
        return Batches(self, start, stop)

    def first_batch(self, start: int, stop: int) -> np.void | None:
        """Returns the first batch of a slice, as a row of BATCH; None if the batch is incomplete.

        Raises JavaException where Kafka throws.
        """
        if stop - start <= batch.MAGIC_END:
            return None
        head = self.bytes_at(start, batch.HEADER_BYTES)
        length = _length(head)
        if length < batch.MIN_LENGTH:
            raise bad_length(self, start)
        if batch.LENGTH_END + length > stop - start:
            return None
        if len(head) < _header_bytes(head):
            raise cut_header(self, start, start, stop)
        header = np.frombuffer(head.ljust(batch.HEADER_BYTES, b"\0"), np.uint8)
        return batch.rows(np.array([start]), header.reshape(1, -1))[0]

    def bytes_at(self, position: int, length_bytes: int) -> bytes:
        """Returns a range of bytes, cut at the end of the file."""
        return read_bytes(self.read, position, min(length_bytes, self.size_bytes - position))

    def batch_bytes(self, row: np.void) -> bytes:
        return self.bytes_at(int(row["position"]), int(row["size_bytes"]))

    def payloads(self, batches: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yields (batches, their bytes) for groups of batches, in order.

        The bytes (uint8) are valid until the next group is requested.
        """
        ends = batches["position"] + batches["size_bytes"]
        first = 0
        buffer = np.empty(STRETCH_BYTES, np.uint8)
        while first < len(batches):
            start = int(batches["position"][first])
            end = max(first + 1, int(np.searchsorted(ends, start + STRETCH_BYTES, "right")))
            size_bytes = int(ends[end - 1]) - start
            room = buffer if size_bytes <= STRETCH_BYTES else np.empty(size_bytes, np.uint8)
            part = room[:size_bytes]
            if self.read(start, part) < size_bytes:
                what = f"the file {self.path} became shorter while it was read"
                raise JavaException(java.KAFKA, what)
            # always the same array type, so that numba compiles only one version
            part.flags.writeable = False
            yield batches[first:end], part
            first = end


class Batches:
    """The batches between two positions. Once all are read, `end` says where and why they end."""

    def __init__(self, log: RecordsFile, start: int, stop: int) -> None:
        self._log = log
        self._start = start
        self._stop = stop
        self.end = WalkEnd(start, "end")

    def __iter__(self) -> Iterator[np.ndarray]:
        walk = Walk(self._log.read, self._start, self._stop)
        yield from walk
        self.end = walk.end

    def exception(self) -> JavaException | None:
        """Returns what Kafka throws after the last batch; None if Kafka throws nothing."""
        if self.end.reason == "bad-length":
            return bad_length(self._log, self.end.position)
        if self.end.reason == "short" and self._stop - self.end.position > batch.MAGIC_END:
            return cut_header(self._log, self.end.position, self._start, self._stop)
        return None


@contextmanager
def open_log(path: str) -> Generator[RecordsFile]:
    """Opens a .log for reading. Raises JavaException where java.nio throws."""
    try:
        with file.reader(Path(path)) as read:
            yield RecordsFile(path, file.info(Path(path)).size_bytes, read)
    except CannotOpen as fault:
        raise java.from_path(fault, path) from None


def content(path: str) -> bytes:
    """Returns the content of a small file. Raises JavaException where java.nio throws."""
    try:
        return file.read(Path(path))
    except CannotOpen as fault:
        raise java.from_path(fault, path) from None


def bad_length(log: RecordsFile, position: int) -> JavaException:
    """Returns the exception for a batch whose length field is too small."""
    length = _length(log.bytes_at(position, batch.LENGTH_END))
    what = (
        f"Found record size {length} smaller than minimum record overhead ({batch.MIN_LENGTH}) in "
        f"file {log.path}."
    )
    return JavaException(CORRUPT_RECORD, what)


def cut_header(log: RecordsFile, position: int, start: int, stop: int) -> JavaException:
    """Returns the exception for a batch whose header is longer than the rest of the file."""
    head = log.bytes_at(position, batch.HEADER_BYTES)
    if len(head) < batch.MAGIC_END:  # the file has become shorter in the meantime
        what = "Unexpected EOF while attempting to read the next batch"
        return JavaException(CORRUPT_RECORD, what)
    records = f"FileRecords(size={stop - start}, file={log.path}, start={start}, end={stop})"
    what = f"Failed to load record batch at position {position} from {records}"
    cause = (
        "java.io.EOFException: Failed to read `record batch header` from file channel. "
        f"Expected to read {_header_bytes(head)} bytes, but reached end of file after reading "
        f"{len(head)} bytes. Started read from position {position}."
    )
    return JavaException(java.KAFKA, what, (cause,))


def _length(head: bytes) -> int:
    return int.from_bytes(head[_LENGTH], "big", signed=True)


def _header_bytes(head: bytes) -> int:
    is_modern = batch.MAGIC_2 <= head[_MAGIC_AT] < 128
    return batch.HEADER_BYTES if is_modern else batch.LEGACY_HEADER.itemsize


def are_valid(log: RecordsFile, batches: np.ndarray) -> np.ndarray:
    """Returns whether each batch has a correct checksum and a complete header."""
    parts = [np.empty(0, np.bool_)]
    large = batches["size_bytes"] > STRETCH_BYTES
    cuts = np.flatnonzero(large[1:] | large[:-1]) + 1
    for first, end in pairwise([0, *cuts.tolist(), len(batches)]):
        chunk = batches[first:end]
        if large[first:end].any():
            parts.append(np.array([batch_records.has_valid_crc(log.read, chunk[0])]))
        else:
            parts += [_are_valid(group, data) for group, data in log.payloads(chunk)]
    return np.concatenate(parts)


def _are_valid(batches: np.ndarray, data: np.ndarray) -> np.ndarray:
    starts = batches["position"] - batches["position"][0]
    ends = starts + batches["size_bytes"]
    legacy = batches["magic"] < batch.MAGIC_2
    if not legacy.any():
        sums = crc32c.checksum_ranges(data, np.minimum(starts + batch.CRC_START, ends), ends)
        return (sums == batches["crc"]) & (batches["size_bytes"] >= batch.HEADER_BYTES)
    return np.array(
        [
            crc32(data[start + LEGACY_CRC_START : end].data) == row["crc"]
            if is_legacy
            else bool(_are_valid(row.reshape(1), data[start:end])[0])
            for row, start, end, is_legacy in zip(
                batches, starts.tolist(), ends.tolist(), legacy.tolist(), strict=True
            )
        ],
        np.bool_,
    )
