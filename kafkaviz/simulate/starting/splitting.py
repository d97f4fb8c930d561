"""A segment with offsets too far from its base offset: a load splits it (KAFKA-6264), or ends.

As LocalLog.splitOverflowedSegment of Kafka 4.3.1, made for what releases up to 1.1 could write:
offsets that leave the 31 bits of an index entry, and stay beyond. One such offset in the middle, a
damaged byte, is refused: only the last batch is looked at.
"""

from kafkaviz.format.offset_index import MOST_RELATIVE
from kafkaviz.format.walk import Walk
from kafkaviz.simulate.config import IndexConfig, Profile
from kafkaviz.simulate.recovering.recovery import ILLEGAL_ARGUMENT, Raised, recover
from kafkaviz.simulate.recovering.wrappers import with_first_offsets
from kafkaviz.simulate.starting import way_outs
from kafkaviz.simulate.starting.directory import Directory
from kafkaviz.simulate.starting.log_end import end_of, refuse_corrupt
from kafkaviz.simulate.stored import StoredFile
from kafkaviz.units import file_stem

Cut = tuple[int, int]  # (base offset, position) of a segment that a split makes


def split(directory: Directory, base: int, config: IndexConfig, of: Profile) -> list[int]:
    """Puts segments in the place of one, and gives their base offsets."""
    log = directory.existing(base, "log")
    if end_of(directory, log, directory.get(base, "index"), base) - 1 - base <= MOST_RELATIVE:
        words = (
            "Split operation is only permitted for segments with overflow, and the problem path is "
        )
        raised = Raised(ILLEGAL_ARGUMENT, f"{words}{directory.name}/{log.name}")
        directory.fail(base, "offset-overflow", raised, log.name, way_outs.BAD_OFFSET)
    cuts = _cuts(directory, log, base)
    directory.delete_segment(base, "offset-overflow", "its offsets do not fit it: it is split")
    for (new_base, start), (_, stop) in zip(cuts, [*cuts[1:], (0, log.size_bytes)], strict=True):
        part = log.part(f"{file_stem(new_base)}.log", start, stop)
        _add(
            directory,
            part,
            new_base,
            f"a part of segment {base}, whose offsets do not fit it",
            config,
            of,
        )
    return [new_base for new_base, _ in cuts]


def _add(
    directory: Directory, part: StoredFile, base: int, why: str, config: IndexConfig, of: Profile
) -> None:
    """A segment that a split made; it is closed like one that was written, so its indexes are those
    of a recovery.
    """
    with part.opened() as read:
        found = recover(read, part.size_bytes, base, config, of)
    directory.put_file(part, "offset-overflow", why, base)
    directory.put(base, "index", found.closed_index(), "offset-overflow", why)
    directory.put(base, "timeindex", found.closed_timeindex(), "offset-overflow", why)


def _cuts(directory: Directory, log: StoredFile, base: int) -> list[Cut]:
    """Where the split cuts: at the first batch, and at each that does not fit the segment begun
    before.
    """
    cuts: list[Cut] = []
    with log.opened() as read:
        walk = Walk(read, 0, log.size_bytes)
        for batches in walk:
            for position, first, last in with_first_offsets(read, batches)[
                ["position", "base_offset", "last_offset"]
            ].tolist():
                if not cuts or not 0 <= last - cuts[-1][0] <= MOST_RELATIVE:
                    cuts.append((first, position))
    refuse_corrupt(directory, base, log, walk)
    if walk.end.reason != "end":
        raised = Raised(
            "java.util.NoSuchElementException",
            "the last batch of the segment to be split is not whole",
        )
        directory.fail(base, "offset-overflow", raised, log.name, way_outs.CORRUPT_LOG)
    return cuts
