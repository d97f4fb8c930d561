"""One segment, read completely and in one pass.

The result has the batches, both indexes, the links between them, the bytes after the last batch,
and statistics about the batches.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kafkaviz.analysis.inferred_settings import ChunkedEvidence, IntervalBounds
from kafkaviz.analysis.segment.batch_table import KEPT_ROWS, BatchTable, BatchTableBuilder
from kafkaviz.analysis.segment.links import Aim, LinkBuilder, Links
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.walk import BatchObserver, WalkEnd, observe_scan, tail_kind
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index, LogSegment
from kafkaviz.messages import Message, message

READ_TAIL_BYTES = 16 << 20  # at most this much of a tail is examined
COLUMNS = 1000  # a .log is divided into this many equal parts
UNKNOWN_MS = -1
NO_SLOT = np.zeros(0, int)


@dataclass(frozen=True)
class Tail:
    """The bytes after the last complete batch."""

    kind: str  # "zeros" (preallocated), "torn" (begins like the next batch) or "garbage" (neither)
    position: int
    size_bytes: int

    @property
    def summary(self) -> Message:
        if self.size_bytes > READ_TAIL_BYTES:
            return message("tail.long", size=self.size_bytes)
        if self.kind == "torn":
            return message("tail.torn")
        if self.kind == "zeros":
            return message("tail.zeros", n=self.size_bytes)
        return message("tail.garbage", n=self.size_bytes)


def read_tail(log: FileInfo, end_position: int, last_offset: int | None) -> Tail | None:
    """Returns the bytes after the last complete batch of a log. None: it has no such bytes.

    `end_position` and `last_offset` describe that batch. Raises CannotOpen for an unreadable .log.
    """
    if end_position >= log.size_bytes:
        return None
    tail_bytes = file.read(log.path, end_position, READ_TAIL_BYTES)
    size_bytes = log.size_bytes - end_position
    return Tail(tail_kind(tail_bytes, last_offset, size_bytes), end_position, size_bytes)


@dataclass(frozen=True, kw_only=True)
class ColumnCounts:
    """The number of batches in each part of a .log, and the sums of their sizes and max timestamps.

    The .log is divided into COLUMNS equal parts. A batch counts in the part in which it starts. All
    arrays have the shape (COLUMNS,).
    """

    batches: np.ndarray
    size_bytes: np.ndarray
    max_timestamp_ms: np.ndarray


@dataclass(frozen=True, kw_only=True)
class BatchCounts:
    """Counts for all batches of a segment.

    Attributes:
        last_offset: the largest of the batches' last offsets.
        records: the number of records; None: unknown, because of a wrapper message.
        known_ms: the smallest and the largest of the batches' max timestamps; None: no batch has
            one.
        newest_ms: the largest timestamp; negative: no batch has a timestamp.
        sizes: the different batch sizes in bytes, in ascending order. A .log of n bytes has at
            most √(2n) different sizes.
        wrapped_magics: the magics of batches with an unknown record count.
    """

    first: np.void | None
    last: np.void | None
    last_offset: int
    records: int | None
    known_ms: tuple[int, int] | None
    newest_ms: int
    sizes: np.ndarray
    size_counts: np.ndarray
    magics: tuple[int, ...]
    wrapped_magics: tuple[int, ...]
    has_epochs: bool
    columns: ColumnCounts

    @property
    def old_magics(self) -> list[int]:
        return [magic for magic in self.magics if magic < MAGIC_2]

    @property
    def is_without_time(self) -> bool:
        return not set(self.magics) - {0}  # a batch of magic 0 has no timestamp

    def size_at(self, rank: int) -> int:
        return int(self.sizes[np.searchsorted(np.cumsum(self.size_counts), rank, "right")])

    @property
    def median_bytes(self) -> int:
        count = int(self.size_counts.sum())
        return (self.size_at((count - 1) // 2) + self.size_at(count // 2)) // 2


class BatchCounter(BatchObserver[BatchCounts]):
    def __init__(self, log_bytes: int) -> None:
        self._width_bytes = max(1, log_bytes) / COLUMNS
        self._first: np.void | None = None
        self._last: np.void | None = None
        self._last_offset = self._newest_ms = np.iinfo(np.int64).min
        self._oldest_known_ms = np.iinfo(np.int64).max
        self._records: int | None = 0
        self._magics: set[int] = set()
        self._wrapped_magics: set[int] = set()
        self._has_epochs = False
        self._size_counts: Counter[int] = Counter()
        self._columns = np.zeros((3, COLUMNS))

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        if self._first is None:
            self._first = batches[:1].copy()[0]
        self._last = batches[-1:].copy()[0]
        times_ms = batches["max_timestamp_ms"].copy()
        records = batches["record_count"]
        self._last_offset = max(self._last_offset, int(batches["last_offset"].max()))
        self._newest_ms = max(self._newest_ms, int(times_ms.max()))
        known_ms = times_ms[times_ms >= 0]
        self._oldest_known_ms = int(known_ms.min(initial=self._oldest_known_ms))
        self._magics.update(_values(batches["magic"]))
        is_wrapped = records < 0
        if is_wrapped.any():
            self._wrapped_magics.update(_values(batches["magic"][is_wrapped]))
            self._records = None
        if self._records is not None:
            self._records += int(records.sum(dtype=np.int64))
        self._has_epochs |= bool((batches["leader_epoch"] >= 0).any())
        sizes, counts = np.unique(batches["size_bytes"], return_counts=True)
        self._size_counts.update(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        self._count_columns(batches, times_ms)

    def _count_columns(self, batches: np.ndarray, times_ms: np.ndarray) -> None:
        starts = np.minimum((batches["position"] / self._width_bytes).astype(int), COLUMNS - 1)
        first = starts[0]  # positions grow, so the batches of a chunk are in few columns
        starts -= first
        for sums, weights in zip(
            self._columns, (None, batches["size_bytes"], times_ms), strict=True
        ):
            column_sums = np.bincount(starts, None if weights is None else weights.astype(float))
            sums[first : first + len(column_sums)] += column_sums

    def result(self) -> BatchCounts:
        has_batch = self._first is not None
        sizes = sorted(self._size_counts)
        counts, size_sums, time_sums = self._columns
        return BatchCounts(
            first=self._first,
            last=self._last,
            last_offset=self._last_offset if has_batch else -1,
            records=self._records,
            known_ms=(self._oldest_known_ms, self._newest_ms) if self._newest_ms >= 0 else None,
            newest_ms=self._newest_ms if has_batch else UNKNOWN_MS,
            sizes=np.array(sizes, np.int64),
            size_counts=np.array([self._size_counts[size] for size in sizes], np.int64),
            magics=tuple(sorted(self._magics)),
            wrapped_magics=tuple(sorted(self._wrapped_magics)),
            has_epochs=self._has_epochs,
            columns=ColumnCounts(
                batches=counts.astype(np.int64), size_bytes=size_sums, max_timestamp_ms=time_sums
            ),
        )


def _values(column: np.ndarray) -> list[int]:
    least = int(column.min())
    return [least] if least == column.max() else np.unique(column).tolist()


@dataclass(frozen=True)
class Density:
    """The gaps between an .index's entries, and the number of batches without an entry.

    The median and p99 are lengths of existing gaps, not interpolated. None: the .index has no gap.
    """

    gap_min_bytes: int | None
    gap_median_bytes: int | None
    gap_p99_bytes: int | None
    batches: int
    never_indexed: int


def gaps(entries: np.ndarray) -> np.ndarray:
    """Returns the .log bytes from the previous entry (or byte 0) to each entry."""
    return np.diff(entries["position"], prepend=0)


def density(
    entries: np.ndarray, batches: int, indexed_batches: int, wrong_slots: np.ndarray = NO_SLOT
) -> Density:
    """Returns how densely the entries of an .index cover the .log.

    The gaps before and after a wrong entry (`Links.wrong_entries`) do not count, and neither do
    gaps of 0 or fewer bytes.
    """
    gap_bytes = gaps(entries)
    gap_bytes[wrong_slots] = 0
    gap_bytes[(wrong_slots + 1)[wrong_slots + 1 < len(gap_bytes)]] = 0
    sorted_gaps = np.sort(gap_bytes[gap_bytes > 0])
    quantiles = [_quantile(sorted_gaps, share) for share in (0, 0.5, 0.99)]
    return Density(*quantiles, batches=batches, never_indexed=batches - indexed_batches)


def _quantile(sorted_gaps: np.ndarray, share: float) -> int | None:
    if len(sorted_gaps):
        return int(sorted_gaps[min(len(sorted_gaps) - 1, int(share * len(sorted_gaps)))])
    return None


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """The content of a segment. The arrays are read-only: browser sessions share them."""

    segment: LogSegment
    batches: BatchTable
    counts: BatchCounts
    end: WalkEnd
    index: Index
    times: Index
    links: Links
    interval: IntervalBounds  # the values of index.interval.bytes that fit
    tail: Tail | None
    # the .log after it was read; differs from segment.log if a broker was writing
    log_after: FileInfo | None

    @property
    def grown_bytes(self) -> tuple[int, int] | None:
        """The size of the .log before and after it was read; None: unchanged."""
        log = self.segment.log
        after = self.log_after
        if after is None or (log.size_bytes, log.mtime_ns) == (after.size_bytes, after.mtime_ns):
            return None
        return log.size_bytes, after.size_bytes

    @cached_property
    def density(self) -> Density:
        links = self.links
        return density(
            self.index.entries, len(self.batches), len(links.indexed_rows), links.wrong_entries
        )

    def missed_offsets(self, slot: int) -> tuple[int, int] | None:
        """Returns (first, last) of the offsets that a search from this .index slot misses.

        Returns None unless the entry points past the right batch (`Aim.PAST`).
        """
        links = self.links
        entries = self.index.entries
        if links.entry_aim[slot] != Aim.PAST:
            return None
        last = int(self.batches.row(int(links.entry_batch[slot]))["base_offset"]) - 1
        if slot + 1 < len(entries):
            last = min(last, int(entries["offset"][slot + 1]) - 1)
        return int(entries["offset"][slot]), last


def read(segment: LogSegment, kept_rows: int = KEPT_ROWS) -> Anatomy:
    """Reads a segment and its existing indexes.

    If there are more than `kept_rows` batches, they are not kept in memory, but read again when
    needed. Raises CannotOpen if a file cannot be read.
    """
    index = segment.offset_slots
    times = segment.time_slots
    scan = segment.full_scan()
    by_position = index.entries[np.argsort(index.entries["position"], kind="stable")]
    table = BatchTableBuilder(segment, kept_rows)
    counter = BatchCounter(segment.log.size_bytes)
    link_builder = LinkBuilder(index.entries, times.entries, segment.base_offset)
    evidence = ChunkedEvidence(by_position)
    observe_scan(scan, table, counter, link_builder, evidence)
    batches = table.result()
    counts = counter.result()
    last_offset = None if counts.last is None else int(counts.last["last_offset"])
    tail = read_tail(segment.log, scan.end.position, last_offset)
    log_after = _info_after_read(segment.log)
    is_entry, is_time = (np.ones(len(written.entries), bool) for written in (index, times))
    if log_after and log_after.size_bytes > segment.log.size_bytes:
        # leave out entries for batches that a broker wrote while the segment was read
        is_entry = index.entries["position"] < scan.end.position
        is_time = times.entries["offset"] <= counts.last_offset
        index = index._replace(entries=index.entries[is_entry])
        times = times._replace(entries=times.entries[is_time])
    links = link_builder.links_of(is_entry, is_time)
    for array in (index.entries, times.entries, *vars(links).values()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return Anatomy(
        segment=segment,
        batches=batches,
        counts=counts,
        end=scan.end,
        index=index,
        times=times,
        links=links,
        interval=evidence.result().bounds(),
        tail=tail,
        log_after=log_after,
    )


def _info_after_read(log: FileInfo) -> FileInfo | None:
    try:
        return file.info(log.path)
    except CannotOpen:
        return None
