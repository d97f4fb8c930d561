"""The batches of a .log by row; of a large log none is kept, and windows are read when needed.

A full segment has ten million batches of 100 bytes, and a page shows some hundred of them. So one
pass notes where every 1024th batch starts, and the largest offset and the times up to the next:

    block 0   position 0        offsets up to 1023   times from 10:00:00 to 10:00:01
    block 1   position 102400   offsets up to 2047   times from 10:00:01 to 10:00:02

Row 1500 is in block 1: the headers from byte 102400 on are read again, and the blocks that were
read last are kept. A log of few batches is one block, which stays in memory.
"""

from functools import lru_cache, partial

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import BATCH
from kafkaviz.format.batch_observer import BatchObserver, observe_scan
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.search.log_view import BatchTable, summarize_blocks, table_of_rows

BLOCK_ROWS, CACHED_BLOCKS = 1024, 32
KEPT_ROWS = 1 << 16  # a log of so many batches stays in memory: 4.5 MiB
WINDOW_CHUNK_BYTES = 1 << 17


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
            _extend(self._blocks[-1][-1:], summarize_blocks(batches[:continued_rows]))
        starts = np.arange(continued_rows, len(batches), BLOCK_ROWS)
        if len(starts):
            self._blocks.append(summarize_blocks(batches, starts))
        self._end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchTable:
        """The table of what was observed."""
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
    """The table of a segment, read once.

    Args:
        kept_rows: as BatchTableBuilder takes it.

    Raises:
        CannotOpen: the .log may not be read.
    """
    builder = BatchTableBuilder(segment, kept_rows)
    observe_scan(segment.full_scan(), builder)
    return builder.result()


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
