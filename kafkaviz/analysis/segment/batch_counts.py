"""What is counted of the batches of a segment in one pass: their sizes, offsets, times, and places.

Of three batches of 100, 100 and 300 bytes: smallest 100, largest 300, median 100, and the sizes
100 twice and 300 once. A .log of n bytes has at most the square root of 2n different sizes, so that
they stay few however many batches there are.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_observer import BatchObserver

COLUMNS = 1000  # of equal length into which a .log is divided
MERGE_SIZES = 1 << 16  # sizes of chunks that wait to be counted together
UNKNOWN_MS = -1


@dataclass(frozen=True, kw_only=True)
class ColumnCounts:
    """The batches that start in each of COLUMNS stretches of equal length.

    Attributes:
        batches: (COLUMNS,) how many.
        size_bytes, max_timestamp_ms: (COLUMNS,) their sums.
    """

    batches: np.ndarray
    size_bytes: np.ndarray
    max_timestamp_ms: np.ndarray


@dataclass(frozen=True, kw_only=True)
class BatchCounts:
    """The batches of a segment, counted.

    Attributes:
        first, last: the first row and the last one, None without a batch.
        last_offset: the largest.
        records: None where a wrapper does not tell how many it has.
        known_ms: the least and the largest timestamp that is one, None where none is.
        newest_ms: the largest value, -1 or less without a timestamp.
        sizes, size_counts: each size in bytes, ascending, and how many batches have it.
        magics, wrapped_magics: those of all batches, and of those whose records are not known.
        has_epochs: whether any names the epoch of its leader: none of magic 0 or 1 does.
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
        """The magics below 2."""
        return [magic for magic in self.magics if magic < MAGIC_2]

    @property
    def is_without_time(self) -> bool:
        """Whether no batch can have a timestamp: all are of magic 0, or there is none."""
        return not set(self.magics) - {0}

    def size_at(self, rank: int) -> int:
        """The size of the batch at a rank, were they sorted by size."""
        return int(self.sizes[np.searchsorted(np.cumsum(self.size_counts), rank, "right")])

    @property
    def median_bytes(self) -> int:
        """The median size, the mean of both where two are in the middle."""
        count = int(self.size_counts.sum())
        return (self.size_at((count - 1) // 2) + self.size_at(count // 2)) // 2


class BatchCounter(BatchObserver[BatchCounts]):
    """Counts the batches of a .log while it is read."""

    def __init__(self, log_bytes: int) -> None:
        """Starts with no batch observed.

        Args:
            log_bytes: of the complete .log, which is divided into columns.
        """
        self._width_bytes = max(1, log_bytes) / COLUMNS
        self._first: np.void | None = None
        self._last: np.void | None = None
        self._last_offset = self._newest_ms = np.iinfo(np.int64).min
        self._oldest_known_ms = np.iinfo(np.int64).max
        self._records: int | None = 0
        self._magics: set[int] = set()
        self._wrapped_magics: set[int] = set()
        self._has_epochs = False
        self._size_counts: list[tuple[np.ndarray, np.ndarray]] = []
        self._waiting_sizes = 0
        self._columns = np.zeros((3, COLUMNS))

    def observe(self, batches: np.ndarray) -> None:
        """The next batches."""
        if not len(batches):
            return
        if self._first is None:
            self._first = batches[:1].copy()[0]
        self._last = batches[-1:].copy()[0]
        times_ms, records = batches["max_timestamp_ms"].copy(), batches["record_count"]
        self._last_offset = max(self._last_offset, int(batches["last_offset"].max()))
        self._newest_ms = max(self._newest_ms, int(times_ms.max()))
        known_ms = times_ms[times_ms >= 0]
        self._oldest_known_ms = min(
            self._oldest_known_ms, int(known_ms.min(initial=self._oldest_known_ms))
        )
        self._magics.update(_values(batches["magic"]))
        is_wrapped = records < 0
        if is_wrapped.any():
            self._wrapped_magics.update(_values(batches["magic"][is_wrapped]))
            self._records = None
        if self._records is not None:
            self._records += int(records.sum(dtype=np.int64))
        self._has_epochs |= bool((batches["leader_epoch"] >= 0).any())
        self._count_sizes(batches["size_bytes"].copy())
        self._count_columns(batches, times_ms)

    def _count_sizes(self, sizes: np.ndarray) -> None:
        chunk = np.unique(sizes, return_counts=True)
        self._size_counts.append(chunk)
        self._waiting_sizes += len(chunk[0])
        if self._waiting_sizes > MERGE_SIZES:
            self._size_counts, self._waiting_sizes = [self._merged_sizes()], 0

    def _merged_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._size_counts:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        chunks, counts = (np.concatenate(column) for column in zip(*self._size_counts, strict=True))
        sizes, places = np.unique(chunks, return_inverse=True)
        merged = np.zeros(len(sizes), np.int64)
        np.add.at(merged, places, counts)
        return sizes, merged

    def _count_columns(self, batches: np.ndarray, times_ms: np.ndarray) -> None:
        starts = np.minimum((batches["position"] / self._width_bytes).astype(int), COLUMNS - 1)
        first = starts[0]  # positions grow: a chunk is in few columns
        starts -= first
        for sums, weights in zip(
            self._columns, (None, batches["size_bytes"], times_ms), strict=True
        ):
            column_sums = np.bincount(starts, None if weights is None else weights.astype(float))
            sums[first : first + len(column_sums)] += column_sums

    def result(self) -> BatchCounts:
        """What all batches say."""
        has_batch = self._first is not None
        sizes, size_counts = self._merged_sizes()
        counts, size_sums, time_sums = self._columns
        return BatchCounts(
            first=self._first,
            last=self._last,
            last_offset=self._last_offset if has_batch else -1,
            records=self._records,
            known_ms=(self._oldest_known_ms, self._newest_ms) if self._newest_ms >= 0 else None,
            newest_ms=self._newest_ms if has_batch else UNKNOWN_MS,
            sizes=sizes,
            size_counts=size_counts,
            magics=tuple(sorted(self._magics)),
            wrapped_magics=tuple(sorted(self._wrapped_magics)),
            has_epochs=self._has_epochs,
            columns=ColumnCounts(
                batches=counts.astype(np.int64),
                size_bytes=size_sums,
                max_timestamp_ms=time_sums,
            ),
        )


def _values(column: np.ndarray) -> list[int]:
    """The different values; most columns have one."""
    least = int(column.min())
    return [least] if least == column.max() else np.unique(column).tolist()


def count(batches: np.ndarray, log_bytes: int) -> BatchCounts:
    """The counts of batches that are in memory."""
    counter = BatchCounter(log_bytes)
    counter.observe(batches)
    return counter.result()
