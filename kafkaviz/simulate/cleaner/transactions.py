"""Finds the batches of transactions that a cleaning can discard (CleanedTransactionMetadata).

- A batch of an aborted transaction can be discarded at once.
- A marker can be discarded once the log has no batch of its transaction.
- The new segment's transaction index has the aborted transactions whose marker stays.
"""

from collections.abc import Iterable

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, is_control, is_transactional
from kafkaviz.format.control import ControlType
from kafkaviz.format.txn_index import ENTRY
from kafkaviz.simulate.cleaner.batch_chunks import DECOMPRESSED, UNREADABLE, BatchChunk

NONE = -1
ABORT = int(ControlType.ABORT)
COMMIT = int(ControlType.COMMIT)
_KEY_BYTES = 4  # of a control record: version and type

_STATE: np.dtype = np.dtype(
    [  # the state of one producer
        ("is_committed", "?"),  # has an open transaction that is not aborted
        ("aborted_entry", "i8"),  # the open aborted transaction, as a row of the entries; or NONE
        ("is_observed", "?"),  # whether a batch of the aborted transaction was read
    ]
)
_QUEUED: np.dtype = np.dtype(
    [  # an aborted transaction whose first batch was not reached yet
        ("first_offset", "i8"),
        ("producer", "i8"),
        ("entry", "i8"),
    ]
)


class CleanedTransactions:
    """Tracks the open transactions while a cleaning reads the batches of a log in order."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # a number for each producer id
        self._states = np.empty(0, _STATE)
        self._queue = np.empty(0, _QUEUED)
        self._entries = np.empty(0, ENTRY)

    def add_aborted(self, entries: Iterable[np.ndarray]) -> None:
        """Adds the aborted transactions (txn_index.ENTRY) of the next segment."""
        for added in entries:
            queued = np.empty(len(added), _QUEUED)
            queued["first_offset"] = added["first_offset"]
            queued["producer"] = self._number(added["producer_id"].astype(np.int64))
            queued["entry"] = np.arange(len(self._entries), len(self._entries) + len(added))
            self._entries = np.concatenate((self._entries, added))
            self._queue = np.concatenate((self._queue, queued))
        self._queue = self._queue[np.argsort(self._queue["first_offset"], kind="stable")]

    def take(self, chunk: BatchChunk) -> tuple[np.ndarray, np.ndarray]:
        """Takes the batches of a chunk. Raises CleaningFailed if a marker cannot be read.

        Returns:
            Whether each batch can be discarded; and the aborted transactions whose marker stays, an
            array of format.txn_index.ENTRY.
        """
        batches = chunk.batches
        can_discard = np.zeros(len(batches), np.bool_)
        rows = np.flatnonzero(is_control(batches) | is_transactional(batches))
        if not len(rows):
            return can_discard, self._entries[:0]
        producers = self._number(batches["producer_id"][rows])
        kept_entries = np.empty(len(rows), np.int64)
        taken_count, kept_count, fault = _track_transactions(
            chunk.data,
            chunk.decompressed,
            batches,
            chunk.bodies,
            rows,
            producers,
            self._states,
            self._queue,
            can_discard,
            kept_entries,
        )
        if fault != NONE:
            raise chunk.fault_of(fault)
        self._queue = self._queue[taken_count:]
        return can_discard, self._entries[kept_entries[:kept_count]]

    def _number(self, producer_ids: np.ndarray) -> np.ndarray:
        """Returns a number per producer id: 0, 1, 2 ... in order of appearance."""
        different, places = np.unique(producer_ids, return_inverse=True)
        numbers = [
            self._numbers.setdefault(producer_id, len(self._numbers))
            for producer_id in different.tolist()
        ]
        if len(self._numbers) > len(self._states):
            states = np.zeros(2 * len(self._numbers), _STATE)
            states["aborted_entry"] = NONE
            states[: len(self._states)] = self._states
            self._states = states
        return np.array(numbers, np.int64)[places]


@njit(cache=True, boundscheck=True)
def _track_transactions(
    data: np.ndarray,
    decompressed: np.ndarray,
    batches: np.ndarray,
    bodies: np.ndarray,
    rows: np.ndarray,
    producers: np.ndarray,
    states: np.ndarray,
    queue: np.ndarray,
    can_discard: np.ndarray,
    kept_entries: np.ndarray,
) -> tuple[int, int, int]:
    """Updates the transactions from the rows of a chunk.

    Returns the number of transactions taken from `queue`, the number of kept entries, and the row
    of a marker that cannot be read, or NONE.
    """
    record_rows = np.zeros(1, record.ROW)
    queue_place = 0
    kept_count = 0
    for place in range(len(rows)):
        row = rows[place]
        batch = batches[row]
        while queue_place < len(queue) and queue[queue_place].first_offset <= batch.last_offset:
            queued = queue[queue_place]
            if states[queued.producer].aborted_entry == NONE:
                states[queued.producer].aborted_entry = queued.entry
                states[queued.producer].is_observed = False
            queue_place += 1
        state = states[producers[place]]
        if batch.attributes & CONTROL == 0:
            if state.aborted_entry != NONE:
                state.is_observed = True
                can_discard[row] = True
            else:
                state.is_committed = True
            continue
        if batch.record_count <= 0:
            can_discard[row] = True
            continue
        # a row does not keep its array alive, so it is taken in the loop
        kind = _marker_kind(data, decompressed, bodies[row], record_rows[0])
        if kind == NONE:
            return queue_place, kept_count, row
        if kind == ABORT:
            if state.aborted_entry != NONE and state.is_observed:
                kept_entries[kept_count] = state.aborted_entry
                kept_count += 1
            else:
                can_discard[row] = True
            state.aborted_entry = NONE
        elif kind == COMMIT:
            can_discard[row] = not state.is_committed
            state.is_committed = False
    return queue_place, kept_count, NONE


@njit(cache=True, boundscheck=True)
def _marker_kind(
    data: np.ndarray, decompressed: np.ndarray, body: np.record, row: np.record
) -> int:
    if body.place == UNREADABLE:
        return NONE
    is_compressed = body.place == DECOMPRESSED
    source = decompressed if is_compressed else data
    code, _, _, _ = record.take_record(source, body.start, body.end, is_compressed, row)
    if code or row.key_size_bytes < _KEY_BYTES:
        return NONE
    kind = np.int64(source[row.key_position + 2]) << 8 | np.int64(source[row.key_position + 3])
    # numba returns this to Python as an int
    return kind  # ty: ignore[invalid-explicit-return]
