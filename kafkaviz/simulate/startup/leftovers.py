"""Loading a log with files of unfinished deletions, compactions and splits.

The rules of LogLoader, Kafka 4.3.1:

- .deleted: the file is deleted.
- .cleaned: the file is deleted; its sources still exist.
- .swap: the file is complete. The segments that it replaces are deleted, and its suffix is removed.
- A .swap at or above the lowest .cleaned belongs to an unfinished split, and is deleted.
"""

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import offset_index
from kafkaviz.messages import message
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour
from kafkaviz.simulate.startup.log_end import find_end_offset
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory, leading_number
from kafkaviz.units import file_stem

SNAPSHOT_DELETED = ".checkpoint.deleted"  # KRaft deletes these files itself


def delete_unfinished(directory: LoadedDirectory) -> None:
    cleaned = dict(directory.files_with_suffix("cleaned"))
    least = min(cleaned.values(), default=None)
    for name in list(directory.files):
        if name.endswith(".deleted") and not name.endswith(SNAPSHOT_DELETED):
            directory.delete(
                name,
                "leftover-deleted",
                message("start.leftover_deleted"),
            )
    for name, base in directory.files_with_suffix("swap"):
        if least is not None and base >= least:
            directory.delete(
                name,
                "leftover-swap",
                message("start.unfinished_split", offset=least),
            )
    for name in cleaned:
        directory.delete(
            name,
            "leftover-cleaned",
            message("start.leftover_cleaned"),
        )


def swap_in_segments(
    directory: LoadedDirectory, config: IndexConfig, behaviour: ReleaseBehaviour
) -> None:
    """Deletes the segments that finished .swap files replace, and renames the .swap files."""
    logs = [
        base for name, base in directory.files_with_suffix("swap") if name.endswith(".log.swap")
    ]
    for base in logs:
        directory.open_files(base, "log.swap", "txnindex.swap", "index.swap")
        name = f"{file_stem(base)}.log.swap"
        directory.files.setdefault(name, in_memory(name, b""))
    if logs:
        _delete_replaced(
            directory, min(logs), max(_swap_end(directory, base, behaviour) for base in logs)
        )
    for base in logs:
        _blank_index(directory, base, config, behaviour)
    for name, base in directory.files_with_suffix("swap"):
        if behaviour.swaps_indexes or name.endswith(".log.swap"):
            file = directory.files.pop(name)
            plain = name.removesuffix(".swap")
            directory.write_file(
                file.part(plain, 0, file.size_bytes),
                "leftover-swap",
                message("start.takes_its_name", name=name),
                base,
            )
        else:
            directory.delete(name, "leftover-swap", message("start.swapped_index_rebuilt"))


def _delete_replaced(directory: LoadedDirectory, low: int, high: int) -> None:
    for name in list(directory.files):
        offset = leading_number(name)
        if not name.endswith(".swap") and offset is not None and low <= offset < high:
            directory.delete(
                name,
                "leftover-swap",
                message("start.swap_finished", first=low, last=high - 1),
            )


def _swap_end(directory: LoadedDirectory, base: int, behaviour: ReleaseBehaviour) -> int:
    stem = file_stem(base)
    return find_end_offset(
        directory,
        directory.files[f"{stem}.log.swap"],
        directory.files.get(f"{stem}.index.swap"),
        base,
        behaviour,
    )


def _blank_index(
    directory: LoadedDirectory, base: int, config: IndexConfig, behaviour: ReleaseBehaviour
) -> None:
    """Adds an index of zeros to a segment without one, as Kafka does when it looks for the end."""
    name = f"{file_stem(base)}.index.swap"
    if behaviour.swaps_indexes and name not in directory.files:
        directory.files[name] = in_memory(
            name, bytes(config.offset_slots * offset_index.ENTRY.itemsize)
        )
