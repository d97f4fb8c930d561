"""Evidence of index.interval.bytes, gathered from the batches of a segment chunk by chunk."""

from typing import cast

import numpy as np

from kafkaviz.analysis.inference.interval import IntervalEvidence, interval_evidence
from kafkaviz.format.batch import BATCH
from kafkaviz.format.batch_observer import BatchObserver

EVIDENCE_COLUMNS = ["position", "last_offset"]  # the columns that interval_evidence uses
EVIDENCE = np.dtype([(name, BATCH[name]) for name in EVIDENCE_COLUMNS])
MAX_WAITING = 65_536  # pending batches of one gap; above that, those without evidence are dropped


class ChunkedEvidence(BatchObserver[IntervalEvidence]):
    """Evidence of index.interval.bytes, the same for any division of the log in chunks.

    A gap between two entries must be judged as a whole. Batches after the last indexed one of a
    chunk therefore wait for the next chunk.
    """

    def __init__(self, entries: np.ndarray) -> None:
        """Starts with no batch observed.

        Args:
            entries: all entries of the index (log.segment.OFFSET_ENTRY), ordered by position.
        """
        self._entries = entries
        self._keys = np.sort(entries["offset"])
        self._pending: list[np.ndarray] = []
        self._evidence = IntervalEvidence()

    def observe(self, batches: np.ndarray) -> None:
        """Adds the next batches.

        An index without entries gives no evidence, so nothing is kept for it.
        """
        if not len(self._entries):
            return
        # batches that wait take less memory without their other columns
        batches = batches[EVIDENCE_COLUMNS].astype(EVIDENCE)
        last_indexed = _last_indexed_row(entries_between(self._entries, batches), batches)
        if last_indexed is not None:
            self._add_evidence([*self._pending, batches[:last_indexed]])
            self._pending = []
            batches = batches[last_indexed:]
        self._pending.append(batches)
        if sum(map(len, self._pending)) > MAX_WAITING:
            self._pending = [self._append_borders(np.concatenate(self._pending))]

    def _append_borders(self, batches: np.ndarray) -> np.ndarray:
        """Drops the batches of a gap that give no evidence.

        The first and last batch stay, and each one that ends or begins an append.

        Args:
            batches: batches of which at most the first has an entry.
        """
        slot = np.minimum(np.searchsorted(self._keys, batches["last_offset"]), len(self._keys) - 1)
        ends = self._keys[slot] == batches["last_offset"]
        ends[0] = ends[-1] = True
        return batches[ends | np.append(True, ends[:-1])]

    def result(self) -> IntervalEvidence:
        self._add_evidence(self._pending)
        return self._evidence

    def _add_evidence(self, pieces: list[np.ndarray]) -> None:
        batches = np.concatenate(pieces) if pieces else cast(np.ndarray, np.empty(0))
        if not len(batches):
            return
        slot_before = np.searchsorted(self._entries["position"], batches["position"][0]) - 1
        entry_before = int(self._entries["position"][slot_before]) if slot_before >= 0 else 0
        self._evidence = self._evidence.merge(
            interval_evidence(batches, entries_between(self._entries, batches), entry_before)
        )


def _last_indexed_row(entries: np.ndarray, batches: np.ndarray) -> int | None:
    positions = np.ascontiguousarray(batches["position"])
    rows = np.searchsorted(positions, entries["position"])
    pointed_rows = rows[positions[rows] == entries["position"]]
    return int(pointed_rows[-1]) if len(pointed_rows) else None


def entries_between(entries: np.ndarray, batches: np.ndarray) -> np.ndarray:
    """Returns the entries that point to these batches, or between the first and the last.

    Args:
        entries: entries ordered by position.
    """
    if not len(batches):
        return entries[:0]
    first = np.searchsorted(entries["position"], batches["position"][0])
    return entries[first : np.searchsorted(entries["position"], batches["position"][-1], "right")]
