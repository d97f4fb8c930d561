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
from kafkaviz.format.batch import LEAST_LENGTH, LENGTH_END
from kafkaviz.format.walk import Walk
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

BATCH_BYTES = 16 << 20  # a larger batch is not read whole
TAIL_BYTES = 16 << 20  # how far a tail is looked at
TRIES = 64  # entries that are tried for a batch that is whole
# read at once from an entry on; from the start of a log without an index
CHUNK_BYTES, LONG_CHUNK_BYTES = 1 << 16, 1 << 20
BATCH, TORN, GARBAGE, ZEROS = "batch", tail.TORN, tail.GARBAGE, tail.ZEROS


class Piece(NamedTuple):
    """Bytes position to end of a .log: a "batch", the start of one that is "torn", "garbage" or
    "zeros".

    last_offset: of a batch; of any other piece that of the batch before it, None where that is not
    known.
    """

    position: int
    end: int
    kind: str
    last_offset: int | None = None


class Log:
    """A .log and the .index beside it, to find out what lies at a byte."""

    def __init__(self, found: FileInfo) -> None:
        """Nothing is read yet."""
        self.found, self.size_bytes = found, found.size_bytes
        self._refuted = 0  # entries that point into a batch whose checksum is right

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The pieces that have a byte in [start, stop), in the order of the file; each begins where
        the one before ends.
        """
        begin, stop = self.before(start), min(stop, self.size_bytes)
        last = Piece(begin, begin, BATCH)
        while last.end < stop:
            for piece in self._steps(last, start, stop):
                last = piece
                if piece.end > start:
                    yield piece

    def before(self, start: int) -> int:
        """A byte at or before start where a batch begins: the nearest entry that proves it, else
        0.
        """
        nearest = self._entries[: np.searchsorted(self._entries, start, "right")][::-1][:TRIES]
        return next((entry for entry in nearest.tolist() if self._is_intact(entry)), 0)

    def batch(self, position: int) -> bytes:
        """The bytes of the batch at a position, at most 16 MiB of them."""
        return file.read(self.found.path, position, min(self._length(position), BATCH_BYTES))

    def _steps(self, last: Piece, start: int, stop: int) -> Iterator[Piece]:
        """The batches behind a piece that reach start, up to stop, or to where the steps end and
        the piece that is none.
        """
        last_offset = last.last_offset
        with file.reader(self.found.path) as read:
            walk = Walk(
                read,
                last.end,
                self.size_bytes,
                CHUNK_BYTES if self._entries.size else LONG_CHUNK_BYTES,
            )
            for table in walk:
                if wrong := self._misled(table, stop):
                    table = table[: wrong[0]]
                first = int(
                    np.searchsorted(table["position"] + table["size_bytes"], start, "right")
                )
                last_offset = int(table["last_offset"][first - 1]) if first else last_offset
                for position, size_bytes, last_offset in table[
                    ["position", "size_bytes", "last_offset"]
                ][first:].tolist():
                    yield Piece(position, position + size_bytes, BATCH, last_offset)
                    if position + size_bytes >= stop:
                        return
                if wrong:
                    yield Piece(*wrong[1:], TORN, last_offset)
                    return
        yield self._rest(walk.end.position, last_offset)

    def _misled(self, table: np.ndarray, stop: int) -> tuple[int, int, int] | None:
        """(row, its position, the entry it leads past) of the first batch whose length is wrong, as
        an entry within it proves.
        """
        if self._refuted >= TRIES:  # an index that is wrong this often proves nothing
            return None
        following = np.searchsorted(self._entries, table["position"], "right")
        inside = following < np.searchsorted(self._entries, table["position"] + table["size_bytes"])
        for row in np.flatnonzero(inside & (table["position"] < stop))[
            : TRIES - self._refuted
        ].tolist():
            position, end = (
                int(table["position"][row]),
                int(table["position"][row] + table["size_bytes"][row]),
            )
            if self._is_intact(position):
                self._refuted += 1
            elif entry := self._after(position, end):
                return row, position, entry
        return None

    def _rest(self, position: int, last_offset: int | None) -> Piece:
        """What no step leads into: up to the next entry that points at a whole batch, or to the end
        of the file.
        """
        end = self._after(position, self.size_bytes) or self.size_bytes
        found = file.read(self.found.path, position, min(end - position, TAIL_BYTES))
        return Piece(position, end, tail.kind(found, last_offset, end - position), last_offset)

    @cached_property
    def _entries(self) -> np.ndarray:
        """The positions of the .index beside the .log, each once, in order; none where there is no
        index.
        """
        stem, _, suffix = self.found.name.partition(".log")
        try:
            data, _ = file.read_written(self.found.directory / f"{stem}.index{suffix}")
        except CannotOpen:
            return np.empty(0, np.int64)
        positions = offset_index.parse(data)["position"].astype(np.int64)
        positions = positions[(positions > 0) & (positions < self.size_bytes)]
        return positions if (np.diff(positions) > 0).all() else np.unique(positions)

    def _after(self, position: int, end: int) -> int | None:
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
        length = file.read(self.found.path, position + LENGTH_END - 4, 4)
        return int.from_bytes(length, "big", signed=True) + LENGTH_END

    def _is_intact(self, position: int) -> bool:
        """Whether a whole batch begins there, by its checksum."""
        size_bytes = self._length(position)
        if (
            not LEAST_LENGTH + LENGTH_END
            <= size_bytes
            <= min(self.size_bytes - position, BATCH_BYTES)
        ):
            return False
        return spans_batch.is_intact(file.read(self.found.path, position, size_bytes))
