"""A partition directory as plain values: names, sizes, and a door to the bytes of each file.

Nothing here knows where they lie.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format.names import parse_directory
from kafkaviz.format.walk import ReadInto
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig

OpenReader = Callable[[], AbstractContextManager[ReadInto]]
WHOLE_BYTES = 1 << 28  # of a file that is read whole
# of a .log that Kafka opens, starting.file_records: a position is a Java int
MOST_LOG_BYTES = 2**31 - 1


@dataclass(frozen=True)
class StoredFile:
    """A file of a partition directory.

    open_reader: a context manager that gives read(position, buffer), as format.walk.Read, while the
    file is open. modified_ms: when it was written last; some of Kafka's messages tell it.
    """

    name: str
    size_bytes: int
    open_reader: OpenReader
    modified_ms: int = 0

    def content(self, limit_bytes: int = WHOLE_BYTES) -> bytes:
        """All of its bytes, fewer where the file has become shorter; CannotOpen where they are more
        than the limit.
        """
        if self.size_bytes > limit_bytes:
            raise CannotOpen(
                self.name,
                message("errors.file_too_large", size=self.size_bytes, limit=limit_bytes),
                kind="large",
            )
        buffer = np.empty(self.size_bytes, np.uint8)
        with self.open_reader() as read:
            return buffer[: read(0, buffer)].tobytes()

    def part(self, name: str, start: int, stop: int) -> "StoredFile":
        """A stretch of its bytes as a file of that name."""

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with self.open_reader() as read:
                yield lambda position, buffer: read(start + position, buffer)

        return StoredFile(name, stop - start, open_reader, self.modified_ms)

    def pad(self, size_bytes: int) -> "StoredFile":
        """The same with zeros behind it, as long as that; one that is longer already stays as it
        is.
        """

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with self.open_reader() as read:
                yield partial(_read_grown, read, self.size_bytes, size_bytes)

        return (
            StoredFile(self.name, size_bytes, open_reader, self.modified_ms)
            if size_bytes > self.size_bytes
            else self
        )


def _read_grown(
    read: ReadInto, own_bytes: int, size_bytes: int, position: int, buffer: np.ndarray
) -> int:
    count = max(0, min(len(buffer), size_bytes - position))
    length = (
        read(position, buffer[: max(0, min(count, own_bytes - position))])
        if position < own_bytes
        else 0
    )
    if position + length < own_bytes:
        return length
    buffer[length:count] = 0
    return count


@dataclass(frozen=True)
class StoredLog:
    """A partition directory, and what the broker knows of it.

    directory: its name. files: of all kinds, sub-directories left out. recovery_point,
    log_start_offset: as the checkpoints of the broker directory have them, 0 where they say
    nothing. stray_reason: why the cluster's metadata does not want it here, or None.
    """

    directory: str
    files: tuple[StoredFile, ...]
    config: IndexConfig = field(default_factory=IndexConfig)
    recovery_point: int = 0
    log_start_offset: int = 0
    stray_reason: Message | None = None

    @property
    def topic(self) -> str:
        """As its name says; the whole name where that is none of a topic-partition."""
        name = parse_directory(self.directory)
        return name.topic if name else self.directory


def reader(data: bytes | bytearray | memoryview) -> ReadInto:
    """read(position, buffer) of bytes that are at hand."""
    array = np.frombuffer(data, np.uint8)

    def read(position: int, buffer: np.ndarray) -> int:
        piece = array[position : position + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    return read


def in_memory(name: str, data: bytes, modified_ms: int = 0) -> StoredFile:
    """A file whose bytes are at hand."""
    read = reader(data)

    @contextmanager
    def open_reader() -> Generator[ReadInto]:
        yield read

    return StoredFile(name, len(data), open_reader, modified_ms)
