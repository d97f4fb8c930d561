"""The map of a cleaning: the latest offset of each key in the dirty part of a log.

Follows Kafka's SkimpyOffsetMap, which stores the MD5 hash of a key. This map stores 128 bits of
SipHash-1-3, which is faster; both take 24 bytes per key. Random seeds prevent clients from choosing
keys that collide.

Kafka's map has a fixed size, and holds slots * load factor keys. This map holds the same number of
keys, but starts small and grows.
"""

import os

import numpy as np

from kafkaviz.binary.lazy_njit import njit

BYTES_PER_KEY = 24  # 16 bytes of hash, 8 bytes of offset
EMPTY = -1
_FIRST_SLOTS = 1 << 12
# a map is rehashed when it is fuller than 3/4
_FULL_NUMERATOR = 3
_FULL_DENOMINATOR = 4

_SEEDS = os.urandom(16)
# the start values of SipHash
_START0 = np.uint64(0x736F6D6570736575)
_START1 = np.uint64(0x646F72616E646F6D)
_START2 = np.uint64(0x6C7967656E657261)
_START3 = np.uint64(0x7465646279746573)
# the marks of its variant with 128 bits
_MARK1 = np.uint64(0xEE)
_MARK2 = np.uint64(0xDD)
_SIZE_SHIFT = np.uint64(56)
_BYTE = np.uint64(8)


class OffsetMap:
    """Maps the keys of records to offsets."""

    def __init__(self, most_keys: int, seeds: bytes = _SEEDS) -> None:
        self.most_keys = most_keys  # the map is full at this many keys
        self.seeds = np.frombuffer(seeds, np.uint64)  # two uint64 that all hashes depend on
        self.size = 0
        self._allocate(_FIRST_SLOTS)

    def _allocate(self, slots: int) -> None:
        self.hashes = np.empty((slots, 2), np.uint64)  # two uint64 per slot
        self.offsets = np.full(slots, EMPTY, np.int64)  # EMPTY for an unused slot

    def make_room(self, more_keys: int) -> None:
        """Grows the table for `more_keys` additional keys, but not beyond `most_keys`."""
        needed = min(self.size + more_keys, self.most_keys)
        slots = len(self.offsets)
        while slots * _FULL_NUMERATOR < needed * _FULL_DENOMINATOR:
            slots *= 2
        if slots == len(self.offsets):
            return
        old_hashes = self.hashes
        old_offsets = self.offsets
        self._allocate(slots)
        _rehash(old_hashes, old_offsets, self.hashes, self.offsets)

    def clear(self) -> None:
        self.offsets[:] = EMPTY
        self.size = 0

    def get(self, key: bytes) -> int:
        """Returns the offset of a key, or EMPTY if it is not in the map."""
        data = np.frombuffer(key, np.uint8)
        data.flags.writeable = False
        high, low = hash_key(data, 0, len(data), self.seeds)
        # numba returned them to Python as int
        slot = find_slot(self.hashes, self.offsets, np.uint64(high), np.uint64(low))
        return int(self.offsets[slot])


@njit(cache=True)
def hash_key(
    data: np.ndarray, start: int, size: int, seeds: np.ndarray
) -> tuple[np.uint64, np.uint64]:
    """Returns 128 bits of SipHash-1-3 of data[start : start + size], as two numbers."""
    v0 = seeds[0] ^ _START0
    v1 = seeds[1] ^ _START1 ^ _MARK1
    v2 = seeds[0] ^ _START2
    v3 = seeds[1] ^ _START3
    position = start
    end = start + size
    while end - position >= 8:
        word = _load(data, position, 8)
        v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ word)
        v0 ^= word
        position += 8
    word = _load(data, position, end - position) | np.uint64(size) << _SIZE_SHIFT
    v0, v1, v2, v3 = _round(v0, v1, v2, v3 ^ word)
    v0 ^= word
    v2 ^= _MARK1
    for _ in range(3):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    high = v0 ^ v1 ^ v2 ^ v3
    v1 ^= _MARK2
    for _ in range(3):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return high, v0 ^ v1 ^ v2 ^ v3


@njit(cache=True)
def _load(data: np.ndarray, position: int, count: int) -> np.uint64:
    word = np.uint64(0)
    for place in range(count):
        word |= np.uint64(data[position + place]) << (_BYTE * np.uint64(place))
    return word


@njit(cache=True)
def _rotate(word: np.uint64, bits: int) -> np.uint64:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@njit(cache=True)
def _round(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    v0 += v1
    v1 = _rotate(v1, 13) ^ v0
    v0 = _rotate(v0, 32)
    v2 += v3
    v3 = _rotate(v3, 16) ^ v2
    v0 += v3
    v3 = _rotate(v3, 21) ^ v0
    v2 += v1
    v1 = _rotate(v1, 17) ^ v2
    v2 = _rotate(v2, 32)
    return v0, v1, v2, v3


@njit(cache=True)
def find_slot(hashes: np.ndarray, offsets: np.ndarray, high: np.uint64, low: np.uint64) -> int:
    """Returns the slot of a hash, or the unused slot for it."""
    mask = np.uint64(len(offsets) - 1)
    slot = high & mask
    while offsets[slot] != EMPTY and (hashes[slot, 0] != high or hashes[slot, 1] != low):
        slot = (slot + np.uint64(1)) & mask
    # numba returns this to Python as an int
    return np.int64(slot)  # ty: ignore[invalid-explicit-return]


@njit(cache=True)
def _rehash(
    old_hashes: np.ndarray, old_offsets: np.ndarray, hashes: np.ndarray, offsets: np.ndarray
) -> None:
    for old_slot in range(len(old_offsets)):
        if old_offsets[old_slot] != EMPTY:
            high = old_hashes[old_slot, 0]
            low = old_hashes[old_slot, 1]
            slot = find_slot(hashes, offsets, high, low)
            hashes[slot, 0] = high
            hashes[slot, 1] = low
            offsets[slot] = old_offsets[old_slot]
