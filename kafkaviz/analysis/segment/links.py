"""How .timeindex, .index and .log point at each other.

Which batch an entry means, and which entry a search for a batch lands on.

    .timeindex  slot 95   newest 09:29:44.123, offset 11625
    .index      slot 95   offset 11625, position 479997
    .log        position 479997: the batch of offsets 11612 to 11625

Slot 95 is this batch's own entry. A search for offset 11612 still lands on slot 94, the last whose
key is not above 11612, and steps over headers from there. Rows count the batches of the .log and
slots the places of an index, both from 0.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kafkaviz.format.batch import UNKNOWN

NONE = -1  # no such row or slot


class Aim(IntEnum):
    """Where an offset entry's position leads, beside where its key belongs."""

    EXACT = 0  # the start of the batch that holds the key
    # the start of an earlier batch: one entry for a complete append, as before Kafka 3.9.1 and in
    # 4.0.0; no offset is missed
    COARSE = 1
    # the start of a batch behind the one that holds the key: a search from there misses offsets
    PAST = 2
    INSIDE = 3  # into the middle of a batch: what is read there is no header
    BEYOND = 4  # at or after the end of the last batch
    UNORDERED = 5  # the key is not above the one before: a binary search may go astray


@dataclass(frozen=True, kw_only=True)
class Links:
    """The links of n batches, m offset entries and k time entries.

    NONE stands where there is no other end.
    """

    # (n,) the batch's own entry, which points at its start and not astray; of several the one whose
    # key it holds
    batch_slot: np.ndarray
    # (n,) the slot on which a search for the batch's first offset lands; NONE: it starts at byte 0
    batch_via: np.ndarray
    entry_batch: np.ndarray  # (m,) the batch that starts at the entry's position
    entry_home: np.ndarray  # (m,) the batch that holds the entry's key
    entry_aim: np.ndarray  # (m,) Aim
    entry_time: np.ndarray  # (m,) the time entry that was written with this offset entry
    time_batch: np.ndarray  # (k,) the batch that holds the time entry's offset
    # (k,) the offset entry it was written with; NONE: written when the segment rolled or closed
    time_slot: np.ndarray
    time_true: np.ndarray  # (k,) whether the newest record of that batch has the entry's timestamp

    @property
    def wrong_entries(self) -> np.ndarray:
        """The slots of .index that lead a search astray."""
        return np.flatnonzero(self.entry_aim >= Aim.PAST)

    @property
    def wrong_times(self) -> np.ndarray:
        """The slots of .timeindex that disagree with the .log."""
        return np.flatnonzero(~self.time_true)


def link(batches: np.ndarray, entries: np.ndarray, times: np.ndarray, base_offset: int) -> Links:
    """The links between batches and the written slots of both indexes.

    Args:
        batches: format.batch.BATCH.
        entries: the written slots, of log.segment's entry dtype.
        times: the written slots, of log.segment's entry dtype.
    """
    entry_batch, entry_home = (
        row_at_position(batches, entries["position"]),
        row_holding_offset(batches, entries["offset"]),
    )
    time_batch = row_holding_offset(batches, times["offset"])
    time_true = _agreeing_times(batches, times, time_batch)
    aims = _aims(batches, entries, entry_batch, entry_home)
    entry_time = _entry_twins(_newest_rows(batches), entry_home, time_batch, time_true)
    return Links(
        batch_slot=_inverse(
            np.where(aims <= Aim.COARSE, entry_batch, NONE), len(batches), aims == Aim.EXACT
        ),
        batch_via=landing_slot(entries, first_offsets(batches, base_offset)),
        entry_batch=entry_batch,
        entry_home=entry_home,
        entry_aim=aims,
        entry_time=entry_time,
        time_batch=time_batch,
        time_slot=_inverse(entry_time, len(times), np.ones(len(entries), bool)),
        time_true=time_true,
    )


def row_at_position(batches: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The row of the batch that starts at each position, NONE where none does."""
    rows = np.searchsorted(batches["position"], positions)
    is_found = rows < len(batches)
    is_found[is_found] = batches["position"][rows[is_found]] == positions[is_found]
    return np.where(is_found, rows, NONE)


def row_containing_byte(batches: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The row of the batch in which each byte lies, NONE for a byte outside all batches."""
    rows = np.searchsorted(batches["position"], positions, side="right") - 1
    is_found = rows >= 0
    is_found[is_found] = (
        positions[is_found] < (batches["position"] + batches["size_bytes"])[rows[is_found]]
    )
    return np.where(is_found, rows, NONE)


def row_holding_offset(batches: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The row of the first batch that ends at or after each offset, NONE behind the last.

    Offsets lost to compaction have one too.
    """
    rows = (
        np.searchsorted(np.maximum.accumulate(batches["last_offset"]), offsets)
        if len(batches)
        else np.zeros(len(offsets), int)
    )
    return np.where(rows < len(batches), rows, NONE)


def first_offsets(batches: np.ndarray, base_offset: int) -> np.ndarray:
    """The first offset of each batch.

    Of a compressed magic 0 or 1 wrapper, which does not have it, the least it can be.
    """
    base_offsets = batches["base_offset"]
    least_offsets = np.concatenate(([base_offset], batches["last_offset"][:-1] + 1))[: len(batches)]
    return np.where((base_offsets == UNKNOWN) & (batches["magic"] < 2), least_offsets, base_offsets)


def landing_slot(entries: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The slot before the first one whose key is above each offset.

    What Kafka's lookup gives as long as keys grow.
    """
    if not len(entries):
        return np.full(len(offsets), NONE)
    return np.searchsorted(np.maximum.accumulate(entries["offset"]), offsets, side="right") - 1


def _aims(
    batches: np.ndarray, entries: np.ndarray, entry_batch: np.ndarray, entry_home: np.ndarray
) -> np.ndarray:
    end = int(batches["position"][-1] + batches["size_bytes"][-1]) if len(batches) else 0
    home = np.where(entry_home == NONE, len(batches), entry_home)
    aims = np.where(
        entry_batch < home, Aim.COARSE, np.where(entry_batch > home, Aim.PAST, Aim.EXACT)
    )
    aims[entry_batch == NONE] = Aim.INSIDE
    aims[np.diff(entries["offset"], prepend=entries["offset"][:1] - 1) <= 0] = Aim.UNORDERED
    aims[(entries["position"] < 0) | (entries["position"] >= end) | (entry_home == NONE)] = (
        Aim.BEYOND
    )
    return aims.astype(np.uint8)


def _newest_rows(batches: np.ndarray) -> np.ndarray:
    """For each batch the earliest row, up to itself, that holds the largest timestamp so far.

    NONE while all are -1.
    """
    newest = (
        np.maximum.accumulate(batches["max_timestamp_ms"])
        if len(batches)
        else np.empty(0, np.int64)
    )
    is_newer = newest > np.concatenate(([-1], newest[:-1]))[: len(newest)]
    return (
        np.maximum.accumulate(np.where(is_newer, np.arange(len(batches)), NONE))
        if len(batches)
        else newest
    )


def _agreeing_times(batches: np.ndarray, times: np.ndarray, time_batch: np.ndarray) -> np.ndarray:
    is_true = time_batch != NONE
    is_true[is_true] = (
        batches["max_timestamp_ms"][time_batch[is_true]] == times["timestamp_ms"][is_true]
    )
    return is_true


def _entry_twins(
    newest_rows: np.ndarray, entry_home: np.ndarray, time_batch: np.ndarray, time_true: np.ndarray
) -> np.ndarray:
    """The time slot written with each offset entry.

    TimeIndex.maybeAppend writes only what is newer than the slot before.

    So a time entry goes with the first offset entry written while the newest record so far was in
    the batch it names. Where two name one batch, the one that agrees with the log goes first.
    """
    time_slots = np.full(len(entry_home), NONE)
    known_entries = np.flatnonzero(entry_home != NONE)
    newest_owners, first = np.unique(newest_rows[entry_home[known_entries]], return_index=True)
    owner_rows = np.searchsorted(newest_owners, time_batch)
    is_found = (owner_rows < len(newest_owners)) & (time_batch != NONE)
    is_found[is_found] = newest_owners[owner_rows[is_found]] == time_batch[is_found]
    for is_agreeing in (False, True):
        slots = np.flatnonzero(is_found & (time_true == is_agreeing))
        time_slots[known_entries[first[owner_rows[slots]]]] = slots
    return time_slots


def _inverse(targets: np.ndarray, length: int, preferred: np.ndarray) -> np.ndarray:
    """Which index has each target; where several have it the preferred one."""
    inverse = np.full(length, NONE)
    for mask in (~preferred, preferred):
        slots = np.flatnonzero(mask & (targets != NONE))
        inverse[targets[slots]] = slots
    return inverse
