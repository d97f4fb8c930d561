"""Messages of magic 0 and 1 (.log), from before Kafka 0.11: single, or in a compressed wrapper.

Follows LegacyRecord and AbstractLegacyRecordBatch of Kafka 4.3.1. The message (k1, v1) of magic 1
at offset 7 with timestamp 5:

    offset           | size     | CRC-32   | magic | attributes | timestamp        | key, value
    0000000000000007 | 0000001a | 2472569a | 01    | 00         | 0000000000000005 |
                                                          00000002 6b31 | 00000002 7631

- Magic 0 has no timestamp.
- A size of -1 means that the key or value is null.
- A wrapper is a message that names a codec. Its value is a compressed sequence of messages. A
  wrapper has the offset of its last message.
- Messages in a wrapper have real offsets in magic 0, and relative offsets in magic 1. In a wrapper
  at offset 12, the relative offsets 0, 1, 2 mean 10, 11, 12.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.layouts import field_start
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.format.batch import (
    CODEC_MASK,
    LEGACY_HEADER,
    LENGTH_END,
    LOG_APPEND_TIME,
    MIN_LENGTH,
    read_int32,
)
from kafkaviz.format.record import byte_array
from kafkaviz.messages import message, verbatim

# one message, in the machine's byte order; positions are bytes of Messages.data
ROW: np.dtype = np.dtype(
    [
        ("position", "i4"),
        ("size_bytes", "i4"),  # including the offset and size fields
        ("offset", "i8"),
        ("crc", "u4"),
        # an inner message may differ from its wrapper: old writers mixed magics (KAFKA-4298)
        ("magic", "i1"),
        ("attributes", "i1"),
        ("timestamp_type", "i1"),  # index into TIMESTAMP_TYPES
        ("timestamp_ms", "i8"),  # -1 if there is none
        ("key_position", "i4"),
        ("key_size_bytes", "i4"),  # negative for null; Kafka writes -1
        ("value_position", "i4"),
        ("value_size_bytes", "i4"),  # negative for null; Kafka writes -1
    ]
)
TIMESTAMP_TYPES = ("NoTimestampType", "CreateTime", "LogAppendTime")
NO_TIMESTAMP, CREATE_TIME, APPEND_TIME = range(3)
LIMIT_BYTES = codec.LIMIT_BYTES
SIZE_BYTES = 4  # of the size before a key or value

_SIZE_AT = field_start(LEGACY_HEADER, "message_size_bytes")
_CRC_AT = field_start(LEGACY_HEADER, "crc")
_MAGIC_AT = field_start(LEGACY_HEADER, "magic")
_ATTRIBUTES_AT = field_start(LEGACY_HEADER, "attributes")
_TIMESTAMP_AT = field_start(LEGACY_HEADER, "timestamp_ms")
_KEY_SIZE_AT = _TIMESTAMP_AT, LEGACY_HEADER.itemsize  # in magic 0, in any other magic


@dataclass(frozen=True)
class Messages:
    """The content of a batch of magic 0 or 1: a single message, or the messages of a wrapper.

    Attributes:
        data: the bytes of the messages: the batch itself, or the decompressed value of the wrapper.
        rows: an array of ROW, one per readable message, with real offsets and timestamps.
        fault: the error that Kafka raises after these messages, or None. Its position is a byte of
            the batch.
    """

    data: bytes | memoryview
    rows: np.ndarray
    fault: CorruptBytes | None = None


def read(
    batch: bytes | memoryview, limit_bytes: int = LIMIT_BYTES, *, reads_parts: bool = True
) -> Messages:
    """Reads the messages of a complete batch. Never raises, but sets `Messages.fault`.

    `reads_parts`: whether keys and values must fit into their message. Kafka's iterator does not
    check this.
    """
    buffer = byte_array(batch)
    rows = np.zeros(1, ROW)
    if not _count(buffer)[0]:
        error = CorruptBytes(0, message("corrupt.no_whole_message", size=len(buffer)))
        return Messages(batch, rows[:0], error)
    _, *fault_values = _fill(buffer, rows)
    fault = _corrupt(*fault_values)
    if int(rows["attributes"][0]) & CODEC_MASK:
        return _unwrap(batch, rows[0], fault, limit_bytes, reads_parts=reads_parts)
    if fault and reads_parts:
        return Messages(batch, rows[:0], fault)
    return Messages(batch, rows)


def are_crcs_valid(messages: Messages) -> np.ndarray:
    """Returns, per message, whether the CRC-32 of its bytes from the magic on is right."""
    data = memoryview(messages.data)
    rows = messages.rows
    starts = rows["position"] + _MAGIC_AT
    ends = rows["position"] + rows["size_bytes"]
    ranges = zip(starts.tolist(), ends.tolist(), strict=True)
    crcs = [zlib.crc32(data[start:end]) for start, end in ranges]
    return rows["crc"] == np.array(crcs, np.uint32)


# ---- wrappers


def _unwrap(
    batch: bytes | memoryview,
    wrapper: np.void,
    fault: CorruptBytes | None,
    limit_bytes: int,
    *,
    reads_parts: bool,
) -> Messages:
    """Reads the messages in a wrapper. If the wrapper is damaged, sets `Messages.fault`."""
    position = int(wrapper["value_position"])
    try:
        data = _decompress(batch, wrapper, fault, limit_bytes)
    except CorruptBytes as error:
        return Messages(b"", np.empty(0, ROW), error)
    try:
        rows, inner_fault = _read_inner(data, wrapper, reads_parts=reads_parts)
    except CorruptBytes as error:
        return Messages(data, np.empty(0, ROW), _wrap_fault(error, position))
    return Messages(data, rows, inner_fault and _wrap_fault(inner_fault, position))


def _decompress(
    batch: bytes | memoryview, wrapper: np.void, fault: CorruptBytes | None, limit_bytes: int
) -> bytes:
    magic = int(wrapper["magic"])
    try:
        name = codec.name(int(wrapper["attributes"]) & CODEC_MASK)
    except CorruptBytes as error:
        raise error.after(_ATTRIBUTES_AT) from None
    if magic not in (0, 1):
        words = f"Invalid wrapper magic found in legacy deep record iterator {magic}"
        raise CorruptBytes(_MAGIC_AT, verbatim(words))
    if name == "zstd":
        words = f"Invalid wrapper compressionType found in legacy deep record iterator {magic}"
        raise CorruptBytes(_ATTRIBUTES_AT, verbatim(words))
    position = int(wrapper["value_position"])
    size_bytes = int(wrapper["value_size_bytes"])
    if fault:  # a key that reaches past the end leaves no value; the key itself is never read
        raise fault if position else _out_of_bounds(fault.position)
    if size_bytes < 0:
        words = f"Found invalid compressed record set with null value (magic = {magic})"
        raise CorruptBytes(position - SIZE_BYTES, verbatim(words))
    value = memoryview(batch)[position : position + size_bytes]
    try:
        return codec.decompress(name, value, limit_bytes, lz4_header_checked=magic == 1)
    except CorruptBytes as error:
        raise error.after(position) from None


def _wrap_fault(fault: CorruptBytes, position: int) -> CorruptBytes:
    what = message("corrupt.in_decompressed_messages", position=fault.position, problem=fault.what)
    return CorruptBytes(position, what, fault.kind)


def _read_inner(
    data: bytes, wrapper: np.void, *, reads_parts: bool
) -> tuple[np.ndarray, CorruptBytes | None]:
    """Returns the messages of a wrapper, and the error that Kafka raises after them, or None.

    Raises CorruptBytes if no message can be read.
    """
    buffer = byte_array(data)
    count, bad_position = _count(buffer)
    if bad_position >= 0:
        words = f"Record size is less than the minimum record overhead ({MIN_LENGTH})"
        raise CorruptBytes(bad_position + _SIZE_AT, verbatim(words), FaultKind.SIZE)
    if not count:
        raise CorruptBytes(0, verbatim("Found invalid compressed record set with no inner records"))
    rows = np.zeros(count, ROW)
    readable_count, *fault_values = _fill(buffer, rows)
    fault = _corrupt(*fault_values)
    if not reads_parts:
        readable_count = count
        fault = None
    _resolve(rows, wrapper)
    nested_rows = np.flatnonzero(rows["attributes"][: readable_count + 1] & CODEC_MASK)
    if len(nested_rows):  # Kafka checks the codec of an inner message before its key
        row = rows[nested_rows[0]]
        position = int(row["position"]) + _ATTRIBUTES_AT
        fault = CorruptBytes(position, verbatim("Inner messages must not be compressed"))
        try:
            codec.name(int(row["attributes"]) & CODEC_MASK)
        except CorruptBytes as error:
            fault = error.after(position)
        return rows[: nested_rows[0]], fault
    return rows[:readable_count], fault


def _resolve(rows: np.ndarray, wrapper: np.void) -> None:
    """Gives inner messages their real offsets and timestamps, in place.

    Raises CorruptBytes if the wrapper's offset is below the last inner offset.
    """
    # some versions of librdkafka wrote wrapper offset 0 and real inner offsets
    if wrapper["magic"] == 1 and wrapper["offset"] != 0:
        last = rows["offset"][-1]
        if wrapper["offset"] < last:
            words = (
                "Found invalid wrapper offset in compressed v1 message set, wrapper offset "
                f"'{wrapper['offset']}' is less than the last inner message offset '{last}' and it "
                "is not zero."
            )
            raise CorruptBytes(int(rows["position"][-1]), verbatim(words))
        rows["offset"] += np.array(wrapper["offset"]).reshape(1) - rows["offset"][-1:]
    has_time = rows["magic"] == 1
    rows["timestamp_type"][has_time] = wrapper["timestamp_type"]
    if wrapper["timestamp_type"] == APPEND_TIME:
        rows["timestamp_ms"][has_time] = wrapper["timestamp_ms"]


# ---- the compiled reader

_OUT_OF_BOUNDS = 1
_TOO_LONG = 2


def _corrupt(
    fault: int, position: int, found_size: int, available_size: int
) -> CorruptBytes | None:
    """Returns the error that Java raises for the fault of a key or value; None if `fault` is 0."""
    if fault == 0:
        return None
    if fault == _OUT_OF_BOUNDS:
        return _out_of_bounds(position)
    words = f"newLimit > capacity: ({found_size} > {available_size})"
    return CorruptBytes(position, verbatim(words), FaultKind.ARGUMENT)


def _out_of_bounds(position: int) -> CorruptBytes:
    return CorruptBytes(position, verbatim("IndexOutOfBoundsException"), FaultKind.BOUNDS)


@njit(cache=True, boundscheck=True)
def _count(data: np.ndarray) -> tuple[int, int]:
    """Returns the number of complete messages, and the first invalid size's position or -1."""
    position = 0
    end = len(data)
    count = 0
    while end - position >= LENGTH_END:
        size = read_int32(data, position + _SIZE_AT)
        if size < MIN_LENGTH:
            return count, position
        if size > end - position - LENGTH_END:
            break
        position += LENGTH_END + size
        count += 1
    return count, -1


@njit(cache=True, boundscheck=True)
def _fill(data: np.ndarray, table: np.ndarray) -> tuple[int, int, int, int, int]:
    """Fills one row per complete message, and reports the first fault.

    Returns:
        (number of messages before the fault, fault or 0, position of the fault, the size that was
        read there, the size available).
    """
    position = 0
    for place in range(len(table)):
        row = table[place]
        end = position + LENGTH_END + read_int32(data, position + _SIZE_AT)
        row.position = position
        row.size_bytes = end - position
        row.offset = _int64(data, position)
        row.crc = np.uint32(read_int32(data, position + _CRC_AT) & 0xFFFFFFFF)
        row.magic = np.int8(data[position + _MAGIC_AT])
        row.attributes = np.int8(data[position + _ATTRIBUTES_AT])
        position = end
    readable_count = len(table)
    fault = 0
    fault_position = 0
    found_size = 0
    available_size = 0
    for place in range(len(table)):
        row = table[place]
        code, code_position, size, available = _body(data, row)
        if code and not fault:
            readable_count = place
            fault = code
            fault_position = code_position
            found_size = size
            available_size = available
    return readable_count, fault, fault_position, found_size, available_size


@njit(cache=True, boundscheck=True)
def _body(data: np.ndarray, row: np.record) -> tuple[int, int, int, int]:
    """Fills `row` with a message's timestamp, and the positions and sizes of the key and the value.

    Any magic except 0 has the layout of magic 1.

    Returns:
        (0, end of the message, 0, 0). At a fault: (fault, position of the fault, the size that was
        read there, the size available).
    """
    end = row.position + row.size_bytes
    row.timestamp_type = NO_TIMESTAMP
    row.timestamp_ms = -1
    position = row.position + _KEY_SIZE_AT[0]
    if row.magic != 0:
        row.timestamp_type = APPEND_TIME if row.attributes & LOG_APPEND_TIME else CREATE_TIME
        row.timestamp_ms = _int64(data, position)
        position = row.position + _KEY_SIZE_AT[1]
    if end - position < 4:
        return _OUT_OF_BOUNDS, position, 0, 0
    row.key_position = position + 4
    row.key_size_bytes = read_int32(data, position)
    value_at = row.key_position + max(row.key_size_bytes, 0)
    if end - value_at >= 4:
        row.value_position = value_at + 4
        row.value_size_bytes = read_int32(data, value_at)
    if row.key_size_bytes > end - row.key_position:
        return _TOO_LONG, position, row.key_size_bytes, end - row.key_position
    if end - value_at < 4:
        return _OUT_OF_BOUNDS, value_at, 0, 0
    if row.value_size_bytes > end - row.value_position:
        return _TOO_LONG, value_at, row.value_size_bytes, end - row.value_position
    return 0, end, 0, 0


@njit(cache=True, boundscheck=True)
def _int64(data: np.ndarray, position: int) -> int:
    return (read_int32(data, position) << 32) | (read_int32(data, position + 4) & 0xFFFFFFFF)
