"""The input of appends to a log: one row per batch, and the bytes of the batches, if known.

A row has the columns of format.batch.BATCH, and those that are only known at the append:

    base_offset  size_bytes  append  now_ms         deep_offset  marker
    0            1042        0       1700000000000  9            -1
    10           78          1       1700000000009  10            1      a COMMIT

The log sets the column `position` when it takes the batch.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.format import batch
from kafkaviz.format.control import ControlType

INCOMING: np.dtype = np.dtype(
    [
        *batch.BATCH.descr,
        # number of the append call: rows with equal numbers belong to one call; a leader's call has
        # one batch of magic 2
        ("append", "i8"),
        ("now_ms", "i8"),  # the broker's clock at the append
        # offset of the record with the largest timestamp; some releases write it into the time
        # index
        ("deep_offset", "i8"),
        ("marker", "i1"),  # 0: ABORT, 1: COMMIT, -1: not a marker
    ]
)
ABORT = int(ControlType.ABORT)
COMMIT = int(ControlType.COMMIT)
NO_MARKER = -1


@dataclass(frozen=True)
class AppendChunk:
    """Some batches of a log or workload, in offset order.

    Attributes:
        rows: an array of INCOMING.
        data: the bytes of all these batches one after another; None if only rows are generated.
    """

    rows: np.ndarray
    data: bytes | memoryview | None = None
