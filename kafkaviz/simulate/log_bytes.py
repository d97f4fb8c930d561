"""Where the bytes of .log files go while a log is written: counted, kept in memory, or on disk."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from kafkaviz.binary.file_view import FileView, ReadInto, reader
from kafkaviz.units import file_stem


class LogBytes(Protocol):
    """The .log files of one partition, by base offset."""

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends bytes to a .log; the first ones create it.

        Args:
            data: None in a stream without payload.
        """

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """Removes what lies behind that many bytes."""

    def delete(self, base_offset: int) -> None:
        """Removes a .log, if there is one."""

    def stored(self, base_offset: int) -> FileView:
        """A .log as it is now; an empty one where nothing was written."""


class ByteCounter:
    """Counts bytes and keeps none: for a log of which only sizes and indexes are read.

    It cannot be truncated or loaded again.
    """

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """As LogBytes."""

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """As LogBytes."""

    def delete(self, base_offset: int) -> None:
        """As LogBytes."""

    def stored(self, base_offset: int) -> FileView:
        """Not available.

        Raises:
            ValueError: always.
        """
        raise ValueError("this log was written without its bytes: they cannot be read again")


class MemoryLogs:
    """Keeps all bytes in memory."""

    def __init__(self) -> None:
        self._logs: dict[int, bytearray] = {}

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """As LogBytes.

        Raises:
            ValueError: there are no bytes.
        """
        if data is None:
            raise ValueError("a batch came without its bytes")
        self._logs.setdefault(base_offset, bytearray()).extend(data)

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """As LogBytes."""
        if base_offset in self._logs:
            del self._logs[base_offset][size_bytes:]

    def delete(self, base_offset: int) -> None:
        """As LogBytes."""
        self._logs.pop(base_offset, None)

    def content(self, base_offset: int) -> bytes:
        """All bytes of a .log."""
        return bytes(self._logs.get(base_offset, b""))

    def stored(self, base_offset: int) -> FileView:
        """As LogBytes."""
        log = self._logs.get(base_offset, bytearray())

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            # no view outlives a call: the log goes on growing
            yield lambda position, buffer: reader(log)(position, buffer)

        return FileView(
            name=f"{file_stem(base_offset)}.log", size_bytes=len(log), open_reader=open_reader
        )
