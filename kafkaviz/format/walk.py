"""Reads the batch headers of a .log forward in chunks: one row per batch.

The next batch is at the batch's position plus 12 plus its length, as in Kafka 4.3.1
(FileLogInputStream). For example, a log with batches of 100 and 61 bytes and 5 torn bytes has rows
at positions 0 and 100, and ends at (161, "short").
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from kafkaviz.binary.file_view import ReadInto, reader
from kafkaviz.binary.layouts import field_start
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import (
    BATCH,
    HEADER,
    HEADER_BYTES,
    LEGACY_HEADER,
    LENGTH_END,
    MAGIC_END,
    MIN_LENGTH,
    read_int32,
    rows,
)

CHUNK_BYTES = 1 << 20  # fits the processor's cache, so a chunk is still cached while it is parsed
MAX_ROWS = 16_384
FEW_BYTES = 1 << 16  # reading a smaller log takes less time than loading the compiler's library
LENGTH_AT = field_start(HEADER, "batch_length_bytes")
MAGIC_AT = field_start(HEADER, "magic")
LEGACY_HEADER_BYTES = LEGACY_HEADER.itemsize
NEEDS_BYTES, NEEDS_ROOM, AT_END, SHORT, TORN, BAD_LENGTH = range(6)
Result = TypeVar("Result", covariant=True)
TAIL_ZEROS = "zeros"
TAIL_TORN = "torn"
TAIL_GARBAGE = "garbage"
KNOWN_MAGIC = (0, 1, 2)
REASONS = {AT_END: "end", SHORT: "short", TORN: "torn", BAD_LENGTH: "bad-length"}


@dataclass(frozen=True)
class WalkEnd:
    """Where and why the reading of batch headers ended.

    Attributes:
        reason: "end": no byte is left; "short": fewer bytes are left than a header takes; "torn":
            the last batch is longer than the rest of the log; "bad-length": the next batch's length
            is below 14, which Kafka calls corrupt.
    """

    position: int
    reason: str


class Walk:
    """Reads the batches between two positions of a log.

    - `.end` is set once all batches have been read.
    - The rows end before the first incomplete header: below 61 bytes, or 26 in magic 0 and 1.
    """

    end: WalkEnd

    def __init__(
        self, read: ReadInto, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES
    ) -> None:
        self._read = read
        self._start = start
        self._stop = stop
        self._buffer = np.empty(max(chunk_bytes, HEADER_BYTES), np.uint8)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yields arrays of at most 16 384 BATCH rows, in the order of the log."""
        headers = np.zeros((MAX_ROWS, HEADER_BYTES), np.uint8)
        positions = np.empty(MAX_ROWS, np.int64)
        position = self._start
        row_count = 0
        code = NEEDS_BYTES
        chunk_position = self._start
        length = 0
        while code not in REASONS:
            if code == NEEDS_ROOM:
                yield rows(positions, headers)
                row_count = 0
            else:
                chunk_position = position
                length = self._fill(position)
            previous_position = position
            table = (headers, positions, row_count)
            position, row_count, code = take_headers(
                self._buffer, length, chunk_position, position, self._stop, *table
            )
            if code == NEEDS_BYTES and position == chunk_position == previous_position:
                code = SHORT  # the file is shorter than when it was measured
        if row_count:
            yield rows(positions[:row_count], headers[:row_count])
        self.end = WalkEnd(position, REASONS[code])

    def _fill(self, position: int) -> int:
        read_bytes = max(0, min(len(self._buffer), self._stop - position))
        return self._read(position, self._buffer[:read_bytes]) if read_bytes else 0


def walk(data: bytes | memoryview) -> tuple[np.ndarray, WalkEnd]:
    """Returns all batches of a log in memory, an array of BATCH, and where and why they end."""
    steps = Walk(reader(data), 0, len(data))
    return np.concatenate([np.empty(0, BATCH), *steps]), steps.end


def few_batches(data: bytes) -> tuple[np.ndarray, int]:
    """Reads all batches as `walk` does. Faster for a few batches: loads no compiled code.

    Returns:
        An array of BATCH, and the position after the last batch.
    """
    positions = []
    headers = []
    position = 0
    while position + MAGIC_END < len(data):
        end = position + LENGTH_END
        batch_length = int.from_bytes(data[position + LENGTH_AT : end], "big", signed=True)
        is_magic_2 = 2 <= data[position + MAGIC_AT] < 128
        header_bytes = HEADER_BYTES if is_magic_2 else LEGACY_HEADER_BYTES
        if batch_length < MIN_LENGTH or max(end + batch_length, position + header_bytes) > len(
            data
        ):
            break
        positions.append(position)
        headers.append(data[position : position + header_bytes].ljust(HEADER_BYTES, b"\0"))
        position = end + batch_length
    table = np.frombuffer(b"".join(headers), np.uint8).reshape(-1, HEADER_BYTES)
    return rows(np.array(positions, np.int64), table), position


def batch_at(read: ReadInto, position: int, stop: int) -> np.void | None:
    """Returns the batch at `position` as a row of BATCH; None if `Walk` would end there."""
    buffer = np.zeros(HEADER_BYTES, np.uint8)
    headers = np.zeros((1, HEADER_BYTES), np.uint8)
    positions = np.empty(1, np.int64)
    length = read(position, buffer)
    _, row_count, _ = take_headers(buffer, length, position, position, stop, headers, positions, 0)
    return rows(positions, headers)[0] if row_count else None


@njit(cache=True, boundscheck=True)
def take_headers(
    buffer: np.ndarray,
    length: int,
    chunk_position: int,
    position: int,
    stop: int,
    headers: np.ndarray,
    positions: np.ndarray,
    row_count: int,
) -> tuple[int, int, int]:
    """Copies batch headers to a table until the chunk, the table or the log ends.

    Returns:
        The position of the next batch; the number of rows filled; the reason for stopping:
        NEEDS_BYTES (the chunk ended), NEEDS_ROOM (the table is full) or a key of REASONS.
    """
    while row_count < len(positions):
        left_bytes = stop - position
        start = position - chunk_position
        if left_bytes <= MAGIC_END:
            return position, row_count, AT_END if left_bytes <= 0 else SHORT
        if start + MAGIC_END > length:
            return position, row_count, NEEDS_BYTES
        batch_length = read_int32(buffer, start + LENGTH_AT)
        if batch_length < MIN_LENGTH:
            return position, row_count, BAD_LENGTH
        if left_bytes < LENGTH_END + batch_length:
            return position, row_count, TORN
        header_bytes = HEADER_BYTES if 2 <= buffer[start + MAGIC_AT] < 128 else LEGACY_HEADER_BYTES
        if left_bytes < header_bytes:
            return position, row_count, SHORT
        if start + header_bytes > length:
            return position, row_count, NEEDS_BYTES
        positions[row_count] = position
        for byte in range(header_bytes):
            headers[row_count, byte] = buffer[start + byte]
        row_count += 1
        position += LENGTH_END + batch_length
    return position, row_count, NEEDS_ROOM


def tail_kind(data: bytes | memoryview, last_offset: int | None, left_bytes: int) -> str:
    """Classifies the tail of a log, which is `left_bytes` long and begins with `data`.

    Returns "zeros": preallocated; "torn": looks like the next batch, cut off; "garbage": anything
    else. `last_offset` is the last offset before the tail; None if no batch precedes the tail.
    """
    if not bytes(data).strip(b"\0"):
        return TAIL_ZEROS
    if _continues_log(bytes(data[:HEADER_BYTES]), last_offset, left_bytes):
        return TAIL_TORN
    return TAIL_GARBAGE


def _continues_log(data: bytes, last_offset: int | None, left_bytes: int) -> bool:
    if len(data) < MAGIC_END:
        return False
    header = np.frombuffer(data.ljust(HEADER_BYTES, b"\0"), HEADER)[0]
    follows = int(header["base_offset"]) > (-1 if last_offset is None else last_offset)
    is_cut = int(header["batch_length_bytes"]) + LENGTH_END > left_bytes
    return follows and is_cut and int(header["magic"]) in KNOWN_MAGIC


class BatchObserver(Protocol[Result]):
    """Summarizes the batches of a segment, or of a part of a segment, during a scan."""

    def observe(self, batches: np.ndarray) -> None:
        """Receives the next batches (rows of BATCH), in log order. Must not change the rows."""
        ...

    def result(self) -> Result:
        """Returns the summary of all batches. Called once, after the scan."""
        ...


def observe_scan(scan: Iterable[np.ndarray], *observers: BatchObserver[Any]) -> None:
    """Reads a scan to its end, and passes each array of batches to each observer."""
    for batches in scan:
        for observer in observers:
            observer.observe(batches)
