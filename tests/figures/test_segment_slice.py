"""The rows and slots that a ruler is sent at once, value by value."""

import pytest

from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.figures.segment.segment_ruler import Columns, Slice, build_columns, find_slice
from tests.analysis import arrays
from tests.analysis.arrays import even


def sent(segment_anatomy: Anatomy, centre_row: int) -> tuple[Slice, dict[str, Columns]]:
    part = find_slice(segment_anatomy, centre_row)
    return part, build_columns(segment_anatomy, part)


def test_a_small_segment_is_sent_whole():
    part, columns = sent(even(5000), 0)
    assert part == Slice(
        0, 5000, 5000, 0, len(columns["entry"]["key"]), 0, len(columns["time"]["offset"])
    )
    assert len(columns["batch"]["position"]) == 5000


@pytest.mark.parametrize(
    ("centre_row", "from_row"),
    [(0, 0), (1499, 0), (1500, 1000), (2499, 1000), (2500, 2000), (8999, 7001), (5000, 4000)],
)
def test_a_large_segment_is_sent_in_slices(centre_row, from_row):
    """2000 rows from a multiple of 1000, with at least 500 on each side of the requested row."""
    part = find_slice(even(9001), centre_row)
    assert (part.from_row, part.to_row, part.rows) == (from_row, from_row + 2000, 9001)


def test_a_slice_has_the_entries_of_its_rows():
    """From the entry that serves its first row to the last that points into it."""
    segment_anatomy = even(9001)
    part = find_slice(segment_anatomy, 3000)
    positions = segment_anatomy.index.entries["position"][part.from_slot : part.to_slot]
    inside = (
        segment_anatomy.batches.all_rows()["position"][part.from_row],
        segment_anatomy.batches.all_rows()["position"][part.to_row - 1],
    )
    assert (
        positions[0] <= inside[0] < positions[1]
        and positions[-1] <= inside[1] < segment_anatomy.index.entries["position"][part.to_slot]
    )
    # here every entry has its time
    assert (part.from_time, part.to_time) == (part.from_slot, part.to_slot)
    assert (
        sent(segment_anatomy, 3000)[1]["entry"]["key"][0]
        == segment_anatomy.index.entries["relative_offset"][part.from_slot]
    )


def test_a_time_from_long_before_is_sent_with_its_entry():
    """The newest record came first; its time entry belongs to the first entry that was written."""
    table = arrays.batches([100] * 9000, times_ms=[5] + [1] * 8999)
    entries, times = arrays.indexed(table, 300)
    segment_anatomy = arrays.anatomy(table, entries, times)
    assert (
        len(times) == 1
        and find_slice(segment_anatomy, 500).from_time == 0
        and find_slice(segment_anatomy, 500).to_time == 1
    )
    late = find_slice(segment_anatomy, 8000)
    assert (late.from_time, late.to_time) == (1, 1)
    sparse = arrays.anatomy(table, *arrays.indexed(table, 300_000))
    part = find_slice(sparse, 3500)
    assert sparse.links.entry_batch[0] == 3001 and (
        part.from_row,
        part.from_slot,
        part.from_time,
    ) == (3000, 0, 0)


def test_columns_are_those_of_the_segment():
    """Offsets are relative; NONE where a link has no other end or a time entry no slot."""
    segment_anatomy = even(9, base_offset=2**60)
    columns = sent(segment_anatomy, 4)[1]
    assert columns["batch"]["first"].tolist() == list(range(9)) == columns["batch"]["last"].tolist()
    assert columns["batch"]["slot"].tolist() == [NONE] * 5 + [0] + [NONE] * 3
    assert columns["batch"]["via"].tolist() == [NONE] * 5 + [0] * 4
    entry = {name: column.tolist() for name, column in columns["entry"].items()}
    assert entry == {
        "key": [5],
        "position": [500],
        "batch": [5],
        "home": [5],
        "home_position": [500],
        "time": [0],
        "aim": [0],
    }
    time = {name: column.tolist() for name, column in columns["time"].items()}
    assert (time["offset"], time["slot"], time["batch"], time["true"]) == (
        [5, 8],
        [0, NONE],
        [5, 8],
        [True, True],
    )


def test_offsets_that_damage_pushed_beyond_int64():
    """An offset far below the base wraps around, and is exact modulo 2**64."""
    table = arrays.batches([100, 100], base_offset=2**62)
    table["last_offset"][1] = -(2**62) - 5
    columns = sent(arrays.anatomy(table, None, None, 2**62), 0)[1]
    relative = int(columns["batch"]["last"][1])
    assert (2**62 + relative + 2**63) % 2**64 - 2**63 == -(2**62) - 5
