"""The time index (.timeindex): up to which offset no record is newer than a timestamp.

The file is a sequence of 12-byte slots. In a segment with base offset 1000 the entry
(1790000000000, 35) means: every record with a later timestamp has an offset above 1035. The file
exists since Kafka 0.10.1.
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
    """Returns how many slots hold entries: all up to the last one that is not twelve zero bytes.

    Zeros mean (timestamp 0, base offset). Only slot 0 can hold that, because timestamps grow from
    slot to slot. The cases:

    - Slot 0 is zero and an entry follows: it counts.
    - Slot 0 is zero and the only slot: it counts, because Kafka trims a closed file to its entries.
    - All slots of a longer file are zero: Kafka preallocated them, so there are 0 entries.
    - A later slot is zero and an entry follows: this is damage. The slot counts as an entry, as in
      Kafka's own search.
    """
    if len(entries) == 1:
        return 1
    is_nonzero = (entries["timestamp_ms"] != 0) | (entries["relative_offset"] != 0)
    return len(is_nonzero) - int(np.argmax(is_nonzero[::-1])) if is_nonzero.any() else 0
