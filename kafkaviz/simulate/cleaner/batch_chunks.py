"""Reads a .log in chunks of batches, with decompressed records for compiled loops.

A row of BODY says where a batch's records are: in the chunk, or in the decompressed bytes. Messages
of magic 0 and 1 become records of magic 2, as in the cleaner of Kafka 4.0 and later. Like Kafka's
cleaner, checks no checksum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.decoders.runs import SLACK_BYTES, RunDecompressor
from kafkaviz.binary.file_view import FileView, ReadInto
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, legacy_messages, record
from kafkaviz.format.batch import (
    CODEC_MASK,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC_2,
    MAGIC_END,
    MIN_LENGTH,
    rows,
)
from kafkaviz.format.java import CORRUPT_RECORD, EXCEPTIONS, INVALID_RECORD, without_place
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
    """The error for a log that the cleaner cannot clean. Has Kafka's exception."""

    def __init__(self, exception: BrokerException) -> None:
        super().__init__(str(exception))
        self.exception = exception


@dataclass(frozen=True, slots=True)
class BatchChunk:
    """Some batches of a log.

    Attributes:
        data: the bytes of the batches, and some before and after them.
        position: the byte of the .log where `data` begins.
        batches: an array of format.batch.BATCH. A message of magic 0 or 1 has the offsets and the
            record count of its records.
        bodies: an array of BODY, one row per batch.
        decompressed: the decompressed records, and the records made from messages of magic 0 and 1.
    """

    data: np.ndarray
    position: int
    batches: np.ndarray
    bodies: np.ndarray
    decompressed: np.ndarray

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

    Memory holds one chunk, or one batch if that is larger, with its decompressed records. A chunk
    ends early if the records of one codec reach MAX_DECOMPRESSED_BYTES.
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
                    raise CleaningFailed(BrokerException(ILLEGAL_STATE, _too_large_text()))
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
            return BrokerException(
                ILLEGAL_STATE, f"Could not determine next batch size for {place}"
            )
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
        self,
        buffer: np.ndarray,
        batches: np.ndarray,
        bodies: np.ndarray,
        pieces: list[np.ndarray],
    ) -> int:
        """Decompresses the records of the batches that fit into a chunk; returns how many fit."""
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
            for run in self._decompressor.runs(
                codec.CODECS[codec_id], buffer, bodies["start"][places], bodies["end"][places]
            ):
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


def _too_large_text() -> str:
    return f"This log contains a message larger than maximum allowable size of {codec.LIMIT_BYTES}."


def _convert_messages(
    buffer: np.ndarray,
    position: int,
    batches: np.ndarray,
    bodies: np.ndarray,
    pieces: list[np.ndarray],
) -> int:
    """Converts messages of magic 0 and 1 to records; returns how many batches fit."""
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
    return [
        record.Record(
            offset_delta=int(message["offset"]) - int(first["offset"]),
            timestamp_delta_ms=int(message["timestamp_ms"]) - int(first["timestamp_ms"]),
            key=_part(messages, message, "key"),
            value=_part(messages, message, "value"),
        )
        for message in messages.rows
    ]


def _part(messages: legacy_messages.Messages, message: np.void, name: str) -> bytes | None:
    return record.part(
        memoryview(messages.data),
        int(message[f"{name}_position"]),
        int(message[f"{name}_size_bytes"]),
    )
