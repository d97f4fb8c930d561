"""The bytes of two files compared, a megabyte at a time."""

from collections.abc import Iterator

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

CHUNK_BYTES = 1 << 20


def is_equal_file(a: FileInfo, b: FileInfo) -> bool:
    return a.size_bytes == b.size_bytes and common_prefix_bytes(a, b) == a.size_bytes


def common_prefix_bytes(a: FileInfo, b: FileInfo) -> int:
    size_bytes = min(a.size_bytes, b.size_bytes)
    with file.reader(a.path) as read_a, file.reader(b.path) as read_b:
        for position, places in differing_chunks(read_a, 0, read_b, 0, size_bytes=size_bytes):
            if len(places):
                return position + int(places[0])
    return size_bytes


def differing_chunks(
    read_a: ReadInto, start_a: int, read_b: ReadInto, start_b: int, *, size_bytes: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yields the bytes in which two ranges differ, chunk by chunk.

    Yields:
        The start of each chunk within the range, and the differing places in it, mostly none.
    """
    buffers = np.empty(CHUNK_BYTES, np.uint8), np.empty(CHUNK_BYTES, np.uint8)
    for position in range(0, size_bytes, CHUNK_BYTES):
        length = min(CHUNK_BYTES, size_bytes - position)
        count_a = read_a(start_a + position, buffers[0][:length])
        count_b = read_b(start_b + position, buffers[1][:length])
        count = min(count_a, count_b)
        places = np.flatnonzero(buffers[0][:count] != buffers[1][:count])
        if count < length:  # a file was truncated after its size was read
            places = np.append(places, np.arange(count, length))
        yield position, places
