"""The batches of a .log by row number; a large .log is read again when rows are needed.

A full segment may have ten million batches, but a page shows only a few hundred. So the rows are
divided into blocks of 1024. One pass over the .log stores for each block where it starts, its
largest offset and its times:

    block 0   position 0        offsets up to 1023   times from 10:00:00 to 10:00:01
    block 1   position 102400   offsets up to 2047   times from 10:00:01 to 10:00:02

For row 1500, the headers of block 1 are read again. The CACHED_BLOCKS blocks used last stay in
memory. A small log is a single block and stays in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import BATCH
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

BLOCK_ROWS = 1024
CACHED_BLOCKS = 32
KEPT_ROWS = 1 << 16  # a log of up to this many batches stays in memory, in 4.5 MiB
WINDOW_CHUNK_BYTES = 1 << 17
NO_ROW = -1  # no such row
ONE_BLOCK = np.zeros(1, np.int64)  # the first row of the only block
NO_MS = np.iinfo(np.int64).max  # the smallest time, if no batch has a time
BLOCK: np.dtype = np.dtype(
    [
        ("position", "i8"),  # where the block's first batch starts
        ("last_offset", "i8"),  # the largest last offset of all batches up to the block's end
        ("base_offset", "i8"),  # the largest base offset in the block
        ("newest_ms", "i8"),  # the largest timestamp in the block
        ("oldest_ms", "i8"),  # the smallest of the batches' largest timestamps
        ("start_ms", "i8"),  # the smallest of all timestamps in the batches' headers
    ]
)


@dataclass(frozen=True, kw_only=True)
class BatchTable:
    """The batches of a .log, in order, as rows of format.batch.BATCH.

    Rows never change. The rows of a large log are not all in memory.
    """

    count: int  # the number of rows
    block_rows: int  # the number of rows in each block except the last
    # an array of BLOCK. The smallest times do not count batches without a timestamp.
    blocks: np.ndarray
    read_block: Callable[[int], np.ndarray]  # a function that returns the rows of a block
    # a function that returns all rows again, array by array
    scan: Callable[[], Iterable[np.ndarray]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[np.ndarray]:
        left = self.count
        for batches in self.scan():
            yield batches[:left]
            left -= len(batches)
            if left <= 0:
                return

    def window(self, first: int, stop: int) -> np.ndarray:
        """Returns the existing rows from `first` to `stop` (exclusive).

        Raises CannotOpen if the log cannot be read any more or has been replaced.
        """
        first = max(0, first)
        stop = min(stop, self.count)
        first_block = first // self.block_rows
        if stop <= first:
            return self.read_block(0)[:0]
        stop_block = (stop - 1) // self.block_rows + 1
        blocks = [self.read_block(block) for block in range(first_block, stop_block)]
        rows = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        start = first_block * self.block_rows
        window = rows[first - start : stop - start]
        window.flags.writeable = False
        return window

    def block(self, number: int) -> np.ndarray:
        return self.window(number * self.block_rows, (number + 1) * self.block_rows)

    def row(self, number: int) -> np.void:
        return self.window(number, number + 1)[0]

    def all_rows(self) -> np.ndarray:
        """Returns all rows at once. Only for small logs."""
        return self.window(0, self.count)

    def row_before_byte(self, position: int) -> int:
        """Returns the row of the last batch that starts at or before a position, or NO_ROW."""
        block = int(np.searchsorted(self.blocks["position"], position, "right")) - 1
        if block < 0 or not self.count:
            return NO_ROW
        rows = self.block(block)
        row_in_block = int(np.searchsorted(rows["position"], position, "right")) - 1
        return block * self.block_rows + row_in_block

    def row_containing_byte(self, position: int) -> int:
        row = self.row_before_byte(position)
        if row == NO_ROW:
            return NO_ROW
        batch = self.row(row)
        return row if position < batch["position"] + batch["size_bytes"] else NO_ROW

    def row_holding_offset(self, offset: int) -> int:
        """Returns the row of the first batch that ends at or after an offset, or NO_ROW."""
        block = int(np.searchsorted(self.blocks["last_offset"], offset))
        if block == len(self.blocks):
            return NO_ROW
        rows = self.block(block)
        reached_offsets = np.maximum.accumulate(rows["last_offset"])
        row = block * self.block_rows + int(np.searchsorted(reached_offsets, offset))
        return row if row < self.count else NO_ROW

    @property
    def known_ms(self) -> tuple[int, int] | None:
        """The smallest and the largest of the batches' max timestamps; None: no batch has one."""
        whole_blocks = self.count // self.block_rows
        parts = self.blocks[:whole_blocks], summarize_blocks(self.block(whole_blocks))
        oldest_ms = min(int(part["oldest_ms"].min(initial=NO_MS)) for part in parts)
        newest_ms = max(int(part["newest_ms"].max(initial=NO_ROW)) for part in parts)
        return None if oldest_ms == NO_MS else (oldest_ms, newest_ms)

    def until(self, end_position: int) -> "BatchTable":
        row = self.row_before_byte(end_position - 1)
        if row == NO_ROW:
            return replace(self, count=0)
        batch = self.row(row)
        is_inside = batch["position"] + batch["size_bytes"] <= end_position
        return replace(self, count=row + int(is_inside))


class BatchTableBuilder(BatchObserver[BatchTable]):
    def __init__(self, segment: LogSegment, kept_rows: int = KEPT_ROWS) -> None:
        """Starts without batches. If `kept_rows` is exceeded, no batches stay in memory."""
        self._segment = segment
        self._kept_rows = kept_rows
        self._count = self._end_position = 0
        self._parts: list[np.ndarray] = []
        self._blocks: list[np.ndarray] = []

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        first = self._count
        self._count += len(batches)
        if self._count <= self._kept_rows:
            self._parts.append(batches)
        else:
            self._parts = []
        continued_rows = -first % BLOCK_ROWS  # the last block needs this many more rows
        if continued_rows:
            _extend(self._blocks[-1][-1:], summarize_blocks(batches[:continued_rows]))
        starts = np.arange(continued_rows, len(batches), BLOCK_ROWS)
        if len(starts):
            self._blocks.append(summarize_blocks(batches, starts))
        self._end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchTable:
        if self._count <= self._kept_rows:
            return table_of_rows(np.concatenate(self._parts) if self._parts else np.empty(0, BATCH))
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


def read(segment: LogSegment, kept_rows: int = KEPT_ROWS) -> BatchTable:
    """Reads a segment and returns its table. Raises CannotOpen if the .log cannot be read."""
    builder = BatchTableBuilder(segment, kept_rows)
    observe_scan(segment.full_scan(), builder)
    return builder.result()


def _extend(block: np.ndarray, more: np.ndarray) -> None:
    for name in ("last_offset", "base_offset", "newest_ms"):
        block[name] = np.maximum(block[name], more[name])
    for name in ("oldest_ms", "start_ms"):
        block[name] = np.minimum(block[name], more[name])


def _read_block(segment: LogSegment, borders: np.ndarray, count: int, block: int) -> np.ndarray:
    """Reads the rows of a block again.

    Raises CannotOpen if the file has changed and no longer has these rows.
    """
    start, stop = (int(position) for position in borders[block : block + 2])
    scan = segment.scan(
        start,
        stop,
        min(WINDOW_CHUNK_BYTES, stop - start),
        fill_wrapper_fields=segment.fills_wrapper_fields,
    )
    parts = list(scan)
    rows = min(BLOCK_ROWS, count - block * BLOCK_ROWS)
    if sum(map(len, parts)) != rows or scan.end.position != stop:
        raise CannotOpen(segment.log.path, message("errors.is_another_file"), kind="missing")
    batches = np.concatenate(parts)
    batches.flags.writeable = False
    return batches


def table_of_rows(rows: np.ndarray) -> BatchTable:
    return BatchTable(
        count=len(rows),
        block_rows=max(1, len(rows)),
        blocks=summarize_blocks(rows),
        read_block=lambda _block: rows,
        scan=lambda: iter((rows,)),
    )


def summarize_blocks(batches: np.ndarray, starts: np.ndarray = ONE_BLOCK) -> np.ndarray:
    """Returns an array of BLOCK with one row per block. Block n begins at row `starts[n]`.

    The `last_offset` of a block is the largest offset in this block. In `BatchTable.blocks` it is
    the largest offset in this and all earlier blocks.
    """
    if not len(batches) or not len(starts):
        return np.empty(0, BLOCK)
    blocks = np.empty(len(starts), BLOCK)
    blocks["position"] = batches["position"][starts]
    newest_ms = np.ascontiguousarray(batches["max_timestamp_ms"])
    blocks["newest_ms"] = np.maximum.reduceat(newest_ms, starts)
    for name in ("last_offset", "base_offset"):
        blocks[name] = np.maximum.reduceat(batches[name], starts)
    known_ms = np.where(newest_ms >= 0, newest_ms, NO_MS)
    blocks["oldest_ms"] = np.minimum.reduceat(known_ms, starts)
    if "base_timestamp_ms" in field_names(batches.dtype):
        start_ms = np.minimum(newest_ms, batches["base_timestamp_ms"])
        known_ms = np.where(newest_ms >= 0, start_ms, NO_MS)
    blocks["start_ms"] = np.minimum.reduceat(known_ms, starts)
    return blocks
