"""First offsets of compressed legacy messages, whose headers only hold the last offset."""

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.format import batch, legacy_messages


def resolve_first_offsets(read: ReadInto, batches: np.ndarray) -> np.ndarray:
    """Returns the batches with the first offset of each wrapper filled in.

    A wrapper that cannot be read gets its last offset.

    Args:
        batches: rows of format.batch.BATCH.
    """
    unknown = np.flatnonzero(
        (batches["magic"] < batch.MAGIC_2) & (batches["base_offset"] == batch.UNKNOWN)
    )
    if not len(unknown):
        return batches
    batches = batches.copy()
    for row in unknown.tolist():
        data = np.empty(int(batches["size_bytes"][row]), np.uint8)
        messages = legacy_messages.read(data[: read(int(batches["position"][row]), data)].data)
        is_readable = messages.fault is None and len(messages.rows) > 0
        batches["base_offset"][row] = (
            messages.rows["offset"][0] if is_readable else batches["last_offset"][row]
        )
    return batches
