"""Bytes in memory as read(position, buffer): a plain version of binary.file_view.reader."""

from collections.abc import Callable

import numpy as np


def reader(data: bytes) -> Callable[[int, np.ndarray], int]:
    """Returns read(position, buffer) over bytes in memory."""
    array = np.frombuffer(data, np.uint8)

    def read(position: int, buffer: np.ndarray) -> int:
        part = array[position : position + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    return read
