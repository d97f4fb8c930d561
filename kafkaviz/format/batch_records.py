"""Reads the records of a batch of any magic, and checks the batch's checksum.

Offsets and timestamps are absolute, as in Kafka 4.3.1. For example, the second record of a batch
with base offset 40 has offset 41.

`heads` reads only offsets and timestamps, without compiled code. For a single batch this is faster
than importing numba.
"""

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from crc32c import crc32c  # binary.crc32c would load the compiler for its loops

from kafkaviz.binary import codec, varint
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_start
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.format import legacy_messages, record
from kafkaviz.format.batch import (
    CODEC_MASK,
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LEGACY_HEADER,
    LENGTH_END,
    LOG_APPEND_TIME,
    MAGIC_2,
    MAGIC_END,
    MIN_LENGTH,
)
from kafkaviz.format.record import Header
from kafkaviz.messages import message, verbatim

LARGEST_INT = 2**31 - 1
PIECE_BYTES = 1 << 20  # size of the pieces in which a batch is read for its checksum
MAX_LISTED = 1 << 16  # records: for more, loading compiled code is worth its time
RowSelector = Callable[[bytes | memoryview, np.ndarray], np.ndarray]

_LENGTH = HEADER["batch_length_bytes"]
_LENGTH_AT = field_start(HEADER, "batch_length_bytes")
_MAGIC_AT = field_start(HEADER, "magic")
_CRC_AT = field_start(HEADER, "crc")
_LEGACY_CRC_AT = field_start(LEGACY_HEADER, "crc")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A record of magic 2, or a message of magic 0 or 1.

    Attributes:
        timestamp_ms: -1 if there is none.
        sequence: None if there is none.
        crc: the stored checksum of a message; None for magic 2.
        is_valid: whether `crc` is right; None for magic 2.
        position: the record's first byte. In magic 2, counted from the end of the batch header. In
            a wrapper, counted in the decompressed bytes. 0 for an uncompressed message.
        size_bytes: size of the record, decompressed.
    """

    offset: int
    timestamp_ms: int
    sequence: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    crc: int | None = None
    is_valid: bool | None = None
    position: int = 0
    size_bytes: int = 0


def read_batch(data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES) -> list[BatchRecord]:
    """Returns the records of a complete batch. Does not check the checksum.

    Raises CorruptBytes if Kafka cannot read a record. The error's position is a byte of `data`.
    """
    return list(iterate(data, limit_bytes))


def iterate(
    data: bytes | memoryview,
    limit_bytes: int = codec.LIMIT_BYTES,
    choose: RowSelector | None = None,
) -> Iterator[BatchRecord]:
    """Yields the same records as `read_batch`. Holds only some thousand records in memory.

    Args:
        choose: a function; choose(bytes, rows) returns the indices of the records to yield. `rows`
            is an array of record.ROW. Called only for magic 2. None: all records are yielded.

    Raises:
        CorruptBytes: Kafka cannot read a record. Raised after the records that Kafka's iterator
            returns.
    """
    batch = batch_bytes(data)
    if _is_magic_2(batch):
        return _records(batch, limit_bytes, choose)
    return iterate_messages(legacy_messages.read(batch, limit_bytes))


def offsets_and_times(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields the offsets and timestamps (ms) of the records, as pairs of arrays.

    Raises CorruptBytes after the readable records, as `iterate` does.
    """
    batch = batch_bytes(data)
    if not _is_magic_2(batch):
        messages = legacy_messages.read(batch, limit_bytes)
        yield messages.rows["offset"], messages.rows["timestamp_ms"]
        if messages.fault:
            raise messages.fault
        return
    if len(batch) < HEADER_BYTES:
        raise _too_small_error(batch)
    header = np.frombuffer(batch, HEADER, 1).astype(HEADER.newbyteorder("="))
    is_append_time = bool(header["attributes"][0] & LOG_APPEND_TIME)
    try:
        for _, rows in record.runs(*_body(batch), limit_bytes):
            created_ms = header["base_timestamp_ms"] + rows["timestamp_delta_ms"]
            times_ms = (
                np.repeat(header["max_timestamp_ms"], len(rows)) if is_append_time else created_ms
            )
            yield header["base_offset"] + rows["offset_delta"], times_ms
    except CorruptBytes as fault:
        raise fault.after(HEADER_BYTES) from None


def find_fault(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES
) -> CorruptBytes | None:
    """Returns the error that `iterate` would raise, or None."""
    try:
        batch = batch_bytes(data)
    except CorruptBytes as fault:
        return fault
    if not _is_magic_2(batch):
        return legacy_messages.read(batch, limit_bytes).fault
    if len(batch) < HEADER_BYTES:
        return _too_small_error(batch)
    fault = record.find_fault(*_body(batch), limit_bytes)
    return fault and fault.after(HEADER_BYTES)


def batch_bytes(data: bytes | memoryview) -> memoryview:
    """Returns the bytes of the first batch. Raises CorruptBytes at an incomplete batch."""
    size = size_bytes(data)
    data = memoryview(data)
    if size > len(data):
        raise CorruptBytes(0, message("corrupt.batch_cut", size=size, available=len(data)))
    return data[:size]


def size_bytes(data: bytes | memoryview) -> int:
    """Returns the size of the first batch, header included. Reads 17 bytes.

    Raises:
        CorruptBytes: there are fewer than 17 bytes, or the size is below Kafka's minimum.
    """
    if len(data) < MAGIC_END:
        raise CorruptBytes(0, message("corrupt.no_batch", size=len(data)))
    length = int(np.frombuffer(data, _LENGTH, 1, _LENGTH_AT)[0])
    if length < MIN_LENGTH:
        words = f"Record size {length} is less than the minimum record overhead ({MIN_LENGTH})"
        raise CorruptBytes(0, verbatim(words), FaultKind.SIZE)
    return LENGTH_END + length


def is_crc_valid(data: bytes | memoryview) -> bool:
    """Returns whether a batch is complete and its checksum right (CRC-32 in magic 0 and 1)."""
    try:
        ensure_valid(data)
    except CorruptBytes:
        return False
    return True


def has_valid_crc(read: ReadInto, batch: np.void) -> bool:
    """Returns whether the checksum of a batch is right. `batch` is a row of BATCH."""
    if batch["magic"] >= MAGIC_2 and batch["size_bytes"] < HEADER_BYTES:
        return False
    return bool(compute_crc(read, batch) == batch["crc"])


def compute_crc(read: ReadInto, batch: np.void) -> int | None:
    """Returns the checksum of a batch's bytes; None if the file has become shorter.

    `batch` is a row of BATCH. In magic 2, the batch must have at least HEADER_BYTES bytes.
    """
    is_magic_2 = batch["magic"] >= MAGIC_2
    position = int(batch["position"]) + (CRC_START if is_magic_2 else _MAGIC_AT)
    end = int(batch["position"] + batch["size_bytes"])
    crc = 0
    buffer = np.empty(min(PIECE_BYTES, end - position), np.uint8)
    while position < end:
        length = read(position, buffer[: end - position])
        if not length:
            return None
        crc = (crc32c if is_magic_2 else zlib.crc32)(buffer[:length].data, crc)
        position += length
    return crc


def ensure_valid(data: bytes | memoryview) -> None:
    """Raises CorruptBytes if a batch is incomplete or its checksum is wrong."""
    batch = batch_bytes(data)
    if not _is_magic_2(batch):
        position = _LEGACY_CRC_AT
        computed_crc = zlib.crc32(batch[_MAGIC_AT:])
    elif len(batch) < HEADER_BYTES:
        raise _too_small_error(batch)
    else:
        position = _CRC_AT
        computed_crc = crc32c(batch[CRC_START:])
    stored_crc = int.from_bytes(batch[position : position + 4], "big")
    if stored_crc != computed_crc:
        words = f"Record is corrupt (stored crc = {stored_crc}, computed crc = {computed_crc})"
        raise CorruptBytes(position, verbatim(words))


def _is_magic_2(batch: bytes | memoryview) -> bool:
    """Returns whether Kafka reads the batch as magic 2 (FileLogInputStream)."""
    return MAGIC_2 <= batch[_MAGIC_AT] < 128


def split_header(batch: bytes | memoryview) -> tuple[np.void, memoryview]:
    """Splits a batch of magic 2 into its header and the rest.

    Raises CorruptBytes with Kafka's message if the batch is shorter than its header.
    """
    if len(batch) < HEADER_BYTES:
        raise _too_small_error(batch)
    return np.frombuffer(batch, HEADER, 1)[0], memoryview(batch)[HEADER_BYTES:]


def _too_small_error(batch: bytes | memoryview) -> CorruptBytes:
    words = (
        f"Record batch is corrupt (the size {len(batch)} is smaller than the minimum allowed "
        f"overhead {HEADER_BYTES})"
    )
    return CorruptBytes(0, verbatim(words))


# ---- magic 2


def _records(
    batch: memoryview, limit_bytes: int, choose: RowSelector | None = None
) -> Iterator[BatchRecord]:
    header, _ = split_header(batch)
    try:
        for body, rows in record.runs(*_body(batch), limit_bytes):
            selected_rows = rows[choose(body, rows)] if choose else rows
            yield from _resolve(record.records_from_rows(body, selected_rows), header)
    except CorruptBytes as fault:
        raise fault.after(HEADER_BYTES) from None


def _body(batch: memoryview) -> tuple[memoryview, int, int]:
    header = np.frombuffer(batch, HEADER, 1)[0]
    return batch[HEADER_BYTES:], int(header["attributes"]) & CODEC_MASK, int(header["record_count"])


def _resolve(records: list[record.Record], header: np.void) -> list[BatchRecord]:
    """Returns the records with absolute values: base value plus delta. Overflows as Java does."""
    base_offset = int(header["base_offset"])
    base_sequence = int(header["base_sequence"])
    base_ms = int(header["base_timestamp_ms"])
    append_ms = int(header["max_timestamp_ms"])
    is_append_time = bool(header["attributes"] & LOG_APPEND_TIME)
    has_sequence = base_sequence >= 0
    return [
        BatchRecord(
            offset=wrap_long(base_offset + raw.offset_delta),
            timestamp_ms=append_ms
            if is_append_time
            else wrap_long(base_ms + raw.timestamp_delta_ms),
            sequence=record_sequence(base_sequence, raw.offset_delta) if has_sequence else None,
            key=raw.key,
            value=raw.value,
            headers=raw.headers,
            position=raw.position,
            size_bytes=raw.size_bytes,
        )
        for raw in records
    ]


def wrap_long(number: int) -> int:
    """Returns the low 64 bits of a number, signed, as an overflow in Java does."""
    return (number + 2**63) % 2**64 - 2**63


@njit(cache=True)
def record_sequence(base_sequence: int, offset_delta: int) -> int:
    """Returns the sequence of a record; -1 if `base_sequence` is negative.

    After sequence 2147483647, sequence 0 follows. Also called by compiled functions.
    """
    if base_sequence < 0:
        return -1
    if base_sequence > np.int32(LARGEST_INT - offset_delta):
        return int(np.int32(offset_delta - (LARGEST_INT - base_sequence) - 1))
    return int(np.int32(base_sequence + offset_delta))


# ---- magic 0 and 1


def iterate_messages(messages: legacy_messages.Messages) -> Iterator[BatchRecord]:
    """Yields one BatchRecord per message of magic 0 or 1 (AbstractLegacyRecordBatch.iterator).

    Raises CorruptBytes after the readable messages.
    """
    data = memoryview(messages.data)
    for start in range(0, len(messages.rows), record.RUN_ROWS):
        rows = messages.rows[start : start + record.RUN_ROWS]
        run = legacy_messages.Messages(messages.data, rows)
        are_valid = legacy_messages.are_crcs_valid(run).tolist()
        for is_valid, row in zip(are_valid, rows.tolist(), strict=True):
            position, size_bytes, offset, crc, _, _, _, timestamp_ms, *parts = row
            key_position, key_size, value_position, value_size = parts
            yield BatchRecord(
                offset=offset,
                timestamp_ms=timestamp_ms,
                sequence=None,
                key=record.part(data, key_position, key_size),
                value=record.part(data, value_position, value_size),
                crc=crc,
                is_valid=is_valid,
                position=position,
                size_bytes=size_bytes,
            )
    if messages.fault:
        raise messages.fault


class RecordHead(NamedTuple):
    """A record's offset and timestamp. `timestamp_ms` is -1 if there is none."""

    offset: int
    timestamp_ms: int


def heads(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES, *, is_streamed: bool = False
) -> Iterator[RecordHead]:
    """Yields the offset and timestamp of each record in a complete batch of any magic.

    `is_streamed` matters only for a damaged compressed batch of magic 2. If True, yields the
    records before the damage, as Kafka's streamingIterator does. If False, yields no record.

    Raises CorruptBytes if a record is damaged. Ignores keys and values of magic 0 and 1.
    """
    if not _is_magic_2(data):
        messages = legacy_messages.read(data, limit_bytes, reads_parts=False)
        for offset, timestamp_ms in messages.rows[["offset", "timestamp_ms"]].tolist():
            yield RecordHead(offset, timestamp_ms)
        if messages.fault:
            raise messages.fault
        return
    header, body = split_header(data)
    codec_id = int(header["attributes"]) & CODEC_MASK
    count = int(header["record_count"])
    if is_streamed and codec_id:
        codec.name(codec_id)  # Kafka's iterator looks up the codec even if no record follows
    if not codec_id or count <= 0:
        try:
            yield from _heads(header, body)
        except CorruptBytes as fault:
            raise find_fault(data, limit_bytes) or fault from None
        return
    prefix, codec_fault = codec.decompress_prefix(codec.name(codec_id), body, limit_bytes)
    records = _heads(header, memoryview(prefix), codec_fault)
    try:
        yield from records if is_streamed else _if_sound(records, prefix, count, codec_fault)
    except CorruptBytes as fault:
        if fault is codec_fault:
            raise fault.after(HEADER_BYTES) from None
        first_fault = record.first_fault(prefix, count, is_compressed=True) or fault
        raise record.wrap_fault(first_fault).after(HEADER_BYTES) from None


def _if_sound(
    records: Iterator[RecordHead], prefix: bytes, count: int, codec_fault: CorruptBytes | None
) -> Iterable[RecordHead]:
    """Returns all `records` of a compressed batch. Raises CorruptBytes if any is damaged.

    Args:
        prefix: the decompressed bytes; if there is a `codec_fault`, those before the fault.
        count: the record count in the batch header.
    """
    if codec_fault:
        deque(records, maxlen=0)  # raises `codec_fault`, or the error of an earlier record
    if count <= MAX_LISTED:
        return list(records)
    if fault := record.first_fault(prefix, count, is_compressed=True):
        raise fault
    return records


def _heads(
    header: np.void, body: memoryview, codec_fault: CorruptBytes | None = None
) -> Iterator[RecordHead]:
    """Yields the offset and timestamp of each record of magic 2.

    The last record is yielded only if no bytes follow it. `codec_fault` is the error that ended
    decompression early, or None.
    """
    base_offset = int(header["base_offset"])
    base_ms = int(header["base_timestamp_ms"])
    append_ms = int(header["max_timestamp_ms"]) if header["attributes"] & LOG_APPEND_TIME else None
    count = int(header["record_count"])
    end = 0
    if count < 0:
        raise CorruptBytes(0, verbatim(f"Found invalid record count {count} in magic v2 batch"))
    for number in range(count):
        try:
            start, end = content_range(body, end)
        except CorruptBytes as fault:
            if codec_fault and _is_cut(body, end):
                raise codec_fault from None
            raise fault
        timestamp_delta_ms, position = varint.read_varlong(body, start + 1)
        offset_delta, position = varint.read_varint(body, position)
        _skip_parts(body, position, end)
        if number == count - 1 and end < len(body):
            raise CorruptBytes(end, verbatim(record.LEFTOVER_TEXT), FaultKind.LEFTOVER)
        if number == count - 1 and codec_fault:
            raise codec_fault
        yield RecordHead(
            wrap_long(base_offset + offset_delta),
            wrap_long(base_ms + timestamp_delta_ms) if append_ms is None else append_ms,
        )


def _is_cut(body: memoryview, position: int) -> bool:
    try:
        size_bytes, start = varint.read_varint(body, position)
    except CorruptBytes:
        return len(body) - position < varint.VARINT_BYTES
    return size_bytes >= 0 and start + size_bytes > len(body)


def _skip_parts(body: memoryview, position: int, end: int) -> None:
    for _ in ("key", "value"):
        size_bytes, position = varint.read_varint(body, position)
        position += max(0, size_bytes)
    header_count, position = varint.read_varint(body, position)
    is_broken = not 0 <= header_count <= len(body) - position
    for _ in range(0 if is_broken else header_count):
        key_bytes, position = varint.read_varint(body, position)
        value_bytes, position = varint.read_varint(body, position + max(0, key_bytes))
        position += max(0, value_bytes)
        is_broken |= key_bytes < 0
    if is_broken or position != end:
        raise CorruptBytes(position, message("corrupt.record_too_long", size=0, available=0))


def values(data: bytes | memoryview) -> Iterator[bytes | None]:
    """Yields the value of each record in a complete, uncompressed batch of magic 2.

    Raises CorruptBytes if a record cannot be read.
    """
    header, body = split_header(data)
    end = 0
    try:
        for _ in range(int(header["record_count"])):
            start, end = content_range(body, end)
            _, position = varint.read_varlong(body, start + 1)
            _, position = varint.read_varint(body, position)
            key_bytes, position = varint.read_varint(body, position)
            value_bytes, position = varint.read_varint(body, position + max(0, key_bytes))
            if position + max(0, value_bytes) > end:
                what = message("corrupt.value_beyond_record", size=value_bytes)
                raise CorruptBytes(position, what)
            yield record.part(body, position, value_bytes)
    except CorruptBytes as fault:
        raise fault.after(HEADER_BYTES) from None


def few_records(data: bytes | memoryview) -> list[tuple[int, bytes | None, bytes | None]] | None:
    """Returns the offset, key and value of each record in a simple batch, without compiled code.

    A batch is simple if it is complete, sound, of magic 2 and not compressed, and no record has
    headers. Returns None for any other batch; read that batch with `iterate`.
    """
    if len(data) < HEADER_BYTES or not _is_magic_2(data):
        return None
    header, body = split_header(data)
    if header["attributes"] & CODEC_MASK:
        return None
    base_offset = int(header["base_offset"])
    count = int(header["record_count"])
    end = 0
    records: list[tuple[int, bytes | None, bytes | None]] = []
    try:
        for _ in range(count):
            start, end = content_range(body, end)
            _, position = varint.read_varlong(body, start + 1)
            offset_delta, position = varint.read_varint(body, position)
            key_bytes, key_at = varint.read_varint(body, position)
            value_bytes, value_at = varint.read_varint(body, key_at + max(0, key_bytes))
            header_count, position = varint.read_varint(body, value_at + max(0, value_bytes))
            if header_count or position != end:
                return None
            offset = wrap_long(base_offset + offset_delta)
            key = record.part(body, key_at, key_bytes)
            records.append((offset, key, record.part(body, value_at, value_bytes)))
    except CorruptBytes:
        return None
    return records if count >= 0 and end == len(body) else None


def content_range(records: memoryview, position: int) -> tuple[int, int]:
    """Returns (start, stop) of the record at a position, without its length field.

    Raises CorruptBytes if the length is negative, or reaches beyond the data.
    """
    size_bytes, start = varint.read_varint(records, position)
    available = len(records) - start
    if not 0 <= size_bytes <= available:
        what = message("corrupt.record_too_long", size=size_bytes, available=available)
        raise CorruptBytes(start, what)
    return start, start + size_bytes
