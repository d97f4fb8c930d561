"""Selects the batch of a segment to show: the one with a requested offset, or a default.

For example, if slot 3 of the .index is wrong, the default is the batch that slot 3 points to. In a
sound segment, the default is an indexed batch with several records, a little before the middle.
"""

from enum import StrEnum
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE, Links
from kafkaviz.format import offset_index, time_index

VISIBLE_ENTRIES = 4.81  # the first window shows this many entries; there is room for their numbers
DEFAULT_ENTRY_SHARE = 0.45  # the default batch is after this share of the entries
OFFSET_DIGITS = 19  # no offset has more digits; Python refuses to convert thousands of digits


class NoRowReason(StrEnum):
    DEFAULT = ""
    NO_NUMBER = "no number"
    ELSEWHERE = "not in this segment"


class Selection(NamedTuple):
    """The batch to show, or the reason why there is none."""

    offset: str  # the requested offset as text; "": no offset was requested
    row: int | None  # of the batch; None: `why` is the reason
    why: NoRowReason = NoRowReason.DEFAULT
    slot: int = NONE  # the slot of the .index to show
    time: int = NONE  # the slot of the .timeindex to show


def select_offset(anatomy: Anatomy, text: str) -> Selection:
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
    """Returns the first and last offset of a segment with at least one batch."""
    first = int(cast(np.void, anatomy.counts.first)["base_offset"])
    base_offset = first if first >= 0 else anatomy.segment.base_offset
    return base_offset, anatomy.counts.last_offset


def default_selection(anatomy: Anatomy) -> Selection:
    """Returns the batch to show first.

    The first rule that applies decides:

    1. An entry is wrong: the batch of that entry.
    2. No batch has an entry: the middle batch.
    3. Other bytes follow the last batch or the last .index entry: a batch near the end.
    4. In all other cases: an indexed batch near the middle, with several records if possible.
    """
    links = anatomy.links
    if len(links.wrong_entries):
        return _select_slot(links, int(links.wrong_entries[0]))
    if len(links.wrong_times):
        return _select_time_slot(links, int(links.wrong_times[0]))
    rows = links.indexed_rows
    if not len(rows):
        return Selection("", len(anatomy.batches) // 2)
    if anatomy.tail or anatomy.index.unwritten_slots or anatomy.index.trailing_bytes:
        return Selection("", _row_near_end(anatomy))
    middle = int(len(rows) * DEFAULT_ENTRY_SHARE) + 1
    with_records = rows[middle:][links.entry_records[links.indexed_slots[middle:]] >= 3]
    return Selection("", int(with_records[0] if len(with_records) else rows[len(rows) // 2]))


def _select_slot(links: Links, slot: int) -> Selection:
    row = max(links.entry_batch[slot], links.entry_home[slot], 0)
    return Selection("", int(row), slot=slot)


def _select_time_slot(links: Links, slot: int) -> Selection:
    return Selection("", int(max(links.time_batch[slot], 0)), time=slot)


def _row_near_end(anatomy: Anatomy) -> int:
    """Returns the row of an indexed batch near the end of the log.

    Takes the first of the last three indexed batches that is less than half of `window_bytes`
    before the last one.
    """
    links = anatomy.links
    positions = anatomy.index.entries["position"][links.indexed_slots[-3:]]
    is_shown = positions > positions[-1] - window_bytes(anatomy) // 2
    return int(links.indexed_rows[-3:][np.argmax(is_shown)])


def row_at_byte(anatomy: Anatomy, position: int) -> int:
    row = anatomy.batches.row_containing_byte(position)
    if row == NONE:
        return len(anatomy.batches) - 1 if position > 0 else 0
    return row


def select_byte(anatomy: Anatomy, kind: str, byte: int) -> Selection:
    """Returns the selection for a byte of the "log", "index" or "timeindex".

    In an index, selects the slot at that byte, and its batch. If no entry is there, returns the
    default selection.
    """
    slot = byte // offset_index.ENTRY.itemsize
    if kind == "index" and slot < len(anatomy.index.entries):
        return _select_slot(anatomy.links, slot)
    time_slot = byte // time_index.ENTRY.itemsize
    if kind == "timeindex" and time_slot < len(anatomy.times.entries):
        return _select_time_slot(anatomy.links, time_slot)
    if kind == "log":
        return Selection("", row_at_byte(anatomy, byte))
    return default_selection(anatomy)


def window_bytes(anatomy: Anatomy) -> int:
    """Returns the .log bytes to show at once: about five entries, or without entries 40 batches."""
    median = anatomy.density.gap_median_bytes
    batch = anatomy.counts.median_bytes
    return max(int(median * VISIBLE_ENTRIES) if median else 40 * batch, batch * 3 // 2)
