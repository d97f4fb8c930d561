"""The offset index (.index): the byte of the .log near which to look for an offset.

The file is a sequence of 8-byte slots. In a segment with base offset 1000 the entry (35, 4096)
means: the batch that ends with offset 1035 starts at byte 4096 of the .log. While a broker uses the
file, it is longer than its entries; the rest is zeros.

When a broker starts, it finds the end of a log by reading from the last entry on. Suppose a log has
batches at positions 0, 500 and 900, the last batch ends with offset 29, and the last entry is (19,
500). Kafka reads from 500, and the log ends at 30. If the log is truncated at 400, Kafka finds no
batch at 500, and the log ends at its base offset, although one batch is left.
"""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from kafkaviz.binary.layouts import build_rows, parse_rows

ENTRY: np.dtype = np.dtype(
    [
        ("relative_offset", ">i4"),  # the batch's last offset minus the segment's base offset
        ("position", ">i4"),  # the byte of the .log where that batch starts
    ]
)
# the largest relative offset in an entry, also of a time index
MAX_RELATIVE_OFFSET = 2**31 - 1

# last_offsets(position) gives the last offset of each batch from there on, in arrays of any length
LastOffsets = Callable[[int], Iterable[np.ndarray]]
parse = partial(parse_rows, ENTRY)
build = partial(build_rows, ENTRY)


def count_entries(entries: np.ndarray) -> int:
    """Returns how many slots hold entries: all up to the last one that is not eight zero bytes.

    Kafka never indexes the first append to a segment, so an entry has a position above 0. A zero
    slot was never written: Kafka preallocates the file, so a file in use, or left by a crash, ends
    in zero slots. A zero slot before an entry is damage. It counts, as in Kafka's own search.
    """
    is_nonzero = (entries["relative_offset"] != 0) | (entries["position"] != 0)
    return len(is_nonzero) - int(np.argmax(is_nonzero[::-1])) if is_nonzero.any() else 0


def find_log_end(
    last_offsets: LastOffsets,
    base_offset: int,
    last_entry: tuple[int, int] | None,
    *,
    is_full: bool = True,
) -> int | None:
    """Returns the last offset of a segment plus 1 (LogSegment.readNextOffset, 4.3.1).

    If the last slot of the index was never written, Kafka reads the log from byte 0. This function
    reads from the last entry, which gives the same end.

    Args:
        last_entry: offset and position of the last written entry; None if there is none.
        is_full: whether this entry is in the last slot of the index.

    Returns:
        None if no batch is reached: the log then ends at its base offset.
    """
    offset, position = last_entry or (base_offset, 0)
    if is_full:
        return _follow(last_offsets(max(position, 0)), offset)
    end = _follow(last_offsets(max(position, 0)), base_offset)
    return _follow(last_offsets(0), base_offset) if end is None else end


def _follow(last_offsets: Iterable[np.ndarray], offset: int) -> int | None:
    """Returns the offset after the last batch, if a batch ends at `offset` or above; else None."""
    end = None
    for some in last_offsets:
        if end is not None or (some >= offset).any():
            end = int(some[-1]) + 1
    return end
