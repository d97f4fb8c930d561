"""Evidence of index.interval.bytes from the batches of a segment as they come, chunk by chunk."""

from typing import cast

import numpy as np
from numpy.lib import recfunctions as rfn

from kafkaviz.analyse.infer.interval import IntervalEvidence, interval_evidence

JUDGED = ["position", "last_offset"]  # what interval_evidence looks at
MOST_WAITING = 65_536  # batches of one gap, above which those that tell nothing are let go


class ChunkedEvidence:
    """Evidence of index.interval.bytes, gathered from chunks as if the stretch were one array.

    A gap between two entries must be judged whole, so what follows the last indexed batch of a
    chunk waits for the next one.
    """

    def __init__(self, entries: np.ndarray) -> None:
        """entries: the whole index (log.segment.OFFSET_ENTRY), by position."""
        self._entries = entries
        self._keys = np.sort(entries["offset"])
        self._waiting: list[np.ndarray] = []
        self._evidence = IntervalEvidence()

    def add(self, batches: np.ndarray) -> None:
        """The next chunk. An index without entries tells nothing, and nothing is kept for it."""
        if not len(self._entries):
            return
        batches = rfn.repack_fields(batches[JUDGED])  # the rest is not needed while they wait
        indexed = np.flatnonzero(
            np.isin(batches["position"], between(self._entries, batches)["position"])
        )
        if len(indexed):
            self._judge([*self._waiting, batches[: indexed[-1]]])
            self._waiting = []
            batches = batches[indexed[-1] :]
        self._waiting.append(batches)
        if sum(map(len, self._waiting)) > MOST_WAITING:
            self._waiting = [self._telling(np.concatenate(self._waiting))]

    def _telling(self, batches: np.ndarray) -> np.ndarray:
        """Of batches without an entry but the first: that one, the last, and each that ends an
        append or begins one.
        """
        slot = np.minimum(np.searchsorted(self._keys, batches["last_offset"]), len(self._keys) - 1)
        ends = self._keys[slot] == batches["last_offset"]
        ends[0] = ends[-1] = True
        return batches[ends | np.append(True, ends[:-1])]

    def evidence(self) -> IntervalEvidence:
        """What all chunks tell; nothing can be added afterwards."""
        self._judge(self._waiting)
        return self._evidence

    def _judge(self, parts: list[np.ndarray]) -> None:
        batches = np.concatenate(parts) if parts else cast(np.ndarray, np.empty(0))
        if not len(batches):
            return
        before = np.searchsorted(self._entries["position"], batches["position"][0]) - 1
        entry_before = int(self._entries["position"][before]) if before >= 0 else 0
        self._evidence = self._evidence.merge(
            interval_evidence(batches, between(self._entries, batches), entry_before)
        )


def between(entries: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """The entries, given by position, whose position is that of the first or last of these batches,
    or between the two.
    """
    if not len(batches):
        return entries[:0]
    first = np.searchsorted(entries["position"], batches["position"][0])
    return entries[first : np.searchsorted(entries["position"], batches["position"][-1], "right")]
