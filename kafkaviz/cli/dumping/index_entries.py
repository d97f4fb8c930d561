"""An .index or .timeindex as text: its entries, and whether each entry matches the .log.

For each entry of a .timeindex, Kafka's tool looks up a position in the .index, and reads the .log
from there to the end. This module reads the .log once for all entries. Only positions that are not
the start of a batch need further reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkaviz.cli.dumping import MAX_INT, TextDump, java, records_file
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.lines import render
from kafkaviz.cli.dumping.records_file import RecordsFile
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_records import offsets_and_times
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.log.archives import archive

LAYOUTS = {"index": offset_index, "timeindex": time_index}
VALUES = {"index": "position", "timeindex": "timestamp_ms"}
NOT_FOUND = -1
WARM_ENTRIES = 8192 // offset_index.ENTRY.itemsize


@dataclass(frozen=True)
class IndexEntries:
    """All slots of an .index or .timeindex.

    Attributes:
        path: the absolute path of the file.
        offsets: the absolute offset of each slot (int64).
        values: the position of each slot of an .index, or the timestamp of each slot of a
            .timeindex (int64).
    """

    path: str
    base_offset: int
    size_bytes: int
    offsets: np.ndarray
    values: np.ndarray

    def check(self) -> None:
        """Raises JavaException if sanityCheck of Kafka's OffsetIndex or TimeIndex throws."""
        kind = self.path.rpartition(".")[2]
        is_time = kind == "timeindex"
        name = "time index" if is_time else "index"
        what = ""
        if len(self.offsets) and is_time and self.values[-1] < self.values[0]:
            last_ms = self.values[-1]
            what = f"timestamp is {last_ms} which is less than the first timestamp {self.values[0]}"
        elif len(self.offsets) and self.offsets[-1] < self.base_offset:
            base = f"{'first' if is_time else 'base'} offset {self.base_offset}"
            what = f"offset is {self.offsets[-1]} which is less than the {base}"
        if what:
            file = f"{name} file {f'({self.path})' if is_time else self.path}"
            words = f"Corrupt {name} found, {file} has non-zero size but the last {what}"
            raise JavaException(java.CORRUPT_INDEX, words)
        entry_bytes = LAYOUTS[kind].ENTRY.itemsize
        if self.size_bytes % entry_bytes:
            words = (
                f"{name.capitalize()} file {self.path} is corrupt, found {self.size_bytes} bytes "
                f"which is neither positive nor a multiple of {entry_bytes}"
            )
            raise JavaException(java.CORRUPT_INDEX, words)

    def written_count(self) -> int:
        """Returns the number of entries that Kafka's tool checks.

        The tool stops at the first slot after slot 0 whose offset is the segment's base offset.
        """
        unwritten = self.offsets[1:] == self.base_offset
        return 1 + int(np.argmax(unwritten)) if unwritten.any() else len(self.offsets)


def base_offset_of(path: str) -> int:
    """Returns the offset in a file's name. Raises JavaException where Kafka's tool throws."""
    return java.parse_long(path.rpartition("/")[2].partition(".")[0])


def sibling_path(path: str, suffix: str) -> str:
    """Returns the absolute path with another suffix: "/a/0.index", ".log" give "/a/0.log"."""
    folder, _, name = java.absolute(path).rpartition("/")
    return f"{folder}/{name.partition('.')[0]}{suffix}"


def parse_entries(path: str, base_offset: int, data: bytes) -> IndexEntries:
    kind = path.rpartition(".")[2]
    slots = LAYOUTS[kind].parse(data)
    offsets = slots["relative_offset"].astype("i8") + base_offset
    values = slots[VALUES[kind]].astype("i8")
    return IndexEntries(java.absolute(path), base_offset, len(data), offsets, values)


def _read_entries(path: str, base_offset: int) -> IndexEntries:
    """Reads the slots of an index file.

    If the file does not exist, Kafka's tool creates it and throws. This function only throws.
    """
    try:
        return parse_entries(path, base_offset, records_file.content(path))
    except JavaException as fault:
        if fault.java_class.endswith("NoSuchFileException"):
            raise JavaException(ILLEGAL_ARGUMENT, "Invalid max index size: -1") from None
        raise


def dump_index(path: str, dump: TextDump) -> None:
    """Prints an .index or .timeindex. Raises JavaException where Kafka's tool throws."""
    base_offset = base_offset_of(path)
    is_time = path.endswith(".timeindex")
    with records_file.open_log(sibling_path(path, ".log")) as log:
        index = _read_entries(sibling_path(path, ".index") if is_time else path, base_offset)
        entries = _read_entries(path, base_offset) if is_time else index
        if not is_time and not len(index.offsets):
            dump.console.line(f"{archive.display_text(path)} is empty.")
        elif dump.options.index_sanity_check:
            entries.check()
            dump.console.line(f"{archive.display_text(path)} passed sanity check.")
        elif is_time:
            _print_time_entries(entries, index, log, dump)
        else:
            _print_offset_entries(index, log, dump)


def _print_offset_entries(index: IndexEntries, log: RecordsFile, dump: TextDump) -> None:
    positions = index.values[: index.written_count()]
    printed_count = 0
    try:
        for last_offset in _last_offsets(log, positions, dump.options.max_message_bytes):
            offset = int(index.offsets[printed_count])
            if last_offset != offset:
                dump.report.mismatches[index.path][offset] = last_offset
            printed_count += 1
    finally:
        if printed_count and not dump.options.verify_index_only:
            offsets = index.offsets[:printed_count]
            text = render("offset: ", offsets, " position: ", positions[:printed_count], "\n")
            dump.console.write(text.data)


def _last_offsets(log: RecordsFile, positions: np.ndarray, max_message_bytes: int) -> Iterator[int]:
    """Yields the last offset of the batch at each position.

    Raises JavaException if no batch starts at that position.
    """
    for position in positions.tolist():
        row = log.first_batch(position, log.slice_stop(position, max_message_bytes))
        if row is None:
            raise JavaException(java.NO_SUCH_ELEMENT)
        yield int(row["last_offset"])


def _print_time_entries(
    times: IndexEntries, index: IndexEntries, log: RecordsFile, dump: TextDump
) -> None:
    offsets = times.offsets[: times.written_count()]
    matches = _Matches(log, _floor_positions(index, offsets), offsets)
    printed_count = 0
    previous_ms = -1
    try:
        for slot, offset in enumerate(offsets.tolist()):
            timestamp_ms = int(times.values[slot])
            row = matches.get(slot)
            if row is None or row["last_offset"] != offset:
                log_offset = NOT_FOUND if row is None else int(row["last_offset"])
                dump.report.not_found[times.path].append((offset, log_offset))
            else:
                largest_ms = _largest_timestamp(log, row)
                if largest_ms != timestamp_ms:
                    pair = (timestamp_ms, largest_ms)
                    dump.report.timestamp_mismatches[times.path].append(pair)
                if previous_ms >= timestamp_ms:
                    dump.report.out_of_order[times.path].append((timestamp_ms, previous_ms))
            printed_count += 1
            previous_ms = timestamp_ms
    finally:
        if printed_count and not dump.options.verify_index_only:
            times_ms = times.values[:printed_count]
            text = render("timestamp: ", times_ms, " offset: ", offsets[:printed_count], "\n")
            dump.console.write(text.data)


def _largest_timestamp(log: RecordsFile, row: np.void) -> int:
    """Returns the largest timestamp of a batch's records; -1 without records.

    Raises JavaException if the records cannot be read.
    """
    try:
        parts = offsets_and_times(log.batch_bytes(row))
        return max((int(times.max(initial=-1)) for _, times in parts), default=-1)
    except CorruptBytes as fault:
        raise java.from_records(fault, at_open=row["magic"] < MAGIC_2) from None


def _floor_positions(index: IndexEntries, offsets: np.ndarray) -> np.ndarray:
    """Returns, for each offset, the position of the last entry at or before the offset.

    The position is 0 if all entries are after the offset, as in Kafka's OffsetIndex.lookup.
    """
    if not len(index.offsets):
        return np.zeros(len(offsets), np.int64)
    slots = np.array([_floor_slot(index.offsets, offset) for offset in offsets.tolist()], np.int64)
    return np.where(slots < 0, 0, index.values[slots])


def _floor_slot(keys: np.ndarray, target: int) -> int:
    """Returns the slot at which Kafka's binary search (AbstractIndex.indexSlotRangeFor) ends.

    Makes the probes that Kafka makes, so that the slot is right even if keys are out of order.
    Searches either the last 1024 entries or the entries before them. Returns -1 if no slot is
    found.
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


class _Matches:
    """The batches with which Kafka's tool compares the entries of a .timeindex.

    For each entry, the tool looks up the offset in the .index, and reads the .log from the position
    found. It takes the first batch whose last offset is the entry's offset or later. It then reads
    the .log to the end, so any fault after that position ends the tool.
    """

    def __init__(self, log: RecordsFile, positions: np.ndarray, offsets: np.ndarray) -> None:
        """Finds the batch for each of `offsets`, searching the .log from each of `positions`.

        Reads the .log once, and again from positions that are not the start of a batch.
        """
        self._log = log
        self._positions = positions
        self._offsets = offsets
        self._rows: dict[int, np.void] = {}
        self._exceptions: dict[int, JavaException] = {}
        is_in_log = (positions >= 0) & (positions <= log.size_bytes)
        for slot in np.flatnonzero(~is_in_log).tolist():
            if exception := log.slice_exception(int(positions[slot]), MAX_INT):
                self._exceptions[slot] = exception
        open_slots = self._read_from(0, np.flatnonzero(is_in_log))
        while len(open_slots):
            open_slots = self._read_from(int(positions[open_slots[0]]), open_slots)

    def get(self, slot: int) -> np.void | None:
        """Returns the batch for a slot; None if there is none.

        Raises JavaException if Kafka's tool throws an exception at this slot.
        """
        if slot in self._exceptions:
            raise self._exceptions[slot]
        return self._rows.get(slot)

    def _read_from(self, start: int, slots: np.ndarray) -> np.ndarray:
        """Reads the .log from `start`. Returns the slots whose position is not a batch's start."""
        positions = self._positions[slots]
        unique_positions = np.unique(positions)
        batch_starts = set()
        batches = self._log.batches(start, self._log.slice_stop(start, MAX_INT))
        open_slots = slots
        for chunk in batches:
            batch_starts.update(np.intersect1d(unique_positions, chunk["position"]).tolist())
            open_slots = self._take(chunk, open_slots)
        batch_starts.add(batches.end.position)
        is_start = np.isin(positions, list(batch_starts))
        if fault := batches.exception():
            self._exceptions.update(dict.fromkeys(slots[is_start].tolist(), fault))
        for slot in slots[~is_start].tolist():
            self._rows.pop(slot, None)
        return slots[~is_start]

    def _take(self, chunk: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Finds batches for `slots` in a chunk. Returns the slots without a batch."""
        starts = np.ascontiguousarray(chunk["position"])
        last_offsets = np.ascontiguousarray(chunk["last_offset"])
        is_candidate = self._positions[slots] <= starts[-1]
        candidates = slots[is_candidate & (self._offsets[slots] <= last_offsets.max())]
        grow = bool((last_offsets[1:] >= last_offsets[:-1]).all())
        firsts = np.searchsorted(starts, self._positions[candidates])
        for slot, first in zip(candidates.tolist(), firsts.tolist(), strict=True):
            rest = last_offsets[first:]
            offset = self._offsets[slot]
            place = int(np.searchsorted(rest, offset)) if grow else int(np.argmax(rest >= offset))
            if place < len(rest) and rest[place] >= offset:
                self._rows[slot] = chunk[first + place].copy()
        if len(candidates):
            return slots[[slot not in self._rows for slot in slots.tolist()]]
        return slots
