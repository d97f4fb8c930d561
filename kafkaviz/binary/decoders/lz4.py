"""Compiled lz4 decompressor for frames that Kafka's Lz4BlockOutputStream writes.

A block is a list of sequences. Each sequence is a token, literals (bytes to copy from the input)
and a match (bytes to copy from the output written so far). The token's upper 4 bits count the
literals; its lower 4 bits are the length of the match minus 4. The value 15 means that more bytes
follow and are added, up to and including the first byte below 255. The last sequence has literals
only.
"""

import numpy as np

from kafkaviz.binary.decoders.runs import FULL, REFUSED, SLACK_BYTES, copy_input, copy_match
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import load_8, load_16, load_32, to_int

_MAGIC = 0x184D2204
_LOW_32 = np.uint64(0xFFFFFFFF)
_STORED = 1 << 31
_SIZE_BITS = (1 << 31) - 1
_CONTENT_CHECK = 0b100
_CONTENT_SIZE = 0b1000
# The format's rules for the end of a block: the last 5 bytes are literals and no match starts in
# the last 12, so a decompressor may copy more than it needs. The C library refuses other blocks.
_LAST_LITERALS = 5
_MATCH_LIMIT = 12


@njit(cache=True)
def read(
    data: np.ndarray, start: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> int:
    """Decompresses one frame and checks its header checksum. runs.py describes the result."""
    if end - start < 7 or end + SLACK_BYTES > len(data) or load_32(data, start) != _MAGIC:
        return REFUSED
    flags = load_8(data, start + 4)
    sizes = load_8(data, start + 5)
    if flags & ~(_CONTENT_CHECK | _CONTENT_SIZE) != 0b1100000 or not (
        sizes & 0b10001111 == 0 and sizes >> 4 >= 4
    ):
        return REFUSED  # not version 1, dependent blocks, block checksums or a reserved bit
    descriptor_bytes = 10 if flags & _CONTENT_SIZE else 2
    position = start + 4 + descriptor_bytes
    if position >= end or load_8(data, position) != _header_check(
        data, start + 4, descriptor_bytes
    ):
        return REFUSED
    position = position + 1
    block_bytes = 1 << 8 + 2 * (sizes >> 4)
    while True:
        if position + 4 > end:
            return REFUSED
        field = load_32(data, position)
        position = position + 4
        size_bytes = field & _SIZE_BITS
        if field == 0:
            break
        if size_bytes == 0 or size_bytes > min(block_bytes, end - position):
            return REFUSED
        if field & _STORED:
            if size_bytes > out_end - out_start:
                return FULL
            copy_input(data, position, size_bytes, out, out_start)
            out_start += size_bytes
        else:
            out_start = _block(
                data, position, position + size_bytes, out, out_start, out_end, block_bytes
            )
            if out_start < 0:
                return out_start
        position += size_bytes
    if flags & _CONTENT_CHECK and position + 4 > end:
        return REFUSED
    return out_start


@njit(cache=True)
def _block(
    data: np.ndarray,
    position: int,
    end: int,
    out: np.ndarray,
    out_start: int,
    out_end: int,
    block_bytes: int,
) -> int:
    place = out_start
    block_end = out_start + block_bytes
    # past this byte the output is too small, or the block is too large
    bound = min(out_end, block_end)
    short = FULL if out_end < block_end else REFUSED
    while position < end:
        token = load_8(data, position)
        position += 1
        size = token >> 4
        if size == 15:
            more = 255
            while more == 255:
                if position >= end:
                    return REFUSED
                more = load_8(data, position)
                size = size + more
                position = position + 1
        if size > end - position:
            return REFUSED
        if size > bound - place:
            return short
        copy_input(data, position, size, out, place)
        position = position + size
        place = place + size
        if position == end:
            return place
        if end - position < 3 + _LAST_LITERALS or place > block_end - _MATCH_LIMIT:
            return REFUSED
        distance = load_16(data, position)
        position = position + 2
        size = (token & 15) + 4
        if size == 19:
            more = 255
            while more == 255:
                if position >= end:
                    return REFUSED
                more = load_8(data, position)
                size = size + more
                position = position + 1
        if distance == 0 or distance > place - out_start:
            return REFUSED
        if size > bound - place:
            return short
        if size > block_end - _LAST_LITERALS - place:
            return REFUSED
        copy_match(out, place, distance, size)
        place += size
    return REFUSED


@njit(cache=True)
def _header_check(data: np.ndarray, start: int, size_bytes: int) -> int:
    """Returns the checksum of a frame header of up to 15 bytes: the second byte of xxHash32."""
    sum32 = np.uint64(0x165667B1 + size_bytes)
    position = start
    end = start + size_bytes
    while end - position >= 4:
        sum32 += np.uint64(load_32(data, position)) * np.uint64(0xC2B2AE3D)
        sum32 = _rotate_left(sum32, 17) * np.uint64(0x27D4EB2F)
        position += 4
    while position < end:
        sum32 += np.uint64(load_8(data, position)) * np.uint64(0x165667B1)
        sum32 = _rotate_left(sum32, 11) * np.uint64(0x9E3779B1)
        position += 1
    for shift, prime in ((15, 0x85EBCA77), (13, 0xC2B2AE3D), (16, 1)):
        sum32 &= _LOW_32
        sum32 = (sum32 ^ sum32 >> np.uint64(shift)) * np.uint64(prime)
    return to_int(sum32 >> np.uint64(8) & np.uint64(0xFF))


@njit(cache=True)
def _rotate_left(number: np.uint64, bits: int) -> np.uint64:
    number &= _LOW_32
    return (number << np.uint64(bits) | number >> np.uint64(32 - bits)) & _LOW_32


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
