"""What checking a segment costs, estimated from the headers of a few of its batches.

In bytes of an uncompressed .log that take as long. Of a segment of 1 GiB in zstd, whose batches at
byte 0, a quarter, the half and three quarters have 6 KB, a byte costs 6 + 14 000 / 6000: the whole
as much as 8.3 GiB that are not compressed.
"""

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index
from kafkaviz.format.batch import MAGIC_2, codec
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment

# by codec id, what a byte and what a batch costs: benchmarks/README.md, deep scan
COSTS_A_BYTE = np.array([1, 12, 4, 3, 6, 1, 1, 1])
COSTS_A_BATCH = np.array([0, 2_000, 2_000, 10_000, 14_000, 0, 0, 0])
SAMPLES = 4
SAMPLED_FROM_BYTES = 1 << 20  # a smaller segment costs about as much to look into as to read
ENTRY_BYTES = offset_index.ENTRY.itemsize


def check_cost(segment: LogSegment) -> int:
    """What it costs to check a segment; the size of its .log where that cannot be looked into."""
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
    """The first batch, and some that entries of the .index lead to: format.batch.BATCH."""
    log, index = segment.log, segment.index
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
