"""What one interval costs batch by batch: the headers that a fetch at each batch's base offset
reads, and which batches have an entry.
"""

import numpy as np

from kafkaviz.binary.compiled import njit

# a batch, and whether it spans one offset
SIZES: np.dtype = np.dtype([("size_bytes", "i4"), ("is_single", "?")])


def headers(batches: np.ndarray, interval_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(how many headers a fetch at each batch's base offset reads, whether the batch has an entry):
    (n,) each, of one segment.

    batches: format.batch.BATCH, or SIZES.
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
    """What headers() needs of batches, in five bytes each: SIZES."""
    table = np.empty(len(batches), SIZES)
    table["size_bytes"], table["is_single"] = (
        batches["size_bytes"],
        batches["base_offset"] == batches["last_offset"],
    )
    return table


@njit(cache=True)
def _headers(sizes, is_own, interval_bytes):
    found, indexed = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.bool_)
    start, since = 0, 0
    for row in range(len(sizes)):
        found[row] = row - start + 1
        if since > interval_bytes:
            indexed[row] = True
            start, since = row, 0
            if is_own[row]:
                found[row] = 1
        since += sizes[row]
    return found, indexed
