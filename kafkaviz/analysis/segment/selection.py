"""The pin: which batch of a segment to look at.

It is the batch of a requested offset, or, where none was named, an instructive one.

Of 40 batches whose index has a wrong entry in slot 3, the instructive one is where slot 3 leads; of
a sound segment, an indexed batch of several records somewhat before the middle.
"""

from enum import StrEnum
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.format import offset_index, time_index

VISIBLE_ENTRIES = 4.81  # entries a window shows at first: what has room for its numbers
DEFAULT_ENTRY_SHARE = 0.45  # of the entries: a pin nobody chose stands a little before the middle
OFFSET_DIGITS = 19  # of the largest one; Python refuses to read thousands of digits


class NoRowReason(StrEnum):
    """Why an offset has no row."""

    DEFAULT = ""
    NO_NUMBER = "no number"
    ELSEWHERE = "not in this segment"


class Selection(NamedTuple):
    """An offset somebody asked for, its row, and if it has none why not.

    "" is nobody's, and its row an instructive one; slot and time are then the slots to look at,
    where they are what matters.
    """

    offset: str
    row: int | None
    why: NoRowReason = NoRowReason.DEFAULT
    slot: int = NONE
    time: int = NONE


def select_offset(anatomy: Anatomy, text: str) -> Selection:
    """The row of the batch that holds an offset; for "" what to look at first."""
    if not text:
        return default_selection(anatomy)
    first, last = offsets(anatomy)
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit():
        return Selection(text, None, NoRowReason.NO_NUMBER)
    if len(digits) > OFFSET_DIGITS or not first <= int(digits) <= last:
        return Selection(text, None, NoRowReason.ELSEWHERE)
    return Selection(text, anatomy.batches.row_holding_offset(int(digits)))


def offsets(anatomy: Anatomy) -> tuple[int, int]:
    """The first and the last offset of a segment that has a batch."""
    first = int(cast(np.void, anatomy.counts.first)["base_offset"])
    base_offset = first if first >= 0 else anatomy.segment.base_offset
    return base_offset, anatomy.counts.last_offset


def default_selection(anatomy: Anatomy) -> Selection:
    """What to show first.

    An entry that leads astray, the end of a file in use or cut, else an entry of several records in
    the middle.
    """
    links = anatomy.links
    if len(links.wrong_entries):
        slot = int(links.wrong_entries[0])
        return Selection(
            "", int(max(links.entry_batch[slot], links.entry_home[slot], 0)), slot=slot
        )
    if len(links.wrong_times):
        time_slot = int(links.wrong_times[0])
        return Selection("", int(max(links.time_batch[time_slot], 0)), time=time_slot)
    rows = links.indexed_rows
    if not len(rows):
        return Selection("", len(anatomy.batches) // 2)
    if anatomy.tail or anatomy.index.unwritten_slots or anatomy.index.trailing_bytes:
        return Selection("", _row_near_end(anatomy))
    middle = int(len(rows) * DEFAULT_ENTRY_SHARE) + 1
    with_records = rows[middle:][links.entry_records[links.indexed_slots[middle:]] >= 3]
    return Selection("", int(with_records[0] if len(with_records) else rows[len(rows) // 2]))


def _row_near_end(anatomy: Anatomy) -> int:
    """The last entry but two, or a later one if a window cannot show both that and the end."""
    links = anatomy.links
    positions = anatomy.index.entries["position"][links.indexed_slots[-3:]]
    is_shown = positions > positions[-1] - window_bytes(anatomy) // 2
    return int(links.indexed_rows[-3:][np.argmax(is_shown)])


def row_at_byte(anatomy: Anatomy, position: int) -> int:
    """The row at a byte of the .log; the last one for a byte behind it."""
    row = anatomy.batches.row_containing_byte(position)
    return row if row != NONE else len(anatomy.batches) - 1 if position > 0 else 0


def select_byte(anatomy: Anatomy, kind: str, byte: int) -> Selection:
    """What goes with a byte of the "log", "index" or "timeindex".

    Its batch, or its slot and the batch that this leads to.
    """
    links = anatomy.links
    if kind == "index" and byte // offset_index.ENTRY.itemsize < len(anatomy.index.entries):
        slot = byte // offset_index.ENTRY.itemsize
        return Selection(
            "", int(max(links.entry_batch[slot], links.entry_home[slot], 0)), slot=slot
        )
    if kind == "timeindex" and byte // time_index.ENTRY.itemsize < len(anatomy.times.entries):
        time_slot = byte // time_index.ENTRY.itemsize
        return Selection("", int(max(links.time_batch[time_slot], 0)), time=time_slot)
    return (
        Selection("", row_at_byte(anatomy, byte)) if kind == "log" else default_selection(anatomy)
    )


def window_bytes(anatomy: Anatomy) -> int:
    """A window with room for five entries.

    Without entries, for forty batches; never less than one and a half of the median batch.
    """
    median = anatomy.density.gap_median_bytes
    batch = anatomy.counts.median_bytes
    return max(int(median * VISIBLE_ENTRIES) if median else 40 * batch, batch * 3 // 2)
