"""Estimates the cost of checking a segment from the headers of a few of its batches.

The unit is the time to read one byte of uncompressed .log. For example, take a segment of 1 GiB in
zstd with batches of 6 KB at four sampled places. Each byte costs 6 + 14 000 / 6000, so the segment
costs as much as 8.3 GiB without compression.
"""

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index
from kafkaviz.format.batch import MAGIC_2, codec
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment

# the cost per byte and per batch, by codec id: benchmarks/README.md, deep scan
COSTS_A_BYTE = np.array([1, 12, 4, 3, 6, 1, 1, 1])
COSTS_A_BATCH = np.array([0, 2_000, 2_000, 10_000, 14_000, 0, 0, 0])
SAMPLES = 4
SAMPLED_FROM_BYTES = 1 << 20  # sampling a smaller segment costs about as much as reading it
ENTRY_BYTES = offset_index.ENTRY.itemsize


def check_cost(segment: LogSegment) -> int:
    """Returns the cost of checking a segment, or the size of its .log if it cannot be read."""
    log = segment.log
    if log.size_bytes < SAMPLED_FROM_BYTES:
        return log.size_bytes
    try:
        batches = _sample(segment)
    except KafkavizError:
        return log.size_bytes
    sizes = batches["size_bytes"]
    if not len(batches):
        return log.size_bytes
    codec_ids = codec(batches)
    costs = COSTS_A_BYTE[codec_ids] * sizes + COSTS_A_BATCH[codec_ids]
    return int(log.size_bytes * (int(costs.sum()) / int(sizes.sum())))


def _sample(segment: LogSegment) -> np.ndarray:
    """Returns the first batch, and some batches that .index entries point to.

    The rows are of format.batch.BATCH.
    """
    log = segment.log
    index = segment.index
    entries = index.size_bytes // ENTRY_BYTES if index else 0
    positions = [0]
    if index is not None:
        for sample in range(1, SAMPLES):
            data = file.read(index.path, entries * sample // SAMPLES * ENTRY_BYTES, ENTRY_BYTES)
            positions += offset_index.parse(data)["position"].tolist()
    with file.reader(log.path) as read:
        rows = [batch_at(read, position, log.size_bytes) for position in sorted(set(positions))]
    batches = [row for row in rows if row is not None and 0 <= row["magic"] <= MAGIC_2]
    return np.array(batches) if batches else np.empty(0, [("size_bytes", "i8")])
