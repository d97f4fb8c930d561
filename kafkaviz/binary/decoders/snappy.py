"""Compiled snappy decompressor for a xerial stream of blocks or a bare block.

A block (google/snappy) begins with the size of its data as a varint. Elements follow; the low two
bits of an element's first byte give its type:

    0  literal bytes to copy; the upper 6 bits, or the next bytes, hold their count minus 1
    1  copy of 4 to 11 bytes, with a distance of 11 bits
    2  copy of 1 to 64 bytes, with a distance of 16 bits
    3  the same with a distance of 32 bits
"""

import numpy as np

from kafkaviz.binary.decoders.runs import FULL, REFUSED, SLACK_BYTES, copy_input, copy_match
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import first_word, load_8, load_32, load_64, to_int

_MAGIC = first_word(b"\x82SNAPPY\x00")
# for each first byte of a copy element, three values in one number: bits 0 to 11 are the size of
# the copy, bits 12 to 15 the upper bits of the distance, the others its number of further bytes
_COPIES = np.array(
    [
        4 + (tag >> 2 & 7) | tag >> 5 << 12 | 1 << 16
        if tag & 3 == 1
        else 1 + (tag >> 2) | (2 if tag & 3 == 2 else 4) << 16
        for tag in range(256)
    ]
)
_HEADER_BYTES = 16  # magic, version, the oldest version that can read it


@njit(cache=True)
def read(
    data: np.ndarray, start: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> int:
    """Decompresses a xerial stream, or a block without header. runs.py describes the result."""
    if end + SLACK_BYTES > len(data):
        return REFUSED
    if end - start < _HEADER_BYTES or load_64(data, start) != _MAGIC:
        return _block(data, start, end, out, out_start, out_end)
    position = start + _HEADER_BYTES
    while position + 4 <= end:
        size_bytes = 0
        for place in range(4):
            size_bytes = size_bytes << 8 | load_8(data, position + place)
        position += 4
        if size_bytes > end - position:  # or negative, or the header of another stream
            return REFUSED
        out_start = _block(data, position, position + size_bytes, out, out_start, out_end)
        if out_start < 0:
            return out_start
        position += size_bytes
    return out_start


@njit(cache=True)
def _block(
    data: np.ndarray, start: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> int:
    position = start
    size_bytes = 0
    byte = 128
    while byte >= 128:
        if position >= min(end, start + 5):
            return REFUSED
        byte = load_8(data, position)
        size_bytes |= (byte & 127) << 7 * (position - start)
        position += 1
    if size_bytes > out_end - out_start:
        return FULL
    place = out_start
    out_end = out_start + size_bytes
    while position < end:
        tag = load_8(data, position)
        position += 1
        if tag & 3 == 0:
            size = (tag >> 2) + 1
            if size > 60:
                field_bytes = size - 60
                if field_bytes > end - position:
                    return REFUSED
                size = 1 + (load_32(data, position) & (1 << 8 * field_bytes) - 1)
                position += field_bytes
            if size > end - position or size > out_end - place:
                return REFUSED
            copy_input(data, position, size, out, place)
            position = position + size
            place = place + size
            continue
        entry = to_int(_COPIES[tag])
        size = entry & 127
        field_bytes = entry >> 16
        if field_bytes > end - position:
            return REFUSED
        field = load_32(data, position) & (1 << 8 * field_bytes) - 1
        distance = (entry & 0x700 << 4) >> 4 | field
        if distance == 0 or distance > place - out_start or size > out_end - place:
            return REFUSED
        copy_match(out, place, distance, size)
        position = position + field_bytes
        place = place + size
    return place if place == out_end else REFUSED


@njit(cache=True, nogil=True)
def read_run(
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    out: np.ndarray,
    limit_bytes: int,
    out_ends: np.ndarray,
) -> int:
    place = to_int(0)  # numba would compile everything again for the type of a literal 0
    for index in range(len(starts)):
        room = min(len(out) - SLACK_BYTES, place + limit_bytes)
        place = read(data, starts[index], ends[index], out, place, room)
        if place < 0:
            return index
        out_ends[index] = place
    return len(starts)
