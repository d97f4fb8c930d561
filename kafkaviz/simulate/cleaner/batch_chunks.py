"""Reads a .log in chunks of batches for a cleaning, and tracks the transactions.

Each batch has a row of BODY, which says where the records are: in the chunk, or in the decompressed
bytes. Messages of magic 0 and 1 become records of magic 2, as in the cleaner of Kafka 4.0 and
later. No checksum is checked, as in Kafka's cleaner.

CleanedTransactions follows Kafka's CleanedTransactionMetadata:

- A batch of an aborted transaction can be discarded at once.
- A marker can be discarded once the log has no batch of its transaction.
- The new segment's transaction index has the aborted transactions whose marker stays.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.decoders.runs import SLACK_BYTES, RunDecompressor
from kafkaviz.binary.file_view import FileView, ReadInto
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, legacy_messages, record
from kafkaviz.format.batch import (
    CODEC_MASK,
    CONTROL,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC_2,
    MAGIC_END,
    MIN_LENGTH,
    is_control,
    is_transactional,
    rows,
)
from kafkaviz.format.control import ControlType
from kafkaviz.format.java import CORRUPT_RECORD, EXCEPTIONS, INVALID_RECORD, without_place
from kafkaviz.format.txn_index import ENTRY
from kafkaviz.format.walk import BAD_LENGTH, CHUNK_BYTES, LENGTH_AT, MAX_ROWS, take_headers
from kafkaviz.simulate.recovery import BrokerException

IN_CHUNK, DECOMPRESSED, UNREADABLE = range(3)
BODY: np.dtype = np.dtype(
    [  # where the records of a batch are
        ("place", "i1"),  # IN_CHUNK, DECOMPRESSED, or UNREADABLE
        ("start", "i8"),  # in the chunk, or in the decompressed bytes
        ("end", "i8"),
    ]
)
MAX_DECOMPRESSED_BYTES = 64 << 20  # per codec in one chunk, unless a single batch has more
ILLEGAL_STATE = "java.lang.IllegalStateException"


class CleaningFailed(Exception):
    """The error for a log that the cleaner cannot clean; `exception` is Kafka's exception."""

    def __init__(self, exception: BrokerException) -> None:
        super().__init__(str(exception))
        self.exception = exception


@dataclass(frozen=True, slots=True)
class BatchChunk:
    """Some batches of a log."""

    data: np.ndarray  # the bytes of the batches, and some before and after them
    position: int  # the byte of the .log where `data` begins
    # an array of format.batch.BATCH; in a row of magic 0 or 1, `base_offset` and `record_count`
    # describe the converted records
    batches: np.ndarray
    bodies: np.ndarray  # an array of BODY, one row per batch
    decompressed: np.ndarray  # decompressed records, and records made from magic 0 and 1

    def fault_of(self, row: int) -> CleaningFailed:
        """Returns Kafka's exception for a batch whose records cannot be read."""
        start = int(self.batches["position"][row]) - self.position
        data = self.data[start : start + int(self.batches["size_bytes"][row])].data
        exception = BrokerException(INVALID_RECORD, "")
        try:
            for _ in batch_records.heads(data, is_streamed=True):
                pass
        except CorruptBytes as fault:
            exception = BrokerException(EXCEPTIONS[fault.kind], str(without_place(fault.what)))
        return CleaningFailed(exception)


class BatchChunks:
    """Reads a .log from a position to its end.

    Memory holds one chunk, with its decompressed records. A batch larger than `chunk_bytes` is a
    chunk of its own. A chunk ends early if the decompressed records of one codec reach
    MAX_DECOMPRESSED_BYTES.
    """

    def __init__(self, log: FileView, start: int = 0, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._log = log
        self._start = start
        self._chunk_bytes = max(chunk_bytes, HEADER_BYTES)
        self._decompressor = RunDecompressor()

    def __iter__(self) -> Iterator[BatchChunk]:
        """Yields the chunks in order. Raises CleaningFailed if a batch cannot be read."""
        with self._log.open_reader() as read:
            yield from self._chunks(read)

    def _chunks(self, read: ReadInto) -> Iterator[BatchChunk]:
        headers = np.zeros((MAX_ROWS, HEADER_BYTES), np.uint8)
        positions = np.empty(MAX_ROWS, np.int64)
        position = self._start
        needed_bytes = self._chunk_bytes
        stop = self._log.size_bytes
        while position < stop:
            buffer = np.empty(min(needed_bytes, stop - position) + SLACK_BYTES, np.uint8)
            length = read(position, buffer[:-SLACK_BYTES])
            next_position, row_count, code = take_headers(
                buffer, length, position, position, stop, headers, positions, 0
            )
            is_cut = row_count > 0 and next_position > position + length
            whole_count = row_count - is_cut
            if whole_count:
                batches = rows(positions[:whole_count], headers[:whole_count])
                first = 0
                while first < whole_count:
                    chunk = self._with_bodies(buffer, position, batches[first:])
                    first += len(chunk.batches)
                    yield chunk
                position = int(positions[whole_count] if is_cut else next_position)
                needed_bytes = self._chunk_bytes
            elif is_cut and length == len(buffer) - SLACK_BYTES:
                needed_bytes = int(next_position) - position
                if needed_bytes > codec.LIMIT_BYTES:
                    words = "This log contains a message larger than maximum allowable size of "
                    exception = BrokerException(ILLEGAL_STATE, f"{words}{codec.LIMIT_BYTES}.")
                    raise CleaningFailed(exception)
            else:
                raise CleaningFailed(self._torn_batch_error(buffer[:length], position, code))

    def _torn_batch_error(self, data: np.ndarray, position: int, code: int) -> BrokerException:
        """Returns the error of Cleaner.growBuffersOrFail or ByteBufferLogInputStream (4.3.1)."""
        length = int.from_bytes(data[LENGTH_AT:LENGTH_END].tobytes(), "big", signed=True)
        if code == BAD_LENGTH:
            words = f"Record size {length} is less than the minimum record overhead ({MIN_LENGTH})"
            return BrokerException(CORRUPT_RECORD, words)
        place = f"log segment {self._log.path or self._log.name} at position {position}"
        if len(data) < MAGIC_END:
            words = f"Could not determine next batch size for {place}"
            return BrokerException(ILLEGAL_STATE, words)
        words = (
            f"Log segment may be corrupt, batch size {length + LENGTH_END} > "
            f"{self._log.size_bytes - position} bytes left in segment for {place}"
        )
        return BrokerException(CORRUPT_RECORD, words)

    def _with_bodies(self, buffer: np.ndarray, position: int, batches: np.ndarray) -> BatchChunk:
        buffer.flags.writeable = False
        bodies = np.zeros(len(batches), BODY)
        bodies["start"] = batches["position"] - position + HEADER_BYTES
        bodies["end"] = batches["position"] - position + batches["size_bytes"]
        pieces: list[np.ndarray] = []
        is_short = (bodies["end"] < bodies["start"]) & (batches["magic"] >= MAGIC_2)
        bodies["place"][is_short] = UNREADABLE
        count = self._decompress(buffer, batches, bodies, pieces)
        if (batches["magic"][:count] < MAGIC_2).any():
            count = _convert_messages(buffer, position, batches[:count], bodies, pieces)
        decompressed = np.empty(0, np.uint8)
        if pieces:
            # a single piece can be large, and is not copied
            decompressed = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        decompressed.flags.writeable = False
        return BatchChunk(buffer, position, batches[:count], bodies[:count], decompressed)

    def _decompress(
        self, buffer: np.ndarray, batches: np.ndarray, bodies: np.ndarray, pieces: list[np.ndarray]
    ) -> int:
        """Decompresses batches until the records of one codec reach MAX_DECOMPRESSED_BYTES.

        Returns the number of batches in the chunk. The others go into the next chunk.
        """
        codec_ids = batches["attributes"] & CODEC_MASK
        is_compressed = (
            (batches["magic"] >= MAGIC_2)
            & (codec_ids != 0)
            & (batches["record_count"] > 0)
            & (bodies["place"] == IN_CHUNK)
        )
        bodies["place"][is_compressed] = UNREADABLE
        size_bytes = 0
        count = len(batches)
        for codec_id in range(1, len(codec.CODECS)):
            places = np.flatnonzero(is_compressed[:count] & (codec_ids[:count] == codec_id))
            if not len(places):
                continue
            first_byte = size_bytes
            ranges = bodies["start"][places], bodies["end"][places]
            for run in self._decompressor.runs(codec.CODECS[codec_id], buffer, *ranges):
                run_places = places[run.places]
                bodies["place"][run_places] = DECOMPRESSED
                bodies["end"][run_places] = size_bytes + run.ends
                bodies["start"][run_places] = size_bytes + np.append(0, run.ends[:-1])
                pieces.append(run.data[: int(run.ends[-1])].copy())
                size_bytes += len(pieces[-1])
                if size_bytes - first_byte >= MAX_DECOMPRESSED_BYTES:
                    count = int(run_places[-1]) + 1
                    break
        return count


def _convert_messages(
    buffer: np.ndarray,
    position: int,
    batches: np.ndarray,
    bodies: np.ndarray,
    pieces: list[np.ndarray],
) -> int:
    """Converts messages of magic 0 and 1 to records, until these reach MAX_DECOMPRESSED_BYTES.

    Returns the number of batches in the chunk. The others go into the next chunk.
    """
    first_byte = sum(len(piece) for piece in pieces)
    size_bytes = first_byte
    for row in np.flatnonzero(batches["magic"] < MAGIC_2).tolist():
        start = int(batches["position"][row]) - position
        data = buffer[start : start + int(batches["size_bytes"][row])].data
        messages = legacy_messages.read(data)
        if messages.fault is not None or not len(messages.rows):
            bodies["place"][row] = UNREADABLE
            continue
        converted = record.byte_array(record.build(_records(messages)))
        pieces.append(converted)
        batches["base_offset"][row] = messages.rows["offset"][0]
        batches["base_timestamp_ms"][row] = messages.rows["timestamp_ms"][0]
        batches["record_count"][row] = len(messages.rows)
        bodies[row] = (DECOMPRESSED, size_bytes, size_bytes + len(converted))
        size_bytes += len(converted)
        if size_bytes - first_byte >= MAX_DECOMPRESSED_BYTES:
            return row + 1
    return len(batches)


def _records(messages: legacy_messages.Messages) -> Sequence[record.Record]:
    first = messages.rows[0]
    data = memoryview(messages.data)

    def part(message: np.void, name: str) -> bytes | None:
        size_bytes = int(message[f"{name}_size_bytes"])
        return record.part(data, int(message[f"{name}_position"]), size_bytes)

    return [
        record.Record(
            offset_delta=int(message["offset"]) - int(first["offset"]),
            timestamp_delta_ms=int(message["timestamp_ms"]) - int(first["timestamp_ms"]),
            key=part(message, "key"),
            value=part(message, "value"),
        )
        for message in messages.rows
    ]


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
        """Adds aborted transactions, given as arrays of txn_index.ENTRY."""
        for added in entries:
            queued = np.empty(len(added), _QUEUED)
            queued["first_offset"] = added["first_offset"]
            queued["producer"] = self._number(added["producer_id"].astype(np.int64))
            queued["entry"] = np.arange(len(self._entries), len(self._entries) + len(added))
            self._entries = np.concatenate((self._entries, added))
            self._queue = np.concatenate((self._queue, queued))
        self._queue = self._queue[np.argsort(self._queue["first_offset"], kind="stable")]

    def take(self, chunk: BatchChunk) -> tuple[np.ndarray, np.ndarray]:
        """Returns whether each batch of the next chunk can be discarded, and the kept transactions.

        The kept transactions are the aborted ones whose marker stays (txn_index.ENTRY).
        Raises CleaningFailed if a marker cannot be read.
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
        """Returns a number per producer id, from 0. New ids get the next numbers, in id order."""
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
    """Updates `states` from batches[rows]. Fills in `can_discard` and `kept_entries`.

    Returns the number of transactions taken from `queue`, the number of kept entries, and the row
    of a marker that cannot be read (NONE if all can be read).
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
