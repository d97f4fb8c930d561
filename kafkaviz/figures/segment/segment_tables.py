"""The tables below the segment ruler: rows around the pinned (chosen) batch, and all rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkaviz import units
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE, Aim
from kafkaviz.binary.codec import CODECS
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import MAGIC_2, UNKNOWN, codec
from kafkaviz.messages import say
from kafkaviz.render.sentences import join_details

ROWS_PER_TABLE = 11
MAGIC_2_FIELDS = ("leader_epoch", "producer_id", "producer_epoch", "base_sequence")
CODEC_NAMES = (*CODECS, "5", "6", "7")  # an unknown codec id is a number, as in the catalog
FAULTS = {
    Aim.PAST: "past",
    Aim.INSIDE: "inside",
    Aim.BEYOND: "beyond",
    Aim.NO_BATCH: "no_batch",
    Aim.UNORDERED: "unordered",
}


class PinnedRow(NamedTuple):
    """The batch that the reader has chosen: its row, and its slot in each index or `NONE`."""

    row: int
    slot: int
    time_slot: int


class BatchRow(NamedTuple):
    position: str
    size: str
    offsets: str
    records: str
    newest: str
    codec: str
    epoch: str | None  # None if no batch of the segment has an epoch (magic 0 and 1)
    crc: str
    magic: int
    slot: int  # the slot of the entry that points to this batch
    found_from_slot: int  # the slot that a search for this batch finds
    fault: str  # names wrong entries that point to this batch, or that should
    is_pinned: bool


class IndexRow(NamedTuple):
    slot: str
    byte: str
    raw_hex: str  # the eight bytes of the slot in the file
    relative_offset: str
    offset: str
    position: str
    gap: str
    batch: str
    fault: str  # where the entry points if that is wrong, else ""
    is_pinned: bool


class TimeRow(NamedTuple):
    slot: str
    byte: str
    timestamp: str
    offset: str
    index_slot: str  # the slot of the offset entry that was written together with this one
    later_by: str
    fault: str  # how the entry disagrees with the log, or ""
    is_pinned: bool


def find_pinned_row(
    anatomy: Anatomy, row: int, slot: int = NONE, time_slot: int = NONE
) -> PinnedRow:
    """Returns the batch in `row`, with the slot of the batch's entry in each index.

    If `slot` is `NONE`, the slot in the offset index is the first that exists of:

    1. the slot that was written together with `time_slot`;
    2. a slot that points to the batch;
    3. the slot that a search for the batch finds.
    """
    links = anatomy.links
    if slot == NONE and time_slot != NONE:
        slot = int(links.time_slot[time_slot])
    if slot == NONE:
        slot = int(links.own_slots(row, row + 1)[0])
    if slot == NONE:
        slot = int(links.search_slots(anatomy.batches, row, row + 1)[0])
    if time_slot == NONE and slot != NONE:
        time_slot = int(links.entry_time[slot])
    if time_slot == NONE:
        lone_slots = np.flatnonzero((links.time_batch == row) & (links.time_slot == NONE))
        time_slot = int(lone_slots[0]) if len(lone_slots) else NONE
    return PinnedRow(row, slot, time_slot)


def rows_around(count: int, row: int) -> range:
    """Returns up to `ROWS_PER_TABLE` rows around `row`, of a table with `count` rows."""
    first_row = max(0, min(count - ROWS_PER_TABLE, row - ROWS_PER_TABLE // 2))
    return range(first_row, min(count, first_row + ROWS_PER_TABLE))


def batch_rows(anatomy: Anatomy, pinned: PinnedRow) -> list[BatchRow]:
    aim = anatomy.links.entry_aim
    wrong_slots = np.flatnonzero((aim >= Aim.PAST) & (aim < Aim.UNORDERED))
    return [
        _batch_row(anatomy, row, is_pinned=row == pinned.row, wrong_slots=wrong_slots)
        for row in rows_around(len(anatomy.batches), pinned.row)
    ]


def _batch_row(anatomy: Anatomy, row: int, *, is_pinned: bool, wrong_slots: np.ndarray) -> BatchRow:
    batch = anatomy.batches.row(row)
    links = anatomy.links
    epoch = str(batch["leader_epoch"]) if batch["leader_epoch"] >= 0 else units.MISSING
    count = int(batch["record_count"])
    codec_id = int(codec(batch))
    codec_name = say("segment.codec_n", number=codec_id)
    if codec_id < len(CODECS):
        codec_name = CODECS[codec_id]
    return BatchRow(
        position=units.format_count(int(batch["position"])),
        size=f"{units.format_count(int(batch['size_bytes']))} B",
        offsets=offset_range_text(batch),
        records=units.format_count(count) if count >= 0 else units.MISSING,
        newest=units.clock(int(batch["max_timestamp_ms"])),
        codec=codec_name,
        epoch=epoch if anatomy.counts.has_epochs else None,
        crc=f"{int(batch['crc']):08x}",
        magic=int(batch["magic"]),
        slot=int(links.own_slots(row, row + 1)[0]),
        found_from_slot=int(links.search_slots(anatomy.batches, row, row + 1)[0]),
        fault=_wrong_entries_text(anatomy, row, wrong_slots),
        is_pinned=is_pinned,
    )


def _wrong_entries_text(anatomy: Anatomy, row: int, wrong_slots: np.ndarray) -> str:
    links = anatomy.links
    rows_by_key = (
        (links.entry_batch[wrong_slots], "segment.leads_here"),
        (links.entry_home[wrong_slots], "segment.belongs_here"),
    )
    return join_details(
        say(key, slot=units.format_count(int(slot)))
        for entry_rows, key in rows_by_key
        for slot in wrong_slots[entry_rows == row]
    )


def offset_range_text(batch: np.void) -> str:
    """Returns the offsets of a batch, such as "180–219"; for a legacy wrapper only the last one."""
    last = units.format_count(int(batch["last_offset"]))
    if batch["base_offset"] >= 0:
        return f"{units.format_count(int(batch['base_offset']))}–{last}"
    return say("ruler.up_to", last=last)


def index_rows(anatomy: Anatomy, pinned: PinnedRow) -> list[IndexRow]:
    """Returns the .index slots around `pinned.slot`. With `NONE`, returns the first slots."""
    return [
        _index_row(anatomy, slot, is_pinned=slot == pinned.slot)
        for slot in rows_around(len(anatomy.index.entries), max(0, pinned.slot))
    ]


def _index_row(anatomy: Anatomy, slot: int, *, is_pinned: bool) -> IndexRow:
    entries = anatomy.index.entries
    links = anatomy.links
    position = int(entries["position"][slot])
    relative = int(entries["relative_offset"][slot])
    gap = position - (int(entries["position"][slot - 1]) if slot else 0)
    row = int(links.entry_batch[slot])
    batch = say("segment.none_starts")
    if row != NONE:
        batch = offset_range_text(anatomy.batches.row(row))
    fault = FAULTS.get(Aim(int(links.entry_aim[slot])))
    return IndexRow(
        slot=units.format_count(slot),
        byte=units.format_count(slot * offset_index.ENTRY.itemsize),
        raw_hex=f"{relative & 0xFFFFFFFF:08x} {position & 0xFFFFFFFF:08x}",
        relative_offset=units.format_count(relative),
        offset=units.format_count(int(entries["offset"][slot])),
        position=units.format_count(position),
        gap=f"{units.format_count(gap)} B".replace("-", "−"),
        batch=batch,
        fault=say(f"segment.fault_{fault}") if fault else "",
        is_pinned=is_pinned,
    )


def time_rows(anatomy: Anatomy, pinned: PinnedRow, closing_event: str) -> list[TimeRow]:
    """Returns the .timeindex slots around `pinned.time_slot`. With `NONE`, the first slots."""
    return [
        _time_row(anatomy, slot, is_pinned=slot == pinned.time_slot, closing_event=closing_event)
        for slot in rows_around(len(anatomy.times.entries), max(0, pinned.time_slot))
    ]


def _time_row(anatomy: Anatomy, slot: int, *, is_pinned: bool, closing_event: str) -> TimeRow:
    times = anatomy.times.entries
    index_slot = int(anatomy.links.time_slot[slot])
    timestamp_ms = int(times["timestamp_ms"][slot])
    slot_text = say(f"segment.none_{closing_event}" if closing_event else "common.none")
    if index_slot != NONE:
        slot_text = say("common.slot", slot=units.format_count(index_slot))
    later_by = units.MISSING
    if slot:
        later_by = units.duration(timestamp_ms - int(times["timestamp_ms"][slot - 1]))
    return TimeRow(
        slot=units.format_count(slot),
        byte=units.format_count(slot * time_index.ENTRY.itemsize),
        timestamp=units.moment(timestamp_ms),
        offset=units.format_count(int(times["offset"][slot])),
        index_slot=slot_text,
        later_by=later_by.replace("-", "−"),
        fault="" if anatomy.links.time_true[slot] else say("segment.another_time"),
        is_pinned=is_pinned,
    )


def all_rows(anatomy: Anatomy, table: str) -> Iterator[pa.Table]:
    """Returns all rows of "batches", "index" or "timeindex", as tables with the same columns.

    Numbers are not formatted. A missing value is null.
    """
    tables = {"batches": _batch_tables, "index": _index_tables, "timeindex": _time_tables}[table]
    return map(pa.table, tables(anatomy))


def _batch_tables(anatomy: Anatomy) -> Iterator[dict[str, pa.Array]]:
    row = 0
    least_offset = anatomy.segment.base_offset
    links = anatomy.links
    for batches in anatomy.batches:
        yield {
            **_batch_columns(batches),
            # without wrong entries, unlike the column of this name in the catalog
            "entry_slot": _slots_or_none(links.own_slots(row, row + len(batches))),
            "found_from_slot": _slots_or_none(links.search_slots_of(batches, least_offset)),
        }
        row += len(batches)
        least_offset = int(batches["last_offset"][-1]) + 1 if len(batches) else least_offset


def _batch_columns(batches: np.ndarray) -> dict[str, pa.Array]:
    """Returns the fields of batches. A field is null where it is null in the catalog."""
    columns = _columns(batches)
    is_legacy = batches["magic"] < MAGIC_2
    is_wrapped = is_legacy & (batches["record_count"] == UNKNOWN)
    is_untimed = batches["magic"] < 1
    missing = {
        **dict.fromkeys(MAGIC_2_FIELDS, is_legacy),
        **dict.fromkeys(("base_offset", "record_count"), is_wrapped),
        "base_timestamp_ms": is_untimed | is_wrapped,
        "max_timestamp_ms": is_untimed,
    }
    for field, mask in missing.items():
        columns[field] = pa.array(np.ascontiguousarray(batches[field]), mask=mask)
    columns["codec"] = pa.array(np.array(CODEC_NAMES)[codec(batches)])
    return columns


def _index_tables(anatomy: Anatomy) -> Iterator[dict[str, pa.Array]]:
    entries = anatomy.index.entries
    yield {
        **_columns(entries),
        "gap_bytes": pa.array(np.diff(entries["position"], prepend=0)),
        "time_slot": _slots_or_none(anatomy.links.entry_time),
    }


def _time_tables(anatomy: Anatomy) -> Iterator[dict[str, pa.Array]]:
    columns = _columns(anatomy.times.entries)
    yield {**columns, "entry_slot": _slots_or_none(anatomy.links.time_slot)}


def _columns(table: np.ndarray) -> dict[str, pa.Array]:
    return {name: pa.array(np.ascontiguousarray(table[name])) for name in field_names(table.dtype)}


def _slots_or_none(slots: np.ndarray) -> pa.Array:
    return pa.array(slots, mask=slots == NONE)
