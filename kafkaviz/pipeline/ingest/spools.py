"""Temporary files for listings and sorted values that would take too much memory.

As objects, the listing of 100 000 segments takes about 250 MB. `PartitionSpool` packs the
partitions into one file of about 10 MB, and keeps one partition in memory at a time. Every
iteration sees the same listing, even if a broker writes in the meantime.

    spool = PartitionSpool(partitions)      orders-0, orders-1, ... are written
    for partition in spool: ...             and returned one by one, as often as needed

`SortedSpool` sorts values in runs, and merges the runs when they are read:

    spool = SortedSpool(key)
    spool.add(values)                       each 1024 values are sorted and stored as a run
    for value in spool: ...                 yields the values of all runs in order
"""

import copyreg
import heapq
import io
import pickle
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Generic, TypeVar, overload

from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition

ZLIB_LEVEL = 1  # a listing is repetitive, so a higher level gains little
RUN_VALUES = 1024  # number of values that `SortedSpool` sorts as one run
BLOCK_VALUES = 8  # number of values of a run that are read at once
FIELDS = [field.name for field in fields(FileInfo)]
T = TypeVar("T")


def _reduce_file(info: FileInfo) -> tuple:
    # three times as fast as pickle's default
    return FileInfo, tuple(getattr(info, name) for name in FIELDS)


def _pack(partition: Partition) -> bytes:
    packed = io.BytesIO()
    pickler = pickle.Pickler(packed, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, FileInfo: _reduce_file}
    pickler.dump(partition)
    return zlib.compress(packed.getbuffer(), ZLIB_LEVEL)


class PartitionSpool(Sequence[Partition]):
    """Partitions in a nameless temporary file, which disappears when this process ends."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        self._ends = array("q", [0])
        self._file = tempfile.TemporaryFile(prefix="kafkaviz-")  # noqa: SIM115 - it lives as long as this
        for partition in partitions:
            data = _pack(partition)
            self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))
        self._file.flush()

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> Partition: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Partition]: ...

    def __getitem__(self, place: int | slice) -> Partition | Sequence[Partition]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        self._file.seek(self._ends[number])
        data = self._file.read(self._ends[number + 1] - self._ends[number])
        return pickle.loads(zlib.decompress(data))

    def __iter__(self) -> Iterator[Partition]:
        return (self[number] for number in range(len(self)))


class SortedSpool(Generic[T]):
    """Values in a nameless temporary file, sorted when they are read."""

    def __init__(self, key: Callable[[T], Any]) -> None:
        """Creates an empty spool, which sorts by `key`. The sort is stable."""
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
            data = zlib.compress(pickle.dumps(values[first : first + BLOCK_VALUES]), ZLIB_LEVEL)
            blocks.append((self._file.tell(), len(data)))
            self._file.write(data)
        self._runs.append(blocks)
        self._waiting = []

    def _read(self, run: list[tuple[int, int]]) -> Iterator[T]:
        for position, size_bytes in run:
            self._file.seek(position)
            yield from pickle.loads(zlib.decompress(self._file.read(size_bytes)))
