"""A file as a name, a size and a function that reads its bytes by position.

The bytes are on a disk, in memory, or predicted: what a recovery would write.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kafkaviz.errors import too_large

READ_LIMIT_BYTES = 1 << 28  # the most bytes to read from any file in one piece
ON_DISK = "disk"
AFTER_RECOVERY = "recovered"

# read(position, buffer) fills the uint8 buffer from that position and returns the number of bytes
ReadInto = Callable[[int, np.ndarray], int]
OpenReader = Callable[[], AbstractContextManager[ReadInto]]


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file that can be read by position, wherever its bytes are.

    Attributes:
        open_reader: a context manager that gives read(position, buffer).
        modified_ms: the time of the last write. Kafka prints it in some messages.
        path: the path for messages, or the name if no path is known.
        source: "disk", or "recovered" for the predicted content after broker start-up.
    """

    name: str
    size_bytes: int
    open_reader: OpenReader
    modified_ms: int = 0
    path: str = ""
    source: str = ON_DISK

    def content(
        self,
        position: int = 0,
        size_bytes: int | None = None,
        *,
        limit_bytes: int = READ_LIMIT_BYTES,
    ) -> bytes:
        """Returns a range of the bytes, by default all; fewer if the file ends earlier.

        Raises CannotOpen if the range exceeds the limit.
        """
        return self.array(position, size_bytes, limit_bytes=limit_bytes).tobytes()

    def array(
        self,
        position: int = 0,
        size_bytes: int | None = None,
        *,
        limit_bytes: int = READ_LIMIT_BYTES,
    ) -> np.ndarray:
        """Returns the bytes of `content` as a read-only array of uint8, without a copy."""
        rest_bytes = max(0, self.size_bytes - position)
        length_bytes = rest_bytes if size_bytes is None else min(size_bytes, rest_bytes)
        if length_bytes > limit_bytes:
            raise too_large(self.path or self.name, length_bytes, limit_bytes)
        with self.open_reader() as read:
            data = read_array(read, position, length_bytes)
        data.flags.writeable = False
        return data

    def part(self, name: str, start: int, stop: int) -> "FileView":
        """Returns a range of the bytes as a separate file."""

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with self.open_reader() as read:
                yield lambda position, buffer: read(start + position, buffer)

        size_bytes = stop - start
        return FileView(
            name=name, size_bytes=size_bytes, open_reader=open_reader, modified_ms=self.modified_ms
        )

    def pad(self, size_bytes: int) -> "FileView":
        """Returns the file, extended with zeros to `size_bytes`. A longer file is unchanged."""

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with self.open_reader() as read:
                yield partial(_read_grown, read, self.size_bytes, size_bytes)

        if size_bytes > self.size_bytes:
            return replace(self, size_bytes=size_bytes, open_reader=open_reader)
        return self


def _read_grown(
    read: ReadInto, own_bytes: int, size_bytes: int, position: int, buffer: np.ndarray
) -> int:
    count = max(0, min(len(buffer), size_bytes - position))
    length = 0
    if position < own_bytes:
        length = read(position, buffer[: max(0, min(count, own_bytes - position))])
    if position + length < own_bytes:
        return length
    buffer[length:count] = 0
    return count


def read_bytes(read: ReadInto, position: int, size_bytes: int) -> bytes:
    return read_array(read, position, size_bytes).tobytes()


def read_array(read: ReadInto, position: int, size_bytes: int) -> np.ndarray:
    buffer = np.empty(max(0, size_bytes), np.uint8)
    return buffer[: read(position, buffer)]


def reader(data: bytes | bytearray | memoryview) -> ReadInto:
    """Returns a function read(position, buffer) for bytes in memory."""
    array = np.frombuffer(data, np.uint8)

    def read(position: int, buffer: np.ndarray) -> int:
        piece = array[position : position + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    return read


def in_memory(name: str, data: bytes, modified_ms: int = 0) -> FileView:
    return always_open(name, len(data), reader(data), modified_ms)


def always_open(name: str, size_bytes: int, read: ReadInto, modified_ms: int = 0) -> FileView:
    @contextmanager
    def open_reader() -> Generator[ReadInto]:
        yield read

    return FileView(
        name=name, size_bytes=size_bytes, open_reader=open_reader, modified_ms=modified_ms
    )
