"""The cost of one interval batch by batch.

It consists of the headers that a fetch at each batch's base offset reads, and of the index entries.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit

# the size of a batch, and whether it spans a single offset
SIZES: np.dtype = np.dtype([("size_bytes", "i4"), ("is_single", "?")])


def headers(batches: np.ndarray, interval_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the headers that a fetch at each batch's base offset reads, for one segment.

    Args:
        batches: rows of format.batch.BATCH, or of SIZES.

    Returns:
        The number of headers, and whether the batch has an entry, each of shape (n,).
    """
    is_own = (
        batches["is_single"]
        if batches.dtype == SIZES
        else batches["base_offset"] == batches["last_offset"]
    )
    return _headers(
        np.ascontiguousarray(batches["size_bytes"], np.int64),
        np.ascontiguousarray(is_own),
        interval_bytes,
    )


def sizes(batches: np.ndarray) -> np.ndarray:
    """Returns the SIZES rows of batches, which take five bytes each."""
    table = np.empty(len(batches), SIZES)
    table["size_bytes"] = batches["size_bytes"]
    table["is_single"] = batches["base_offset"] == batches["last_offset"]
    return table


@njit(cache=True)
def _headers(
    sizes: np.ndarray, is_own: np.ndarray, interval_bytes: int
) -> tuple[np.ndarray, np.ndarray]:
    header_counts = np.empty(len(sizes), np.int64)
    is_indexed = np.zeros(len(sizes), np.bool_)
    start_row = 0
    since_bytes = 0
    for row in range(len(sizes)):
        header_counts[row] = row - start_row + 1
        if since_bytes > interval_bytes:
            is_indexed[row] = True
            start_row = row
            since_bytes = 0
            if is_own[row]:
                header_counts[row] = 1
        since_bytes += sizes[row]
    return header_counts, is_indexed
