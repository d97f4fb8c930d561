"""What the compiled decompressors have in common: their answers, and copying what is already there.

Each is two functions:

    read(data, start, end, out, out_start, out_end) -> the byte behind what was written, or why not
    read_run(data, starts, ends, out, limit_bytes, out_ends) -> how many were read

read decompresses data[start:end] to out from out_start on. It answers FULL where the room up to
out_end does not do, and REFUSED where it leaves the data to binary/codec.py: what is damaged, of
which that says what is wrong, and what is valid and rare. So a decompressor need not word a fault,
and whatever it takes, codec.decompress takes for the same bytes. It may read SLACK_BYTES behind the
end and write as many behind out_end. read_run decompresses one range after another to the
beginning of out, until one does not fit or is refused, and fills out_ends.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import COPY_BYTES, copy_16, load_64, store_64

REFUSED, FULL = -1, -2
SLACK_BYTES = 64

# the least multiple of a distance that is 8 or more
_MULTIPLES = np.array([0, 8, 8, 9, 8, 10, 12, 14])


@njit(cache=True)
def copy_input(
    data: np.ndarray, start: int, size_bytes: int, out: np.ndarray, out_start: int
) -> None:
    """Copies bytes from one array to another, and up to 15 more."""
    place = 0
    while place < size_bytes:
        copy_16(out, out_start + place, data, start + place)
        place += COPY_BYTES


@njit(cache=True)
def copy_match(out: np.ndarray, out_start: int, distance: int, size_bytes: int) -> None:
    """Repeats what lies a distance back, as if byte by byte; up to 15 bytes more are written."""
    place, end = out_start, out_start + size_bytes
    if distance >= COPY_BYTES:
        copy_16(out, place, out, place - distance)
        place += COPY_BYTES
        while place < end:
            copy_16(out, place, out, place - distance)
            place += COPY_BYTES
        return
    if distance < 8:
        # what repeats every distance bytes also repeats every multiple of it
        for _ in range(8):
            out[place] = out[place - distance]
            place += 1
        distance = _MULTIPLES[distance]
    while place < end:
        store_64(out, place, load_64(out, place - distance))
        place += 8
