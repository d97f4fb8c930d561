"""The contract of the compiled decompressors, and the copy functions they share.

Each decompressor is two functions:

    read(data, start, end, out, out_start, out_end) -> end of the output, REFUSED or FULL
    read_run(data, starts, ends, out, limit_bytes, out_ends) -> number of ranges that were read

read decompresses data[start:end] into `out` from out_start on:

- FULL: the output does not fit before out_end.
- REFUSED: the data is damaged, or valid but rare. Then binary/codec.py decompresses it.
- Whatever read accepts, codec.decompress decompresses to the same bytes.
- It may read SLACK_BYTES after the end and write as many after out_end.

read_run decompresses one range after another into `out`, starting at its first byte, and fills
out_ends. It stops at the first range that does not fit or is refused.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import COPY_BYTES, copy_16, load_64, store_64

REFUSED = -1
FULL = -2
SLACK_BYTES = 64

# for each distance below 8, its smallest multiple that is at least 8
_MULTIPLES = np.array([0, 8, 8, 9, 8, 10, 12, 14])


@njit(cache=True)
def copy_input(
    data: np.ndarray, start: int, size_bytes: int, out: np.ndarray, out_start: int
) -> None:
    """Copies bytes from one array to another. May write up to 15 bytes too many."""
    place = 0
    while place < size_bytes:
        copy_16(out, out_start + place, data, start + place)
        place += COPY_BYTES


@njit(cache=True)
def copy_match(out: np.ndarray, out_start: int, distance: int, size_bytes: int) -> None:
    """Copies earlier output, from `distance` bytes back, as if byte by byte.

    May write up to 15 bytes too many.
    """
    place = out_start
    end = out_start + size_bytes
    if distance >= COPY_BYTES:
        copy_16(out, place, out, place - distance)
        place += COPY_BYTES
        while place < end:
            copy_16(out, place, out, place - distance)
            place += COPY_BYTES
        return
    if distance < 8:
        # a pattern that repeats every `distance` bytes also repeats at each multiple of it
        for _ in range(8):
            out[place] = out[place - distance]
            place += 1
        distance = _MULTIPLES[distance]
    while place < end:
        store_64(out, place, load_64(out, place - distance))
        place += 8
