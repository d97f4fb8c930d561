"""First offsets of compressed messages of magic 0 and 1: a wrapper's header tells its last one
alone.
"""

import numpy as np

from kafkaviz.format import batch, legacy
from kafkaviz.format.walk import Read


def with_first_offsets(read: Read, batches: np.ndarray) -> np.ndarray:
    """The batches (format.batch.BATCH), each wrapper with the offset of its first message; of one
    that cannot be read with its last.
    """
    unknown = np.flatnonzero(
        (batches["magic"] < batch.MAGIC_2) & (batches["base_offset"] == batch.UNKNOWN)
    )
    if not len(unknown):
        return batches
    batches = batches.copy()
    for at in unknown.tolist():
        data = np.empty(int(batches["size_bytes"][at]), np.uint8)
        messages = legacy.read(data[: read(int(batches["position"][at]), data)].data)
        readable = messages.fault is None and len(messages.rows) > 0
        batches["base_offset"][at] = (
            messages.rows["offset"][0] if readable else batches["last_offset"][at]
        )
    return batches
