"""The data of the ruler: the words of a lane, and the size of the payload."""

import pytest

from kafkaviz.analysis.segment import batch_table, selection
from kafkaviz.analysis.segment.anatomy import read
from kafkaviz.analysis.segment.selection import Selection, offsets, select_offset
from kafkaviz.figures.segment import segment_ruler as ruler
from kafkaviz.figures.segment.segment_ruler import IndexLane
from kafkaviz.figures.segment.segment_tables import csv_bytes
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
    assert (
        view.index.missing
        and view.index.words.startswith("no .index: ")
        and view.times.words.startswith("no .timeindex: ")
    )
    view = ruler.view(
        arrays.anatomy(table, entries, times, unwritten=(5, 6), trailing_bytes=(3, 0)),
        Selection("", 0),
    )
    assert view.index == IndexLane(1, 6, "zeros", "no entry", False, 3) and view.times == IndexLane(
        2, 8, "zeros", "no entry", False, 0
    )
    assert (
        ruler.view(
            arrays.anatomy(table, entries, times, state="active", unwritten=(5, 6)),
            Selection("", 0),
        ).index.unwritten
        == "never_written"
    )
    old = arrays.anatomy(arrays.wrapped(table, range(9)), entries, arrays.time_entries([]))
    assert (
        ruler.view(old, Selection("", 0)).times.words
        == "no entry: messages of magic 0 have no timestamp"
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
    assert (words["key"], words["address"], words["base"], words["title"]) == (
        "a segment",
        {"tp": "orders-0"},
        str(2**60),
        view.title,
    )
    assert words["asked"] == {"offset": str(2**60 + 7), "row": 7, "why": "", "slot": -1, "time": -1}
    assert words["slice"]["rows"] == 1200 and words["lanes"]["index"]["written"] == len(
        segment_anatomy.index.entries
    )
    assert (
        words["shade"] == {"by": "Age", "low": 1_700_000_000_000, "high": 1_700_000_001_199}
        and words["tail"] is None
    )
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
    assert words["tail"] == {"kind": "torn", "size": 45} and (words["end"], words["size"]) == (
        200,
        245,
    )


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
            assert csv_bytes(kept, "batches") == csv_bytes(windows, "batches")
