"""The broker map: its view value by value, and that the figure draws exactly that view."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis import overview
from kafkaviz.analysis.badges import Badge
from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.figures import theme
from kafkaviz.figures.broker import broker_map, map_rows
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from tests.support.segment_files import make_segment


@pytest.fixture
def known(tmp_path: Path) -> BrokerOverview:
    """Returns three topic-partitions and a deleted one: 2400, 1200, 240 and 100 bytes."""
    make_segment(tmp_path / "orders-0", 0, 1600, [400, 800, 1200], times=1)
    make_segment(tmp_path / "orders-0", 30, 800, [400, 500, 600], times=1)
    make_segment(tmp_path / "logs-0", 0, 1000, [500], suffix=".deleted")
    make_segment(tmp_path / "logs-0", 9, 200, [])
    make_segment(tmp_path / "__consumer_offsets-3", 0, 240, [10, 20, 30, 40, 50, 60])
    make_segment(tmp_path / "old-0.d9e2420e43c24fe7bcf8a819bf93d888-delete", 0, 100, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    return overview.with_entries(overview.inventory(open_broker(tmp_path)))


def torn(known: BrokerOverview, directory: str, torn_bytes: int) -> BrokerOverview:
    segments = known.segments.copy()
    segments["torn_bytes"] = 0
    place = [row.directory for row in known.partitions].index(directory)
    segments["torn_bytes"][known.starts[place + 1] - 1] = torn_bytes
    return replace(known, segments=segments)


def names(view: broker_map.BrokerMapView) -> list[str]:
    return [row.name for row in view.rows]


def test_rows_stand_in_the_chosen_order(known):
    """Largest first, densest first, or by name."""
    old, offsets = "old-0 (deleted)", "__consumer_offsets-3"
    assert names(broker_map.view(known, "By size")) == ["orders-0", "logs-0", offsets, old]
    assert names(broker_map.view(known, "By gap")) == [offsets, "orders-0", "logs-0", old]
    assert names(broker_map.view(known, "By name")) == [offsets, "logs-0", old, "orders-0"]


def test_a_row_says_its_gap(known):
    """Log bytes per entry, blue where dense. A dash is unknown; "no entry" is zero entries."""
    rows = {row.name: row for row in broker_map.view(known).rows}
    assert [
        (rows[name].gap, rows[name].is_dense, rows[name].is_quiet)
        for name in ("orders-0", "__consumer_offsets-3", "old-0 (deleted)")
    ] == [("400 B", True, False), ("40 B", True, True), ("no entry", False, True)]
    unread = broker_map.view(overview.inventory(known.broker))
    assert {row.gap for row in unread.rows} == {"–"}
    assert not any(row.is_dense for row in unread.rows)


def test_bars_follow_one_another_to_scale(known):
    bars = [bar for bar in broker_map.view(known).bars if bar.directory in ("orders-0", "logs-0")]
    assert [
        (bar.row, bar.start_byte, bar.size_bytes, bar.kind, bar.base_offset) for bar in bars
    ] == [
        (0, 0, 1600, "closed", 0),
        (0, 1600, 800, "active", 30),
        (1, 0, 1000, "deleted", 0),
        (1, 1000, 200, "active", 9),
    ]


def test_hover_gives_the_exact_row(known):
    assert broker_map.view(known).bars[0].hover == (
        "<b>orders-0</b> 00000000000000000000, closed<br>1\u202f600 B in – batches, – records"
        "<br>3 offset, 1 time entries"
    )
    cut = broker_map.view(torn(known, "orders-0", 45)).bars[1]
    assert cut.hover.endswith("<br>the last 45 B are not a batch")
    known.segments["batches"] = known.segments["records"] = 1
    assert "in 1 batch, 1 record<br>" in broker_map.view(known).bars[0].hover


def test_one_topic_partition_is_compared_with_no_other(tmp_path):
    make_segment(tmp_path / "kafka" / "day-0", 0, 1000, [100, 200, 300, 400, 500, 600, 700])
    alone = overview.with_entries(overview.inventory(open_broker(tmp_path / "kafka")))
    assert broker_map.view(alone).title == "day-0 has an entry every 143 bytes of its log"


def test_equally_dense_topic_partitions_share_a_shade(tmp_path):
    """All of them, or those at the top."""
    kafka = tmp_path / "kafka"
    for number in range(3):
        make_segment(kafka / f"busy-{number}", 0, 1000, [100, 200, 300, 400, 500, 600, 700])

    def title() -> str:
        entries = overview.with_entries(overview.inventory(open_broker(kafka)))
        return broker_map.view(entries).title

    assert title() == "Three topic-partitions are equally dense: an index entry every 143 bytes"
    make_segment(kafka / "calm-0", 0, 1000, [100, 200, 300, 400, 500, 600])
    assert title() == "Three topic-partitions have the densest index: an entry every 143 bytes"


def test_strips_stand_below_their_rows(known):
    """One per row, dark where its entries are; one shade per segment where only numbers are known."""
    strip = broker_map.view(known).strip
    assert strip.shape == (4, map_rows.CELLS) and np.isnan(strip[3]).all()
    assert 0 < np.count_nonzero(~np.isnan(strip[0])) < map_rows.CELLS
    counted = broker_map.view(replace(known, entries=None)).strip
    assert np.count_nonzero(~np.isnan(counted[0])) > 0.99 * map_rows.CELLS - 4
    assert (counted[0][:400] == 1).all()


def test_a_strip_ends_with_its_bar(known):
    view = broker_map.view(replace(known, entries=None))
    figure = broker_map.figure(view, "light")
    ends = {}
    for trace in figure.data:
        if trace.type == "bar" and trace.customdata:
            for y, base, x in zip(trace.y, trace.base, trace.x, strict=True):
                ends[int(y)] = max(ends.get(int(y), 0), base + x)
    cell = view.longest_bytes / map_rows.CELLS
    for row in (0, 2):  # whose last segment has entries
        last = np.flatnonzero(~np.isnan(view.strip[row]))[-1]
        assert last * cell < ends[row] <= (last + 1) * cell


def test_the_row_that_the_title_names_is_outlined(known, monkeypatch):
    """On another page of rows, the caption says where it is; other titles name no row."""
    view = broker_map.view(known)
    assert view.outlined_row == 2 and view.caption.startswith(say("broker.dense_row", row=3))
    (outline,) = broker_map.figure(view, "light").layout.shapes
    assert (outline.y0, outline.y1) == (2, 3)
    narrowest = broker_map.view(known, "By gap")
    assert narrowest.caption.startswith(say("broker.dense_row", row=1))
    monkeypatch.setattr(map_rows, "ROWS_PER_PAGE", 2)
    first_page = broker_map.view(known)
    assert first_page.outlined_row is None
    assert first_page.caption.startswith(say("broker.dense_elsewhere", row=3))
    cut = broker_map.view(torn(known, "orders-0", 45))
    assert cut.outlined_row is None and cut.caption == say("broker.map_below")


@pytest.mark.parametrize("kind", ["deleted", "cleaned", "swap"])
def test_what_is_not_read_any_more_is_not_torn(known, kind):
    """A leftover of compaction or a deleted segment may end anywhere."""
    cut = torn(known, "orders-0", 36)
    cut.segments["kind"][cut.segments["torn_bytes"] > 0] = overview.KINDS.index(kind)
    view = broker_map.view(cut)
    assert "no batch" not in view.title and not any("no batch" in bar.hover for bar in view.bars)


def test_a_torn_end_is_drawn_where_its_segment_ends(known):
    cut = torn(known, "orders-0", 0)
    cut.segments["torn_bytes"][cut.segments["log_bytes"] == 1600] = 21
    view = broker_map.view(cut, tails={("orders-0", 0): "21 bytes that are not a batch"})
    (row,) = [row for row in view.rows if row.badge]
    assert (row.torn_ends, row.log_bytes) == ((1600,), 2400)
    patch = next(trace for trace in broker_map.figure(view, "light").data if trace.name == "torn")
    assert patch.base[0] + patch.x[0] == pytest.approx(1600)


def test_the_title_says_what_is_most_worth_knowing(known):
    """Torn ends first, then the densest index, then where the bytes are, then an empty broker."""
    assert broker_map.view(torn(known, "orders-0", 45)).title == (
        "One log ends in bytes that are not a batch: 45 bytes in all"
    )
    two = torn(known, "orders-0", 1000)
    two.segments["torn_bytes"][0] = 21
    assert broker_map.view(two).title == (
        "Two logs end in bytes that are not a batch: 1\u202f021 bytes in all"
    )
    assert broker_map.view(known).title == (
        "__consumer_offsets-3 has the densest index: an entry every 40 bytes"
    )
    assert broker_map.view(overview.inventory(known.broker)).title == (
        "orders-0 is the largest: 2.34 KiB of 3.85 KiB"
    )


def test_only_a_page_of_rows_is_shown(known, monkeypatch):
    monkeypatch.setattr(map_rows, "ROWS_PER_PAGE", 2)
    view = broker_map.view(known, page=1)
    assert names(view) == ["__consumer_offsets-3", "old-0 (deleted)"]
    assert view.longest_bytes == 240


def test_names_in_the_hover_are_no_markup(tmp_path):
    """Plotly parses some tags in a hover text."""
    make_segment(tmp_path / "a<b>c-0", 0, 10, [])
    bar = broker_map.view(overview.inventory(open_broker(tmp_path))).bars[0]
    assert bar.hover.startswith("<b>a&lt;b&gt;c-0</b> 0000")


def test_a_row_with_too_many_segments_is_one_bar(known, monkeypatch):
    """It opens the largest segment, and says how many there are."""
    monkeypatch.setattr(broker_map, "MAX_BARS_PER_ROW", 1)
    bars = broker_map.view(known).bars
    assert [(bar.row, bar.size_bytes, bar.kind, bar.base_offset) for bar in bars[:2]] == [
        (0, 2400, "many", 0),
        (1, 1200, "many", 0),
    ]
    assert bars[0].hover.startswith("<b>orders-0</b>, 2 segments")
    assert bars[2].kind == "active"


def test_the_rows_with_most_segments_become_one_bar_first():
    """The browser draws only so many bars at once."""
    assert broker_map._choose_detailed([5, 1, 3]) == [True, True, True]
    assert broker_map._choose_detailed([1999, 1999, 1998, 1999]) == [False, True, True, True]
    assert broker_map._choose_detailed([broker_map.MAX_BARS_PER_ROW + 1, 1]) == [False, True]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_figure_draws_the_view(known, mode):
    """Every bar with its segment, every name and gap, one image of strips, and nothing else."""
    view = broker_map.view(
        torn(known, "orders-0", 45), tails={("orders-0", 30): "45 bytes that are not a batch"}
    )
    figure = broker_map.figure(view, mode)
    traces = {trace.name: trace for trace in figure.data}
    drawn = sorted(
        (base, *data)
        for trace in figure.data
        if trace.type == "bar" and trace.customdata
        for base, data in zip(trace.base, trace.customdata, strict=True)
    )
    assert drawn == sorted(
        (bar.start_byte, bar.directory, str(bar.base_offset)) for bar in view.bars
    )
    assert list(traces["closed"].x) == pytest.approx([1600], rel=0.01)
    assert np.array_equal(np.array(traces["density"].z)[1::2], view.strip, equal_nan=True)
    words = next(
        note for note in figure.layout.annotations if note.text == "45 bytes that are not a batch"
    )
    mark = traces["error marks"]
    # an octagon is a pixel narrower than its size
    assert words.x == mark.x[0] and words.xshift == (mark.marker.size - 1) / 2 + 6
    assert {note.text for note in figure.layout.annotations} >= {row.name for row in view.rows} | {
        row.gap for row in view.rows
    }
    assert figure.layout.xaxis.range[1] > view.longest_bytes


def test_ticks_are_powers_of_two():
    assert broker_map._ticks(3_900_000) == [0, 1 << 20, 2 << 20, 3 << 20]
    assert broker_map._ticks(0) == [0]
    for longest in (1, 7, 1000, 1 << 40):
        assert 1 <= len(broker_map._ticks(longest)) <= 7


def test_words_after_a_torn_end_have_room(known):
    words = "512 zero bytes at the end"
    view = broker_map.view(torn(known, "orders-0", 512), tails={("orders-0", 30): words})
    start_px = 2400 / view.axis_bytes * broker_map.PLOT_PX + broker_map.WORDS_PX
    assert start_px + broker_map.CHARACTER_PX * len(words) <= broker_map.PLOT_PX + 1


def test_an_empty_broker_is_drawn_too(tmp_path):
    (tmp_path / "meta.properties").write_text("version=1\n")
    view = broker_map.view(overview.with_entries(overview.inventory(open_broker(tmp_path))))
    assert view.title == "No topic-partition holds a record" and view.rows == () and view.bars == ()
    figure = broker_map.figure(view, "light")
    assert figure.layout.height > 0
    assert all(len(trace.y) == 0 for trace in figure.data if trace.type == "bar")


def test_an_empty_topic_partition_says_so(tmp_path):
    make_segment(tmp_path / "void-0", 0, 0, [])
    view = broker_map.view(
        overview.with_entries(overview.inventory(open_broker(tmp_path / "void-0")))
    )
    assert view.title == "No topic-partition holds a record"
    word = next(
        note for note in broker_map.figure(view, "light").layout.annotations if note.text == "empty"
    )
    assert (word.x, word.xshift) == (0, broker_map.EMPTY_PX)
    assert broker_map.EMPTY_PX > broker_map.GAP_SHARE * broker_map.PLOT_PX + 3


def test_long_names_keep_their_end(tmp_path):
    name = "a-topic-with-a-very-long-name-indeed-17"
    make_segment(tmp_path / name, 0, 10, [])
    figure = broker_map.figure(
        broker_map.view(overview.inventory(open_broker(tmp_path / name))), "dark"
    )
    assert figure.layout.annotations[0].text == "a-topic-with-a-ve…ndeed-17"
    assert figure.layout.annotations[0].hovertext == name


FUTURE = Badge("timestamp-in-future", "warning", (0,))
MISSING = Badge("timeindex-missing", "error", (30,))


def test_a_row_is_marked_with_the_worst_that_was_found(known):
    """Its text, severity and linked segment; the hover text says how many more there are."""
    view = broker_map.view(
        known, badges={"orders-0": (MISSING, FUTURE), "logs-0": (FUTURE._replace(base_offsets=()),)}
    )
    badges = {row.name: row.badge for row in view.rows}
    orders, logs = badges["orders-0"], badges["logs-0"]
    assert (orders.severity, orders.text) == ("error", ".timeindex missing and 1 other")
    assert orders.base_offset == 30
    assert orders.hover.split("<br>") == [
        "<b>orders-0</b>",
        "error: The .timeindex is missing, 00000000000000000030",
        "warning: Records have timestamps in the future, 00000000000000000000",
    ]
    assert (logs.severity, logs.text) == ("warning", "timestamps in the future")
    assert logs.base_offset == 9
    assert badges["old-0 (deleted)"] is None
    drawn = "Segments of 4 topic-partitions, to scale."
    assert view.alt.endswith(
        f"{drawn} orders-0: .timeindex missing and 1 other; logs-0: timestamps in the future."
    )
    assert broker_map.view(known).alt.endswith(drawn)


def test_a_torn_end_is_worse_than_all(known):
    tails = {("orders-0", 30): "45 bytes that are not a batch"}
    row = broker_map.view(
        torn(known, "orders-0", 45), tails=tails, badges={"orders-0": (FUTURE,)}
    ).rows[0]
    assert (row.badge.severity, row.badge.text) == ("error", "45 bytes that are not a batch")
    assert row.badge.base_offset == 0


def test_a_torn_end_needs_no_pin(known):
    tails = {("orders-0", 30): "45 bytes that are not a batch"}
    badges = {"orders-0": (MISSING, FUTURE)}
    view = broker_map.view(torn(known, "orders-0", 45), tails=tails, badges=badges)
    assert [
        list(trace.x) for trace in broker_map.figure(view, "dark").data if "pins" in trace.name
    ] == [[800]]


def test_a_segment_says_what_was_found_about_it(known):
    view = broker_map.view(
        known, badges={"orders-0": (MISSING,), "__consumer_offsets-3": (FUTURE,)}
    )
    bars = {
        (bar.directory, bar.base_offset): (bar.severity, bar.hover.rpartition("<br>")[2])
        for bar in view.bars
        if bar.severity
    }
    assert bars == {
        ("orders-0", 30): ("error", "error: The .timeindex is missing"),
        ("__consumer_offsets-3", 0): ("warning", "warning: Records have timestamps in the future"),
    }
    traces = {trace.name: trace for trace in broker_map.figure(view, "light").data}
    assert list(traces["error pins"].x) == [2000]
    assert traces["error pins"].marker.color == theme.colours("light")["torn"]
    signs = {
        name: (list(traces[name].customdata), traces[name].marker.symbol)
        for name in ("error marks", "warning marks")
    }
    assert signs == {
        "error marks": ([["orders-0", "30"]], "octagon"),
        "warning marks": ([["__consumer_offsets-3", "0"]], "triangle-up"),
    }


def test_a_row_drawn_as_one_bar_has_its_sign_alone(known, monkeypatch):
    monkeypatch.setattr(broker_map, "MAX_BARS_PER_ROW", 1)
    view = broker_map.view(known, badges={"orders-0": (FUTURE._replace(base_offsets=(0, 30)),)})
    assert view.rows[0].badge.hover.endswith(
        "warning: Records have timestamps in the future, 2 segments"
    )
    assert not any("pins" in trace.name for trace in broker_map.figure(view, "light").data)


def test_what_names_no_segment_that_is_there_opens_the_last(known):
    row = broker_map.view(
        known, badges={"orders-0": (Badge("orphan-index", "warning", (999,)),)}
    ).rows[0]
    assert row.badge.base_offset == 30 and row.badge.text == "an index without its .log"
