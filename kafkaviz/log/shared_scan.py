"""Segment.scan, fed by a deeper pass over the same .log, so that its bytes are read once.

A checked scan goes on behind damage, where a broker's reader would end or be led elsewhere. Up to
the first damage both see the same batches, and from there on Segment.scan reads by itself:

    checked scan    0  500  1000  .    2400  3000        at 1500 a length leads nowhere
    here            0  500  1000  and Segment.scan(1500)
"""

from typing import Any

import numpy as np

from kafkaviz.binary.layouts import field_names
from kafkaviz.format.batch import BATCH, MAGIC_2
from kafkaviz.format.batch_observer import BatchObserver, observe_scan
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment, look_inside


class SharedScan:
    """Shows observers what Segment.scan(look_inside=True) from byte 0 on shows them.

    Attributes:
        end_position: behind the last batch; final once `finish` came back.
    """

    def __init__(self, segment: LogSegment, *observers: BatchObserver[Any]) -> None:
        """Nothing is read yet."""
        self._segment, self._observers = segment, observers
        self.end_position, self._has_parted = 0, False

    def add(self, batches: np.ndarray) -> None:
        """The next batches of the deeper pass: rows that begin with the fields of BATCH."""
        if self._has_parted or not len(batches):
            return
        if batches["position"][0] != self.end_position:
            self._has_parted = True
            return
        rows = np.empty(len(batches), BATCH)
        rows[list(field_names(BATCH))] = batches[list(field_names(BATCH))]
        if (rows["magic"] < MAGIC_2).any():
            with file.reader(self._segment.log.path) as read:
                look_inside(rows, read)
        self._observe(rows)

    def finish(self) -> None:
        """Reads what the deeper pass did not give, which is nothing of a sound log.

        Raises:
            CannotOpen: the file cannot be read.
        """
        scan = self._segment.scan(self.end_position, look_inside=True)
        for rows in scan:
            self._observe(rows)
        self.end_position = scan.end.position

    def _observe(self, rows: np.ndarray) -> None:
        observe_scan([rows], *self._observers)
        self.end_position = int(rows["position"][-1] + rows["size_bytes"][-1])
