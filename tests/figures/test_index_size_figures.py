"""The figures of another index size: what each view says, value by value, and that it is drawn."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.tuning import index_size
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.figures.tuning import index_size_curve, index_size_map
from kafkaviz.simulate.writer.roll_reason import RollCause
from tests.support.tuning import NEW

MODES = ("light", "dark")
T = "\u202f"
TODAY, DEFAULT = 300, 10 << 20
INTERVALS = (64, 150, 4096, 65_536)

Outcomes = dict[int, tuple[IndexSizeOutcome, ...]]


@pytest.fixture(scope="module")
def outcomes(clean) -> Outcomes:
    """Returns the outcomes for a log of batches of 119 B, interval 150 and an index of 300 B."""
    case = open_source(clean / "tiny-index-0").total
    rounds = index_size.log_rounds(case.logs)
    sizes = {*index_size.INDEX_SIZES, DEFAULT}
    return {
        interval: index_size.sweep_index_sizes(
            rounds, replace(case.today.config, index_interval_bytes=interval), sizes
        )
        for interval in INTERVALS
    }


def curve(outcomes: Outcomes, today: int = TODAY, considered: int = TODAY):
    return index_size_curve.view(outcomes[150], NEW, today_bytes=today, considered_bytes=considered)


def size_map(outcomes: Outcomes, considered: tuple[int, int] = (150, TODAY)):
    return index_size_map.view(outcomes, NEW, today=(150, TODAY), considered=considered)


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


def notes(figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


# ---- sizes


def test_the_curve_says_what_the_default_would_do(outcomes):
    """Where an index ends segments today, and what a search reads of an index of 24 entries."""
    view = curve(outcomes)
    assert view.title == (
        "Indexes of 300 B end segments, from 4 MiB on none does; a lookup on cold pages takes "
        f"297 µs. At 10 MiB: 811 µs, and 12{T}341 times fewer rolls"
    )
    assert (view.sizes[view.today], view.considered) == (TODAY, None)
    assert view.probes[view.today] == pytest.approx(5.6667, abs=1e-4)
    assert (view.pages[view.today], view.cold_reads[view.today]) == (1.0, 1.0)
    assert (view.log_bytes[view.today], view.causes[view.today]) == (
        5831,
        RollCause.TIME_INDEX_FULL,
    )
    assert view.least_safe == 4 << 20


def test_a_smaller_size_rolls_sooner(outcomes):
    assert curve(outcomes, DEFAULT, 65_536).title == (
        "Keep 10 MiB: from 4 MiB on no index ends a segment, and a lookup on cold pages takes "
        "811 µs. At 64 KiB: 300 µs, and 55 times as many rolls"
    )
    assert curve(outcomes, DEFAULT, DEFAULT).title.endswith(
        "At 256 KiB: 397 µs, and 14 times as many rolls"
    )


def test_a_size_that_changes_nothing_says_so(outcomes):
    assert curve(outcomes, DEFAULT, 64 << 20).title == (
        "Keep 10 MiB: from 4 MiB on no index ends a segment, and a lookup on cold pages takes "
        "811 µs. At 64 MiB: the same"
    )


def test_sizes_that_all_give_one_log_say_so(outcomes):
    still = [each for each in outcomes[150] if each.index_bytes >= 4 << 20]
    view = index_size_curve.view(still, NEW, today_bytes=DEFAULT, considered_bytes=DEFAULT)
    assert view.title == (
        "Keep 10 MiB: an index of any size ends no segment, and a lookup on cold pages takes 811 µs"
    )


def test_a_size_whose_index_ended_one_segment_is_not_safe(outcomes):
    *_, last = outcomes[150]
    assert not last.is_index_full
    assert replace(last, rolls={**last.rolls, RollCause.TIME_INDEX_FULL: 1}).is_index_full


def test_a_point_says_all_of_its_size(outcomes):
    """Slots, rolls, entries, what a search reads; the day at the log's own speed."""
    view = curve(outcomes)
    assert view.hover_texts[view.today].split("<br>") == [
        "300 B of index, interval 150 B",
        "full after 37 offset entries or 24 time entries",
        f"time index ends a segment when its .log has 5.69 KiB: 184{T}144 rolls per GiB, 1{T}763 per day",
        "its index: 24 entries, 5.7 probes (5.7 by plain binary search), 1.0 pages",
        "lookup on cold pages: 1.0 device reads of the index, 1.5 headers, about 297 µs",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_the_curve_is_drawn_as_it_is(outcomes, mode):
    view = curve(outcomes, considered=DEFAULT)
    figure = index_size_curve.figure(view, mode)
    for name in index_size_curve.LINES:
        assert trace(figure, name).y.tolist() == getattr(view, name).tolist()
    assert trace(figure, "log_bytes").y.tolist() == view.log_bytes.tolist()
    below, above, today, considered = figure.layout.shapes
    assert (below.x1, above.x1) == (21.5, 21.5)
    assert (above.y0, below.y1) == (index_size_curve.READS_FROM, index_size_curve.ROLLS_TO)
    assert today.x0 == np.log2(300)
    assert considered.x0 == np.log2(DEFAULT)
    assert {"today", "<b>what if: 10 MiB</b>", "<b>an index ends segments</b>"} <= {*notes(figure)}


def test_equal_lines_have_one_name(outcomes):
    """A line below an equal one is not seen."""
    view = curve(outcomes)
    equal = replace(view, probes=view.plain_probes, cold_reads=view.pages)
    names = set(notes(index_size_curve.figure(equal, "light")))
    assert {"<b>probes<br>(plain: the same)</b>", "<b>pages =<br>device reads</b>"} <= names
    ones = np.ones(len(view.sizes))
    names = notes(index_size_curve.figure(replace(equal, pages=ones, cold_reads=ones), "light"))
    assert "<b>pages =<br>device reads, 1</b>" in names
    apart = replace(view, probes=view.plain_probes - 1, cold_reads=view.pages + 1)
    names = set(notes(index_size_curve.figure(apart, "light")))
    assert {f"<b>{name}</b>" for name in ("probes, plain", "probes", "pages", "device reads")} < (
        names
    )


def test_the_caption_says_of_which_interval(outcomes):
    def caption(**today) -> str:
        view = index_size_curve.view(
            outcomes[150], NEW, today_bytes=TODAY, considered_bytes=TODAY, **today
        )
        return view.caption.partition(" Above")[0]

    assert caption(today_interval_bytes=150) == "Interval 150 B."
    assert caption(today_interval_bytes=4096) == "If the interval were 150 B (today 4 KiB)."
    assert caption(today_interval_bytes=4096, is_today_known=False) == (
        "If the interval were 150 B (assumed today: 4 KiB)."
    )


def test_each_axis_says_what_is_on_it(outcomes):
    curve_notes = notes(index_size_curve.figure(curve(outcomes), "light"))
    assert {
        "mean search: probes, pages, device reads",
        ".log of a segment at its roll, bytes",
        "segment.index.bytes (log.index.size.max.bytes)",
    } <= set(curve_notes)
    map_view = size_map(outcomes)
    map_notes = notes(index_size_map.figure(map_view, "light"))
    names = {
        "segment.index.bytes (log.index.size.max.bytes)",
        "index.interval.bytes (log.index.interval.bytes)",
    }
    assert names | {"time of a lookup"} <= set(map_notes)
    asked_notes = notes(index_size_map.figure(index_size_map.before_sweep(map_view), "light"))
    assert names <= set(asked_notes)
    assert "time of a lookup" not in asked_notes


def test_names_of_lines_do_not_meet(outcomes):
    figure = index_size_curve.figure(curve(outcomes), "light")
    places = sorted(
        annotation.y
        for annotation in figure.layout.annotations
        if annotation.x == 1 and annotation.yanchor == "middle" and annotation.yref == "paper"
    )
    height = index_size_curve.HEIGHT - index_size_curve.TOP - index_size_curve.BOTTOM
    assert min(np.diff(places)) * height >= index_size_curve.NAME_PX - 0.01


def test_before_the_answer_there_is_today_alone(outcomes):
    view = curve(outcomes)
    asked = index_size_curve.before_sweep(view)
    assert np.flatnonzero(np.isfinite(asked.probes)).tolist() == [view.today]
    assert (asked.most_reads, asked.log_range) == (view.most_reads, view.log_range)
    figure = index_size_curve.figure(asked, "light")
    assert len(figure.layout.shapes) == 1
    assert asked.title == "Today segment.index.bytes is 300 B. What would another size change?"


def test_the_rows_are_the_outcomes(outcomes):
    still = replace(outcomes[150][0], open_ms=0.0)
    first, second = index_size_curve.rows([still, outcomes[150][1]], NEW)
    row = dict(zip(index_size_curve.COLUMNS, second, strict=True))
    assert (row["segment_index_bytes"], row["offset_slots"], row["usable_time_slots"]) == (
        128,
        16,
        9,
    )
    assert (row["ends_a_segment"], row["segment_log_bytes"]) == ("time-index-full", 2261)
    assert (row["entries"], row["tail_probes"], row["plain_probes_mean"]) == (9, 5, 4.222)
    assert first[index_size_curve.COLUMNS.index("rolls_a_day")] == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(25.2, "25"), (1.0, "1"), (0.14, "0.14"), (1763.0, f"1{T}763"), (float("inf"), "–")],
)
def test_counts_have_two_figures(value, text):
    assert index_size_curve.count_text(value) == text


# ---- sizes and intervals


def test_the_map_has_the_cost_of_each_pair(outcomes):
    """Only powers of two; today's interval and size count for the title."""
    view = size_map(outcomes)
    assert view.intervals.tolist() == [64, 4096, 65_536]
    assert view.sizes.tolist() == list(index_size.INDEX_SIZES)
    for column, interval in enumerate(view.intervals.tolist()):
        by_size = {outcome.index_bytes: outcome for outcome in outcomes[interval]}
        for row, size in enumerate(view.sizes.tolist()):
            assert view.cold_us[row, column] == by_size[size].cold_us(NEW).typical
    assert view.title.startswith("On cold pages a lookup takes about 29")
    assert (
        "µs as index.interval.bytes varies, 295 µs to 811 µs as segment.index.bytes varies"
        in view.title
    )


def test_the_border_is_where_an_index_stops_to_end_segments(outcomes):
    """Below it each cell's cause is an index, above it none is."""
    view = size_map(outcomes)
    for interval, safe in zip(view.intervals.tolist(), view.safe_bytes.tolist(), strict=True):
        assert all(
            outcome.is_index_full == (outcome.index_bytes < safe) for outcome in outcomes[interval]
        )


def test_a_line_of_rolls_is_between_its_sizes(outcomes):
    """Segments end at 1 MiB: the size below ends them sooner, the one above later."""
    view = size_map(outcomes)
    (column,) = np.flatnonzero(view.intervals == 4096)
    size = view.roll_lines[1 << 20][column]
    below, above = (
        max(view.log_bytes[view.sizes <= size, column]),
        min(view.log_bytes[view.sizes >= size, column]),
    )
    assert below <= 1 << 20 <= above


@pytest.mark.parametrize("mode", MODES)
def test_the_map_is_drawn_as_it_is(outcomes, mode):
    view = size_map(outcomes, (2048, DEFAULT))
    figure = index_size_map.figure(view, mode)
    assert trace(figure, "cost").z.tolist() == np.log10(view.cold_us).tolist()
    assert trace(figure, "cost").showscale
    assert trace(figure, "cost").colorbar.ticktext[0] == "500 µs"
    assert trace(figure, "safe").y.tolist() == (np.log2(view.safe_bytes) - 0.5).tolist()
    assert (trace(figure, "today").x[0], trace(figure, "today").y[0]) == (
        np.log2(150),
        np.log2(TODAY),
    )
    assert trace(figure, "considered").y[0] == np.log2(DEFAULT)
    assert {"<b>today</b>", "<b>what if</b>", "1 MiB"} <= set(notes(figure))


@pytest.mark.parametrize(
    ("considered", "anchors"),
    [
        ((300, TODAY), ["top", "bottom"]),
        ((150, 200), ["bottom", "top"]),
        ((65_536, TODAY), ["bottom", "bottom"]),
        ((150, DEFAULT), ["bottom", "bottom"]),
    ],
)
def test_names_of_close_marks_stand_apart(outcomes, considered, anchors):
    annotations = index_size_map.figure(size_map(outcomes, considered), "light").layout.annotations
    assert [
        name.yanchor for name in annotations if name.text in ("<b>today</b>", "<b>what if</b>")
    ] == anchors


def test_before_the_answer_the_map_is_empty(outcomes):
    asked = index_size_map.before_sweep(size_map(outcomes, (2048, DEFAULT)))
    figure = index_size_map.figure(asked, "light")
    assert [each.name for each in figure.data] == ["unknown", "today"]
    assert asked.title == (
        "Which setting moves the cost of a lookup: index.interval.bytes or segment.index.bytes?"
    )
