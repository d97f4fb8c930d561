"""The batches of a .log by row; those of a large log are read again when needed.

A full segment may have ten million batches of 100 bytes, but a page shows only a few hundred. So
one pass notes where every 1024th batch starts, and the largest offset and the times up to the next:

    block 0   position 0        offsets up to 1023   times from 10:00:00 to 10:00:01
    block 1   position 102400   offsets up to 2047   times from 10:00:01 to 10:00:02

To get row 1500, the headers of block 1 are read again. The blocks read last stay in memory, and so
does the only block of a small log.
"""

from functools import lru_cache, partial

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import BATCH
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.search.log_view import BatchTable, summarize_blocks, table_of_rows

BLOCK_ROWS = 1024
CACHED_BLOCKS = 32
KEPT_ROWS = 1 << 16  # a log of up to this many batches stays in memory, in 4.5 MiB
WINDOW_CHUNK_BYTES = 1 << 17


class BatchTableBuilder(BatchObserver[BatchTable]):
    def __init__(self, segment: LogSegment, kept_rows: int = KEPT_ROWS) -> None:
        """Starts with no batch observed.

        Args:
            segment: the segment whose full_scan() is observed.
            kept_rows: the greatest number of batches kept in memory; of more, none are kept.
        """
        self._segment = segment
        self._kept_rows = kept_rows
        self._count = self._end_position = 0
        self._parts: list[np.ndarray] = []
        self._blocks: list[np.ndarray] = []

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        first = self._count
        self._count = self._count + len(batches)
        if self._count <= self._kept_rows:
            self._parts.append(batches)
        else:
            self._parts = []
        continued_rows = -first % BLOCK_ROWS  # rows that the last block still lacks
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
    """Reads a segment once and returns its table.

    Args:
        kept_rows: the same as for BatchTableBuilder.

    Raises:
        CannotOpen: the .log cannot be read.
    """
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

    Raises:
        CannotOpen: the file has changed and no longer holds them.
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
