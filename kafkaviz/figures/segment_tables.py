"""The tables below the segment ruler: the rows around the pin as text, and the whole of each as
CSV.
"""

import io
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE, Aim
from kafkaviz.figures.listed import beside
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import CODECS, codec
from kafkaviz.words import say

ROWS = 11
TABLES = ("batches", "index", "timeindex")
FAULTS = {Aim.PAST: "past", Aim.INSIDE: "inside", Aim.BEYOND: "beyond", Aim.UNORDERED: "unordered"}


class Chosen(NamedTuple):
    """What is pinned: a row, and the slots of both indexes that go with it (NONE: there is
    none).
    """

    row: int
    slot: int
    time: int


class BatchRow(NamedTuple):
    """One batch; slot is its own entry, via the one a search for it lands on, fault says which
    entry should point here or should not.

    epoch is None where no batch of the segment has one: before magic 2 there was none.
    """

    position: str
    size: str
    offsets: str
    records: str
    newest: str
    codec: str
    epoch: str | None
    crc: str
    magic: int
    slot: int
    via: int
    fault: str
    chosen: bool


class IndexRow(NamedTuple):
    """One slot of .index; raw holds the eight bytes as they lie in the file, fault says where the
    entry leads if that is wrong.
    """

    slot: str
    byte: str
    raw: str
    relative_offset: str
    offset: str
    position: str
    gap: str
    batch: str
    fault: str
    chosen: bool


class TimeRow(NamedTuple):
    """One slot of .timeindex; slot_of_index is the offset entry it was written with, fault says
    what the log disagrees with.
    """

    slot: str
    byte: str
    timestamp: str
    offset: str
    slot_of_index: str
    later: str
    fault: str
    chosen: bool


def chosen(anatomy: Anatomy, row: int, slot: int = NONE, time: int = NONE) -> Chosen:
    """The slots that go with a row: those it was chosen by, else its own, else those a search for
    it lands on.
    """
    links = anatomy.links
    if slot == NONE:
        slot = int(links.time_slot[time]) if time != NONE else NONE
    if slot == NONE:
        slot = (
            int(links.batch_slot[row])
            if links.batch_slot[row] != NONE
            else int(links.batch_via[row])
        )
    if time == NONE and slot != NONE:
        time = int(links.entry_time[slot])
    if time == NONE:
        alone = np.flatnonzero((links.time_batch == row) & (links.time_slot == NONE))
        time = int(alone[0]) if len(alone) else NONE
    return Chosen(row, slot, time)


def around(count: int, at: int) -> range:
    """The rows of a table of `count` that are shown: eleven, the chosen one in the middle where it
    can be.
    """
    first = max(0, min(count - ROWS, at - ROWS // 2))
    return range(first, min(count, first + ROWS))


def batch_rows(anatomy: Anatomy, pin: Chosen) -> list[BatchRow]:
    """The batches around the pin."""
    aim = anatomy.links.entry_aim
    wrong = np.flatnonzero((aim >= Aim.PAST) & (aim < Aim.UNORDERED))
    return [
        _batch_row(anatomy, row, row == pin.row, wrong)
        for row in around(len(anatomy.batches), pin.row)
    ]


def _batch_row(anatomy: Anatomy, row: int, is_chosen: bool, wrong: np.ndarray) -> BatchRow:
    """wrong: slots whose entries point where they should not."""
    batch, links = anatomy.batches[row], anatomy.links
    epoch = str(batch["leader_epoch"]) if batch["leader_epoch"] >= 0 else units.MISSING
    kind = int(codec(batch))
    return BatchRow(
        position=units.group(int(batch["position"])),
        size=f"{units.group(int(batch['size_bytes']))} B",
        offsets=range_of(batch),
        records=units.group(int(batch["record_count"]))
        if batch["record_count"] >= 0
        else units.MISSING,
        newest=units.clock(int(batch["max_timestamp_ms"])),
        codec=_codec(kind),
        epoch=epoch if anatomy.has_epochs else None,
        crc=f"{int(batch['crc']):08x}",
        magic=int(batch["magic"]),
        slot=int(links.batch_slot[row]),
        via=int(links.batch_via[row]),
        fault=_astray(anatomy, row, wrong),
        chosen=is_chosen,
    )


def _codec(kind: int) -> str:
    return CODECS[kind] if kind < len(CODECS) else say("segment.codec_n", number=kind)


def _astray(anatomy: Anatomy, row: int, wrong: np.ndarray) -> str:
    """Which of these entries point at this batch and should not, or should and do not."""
    links = anatomy.links
    told = (
        (links.entry_batch[wrong], "segment.leads_here"),
        (links.entry_home[wrong], "segment.belongs_here"),
    )
    return beside(
        say(key, slot=units.group(int(slot))) for rows, key in told for slot in wrong[rows == row]
    )


def range_of(batch: np.void) -> str:
    """A batch's offsets; a compressed magic 0 or 1 wrapper tells the last one only."""
    last = units.group(int(batch["last_offset"]))
    return (
        f"{units.group(int(batch['base_offset']))}–{last}"
        if batch["base_offset"] >= 0
        else say("segment.offsets_up_to", last=last)
    )


def index_rows(anatomy: Anatomy, pin: Chosen) -> list[IndexRow]:
    """The slots of .index around the one that goes with the pin; the first ones if none does."""
    return [
        _index_row(anatomy, slot, slot == pin.slot)
        for slot in around(len(anatomy.index.entries), max(0, pin.slot))
    ]


def _index_row(anatomy: Anatomy, slot: int, is_chosen: bool) -> IndexRow:
    entries, links = anatomy.index.entries, anatomy.links
    position, relative = int(entries["position"][slot]), int(entries["relative_offset"][slot])
    gap = position - (int(entries["position"][slot - 1]) if slot else 0)
    row, fault = int(links.entry_batch[slot]), FAULTS.get(Aim(int(links.entry_aim[slot])))
    return IndexRow(
        slot=units.group(slot),
        byte=units.group(slot * offset_index.ENTRY.itemsize),
        raw=f"{relative & 0xFFFFFFFF:08x} {position & 0xFFFFFFFF:08x}",
        relative_offset=units.group(relative),
        offset=units.group(int(entries["offset"][slot])),
        position=units.group(position),
        gap=f"{units.group(gap)} B".replace("-", "−"),
        batch=range_of(anatomy.batches[row]) if row != NONE else say("segment.none_starts"),
        fault=say(f"segment.fault_{fault}") if fault else "",
        chosen=is_chosen,
    )


def time_rows(anatomy: Anatomy, pin: Chosen, closing: str) -> list[TimeRow]:
    """The slots of .timeindex around the one that goes with the pin; closing: as
    segment_words.closing.
    """
    return [
        _time_row(anatomy, slot, slot == pin.time, closing)
        for slot in around(len(anatomy.times.entries), max(0, pin.time))
    ]


def _time_row(anatomy: Anatomy, slot: int, is_chosen: bool, closing: str) -> TimeRow:
    times, twin = anatomy.times.entries, int(anatomy.links.time_slot[slot])
    timestamp_ms, without = (
        int(times["timestamp_ms"][slot]),
        say(f"segment.none_{closing}" if closing else "segment.none"),
    )
    return TimeRow(
        slot=units.group(slot),
        byte=units.group(slot * time_index.ENTRY.itemsize),
        timestamp=units.moment(timestamp_ms),
        offset=units.group(int(times["offset"][slot])),
        slot_of_index=say("segment.slot_n", slot=units.group(twin)) if twin != NONE else without,
        later=units.duration(timestamp_ms - int(times["timestamp_ms"][slot - 1])).replace("-", "−")
        if slot
        else units.MISSING,
        fault="" if anatomy.links.time_true[slot] else say("segment.another_time"),
        chosen=is_chosen,
    )


def csv(anatomy: Anatomy, table: str) -> bytes:
    """One of TABLES whole, a row a batch or written slot, as UTF-8 with a head; numbers are plain,
    an empty cell is no value.
    """
    columns = {"batches": _batch_table, "index": _index_table, "timeindex": _time_table}[table](
        anatomy
    )
    text = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(columns), text, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return text.getvalue()


def _names(rows: np.ndarray) -> tuple[str, ...]:
    """The names of its fields."""
    return cast(tuple[str, ...], rows.dtype.names)


def _batch_table(anatomy: Anatomy) -> dict[str, pa.Array]:
    batches = anatomy.batches
    columns = {name: pa.array(np.ascontiguousarray(batches[name])) for name in _names(batches)}
    for unknown in ("base_offset", "record_count"):
        columns[unknown] = pa.array(
            np.ascontiguousarray(batches[unknown]), mask=batches[unknown] < 0
        )
    names = [*CODECS, *(f"codec {number}" for number in range(len(CODECS), 8))]
    columns["codec"] = pa.array(np.array(names)[codec(batches)])
    return {
        **columns,
        "entry_slot": _slots_or_none(anatomy.links.batch_slot),
        "found_from_slot": _slots_or_none(anatomy.links.batch_via),
    }


def _index_table(anatomy: Anatomy) -> dict[str, pa.Array]:
    entries = anatomy.index.entries
    columns = {name: pa.array(np.ascontiguousarray(entries[name])) for name in _names(entries)}
    return {
        **columns,
        "gap_bytes": pa.array(np.diff(entries["position"], prepend=0)),
        "time_slot": _slots_or_none(anatomy.links.entry_time),
    }


def _time_table(anatomy: Anatomy) -> dict[str, pa.Array]:
    times = anatomy.times.entries
    columns = {name: pa.array(np.ascontiguousarray(times[name])) for name in _names(times)}
    return {**columns, "entry_slot": _slots_or_none(anatomy.links.time_slot)}


def _slots_or_none(slots: np.ndarray) -> pa.Array:
    return pa.array(slots, mask=slots == NONE)
