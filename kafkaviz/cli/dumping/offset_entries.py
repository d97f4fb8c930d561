"""An .index as text: its entries, and whether the batch at each position has the entry's offset."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkaviz.cli.dumping import java, records_file
from kafkaviz.cli.dumping.console import Console, Report
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.lines import render
from kafkaviz.cli.dumping.options import DumpOptions
from kafkaviz.cli.dumping.records_file import RecordsFile
from kafkaviz.format import offset_index
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.log.archives import archive


@dataclass(frozen=True)
class OffsetEntries:
    """All slots of an .index, as absolute offsets and positions (int64)."""

    path: str
    base_offset: int
    size_bytes: int
    offsets: np.ndarray
    positions: np.ndarray

    def check(self) -> None:
        """Raises JavaException if Kafka's OffsetIndex.sanityCheck throws."""
        if len(self.offsets) and self.offsets[-1] < self.base_offset:
            raise JavaException(
                java.CORRUPT_INDEX,
                (
                    f"Corrupt index found, index file {self.path} has non-zero size but the last "
                    f"offset is {self.offsets[-1]} which is less than the base offset "
                    f"{self.base_offset}"
                ),
            )
        entry_bytes = offset_index.ENTRY.itemsize
        if self.size_bytes % entry_bytes:
            what = (
                f"is corrupt, found {self.size_bytes} bytes which is neither positive nor a "
                f"multiple of {entry_bytes}"
            )
            raise JavaException(java.CORRUPT_INDEX, f"Index file {self.path} {what}")

    def written_count(self) -> int:
        """Returns how many entries Kafka's tool checks.

        The tool treats a later slot with the base offset as if it was never written.
        """
        return count_until_base(self.offsets, self.base_offset)


def count_until_base(offsets: np.ndarray, base_offset: int) -> int:
    """Returns the number of slots before the first one, after slot 0, that has the base offset."""
    unwritten = offsets[1:] == base_offset
    return 1 + int(np.argmax(unwritten)) if unwritten.any() else len(offsets)


def dump(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    """Prints one file; raises JavaException if Kafka's tool would die."""
    base_offset = java.parse_long(path.rpartition("/")[2].partition(".")[0])
    with records_file.open_log(sibling_path(path, ".log")) as log:
        index = read(path, base_offset)
        if not len(index.offsets):
            console.line(f"{archive.display_text(path)} is empty.")
        elif options.index_sanity_check:
            index.check()
            console.line(f"{archive.display_text(path)} passed sanity check.")
        else:
            _entries(index, log, options, console, report)


def sibling_path(path: str, suffix: str) -> str:
    """Returns the absolute path of the same segment's file with another suffix."""
    folder, _, name = java.absolute(path).rpartition("/")
    return f"{folder}/{name.partition('.')[0]}{suffix}"


def read(path: str, base_offset: int) -> OffsetEntries:
    """Reads the slots of an .index; raises JavaException if it does not exist."""
    data = index_content(path)
    slots = offset_index.parse(data)
    offsets = slots["relative_offset"].astype("i8") + base_offset
    return OffsetEntries(
        java.absolute(path), base_offset, len(data), offsets, slots["position"].astype("i8")
    )


def index_content(path: str) -> bytes:
    """Returns the content of an index file.

    If it does not exist, Kafka's tool creates it and dies. This function only raises the exception.
    """
    try:
        return records_file.content(path)
    except JavaException as fault:
        missing = fault.java_class.endswith("NoSuchFileException")
        raise (
            JavaException(ILLEGAL_ARGUMENT, "Invalid max index size: -1") if missing else fault
        ) from None


def _entries(
    index: OffsetEntries, log: RecordsFile, options: DumpOptions, console: Console, report: Report
) -> None:
    """Prints one line per entry.

    Wrong entries go into the report. An entry whose position holds no batch ends the run.
    """
    count = index.written_count()
    printed_count = 0
    try:
        for slot, last_offset in last_offsets(
            log, index.positions[:count], options.max_message_bytes
        ):
            printed_count = slot + 1
            if last_offset != index.offsets[slot]:
                report.mismatches.setdefault(index.path, {})[int(index.offsets[slot])] = last_offset
    finally:
        if printed_count and not options.verify_index_only:
            text = render(
                "offset: ",
                index.offsets[:printed_count],
                " position: ",
                index.positions[:printed_count],
                "\n",
            )
            console.write(text.data)


def last_offsets(
    log: RecordsFile, positions: np.ndarray, max_message_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yields each slot with the last offset of the batch at its position.

    Raises JavaException if no batch starts there.
    """
    for slot, position in enumerate(positions.tolist()):
        row = log.first_batch(position, log.slice_stop(position, max_message_bytes))
        if row is None:
            raise JavaException(java.NO_SUCH_ELEMENT, position=position)
        yield slot, int(row["last_offset"])
