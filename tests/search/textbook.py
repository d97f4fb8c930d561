"""The questions of a search, answered without an index by looking at everything in order.

Kafka's answer may differ where an entry is damaged or keys decrease.
"""

import numpy as np

from kafkaviz.format.walk import Walk
from kafkaviz.search.binary_search import NONE
from kafkaviz.search.log_view import SegmentView


def ceiling_slot(keys: np.ndarray, target: int) -> int:
    """Returns the first slot whose key is not below the target, or -1."""
    reaches = np.asarray(keys) >= target
    return int(np.argmax(reaches)) if reaches.any() else NONE


def batch_of(segment: SegmentView, offset: int) -> np.void | None:
    """Returns the first batch (format.batch.BATCH) that ends at an offset or after it, or None, by
    reading every header before it.
    """
    with segment.log.open_reader() as read:
        for batches in Walk(read, 0, segment.size_bytes):
            reaches = batches["last_offset"] >= offset
            if reaches.any():
                return batches[np.argmax(reaches)]
    return None
