"""Segment.scan, fed by a deeper scan of the same .log, so that its bytes are read only once.

A checked scan continues after damage, where a broker's reader would end or be misled. The two scans
see the same batches up to the first damage. From there on, Segment.scan reads by itself:

    checked scan    0  500  1000  .    2400  3000        at 1500 a length leads nowhere
    here            0  500  1000  and Segment.scan(1500)
"""

from typing import Any

import numpy as np

from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_observer import BatchObserver, observe_scan
from kafkaviz.format.deep_scan import plain_batches
from kafkaviz.format.walk import MAX_ROWS
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment, fill_wrapper_fields


class SharedScan(BatchObserver[int]):
    """Shows observers the batches that Segment.scan(look_inside=True) from byte 0 would show."""

    def __init__(self, segment: LogSegment, *observers: BatchObserver[Any]) -> None:
        self._segment = segment
        self._observers = observers
        self._end_position = 0
        self._has_parted = False
        # Rows are collected because a deep scan gives as few as one batch at a time.
        self._rows: list[np.ndarray] = []
        self._row_count = 0

    def observe(self, batches: np.ndarray) -> None:
        """Takes the next batches of the deeper scan, from byte 0 on.

        Args:
            batches: rows of format.deep_scan.CHECKED_BATCH.
        """
        if self._has_parted or not len(batches):
            return
        if batches["position"][0] != self._end_position:
            self._has_parted = True
            return
        self._end_position = int(batches["position"][-1] + batches["size_bytes"][-1])
        self._rows.append(batches)
        self._row_count += len(batches)
        if self._row_count >= MAX_ROWS:
            self._show()

    def result(self) -> int:
        """Reads the batches that the deeper scan did not give; a sound log has none of them.

        Returns:
            The byte at which Segment.scan ends.

        Raises:
            CannotOpen: the file cannot be read.
        """
        self._show()
        scan = self._segment.scan(self._end_position, fill_wrapper_fields=True)
        observe_scan(scan, *self._observers)
        return scan.end.position

    def _show(self) -> None:
        if not self._rows:
            return
        rows = np.concatenate([plain_batches(batches) for batches in self._rows])
        self._rows = []
        self._row_count = 0
        if (rows["magic"] < MAGIC_2).any():
            with file.reader(self._segment.log.path) as read:
                fill_wrapper_fields(rows, read)
        observe_scan([rows], *self._observers)
