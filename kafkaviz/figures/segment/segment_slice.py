"""The rows of a segment that its ruler is sent at once, with their slots, as columns.

A segment of up to 5000 batches is sent completely, and the browser never asks again. For a larger
one, a slice of 2000 batches that starts at a multiple of 1000 is sent, so that a window can move
some way before the next slice is needed. Offsets are relative to the segment's base offset, because
JavaScript's numbers are exact only to 2**53; the base offset is sent as text.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE

Columns = dict[str, np.ndarray]  # by name; those of one table have the same length
WHOLE_ROWS = 5000
SLICE_ROWS = 2000
STEP_ROWS = 1000


class Slice(NamedTuple):
    """The rows that are sent, and the slots that belong to them.

    Ranges exclude their end; `rows` is the number of rows of the whole segment.
    """

    from_row: int
    to_row: int
    rows: int
    from_slot: int
    to_slot: int
    from_time: int
    to_time: int


def find_slice(anatomy: Anatomy, centre_row: int) -> Slice:
    """Returns the rows around one of them; rows that are close together get the same slice."""
    rows = len(anatomy.batches)
    start = 0
    stop = rows
    if rows > WHOLE_ROWS:
        start = max(
            0, min((centre_row - STEP_ROWS // 2) // STEP_ROWS * STEP_ROWS, rows - SLICE_ROWS)
        )
        stop = start + SLICE_ROWS
    if (start, stop) == (0, rows):
        return Slice(0, rows, rows, 0, len(anatomy.index.entries), 0, len(anatomy.times.entries))
    batches = anatomy.batches
    links = anatomy.links
    last_offset = batches.row(stop - 1)["last_offset"]
    from_slot = max(0, int(links.landing_slots(batches, start, start + 1)[0]))
    to_slot = _slots_to(anatomy.index.entries, last_offset)
    last_before = batches.row(start - 1)["last_offset"] if start else -1
    from_time = _slots_to(anatomy.times.entries, last_before)
    to_time = _slots_to(anatomy.times.entries, last_offset)
    twin_slots = links.entry_time[from_slot:to_slot]
    twin_slots = twin_slots[
        twin_slots != NONE
    ]  # the newest record of an entry may come before the slice
    from_time = min(from_time, int(twin_slots[0])) if len(twin_slots) else from_time
    return Slice(
        start,
        stop,
        rows,
        from_slot,
        min(to_slot, from_slot + 2 * SLICE_ROWS),
        from_time,
        min(to_time, from_time + 2 * SLICE_ROWS),
    )


def _slots_to(entries: np.ndarray, offset: int) -> int:
    """Returns the number of slots up to the last one at or below an offset."""
    if len(entries):
        return int(np.searchsorted(np.maximum.accumulate(entries["offset"]), offset, side="right"))
    return 0


def build_columns(anatomy: Anatomy, row_slice: Slice) -> dict[str, Columns]:
    """Returns the batches of a slice and the slots of both indexes, each with its links.

    The keys are "batch", "entry" and "time". The links come from analysis.segment.links.Links.
    """
    links = anatomy.links
    rows = (row_slice.from_row, row_slice.to_row)
    slots = slice(row_slice.from_slot, row_slice.to_slot)
    times = slice(row_slice.from_time, row_slice.to_time)
    return {
        "batch": _batch_columns(anatomy.batches.window(*rows), anatomy.segment.base_offset)
        | {
            "slot": links.own_slots(*rows),
            "via": links.landing_slots(anatomy.batches, *rows),
        },
        "entry": _field_columns(
            anatomy.index.entries[slots], key="relative_offset", position="position"
        )
        | {
            "batch": links.entry_batch[slots],
            "home": links.entry_home[slots],
            "aim": links.entry_aim[slots],
            "time": links.entry_time[slots],
            "home_position": _positions_or_end(anatomy, links.home_position[slots]),
        },
        "time": _field_columns(
            anatomy.times.entries[times], timestamp="timestamp_ms", offset="relative_offset"
        )
        | {
            "batch": links.time_batch[times],
            "slot": links.time_slot[times],
            "true": links.time_true[times],
            "batch_position": _positions_or_end(anatomy, links.time_position[times]),
        },
    }


def _batch_columns(batches: np.ndarray, base_offset: int) -> Columns:
    fields = _field_columns(
        batches,
        position="position",
        size="size_bytes",
        newest="max_timestamp_ms",
        records="record_count",
    )
    return fields | {
        "first": batches["base_offset"] - base_offset,
        "last": batches["last_offset"] - base_offset,
    }


def _field_columns(table: np.ndarray, **names: str) -> Columns:
    return {name: table[field] for name, field in names.items()}


def _positions_or_end(anatomy: Anatomy, positions: np.ndarray) -> np.ndarray:
    """Returns positions of batches, with the end of the last batch in place of NONE."""
    return np.where(positions == NONE, anatomy.end.position, positions)
