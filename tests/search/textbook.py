"""The same questions answered without any index, by looking at everything in order: what a search
is held against.

Where Kafka's answer is another one, something is worth a look: a damaged entry, or keys that run
backwards.
"""

import numpy as np

from kafkaviz.format.walk import Walk
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.slots import NONE


def floor_slot(keys: np.ndarray, target: int) -> int:
    """The last slot whose key is not above the target, -1 for none; keys that run backwards are all
    looked at.
    """
    slots_below = np.flatnonzero(np.asarray(keys) <= target)
    return int(slots_below[-1]) if len(slots_below) else NONE


def ceiling_slot(keys: np.ndarray, target: int) -> int:
    """The first slot whose key is not below the target, -1 for none: Kafka's upper bound may be one
    further.
    """
    reaches = np.asarray(keys) >= target
    return int(np.argmax(reaches)) if reaches.any() else NONE


def batch_of(segment: SegmentView, offset: int) -> np.void | None:
    """Returns the first batch (format.batch.BATCH) of a segment that ends at an offset or after it,
    or None, by reading every header before it.
    """
    with segment.log.open_reader() as read:
        for batches in Walk(read, 0, segment.size_bytes):
            reaches = batches["last_offset"] >= offset
            if reaches.any():
                return batches[np.argmax(reaches)]
    return None
