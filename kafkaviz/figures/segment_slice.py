"""The rows of a segment that its ruler is sent at once, with the slots that belong to them, as
columns.

A segment of up to 5000 batches is sent whole, and the browser never asks again. Of a larger one a
slice is sent, 2000 batches that start at a multiple of 1000, so that a window can move some way
before the next slice is needed. Offsets are sent from the segment's base offset, because
JavaScript's numbers are exact to 2**53 only; the base goes along as text.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.links import NONE

Columns = dict[str, np.ndarray]  # by name; those of one table have the same length
WHOLE_ROWS = 5000
SLICE_ROWS, STEP_ROWS = 2000, 1000


class Slice(NamedTuple):
    """The rows that are sent, from one of them up to another (not included), of how many, and the
    slots that belong to them.
    """

    from_row: int
    to_row: int
    rows: int
    from_slot: int
    to_slot: int
    from_time: int
    to_time: int


def sliced(anatomy: Anatomy, centre_row: int) -> Slice:
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
    after = anatomy.batches["last_offset"][start - 1] if start else -1
    from_time, to_time = (
        _slots_to(anatomy.times.entries, after),
        _slots_to(anatomy.times.entries, last_offset),
    )
    twins = anatomy.links.entry_time[from_slot:to_slot]
    twins = twins[twins != NONE]  # of an entry whose newest record came before the slice
    from_time = min(from_time, int(twins[0])) if len(twins) else from_time
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


def columns(anatomy: Anatomy, part: Slice) -> dict[str, Columns]:
    """The batches of a slice ("batch") and the slots of both indexes ("entry", "time"), each with
    its links (analyse.links.Links).
    """
    rows, slots, times = (
        slice(part.from_row, part.to_row),
        slice(part.from_slot, part.to_slot),
        slice(part.from_time, part.to_time),
    )
    entry, time = _links(anatomy, "entry", slots), _links(anatomy, "time", times)
    return {
        "batch": _batches(anatomy.batches[rows], anatomy.segment.base_offset)
        | _links(anatomy, "batch", rows),
        "entry": _fields(anatomy.index.entries[slots], key="relative_offset", position="position")
        | entry
        | {"home_position": _position(anatomy, entry["home"])},
        "time": _fields(
            anatomy.times.entries[times], timestamp="timestamp_ms", offset="relative_offset"
        )
        | time
        | {"batch_position": _position(anatomy, time["batch"])},
    }


def _batches(batches: np.ndarray, base_offset: int) -> Columns:
    told = _fields(
        batches,
        position="position",
        size="size_bytes",
        newest="max_timestamp_ms",
        records="record_count",
    )
    return told | {
        "first": batches["base_offset"] - base_offset,
        "last": batches["last_offset"] - base_offset,
    }


def _fields(table: np.ndarray, **names: str) -> Columns:
    """Fields of a table under the names the browser knows them by."""
    return {name: table[field] for name, field in names.items()}


def _links(anatomy: Anatomy, table: str, part: slice) -> Columns:
    """Where the rows of "batch", "entry" or "time" point: the links whose names begin so, by the
    rest of their names.
    """
    return {
        name.removeprefix(f"{table}_"): link[part]
        for name, link in vars(anatomy.links).items()
        if name.startswith(f"{table}_")
    }


def _position(anatomy: Anatomy, rows: np.ndarray) -> np.ndarray:
    """Where the batches of these rows start; the end of the last one for NONE."""
    return np.where(rows == NONE, anatomy.end.position, anatomy.batches["position"][rows])
