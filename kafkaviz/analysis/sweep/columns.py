"""What is kept of a segment's batches while it is read: 21 bytes each, for what can only be counted
once its end is known.
"""

from typing import Any, cast

import numpy as np

from kafkaviz.analysis.sweep.interval_headers import SIZES, sizes
from kafkaviz.format.batch import UNKNOWN, has_delete_horizon

MAX_GROWTH_ROWS = 1 << 18  # rows that a column is made longer by, at most


class Columns:
    """The narrow columns of one segment, taken chunk by chunk; end() makes one array of each.

    sizes: interval_headers.SIZES; newest_ms: the largest timestamp up to each batch; targets_ms:
    the first timestamps that can be looked up, ascending.
    """

    def __init__(self) -> None:
        empty = np.zeros(0, np.int64)
        self.sizes: np.ndarray = empty
        self.newest_ms: np.ndarray = empty
        self.targets_ms: np.ndarray = empty
        self._sizes, self._newest, self._targets = (
            GrowingColumn(SIZES),
            GrowingColumn(np.int64),
            GrowingColumn(np.int64),
        )
        self._newest_ms = UNKNOWN

    @classmethod
    def from_batches(cls, batches: np.ndarray) -> "Columns":
        """Of a whole segment with a batch at least."""
        columns = cls()
        columns.take(batches)
        columns.end()
        return columns

    def take(self, batches: np.ndarray) -> None:
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

    def end(self) -> None:
        """Nothing more comes."""
        self.newest_ms, self.sizes, targets = (
            self._newest.end(),
            self._sizes.end(),
            self._targets.end(),
        )
        targets.sort()
        self.targets_ms = targets[: np.searchsorted(targets, self._newest_ms, "right")]

    def forget_times(self) -> None:
        """All lookups by timestamp are counted: what only they need is let go."""
        self._newest = self._targets = self.newest_ms = self.targets_ms = cast(Any, None)


class GrowingColumn:
    """One column, made longer where it lies: neither pieces nor a copy of it take memory beside
    it.
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
        """All rows; nothing more comes."""
        self._rows.resize(self._length, refcheck=False)
        return self._rows
