"""The offset index (.index): near which byte of the .log an offset lives.

A slot is 8 bytes and there is nothing else in the file. In a segment with base offset 1000 the
entry (35, 4096) says: the batch that ends with offset 1035 starts at byte 4096 of the .log. A file
in use is longer than its entries, the rest zeros.
"""

import numpy as np

from kafkaviz.binary.layouts import field_names

ENTRY: np.dtype = np.dtype(
    [
        ("relative_offset", ">i4"),  # the batch's last offset, from the segment's base offset
        ("position", ">i4"),  # the byte of the .log where that batch starts
    ]
)
MAX_RELATIVE_OFFSET = (
    2**31 - 1
)  # the largest relative offset that an entry can hold, of a time index too


def parse(data: bytes | memoryview) -> np.ndarray:
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
    """How many slots hold entries: all up to the last slot that is not eight zero bytes.

    Kafka never indexes the first append to a segment, so a genuine entry has a position above 0 and
    a zero slot was never written. Kafka sets a file's length ahead, so such slots end a file in use
    and one left by a crash. A zero slot with entries behind it is damage: it counts like any slot,
    as it does in Kafka's own search, which trusts them all.
    """
    is_nonzero = (entries["relative_offset"] != 0) | (entries["position"] != 0)
    return len(is_nonzero) - int(np.argmax(is_nonzero[::-1])) if is_nonzero.any() else 0
