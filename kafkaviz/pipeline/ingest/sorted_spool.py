"""Values in order, few of them in memory: sorted runs in a file, merged as they are read.

    spool = SortedSpool(key)
    spool.add(values)           each 1024 of them are sorted, and put aside
for value in spool: ...     the least of each run's next one, again and again
"""

import heapq
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
RUN_VALUES = 1024
BLOCK_VALUES = 8  # of a run that are read at a time


class SortedSpool(Generic[T]):
    """Values in a file that has no name, and goes with this process however that ends."""

    def __init__(self, key: Callable[[T], Any]) -> None:
        """Without a value yet.

        Args:
            key: what they are sorted by; of equal ones the first that was added comes first.
        """
        self._key = key
        self._waiting: list[T] = []
        self._runs: list[list[tuple[int, int]]] = []  # first byte and size of each block
        self._file = tempfile.TemporaryFile(prefix="kafkaviz-")  # noqa: SIM115 - it lives as long as this

    def add(self, values: Iterable[T]) -> None:
        """More of them."""
        for value in values:
            self._waiting.append(value)
            if len(self._waiting) >= RUN_VALUES:
                self._write_run()

    def __iter__(self) -> Iterator[T]:
        runs = [self._read(run) for run in self._runs]
        return heapq.merge(*runs, sorted(self._waiting, key=self._key), key=self._key)

    def _write_run(self) -> None:
        values, blocks = sorted(self._waiting, key=self._key), []
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
