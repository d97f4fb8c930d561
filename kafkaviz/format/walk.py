"""The header walk (.log): one row a batch, fast, reading forward in chunks.

Kafka's FileLogInputStream, 4.3.1: each step takes 17 bytes, adds 12 + length, and is at the next
batch. A log of two batches of 100 and 61 bytes and 5 torn bytes gives rows at positions 0 and 100,
and ends at 161, "short".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkaviz.binary.compiled import njit
from kafkaviz.binary.layouts import field_start
from kafkaviz.format.batch import (
    BATCH,
    HEADER,
    HEADER_BYTES,
    LEAST_LENGTH,
    LEGACY_HEADER,
    LENGTH_END,
    MAGIC_END,
    rows,
)

CHUNK_BYTES = 1 << 20  # fits the processor's cache: a chunk is walked while it is still there
ROWS_AT_ONCE = 16_384
LENGTH_AT = field_start(HEADER, "batch_length_bytes")
MAGIC_AT = field_start(HEADER, "magic")
LEGACY_HEADER_BYTES = LEGACY_HEADER.itemsize
NEEDS_BYTES, NEEDS_ROOM, ENDED, SHORT, TORN, BAD_LENGTH = range(6)
REASONS = {ENDED: "end", SHORT: "short", TORN: "torn", BAD_LENGTH: "bad-length"}

Read = Callable[[int, np.ndarray], int]


@dataclass(frozen=True)
class End:
    """Where a walk stopped, and why.

    reason: "end" no byte is left; "short" fewer bytes are left than a header takes; "torn" the last
    batch is longer than what is left; "bad-length" its length is below 14, which Kafka calls
    corrupt.
    """

    position: int
    reason: str


class Walk:
    """The batches from one byte of a log to another; .end is known once all were taken.

    A row needs its whole header, 61 bytes for magic 2 and 26 below. Kafka steps by 17 bytes and
    reads the rest when it is asked for an offset: where that would fail, the walk ends.
    """

    def __init__(self, read: Read, start: int, stop: int, chunk_bytes: int = CHUNK_BYTES) -> None:
        """read(position, buffer) fills the uint8 buffer from that byte of the log and says how many
        bytes it got.
        """
        self._read, self._start, self._stop = read, start, stop
        self._buffer = np.empty(max(chunk_bytes, HEADER_BYTES), np.uint8)
        self.end: End | Any = None  # Any for None: known once all were taken

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of format.batch.BATCH, in the order of the log; memory is bounded by a chunk and
        16 384 rows.
        """
        headers, positions = (
            np.zeros((ROWS_AT_ONCE, HEADER_BYTES), np.uint8),
            np.empty(ROWS_AT_ONCE, np.int64),
        )
        at, filled, code, chunk_position, length = self._start, 0, NEEDS_BYTES, self._start, 0
        while code not in REASONS:
            if code == NEEDS_ROOM:
                yield rows(positions, headers)
                filled = 0
            else:
                chunk_position, length = at, self._fill(at)
            before = at
            at, filled, code = take_headers(
                self._buffer, length, chunk_position, at, self._stop, headers, positions, filled
            )
            if code == NEEDS_BYTES and at == chunk_position == before:
                code = SHORT  # the file is shorter than it was said to be
        if filled:
            yield rows(positions[:filled], headers[:filled])
        self.end = End(at, REASONS[code])

    def _fill(self, at: int) -> int:
        wanted = max(0, min(len(self._buffer), self._stop - at))
        return self._read(at, self._buffer[:wanted]) if wanted else 0


def walk(data: bytes | memoryview) -> tuple[np.ndarray, End]:
    """Every batch of a log in memory, and where it ends."""
    log = np.frombuffer(data, np.uint8)

    def read(position: int, buffer: np.ndarray) -> int:
        part = log[position : position + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    steps = Walk(read, 0, len(log))
    parts = list(steps)
    return np.concatenate(parts) if parts else np.empty(0, BATCH), steps.end


@njit(cache=True, boundscheck=True)
def take_headers(buffer, length, chunk_position, at, stop, headers, positions, filled):
    """Takes the headers of batches from the chunk until it needs bytes or room, or the log ends:
    (at, filled, code).
    """
    while filled < len(positions):
        left, here = stop - at, at - chunk_position
        if left <= MAGIC_END:
            return at, filled, ENDED if left <= 0 else SHORT
        if here + MAGIC_END > length:
            return at, filled, NEEDS_BYTES
        batch_length = _int32(buffer, here + LENGTH_AT)
        if batch_length < LEAST_LENGTH:
            return at, filled, BAD_LENGTH
        if left < LENGTH_END + batch_length:
            return at, filled, TORN
        header_bytes = HEADER_BYTES if 2 <= buffer[here + MAGIC_AT] < 128 else LEGACY_HEADER_BYTES
        if left < header_bytes:
            return at, filled, SHORT
        if here + header_bytes > length:
            return at, filled, NEEDS_BYTES
        positions[filled] = at
        for byte in range(header_bytes):
            headers[filled, byte] = buffer[here + byte]
        filled += 1
        at += LENGTH_END + batch_length
    return at, filled, NEEDS_ROOM


@njit(cache=True, boundscheck=True)
def _int32(buffer, at):
    """A signed big-endian integer of four bytes."""
    value = (
        (np.int64(buffer[at]) << 24)
        | (np.int64(buffer[at + 1]) << 16)
        | (np.int64(buffer[at + 2]) << 8)
        | np.int64(buffer[at + 3])
    )
    return value - (1 << 32) if value >= 1 << 31 else value
