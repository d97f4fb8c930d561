"""Splits a segment with offsets too far from its base offset (KAFKA-6264), or ends the load.

As LocalLog.splitOverflowedSegment of Kafka 4.3.1. It exists for segments of releases up to 1.1,
whose offsets may exceed the 31 bits of an index entry from some batch on. A single such offset in
the middle, from a damaged byte, is refused, because only the last batch is checked.
"""

from kafkaviz.binary.file_view import FileView
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.walk import Walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour
from kafkaviz.simulate.recovery.batch_check import resolve_first_offsets
from kafkaviz.simulate.recovery.recovery import BrokerException, recover
from kafkaviz.simulate.startup.log_end import find_end_offset, refuse_corrupt
from kafkaviz.simulate.startup.partition_directory import LoadedDirectory
from kafkaviz.units import file_stem

Cut = tuple[int, int]  # base offset and position of a part


def split(
    directory: LoadedDirectory, base: int, config: IndexConfig, behaviour: ReleaseBehaviour
) -> list[int]:
    log = directory.require_file(base, "log")
    if (
        find_end_offset(directory, log, directory.get(base, "index"), base, behaviour) - 1 - base
        <= MAX_RELATIVE_OFFSET
    ):
        words = (
            "Split operation is only permitted for segments with overflow, and the problem path is "
        )
        exception = BrokerException(ILLEGAL_ARGUMENT, f"{words}{directory.name}/{log.name}")
        directory.fail(
            base,
            "offset-overflow",
            exception,
            name=log.name,
            way_out=message("way_out.impossible_base_offset"),
        )
    cuts = _find_cuts(directory, log, base)
    directory.delete_segment(base, "offset-overflow", message("start.split"))
    for (new_base, start), (_, stop) in zip(cuts, [*cuts[1:], (0, log.size_bytes)], strict=True):
        part = log.part(f"{file_stem(new_base)}.log", start, stop)
        _add(
            directory,
            part,
            new_base,
            why=message("start.part_of_segment", segment=base),
            config=config,
            behaviour=behaviour,
        )
    return [new_base for new_base, _ in cuts]


def _add(
    directory: LoadedDirectory,
    part: FileView,
    base: int,
    *,
    why: Message,
    config: IndexConfig,
    behaviour: ReleaseBehaviour,
) -> None:
    """Adds a part of a split; Kafka closes it, so its indexes equal those of a recovery."""
    with part.open_reader() as read:
        recovered_segment = recover(
            read, part.size_bytes, base, config, behaviour, stem=directory.path(base)
        )
    exception = recovered_segment.exception
    if exception:
        # the message ends with a path; Kafka gives the file another name while it writes it
        if exception.message.endswith("index"):
            exception = BrokerException(exception.class_name, f"{exception.message}.cleaned")
        way_out = message("way_out.impossible_base_offset")
        directory.fail(base, "offset-overflow", exception, name=part.name, way_out=way_out)
    directory.write_file(part, "offset-overflow", why, base)
    directory.write_index(base, "index", recovered_segment.closed_index(), "offset-overflow", why)
    directory.write_index(
        base, "timeindex", recovered_segment.closed_timeindex(), "offset-overflow", why
    )


def _find_cuts(directory: LoadedDirectory, log: FileView, base: int) -> list[Cut]:
    """Returns the cuts: at the first batch, and at each batch that does not fit the last part."""
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
        directory.fail(
            base,
            "offset-overflow",
            BrokerException("java.util.NoSuchElementException", ""),
            name=log.name,
            way_out=message("way_out.cut_torn_batch", bytes=walk.end.position),
            because=message("start.split_ends_in_torn_batch"),
        )
    return cuts
