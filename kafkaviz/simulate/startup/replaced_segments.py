"""Deletes and renames the files of unfinished deletions, compactions and splits.

The rules of LogLoader, Kafka 4.3.1, by suffix:

- .deleted: the file is deleted.
- .cleaned: the file is deleted; the segments that it was made from still exist.
- .swap: the file is complete. The segments that it replaces are deleted, and its suffix is removed.
- A .swap file whose offset is not below the lowest offset of the .cleaned files, if any, belongs to
  an unfinished split, and is deleted.

`split` splits a segment with offsets too far from its base offset (KAFKA-6264). Kafka up to 1.1
could write such segments. Like LocalLog.splitOverflowedSegment, 4.3.1, `split` fails unless the
last batch has such an offset.
"""

from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.format import offset_index
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.walk import Walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery import BrokerException, recover
from kafkaviz.simulate.segment_check import resolve_first_offsets
from kafkaviz.simulate.startup.partition_directory import (
    LoadedDirectory,
    find_end_offset,
    leading_number,
    refuse_corrupt,
)
from kafkaviz.units import file_stem

SNAPSHOT_DELETED = ".checkpoint.deleted"  # KRaft deletes these files itself
Cut = tuple[int, int]  # base offset and position of a part


def delete_unfinished(directory: LoadedDirectory) -> None:
    cleaned = dict(directory.files_with_suffix("cleaned"))
    least = min(cleaned.values(), default=None)
    for name in list(directory.files):
        if name.endswith(".deleted") and not name.endswith(SNAPSHOT_DELETED):
            directory.delete(name, "leftover-deleted", message("start.leftover_deleted"))
    for name, base in directory.files_with_suffix("swap"):
        if least is not None and base >= least:
            why = message("start.unfinished_split", offset=least)
            directory.delete(name, "leftover-swap", why)
    for name in cleaned:
        directory.delete(name, "leftover-cleaned", message("start.leftover_cleaned"))


def swap_in_segments(directory: LoadedDirectory) -> None:
    """Deletes the segments that finished .swap files replace, and renames the .swap files."""
    logs = [
        base for name, base in directory.files_with_suffix("swap") if name.endswith(".log.swap")
    ]
    for base in logs:
        directory.open_files(base, "log.swap", "txnindex.swap", "index.swap")
        name = f"{file_stem(base)}.log.swap"
        directory.files.setdefault(name, in_memory(name, b""))
    if logs:
        _delete_replaced(directory, min(logs), max(_swap_end(directory, base) for base in logs))
    for base in logs:
        name = f"{file_stem(base)}.index.swap"
        if directory.behaviour.swaps_indexes and name not in directory.files:
            room_bytes = directory.config.offset_slots * offset_index.ENTRY.itemsize
            directory.files[name] = in_memory(name, bytes(room_bytes))
    for name, base in directory.files_with_suffix("swap"):
        if directory.behaviour.swaps_indexes or name.endswith(".log.swap"):
            file = directory.files.pop(name)
            renamed_file = file.part(name.removesuffix(".swap"), 0, file.size_bytes)
            why = message("start.takes_its_name", name=name)
            directory.write_file(renamed_file, "leftover-swap", why, base)
        else:
            directory.delete(name, "leftover-swap", message("start.swapped_index_rebuilt"))


def _delete_replaced(directory: LoadedDirectory, low: int, high: int) -> None:
    for name in list(directory.files):
        offset = leading_number(name)
        if not name.endswith(".swap") and offset is not None and low <= offset < high:
            why = message("start.swap_finished", first=low, last=high - 1)
            directory.delete(name, "leftover-swap", why)


def _swap_end(directory: LoadedDirectory, base: int) -> int:
    stem = file_stem(base)
    index = directory.files.get(f"{stem}.index.swap")
    return find_end_offset(directory, directory.files[f"{stem}.log.swap"], index, base)


def split(directory: LoadedDirectory, base: int) -> list[int]:
    """Replaces a segment by parts without an offset overflow. Returns the parts' base offsets."""
    log = directory.require_file(base, "log")
    last_offset = find_end_offset(directory, log, directory.get(base, "index"), base) - 1
    if last_offset - base <= MAX_RELATIVE_OFFSET:
        words = (
            "Split operation is only permitted for segments with overflow, and the problem path is "
            f"{directory.name}/{log.name}"
        )
        exception = BrokerException(ILLEGAL_ARGUMENT, words)
        way_out = message("way_out.impossible_base_offset")
        directory.fail(base, "offset-overflow", exception, log.name, way_out)
    cuts = _find_cuts(directory, log, base)
    directory.delete_segment(base, "offset-overflow", message("start.split"))
    for (new_base, start), (_, stop) in zip(cuts, [*cuts[1:], (0, log.size_bytes)], strict=True):
        part = log.part(f"{file_stem(new_base)}.log", start, stop)
        _add_part(directory, part, new_base, message("start.part_of_segment", segment=base))
    return [new_base for new_base, _ in cuts]


def _add_part(directory: LoadedDirectory, part: FileView, base: int, why: Message) -> None:
    """Writes one part of a split segment: its .log, and its indexes as Kafka closes them."""
    with part.open_reader() as read:
        recovered_segment = recover(
            read,
            part.size_bytes,
            base,
            directory.config,
            directory.behaviour,
            stem=directory.path(base),
        )
    exception = recovered_segment.exception
    if exception:
        # the message ends with an index's path, which ends in .cleaned during a split
        if exception.message.endswith("index"):
            exception = BrokerException(exception.class_name, f"{exception.message}.cleaned")
        way_out = message("way_out.impossible_base_offset")
        directory.fail(base, "offset-overflow", exception, part.name, way_out)
    directory.write_file(part, "offset-overflow", why, base)
    index = recovered_segment.closed_index()
    timeindex = recovered_segment.closed_timeindex()
    directory.write_index(base, "index", index, "offset-overflow", why)
    directory.write_index(base, "timeindex", timeindex, "offset-overflow", why)


def _find_cuts(directory: LoadedDirectory, log: FileView, base: int) -> list[Cut]:
    """Returns (base offset, position) of each part into which a segment is split."""
    cuts: list[Cut] = []
    with log.open_reader() as read:
        walk = Walk(read, 0, log.size_bytes)
        for batches in walk:
            for position, first, last in resolve_first_offsets(read, batches)[
                ["position", "base_offset", "last_offset"]
            ].tolist():
                if not cuts or not 0 <= last - cuts[-1][0] <= MAX_RELATIVE_OFFSET:
                    cuts.append((first, position))
    refuse_corrupt(directory, base, log, walk.end)
    if walk.end.reason != "end":
        exception = BrokerException("java.util.NoSuchElementException", "")
        way_out = message("way_out.cut_torn_batch", bytes=walk.end.position)
        because = message("start.split_ends_in_torn_batch")
        directory.fail(base, "offset-overflow", exception, log.name, way_out, because=because)
    return cuts
