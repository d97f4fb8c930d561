"""The offset index (.index): at which byte of the .log to start reading to find an offset.

The file is a sequence of 8-byte slots. In a segment with base offset 1000 the entry (35, 4096)
means: the batch that ends with offset 1035 starts at byte 4096 of the .log. While a broker uses the
file, zeros follow the entries.
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
    """Returns how many slots hold entries: all up to the last slot that is not zero.

    Kafka preallocates the file, so a file in use ends in zero slots. An entry is never zero: its
    position is above 0. A zero slot before an entry is damage, and counts as an entry, as in
    Kafka's search.
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

    Like Kafka, reads the log from the last index entry on. If no batch is there, reads the whole
    log, unless the index is full. For example, the last entry of a full index is offset 19 at byte
    500, but the log was cut to 400 bytes. Then the result is None, and Kafka uses the base offset.

    Args:
        last_entry: offset and position of the last written entry; None if there is none.
        is_full: whether `last_entry` is in the last slot of the index.

    Returns:
        None if no batch was read. Also None if the index is full and all batches that were read
        end below the last entry's offset.
    """
    offset, position = last_entry or (base_offset, 0)
    if is_full:
        return _end_of_batches(last_offsets(max(position, 0)), offset)
    end = _end_of_batches(last_offsets(max(position, 0)), base_offset)
    return _end_of_batches(last_offsets(0), base_offset) if end is None else end


def _end_of_batches(last_offsets: Iterable[np.ndarray], offset: int) -> int | None:
    """Returns the last batch's last offset plus 1; None if no batch ends at or after `offset`."""
    end = None
    for some in last_offsets:
        if end is not None or (some >= offset).any():
            end = int(some[-1]) + 1
    return end
