"""The end of a .log outside of a recovery: found from its last index entry on, checksums unread.

A log of three batches at 0, 500 and 900, the last ending with offset 29, and an index whose last
entry is (19, 500): the walk begins at 500, and the log ends at 30. Were the log cut at 400, nothing
would lie at 500, and it would end at its base offset, though a batch is left.
"""

from collections.abc import Callable, Iterable

import numpy as np

# last_offsets(position): those of the batches from there on, in arrays of one or of many
LastOffsets = Callable[[int], Iterable[np.ndarray]]


def find_log_end(
    last_offsets: LastOffsets,
    base_offset: int,
    last_entry: tuple[int, int] | None,
    *,
    is_full: bool = True,
) -> int | None:
    """One past the last offset of a segment (LogSegment.readNextOffset, 4.3.1).

    Where the last slot of the index was never written Kafka begins at byte 0; from the last written
    one on the same batches end the log.

    Args:
        last_entry: offset and position of the last written entry; None without one.
        is_full: whether its slot is the index's last one.

    Returns:
        None where no batch is reached: the log ends at its base offset.
    """
    offset, position = last_entry or (base_offset, 0)
    if is_full:
        return _follow(last_offsets(max(position, 0)), offset)
    end = _follow(last_offsets(max(position, 0)), base_offset)
    return _follow(last_offsets(0), base_offset) if end is None else end


def _follow(last_offsets: Iterable[np.ndarray], offset: int) -> int | None:
    """One past the last of the batches, if one of them ends at an offset or behind it."""
    end = None
    for some in last_offsets:
        if end is not None or (some >= offset).any():
            end = int(some[-1]) + 1
    return end
