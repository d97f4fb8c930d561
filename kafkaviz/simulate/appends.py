"""The batches that are appended to a simulated log, and classes that store bytes of a .log.

A batch is a row of INCOMING. It has the columns of format.batch.BATCH, and four more: append,
now_ms, deep_offset and marker. For example:

    base_offset  size_bytes  append  now_ms         deep_offset  marker
    0            1042        0       1700000000000  9            -1
    10           78          1       1700000000009  10            1      a COMMIT

The log fills in the column `position`. A LogBytes stores the bytes of the batches, if they are
generated.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kafkaviz.binary.file_view import FileView, ReadInto, reader
from kafkaviz.format import batch
from kafkaviz.format.control import ControlType
from kafkaviz.units import file_stem

INCOMING: np.dtype = np.dtype(
    [
        *batch.BATCH.descr,
        # number of the append call: rows with equal numbers belong to one call; a leader's call has
        # one batch of magic 2
        ("append", "i8"),
        ("now_ms", "i8"),  # the broker's clock at the append
        # offset of the record with the largest timestamp; some releases write it into the time
        # index
        ("deep_offset", "i8"),
        ("marker", "i1"),  # 0: ABORT, 1: COMMIT, -1: not a marker
    ]
)
ABORT = int(ControlType.ABORT)
COMMIT = int(ControlType.COMMIT)
NO_MARKER = -1


@dataclass(frozen=True)
class AppendChunk:
    """Some batches of a log or workload, in offset order."""

    rows: np.ndarray  # an array of INCOMING
    data: bytes | memoryview | None = None  # all these batches one after another; None: only rows


class LogBytes(Protocol):
    """A store for the .log files of one partition, by base offset."""

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends bytes (None if only rows are generated) to a .log, which may be new."""

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """Cuts a .log to this size."""

    def delete(self, base_offset: int) -> None:
        """Removes a .log if it exists."""

    def stored(self, base_offset: int) -> FileView:
        """Returns the current .log; an empty file if nothing was written."""


class DiscardedLogs:
    """Drops all bytes. `stored` raises ValueError, so the log cannot be truncated or loaded."""

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

        name = f"{file_stem(base_offset)}.log"
        return FileView(name=name, size_bytes=len(log), open_reader=open_reader)
