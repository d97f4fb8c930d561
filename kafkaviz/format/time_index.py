"""The time index (.timeindex): below which offset a record with a timestamp cannot be missed.

A slot is 12 bytes and there is nothing else in the file. In a segment with base offset 1000 the
entry (1790000000000, 35) says: every record with a later timestamp has an offset above 1035. The
file exists since Kafka 0.10.1.
"""

import numpy as np

from kafkaviz.binary.layouts import field_names

ENTRY: np.dtype = np.dtype(
    [
        ("timestamp_ms", ">i8"),  # the largest timestamp of the segment so far
        # an offset that holds it, or the last of its batch, from the segment's base offset
        ("relative_offset", ">i4"),
    ]
)


def parse(data: bytes | memoryview | np.ndarray) -> np.ndarray:
    """The entries, one a slot, without a copy; a torn last slot is left out.

    Returns:
        An array of ENTRY, shape (slots,).
    """
    return np.frombuffer(data, ENTRY, count=len(data) // ENTRY.itemsize)


def build(entries: np.ndarray) -> bytes:
    """The bytes Kafka would have written for these entries.

    Args:
        entries: any array with the fields of ENTRY.
    """
    slots = np.empty(len(entries), ENTRY)
    for field in field_names(ENTRY):
        slots[field] = entries[field]
    return slots.tobytes()


def count_entries(entries: np.ndarray) -> int:
    """How many slots hold entries: all up to the last slot that is not twelve zero bytes.

    Zeros mean (timestamp 0, base offset), which only slot 0 can truly hold, since timestamps grow
    from slot to slot. So slot 0 is counted when an entry follows it, and when it is the only slot
    of the file: Kafka trims a file it closes to its entries. Zeros alone, in a longer file, are the
    length Kafka set ahead: 0 entries. A zero slot further in with entries behind it is damage: it
    counts like any slot, as it does in Kafka's own search, which trusts them all.
    """
    if len(entries) == 1:
        return 1
    is_nonzero = (entries["timestamp_ms"] != 0) | (entries["relative_offset"] != 0)
    return len(is_nonzero) - int(np.argmax(is_nonzero[::-1])) if is_nonzero.any() else 0
