"""The targets: which offsets are looked up, and how many of each batch.

And which of them take the header of the next batch too.
"""

import numpy as np

from kafkaviz.format.batch import UNKNOWN

# Which offsets are looked up: of each batch the first, as a consumer does that goes on behind a
# batch; the last; or all that it spans.
BASE, LAST, EVERY = "base_offset", "last_offset", "every_offset"
TARGETS: np.dtype = np.dtype(
    [  # of one batch, how many targets
        ("near", "i8"),  # end with its own header
        ("far", "i8"),  # take that of the next batch too
        # of those, at its last offset, which alone can start from the batch's own entry
        ("near_last", "i8"),
        ("far_last", "i8"),
    ]
)


def every_offset(batches: np.ndarray, *, by_base_offset: bool, is_end: bool = True) -> np.ndarray:
    """The targets of one segment's batches (format.batch.BATCH) where every offset is looked up.

    Near, far, near_last, far_last of each.

    Args:
        is_end: whether no batch follows these.
    """
    base, last = (batches[name].astype(np.int64) for name in ("base_offset", "last_offset"))
    reads_next = (base != last) & by_base_offset
    reads_next[-1:] &= not is_end
    targets = np.zeros(len(batches), TARGETS)
    _count_every_offset(targets, base, last, reads_next)
    return targets


# ---- how they are counted. reads_next: of which batches a scan takes the next header too,
# unless the target is their base offset


def _count_base_offsets(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, _reads_next: np.ndarray
) -> None:
    targets["near"], targets["near_last"] = 1, base == last


def _count_last_offsets(
    targets: np.ndarray, _base: np.ndarray, _last: np.ndarray, reads_next: np.ndarray
) -> None:
    targets["far"] = targets["far_last"] = reads_next
    targets["near"] = targets["near_last"] = ~reads_next


def _count_every_offset(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, reads_next: np.ndarray
) -> None:
    """Each offset that a batch spans.

    Compaction may have left no record at some, and they are looked up all the same.
    """
    offset_counts = np.where(base == UNKNOWN, 1, last - base + 1)
    targets["far"] = np.where(reads_next, offset_counts - 1, 0)
    targets["near"] = offset_counts - targets["far"]
    targets["far_last"], targets["near_last"] = reads_next, ~reads_next


TARGET_COUNTERS = {BASE: _count_base_offsets, LAST: _count_last_offsets, EVERY: _count_every_offset}
