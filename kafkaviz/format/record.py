"""The records inside a batch of magic 2.

Follows DefaultRecord of Kafka 4.3.1. A record is its length and then fields, most of them varints.
The record (k1, v1) at the batch's base offset:

    14 | 00         | 00              | 00           | 04 6b31 | 04 7631 | 00
    10 | attributes | timestamp delta | offset delta | key     | value   | number of headers

A size of -1 (the byte 01) means that the key or value is null. In a compressed batch, the
decompressed bytes have this layout.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec, varint
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes, FaultKind, NotRead
from kafkaviz.format.java import decode_utf8
from kafkaviz.messages import Message, message, verbatim

# one record, in the machine's byte order; positions count from the first byte of the first record
ROW: np.dtype = np.dtype(
    [
        ("position", "i4"),
        ("size_bytes", "i4"),  # including the length field
        ("attributes", "i1"),  # Kafka up to 4.3 uses no bit
        ("timestamp_delta_ms", "i8"),
        ("offset_delta", "i4"),
        ("key_position", "i4"),
        ("key_size_bytes", "i4"),  # negative for null; Kafka writes -1
        ("value_position", "i4"),
        ("value_size_bytes", "i4"),  # negative for null; Kafka writes -1
        ("header_count", "i4"),
        ("headers_position", "i4"),
    ]
)
MAX_HEADERS = 100_000  # a record with more is not built as an object
MIN_BYTES = 7  # length, attributes, and five varints of one byte
# rows in memory at a time: a few KB of zstd can hold millions of records
RUN_ROWS = 4096

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record of a batch.

    Attributes:
        offset_delta: the record's offset minus the batch's base offset.
        timestamp_delta_ms: the record's timestamp minus the batch's base timestamp. Not used in a
            batch with LogAppendTime.
        position: the first byte of the record in the batch's decompressed records.
        size_bytes: size of the record, decompressed.
    """

    offset_delta: int
    timestamp_delta_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    attributes: int = 0
    position: int = 0
    size_bytes: int = 0


def runs(
    data: bytes | memoryview, codec_id: int, record_count: int, limit_bytes: int = codec.LIMIT_BYTES
) -> Iterator[tuple[bytes | memoryview, np.ndarray]]:
    """Yields (decompressed bytes of all records, table of the next records).

    A table has at most RUN_ROWS rows of ROW. Its positions are positions in the decompressed bytes.

    Args:
        data: all bytes of the batch after its header.
        codec_id: a batch without records may have an unknown codec.

    Raises:
        CorruptBytes: Kafka cannot read a record. The position is a byte of `data`. In a compressed
            batch the position is 0, and the message names the byte in the decompressed records.
    """
    if record_count <= 0 or not codec_id:
        yield from ((data, table) for table in row_runs(data, record_count))
        return
    body = codec.decompress(codec.name(codec_id), data, limit_bytes)
    try:
        yield from ((body, table) for table in row_runs(body, record_count, is_compressed=True))
    except CorruptBytes as fault:
        raise wrap_fault(fault) from None


def find_fault(
    data: bytes | memoryview, codec_id: int, record_count: int, limit_bytes: int = codec.LIMIT_BYTES
) -> CorruptBytes | None:
    """Returns the error that `runs` would raise, or None."""
    try:
        if record_count <= 0 or not codec_id:
            return first_fault(data, record_count)
        body = codec.decompress(codec.name(codec_id), data, limit_bytes)
        fault = first_fault(body, record_count, is_compressed=True)
    except CorruptBytes as error:
        return error
    return fault and wrap_fault(fault)


def wrap_fault(fault: CorruptBytes) -> CorruptBytes:
    """Returns the error for a compressed batch. Its message names the position of `fault`."""
    what = message("corrupt.in_decompressed_records", position=fault.position, problem=fault.what)
    return CorruptBytes(0, what, fault.kind)


def records_from_rows(data: bytes | memoryview, table: np.ndarray) -> list[Record]:
    data = memoryview(data)
    return [
        Record(
            offset_delta=offset_delta,
            timestamp_delta_ms=timestamp_delta_ms,
            key=part(data, key_position, key_size),
            value=part(data, value_position, value_size),
            headers=_headers(data, headers_position, header_count) if header_count else (),
            attributes=attributes,
            position=position,
            size_bytes=size_bytes,
        )
        for (
            position,
            size_bytes,
            attributes,
            timestamp_delta_ms,
            offset_delta,
            key_position,
            key_size,
            value_position,
            value_size,
            header_count,
            headers_position,
        ) in table.tolist()
    ]


def rows(data: bytes | memoryview, record_count: int, *, is_compressed: bool = False) -> np.ndarray:
    """Returns a table of ROW, one row per record. `data` must be decompressed.

    Raises CorruptBytes if Kafka (DefaultRecordBatch.iterator) cannot read a record. `is_compressed`
    (whether the batch in the .log is compressed) changes some of Kafka's messages.
    """
    table, fault = readable_rows(data, record_count, is_compressed=is_compressed)
    if fault:
        raise fault
    return table


def readable_rows(
    data: bytes | memoryview, record_count: int, *, is_compressed: bool = False
) -> tuple[np.ndarray, CorruptBytes | None]:
    """Returns the rows before the first fault, and that fault or None."""
    max_rows = _max_rows(data, record_count)
    return _read_run(
        byte_array(data), 0, record_count, is_compressed=is_compressed, max_rows=max_rows
    )[:2]


def row_runs(
    data: bytes | memoryview, record_count: int, *, is_compressed: bool = False
) -> Iterator[np.ndarray]:
    """Yields the rows that Kafka's iterator returns, in tables of up to RUN_ROWS rows.

    Raises CorruptBytes at a record that Kafka cannot read, and at the last record if bytes follow
    it. First yields the rows before that record. For a compressed batch, yields no rows then.
    """
    if (
        is_compressed
        and _max_rows(data, record_count) > RUN_ROWS
        and (fault := first_fault(data, record_count, is_compressed=is_compressed))
    ):
        raise fault
    for table, fault in _runs(data, record_count, is_compressed=is_compressed):
        if fault and is_compressed:
            raise fault
        yield table[:-1] if fault and fault.kind is FaultKind.LEFTOVER else table
        if fault:
            raise fault


def first_fault(
    data: bytes | memoryview, record_count: int, *, is_compressed: bool = False
) -> CorruptBytes | None:
    """Returns the error that `rows` would raise, or None."""
    runs_to_fault = _runs(data, record_count, is_compressed=is_compressed)
    return next((fault for _, fault in runs_to_fault if fault), None)


def _runs(
    data: bytes | memoryview, record_count: int, *, is_compressed: bool
) -> Iterator[tuple[np.ndarray, CorruptBytes | None]]:
    """Yields (table of up to RUN_ROWS rows, the fault after the last of these rows or None)."""
    buffer = byte_array(data)
    position = 0
    remaining = record_count
    max_rows = min(_max_rows(data, record_count), RUN_ROWS)
    fault = None
    while not fault:
        table, fault, position = _read_run(
            buffer, position, remaining, is_compressed=is_compressed, max_rows=max_rows
        )
        remaining -= len(table)
        yield table, fault
        if remaining <= 0:
            return


def _read_run(
    buffer: np.ndarray, position: int, remaining: int, *, is_compressed: bool, max_rows: int
) -> tuple[np.ndarray, CorruptBytes | None, int]:
    """Reads at most `max_rows` of `remaining` records. Returns (rows, fault or None, end)."""
    if remaining < 0:
        words = f"Found invalid record count {remaining} in magic v2 batch"
        return np.empty(0, ROW), CorruptBytes(0, verbatim(words)), position
    if remaining == 0:
        return np.empty(0, ROW), None, position
    table = np.zeros(min(remaining, max_rows), ROW)
    fault, position, found_number, available = take_records(
        buffer, position, len(buffer), is_compressed, table
    )
    # these are the last records, but bytes are left after them
    if not fault and remaining == len(table) and position < len(buffer):
        fault = LEFTOVER
    if not fault:
        return table, None, position
    what = _text(fault, is_compressed, found_number, available)
    error = CorruptBytes(position, what, _KINDS.get(fault, FaultKind.RECORD))
    return table[: np.count_nonzero(table["size_bytes"])], error, position


def _max_rows(data: bytes | memoryview, record_count: int) -> int:
    return max(0, min(record_count, len(data) // MIN_BYTES + 1))


def byte_array(data: bytes | memoryview) -> np.ndarray:
    """Returns the data as a read-only uint8 array, so that numba sees a single type."""
    buffer = np.frombuffer(data, np.uint8)
    buffer.flags.writeable = False
    return buffer


def build(records: Iterable[Record]) -> bytes:
    """Returns the bytes of records, as Kafka writes them. Ignores `position` and `size_bytes`."""
    return b"".join(_build_record(record) for record in records)


def _build_record(record: Record) -> bytes:
    body = [
        bytes([record.attributes & 0xFF]),
        varint.write_varlong(record.timestamp_delta_ms),
        varint.write_varint(record.offset_delta),
        _prefix_size(record.key),
        _prefix_size(record.value),
        varint.write_varint(len(record.headers)),
        *(
            part
            for key, value in record.headers
            for part in (_prefix_size(key.encode()), _prefix_size(value))
        ),
    ]
    content = b"".join(body)
    return varint.write_varint(len(content)) + content


def _prefix_size(part: bytes | None) -> bytes:
    return varint.write_varint(-1) if part is None else varint.write_varint(len(part)) + part


def part(data: memoryview, position: int, size_bytes: int) -> bytes | None:
    """Returns a key or value; None if its size is negative."""
    return None if size_bytes < 0 else bytes(data[position : position + size_bytes])


def _headers(data: memoryview, position: int, count: int) -> tuple[Header, ...]:
    """Returns the headers of a record. Raises NotRead if there are more than MAX_HEADERS."""
    if count > MAX_HEADERS:
        raise NotRead(position, message("corrupt.too_many_headers", count=count, limit=MAX_HEADERS))
    places = _header_places(byte_array(data), position, count).tolist()
    return tuple(
        (decode_utf8(bytes(data[key : key + key_size])), part(data, value, value_size))
        for key, key_size, value, value_size in places
    )


@njit(cache=True, boundscheck=True)
def _header_places(data: np.ndarray, position: int, count: int) -> np.ndarray:
    """Returns one row per header: key position, key size, value position, value size."""
    places = np.empty((count, 4), np.int64)
    for header in range(count):
        _, key, key_size, value, value_size = take_header(data, position, len(data))
        places[header] = (key, key_size, value, value_size)
        position = value + max(value_size, 0)
    return places


# ---- the compiled reader

TOO_FEW = 1
LEFTOVER = 2
_LENGTH_TOO_LONG = 3
_PAST_END = 4
_OTHER_SIZE = 5
_STRUCTURE = 6
_HEADER_COUNT_NEGATIVE = 7
_HEADER_COUNT_TOO_LARGE = 8
_HEADER_KEY_NEGATIVE = 9
_TEXTS = {  # the texts of DefaultRecordBatch and DefaultRecord in Kafka 4.3.1
    TOO_FEW: "Incorrect declared batch size, premature EOF reached",
    LEFTOVER: "Incorrect declared batch size, records still remaining in file",
    _OTHER_SIZE: (
        "Invalid record size: expected to read {found} bytes in record payload, but instead read "
        "{there}"
    ),
    _STRUCTURE: "Found invalid record structure",
    _HEADER_COUNT_NEGATIVE: "Found invalid number of record headers {found}",
    _HEADER_COUNT_TOO_LARGE: (
        "Found invalid number of record headers. {found} is larger than the remaining size of the "
        "buffer"
    ),
    _HEADER_KEY_NEGATIVE: "Invalid negative header key size {found}",
}
# Kafka's iterator finds this fault while it reads the last record, and does not return that record
LEFTOVER_TEXT = _TEXTS[LEFTOVER]
_KINDS = {
    TOO_FEW: FaultKind.END,
    _PAST_END: FaultKind.END,
    LEFTOVER: FaultKind.LEFTOVER,
    _LENGTH_TOO_LONG: FaultKind.ARGUMENT,
}


def _text(fault: int, is_compressed: bool, found_number: int, available: int) -> Message:
    if fault == _LENGTH_TOO_LONG:
        return verbatim(varint.too_long_text(found_number, varint.VARINT_BYTES))
    if fault == _PAST_END:
        rest = f"instead the buffer has only {available} remaining bytes."
        if is_compressed:
            rest = "the record payload reached EOF."
        return verbatim(
            f"Invalid record size: expected {found_number} bytes in record payload, but {rest}"
        )
    return verbatim(_TEXTS[fault].format(found=found_number, there=available))


@njit(cache=True, boundscheck=True)
def take_records(
    data: np.ndarray, position: int, end: int, is_compressed: bool, table: np.ndarray
) -> tuple[int, int, int, int]:
    """Reads records until the table is full or a record has a fault.

    Also called by compiled functions. Returns what `take_record` returns for the last record read.
    """
    for record in range(len(table)):
        fault, position, found_number, available = take_record(
            data, position, end, is_compressed, table[record]
        )
        if fault:
            return fault, position, found_number, available
    return 0, position, 0, 0


@njit(cache=True, boundscheck=True)
def take_record(
    data: np.ndarray, position: int, end: int, is_compressed: bool, row: np.record
) -> tuple[int, int, int, int]:
    """Reads the record at a position into a ROW; also called by compiled functions.

    Args:
        end: the position after the last record of the batch.
        row: the ROW to fill. `size_bytes` stays 0 if the record has a fault.

    Returns:
        (0, position after the record, 0, 0) for a good record. At a fault: (fault, its position,
        the number read there, the number available).
    """
    number, body = varint.scan(data, position, end, varint.VARINT_BYTES)
    if body == varint.TOO_LONG and not is_compressed:
        # numba gives Python an int
        return _LENGTH_TOO_LONG, position, np.int64(number), 0  # ty: ignore[invalid-explicit-return]
    size = varint.unfold32(number)
    # Java cannot make a buffer of negative size: such a size means that the data ends here
    if body < 0 or (is_compressed and size < 0):
        return TOO_FEW, position, 0, 0
    if size > end - body:
        return _PAST_END, position, size, end - body
    fault, record_end, found_number = _body(data, body, body + size if is_compressed else end, row)
    if fault:
        return fault, record_end, found_number, 0
    if record_end - body != size:
        return _OTHER_SIZE, position, size, record_end - body
    row.position = position
    row.size_bytes = record_end - position
    return 0, record_end, 0, 0


@njit(cache=True, boundscheck=True)
def _body(data: np.ndarray, start: int, end: int, row: np.record) -> tuple[int, int, int]:
    """Reads the fields of a record after its length.

    Returns:
        (0, position after the fields, 0). At a fault: (fault, its position, the number read there).
    """
    if start >= end:
        return _STRUCTURE, start, 0
    row.attributes = np.int8(data[start])
    timestamp, offset_at = varint.scan(data, start + 1, end, varint.VARLONG_BYTES)
    if offset_at < 0:
        return _STRUCTURE, start + 1, 0
    offset, key_at = varint.scan(data, offset_at, end, varint.VARINT_BYTES)
    if key_at < 0:
        return _STRUCTURE, offset_at, 0
    row.timestamp_delta_ms = varint.unfold64(timestamp)
    row.offset_delta = varint.unfold32(offset)
    row.key_size_bytes, row.key_position = _locate_part(data, key_at, end)
    if row.key_position < 0:
        return _STRUCTURE, key_at, 0
    value_at = row.key_position + max(row.key_size_bytes, 0)
    row.value_size_bytes, row.value_position = _locate_part(data, value_at, end)
    if row.value_position < 0:
        return _STRUCTURE, value_at, 0
    return _header_part(data, row.value_position + max(row.value_size_bytes, 0), end, row)


@njit(cache=True, boundscheck=True)
def _header_part(data: np.ndarray, start: int, end: int, row: np.record) -> tuple[int, int, int]:
    """Reads the header count and the headers. Returns (0, end, 0), or a fault as `_body` does."""
    number, position = varint.scan(data, start, end, varint.VARINT_BYTES)
    if position < 0:
        return _STRUCTURE, start, 0
    count = varint.unfold32(number)
    if count < 0:
        return _HEADER_COUNT_NEGATIVE, start, count
    if count > end - position:
        return _HEADER_COUNT_TOO_LARGE, start, count
    row.header_count = count
    row.headers_position = position
    for _ in range(count):
        fault, key, key_size, value, value_size = take_header(data, position, end)
        if fault:
            return fault, key, key_size
        position = value + max(value_size, 0)
    return 0, position, 0


@njit(cache=True, boundscheck=True)
def take_header(data: np.ndarray, position: int, end: int) -> tuple[int, int, int, int, int]:
    """Reads the header at a position; also called by compiled functions.

    Returns:
        (0, key position, key size, value position, value size); the size of null is negative. At a
        fault: (fault, its position, the number read there, 0, 0).
    """
    key_size, key = _locate_part(data, position, end)
    if key < 0:
        return _STRUCTURE, position, 0, 0, 0
    if key_size < 0:
        return _HEADER_KEY_NEGATIVE, position, key_size, 0, 0
    value_size, value = _locate_part(data, key + key_size, end)
    if value < 0:
        return _STRUCTURE, key + key_size, 0, 0, 0
    return 0, key, key_size, value, value_size


@njit(cache=True, boundscheck=True)
def _locate_part(data: np.ndarray, position: int, end: int) -> tuple[int, int]:
    """Returns the size of a key or value, and the position of its first byte.

    The size is negative for null. The position is negative if the data is too short.
    """
    number, start = varint.scan(data, position, end, varint.VARINT_BYTES)
    size = varint.unfold32(number)
    if start < 0 or size > end - start:
        return size, -1
    return size, start
