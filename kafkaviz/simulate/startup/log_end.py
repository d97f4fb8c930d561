"""Finds the end of a .log without a recovery: reads from the last index entry on."""

from collections.abc import Iterator

import numpy as np

from kafkaviz import versions
from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CorruptFile, FaultKind
from kafkaviz.format import offset_index
from kafkaviz.format.batch import LENGTH_END, MAGIC_2, MAGIC_END
from kafkaviz.format.java import CORRUPT_RECORD, without_place
from kafkaviz.format.offset_index import find_log_end
from kafkaviz.format.walk import Walk, WalkEnd
from kafkaviz.messages import message
from kafkaviz.search import slots
from kafkaviz.search.scan import LogReader, find_offset
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import NEWEST, BrokerException
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory
from kafkaviz.versions import BASE_OFFSET

LENGTH_BYTES = 4


def find_end_offset(
    directory: LoadedDirectory,
    log: FileView,
    index: FileView | None,
    base: int,
    behaviour: ReleaseBehaviour = NEWEST,
) -> int:
    """Returns the last offset of a .log plus 1 (LogSegment.readNextOffset, 4.3.1).

    Reads the .log from the last index entry on. Returns the base offset if no batch there reaches
    the entry's offset, even if the .log has earlier batches.
    """
    relative_offset, position = _last_slot(index)
    if index and (relative_offset or position):
        position = _search_position(index, relative_offset)
    refuse_unreadable_head(directory, log, index, base, behaviour)
    with log.open_reader() as read:
        walks = []

        def last_offsets(position: int) -> Iterator[np.ndarray]:
            walks.append(Walk(read, position, log.size_bytes))
            return (batches["last_offset"] for batches in walks[-1])

        end = find_log_end(last_offsets, base, (base + relative_offset, position))
    refuse_corrupt(directory, base, log, walks[-1].end)
    return base if end is None else end


def refuse_unreadable_head(
    directory: LoadedDirectory,
    log: FileView,
    index: FileView | None,
    base: int,
    behaviour: ReleaseBehaviour,
) -> None:
    """Calls `refuse_unreadable` for the offset in the last index slot."""
    target = base + _last_slot(index)[0]
    refuse_unreadable(directory, log, index, base, target=target, behaviour=behaviour)


def refuse_unreadable(
    directory: LoadedDirectory,
    log: FileView,
    index: FileView | None,
    base: int,
    *,
    target: int,
    behaviour: ReleaseBehaviour,
) -> None:
    """Fails loading if the search for `target` reaches a damaged message of magic 0 or 1.

    Since 4.1 the search compares first offsets, so it decompresses wrappers
    (FileRecords.searchForOffsetFromPosition).
    """
    if not versions.BASE_OFFSET_SCAN.applies_to(behaviour.release):
        return
    with log.open_reader() as read:
        magic = np.full(1, MAGIC_2, np.int8)
        read(MAGIC_END - 1, magic)
        if magic[0] >= MAGIC_2:  # later batches are of magic 2 too
            return
        reader = LogReader(read, log.size_bytes, f"{directory.name}/{log.name}")
        position = _position_below(index, target - base)
        try:
            fault = find_offset(reader, base, target, position, BASE_OFFSET).fault
        except CorruptFile:  # too large to decompress here
            return
    # refuse_corrupt reports an impossible length, with the file's name
    if fault is None or fault.kind is FaultKind.LENGTH:
        return
    directory.fail(
        base,
        "log-corrupt",
        BrokerException(fault.class_name, str(without_place(fault.what))),
        name=log.name,
        way_out=message("way_out.restore_unreadable_message"),
    )


def _position_below(index: FileView | None, relative_offset: int) -> int:
    entries = offset_index.parse(index.content() if index else b"")
    entries = entries[: offset_index.count_entries(entries)]
    below = np.flatnonzero(entries["relative_offset"] <= relative_offset)
    return max(0, int(entries["position"][below[-1]])) if len(below) else 0


def _search_position(index: FileView, relative_offset: int) -> int:
    """Returns the position that OffsetIndex.lookup finds, even if slots are out of order."""
    entries = offset_index.parse(index.content())
    slot = slots.floor(
        entries["relative_offset"], relative_offset, offset_index.ENTRY.itemsize
    ).slot
    return int(entries["position"][slot]) if slot >= 0 else 0


def refuse_corrupt(directory: LoadedDirectory, base: int, log: FileView, end: WalkEnd) -> None:
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
        way_out=message("way_out.recover_corrupt_log"),
    )


def _last_slot(index: FileView | None) -> tuple[int, int]:
    entry_bytes = offset_index.ENTRY.itemsize
    stop = index.size_bytes // entry_bytes * entry_bytes if index else 0
    last = (
        offset_index.parse(index.part(index.name, stop - entry_bytes, stop).content())
        if index and stop
        else ()
    )
    return last[0].item() if len(last) else (0, 0)
