"""The partitions of a broker directory, listed once and put aside in a file.

What a listing says of 100 000 segments takes some 250 MB as objects, and packed one partition after
the other some 10 MB of a file. Whoever goes through them sees the same listing each time, whatever
a broker has written since, and holds one partition at a time.

    spool = PartitionSpool(partitions)      orders-0, orders-1, ... are written
    for partition in spool: ...             and come back one by one, as often as is needed
"""

import copyreg
import io
import pickle
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import overload

from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition

FAST = 1  # zlib's level: a listing is repetitive enough for any
FIELDS = [field.name for field in fields(FileInfo)]


def _reduce_file(info: FileInfo) -> tuple:
    """A file by its fields: what a dataclass does by itself takes three times as long."""
    return FileInfo, tuple(getattr(info, name) for name in FIELDS)


def _pack(partition: Partition) -> bytes:
    packed = io.BytesIO()
    pickler = pickle.Pickler(packed, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = {**copyreg.dispatch_table, FileInfo: _reduce_file}
    pickler.dump(partition)
    return zlib.compress(packed.getbuffer(), FAST)


class PartitionSpool(Sequence[Partition]):
    """Partitions in a file that has no name, and goes with this process however that ends."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        """Takes them one by one."""
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
