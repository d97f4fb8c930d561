"""The data of the ruler: the words of a lane, and the size of the payload."""

import numpy as np
import pytest

from kafkaviz.analysis.segment import batch_table, selection
from kafkaviz.analysis.segment.anatomy import Anatomy, read
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.analysis.segment.selection import Selection, offsets, select_offset
from kafkaviz.app.widgets.tables import arrow_csv
from kafkaviz.figures.segment import segment_ruler as ruler
from kafkaviz.figures.segment.segment_ruler import (
    Columns,
    IndexLane,
    Slice,
    build_columns,
    find_slice,
)
from kafkaviz.figures.segment.segment_tables import all_rows
from kafkaviz.format import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import LogSegment
from tests.analysis import arrays
from tests.analysis.arrays import even
from tests.support.ruler_message import unpacked


def test_lanes_say_what_they_lack():
    table = arrays.batches([100] * 9)
    entries, times = arrays.indexed(table, 400)
    view = ruler.view(arrays.anatomy(table, None, None), Selection("", 0))
    assert view.index.missing
    assert view.index.words.startswith("no .index: ")
    assert view.times.words.startswith("no .timeindex: ")
    view = ruler.view(
        arrays.anatomy(table, entries, times, unwritten=(5, 6), trailing_bytes=(3, 0)),
        Selection("", 0),
    )
    assert view.index == IndexLane(1, 6, "zeros", "no entry", False, 3)
    assert view.times == IndexLane(2, 8, "zeros", "no entry", False, 0)
    active = arrays.anatomy(table, entries, times, state="active", unwritten=(5, 6))
    assert ruler.view(active, Selection("", 0)).index.unwritten == "never_written"
    old = arrays.anatomy(arrays.wrapped(table, range(9)), entries, arrays.time_entries([]))
    assert ruler.view(old, Selection("", 0)).times.words == (
        "no entry: messages of magic 0 have no timestamp"
    )


def test_the_message_holds_the_view():
    """Words as JSON, columns as int64; the JSON is padded so that the columns are aligned."""
    segment_anatomy = even(1200, base_offset=2**60)
    view = ruler.view(
        segment_anatomy, selection.select_offset(segment_anatomy, str(2**60 + 7)), "Age"
    )
    message = ruler.browser_payload(view, "a segment", {"tp": "orders-0"})
    words, tables, overview = unpacked(message)
    assert int.from_bytes(message[:8], "little") % 8 == 0
    assert (words["key"], words["address"]) == ("a segment", {"tp": "orders-0"})
    assert (words["base"], words["title"]) == (str(2**60), view.title)
    assert words["asked"] == {"offset": str(2**60 + 7), "row": 7, "why": "", "slot": -1, "time": -1}
    assert words["slice"]["rows"] == 1200
    assert words["lanes"]["index"]["written"] == len(segment_anatomy.index.entries)
    assert words["shade"] == {"by": "Age", "low": 1_700_000_000_000, "high": 1_700_000_001_199}
    assert words["tail"] is None
    assert tables["batch"]["position"] == segment_anatomy.batches.all_rows()["position"].tolist()
    assert tables["entry"]["key"] == segment_anatomy.index.entries["relative_offset"].tolist()
    assert tables["time"]["timestamp"] == segment_anatomy.times.entries["timestamp_ms"].tolist()
    assert overview.tolist() == [*view.overview.entries.tolist(), *view.overview.shades.tolist()]


def test_a_message_of_few_batches_has_no_overview():
    view = ruler.view(
        arrays.anatomy(arrays.batches([100, 100]), None, None, tail=("torn", 45)), Selection("", 0)
    )
    words, tables, overview = unpacked(ruler.browser_payload(view, "", {}))
    assert (tables["entry"]["key"], tables["time"]["offset"], len(overview)) == ([], [], 0)
    assert words["tail"] == {"kind": "torn", "size": 45}
    assert (words["end"], words["size"]) == (200, 245)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean", "killed", "damaged"])
def test_a_log_that_is_read_in_windows_looks_the_same(name, request, monkeypatch):
    """Every segment of a broker, in chunks of 500 batches and blocks of 64."""
    monkeypatch.setattr(batch_table, "BLOCK_ROWS", 64)
    for partition in open_broker(request.getfixturevalue(name)).partitions:
        for segment in partition.segments:
            if not isinstance(segment, LogSegment) or not segment.log.size_bytes:
                continue
            kept = read(segment)
            with monkeypatch.context() as patch:
                patch.setattr(walk, "MAX_ROWS", 500)
                windows = read(segment, kept_rows=0)
            if not len(kept.batches):
                continue
            last = str(offsets(kept)[1])
            for offset, shade in (("", "Plain"), (last, "Size"), (last, "Age")):
                payloads = [
                    ruler.browser_payload(
                        ruler.view(both, select_offset(both, offset), shade), "key", {}
                    )
                    for both in (kept, windows)
                ]
                assert payloads[0] == payloads[1], segment.name
            files = [arrow_csv(all_rows(rows, "batches")) for rows in (kept, windows)]
            assert files[0] == files[1]


def test_the_overview_of_many_batches():
    """A thousand columns: how many entries point into each, and how many batches begin there."""
    view = ruler.view(even(4000, interval=1000), Selection("", 0))
    assert view.overview.entries.shape == view.overview.shades.shape == (1000,)
    assert view.overview.entries.sum() == view.index.written
    assert set(view.overview.shades.tolist()) == {255}
    assert ruler.view(even(1000), Selection("", 0)).overview is None


def test_the_overview_follows_the_shade():
    """Sizes and darkness grow from left to right; one huge batch covers all its columns."""
    table = arrays.batches(list(range(100, 2100)))
    view = ruler.view(arrays.anatomy(table, *arrays.indexed(table, 4096)), Selection("", 0), "Size")
    shades = view.overview.shades.astype(int)
    assert (np.diff(shades) >= 0).all() and shades[0] < 2 and shades[-1] == 255
    wide = arrays.batches([100] * 1500 + [150_000])
    shades = ruler.view(
        arrays.anatomy(wide, *arrays.indexed(wide, 4096)), Selection("", 0), "Size"
    ).overview.shades
    assert set(shades[510:].tolist()) == {255}


def test_the_overview_ends_where_the_batches_end():
    """No column after them has a batch."""
    shades = ruler.view(even(2000, tail=("zeros", 200_000)), Selection("", 0)).overview.shades
    assert shades[499] > 0 and set(shades[500:].tolist()) == {0}


def test_shades_are_described():
    table = arrays.batches(
        [100] * 99 + [900], times_ms=[1_700_000_000_000 + step * 60_000 for step in range(100)]
    )
    segment_anatomy = arrays.anatomy(table, *arrays.indexed(table, 400))
    assert ruler.view(segment_anatomy, Selection("", 0), "Size").hint.startswith(
        "Each batch takes 100 B. Drag the window"
    )
    assert ruler.view(segment_anatomy, Selection("", 0), "Age").hint.startswith(
        "Darker is newer, 22:13:20.000 – 23:52:20.000. Drag"
    )
    assert ruler.view(segment_anatomy, Selection("", 0)).hint.startswith(
        "An entry is written after more than index.interval.bytes of batches. Drag"
    )
    days = arrays.anatomy(
        arrays.batches([100, 100], times_ms=[1_700_000_000_000, 1_700_086_400_000]), None, None
    )
    assert ruler.view(days, Selection("", 0), "Age").hint.startswith(
        "Darker is newer, 2023-11-14 22:13:20.000 – 2023-11-15 22:13:20.000."
    )
    none = arrays.anatomy(arrays.wrapped(arrays.batches([100, 100]), [0, 1]), None, None)
    assert ruler.view(none, Selection("", 0), "Age").shade_range == (0, 0)


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
    rows = segment_anatomy.batches.all_rows()["position"]
    inside = rows[part.from_row], rows[part.to_row - 1]
    assert positions[0] <= inside[0] < positions[1]
    assert positions[-1] <= inside[1] < segment_anatomy.index.entries["position"][part.to_slot]
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
    assert len(times) == 1
    assert find_slice(segment_anatomy, 500).from_time == 0
    assert find_slice(segment_anatomy, 500).to_time == 1
    late = find_slice(segment_anatomy, 8000)
    assert (late.from_time, late.to_time) == (1, 1)
    sparse = arrays.anatomy(table, *arrays.indexed(table, 300_000))
    part = find_slice(sparse, 3500)
    assert sparse.links.entry_batch[0] == 3001
    assert (part.from_row, part.from_slot, part.from_time) == (3000, 0, 0)


def test_columns_are_those_of_the_segment():
    """Offsets are relative; NONE where a link has no other end or a time entry no slot."""
    segment_anatomy = even(9, base_offset=2**60)
    columns = sent(segment_anatomy, 4)[1]
    for name in ("base_offset", "last_offset"):
        assert columns["batch"][name].tolist() == list(range(9))
    assert columns["batch"]["slot"].tolist() == [NONE] * 5 + [0] + [NONE] * 3
    assert columns["batch"]["via"].tolist() == [NONE] * 5 + [0] * 4
    entry = {name: column.tolist() for name, column in columns["entry"].items()}
    batch = {"position": [500], "batch": [5], "home": [5], "home_position": [500]}
    assert entry == {"key": [5], **batch, "time": [0], "aim": [0]}
    time = {name: column.tolist() for name, column in columns["time"].items()}
    assert (time["offset"], time["slot"], time["batch"]) == ([5, 8], [0, NONE], [5, 8])
    assert time["true"] == [True, True]


def test_offsets_that_damage_pushed_beyond_int64():
    """An offset far below the base wraps around, and is exact modulo 2**64."""
    table = arrays.batches([100, 100], base_offset=2**62)
    table["last_offset"][1] = -(2**62) - 5
    columns = sent(arrays.anatomy(table, None, None, 2**62), 0)[1]
    relative = int(columns["batch"]["last_offset"][1])
    assert (2**62 + relative + 2**63) % 2**64 - 2**63 == -(2**62) - 5
