"""The batches of two logs around an offset, side by side.

For example, around offset 180, at which a follower became the leader:

    a   178–179 epoch 2    180–185 epoch 3                    186–187 epoch 3
    b   178–179 epoch 2    180–184 epoch 5   185–187 epoch 5
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from kafkaviz.analysis.comparison.batch_stream import BatchStream
from kafkaviz.analysis.comparison.byte_differences import ByteDifference, describe_batches
from kafkaviz.format import batch_records
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment

# the number of batches of each log that are shown before the offset, and from the offset on
BEFORE = 4
AFTER = 8
MAX_BATCH_BYTES = 4 << 20  # only this many bytes of a batch are compared


@dataclass(frozen=True, eq=False)
class WindowBatch:
    """A batch of one of the two logs; `row` is a row of format.batch.BATCH."""

    segment: LogSegment
    row: np.void
    is_crc_valid: bool

    def number(self, field: str) -> int:
        return int(self.row[field])

    def read(self) -> bytes:
        size_bytes = min(self.number("size_bytes"), MAX_BATCH_BYTES)
        return file.read(self.segment.log.path, self.number("position"), size_bytes)


@dataclass(frozen=True)
class BatchPair:
    """The batches of both logs that begin at one offset; None: no such batch."""

    batches: tuple[WindowBatch | None, WindowBatch | None]
    is_equal: bool

    @property
    def base_offset(self) -> int:
        return next(batch.number("base_offset") for batch in self.batches if batch)


def find_batches(a: Partition | None, b: Partition | None, offset: int) -> tuple[BatchPair, ...]:
    """Returns the batches of both logs around an offset, paired by base offset.

    Raises:
        CannotOpen: a .log cannot be read.
    """
    sides = [
        {batch.number("base_offset"): batch for batch in _around(partition, offset)}
        for partition in (a, b)
    ]
    first, last = _common_window(sides, offset)
    return tuple(
        _pair(sides[0].get(base_offset), sides[1].get(base_offset))
        for base_offset in sorted(sides[0].keys() | sides[1].keys())
        if first <= base_offset <= last
    )


def _common_window(sides: Sequence[Mapping[int, WindowBatch]], offset: int) -> tuple[int, int]:
    """Returns the range of base offsets that was read completely in both logs."""
    first = 0
    last = MAX_OFFSET
    for bases in map(sorted, sides):
        place = sum(base < offset for base in bases)
        if place >= BEFORE:
            first = max(first, bases[0])
        if len(bases) - place >= AFTER:
            last = min(last, bases[-1])
    return first, last


def describe_pair(pair: BatchPair) -> list[ByteDifference]:
    a, b = pair.batches
    if a is None or b is None:
        return []
    data = a.read(), b.read()
    sides = (a.segment, a.row, data[0]), (b.segment, b.row, data[1])
    return describe_batches(sides, (a.is_crc_valid, b.is_crc_valid))


def _pair(a: WindowBatch | None, b: WindowBatch | None) -> BatchPair:
    is_equal = (
        a is not None
        and b is not None
        and a.number("size_bytes") == b.number("size_bytes")
        and a.read() == b.read()
    )
    return BatchPair((a, b), is_equal)


def _around(partition: Partition | None, offset: int) -> Iterator[WindowBatch]:
    if partition is None or not partition.live:
        return
    live = partition.live
    place = max(0, bisect_right(live, offset, key=attrgetter("base_offset")) - 1)
    before: deque[WindowBatch] = deque(maxlen=BEFORE)
    after: list[WindowBatch] = []
    for batch in _iterate(live[place:], offset):
        (before if batch.number("last_offset") < offset else after).append(batch)
        if len(after) == AFTER:
            break
    if place and len(before) < BEFORE:
        earlier = deque(_iterate(live[place - 1 : place], offset), maxlen=BEFORE - len(before))
        yield from earlier
    yield from before
    yield from after


def _iterate(segments: Sequence[LogSegment], offset: int) -> Iterator[WindowBatch]:
    with BatchStream(segments, None, 0) as stream:
        while stream.fill():
            if stream.unreadable:
                stream.pass_unreadable()
                continue
            rows = stream.rows
            segment = stream.segment
            first = int(np.searchsorted(rows["last_offset"], offset))
            for row in rows[max(0, first - BEFORE) : first + AFTER]:
                is_valid = batch_records.has_valid_crc(stream.read, row)
                yield WindowBatch(segment, row.copy(), is_valid)
            stream.take(len(rows))
