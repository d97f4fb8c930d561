"""The offset index (.index): near which byte of the .log an offset lives.

A slot is 8 bytes and there is nothing else in the file. In a segment with base offset 1000 the
entry (35, 4096) says: the batch that ends with offset 1035 starts at byte 4096 of the .log. A file
in use is longer than its entries, the rest zeros.

A start finds the end of a log from its last entry on. Of three batches at 0, 500 and 900, the last
ending with offset 29, and a last entry (19, 500), it goes on from 500, and the log ends at 30. Were
the log cut at 400, nothing would lie at 500, and it would end at its base offset, though a batch is
left.
"""

from collections.abc import Callable, Iterable

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

# last_offsets(position): those of the batches from there on, in arrays of one or of many
LastOffsets = Callable[[int], Iterable[np.ndarray]]


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
    """How many slots hold entries: all up to the last slot that is not eight zero bytes.

    Kafka never indexes the first append to a segment, so a genuine entry has a position above 0 and
    a zero slot was never written. Kafka sets a file's length ahead, so such slots end a file in use
    and one left by a crash. A zero slot with entries behind it is damage: it counts like any slot,
    as it does in Kafka's own search, which trusts them all.
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
