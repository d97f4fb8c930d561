"""A partition as a broker has it open: what a search reads, wherever the bytes come from.

A LogView has a SegmentView a segment; a BatchTable has the batches of one by row.

Built from the files as they are (view_partition), or, above this package, from what a recovery
would leave of them.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kafkaviz.binary.file_view import AFTER_RECOVERY, FileView, ReadInto, reader
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import TieredOffsets
from kafkaviz.units import file_stem

NO_TIMESTAMP = -1
NO_ROW = -1  # no such row
ONE_BLOCK = np.zeros(1, np.int64)  # the row at which it starts
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


class KeyColumn:
    """A column of an index with the base offset added to each value that is read.

    A search reads some twenty of them.
    """

    def __init__(self, column: np.ndarray, base: int = 0) -> None:
        self._column, self._base = column, base

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, slot: int) -> int:
        return int(self._column[slot]) + self._base


@dataclass(frozen=True, kw_only=True)
class SegmentView:
    """A segment that a broker has open.

    An index that has no file has no entries; of one that has, every slot is trusted.

    Attributes:
        start_error: Kafka's exception where the start that would recover the log ends with one, and
            no broker has it open; else None.
    """

    base_offset: int
    log: FileView
    index: FileView | None = None
    timeindex: FileView | None = None
    txnindex: FileView | None = None
    start_error: str | None = None

    @property
    def size_bytes(self) -> int:
        """The size of the .log."""
        return self.log.size_bytes

    @property
    def recovered_files(self) -> tuple[str, ...]:
        """The names of its files that hold other bytes than those on disk."""
        files = (self.log, self.index, self.timeindex, self.txnindex)
        return tuple(view.name for view in files if view and view.source == AFTER_RECOVERY)

    def file_name(self, kind: str) -> str:
        """The name of its index or timeindex, whether there is one or not."""
        return f"{file_stem(self.base_offset)}.{kind}"

    @cached_property
    def offset_slots(self) -> np.ndarray:
        """Every complete slot of the .index, written or not.

        Returns:
            An array of offset_index.ENTRY.
        """
        return offset_index.parse(self.index.array() if self.index else b"")

    @cached_property
    def time_slots(self) -> np.ndarray:
        """Every complete slot of the .timeindex, written or not.

        Returns:
            An array of time_index.ENTRY.
        """
        return time_index.parse(self.timeindex.array() if self.timeindex else b"")

    @cached_property
    def aborted(self) -> np.ndarray:
        """The entries of the .txnindex.

        Returns:
            An array of txn_index.ENTRY.
        """
        return txn_index.parse(self.txnindex.content() if self.txnindex else b"")

    @cached_property
    def max_timestamp(self) -> tuple[int, int]:
        """The largest timestamp that the broker remembers: that of the last slot of the time index.

        LogSegment.readMaxTimestampAndOffsetSoFar from 2.3 on. Earlier releases read the batches
        behind the last entry too, which comes to the same where the segment was closed.

        Returns:
            The timestamp and its offset; (-1, base offset) without a slot.
        """
        entry_bytes = time_index.ENTRY.itemsize
        slots = self.timeindex.size_bytes // entry_bytes if self.timeindex else 0
        last = (
            time_index.parse(self.timeindex.content((slots - 1) * entry_bytes, entry_bytes))
            if self.timeindex and slots
            else ()
        )
        return (
            (int(last[0]["timestamp_ms"]), int(last[0]["relative_offset"]) + self.base_offset)
            if len(last)
            else (-1, self.base_offset)
        )

    @property
    def largest_timestamp_ms(self) -> int:
        """The largest timestamp (LogSegment.largestTimestamp): the file's time if none is known.

        It decides whether this segment is searched for a timestamp.
        """
        return self.max_timestamp[0] if self.max_timestamp[0] >= 0 else self.log.modified_ms


@dataclass(frozen=True)
class LogView:
    """A partition: its segments by base offset, at least one.

    Attributes:
        checkpointed_start: what log-start-offset-checkpoint says.
        snapshots: the producer snapshots by their offset.
        tiered: of a partition with remote segments; None without tiered storage.
    """

    name: str
    segments: tuple[SegmentView, ...]
    checkpointed_start: int | None = None
    snapshots: Mapping[int, FileView] = field(default_factory=dict)
    tiered: TieredOffsets | None = None

    @property
    def log_start_offset(self) -> int:
        """The larger of the checkpointed log start and the first base offset."""
        return max(self.segments[0].base_offset, self.checkpointed_start or 0)

    @property
    def recovered_files(self) -> tuple[str, ...]:
        """The names of the files that hold other bytes than those on disk."""
        return tuple(name for segment in self.segments for name in segment.recovered_files)

    @property
    def start_error(self) -> str | None:
        """The start error of its segments."""
        return self.segments[0].start_error

    @property
    def active(self) -> SegmentView:
        """The last segment."""
        return self.segments[-1]

    def floor(self, offset: int) -> int | None:
        """Which segment has the greatest base offset that is not above an offset.

        Returns:
            None where all are above it.
        """
        return max(
            (place for place, segment in enumerate(self.segments) if segment.base_offset <= offset),
            default=None,
        )


def view_partition(partition: Partition) -> LogView:
    """A partition with the bytes on disk, wrong ones included.

    So a broker sees a directory that was stopped cleanly.
    """
    segments = tuple(map(view_segment, partition.live))
    snapshots = {offset: file.view(info) for offset, info in partition.snapshots.items()}
    return LogView(
        partition.directory,
        segments,
        partition.checkpoints.log_start,
        snapshots,
        tiered_view.tiered_offsets(partition.path),
    )


def view_segment(segment: LogSegment) -> SegmentView:
    """A segment with a .log, with the bytes on disk."""
    return SegmentView(
        base_offset=segment.base_offset,
        log=file.view(segment.log),
        index=_view_index(segment, "index"),
        timeindex=_view_index(segment, "timeindex"),
        txnindex=file.view(segment.txnindex) if segment.txnindex else None,
    )


def _view_index(segment: LogSegment, kind: str) -> FileView | None:
    """An index; of a log that may be written to without what came after the .log was listed."""
    info = segment.index if kind == "index" else segment.timeindex
    if info is None:
        return None
    view = file.view(info)
    if segment.state != "active" or address.mirror_behind(str(info.path)):
        return view

    @contextmanager
    def open_reader() -> Generator[ReadInto]:
        data, _ = file.read_data(info.path)
        current_segment = replace(segment)  # which has read nothing yet
        if current_segment.has_grown():
            layout = offset_index if kind == "index" else time_index
            index = current_segment.offset_slots
            if kind == "timeindex":
                index = current_segment.time_slots
            data = data[: len(index.entries) * layout.ENTRY.itemsize]
        yield reader(data + bytes(max(0, info.size_bytes - len(data))))

    return replace(view, open_reader=open_reader)


def view_files(
    name: str, files: Mapping[str, FileView], checkpointed_start: int | None = None
) -> LogView:
    """A partition from files by their names; only segments with a .log are in it."""
    parsed_names = ((names.parse_file(file_name), view) for file_name, view in files.items())
    views = {
        (parsed_name.base_offset, parsed_name.kind): view
        for parsed_name, view in parsed_names
        if parsed_name and not parsed_name.suffix
    }
    segments = tuple(
        SegmentView(
            base_offset=base,
            log=log,
            index=views.get((base, "index")),
            timeindex=views.get((base, "timeindex")),
            txnindex=views.get((base, "txnindex")),
        )
        for (base, kind), log in sorted(views.items(), key=lambda item: item[0])
        if kind == "log"
    )
    return LogView(
        name,
        segments,
        checkpointed_start,
        {base: view for (base, kind), view in views.items() if kind == "snapshot"},
    )


@dataclass(frozen=True, kw_only=True)
class BatchTable:
    """Rows of format.batch.BATCH in the order of a log, which never change.

    Not all of them need be in memory: analysis.segment.batch_table.

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
        parts = [
            self.blocks[:whole_blocks],
            summarize_blocks(self.block(whole_blocks)),
        ]
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


def table_of_rows(rows: np.ndarray) -> BatchTable:
    """The table of batches that are in memory: one block."""
    return BatchTable(
        count=len(rows),
        block_rows=max(1, len(rows)),
        blocks=summarize_blocks(rows),
        read_block=lambda _block: rows,
        scan=lambda: iter((rows,)),
    )


def summarize_blocks(batches: np.ndarray, starts: np.ndarray = ONE_BLOCK) -> np.ndarray:
    """BLOCK of the blocks that start at these rows, each on its own; none without a batch."""
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
