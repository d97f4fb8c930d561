"""Stores for the bytes of .log files while a log is written."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from kafkaviz.binary.file_view import FileView, ReadInto, reader
from kafkaviz.units import file_stem


class LogBytes(Protocol):
    """A store for the .log files of one partition, by base offset."""

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends bytes to a .log, and creates the file if it is new.

        Args:
            data: the bytes; None if only rows are generated.
        """

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """Cuts a .log to this size."""

    def delete(self, base_offset: int) -> None:
        """Removes a .log if it exists."""

    def stored(self, base_offset: int) -> FileView:
        """Returns the current .log; an empty file if nothing was written."""


class DiscardedLogs:
    """Drops all bytes. The log can then not be truncated or loaded again."""

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        pass

    def cut(self, base_offset: int, size_bytes: int) -> None:
        pass

    def delete(self, base_offset: int) -> None:
        pass

    def stored(self, base_offset: int) -> FileView:
        raise ValueError("this log was written without its bytes: they cannot be read again")


class MemoryLogs:
    """Keeps all bytes in memory."""

    def __init__(self) -> None:
        self._logs: dict[int, bytearray] = {}

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends bytes to a .log. Raises ValueError if `data` is None."""
        if data is None:
            raise ValueError("a batch came without its bytes")
        self._logs.setdefault(base_offset, bytearray()).extend(data)

    def cut(self, base_offset: int, size_bytes: int) -> None:
        if base_offset in self._logs:
            del self._logs[base_offset][size_bytes:]

    def delete(self, base_offset: int) -> None:
        self._logs.pop(base_offset, None)

    def content(self, base_offset: int) -> bytes:
        return bytes(self._logs.get(base_offset, b""))

    def stored(self, base_offset: int) -> FileView:
        log = self._logs.get(base_offset, bytearray())

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            # create the view only for the call: a bytearray with a live view cannot grow
            yield lambda position, buffer: reader(log)(position, buffer)

        return FileView(
            name=f"{file_stem(base_offset)}.log", size_bytes=len(log), open_reader=open_reader
        )
