"""Segment.scan, fed by a deeper pass over the same .log, so that its bytes are read once.

A checked scan goes on behind damage, where a broker's reader would end or be led elsewhere. Up to
the first damage both see the same batches, and from there on Segment.scan reads by itself:

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
from kafkaviz.log.segment import LogSegment, look_inside


class SharedScan(BatchObserver[int]):
    """Shows observers what Segment.scan(look_inside=True) from byte 0 on shows them."""

    def __init__(self, segment: LogSegment, *observers: BatchObserver[Any]) -> None:
        """Nothing is read yet."""
        self._segment, self._observers = segment, observers
        self._end_position, self._has_parted = 0, False
        # a deep pass gives the batches of a chunk of bytes, as few as one
        self._rows: list[np.ndarray] = []
        self._row_count = 0

    def observe(self, batches: np.ndarray) -> None:
        """The next batches of the deeper pass, from byte 0 on: format.deep_scan.CHECKED_BATCH."""
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
        """Reads what the deeper pass did not give, which is nothing of a sound log.

        Returns:
            The byte at which Segment.scan ends.

        Raises:
            CannotOpen: the file cannot be read.
        """
        self._show()
        scan = self._segment.scan(self._end_position, look_inside=True)
        observe_scan(scan, *self._observers)
        return scan.end.position

    def _show(self) -> None:
        """Shows what has come together."""
        if not self._rows:
            return
        rows = np.concatenate([plain_batches(batches) for batches in self._rows])
        self._rows, self._row_count = [], 0
        if (rows["magic"] < MAGIC_2).any():
            with file.reader(self._segment.log.path) as read:
                look_inside(rows, read)
        observe_scan([rows], *self._observers)
