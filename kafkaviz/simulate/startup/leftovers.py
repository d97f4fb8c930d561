"""What deletions, compaction and splits leave when a broker stops, and what a load does with it.

As LogLoader of Kafka 4.3.1: a .deleted file goes, and a .cleaned one, whose sources are still
there. A .swap file is finished: what it replaces goes, and it takes its name. Only a .swap at or
above a .cleaned is part of an unfinished split, and goes too.
"""

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import offset_index
from kafkaviz.messages import message
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour
from kafkaviz.simulate.startup.log_end import find_end_offset
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory, leading_number
from kafkaviz.units import file_stem

SNAPSHOT_DELETED = ".checkpoint.deleted"  # of KRaft, which clears these away itself


def delete_unfinished(directory: LoadedDirectory) -> None:
    """Deletes what was not finished, and what was to be deleted."""
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
    """Deletes what finished segments replace, and gives those their names."""
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
            file, plain = directory.files.pop(name), name.removesuffix(".swap")
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
    """Gives a finished segment without an index one of zeros: looking for its end creates it."""
    name = f"{file_stem(base)}.index.swap"
    if behaviour.swaps_indexes and name not in directory.files:
        directory.files[name] = in_memory(
            name, bytes(config.offset_slots * offset_index.ENTRY.itemsize)
        )
