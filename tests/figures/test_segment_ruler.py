"""What the ruler is sent: the words of a lane, and the bytes of the message."""

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.figures.segment import segment_ruler as ruler
from kafkaviz.figures.segment.segment_ruler import IndexLane
from tests.analysis import arrays
from tests.analysis.arrays import even
from tests.support.ruler_message import unpacked


def test_lanes_say_what_they_lack():
    """A missing file, a file without an entry, slots that follow, a slot that was cut."""
    table = arrays.batches([100] * 9)
    entries, times = arrays.indexed(table, 400)
    shown = ruler.view(arrays.anatomy(table, None, None), Selection("", 0))
    assert (
        shown.index.missing
        and shown.index.words.startswith("no .index: ")
        and shown.times.words.startswith("no .timeindex: ")
    )
    shown = ruler.view(
        arrays.anatomy(table, entries, times, unwritten=(5, 6), trailing_bytes=(3, 0)),
        Selection("", 0),
    )
    assert shown.index == IndexLane(
        1, 6, "zeros", "no entry", False, 3
    ) and shown.times == IndexLane(2, 8, "zeros", "no entry", False, 0)
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
    whole = even(1200, base_offset=2**60)
    shown = ruler.view(whole, selection.select_offset(whole, str(2**60 + 7)), "Age")
    message = ruler.message(shown, "a segment", {"tp": "orders-0"})
    words, tables, overview = unpacked(message)
    assert int.from_bytes(message[:8], "little") % 8 == 0
    assert (words["key"], words["address"], words["base"], words["title"]) == (
        "a segment",
        {"tp": "orders-0"},
        str(2**60),
        shown.title,
    )
    assert words["asked"] == {"offset": str(2**60 + 7), "row": 7, "why": "", "slot": -1, "time": -1}
    assert words["slice"]["rows"] == 1200 and words["lanes"]["index"]["written"] == len(
        whole.index.entries
    )
    assert (
        words["shade"] == {"by": "Age", "low": 1_700_000_000_000, "high": 1_700_000_001_199}
        and words["tail"] is None
    )
    assert tables["batch"]["position"] == whole.batches["position"].tolist()
    assert tables["entry"]["key"] == whole.index.entries["relative_offset"].tolist()
    assert tables["time"]["timestamp"] == whole.times.entries["timestamp_ms"].tolist()
    assert overview.tolist() == [*shown.overview.entries.tolist(), *shown.overview.shades.tolist()]


def test_a_message_of_few_batches_has_no_overview():
    """And one without entries has empty tables."""
    shown = ruler.view(
        arrays.anatomy(arrays.batches([100, 100]), None, None, tail=("torn", 45)), Selection("", 0)
    )
    words, tables, overview = unpacked(ruler.message(shown, "", {}))
    assert (tables["entry"]["key"], tables["time"]["offset"], len(overview)) == ([], [], 0)
    assert words["tail"] == {"kind": "torn", "size": 45} and (words["end"], words["size"]) == (
        200,
        245,
    )
