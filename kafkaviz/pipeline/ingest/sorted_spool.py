"""Sorts values with little memory: sorted runs are stored in a file and merged when read.

spool = SortedSpool(key)
spool.add(values)           each 1024 values are sorted and stored as a run
for value in spool: ...     repeatedly returns the smallest next value of all runs
"""

import heapq
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
RUN_VALUES = 1024
BLOCK_VALUES = 8  # values of a run that are read at a time


class SortedSpool(Generic[T]):
    """Values in a file without a name, which disappears when this process ends."""

    def __init__(self, key: Callable[[T], Any]) -> None:
        """Creates an empty spool.

        Args:
            key: returns the sort key of a value; equal values stay in the order of adding.
        """
        self._key = key
        self._waiting: list[T] = []
        self._runs: list[list[tuple[int, int]]] = []  # the first byte and size of each block
        self._file = tempfile.TemporaryFile(prefix="kafkaviz-")  # noqa: SIM115 - it lives as long as this

    def add(self, values: Iterable[T]) -> None:
        for value in values:
            self._waiting.append(value)
            if len(self._waiting) >= RUN_VALUES:
                self._write_run()

    def __iter__(self) -> Iterator[T]:
        runs = [self._read(run) for run in self._runs]
        return heapq.merge(*runs, sorted(self._waiting, key=self._key), key=self._key)

    def _write_run(self) -> None:
        values = sorted(self._waiting, key=self._key)
        blocks = []
        self._file.seek(0, 2)
        for first in range(0, len(values), BLOCK_VALUES):
            data = zlib.compress(pickle.dumps(values[first : first + BLOCK_VALUES]), 1)
            blocks.append((self._file.tell(), len(data)))
            self._file.write(data)
        self._runs.append(blocks)
        self._waiting = []

    def _read(self, run: list[tuple[int, int]]) -> Iterator[T]:
        for position, size_bytes in run:
            self._file.seek(position)
            yield from pickle.loads(zlib.decompress(self._file.read(size_bytes)))
