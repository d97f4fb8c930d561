"""The rows of a segment that its ruler is sent at once.

With the slots that belong to them, as columns.

A segment of up to 5000 batches is sent completely, and the browser never asks again. Of a larger
one a slice is sent, 2000 batches that start at a multiple of 1000, so that a window can move some
way before the next slice is needed. Offsets are sent from the segment's base offset, because
JavaScript's numbers are exact to 2**53 only; the base goes along as text.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE

Columns = dict[str, np.ndarray]  # by name; those of one table have the same length
WHOLE_ROWS = 5000
SLICE_ROWS, STEP_ROWS = 2000, 1000


class Slice(NamedTuple):
    """The rows that are sent, and the slots that belong to them.

    From one row up to another (not included), of how many.
    """

    from_row: int
    to_row: int
    rows: int
    from_slot: int
    to_slot: int
    from_time: int
    to_time: int


def find_slice(anatomy: Anatomy, centre_row: int) -> Slice:
    """The rows around one of them; always the same ones for rows that lie close together."""
    rows = len(anatomy.batches)
    start, stop = 0, rows
    if rows > WHOLE_ROWS:
        start = max(
            0, min((centre_row - STEP_ROWS // 2) // STEP_ROWS * STEP_ROWS, rows - SLICE_ROWS)
        )
        stop = start + SLICE_ROWS
    if (start, stop) == (0, rows):
        return Slice(0, rows, rows, 0, len(anatomy.index.entries), 0, len(anatomy.times.entries))
    last_offset = anatomy.batches["last_offset"][stop - 1]
    from_slot, to_slot = (
        max(0, int(anatomy.links.batch_via[start])),
        _slots_to(anatomy.index.entries, last_offset),
    )
    last_before = anatomy.batches["last_offset"][start - 1] if start else -1
    from_time, to_time = (
        _slots_to(anatomy.times.entries, last_before),
        _slots_to(anatomy.times.entries, last_offset),
    )
    twin_slots = anatomy.links.entry_time[from_slot:to_slot]
    twin_slots = twin_slots[
        twin_slots != NONE
    ]  # of an entry whose newest record came before the slice
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
    """How many slots there are up to the last one at or below an offset."""
    return (
        int(np.searchsorted(np.maximum.accumulate(entries["offset"]), offset, side="right"))
        if len(entries)
        else 0
    )


def build_columns(anatomy: Anatomy, row_slice: Slice) -> dict[str, Columns]:
    """The batches of a slice and the slots of both indexes, each with its links.

    By "batch", "entry" and "time"; the links are those of analysis.segment.links.Links.
    """
    rows, slots, times = (
        slice(row_slice.from_row, row_slice.to_row),
        slice(row_slice.from_slot, row_slice.to_slot),
        slice(row_slice.from_time, row_slice.to_time),
    )
    entry, time = _link_columns(anatomy, "entry", slots), _link_columns(anatomy, "time", times)
    return {
        "batch": _batch_columns(anatomy.batches[rows], anatomy.segment.base_offset)
        | _link_columns(anatomy, "batch", rows),
        "entry": _field_columns(
            anatomy.index.entries[slots], key="relative_offset", position="position"
        )
        | entry
        | {"home_position": _batch_positions(anatomy, entry["home"])},
        "time": _field_columns(
            anatomy.times.entries[times], timestamp="timestamp_ms", offset="relative_offset"
        )
        | time
        | {"batch_position": _batch_positions(anatomy, time["batch"])},
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
    """Fields of a table under the names the browser knows them by."""
    return {name: table[field] for name, field in names.items()}


def _link_columns(anatomy: Anatomy, table: str, rows: slice) -> Columns:
    """Where the rows of "batch", "entry" or "time" point.

    The links whose names begin so, by the rest of their names.
    """
    return {
        name.removeprefix(f"{table}_"): link[rows]
        for name, link in vars(anatomy.links).items()
        if name.startswith(f"{table}_")
    }


def _batch_positions(anatomy: Anatomy, rows: np.ndarray) -> np.ndarray:
    """Where the batches of these rows start; the end of the last one for NONE."""
    return np.where(rows == NONE, anatomy.end.position, anatomy.batches["position"][rows])
