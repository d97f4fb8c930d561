"""Builds record batches of magic 2 in compiled loops.

The records of a batch are written after a gap of 61 bytes. `seal` later fills the gap with the
header: the fields of the batch's row, and the CRC-32C:

    |  gap, 61 B | record | record | record ||  gap, 61 B | record ...

The bytes equal those of format.record.build and format.batch.HEADER (DefaultRecord and
DefaultRecordBatch, 4.3.1).
"""

import numpy as np

from kafkaviz.binary.crc32c import checksum_range
from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END

MARKER_BYTES = 78  # size of a batch with a transaction marker
NULL = -1  # size of a null, written as the single byte 01

_SEVEN = np.uint64(7)
_LOW = np.uint64(127)
_MORE = np.uint64(128)
_TEN = np.uint64(10)
_ZERO = np.uint64(48)
_FIELD_STARTS = {name: field_start(HEADER, name) for name in field_names(HEADER)}
_LENGTH = _FIELD_STARTS["batch_length_bytes"]
_EPOCH = _FIELD_STARTS["leader_epoch"]
_MAGIC = _FIELD_STARTS["magic"]
_CRC = _FIELD_STARTS["crc"]
_ATTRIBUTES = _FIELD_STARTS["attributes"]
_LAST_DELTA = _FIELD_STARTS["last_offset_delta"]
_BASE_MS = _FIELD_STARTS["base_timestamp_ms"]
_MAX_MS = _FIELD_STARTS["max_timestamp_ms"]
_PRODUCER = _FIELD_STARTS["producer_id"]
_PRODUCER_EPOCH = _FIELD_STARTS["producer_epoch"]
_SEQUENCE = _FIELD_STARTS["base_sequence"]
_COUNT = _FIELD_STARTS["record_count"]


def seal(rows: np.ndarray, data: np.ndarray) -> None:
    """Writes the header of each batch into `data`, and its checksum also into `rows`.

    Args:
        rows: one row per batch: an array with the fields of BATCH, and possibly more.
        data: an array of uint8: the batches, each with a gap of 61 bytes for its header.

    Raises:
        IndexError: the rows' `size_bytes` exceed `data`, or one is smaller than a header.
    """
    if rows["size_bytes"].sum() > len(data) or (
        len(rows) and rows["size_bytes"].min() < HEADER_BYTES
    ):
        raise IndexError(f"{rows['size_bytes'].sum()} bytes of batches in {len(data)}")
    _seal(rows, data)


@njit(cache=True)
def _seal(rows: np.ndarray, data: np.ndarray) -> None:
    position = 0
    for place in range(len(rows)):
        seal_batch(data, position, rows[place])
        position += rows[place].size_bytes


@njit(cache=True)
def seal_batch(data: np.ndarray, position: int, row: np.record) -> None:
    """Writes the header and checksum of one batch, and the checksum into the row."""
    _put_header(data, position, row)
    row.crc = checksum_range(data, position + CRC_START, position + row.size_bytes, 0)
    put_int(data, position + _CRC, row.crc, 4)


@njit(cache=True)
def _put_header(data: np.ndarray, position: int, row: np.record) -> None:
    put_int(data, position, row.base_offset, 8)
    put_int(data, position + _LENGTH, row.size_bytes - LENGTH_END, 4)
    put_int(data, position + _EPOCH, row.leader_epoch, 4)
    put_int(data, position + _MAGIC, row.magic, 1)
    put_int(data, position + _ATTRIBUTES, row.attributes, 2)
    put_int(data, position + _LAST_DELTA, row.last_offset - row.base_offset, 4)
    put_int(data, position + _BASE_MS, row.base_timestamp_ms, 8)
    put_int(data, position + _MAX_MS, row.max_timestamp_ms, 8)
    put_int(data, position + _PRODUCER, row.producer_id, 8)
    put_int(data, position + _PRODUCER_EPOCH, row.producer_epoch, 2)
    put_int(data, position + _SEQUENCE, row.base_sequence, 4)
    put_int(data, position + _COUNT, row.record_count, 4)


@njit(cache=True)
def put_marker(data: np.ndarray, position: int, kind: int, coordinator_epoch: int) -> int:
    """Writes the record of a transaction marker (EndTransactionMarker); returns the next position.

    `position` is the first byte of the gap before the record.
    """
    # 16 bytes: five one-byte varints, attributes, 4 bytes of key, 6 of value
    position = put_varint(data, position + HEADER_BYTES, 16)
    for field in range(3):
        data[position + field] = 0  # attributes, both deltas
    position = put_varint(data, position + 3, 4)
    put_int(data, position, kind, 4)
    position = put_varint(data, position + 4, 6)
    put_int(data, position, 0, 2)
    put_int(data, position + 2, coordinator_epoch, 4)
    data[position + 6] = 0  # no headers
    return position + 7


@njit(cache=True)
def varint_bytes(number: int) -> int:
    if -64 <= number < 64:
        return 1
    zigzag = np.uint64((number << 1) ^ (number >> 63))
    count = 0
    while zigzag > np.uint64(0):
        zigzag >>= _SEVEN
        count += 1
    return count


@njit(cache=True)
def put_varint(data: np.ndarray, position: int, number: int) -> int:
    """Writes a signed number as a varint or varlong; returns the next position."""
    zigzag = np.uint64((number << 1) ^ (number >> 63))
    while zigzag > _LOW:
        data[position] = np.uint8((zigzag & _LOW) | _MORE)
        zigzag >>= _SEVEN
        position += 1
    data[position] = np.uint8(zigzag)
    return position + 1


@njit(cache=True)
def put_int(data: np.ndarray, position: int, number: int, count: int) -> None:
    """Writes a number as `count` bytes, the highest first."""
    for place in range(count):
        data[position + place] = np.uint8((number >> (8 * (count - 1 - place))) & 255)


@njit(cache=True)
def put_digits(data: np.ndarray, position: int, number: int, count: int) -> None:
    """Writes a non-negative number as `count` decimal digits, with leading zeros."""
    remainder = np.uint64(number)
    end = np.uint64(position + count)
    for place in range(1, count + 1):
        higher = remainder // _TEN
        data[end - np.uint64(place)] = np.uint8(_ZERO + (remainder - higher * _TEN))
        remainder = higher


@njit(cache=True)
def put_hex(data: np.ndarray, position: int, number: np.uint64, count: int) -> None:
    """Writes `count` hexadecimal digits, the lowest first; after 16 digits they repeat."""
    for place in range(count):
        digit = np.int64((number >> np.uint64(4 * (place % 16))) & np.uint64(15))
        data[position + place] = np.uint8(48 + digit if digit < 10 else 87 + digit)


@njit(cache=True)
def put_pieces(data: np.ndarray, position: int, count: int, pool: np.ndarray, start: int) -> None:
    """Writes `count` bytes of `pool` from `start` on, then from 0 on as often as needed."""
    while count > 0:
        piece = min(count, len(pool) - start)
        # unsigned, because numba checks the sign of a signed index for each byte
        target_position = np.uint64(position)
        source = np.uint64(start)
        for place in range(np.uint64(piece)):
            data[target_position + place] = pool[source + place]
        position = position + piece
        count = count - piece
        start = 0


@njit(cache=True)
def digits(number: int) -> int:
    count = 1
    limit = 10
    while number >= limit and count < 19:
        limit = limit * 10
        count = count + 1
    return count
