"""The offsets that a sweep looks up: the targets of each batch, and the headers they take."""

import numpy as np

from kafkaviz.format.batch import UNKNOWN

# The offsets looked up in each batch: the first, as by a consumer that has read the batch before;
# the last; or all offsets that the batch spans.
BASE = "base_offset"
LAST = "last_offset"
EVERY = "every_offset"
TARGETS: np.dtype = np.dtype(
    [  # numbers of targets in one batch
        ("near", "i8"),  # targets whose scan ends at this batch's header
        ("far", "i8"),  # targets whose scan reads the next batch's header too
        # those at the last offset, which alone can start from the batch's own entry
        ("near_last", "i8"),
        ("far_last", "i8"),
    ]
)


def every_offset(batches: np.ndarray, *, by_base_offset: bool, is_end: bool = True) -> np.ndarray:
    """Returns the TARGETS of one segment's batches if every offset is looked up.

    Args:
        batches: rows of format.batch.BATCH.
        is_end: whether no batch follows these.
    """
    base, last = (batches[name].astype(np.int64) for name in ("base_offset", "last_offset"))
    reads_next = (base != last) & by_base_offset
    reads_next[-1:] &= not is_end
    targets = np.zeros(len(batches), TARGETS)
    _count_every_offset(targets, base, last, reads_next)
    return targets


# ---- counting targets. reads_next marks the batches for which a scan reads the next header too,
# unless the target is their base offset


def _count_base_offsets(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, _reads_next: np.ndarray
) -> None:
    targets["near"] = 1
    targets["near_last"] = base == last


def _count_last_offsets(
    targets: np.ndarray, _base: np.ndarray, _last: np.ndarray, reads_next: np.ndarray
) -> None:
    targets["far"] = targets["far_last"] = reads_next
    targets["near"] = targets["near_last"] = ~reads_next


def _count_every_offset(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, reads_next: np.ndarray
) -> None:
    """Counts each offset that a batch spans.

    Compaction may have removed records, but their offsets are looked up all the same.
    """
    offset_counts = np.where(base == UNKNOWN, 1, last - base + 1)
    targets["far"] = np.where(reads_next, offset_counts - 1, 0)
    targets["near"] = offset_counts - targets["far"]
    targets["far_last"] = reads_next
    targets["near_last"] = ~reads_next


TARGET_COUNTERS = {BASE: _count_base_offsets, LAST: _count_last_offsets, EVERY: _count_every_offset}
