"""What is kept of a segment's batches while it is read.

21 bytes each, for what can only be counted once its end is known.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.sweep.interval_headers import SIZES, sizes
from kafkaviz.format.batch import UNKNOWN, has_delete_horizon
from kafkaviz.format.batch_observer import BatchObserver

MAX_GROWTH_ROWS = 1 << 18  # rows that a column is made longer by, at most


@dataclass
class Columns:
    """The narrow columns of one segment.

    Attributes:
        sizes: interval_headers.SIZES.
        newest_ms: the largest timestamp up to each batch.
        targets_ms: the first timestamps that can be looked up, ascending.
    """

    sizes: np.ndarray
    newest_ms: np.ndarray
    targets_ms: np.ndarray

    @classmethod
    def from_batches(cls, batches: np.ndarray) -> "Columns":
        """Of an entire segment with a batch at least."""
        builder = ColumnsBuilder()
        builder.observe(batches)
        return builder.result()

    def forget_times(self) -> None:
        """All lookups by timestamp are counted: what only they need is let go."""
        self.newest_ms = self.targets_ms = np.zeros(0, np.int64)


class ColumnsBuilder(BatchObserver[Columns]):
    """The columns of one segment, gathered chunk by chunk, one array of each."""

    def __init__(self) -> None:
        self._sizes, self._newest, self._targets = (
            GrowingColumn(SIZES),
            GrowingColumn(np.int64),
            GrowingColumn(np.int64),
        )
        self._newest_ms = UNKNOWN

    def observe(self, batches: np.ndarray) -> None:
        """The next batches: format.batch.BATCH."""
        newest = np.maximum.accumulate(np.append(self._newest_ms, batches["max_timestamp_ms"]))[1:]
        self._newest_ms = int(newest[-1])
        first = batches["base_timestamp_ms"][~has_delete_horizon(batches)]
        for column, column_part in (
            (self._sizes, sizes(batches)),
            (self._newest, newest),
            (self._targets, first[first >= 0]),
        ):
            column.add(column_part)

    def result(self) -> Columns:
        """All of them; nothing of them is kept here."""
        targets = self._targets.end()
        targets.sort()
        return Columns(
            self._sizes.end(),
            self._newest.end(),
            targets[: np.searchsorted(targets, self._newest_ms, "right")],
        )


class GrowingColumn:
    """One column, made longer where it lies.

    Neither pieces nor a copy of it take memory beside it.
    """

    def __init__(self, dtype: np.dtype | type) -> None:
        self._rows, self._length = np.empty(0, dtype), 0

    def add(self, rows: np.ndarray) -> None:
        """The next rows."""
        old_length, self._length = self._length, self._length + len(rows)
        if self._length > len(self._rows):
            # nobody has a view of it before end()
            self._rows.resize(self._length + min(self._length, MAX_GROWTH_ROWS), refcheck=False)
        self._rows[old_length : self._length] = rows

    def end(self) -> np.ndarray:
        """All rows; nothing more comes, and they are the caller's alone."""
        rows, self._rows = self._rows, self._rows[:0].copy()
        rows.resize(self._length, refcheck=False)
        return rows
