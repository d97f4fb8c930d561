"""What a log appends: one row a batch, and the batches' bytes where there are any.

A row is what a walk over a .log gives (format.batch.BATCH) and what only the moment of the append
shows:

    base_offset  size_bytes  append  now_ms         deep_offset  marker
    0            1042        0       1700000000000  9            -1
    10           78          1       1700000000009  10            1      a COMMIT

The position of an incoming row is not looked at: the log that takes the batch sets it.
"""

from dataclasses import dataclass

import numpy as np

from kafkaviz.format import batch
from kafkaviz.format.control import ControlType

INCOMING: np.dtype = np.dtype(
    [
        *batch.BATCH.descr,
        # number of the append call: equal numbers in a row are one call; a leader's has one batch
        # of
        # magic 2
        ("append", "i8"),
        ("now_ms", "i8"),  # the broker's clock at that call
        # of the record with the largest timestamp itself, for releases that put it into the time
        # index
        ("deep_offset", "i8"),
        ("marker", "i1"),  # of a control batch 0 for ABORT and 1 for COMMIT; -1 of any other batch
    ]
)
ABORT, COMMIT, NO_MARKER = int(ControlType.ABORT), int(ControlType.COMMIT), -1


@dataclass(frozen=True)
class AppendChunk:
    """Some batches of a stream, in offset order.

    Attributes:
        rows: INCOMING.
        data: the bytes of all of these batches one after another, None in a stream without payload.
    """

    rows: np.ndarray
    data: bytes | memoryview | None = None
