"""The columns of a segment's batches that are kept while it is read, in 21 bytes per batch.

Some lookups can only be counted when the end of the segment is known.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.sweep.interval_headers import SIZES, sizes
from kafkaviz.format.batch import UNKNOWN, has_delete_horizon
from kafkaviz.format.batch_observer import BatchObserver

MAX_GROWTH_ROWS = 1 << 18  # greatest number of rows by which a column is extended at once


@dataclass
class Columns:
    """The kept columns of one segment.

    Attributes:
        sizes: interval_headers.SIZES.
        newest_ms: the largest timestamp up to each batch.
        targets_ms: the batches' first timestamps that can be looked up, ascending.
    """

    sizes: np.ndarray
    newest_ms: np.ndarray
    targets_ms: np.ndarray

    @classmethod
    def from_batches(cls, batches: np.ndarray) -> "Columns":
        builder = ColumnsBuilder()
        builder.observe(batches)
        return builder.result()

    def forget_times(self) -> None:
        """Drops the columns for lookups by timestamp, once these are counted."""
        self.newest_ms = self.targets_ms = np.zeros(0, np.int64)


class ColumnsBuilder(BatchObserver[Columns]):
    def __init__(self) -> None:
        self._sizes = GrowingColumn(SIZES)
        self._newest = GrowingColumn(np.int64)
        self._targets = GrowingColumn(np.int64)
        self._newest_ms = UNKNOWN

    def observe(self, batches: np.ndarray) -> None:
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
        targets = self._targets.end()
        targets.sort()
        return Columns(
            self._sizes.end(),
            self._newest.end(),
            targets[: np.searchsorted(targets, self._newest_ms, "right")],
        )


class GrowingColumn:
    """A column that is extended in place, so that no second copy takes memory."""

    def __init__(self, dtype: np.dtype | type) -> None:
        self._rows = np.empty(0, dtype)
        self._length = 0

    def add(self, rows: np.ndarray) -> None:
        old_length = self._length
        self._length = self._length + len(rows)
        if self._length > len(self._rows):
            # refcheck=False is safe: no view of the array is given out before end()
            self._rows.resize(self._length + min(self._length, MAX_GROWTH_ROWS), refcheck=False)
        self._rows[old_length : self._length] = rows

    def end(self) -> np.ndarray:
        """Returns all rows and gives them up; nothing can be added after that."""
        rows = self._rows
        self._rows = self._rows[:0].copy()
        rows.resize(self._length, refcheck=False)
        return rows
