"""An .index or .timeindex as text: its entries, and whether each entry matches the .log.

For each entry of a .timeindex, Kafka's tool looks up a position in the .index, and reads the .log
from there to the end. This module reads the .log once for all entries. Only positions that are not
the start of a batch need further reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kafkaviz.cli.dumping import MAX_INT, Console, DumpOptions, Report, java, records_file
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.lines import render
from kafkaviz.cli.dumping.records_file import RecordsFile
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_records import offsets_and_times
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.log.archives import archive

NOT_FOUND = -1
WARM_ENTRIES = 8192 // 8


@dataclass(frozen=True)
class OffsetEntries:
    """All slots of an .index as absolute offsets and positions (int64)."""

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
        """Returns the number of entries that Kafka's tool checks.

        The tool stops at the first slot after slot 0 that has the base offset.
        """
        return count_until_base(self.offsets, self.base_offset)


def count_until_base(offsets: np.ndarray, base_offset: int) -> int:
    """Counts the slots before the first unwritten one: a slot after slot 0 with `base_offset`."""
    unwritten = offsets[1:] == base_offset
    return 1 + int(np.argmax(unwritten)) if unwritten.any() else len(offsets)


def dump_offset_index(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    """Prints an .index. Raises JavaException where Kafka's tool throws."""
    base_offset = java.parse_long(path.rpartition("/")[2].partition(".")[0])
    with records_file.open_log(sibling_path(path, ".log")) as log:
        index = read_offset_entries(path, base_offset)
        if not len(index.offsets):
            console.line(f"{archive.display_text(path)} is empty.")
        elif options.index_sanity_check:
            index.check()
            console.line(f"{archive.display_text(path)} passed sanity check.")
        else:
            _print_offset_entries(index, log, options, console, report)


def sibling_path(path: str, suffix: str) -> str:
    """Returns the absolute path with another suffix: "/a/0.index", ".log" give "/a/0.log"."""
    folder, _, name = java.absolute(path).rpartition("/")
    return f"{folder}/{name.partition('.')[0]}{suffix}"


def read_offset_entries(path: str, base_offset: int) -> OffsetEntries:
    """Reads the slots of an .index. Raises JavaException if the file does not exist."""
    data = index_content(path)
    slots = offset_index.parse(data)
    offsets = slots["relative_offset"].astype("i8") + base_offset
    return OffsetEntries(
        java.absolute(path), base_offset, len(data), offsets, slots["position"].astype("i8")
    )


def index_content(path: str) -> bytes:
    """Returns the content of an index file.

    If the file does not exist, Kafka's tool creates it and throws. This function only throws.
    """
    try:
        return records_file.content(path)
    except JavaException as fault:
        missing = fault.java_class.endswith("NoSuchFileException")
        raise (
            JavaException(ILLEGAL_ARGUMENT, "Invalid max index size: -1") if missing else fault
        ) from None


def _print_offset_entries(
    index: OffsetEntries, log: RecordsFile, options: DumpOptions, console: Console, report: Report
) -> None:
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
    """Yields (slot, last offset of the batch at the slot's position).

    Raises JavaException if no batch starts at that position.
    """
    for slot, position in enumerate(positions.tolist()):
        row = log.first_batch(position, log.slice_stop(position, max_message_bytes))
        if row is None:
            raise JavaException(java.NO_SUCH_ELEMENT, position=position)
        yield slot, int(row["last_offset"])


@dataclass(frozen=True)
class TimeEntries:
    """All slots of a .timeindex, with absolute offsets."""

    path: str
    base_offset: int
    size_bytes: int
    timestamps_ms: np.ndarray
    offsets: np.ndarray

    def check(self) -> None:
        """Raises JavaException if Kafka's TimeIndex.sanityCheck throws."""
        prefix = (
            f"Corrupt time index found, time index file ({self.path}) has non-zero size but the "
            "last"
        )
        if len(self.offsets) and self.timestamps_ms[-1] < self.timestamps_ms[0]:
            first = self.timestamps_ms[0]
            last = self.timestamps_ms[-1]
            raise JavaException(
                java.CORRUPT_INDEX,
                f"{prefix} timestamp is {last} which is less than the first timestamp {first}",
            )
        if len(self.offsets) and self.offsets[-1] < self.base_offset:
            what = (
                f"offset is {self.offsets[-1]} which is less than the first offset "
                f"{self.base_offset}"
            )
            raise JavaException(java.CORRUPT_INDEX, f"{prefix} {what}")
        entry_bytes = time_index.ENTRY.itemsize
        if self.size_bytes % entry_bytes:
            what = (
                f"is corrupt, found {self.size_bytes} bytes which is neither positive nor a "
                f"multiple of {entry_bytes}"
            )
            raise JavaException(java.CORRUPT_INDEX, f"Time index file {self.path} {what}")

    def written_count(self) -> int:
        return count_until_base(self.offsets, self.base_offset)


def dump_time_index(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    """Prints a .timeindex. Raises JavaException where Kafka's tool throws."""
    base_offset = java.parse_long(path.rpartition("/")[2].partition(".")[0])
    with records_file.open_log(sibling_path(path, ".log")) as log:
        index = read_offset_entries(sibling_path(path, ".index"), base_offset)
        times = read_time_entries(path, base_offset)
        if options.index_sanity_check:
            times.check()
            console.line(f"{archive.display_text(path)} passed sanity check.")
        else:
            _print_time_entries(times, index, log, options=options, console=console, report=report)


def read_time_entries(path: str, base_offset: int) -> TimeEntries:
    """Reads the slots of a .timeindex. Raises JavaException if the file does not exist."""
    data = index_content(path)
    slots = time_index.parse(data)
    offsets = slots["relative_offset"].astype("i8") + base_offset
    return TimeEntries(
        java.absolute(path), base_offset, len(data), slots["timestamp_ms"].astype("i8"), offsets
    )


def _print_time_entries(
    times: TimeEntries,
    index: OffsetEntries,
    log: RecordsFile,
    *,
    options: DumpOptions,
    console: Console,
    report: Report,
) -> None:
    count = times.written_count()
    matches = Matches.find(
        log, floor_positions(index, times.offsets[:count]), times.offsets[:count]
    )
    printed_count = 0
    previous_ms = -1
    try:
        for slot in range(count):
            timestamp_ms = int(times.timestamps_ms[slot])
            offset = int(times.offsets[slot])
            _check(
                times.path,
                timestamp_ms,
                offset,
                previous_ms=previous_ms,
                match=matches.get(slot),
                log=log,
                report=report,
            )
            printed_count = slot + 1
            previous_ms = timestamp_ms
    finally:
        if printed_count and not options.verify_index_only:
            text = render(
                "timestamp: ",
                times.timestamps_ms[:printed_count],
                " offset: ",
                times.offsets[:printed_count],
                "\n",
            )
            console.write(text.data)


def _check(
    path: str,
    timestamp_ms: int,
    offset: int,
    *,
    previous_ms: int,
    match: np.void | None,
    log: RecordsFile,
    report: Report,
) -> None:
    """Compares a time entry with a batch and adds faults to the report.

    Args:
        match: the first batch whose last offset is `offset` or later; None: no such batch.
    """
    if match is None or match["last_offset"] != offset:
        log_offset = NOT_FOUND if match is None else int(match["last_offset"])
        report.not_found.setdefault(path, []).append((offset, log_offset))
        return
    largest_ms = largest_timestamp(log, match)
    if largest_ms != timestamp_ms:
        report.timestamp_mismatches.setdefault(path, []).append((timestamp_ms, largest_ms))
    if previous_ms >= timestamp_ms:
        report.out_of_order.setdefault(path, []).append((timestamp_ms, previous_ms))


def largest_timestamp(log: RecordsFile, row: np.void) -> int:
    """Returns the largest timestamp of a batch's records; -1 without records.

    Raises JavaException if the records cannot be read.
    """
    position = int(row["position"])
    try:
        parts = offsets_and_times(log.bytes_at(position, int(row["size_bytes"])))
        return max((int(times.max(initial=-1)) for _, times in parts), default=-1)
    except CorruptBytes as fault:
        raise java.from_records(
            fault, position + fault.position, at_open=row["magic"] < MAGIC_2
        ) from None


def floor_positions(index: OffsetEntries, offsets: np.ndarray) -> np.ndarray:
    """Returns, for each offset, the position of the last entry at or before the offset.

    The position is 0 without such an entry, as in Kafka's OffsetIndex.lookup.
    """
    if not len(index.offsets):
        return np.zeros(len(offsets), np.int64)
    slots = np.array([_floor_slot(index.offsets, offset) for offset in offsets.tolist()], np.int64)
    return np.where(slots < 0, 0, index.positions[slots])


def _floor_slot(keys: np.ndarray, target: int) -> int:
    """Returns the slot that AbstractIndex.indexSlotRangeFor finds, even if keys are out of order.

    Searches the last 1024 entries first.
    """
    last = len(keys) - 1
    warm = max(0, last - WARM_ENTRIES)
    if keys[warm] < target:
        low = warm
        high = last
    elif keys[0] > target:
        return -1
    else:
        low = 0
        high = warm
    while low < high:
        middle = (low + high + 1) // 2
        if keys[middle] == target:
            return middle
        low, high = (low, middle - 1) if keys[middle] > target else (middle, high)
    return low


@dataclass
class Matches:
    """The batches with which Kafka's tool compares the entries of a .timeindex.

    For each entry, the tool looks up the offset in the .index, and reads the .log from the position
    found. It takes the first batch whose last offset is the entry's offset or later.

    Attributes:
        rows: the batch for each slot of the .timeindex.
        exceptions: the exception that ends Kafka's tool, by slot of the .timeindex. The tool reads
            the .log to the end, so the fault may be in any batch after the position found.
    """

    rows: dict[int, np.void] = field(default_factory=dict)
    exceptions: dict[int, JavaException] = field(default_factory=dict)

    def get(self, slot: int) -> np.void | None:
        """Returns the batch for a slot, or None. Raises JavaException where Kafka's tool throws."""
        if slot in self.exceptions:
            raise self.exceptions[slot]
        return self.rows.get(slot)

    @classmethod
    def find(cls, log: RecordsFile, positions: np.ndarray, offsets: np.ndarray) -> "Matches":
        """Finds the batch for each of `offsets`, searching the .log from each of `positions`.

        Reads the .log once, and again from positions that are not the start of a batch.
        """
        matches = cls()
        open_slots = np.arange(len(positions))
        out_of_reach = [
            slot for slot in open_slots.tolist() if not 0 <= positions[slot] <= log.size_bytes
        ]
        for slot in out_of_reach:
            matches.exceptions[slot] = _slice_exception(log, int(positions[slot]))
        open_slots = np.setdiff1d(open_slots, out_of_reach)
        open_slots = matches._pass(log, 0, open_slots, positions, offsets)
        while len(open_slots):
            open_slots = matches._pass(
                log, int(positions[open_slots[0]]), open_slots, positions, offsets
            )
        return matches

    def _pass(
        self,
        log: RecordsFile,
        start: int,
        slots: np.ndarray,
        positions: np.ndarray,
        offsets: np.ndarray,
    ) -> np.ndarray:
        """Reads batches from `start`. Returns the slots that do not point to a batch's start."""
        unique_positions = np.unique(positions[slots])
        batch_starts = set()
        batches = log.batches(start, log.slice_stop(start, MAX_INT))
        open_slots = slots
        for chunk in batches:
            batch_starts.update(np.intersect1d(unique_positions, chunk["position"]).tolist())
            open_slots = self._take(chunk, open_slots, positions, offsets)
        batch_starts.add(batches.end.position)
        mask = np.isin(positions[slots], list(batch_starts))
        if fault := batches.exception():
            self.exceptions.update((slot, fault) for slot in slots[mask].tolist())
        for slot in slots[~mask].tolist():
            self.rows.pop(slot, None)
        return slots[~mask]

    def _take(
        self, chunk: np.ndarray, slots: np.ndarray, positions: np.ndarray, offsets: np.ndarray
    ) -> np.ndarray:
        starts = np.ascontiguousarray(chunk["position"])
        last_offsets = np.ascontiguousarray(chunk["last_offset"])
        candidates = slots[
            (positions[slots] <= starts[-1]) & (offsets[slots] <= last_offsets.max())
        ]
        grow = bool((last_offsets[1:] >= last_offsets[:-1]).all())
        firsts = np.searchsorted(starts, positions[candidates])
        for slot, first in zip(candidates.tolist(), firsts.tolist(), strict=True):
            rest = last_offsets[first:]
            offset = offsets[slot]
            place = int(np.searchsorted(rest, offset)) if grow else int(np.argmax(rest >= offset))
            if place < len(rest) and rest[place] >= offset:
                self.rows[slot] = chunk[first + place].copy()
        if len(candidates):
            return slots[[slot not in self.rows for slot in slots.tolist()]]
        return slots


def _slice_exception(log: RecordsFile, position: int) -> JavaException:
    try:
        log.slice_stop(position, MAX_INT)
    except JavaException as fault:
        return fault
    raise ValueError(f"a slice can start at {position}")
