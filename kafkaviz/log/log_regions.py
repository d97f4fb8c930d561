"""What a .log is made of around one of its bytes: batches, and stretches that are none.

The way there begins at an index entry whose batch has the checksum of its bytes, and steps on from
batch to batch; without an .index it begins at byte 0. Where the steps end before the file does, or
lead past such an entry by a length that is wrong, they go on at that entry: damage in the middle of
a log hides nothing that lies behind it.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format import offset_index, spans_batch, tail
from kafkaviz.format.batch import LENGTH_END, MIN_LENGTH
from kafkaviz.format.walk import Walk
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

BATCH_BYTES = 16 << 20  # a larger batch is not read whole
TAIL_BYTES = 16 << 20  # how far a tail is looked at
TRIES = 64  # entries that are tried for a batch that is whole
# read at once from an entry on; from the start of a log without an index
CHUNK_BYTES, LONG_CHUNK_BYTES = 1 << 16, 1 << 20
BATCH, TORN, GARBAGE, ZEROS = "batch", tail.TORN, tail.GARBAGE, tail.ZEROS


class LogRegion(NamedTuple):
    """Bytes position to end of a .log: a "batch", the start of one that is "torn", "garbage" or
    "zeros".

    last_offset: of a batch; of any other piece that of the batch before it, None where that is not
    known.
    """

    position: int
    end: int
    kind: str
    last_offset: int | None = None


class LogFile:
    """A .log and the .index beside it, to find out what lies at a byte."""

    def __init__(self, info: FileInfo) -> None:
        """Nothing is read yet."""
        self.info, self.size_bytes = info, info.size_bytes
        self._refuted_count = 0  # entries that point into a batch whose checksum is right

    def regions(self, start: int, stop: int) -> Iterator[LogRegion]:
        """The pieces that have a byte in [start, stop), in the order of the file; each begins where
        the one before ends.
        """
        begin, stop = self.batch_start_before(start), min(stop, self.size_bytes)
        last_region = LogRegion(begin, begin, BATCH)
        while last_region.end < stop:
            for region in self._walk_regions(last_region, start, stop):
                last_region = region
                if region.end > start:
                    yield region

    def batch_start_before(self, start: int) -> int:
        """A byte at or before start where a batch begins: the nearest entry that proves it, else
        0.
        """
        nearest = self._entries[: np.searchsorted(self._entries, start, "right")][::-1][:TRIES]
        return next((entry for entry in nearest.tolist() if self._is_intact(entry)), 0)

    def batch(self, position: int) -> bytes:
        """The bytes of the batch at a position, at most 16 MiB of them."""
        return file.read(self.info.path, position, min(self._length(position), BATCH_BYTES))

    def _walk_regions(self, last_region: LogRegion, start: int, stop: int) -> Iterator[LogRegion]:
        """The batches behind a piece that reach start, up to stop, or to where the steps end and
        the piece that is none.
        """
        last_offset = last_region.last_offset
        with file.reader(self.info.path) as read:
            walk = Walk(
                read,
                last_region.end,
                self.size_bytes,
                CHUNK_BYTES if self._entries.size else LONG_CHUNK_BYTES,
            )
            for table in walk:
                if misleading := self._find_misleading(table, stop):
                    table = table[: misleading[0]]
                first = int(
                    np.searchsorted(table["position"] + table["size_bytes"], start, "right")
                )
                last_offset = int(table["last_offset"][first - 1]) if first else last_offset
                for position, size_bytes, last_offset in table[
                    ["position", "size_bytes", "last_offset"]
                ][first:].tolist():
                    yield LogRegion(position, position + size_bytes, BATCH, last_offset)
                    if position + size_bytes >= stop:
                        return
                if misleading:
                    yield LogRegion(*misleading[1:], TORN, last_offset)
                    return
        yield self._tail_region(walk.end.position, last_offset)

    def _find_misleading(self, table: np.ndarray, stop: int) -> tuple[int, int, int] | None:
        """(row, its position, the entry it leads past) of the first batch whose length is wrong, as
        an entry within it proves.
        """
        if self._refuted_count >= TRIES:  # an index that is wrong this often proves nothing
            return None
        next_entries = np.searchsorted(self._entries, table["position"], "right")
        is_inside = next_entries < np.searchsorted(
            self._entries, table["position"] + table["size_bytes"]
        )
        for row in np.flatnonzero(is_inside & (table["position"] < stop))[
            : TRIES - self._refuted_count
        ].tolist():
            position, end = (
                int(table["position"][row]),
                int(table["position"][row] + table["size_bytes"][row]),
            )
            if self._is_intact(position):
                self._refuted_count += 1
            elif entry := self._next_intact_entry(position, end):
                return row, position, entry
        return None

    def _tail_region(self, position: int, last_offset: int | None) -> LogRegion:
        """What no step leads into: up to the next entry that points at a whole batch, or to the end
        of the file.
        """
        end = self._next_intact_entry(position, self.size_bytes) or self.size_bytes
        data = file.read(self.info.path, position, min(end - position, TAIL_BYTES))
        return LogRegion(position, end, tail.kind(data, last_offset, end - position), last_offset)

    @cached_property
    def _entries(self) -> np.ndarray:
        """The positions of the .index beside the .log, each once, in order; none where there is no
        index.
        """
        stem, _, suffix = self.info.name.partition(".log")
        try:
            data, _ = file.read_data(self.info.directory / f"{stem}.index{suffix}")
        except CannotOpen:
            return np.empty(0, np.int64)
        positions = offset_index.parse(data)["position"].astype(np.int64)
        positions = positions[(positions > 0) & (positions < self.size_bytes)]
        return positions if (np.diff(positions) > 0).all() else np.unique(positions)

    def _next_intact_entry(self, position: int, end: int) -> int | None:
        """The next entry behind a byte and before another at which a whole batch begins."""
        first, last = (
            np.searchsorted(self._entries, position, "right"),
            np.searchsorted(self._entries, end),
        )
        return next(
            (
                entry
                for entry in self._entries[first:last][:TRIES].tolist()
                if self._is_intact(entry)
            ),
            None,
        )

    def _length(self, position: int) -> int:
        """How many bytes the batch at a position says that it takes."""
        length = file.read(self.info.path, position + LENGTH_END - 4, 4)
        return int.from_bytes(length, "big", signed=True) + LENGTH_END

    def _is_intact(self, position: int) -> bool:
        """Whether a whole batch begins there, by its checksum."""
        size_bytes = self._length(position)
        if (
            not MIN_LENGTH + LENGTH_END
            <= size_bytes
            <= min(self.size_bytes - position, BATCH_BYTES)
        ):
            return False
        return spans_batch.is_intact(file.read(self.info.path, position, size_bytes))
