"""The records of a batch of any magic, with their real offset, time and sequence; its checksum.

What a batch keeps as deltas or relative offsets is resolved here, as Kafka's iterators do, 4.3.1:
the second record of a batch at base offset 40 is (offset 41, ...), the last message of a wrapper at
offset 12 is (offset 12, ...).

Of a single batch, as a lookup reads it, the heads are taken one by one without any compiled code:
it is done before a compiler's library is even loaded. Where a record cannot be read, the decoder of
all its fields gives Kafka's words.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from crc32c import crc32c  # binary.crc32c would load the compiler for its loops

from kafkaviz.binary import codec, varint
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_start
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes, NotRead
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
PIECE_BYTES = 1 << 20  # of a batch that is read in pieces
RowSelector = Callable[[bytes | memoryview, np.ndarray], np.ndarray]

_LENGTH = HEADER["batch_length_bytes"]
_LENGTH_AT = field_start(HEADER, "batch_length_bytes")
_MAGIC_AT = field_start(HEADER, "magic")
_CRC_AT, _LEGACY_CRC_AT = field_start(HEADER, "crc"), field_start(LEGACY_HEADER, "crc")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """One record or message.

    Attributes:
        timestamp_ms: -1 for none.
        sequence: None without one.
        crc: of messages of magic 0 and 1, None above.
        is_valid: whether that checksum is right; None above magic 1.
        position: where it lies in the records once decompressed: behind the header of a batch of
            magic 2, in what a wrapper holds; an uncompressed message lies at 0 of itself.
        size_bytes: what it takes there.
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
    """The records of a complete batch, its header included.

    The checksum is not looked at: ensure_valid does that.

    Args:
        limit_bytes: of the decompressed records.

    Raises:
        CorruptBytes: Kafka's iterator raises, or a message's key or value cannot be read; the
            position is a byte of data.
    """
    return list(iterate(data, limit_bytes))


def iterate(
    data: bytes | memoryview,
    limit_bytes: int = codec.LIMIT_BYTES,
    choose: RowSelector | None = None,
) -> Iterator[BatchRecord]:
    """The records of read_batch one by one, decoded some thousand at a time.

    Args:
        choose: choose(bytes, rows) selects the rows (record.ROW, of these bytes) to build records
            of; called for magic 2 alone.

    Raises:
        CorruptBytes: as read_batch, behind the records that Kafka's iterator gives.
    """
    batch = batch_bytes(data)
    return (
        _records(batch, limit_bytes, choose)
        if _is_magic_2(batch)
        else iterate_messages(legacy_messages.read(batch, limit_bytes))
    )


def offsets_and_times(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The offsets and times of the records that iterate gives, some thousand at a time.

    Yields:
        An array of offsets and one of timestamps in ms.

    Raises:
        CorruptBytes: as iterate, behind the records.
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
    for _, rows in record.runs(*_body(batch), limit_bytes):
        created_ms = header["base_timestamp_ms"] + rows["timestamp_delta_ms"]
        times_ms = (
            np.repeat(header["max_timestamp_ms"], len(rows)) if is_append_time else created_ms
        )
        yield header["base_offset"] + rows["offset_delta"], times_ms


def find_fault(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES
) -> CorruptBytes | None:
    """What iterating over the records raises, without building any; None where nothing is wrong."""
    try:
        batch = batch_bytes(data)
    except CorruptBytes as fault:
        return fault
    if not _is_magic_2(batch):
        return legacy_messages.read(batch, limit_bytes).fault
    if len(batch) < HEADER_BYTES:
        return _too_small_error(batch)
    fault = record.find_fault(*_body(batch), limit_bytes)
    return fault and CorruptBytes(HEADER_BYTES + fault.position, fault.what)


def batch_bytes(data: bytes | memoryview) -> memoryview:
    """The first batch in data, to its last byte.

    Raises:
        CorruptBytes: the batch is not all there.
    """
    data, size = memoryview(data), size_bytes(data)
    if size > len(data):
        raise CorruptBytes(0, message("corrupt.batch_cut", size=size, available=len(data)))
    return data[:size]


def size_bytes(data: bytes | memoryview) -> int:
    """What the batch at the start of data says it takes, header included, from its first 17 bytes.

    Raises:
        CorruptBytes: they are not there; or, in the words of ByteBufferLogInputStream, the size is
            less than any batch takes.
    """
    if len(data) < MAGIC_END:
        raise CorruptBytes(0, message("corrupt.no_batch", size=len(data)))
    length = int(np.frombuffer(data, _LENGTH, 1, _LENGTH_AT)[0])
    if length < MIN_LENGTH:
        raise CorruptBytes(
            0,
            verbatim(
                f"Record size {length} is less than the minimum record overhead ({MIN_LENGTH})"
            ),
        )
    return LENGTH_END + length


def is_crc_valid(data: bytes | memoryview) -> bool:
    """Whether the checksum of a complete batch is right: CRC-32C of magic 2, CRC-32 below.

    False for data that is no complete batch.
    """
    try:
        ensure_valid(data)
    except CorruptBytes:
        return False
    return True


def has_valid_crc(read: ReadInto, batch: np.void) -> bool:
    """As is_crc_valid, of a batch of a log that is read in pieces.

    Args:
        batch: a row of format.batch.BATCH.
    """
    is_magic_2, size_bytes = batch["magic"] >= MAGIC_2, int(batch["size_bytes"])
    if is_magic_2 and size_bytes < HEADER_BYTES:
        return False
    position = int(batch["position"]) + (CRC_START if is_magic_2 else _MAGIC_AT)
    end, crc = int(batch["position"]) + size_bytes, 0
    buffer = np.empty(min(PIECE_BYTES, end - position), np.uint8)
    while position < end:
        length = read(position, buffer[: end - position])
        if not length:  # the file has become shorter
            return False
        crc = (crc32c if is_magic_2 else zlib.crc32)(buffer[:length].data, crc)
        position += length
    return bool(crc == batch["crc"])


def ensure_valid(data: bytes | memoryview) -> None:
    """Checks the checksum of a batch.

    Raises:
        CorruptBytes: it is wrong; in Kafka's words.
    """
    batch = batch_bytes(data)
    stored_crc, computed_crc, position = _checksums(batch)
    if stored_crc != computed_crc:
        raise CorruptBytes(
            position,
            verbatim(
                f"Record is corrupt (stored crc = {stored_crc}, computed crc = {computed_crc})"
            ),
        )


def _checksums(batch: memoryview) -> tuple[int, int, int]:
    """The checksums of a batch.

    Returns:
        The stored one, the computed one, and the byte at which it is stored.
    """
    header, start, position = (
        (HEADER, CRC_START, _CRC_AT)
        if _is_magic_2(batch)
        else (LEGACY_HEADER, _MAGIC_AT, _LEGACY_CRC_AT)
    )
    if header is HEADER and len(batch) < HEADER_BYTES:
        raise _too_small_error(batch)
    stored_crc = int(np.frombuffer(batch, header["crc"], 1, position)[0])
    return stored_crc, (crc32c if header is HEADER else zlib.crc32)(batch[start:]), position


def _is_magic_2(batch: memoryview) -> bool:
    """Whether the batch is read as magic 2.

    As FileLogInputStream, which takes 3 to 127 for 2, and what is negative for a message.
    """
    return MAGIC_2 <= batch[_MAGIC_AT] < 128


def split_header(batch: bytes | memoryview) -> tuple[np.void, memoryview]:
    """Splits a batch of magic 2.

    Returns:
        The header, and the bytes behind it.

    Raises:
        CorruptBytes: the batch is shorter than its header; with Kafka's words.
    """
    if len(batch) < HEADER_BYTES:
        raise _too_small_error(batch)
    return np.frombuffer(batch, HEADER, 1)[0], memoryview(batch)[HEADER_BYTES:]


def _too_small_error(batch: bytes | memoryview) -> CorruptBytes:
    return CorruptBytes(
        0,
        verbatim(
            f"Record batch is corrupt (the size {len(batch)} is smaller than the minimum allowed "
            f"overhead {HEADER_BYTES})"
        ),
    )


# ---- magic 2


def _records(
    batch: memoryview, limit_bytes: int, choose: RowSelector | None = None
) -> Iterator[BatchRecord]:
    """As the iterator of DefaultRecordBatch: a compressed batch with a fault gives no record."""
    header, _ = split_header(batch)
    try:
        for body, rows in record.runs(*_body(batch), limit_bytes):
            selected_rows = rows[choose(body, rows)] if choose else rows
            yield from _resolve(record.records_from_rows(body, selected_rows), header)
    except NotRead as fault:
        raise NotRead(HEADER_BYTES + fault.position, fault.what) from None
    except CorruptBytes as fault:
        raise CorruptBytes(HEADER_BYTES + fault.position, fault.what) from None


def _body(batch: memoryview) -> tuple[memoryview, int, int]:
    """What follows the header of a batch.

    Returns:
        The bytes behind the header, the id of their codec, and the number of records that the
        header says there are.
    """
    header = np.frombuffer(batch, HEADER, 1)[0]
    return batch[HEADER_BYTES:], int(header["attributes"]) & CODEC_MASK, int(header["record_count"])


def _resolve(records: list[record.Record], header: np.void) -> list[BatchRecord]:
    """Adds the header's base values to the deltas; 64 and 32 bits wrap around, as Java's."""
    base_offset, base_sequence = int(header["base_offset"]), int(header["base_sequence"])
    base_ms, append_ms = int(header["base_timestamp_ms"]), int(header["max_timestamp_ms"])
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
    """The low 64 bits, signed."""
    return (number + 2**63) % 2**64 - 2**63


@njit(cache=True)
def record_sequence(base_sequence: int, offset_delta: int) -> int:
    """The sequence of a record, -1 without one (DefaultRecordBatch.incrementSequence).

    Behind 2147483647 follows 0; the sums are of 32 bits. For other compiled functions too.
    """
    if base_sequence < 0:
        return -1
    if base_sequence > np.int32(LARGEST_INT - offset_delta):
        return int(np.int32(offset_delta - (LARGEST_INT - base_sequence) - 1))
    return int(np.int32(base_sequence + offset_delta))


# ---- magic 0 and 1


def iterate_messages(messages: legacy_messages.Messages) -> Iterator[BatchRecord]:
    """The messages with key and value, as the iterator of AbstractLegacyRecordBatch.

    Raises:
        CorruptBytes: the fault, behind the messages.
    """
    data = memoryview(messages.data)
    for start in range(0, len(messages.rows), record.RUN_ROWS):
        run = legacy_messages.Messages(
            messages.data, messages.rows[start : start + record.RUN_ROWS]
        )
        for is_valid, row in zip(
            legacy_messages.are_crcs_valid(run).tolist(), run.rows.tolist(), strict=True
        ):
            (
                position,
                size_bytes,
                offset,
                crc,
                _,
                _,
                _,
                timestamp_ms,
                key_position,
                key_size,
                value_position,
                value_size,
            ) = row
            key, value = (
                record.part(data, key_position, key_size),
                record.part(data, value_position, value_size),
            )
            yield BatchRecord(
                offset=offset,
                timestamp_ms=timestamp_ms,
                sequence=None,
                key=key,
                value=value,
                headers=(),
                crc=crc,
                is_valid=is_valid,
                position=position,
                size_bytes=size_bytes,
            )
    if messages.fault:
        raise messages.fault


class RecordHead(NamedTuple):
    """A record's offset, and its timestamp in ms, -1 for none."""

    offset: int
    timestamp_ms: int


def heads(
    data: bytes | memoryview, limit_bytes: int = codec.LIMIT_BYTES, *, is_streamed: bool = False
) -> Iterator[RecordHead]:
    """The head of each record of a complete batch of any magic, in order.

    Args:
        data: the batch, its header included.
        limit_bytes: of the decompressed records.
        is_streamed: records of a compressed batch of magic 2 come before the fault behind them, as
            from Kafka's streamingIterator; else none comes of a batch with a fault, as from its
            iterator.

    Raises:
        CorruptBytes: a record cannot be read. Keys and values of magic 0 and 1 are not looked at.
    """
    if not MAGIC_2 <= data[_MAGIC_AT] < 128:
        messages = legacy_messages.read(data, limit_bytes, reads_parts=False)
        for offset, timestamp_ms in messages.rows[["offset", "timestamp_ms"]].tolist():
            yield RecordHead(offset, timestamp_ms)
        if messages.fault:
            raise messages.fault
        return
    header, body = split_header(data)
    codec_id, count = int(header["attributes"]) & CODEC_MASK, int(header["record_count"])
    if is_streamed and codec_id:
        codec.name(codec_id)  # the iterator asks for it even where no record follows
    if not codec_id or count <= 0:
        try:
            yield from _heads(header, body)
        except CorruptBytes as fault:
            raise find_fault(data, limit_bytes) or fault from None
        return
    prefix, codec_fault = codec.decompress_prefix(codec.name(codec_id), body, limit_bytes)
    records = _heads(header, memoryview(prefix), codec_fault)
    try:
        yield from records if is_streamed else list(records)
    except CorruptBytes as fault:
        if fault is codec_fault:
            raise CorruptBytes(HEADER_BYTES + fault.position, fault.what) from None
        first_fault = record.first_fault(prefix, count, is_compressed=True) or fault
        raise CorruptBytes(HEADER_BYTES, record.wrap_fault(first_fault).what) from None


def _heads(
    header: np.void, body: memoryview, codec_fault: CorruptBytes | None = None
) -> Iterator[RecordHead]:
    """The heads of the records of magic 2; the last one only where nothing is left behind it.

    Args:
        codec_fault: why the bytes end where they end, of records that were compressed.

    Raises:
        CorruptBytes: a record cannot be read.
    """
    base_offset, base_ms = int(header["base_offset"]), int(header["base_timestamp_ms"])
    append_ms = int(header["max_timestamp_ms"]) if header["attributes"] & LOG_APPEND_TIME else None
    count, end = int(header["record_count"]), 0
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
            raise CorruptBytes(end, verbatim(record.LEFTOVER_TEXT))
        if number == count - 1 and codec_fault:
            raise codec_fault
        yield RecordHead(
            wrap_long(base_offset + offset_delta),
            wrap_long(base_ms + timestamp_delta_ms) if append_ms is None else append_ms,
        )


def _is_cut(body: memoryview, position: int) -> bool:
    """Whether the bytes end before the record at a position does."""
    try:
        size_bytes, start = varint.read_varint(body, position)
    except CorruptBytes:
        return len(body) - position < varint.VARINT_BYTES
    return size_bytes >= 0 and start + size_bytes > len(body)


def _skip_parts(body: memoryview, position: int, end: int) -> None:
    """Steps over key, value and headers of a record, which must end where it does.

    Raises:
        CorruptBytes: they do not.
    """
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
    """The value of each record of a complete batch of magic 2 that is not compressed.

    Raises:
        CorruptBytes: a record cannot be read.
    """
    header, body = split_header(data)
    end = 0
    for _ in range(int(header["record_count"])):
        start, end = content_range(body, end)
        _, position = varint.read_varlong(body, start + 1)
        _, position = varint.read_varint(body, position)
        key_bytes, position = varint.read_varint(body, position)
        value_bytes, position = varint.read_varint(body, position + max(0, key_bytes))
        if position + max(0, value_bytes) > end:
            raise CorruptBytes(
                HEADER_BYTES + position, message("corrupt.value_beyond_record", size=value_bytes)
            )
        yield record.part(body, position, value_bytes)


def few_records(data: bytes | memoryview) -> list[tuple[int, bytes | None]] | None:
    """Offset and value of each record of a sound batch, as few_keyed_records reads it."""
    records = few_keyed_records(data)
    return None if records is None else [(offset, value) for offset, _, value in records]


def few_keyed_records(
    data: bytes | memoryview,
) -> list[tuple[int, bytes | None, bytes | None]] | None:
    """Offset, key and value of each record of a sound batch, as most of a metadata log are.

    It is complete, of magic 2 and not compressed, and no record has headers.

    Returns:
        None for any other: `iterate` reads it, and says what is wrong with it.
    """
    if len(data) < HEADER_BYTES or not MAGIC_2 <= data[_MAGIC_AT] < 128:
        return None
    header, body = split_header(data)
    if header["attributes"] & CODEC_MASK:
        return None
    base_offset, count, end = int(header["base_offset"]), int(header["record_count"]), 0
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
    """The range of a record's content, behind its length.

    Args:
        position: the first byte of the record.

    Returns:
        The first byte of the content, and the byte behind it.

    Raises:
        CorruptBytes: the record says that it ends before its content begins, or behind the records.
    """
    size_bytes, start = varint.read_varint(records, position)
    if size_bytes < 0 or start + size_bytes > len(records):
        raise CorruptBytes(
            start,
            message("corrupt.record_too_long", size=size_bytes, available=len(records) - start),
        )
    return start, start + size_bytes
