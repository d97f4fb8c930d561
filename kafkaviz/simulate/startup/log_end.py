"""The end of a .log outside of a recovery: found from its last index entry on, checksums unread."""

from collections.abc import Iterator

import numpy as np

from kafkaviz.binary.file_view import FileView
from kafkaviz.format import offset_index
from kafkaviz.format.batch import CORRUPT_RECORD, LENGTH_END
from kafkaviz.format.offset_index import find_log_end
from kafkaviz.format.walk import Walk, WalkEnd
from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.startup import way_outs
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory

LENGTH_BYTES = 4


def find_end_offset(
    directory: LoadedDirectory, log: FileView, index: FileView | None, base: int
) -> int:
    """One past the last offset of a .log (LogSegment.readNextOffset, 4.3.1).

    An entry whose batch is not there any more leads to the base offset, however many batches are
    left before it.
    """
    relative_offset, position = _last_slot(index)
    with log.open_reader() as read:
        walks = []

        def last_offsets(position: int) -> Iterator[np.ndarray]:
            walks.append(Walk(read, position, log.size_bytes))
            return (batches["last_offset"] for batches in walks[-1])

        end = find_log_end(last_offsets, base, (base + relative_offset, position))
    refuse_corrupt(directory, base, log, walks[-1].end)
    return base if end is None else end


def refuse_corrupt(directory: LoadedDirectory, base: int, log: FileView, end: WalkEnd) -> None:
    """Ends the load where a walk came to a length that no batch can have."""
    if end.reason != "bad-length":
        return
    length = np.empty(LENGTH_BYTES, np.uint8)
    with log.open_reader() as read:
        read(end.position + LENGTH_END - LENGTH_BYTES, length)
    size = int.from_bytes(length.tobytes(), "big", signed=True)
    words = (
        f"Found record size {size} smaller than minimum record overhead (14) in file "
        f"{directory.name}/{log.name}."
    )
    directory.fail(
        base,
        "log-corrupt",
        BrokerException(CORRUPT_RECORD, words),
        name=log.name,
        way_out=way_outs.CORRUPT_LOG,
    )


def _last_slot(index: FileView | None) -> tuple[int, int]:
    """The relative offset and the position in the last slot of an offset index.

    Zeros where there is none.
    """
    entry_bytes = offset_index.ENTRY.itemsize
    stop = index.size_bytes // entry_bytes * entry_bytes if index else 0
    last = (
        offset_index.parse(index.part(index.name, stop - entry_bytes, stop).content())
        if index and stop
        else ()
    )
    return last[0].item() if len(last) else (0, 0)
