"""The map of a cleaning: the latest offset of each key in the dirty part of a log.

As SkimpyOffsetMap of Kafka, which knows a key only by its MD5 hash. Here a key is known by 128 bits
of MurmurHash3, which is faster; both take 24 bytes per key. Two keys with the same hash would count
as one key.

Kafka's map has a fixed size and takes slots * load factor keys. This one grows up to that many.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit

BYTES_PER_KEY = 24  # 16 bytes of hash, 8 bytes of offset
EMPTY = -1
_FIRST_SLOTS = 1 << 12
# a map is rehashed when it is fuller than 3/4
_FULL_NUMERATOR = 3
_FULL_DENOMINATOR = 4

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_MIX1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX2 = np.uint64(0xC4CEB9FE1A85EC53)
_ADD1 = np.uint64(0x52DCE729)
_ADD2 = np.uint64(0x38495AB5)
_FIVE = np.uint64(5)
_BYTE = np.uint64(8)


class OffsetMap:
    """Maps the keys of records to offsets.

    Attributes:
        hashes: two uint64 per slot.
        offsets: the offset per slot; EMPTY for an unused slot.
        most_keys: the map is full at this many keys.
    """

    def __init__(self, most_keys: int) -> None:
        self.most_keys = most_keys
        self.size = 0
        self._allocate(_FIRST_SLOTS)

    def _allocate(self, slots: int) -> None:
        self.hashes = np.empty((slots, 2), np.uint64)
        self.offsets = np.full(slots, EMPTY, np.int64)

    def make_room(self, more_keys: int) -> None:
        """Grows the table so that it can take that many more keys, or until it can be full."""
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
        return int(find_offset(self.hashes, self.offsets, data, 0, len(data)))


@njit(cache=True)
def hash_key(data: np.ndarray, start: int, size: int) -> tuple[np.uint64, np.uint64]:
    """Returns 128 bits of hash of data[start : start + size] (MurmurHash3, x64, seed 0)."""
    high = np.uint64(0)
    low = np.uint64(0)
    position = start
    end = start + size
    while end - position >= 16:
        high ^= _scatter(_load(data, position, 8), _C1, 31, _C2)
        high = (_rotate(high, 27) + low) * _FIVE + _ADD1
        low ^= _scatter(_load(data, position + 8, 8), _C2, 33, _C1)
        low = (_rotate(low, 31) + high) * _FIVE + _ADD2
        position += 16
    rest = end - position
    if rest > 8:
        low ^= _scatter(_load(data, position + 8, rest - 8), _C2, 33, _C1)
    if rest > 0:
        high ^= _scatter(_load(data, position, min(rest, 8)), _C1, 31, _C2)
    high ^= np.uint64(size)
    low ^= np.uint64(size)
    high += low
    low += high
    high = _finish(high)
    low = _finish(low)
    high += low
    low += high
    return high, low


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
def _scatter(word: np.uint64, first: np.uint64, bits: int, second: np.uint64) -> np.uint64:
    return _rotate(word * first, bits) * second


@njit(cache=True)
def _finish(word: np.uint64) -> np.uint64:
    word ^= word >> np.uint64(33)
    word *= _MIX1
    word ^= word >> np.uint64(33)
    word *= _MIX2
    return word ^ (word >> np.uint64(33))


@njit(cache=True)
def find_slot(hashes: np.ndarray, offsets: np.ndarray, high: np.uint64, low: np.uint64) -> int:
    """Returns the slot of a hash, or the unused slot where it belongs."""
    mask = np.uint64(len(offsets) - 1)
    slot = high & mask
    while offsets[slot] != EMPTY and (hashes[slot, 0] != high or hashes[slot, 1] != low):
        slot = (slot + np.uint64(1)) & mask
    # numba returns this to Python as an int
    return np.int64(slot)  # ty: ignore[invalid-explicit-return]


@njit(cache=True)
def find_offset(
    hashes: np.ndarray, offsets: np.ndarray, data: np.ndarray, start: int, size: int
) -> int:
    """Returns the offset of the key data[start : start + size], or EMPTY."""
    high, low = hash_key(data, start, size)
    return offsets[find_slot(hashes, offsets, high, low)]


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
