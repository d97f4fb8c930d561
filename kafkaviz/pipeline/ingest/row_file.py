"""Parquet files into which a task writes the rows of batches and index entries."""

import uuid
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kafkaviz.analysis.inferred_settings import entries_between
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.format.deep_scan import NONE as NO_FAULT
from kafkaviz.format.walk import BatchObserver
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import DICTIONARY, TABLES
from kafkaviz.pipeline.read.rows import batch_columns, entry_columns, entry_slots, table
from kafkaviz.pipeline.read.tasks import SegmentTask

if TYPE_CHECKING:
    import pyarrow.parquet as pq

ROWS_AT_ONCE = 65_536
NO_NUMBERS = np.empty(0, int)


class RowFile(AbstractContextManager["RowFile"]):
    """A Parquet file that a task fills with rows of one table. The first row creates the file."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.rows = 0
        self._path = folder / f"{name}-{uuid.uuid4().hex}.parquet"
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[tuple[SegmentTask, np.ndarray, np.ndarray, np.ndarray]] = []
        self._waiting_rows = 0

    def __exit__(self, *failure: object) -> None:
        if failure[0] is None:
            self._write()
        if self._writer is not None:
            self._writer.close()

    def add(
        self,
        owner: SegmentTask,
        rows: np.ndarray,
        entry_slots: np.ndarray = NO_NUMBERS,
        uncompressed_bytes: np.ndarray = NO_NUMBERS,
    ) -> None:
        """Adds batches or index entries of one segment. Writes the rows later, in large groups.

        Only for batches: `entry_slots` has the slot of the entry that points to each batch, and
        `uncompressed_bytes` the uncompressed size of its records. A value may be `NONE`.
        """
        self._waiting.append((owner, rows, entry_slots, uncompressed_bytes))
        self._waiting_rows += len(rows)
        self.rows += len(rows)
        if self._waiting_rows >= ROWS_AT_ONCE:
            self._write()

    def span(self, first_row: int) -> RowRange | None:
        """Returns the range of the rows from `first_row` on, or None if the file has none."""
        if self.rows > first_row:
            return RowRange(self._path.name, first_row, self.rows - first_row)
        return None

    def _write(self) -> None:
        if not self._waiting_rows:
            return
        owners, parts, slots, uncompressed_bytes = zip(*self._waiting, strict=True)
        rows = np.concatenate(parts)
        if self.name == "batches":
            sizes = np.concatenate(uncompressed_bytes)
            columns = batch_columns(rows, np.concatenate(slots), sizes)
        else:
            columns = entry_columns(rows)
        if self._writer is None:
            import pyarrow.parquet as pq  # most readers write no Parquet, and it takes 14 MB

            self._writer = pq.ParquetWriter(
                self._path, TABLES[self.name], compression="zstd", use_dictionary=DICTIONARY
            )
        self._writer.write_table(table(columns, owners, list(map(len, parts)), TABLES[self.name]))
        self._waiting = []
        self._waiting_rows = 0


class BatchRows(BatchObserver[None]):
    """Writes a row for each batch of a segment, with the slot of the batch's index entry."""

    def __init__(self, file: RowFile, owner: SegmentTask, entries: np.ndarray) -> None:
        """Takes the entries of the .index, sorted by position."""
        self._file = file
        self._owner = owner
        self._entries = entries
        self._checked: np.ndarray | None = None

    def take_checked(self, rows: np.ndarray) -> None:
        """Takes the check results (CHECKED_BATCH) of the batches that `observe` gets next."""
        self._checked = rows

    def observe(self, batches: np.ndarray) -> None:
        slots = entry_slots(batches, entries_between(self._entries, batches))
        self._file.add(self._owner, batches, slots, _uncompressed_bytes(batches, self._checked))
        self._checked = None

    def result(self) -> None:
        """Returns None; the rows are in the file."""


def _uncompressed_bytes(batches: np.ndarray, checked: np.ndarray | None) -> np.ndarray:
    if checked is None:
        return np.full(len(batches), NONE)
    # a check of only headers or checksums leaves `records_bytes` at 0
    is_read = (checked["records_bytes"] > 0) | (checked["record_count"] == 0)
    return np.where(is_read & (checked["fault"] == NO_FAULT), checked["records_bytes"], NONE)
