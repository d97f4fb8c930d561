"""xxHash64 with seed 0, of which zstd keeps the lower half as the checksum of a frame."""

import numpy as np
from numba import njit

from kafkaviz.binary.words import load_8, load_32, load_64

_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH = (
    np.uint64(0x9E3779B185EBCA87),
    np.uint64(0xC2B2AE3D27D4EB4F),
    np.uint64(0x165667B19E3779F9),
    np.uint64(0x85EBCA77C2B2AE63),
    np.uint64(0x27D4EB2F165667C5),
)
_STRIPE_BYTES = 32


@njit(cache=True)
def hash_range(data: np.ndarray, start: int, end: int) -> np.uint64:
    """The hash of data[start:end], which are there, for other compiled functions."""
    size_bytes = np.uint64(end - start)
    if end - start >= _STRIPE_BYTES:
        lane_1, lane_2, lane_3, lane_4 = (
            _FIRST + _SECOND,
            _SECOND,
            np.uint64(0),
            np.uint64(0) - _FIRST,
        )
        while end - start >= _STRIPE_BYTES:
            lane_1 = _round(lane_1, load_64(data, start))
            lane_2 = _round(lane_2, load_64(data, start + 8))
            lane_3 = _round(lane_3, load_64(data, start + 16))
            lane_4 = _round(lane_4, load_64(data, start + 24))
            start += _STRIPE_BYTES
        total = _rotate(lane_1, 1) + _rotate(lane_2, 7) + _rotate(lane_3, 12) + _rotate(lane_4, 18)
        for lane in (lane_1, lane_2, lane_3, lane_4):
            total = (total ^ _round(np.uint64(0), lane)) * _FIRST + _FOURTH
    else:
        total = _FIFTH
    total += size_bytes
    while end - start >= 8:
        total = _rotate(total ^ _round(np.uint64(0), load_64(data, start)), 27) * _FIRST + _FOURTH
        start += 8
    if end - start >= 4:
        total = _rotate(total ^ np.uint64(load_32(data, start)) * _FIRST, 23) * _SECOND + _THIRD
        start += 4
    while start < end:
        total = _rotate(total ^ np.uint64(load_8(data, start)) * _FIFTH, 11) * _FIRST
        start += 1
    total = (total ^ total >> np.uint64(33)) * _SECOND
    total = (total ^ total >> np.uint64(29)) * _THIRD
    return total ^ total >> np.uint64(32)


@njit(cache=True)
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _rotate(lane + word * _SECOND, 31) * _FIRST


@njit(cache=True)
def _rotate(number: np.uint64, bits: int) -> np.uint64:
    """The 64 bits of a number, rotated to the left."""
    return number << np.uint64(bits) | number >> np.uint64(64 - bits)
