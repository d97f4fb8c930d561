"""CRC-32, the checksum of gzip, for compiled loops; from Python it is zlib.crc32."""

import numpy as np
from numba import njit

from kafkaviz.binary.words import load_64, to_int

POLYNOMIAL = 0xEDB88320  # reflected: the lowest bit is the highest power
_STEP_BYTES = 16
_LOW, _ALL_ONES = np.uint64(0xFF), np.uint64(0xFFFFFFFF)


def _position_tables() -> np.ndarray:
    """The sum of each byte, from 0, when 0 to 15 zero bytes follow it.

    Returns:
        An array of uint32, shape (16, 256).
    """
    sums = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        sums = sums >> 1 ^ np.where(sums & 1, np.uint32(POLYNOMIAL), np.uint32(0))
    tables = [sums]
    for _ in range(_STEP_BYTES - 1):
        tables.append(tables[-1] >> 8 ^ sums[tables[-1] & 0xFF])
    return np.stack(tables)


_TABLES = _position_tables()


@njit(cache=True)
def checksum_range(data: np.ndarray, start: int, end: int) -> int:
    """The CRC-32 of data[start:end], which are there."""
    crc = _ALL_ONES
    while end - start >= _STEP_BYTES:
        first, second = load_64(data, start) ^ crc, load_64(data, start + 8)
        mixed = np.uint32(0)
        for place in range(8):
            mixed ^= _TABLES[15 - place, first >> np.uint64(8 * place) & _LOW]
            mixed ^= _TABLES[7 - place, second >> np.uint64(8 * place) & _LOW]
        crc = np.uint64(mixed)
        start += _STEP_BYTES
    while start < end:
        crc = crc >> np.uint64(8) ^ np.uint64(_TABLES[0, (crc ^ np.uint64(data[start])) & _LOW])
        start += 1
    return to_int(crc ^ _ALL_ONES)
