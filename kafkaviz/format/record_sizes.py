"""Reads the sizes and deltas of a record quickly, for the deep scan.

record.take_record fills a whole row and names every fault, but a check needs only two sizes and two
deltas. This module reads both deltas at once from a 64-bit word. Damaged records, and records in
which a size takes more than three bytes, are left to take_record.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import load_8, load_32, load_64, to_int, trailing_zeros

SIZE_BITS = 32  # bits of a size, and of the sum of the sizes in a batch
NOTHING = np.uint64(0)
_LAST_BYTES = np.uint64(0x8080808080808080)  # the last byte of a varint has this bit clear
_LONGEST_DELTA_BITS = 5 * 8  # longest varint of an offset delta


@njit(cache=True)
def take_sizes(data: np.ndarray, position: int, end: int) -> tuple[int, int, np.uint64]:
    """Reads the record at a position; also called by compiled functions.

    Args:
        data: the bytes, with at least 16 more after `end`.
        end: the position after the last record of the batch.

    Returns:
        (position after the record, key size + (value size << SIZE_BITS), word for `sort_keys`).
        A null key or value has size 0. All three are 0 if take_record must read the record.
    """
    size, body = _small_size(data, position)
    record_end = body + size
    if size <= 0 or record_end > end:
        return 0, 0, NOTHING
    # after the attributes: timestamp delta, offset delta, size of the key
    word = load_64(data, body + 1)
    bits = ~word & _LAST_BYTES
    timestamp_end = trailing_zeros(bits) + 1
    bits &= bits - np.uint64(1)
    offset_end = trailing_zeros(bits) + 1
    bits &= bits - np.uint64(1)
    if bits == 0 or offset_end - timestamp_end > _LONGEST_DELTA_BITS:
        return 0, 0, NOTHING
    key_size, key = _small_size(data, body + 1 + (offset_end >> 3))
    key_size = max(key_size, 0)
    if key == 0 or key_size > record_end - key:
        return 0, 0, NOTHING
    value_size, value = _small_size(data, key + key_size)
    value_size = max(value_size, 0)
    if value == 0 or value_size > record_end - value:
        return 0, 0, NOTHING
    header_count, header_end = _small_size(data, value + value_size)
    if header_count < 0 or header_end == 0:
        return 0, 0, NOTHING
    for _ in range(2 * header_count):
        size, start = _small_size(data, header_end)
        if size < 0 or start == 0 or size > record_end - start:
            return 0, 0, NOTHING
        header_end = start + size
    if header_end != record_end:
        return 0, 0, NOTHING
    return record_end, key_size | value_size << SIZE_BITS, word


@njit(cache=True, inline="always")
def sort_keys(word: np.uint64) -> tuple[int, int]:
    """Returns (sort key of the timestamp delta, sort key of the offset delta).

    `word` is from `take_sizes`. A sort key is negative if the delta is negative. If two deltas are
    not negative, the larger delta has the larger sort key.
    """
    bits = ~word & _LAST_BYTES
    timestamp_end = trailing_zeros(bits) + 1
    timestamp_bytes = word & (bits ^ (bits - np.uint64(1)))
    bits &= bits - np.uint64(1)
    offset_bytes = (word & (bits ^ (bits - np.uint64(1)))) >> np.uint64(timestamp_end)
    return _sort_key(timestamp_bytes), _sort_key(offset_bytes)


@njit(cache=True, inline="always")
def _sort_key(varint_bytes: np.uint64) -> int:
    """Returns a number by which varints can be compared without decoding them.

    The number is negative if the varint is. For varints that are not negative, the numbers have the
    order of the varints. (Each varint must be as short as possible, as Kafka writes it.) The lowest
    byte of `varint_bytes` is the varint's first byte.
    """
    return to_int((varint_bytes >> np.uint64(1)) | (varint_bytes << np.uint64(63)))


@njit(cache=True)
def delta_of_key(key: int) -> int:
    """Returns the delta that has this sort key. The sort key must not be negative."""
    varint_bytes = np.uint64(key) << np.uint64(1)
    number = NOTHING
    for place in range(8):
        seven_bits = varint_bytes >> np.uint64(8 * place) & np.uint64(0x7F)
        number |= seven_bits << np.uint64(7 * place)
    return to_int(number >> np.uint64(1))


@njit(cache=True)
def _small_size(data: np.ndarray, position: int) -> tuple[int, int]:
    """Returns a varint and the next position; (0, 0) for a varint of more than three bytes."""
    first = load_8(data, position)
    if first < 128:
        return (first >> 1) ^ -(first & 1), position + 1
    word = load_32(data, position)
    number = word & 0x7F | word >> 1 & 0x3F80
    if word & 0x8000 == 0:
        return (number >> 1) ^ -(number & 1), position + 2
    if word & 0x800000 != 0:
        return 0, 0
    number |= word >> 2 & 0x1FC000
    return (number >> 1) ^ -(number & 1), position + 3
