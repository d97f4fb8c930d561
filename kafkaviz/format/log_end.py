"""The end of a .log outside of a recovery: found from its last index entry on, checksums unread.

A log of three batches at 0, 500 and 900, the last ending with offset 29, and an index whose last
entry is (19, 500): the walk begins at 500, and the log ends at 30. Were the log cut at 400, nothing
would lie at 500, and it would end at its base offset, though a batch is left.
"""

from typing import NamedTuple

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.format.walk import Walk, WalkEnd


class LogEnd(NamedTuple):
    """Where a log ends.

    Attributes:
        offset: one past the last offset; the base offset where no batch was reached.
        is_reached: whether one was.
        walk_end: where the walk stopped, and why.
    """

    offset: int
    is_reached: bool
    walk_end: WalkEnd


def find_log_end(
    read: ReadInto,
    size_bytes: int,
    base_offset: int,
    last_entry: tuple[int, int] | None,
    *,
    is_full: bool = True,
) -> LogEnd:
    """One past the last offset of a segment (LogSegment.readNextOffset, 4.3.1).

    Where the last slot of the index was never written Kafka begins at byte 0; from the last written
    one on the same batches end the log.

    Args:
        read: read(position, buffer) of the .log.
        last_entry: offset and position of the last written entry; None without one.
        is_full: whether its slot is the index's last one.
    """
    offset, position = last_entry or (base_offset, 0)
    if is_full:
        return _follow(read, size_bytes, base_offset, offset, max(position, 0))
    end = _follow(read, size_bytes, base_offset, base_offset, max(position, 0))
    if end.is_reached:
        return end
    return _follow(read, size_bytes, base_offset, base_offset, 0)


def _follow(
    read: ReadInto, size_bytes: int, base_offset: int, offset: int, position: int
) -> LogEnd:
    """The end of the batches from a position on, if one of them ends at an offset or behind it."""
    end, walk = None, Walk(read, position, size_bytes)
    for batches in walk:
        if end is not None or (batches["last_offset"] >= offset).any():
            end = int(batches["last_offset"][-1]) + 1
    return LogEnd(base_offset if end is None else end, end is not None, walk.end)
