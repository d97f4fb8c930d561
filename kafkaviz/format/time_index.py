"""The time index (.timeindex, since Kafka 0.10.1): the offset where a search for a time starts.

The file is a sequence of 12-byte slots. In a segment with base offset 1000 the entry
(1790000000000, 35) means: no record up to offset 1035 has a later timestamp.
"""

from functools import partial

import numpy as np

from kafkaviz.binary.layouts import build_rows, parse_rows

ENTRY: np.dtype = np.dtype(
    [
        ("timestamp_ms", ">i8"),  # the largest timestamp of the segment up to this entry
        # offset of that record, or of the last one in its batch, minus the segment's base offset
        ("relative_offset", ">i4"),
    ]
)
parse = partial(parse_rows, ENTRY)
build = partial(build_rows, ENTRY)


def count_entries(entries: np.ndarray) -> int:
    """Returns how many slots hold entries: all up to the last slot that is not zero.

    Kafka preallocates the file, so a file in use ends in zero slots. A zero slot before an entry
    counts as an entry. A file of one zero slot has one entry, with timestamp 0 and the base offset:
    Kafka trims a closed file to its entries, so the slot is in use.
    """
    if len(entries) == 1:
        return 1
    is_nonzero = (entries["timestamp_ms"] != 0) | (entries["relative_offset"] != 0)
    return len(is_nonzero) - int(np.argmax(is_nonzero[::-1])) if is_nonzero.any() else 0
