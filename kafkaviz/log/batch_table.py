"""The batches of a .log by row; of a large log none is kept, and windows are read when needed.

A full segment has ten million batches of 100 bytes, and a page shows some hundred of them. So one
pass notes where every 1024th batch starts, and the largest offset and the times up to the next:

    block 0   position 0        offsets up to 1023   times from 10:00:00 to 10:00:01
    block 1   position 102400   offsets up to 2047   times from 10:00:01 to 10:00:02

Row 1500 is in block 1: the headers from byte 102400 on are read again, and the blocks that were
read last are kept. A log of few batches is one block, which stays in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import BATCH
from kafkaviz.format.batch_observer import BatchObserver, observe_scan
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

BLOCK_ROWS, CACHED_BLOCKS = 1024, 32
KEPT_ROWS = 1 << 16  # a log of so many batches stays in memory: 4.5 MiB
WINDOW_CHUNK_BYTES = 1 << 17
NO_ROW = -1  # no such row
NO_MS = np.iinfo(np.int64).max  # a least time where no batch has one
BLOCK: np.dtype = np.dtype(
    [
        ("position", "i8"),  # where its first batch starts
        ("last_offset", "i8"),  # the largest of any batch up to its end
        ("base_offset", "i8"),  # the largest
        ("newest_ms", "i8"),  # the largest timestamp
        ("oldest_ms", "i8"),  # the least of the largest timestamps of its batches
        ("start_ms", "i8"),  # the least of all timestamps in its headers
    ]
)


@dataclass(frozen=True, kw_only=True)
class BatchTable:
    """Rows of format.batch.BATCH in the order of a log, which never change.

    Attributes:
        count: of the rows.
        block_rows: of each block but the last.
        blocks: BLOCK; batches without a timestamp have no part in the least times.
        read_block: gives the rows of a block.
        scan: gives all rows once more, array by array.
    """

    count: int
    block_rows: int
    blocks: np.ndarray
    read_block: Callable[[int], np.ndarray]
    scan: Callable[[], Iterable[np.ndarray]]

    def __len__(self) -> int:
        """How many batches there are."""
        return self.count

    def __iter__(self) -> Iterator[np.ndarray]:
        """All rows, array by array; of a large log they are read again."""
        left = self.count
        for batches in self.scan():
            yield batches[:left]
            left -= len(batches)
            if left <= 0:
                return

    def window(self, first: int, stop: int) -> np.ndarray:
        """The rows from one to another, without the last and without those that there are not.

        Raises:
            CannotOpen: the log cannot be read any more, or is another one now.
        """
        first, stop = max(0, first), min(stop, self.count)
        first_block = first // self.block_rows
        if stop <= first:
            return self.read_block(0)[:0]
        blocks = [
            self.read_block(block)
            for block in range(first_block, (stop - 1) // self.block_rows + 1)
        ]
        rows = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        start = first_block * self.block_rows
        window = rows[first - start : stop - start]
        window.flags.writeable = False
        return window

    def block(self, number: int) -> np.ndarray:
        """The rows of a block, as `window` reads them."""
        return self.window(number * self.block_rows, (number + 1) * self.block_rows)

    def row(self, number: int) -> np.void:
        """One of the rows, as `window` reads it."""
        return self.window(number, number + 1)[0]

    def all_rows(self) -> np.ndarray:
        """All rows at once: for logs that are known to be small."""
        return self.window(0, self.count)

    def row_before_byte(self, position: int) -> int:
        """The last row that starts at or before a byte, NO_ROW where none does."""
        block = int(np.searchsorted(self.blocks["position"], position, "right")) - 1
        if block < 0 or not self.count:
            return NO_ROW
        rows = self.block(block)
        return (
            block * self.block_rows + int(np.searchsorted(rows["position"], position, "right")) - 1
        )

    def row_containing_byte(self, position: int) -> int:
        """The row of the batch in which a byte lies, NO_ROW for a byte outside all batches."""
        row = self.row_before_byte(position)
        if row == NO_ROW:
            return NO_ROW
        batch = self.row(row)
        return row if position < batch["position"] + batch["size_bytes"] else NO_ROW

    def row_holding_offset(self, offset: int) -> int:
        """The row of the first batch that ends at or after an offset, NO_ROW behind the last.

        Offsets lost to compaction have one too.
        """
        block = int(np.searchsorted(self.blocks["last_offset"], offset))
        if block == len(self.blocks):
            return NO_ROW
        rows = self.block(block)
        reached_offsets = np.maximum.accumulate(rows["last_offset"])
        row = block * self.block_rows + int(np.searchsorted(reached_offsets, offset))
        return row if row < self.count else NO_ROW

    def rows_at_positions(self, positions: np.ndarray) -> np.ndarray:
        """The row of the batch that starts at each position, NO_ROW where none does.

        All batches of a large log are read for it.
        """
        slots = np.argsort(positions, kind="stable")
        sorted_positions, rows = positions[slots], np.full(len(positions), NO_ROW)
        first_row = 0
        for batches in self if len(positions) else ():
            if not len(batches):
                continue
            starts = np.ascontiguousarray(batches["position"])
            first, stop = np.searchsorted(sorted_positions, (starts[0], starts[-1] + 1))
            places = np.searchsorted(starts, sorted_positions[first:stop])
            is_start = starts[places] == sorted_positions[first:stop]
            rows[slots[first:stop][is_start]] = places[is_start] + first_row
            first_row += len(batches)
        return rows

    @property
    def known_ms(self) -> tuple[int, int] | None:
        """The least and the largest timestamp, None where no batch has one."""
        whole_blocks = self.count // self.block_rows
        parts = [self.blocks[:whole_blocks], _blocks(self.block(whole_blocks), np.zeros(1, int))]
        oldest_ms = min(int(part["oldest_ms"].min(initial=NO_MS)) for part in parts)
        newest_ms = max(int(part["newest_ms"].max(initial=NO_ROW)) for part in parts)
        return None if oldest_ms == NO_MS else (oldest_ms, newest_ms)

    def until(self, end_position: int) -> "BatchTable":
        """The batches that end at or before a byte."""
        row = self.row_before_byte(end_position - 1)
        if row == NO_ROW:
            return replace(self, count=0)
        batch = self.row(row)
        return replace(
            self, count=row + int(batch["position"] + batch["size_bytes"] <= end_position)
        )


def of_rows(rows: np.ndarray) -> BatchTable:
    """The table of batches that are in memory: one block."""
    return BatchTable(
        count=len(rows),
        block_rows=max(1, len(rows)),
        blocks=_blocks(rows, np.zeros(1, int)),
        read_block=lambda _block: rows,
        scan=lambda: iter((rows,)),
    )


class BatchTableBuilder(BatchObserver[BatchTable]):
    """The table of a .log while its full scan runs."""

    def __init__(self, segment: LogSegment, kept_rows: int = KEPT_ROWS) -> None:
        """Starts with no batch observed.

        Args:
            segment: whose full_scan() is observed.
            kept_rows: so many are kept in memory; of more, none.
        """
        self._segment, self._kept_rows = segment, kept_rows
        self._count = self._end_position = 0
        self._parts: list[np.ndarray] = []
        self._blocks: list[np.ndarray] = []

    def observe(self, batches: np.ndarray) -> None:
        """The next batches."""
        if not len(batches):
            return
        first, self._count = self._count, self._count + len(batches)
        if self._count <= self._kept_rows:
            self._parts.append(batches)
        else:
            self._parts = []
        continued_rows = -first % BLOCK_ROWS  # of the block before
        if continued_rows:
            _extend(self._blocks[-1][-1:], _blocks(batches[:continued_rows], np.zeros(1, int)))
        starts = np.arange(continued_rows, len(batches), BLOCK_ROWS)
        if len(starts):
            self._blocks.append(_blocks(batches, starts))
        self._end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchTable:
        """The table of what was observed."""
        if self._count <= self._kept_rows:
            return of_rows(np.concatenate(self._parts) if self._parts else np.empty(0, BATCH))
        blocks = np.concatenate(self._blocks)
        blocks["last_offset"] = np.maximum.accumulate(blocks["last_offset"])
        borders = np.append(blocks["position"], self._end_position)
        read_block = partial(_read_block, self._segment, borders, self._count)
        return BatchTable(
            count=self._count,
            block_rows=BLOCK_ROWS,
            blocks=blocks,
            read_block=lru_cache(CACHED_BLOCKS)(read_block),
            scan=self._segment.full_scan,
        )


def read(segment: LogSegment) -> BatchTable:
    """The table of a segment, read once.

    Raises:
        CannotOpen: the .log may not be read.
    """
    builder = BatchTableBuilder(segment)
    observe_scan(segment.full_scan(), builder)
    return builder.result()


def _blocks(batches: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The blocks that start at these rows, each on its own; none where there is no batch."""
    if not len(batches) or not len(starts):
        return np.empty(0, BLOCK)
    blocks = np.empty(len(starts), BLOCK)
    blocks["position"] = batches["position"][starts]
    newest_ms = np.ascontiguousarray(batches["max_timestamp_ms"])
    for name, values in (
        ("last_offset", batches["last_offset"]),
        ("base_offset", batches["base_offset"]),
        ("newest_ms", newest_ms),
    ):
        blocks[name] = np.maximum.reduceat(values, starts)
    known_ms = np.where(newest_ms >= 0, newest_ms, NO_MS)
    blocks["oldest_ms"] = np.minimum.reduceat(known_ms, starts)
    if "base_timestamp_ms" in field_names(batches.dtype):
        start_ms = np.minimum(newest_ms, batches["base_timestamp_ms"])
        known_ms = np.where(newest_ms >= 0, start_ms, NO_MS)
    blocks["start_ms"] = np.minimum.reduceat(known_ms, starts)
    return blocks


def _extend(block: np.ndarray, more: np.ndarray) -> None:
    """Adds batches to a block that was left open."""
    for name in ("last_offset", "base_offset", "newest_ms"):
        block[name] = np.maximum(block[name], more[name])
    for name in ("oldest_ms", "start_ms"):
        block[name] = np.minimum(block[name], more[name])


def _read_block(segment: LogSegment, borders: np.ndarray, count: int, block: int) -> np.ndarray:
    """The rows of a block, read anew.

    Raises:
        CannotOpen: it does not hold them any more.
    """
    start, stop = (int(position) for position in borders[block : block + 2])
    scan = segment.scan(
        start,
        stop,
        min(WINDOW_CHUNK_BYTES, stop - start),
        look_inside=segment.is_looked_into,
    )
    parts = list(scan)
    rows = min(BLOCK_ROWS, count - block * BLOCK_ROWS)
    if sum(map(len, parts)) != rows or scan.end.position != stop:
        raise CannotOpen(segment.log.path, message("errors.is_another_file"), kind="missing")
    batches = np.concatenate(parts)
    batches.flags.writeable = False
    return batches
