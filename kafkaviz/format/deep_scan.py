"""Checks all checksums of a .log and reads all its records, chunk by chunk.

Reads what `kafka-dump-log --deep-iteration` of Kafka 4.3.1 reads. Compiled loops check batches of
magic 2 and read their records. Messages of magic 0 and 1 are read one by one. For example, a log of
two batches, with a flipped byte in the key size of the second batch's first record:

    position 0      | crc_valid True  | fault 0 | records_read 3
    position 2871   | crc_valid False | fault 2 | records_read 0
                      and a BatchFault: record-malformed, byte 2938, Kafka's message
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import checksum_range
from kafkaviz.binary.decoders.runs import SLACK_BYTES, RunDecompressor
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, legacy_messages, record
from kafkaviz.format.batch import (
    BATCH,
    CODEC_MASK,
    CRC_START,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAGIC_2,
    MAGIC_END,
    rows,
)
from kafkaviz.format.record_sizes import SIZE_BITS, delta_of_key, sort_keys, take_sizes
from kafkaviz.format.walk import (
    CHUNK_BYTES,
    MAX_ROWS,
    NEEDS_BYTES,
    REASONS,
    SHORT,
    WalkEnd,
    take_headers,
)
from kafkaviz.messages import Message, message

CHECKED_BATCH: np.dtype = np.dtype(
    [  # one batch, in the machine's byte order
        *BATCH.descr,
        ("crc_valid", "?"),  # CRC-32C in magic 2, CRC-32 in magic 0 and 1
        ("fault", "i1"),  # of the records: an index into FAULTS
        # records before the fault, if there is one; 0 for a faulty compressed batch, as in Kafka
        ("records_read", "i4"),
        # decompressed size of the records, up to the fault if there is one
        ("records_bytes", "i8"),
        ("key_bytes", "i8"),  # total size of the keys that were read
        ("value_bytes", "i8"),
        ("oddities", "u1"),  # sum of MESSAGE_CRC, TIMES and OFFSETS; only for readable records
    ]
)
# oddities: a message in a wrapper fails its checksum; the largest timestamp differs from the header
# of a batch with CreateTime; offsets do not increase, or leave the header's range
MESSAGE_CRC = 1
TIMES = 2
OFFSETS = 4
MAYBE = -1  # unknown until the deltas are read one by one
FAULTS = (
    "none",
    "batch-bad-length",
    "record-malformed",
    "batch-record-count",
    "decompress-failed",
    "batch-too-large",
)
NONE, BAD_LENGTH, MALFORMED, RECORD_COUNT, DECOMPRESS, TOO_LARGE = range(len(FAULTS))
LIMIT_BYTES = codec.LIMIT_BYTES


class CheckLevel(StrEnum):
    """Which parts of a batch are checked. Each level includes the level before."""

    HEADERS = "headers"  # headers, and checksums only where the next offsets do not fit
    CRC = "crc"  # all checksums; nothing is decompressed
    RECORDS = "records"  # all records


@dataclass(frozen=True, slots=True)
class BatchFault:
    """Why the records of a batch cannot all be read.

    Attributes:
        code: an entry of FAULTS.
        position: the byte of the .log that is wrong. For a compressed batch: the first compressed
            byte of the batch.
    """

    batch_position: int
    code: str
    position: int
    what: Message


TakeFaults = Callable[[Sequence[BatchFault]], None]


class DeepScan:
    """Checks the batches between two positions of a log, and their records.

    - It yields arrays of CHECKED_BATCH. `.end` is set after the last one.
    - A bad checksum or a fault in the records is reported, and the scan continues.
    - The scan ends where format.walk.Walk ends, or where the file has become shorter.
    - It keeps only one chunk in memory, with its decompressed bytes. A batch that is larger than a
      chunk is kept alone.

    Args:
        read: a function that reads the log by position, as in Walk.
        take_faults: called with the faults in the records of each chunk.
        limit_bytes: the largest size of a batch, compressed and decompressed. A larger batch is a
            fault: its checksum is checked, but its records are not read.
        reads_records: whether records are decoded. If False, only checksums are checked, and
            `records_read` is the header's record count.
    """

    end: WalkEnd

    def __init__(
        self,
        read: ReadInto,
        start: int,
        stop: int,
        take_faults: TakeFaults | None = None,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        limit_bytes: int = LIMIT_BYTES,
        reads_records: bool = True,
    ) -> None:
        self._read = read
        self._start = start
        self._stop = stop
        self._take_faults = take_faults
        self._limit_bytes = limit_bytes
        self._reads_records = reads_records
        self._chunk_bytes = max(chunk_bytes, HEADER_BYTES)
        self._buffer = _buffer(self._chunk_bytes)
        self._position = start
        self._length = 0
        self._decompressor = RunDecompressor()

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yields one array per chunk, and one per batch that is larger than a chunk."""
        headers = np.zeros((MAX_ROWS, HEADER_BYTES), np.uint8)
        positions = np.empty(MAX_ROWS, np.int64)
        position = self._start
        needed_bytes = self._chunk_bytes
        code = NEEDS_BYTES
        while code not in REASONS:
            self._fill(position, needed_bytes)
            next_position, row_count, code = take_headers(
                self._buffer, self._length, position, position, self._stop, headers, positions, 0
            )
            is_cut = row_count > 0 and next_position > position + self._length
            if is_cut:
                code = NEEDS_BYTES
            whole_count = row_count - is_cut
            if whole_count:
                yield self._check_chunk(positions[:whole_count], headers[:whole_count])
                position = int(positions[whole_count] if is_cut else next_position)
                needed_bytes = self._chunk_bytes
            elif code == NEEDS_BYTES and self._length < min(needed_bytes, self._stop - position):
                code = SHORT  # the file is shorter than when it was measured
            elif code == NEEDS_BYTES and next_position - position <= max(
                self._limit_bytes, self._chunk_bytes
            ):
                needed_bytes = int(next_position) - position
            elif code == NEEDS_BYTES:
                batches = _table(positions[:1], headers[:1])
                crc = batch_records.compute_crc(self._read, batches[0])
                if crc is None:
                    code = SHORT
                else:
                    self._refuse_large_batch(batches[0], crc)
                    yield batches
                    position = int(next_position)
                    needed_bytes = self._chunk_bytes
        self.end = WalkEnd(position, REASONS[code])

    def _fill(self, position: int, needed_bytes: int) -> None:
        """Fills `_buffer` with the bytes of the log from `position` on. Reads no byte twice."""
        tail = self._buffer[:0]
        if self._position <= position:
            tail = self._buffer[position - self._position : self._length]
        if needed_bytes > len(self._buffer) - SLACK_BYTES:
            self._buffer = _buffer(needed_bytes)
        self._buffer[: len(tail)] = tail
        missing = min(needed_bytes, self._stop - position) - len(tail)
        self._position = position
        self._length = len(tail)
        if missing > 0:
            room = self._buffer[self._length : self._length + missing]
            self._length += self._read(position + self._length, room)

    def _check_chunk(self, positions: np.ndarray, headers: np.ndarray) -> np.ndarray:
        chunk = self._buffer[: self._length + SLACK_BYTES]
        # one type of array: the same compiled version serves chunks and decompressed data
        chunk.flags.writeable = False
        batches = _table(positions, headers)
        if not self._reads_records:
            _check_sums(chunk, self._position, batches)
            return batches
        _check_and_read_plain(chunk, self._position, batches)
        self._read_compressed(chunk, batches)
        _read_messages(chunk, self._position, batches, self._limit_bytes)
        if self._take_faults:
            faulty = batches[batches["fault"] != NONE]
            self._take_faults([self._describe_fault(chunk, batch) for batch in faulty])
        return batches

    def _read_compressed(self, chunk: np.ndarray, batches: np.ndarray) -> None:
        """Reads the compressed batches of magic 2, many batches per compiled call."""
        codec_ids = batches["attributes"] & CODEC_MASK
        is_compressed = (
            (batches["magic"] >= MAGIC_2)
            & (codec_ids != 0)
            & (batches["fault"] == NONE)
            & (batches["record_count"] > 0)
        )
        # the fault of all batches that are not decompressed, such as those of an unknown codec
        batches["fault"][is_compressed] = DECOMPRESS
        for codec_id in range(1, len(codec.CODECS)):
            places = np.flatnonzero(is_compressed & (codec_ids == codec_id))
            if not len(places):
                continue
            starts = batches["position"][places] - self._position
            ends = starts + batches["size_bytes"][places]
            for run in self._decompressor.runs(
                codec.CODECS[codec_id], chunk, starts + HEADER_BYTES, ends, self._limit_bytes
            ):
                _read_decompressed(run.data, run.ends, places[run.places], batches)

    def _describe_fault(self, chunk: np.ndarray, batch: np.void) -> BatchFault:
        position = int(batch["position"])
        data = _bytes(chunk, self._position, batch).data
        # never None here: the compiled loops found a fault in this batch
        error = cast("CorruptBytes", batch_records.find_fault(data, self._limit_bytes))
        return BatchFault(position, FAULTS[batch["fault"]], position + error.position, error.what)

    def _refuse_large_batch(self, batch: np.void, crc: int) -> None:
        """Completes the row of a batch above the limit. `crc` is the checksum of its bytes."""
        batch["crc_valid"] = crc == batch["crc"]
        if not self._reads_records:
            return
        batch["fault"] = TOO_LARGE
        if self._take_faults:
            position = int(batch["position"])
            size_bytes = int(batch["size_bytes"])
            what = message("corrupt.batch_not_decoded", size=size_bytes, limit=self._limit_bytes)
            self._take_faults([BatchFault(position, FAULTS[TOO_LARGE], position, what)])


def plain_batches(batches: np.ndarray) -> np.ndarray:
    """Returns rows of CHECKED_BATCH as rows of BATCH."""
    plain = np.empty(len(batches), BATCH)
    _row_bytes(plain)[:] = _row_bytes(batches)[:, : BATCH.itemsize]
    return plain


def as_checked_batches(batches: np.ndarray) -> np.ndarray:
    """Returns rows of BATCH as CHECKED_BATCH, as if a check had found no fault."""
    checked = _checked_rows(batches)
    checked["crc_valid"] = True
    checked["records_read"] = np.clip(batches["record_count"], 0, None)
    return checked


def _buffer(size_bytes: int) -> np.ndarray:
    return np.empty(size_bytes + SLACK_BYTES, np.uint8)


def _table(positions: np.ndarray, headers: np.ndarray) -> np.ndarray:
    return _checked_rows(rows(positions, headers))


def _checked_rows(batches: np.ndarray) -> np.ndarray:
    checked = np.zeros(len(batches), CHECKED_BATCH)
    _row_bytes(checked)[:, : BATCH.itemsize] = _row_bytes(np.ascontiguousarray(batches))
    return checked


def _row_bytes(batches: np.ndarray) -> np.ndarray:
    return batches.view(np.uint8).reshape(len(batches), -1)


def _bytes(chunk: np.ndarray, chunk_position: int, batch: np.void) -> np.ndarray:
    start = int(batch["position"]) - chunk_position
    return chunk[start : start + int(batch["size_bytes"])]


# ---- magic 2


@njit(cache=True, boundscheck=True)
def _check_and_read_plain(chunk: np.ndarray, chunk_position: int, batches: np.ndarray) -> None:
    """Checks all batches of magic 2, and reads the uncompressed ones."""
    rows = np.zeros(1, record.ROW)
    for place in range(len(batches)):
        row = rows[0]  # taken here: a row does not keep its array alive
        batch = batches[place]
        if batch.magic < MAGIC_2:
            continue
        start = batch.position - chunk_position
        end = batch.position - chunk_position + batch.size_bytes
        if batch.size_bytes < HEADER_BYTES:
            batch.fault = BAD_LENGTH
            continue
        batch.crc_valid = checksum_range(chunk, start + CRC_START, end, 0) == batch.crc
        if batch.record_count < 0:
            batch.fault = RECORD_COUNT
        elif batch.attributes & CODEC_MASK == 0:
            _read_records(chunk, start + HEADER_BYTES, end, False, batch, row)


@njit(cache=True, boundscheck=True)
def _read_decompressed(
    data: np.ndarray, ends: np.ndarray, places: np.ndarray, batches: np.ndarray
) -> None:
    """Reads the records of decompressed batches.

    Batch `i` ends at `ends[i]` in `data`, and its row in `batches` is `places[i]`.
    """
    rows = np.zeros(1, record.ROW)
    start = 0
    for index in range(len(places)):
        row = rows[0]  # taken here: a row does not keep its array alive
        _read_records(data, start, ends[index], True, batches[places[index]], row)
        start = ends[index]


@njit(cache=True, boundscheck=True)
def _read_records(
    data: np.ndarray, start: int, end: int, is_compressed: bool, batch: np.record, row: np.record
) -> None:
    """Reads the records of a batch in data[start:end], and completes the batch's row."""
    position = start
    count = 0
    fault = NONE
    key_bytes = np.int64(0)
    value_bytes = np.int64(0)
    size_sums = np.int64(0)
    newest_key = -1
    last_key = -1
    has_keys = True  # False if take_record read a record, or if the offsets do not increase
    record_count = batch.record_count
    while count < record_count:
        next_position, sizes, word = take_sizes(data, position, end)
        if next_position > 0:
            size_sums += sizes
            time_key, offset_key = sort_keys(word)
            newest_key = max(newest_key, time_key)
            has_keys &= offset_key > last_key
            last_key = offset_key
            position = next_position
            count = count + 1
            continue
        code, next_position, _, _ = record.take_record(data, position, end, is_compressed, row)
        if code:
            fault = RECORD_COUNT if code == record.TOO_FEW else MALFORMED
            break
        key_bytes += max(row.key_size_bytes, 0)
        value_bytes += max(row.value_size_bytes, 0)
        has_keys = False
        position = next_position
        count = count + 1
    if fault == NONE and count > 0 and position < end:
        fault = RECORD_COUNT
    batch.fault = fault
    if fault != NONE and is_compressed:
        return
    batch.records_read = count
    batch.records_bytes = position - start
    batch.key_bytes = key_bytes + (size_sums & (1 << SIZE_BITS) - 1)
    batch.value_bytes = value_bytes + (size_sums >> SIZE_BITS)
    if fault == NONE and count > 0:
        oddities = MAYBE
        if has_keys and newest_key >= 0:
            oddities = _oddities(batch, delta_of_key(newest_key), delta_of_key(last_key), False)
        if oddities != 0:
            oddities = _read_deltas(data, start, end, is_compressed, batch, row)
        batch.oddities = oddities


@njit(cache=True, boundscheck=True)
def _read_deltas(
    data: np.ndarray, start: int, end: int, is_compressed: bool, batch: np.record, row: np.record
) -> int:
    """Reads all deltas of a batch with take_record, and returns the flags of `_oddities`."""
    position = start
    newest_ms = np.int64(-(2**63))
    last_delta = np.int64(-1)
    is_unordered = False
    for _ in range(batch.record_count):
        _, position, _, _ = record.take_record(data, position, end, is_compressed, row)
        newest_ms = max(newest_ms, row.timestamp_delta_ms)
        is_unordered |= row.offset_delta <= last_delta
        last_delta = max(last_delta, row.offset_delta)
    return _oddities(batch, newest_ms, last_delta, is_unordered)


@njit(cache=True, boundscheck=True)
def _oddities(
    batch: np.record, newest_ms: np.int64 | int, last_delta: np.int64 | int, is_unordered: bool
) -> int:
    """Returns OFFSETS, TIMES or both if a batch's header contradicts its deltas; else 0."""
    is_outside = last_delta > max(batch.last_offset - batch.base_offset, 0)
    oddities = OFFSETS if is_unordered or is_outside else 0
    is_append_time = batch.attributes & LOG_APPEND_TIME != 0
    if not is_append_time and batch.base_timestamp_ms + newest_ms != batch.max_timestamp_ms:
        oddities |= TIMES
    return oddities


def _check_sums(chunk: np.ndarray, chunk_position: int, batches: np.ndarray) -> None:
    _sum_batches(chunk, chunk_position, batches)
    _sum_messages(chunk, chunk_position, batches)
    batches["records_read"] = np.clip(batches["record_count"], 0, None)


@njit(cache=True, boundscheck=True)
def _sum_batches(chunk: np.ndarray, chunk_position: int, batches: np.ndarray) -> None:
    for place in range(len(batches)):
        batch = batches[place]
        start = batch.position - chunk_position
        if batch.magic >= MAGIC_2 and batch.size_bytes >= HEADER_BYTES:
            end = start + batch.size_bytes
            batch.crc_valid = checksum_range(chunk, start + CRC_START, end, 0) == batch.crc


# ---- magic 0 and 1


def _sum_messages(chunk: np.ndarray, chunk_position: int, batches: np.ndarray) -> None:
    """Checks the checksums of all batches of magic 0 and 1."""
    is_legacy = batches["magic"] < MAGIC_2
    starts = batches["position"][is_legacy] - chunk_position
    ends = starts + batches["size_bytes"][is_legacy]
    crcs = [
        zlib.crc32(chunk.data[start + MAGIC_END - 1 : end])
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    batches["crc_valid"][is_legacy] = batches["crc"][is_legacy] == crcs


def _read_messages(
    chunk: np.ndarray, chunk_position: int, batches: np.ndarray, limit_bytes: int
) -> None:
    """Checks and reads each batch of magic 0 or 1: a message, or a wrapper with its messages."""
    _sum_messages(chunk, chunk_position, batches)
    for place in np.flatnonzero(batches["magic"] < MAGIC_2).tolist():
        batch = batches[place]
        data = _bytes(chunk, chunk_position, batch).data
        messages = legacy_messages.read(data, limit_bytes)
        if messages.fault is None:
            batch["fault"] = NONE
        elif len(messages.data):
            batch["fault"] = MALFORMED
        else:
            batch["fault"] = DECOMPRESS
        batch["records_read"] = len(messages.rows)
        batch["records_bytes"] = messages.rows["size_bytes"].sum()
        if len(messages.rows) and int(batch["attributes"]) & CODEC_MASK:
            batch["oddities"] = _wrapper_oddities(batch, messages)
        for name in ("key", "value"):
            batch[f"{name}_bytes"] = np.clip(messages.rows[f"{name}_size_bytes"], 0, None).sum()


def _wrapper_oddities(batch: np.void, messages: legacy_messages.Messages) -> int:
    oddities = 0 if legacy_messages.are_crcs_valid(messages).all() else MESSAGE_CRC
    offsets = messages.rows["offset"]
    is_misplaced = messages.fault is None and offsets[-1] != batch["last_offset"]
    # some clients produced wrappers with offset 0
    if (np.diff(offsets) <= 0).any() or (is_misplaced and batch["last_offset"] != 0):
        oddities |= OFFSETS
    newest_ms = int(messages.rows["timestamp_ms"].max())
    if messages.fault is None and batch["magic"] == 1 and newest_ms != batch["max_timestamp_ms"]:
        oddities |= TIMES
    return oddities
