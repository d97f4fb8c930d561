"""How .timeindex, .index and .log are linked.

The links show which batch an entry points to, and at which entry a search for a batch starts:

    .timeindex  slot 95   newest 09:29:44.123, offset 11625
    .index      slot 95   offset 11625, position 479997
    .log        position 479997: the batch of offsets 11612 to 11625

Slot 95 is this batch's own entry. But a search for offset 11612 starts at slot 94, the last entry
with a key up to 11612. Rows are the numbers of batches in the .log, and slots are the numbers of
entries in an index. Both count from 0.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.binary.layouts import field_names
from kafkaviz.format.batch import UNKNOWN
from kafkaviz.format.walk import BatchObserver

NONE = -1  # no such row or slot
BELOW_ALL = np.iinfo(np.int64).min
# the batch to which an entry refers; without such a batch, the position is negative
BATCH_REF: np.dtype = np.dtype(
    [("position", "i8"), ("base_offset", "i8"), ("last_offset", "i8"), ("record_count", "i8")]
)


class Aim(IntEnum):
    """Where an .index entry points. Its right batch is the one that contains the entry's key.

    To find an offset, Kafka takes the last entry whose key is not above it, and reads headers from
    the entry's position on. So the position must be the start of the right batch, or of an earlier
    batch. An entry with Aim PAST or greater can make a search fail.
    """

    EXACT = 0  # the start of the batch that ends with the key
    FIRST_KEY = 1  # the start of the batch that begins with the key, as written up to 1.1
    # The start of an append of several batches. Kafka before 3.9.1, and 4.0.0, write one entry for
    # it. The key is the append's last offset, or the last offset that a cleaner kept.
    COARSE = 2
    # The start of the key's batch or of an earlier one, but none of the above. No release writes
    # such an entry, but the only harm is that a search may read more headers.
    FOREIGN = 3
    PAST = 4  # the start of a later batch: a search misses the offsets before it
    INSIDE = 5  # the middle of a batch, where no header starts
    BEYOND = 6  # before the first byte, or at or after the end of the last batch
    NO_BATCH = 7  # no batch has the key: a broker start may find a wrong end of the log
    UNORDERED = 8  # EXACT, FIRST_KEY or COARSE, but the key is not above the previous one


@dataclass(frozen=True, kw_only=True)
class Links:
    """The links between m offset entries, k time entries and the batches of a segment.

    Batches are row numbers, and entries are slots. A missing row or slot is NONE.
    """

    batch_count: int
    base_offset: int  # base offset of the segment
    keys: np.ndarray  # (m,) the largest offset of all entries up to each entry
    # The batches with an entry of their own, ascending. The entry points to the batch's start and
    # is not wrong. See _own_entries for a batch with several such entries.
    indexed_rows: np.ndarray
    indexed_slots: np.ndarray
    entry_batch: np.ndarray  # (m,) the batch that starts at the entry's position
    entry_home: np.ndarray  # (m,) the batch that has the entry's key
    entry_aim: np.ndarray  # (m,) Aim
    entry_time: np.ndarray  # (m,) the time entry that was written with this offset entry
    entry_records: np.ndarray  # (m,) number of records in entry_batch; NONE if unknown
    home_position: np.ndarray  # (m,) position of entry_home
    home_last_offset: np.ndarray  # (m,) last offset of entry_home
    home_newest_ms: np.ndarray  # (m,) largest timestamp up to and including entry_home
    time_batch: np.ndarray  # (k,) the batch that has the time entry's offset
    time_position: np.ndarray  # (k,) position of time_batch
    # (k,) the offset entry written together with it; NONE: written alone, at a roll or shutdown
    time_slot: np.ndarray
    time_true: np.ndarray  # (k,) whether the newest record of that batch has the entry's timestamp

    @property
    def wrong_entries(self) -> np.ndarray:
        """The slots of the .index that can make a search fail."""
        return np.flatnonzero(self.entry_aim >= Aim.PAST)

    @property
    def wrong_times(self) -> np.ndarray:
        return np.flatnonzero(~self.time_true)

    def own_slots(self, first: int, stop: int) -> np.ndarray:
        """Returns the slot of the entry that points to each row in [first, stop), or NONE."""
        slots = np.full(stop - first, NONE)
        start, end = np.searchsorted(self.indexed_rows, (first, stop))
        slots[self.indexed_rows[start:end] - first] = self.indexed_slots[start:end]
        return slots

    def search_slots(self, batches: BatchTable, first: int, stop: int) -> np.ndarray:
        """Returns the slot at which the search for each batch's first offset starts.

        The slot is NONE if the search starts at byte 0.
        """
        least_offset = int(batches.row(first - 1)["last_offset"]) + 1 if first else self.base_offset
        return self.search_slots_of(batches.window(first, stop), least_offset)

    def search_slots_of(self, batches: np.ndarray, least_offset: int) -> np.ndarray:
        """Returns the slot at which the search for each batch's first offset starts.

        The slot is NONE if the search starts at byte 0. `least_offset` is as in `first_offsets`.
        """
        return np.searchsorted(self.keys, first_offsets(batches, least_offset), side="right") - 1


class LinkBuilder(BatchObserver[Links]):
    """Builds the links of a segment while its .log is read.

    `entries` and `times` are written slots, OFFSET_ENTRY and TIME_ENTRY of log.segment.
    """

    def __init__(self, entries: np.ndarray, times: np.ndarray, base_offset: int) -> None:
        self._entries = entries
        self._times = times
        self._base_offset = base_offset
        self._positions = _SortedKeys(entries["position"])
        self._offsets = _SortedKeys(entries["offset"])
        self._time_offsets = _SortedKeys(times["offset"])
        self._homes = unset_refs(len(entries))
        self._entry_batch, self._entry_records, self._entry_home = (
            np.full(len(entries), NONE) for _ in range(3)
        )
        self._home_owner, self._home_newest_ms = (np.full(len(entries), NONE) for _ in range(2))
        self._time_batch, self._time_position, self._time_batch_ms = (
            np.full(len(times), NONE) for _ in range(3)
        )
        self._count = 0
        self._end_position = 0
        self._reached_offset = self._newest_ms = BELOW_ALL
        self._newest_row = NONE

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        positions, last_offsets, times_ms = (
            batches[name].copy() for name in ("position", "last_offset", "max_timestamp_ms")
        )
        least_offset = self._base_offset
        if self._count:
            least_offset = int(self._reached_offset) + 1
        reached_offsets = np.maximum(np.maximum.accumulate(last_offsets), self._reached_offset)
        newest_ms, newest_rows = self._newest(times_ms)
        slots = self._positions.take(int(positions[-1]))
        rows = np.searchsorted(positions, self._entries["position"][slots])
        is_start = positions[rows] == self._entries["position"][slots]
        self._entry_batch[slots[is_start]] = rows[is_start] + self._count
        self._entry_records[slots[is_start]] = batches["record_count"][rows[is_start]]
        slots = self._offsets.take(int(reached_offsets[-1]))
        rows = np.searchsorted(reached_offsets, self._entries["offset"][slots])
        self._entry_home[slots] = rows + self._count
        self._home_owner[slots] = newest_rows[rows]
        self._homes[slots] = batch_refs(batches, rows)
        self._homes["base_offset"][slots] = first_offsets(batches, least_offset)[rows]
        self._home_newest_ms[slots] = newest_ms[rows]
        slots = self._time_offsets.take(int(reached_offsets[-1]))
        rows = np.searchsorted(reached_offsets, self._times["offset"][slots])
        self._time_batch[slots] = rows + self._count
        self._time_position[slots] = positions[rows]
        self._time_batch_ms[slots] = times_ms[rows]
        self._count += len(batches)
        self._end_position = int(positions[-1] + batches["size_bytes"][-1])
        self._reached_offset = reached_offsets[-1]
        self._newest_ms = newest_ms[-1]
        self._newest_row = int(newest_rows[-1])

    def _newest(self, times_ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the largest timestamp up to each batch, and the first row that has it.

        The row is NONE if all timestamps so far are -1.
        """
        newest_ms = np.maximum(np.maximum.accumulate(times_ms), self._newest_ms)
        before_ms = -1 if self._newest_ms == BELOW_ALL else self._newest_ms
        is_newer = newest_ms > np.concatenate(([before_ms], newest_ms[:-1]))
        rows = np.arange(self._count, self._count + len(times_ms))
        return newest_ms, np.maximum.accumulate(np.where(is_newer, rows, self._newest_row))

    def result(self) -> Links:
        return self.links_of(np.ones(len(self._entries), bool), np.ones(len(self._times), bool))

    def links_of(self, is_entry: np.ndarray, is_time: np.ndarray) -> Links:
        """Returns the links between the selected entries and the batches.

        Args:
            is_entry: a mask of the offset entries, shape (m,).
            is_time: a mask of the time entries, shape (k,).
        """
        entries = self._entries[is_entry]
        times = self._times[is_time]
        entry_batch = self._entry_batch[is_entry]
        entry_home = self._entry_home[is_entry]
        time_batch = self._time_batch[is_time]
        time_true = (time_batch != NONE) & (self._time_batch_ms[is_time] == times["timestamp_ms"])
        homes = self._homes[is_entry]
        aims = aims_of(entries, entry_batch != NONE, homes, self._end_position)
        entry_time = _time_slots_of_entries(
            self._home_owner[is_entry], entry_home, time_batch, time_true
        )
        indexed_rows, indexed_slots = _own_entries(entry_batch, aims)
        return Links(
            batch_count=self._count,
            base_offset=self._base_offset,
            keys=np.maximum.accumulate(entries["offset"]),
            indexed_rows=indexed_rows,
            indexed_slots=indexed_slots,
            entry_batch=entry_batch,
            entry_home=entry_home,
            entry_aim=aims,
            entry_time=entry_time,
            entry_records=self._entry_records[is_entry],
            home_position=homes["position"],
            home_last_offset=homes["last_offset"],
            home_newest_ms=self._home_newest_ms[is_entry],
            time_batch=time_batch,
            time_position=self._time_position[is_time],
            time_slot=_inverse(entry_time, len(times)),
            time_true=time_true,
        )


class _SortedKeys:
    def __init__(self, keys: np.ndarray) -> None:
        self._slots = np.argsort(keys, kind="stable")
        self._keys = keys[self._slots]
        self._cursor = 0

    def take(self, largest: int) -> np.ndarray:
        """Returns the slots with keys up to `largest`, by key, without those returned before."""
        start = self._cursor
        self._cursor = max(start, int(np.searchsorted(self._keys, largest, "right")))
        return self._slots[start : self._cursor]


def link(batches: np.ndarray, entries: np.ndarray, times: np.ndarray, base_offset: int) -> Links:
    builder = LinkBuilder(entries, times, base_offset)
    builder.observe(batches)
    return builder.result()


def row_at_position(batches: np.ndarray, positions: np.ndarray) -> np.ndarray:
    rows = np.searchsorted(batches["position"], positions)
    is_found = rows < len(batches)
    is_found[is_found] = batches["position"][rows[is_found]] == positions[is_found]
    return np.where(is_found, rows, NONE)


def first_offsets(batches: np.ndarray, least_offset: int) -> np.ndarray:
    """Returns the first offset of each batch.

    A compressed wrapper of magic 0 or 1 does not store its first offset. For a wrapper, the result
    is the lowest possible first offset: the offset after the previous batch, or `least_offset` if
    the wrapper is the first batch.
    """
    base_offsets = batches["base_offset"]
    least_offsets = np.append(least_offset, batches["last_offset"][:-1] + 1)[: len(batches)]
    return np.where((base_offsets == UNKNOWN) & (batches["magic"] < 2), least_offsets, base_offsets)


def unset_refs(count: int) -> np.ndarray:
    refs = np.zeros(count, BATCH_REF)
    refs["position"] = NONE
    return refs


def batch_refs(batches: np.ndarray, rows: np.ndarray) -> np.ndarray:
    refs = np.empty(len(rows), BATCH_REF)
    for name in field_names(BATCH_REF):
        refs[name] = batches[name][rows]
    return refs


def aims_of(
    entries: np.ndarray, is_start: np.ndarray, homes: np.ndarray, end_position: int
) -> np.ndarray:
    """Returns the Aim of each entry in an .index.

    Args:
        entries: the entries, as log.segment.OFFSET_ENTRY.
        is_start: whether a batch starts at the position of each entry.
        homes: one BATCH_REF per entry: the first batch whose last offset is at or above its key.
        end_position: the end of the last batch.
    """
    keys = entries["offset"]
    positions = entries["position"]
    is_home = positions == homes["position"]
    ends = keys == homes["last_offset"]
    # only if records of the batch are missing, the key can be the last offset that a cleaner kept
    has_gaps = homes["record_count"] != homes["last_offset"] - homes["base_offset"] + 1
    rules = {
        Aim.BEYOND: (positions < 0) | (positions >= end_position),
        Aim.INSIDE: ~is_start,
        Aim.NO_BATCH: homes["position"] == NONE,
        Aim.PAST: positions > homes["position"],
        Aim.EXACT: is_home & ends,
        Aim.FIRST_KEY: is_home & (keys == homes["base_offset"]),
        Aim.COARSE: ends | (has_gaps & (keys >= homes["base_offset"])),
    }
    aims = np.select(list(rules.values()), list(rules), Aim.FOREIGN).astype(np.int8)
    # Kafka writes no entry for the first append of a segment, and writes entries in ascending order
    slots = np.flatnonzero(aims <= Aim.COARSE)
    aims[slots[np.diff(positions[slots], prepend=0) <= 0]] = Aim.FOREIGN
    aims[slots[1:][np.diff(keys[slots]) <= 0]] = Aim.UNORDERED
    return aims


def _own_entries(entry_batch: np.ndarray, aims: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the rows of the batches to which entries point, and one entry's slot per batch.

    If several entries point to a batch, returns the slot of the last one whose key is the batch's
    first or last offset. If none has such a key, returns the last slot. Ignores wrong entries.
    """
    slots = np.flatnonzero(aims < Aim.PAST)
    slots = slots[np.lexsort((slots, aims[slots] <= Aim.FIRST_KEY, entry_batch[slots]))]
    rows = entry_batch[slots]
    is_last = np.append(rows[1:] != rows[:-1], True)[: len(rows)]
    return rows[is_last], slots[is_last]


def _time_slots_of_entries(
    home_owner: np.ndarray, entry_home: np.ndarray, time_batch: np.ndarray, time_true: np.ndarray
) -> np.ndarray:
    """Returns, for each offset entry, the slot of the time entry written with it, or NONE.

    TimeIndex.maybeAppend writes a time entry only if there is a newer timestamp. If the newest
    record is the same for several offset entries, only the first of them has a time entry.
    `home_owner` has, per offset entry, the batch with the newest record up to `entry_home`.
    """
    time_slots = np.full(len(entry_home), NONE)
    known_entries = np.flatnonzero(entry_home != NONE)
    newest_owners, first = np.unique(home_owner[known_entries], return_index=True)
    owner_rows = np.searchsorted(newest_owners, time_batch)
    is_found = (owner_rows < len(newest_owners)) & (time_batch != NONE)
    is_found[is_found] = newest_owners[owner_rows[is_found]] == time_batch[is_found]
    for is_agreeing in (False, True):
        slots = np.flatnonzero(is_found & (time_true == is_agreeing))
        time_slots[known_entries[first[owner_rows[slots]]]] = slots
    return time_slots


def _inverse(targets: np.ndarray, length: int) -> np.ndarray:
    inverse = np.full(length, NONE)
    slots = np.flatnonzero(targets != NONE)
    inverse[targets[slots]] = slots
    return inverse
