"""Classifies the bytes after the last complete batch of a log: zeros, a torn batch, or garbage."""

import numpy as np

from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END, MAGIC_END

ZEROS = "zeros"
TORN = "torn"
GARBAGE = "garbage"
KNOWN_MAGIC = (0, 1, 2)


def kind(data: bytes | memoryview, last_offset: int | None, left_bytes: int) -> str:
    """Classifies the tail of a log.

    Args:
        data: the tail, or its first bytes.
        last_offset: the last offset before the tail; None if no batch precedes it.
        left_bytes: size of the tail.

    Returns:
        "zeros": preallocated; "torn": looks like the next batch, cut off; "garbage": anything else.
    """
    if not bytes(data).strip(b"\0"):
        return ZEROS
    return TORN if _continues_log(bytes(data[:HEADER_BYTES]), last_offset, left_bytes) else GARBAGE


def _continues_log(data: bytes, last_offset: int | None, left_bytes: int) -> bool:
    if len(data) < MAGIC_END:
        return False
    header = np.frombuffer(data.ljust(HEADER_BYTES, b"\0"), HEADER)[0]
    follows = int(header["base_offset"]) > (-1 if last_offset is None else last_offset)
    return (
        follows
        and int(header["magic"]) in KNOWN_MAGIC
        and int(header["batch_length_bytes"]) + LENGTH_END > left_bytes
    )
