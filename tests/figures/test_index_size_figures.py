"""The figures of another index size: what each view says, value by value, and that it is drawn."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.tuning import index_size
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome, SafeIndexSize
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.figures.tuning import index_size_curve, index_size_map
from kafkaviz.simulate.writer.roll_reason import RollCause
from tests.support.plotly_figures import notes, trace
from tests.support.tuning import NEW

MODES = ("light", "dark")
T = "\u202f"
TODAY, DEFAULT = 300, 10 << 20
INTERVALS = (64, 150, 4096, 65_536)

Outcomes = dict[int, tuple[IndexSizeOutcome, ...]]


@pytest.fixture(scope="module")
def outcomes(clean) -> Outcomes:
    """Returns the outcomes for a log of batches of 119 B, interval 150 and an index of 300 B."""
    source = open_source(clean / "tiny-index-0")
    case = source.total
    rounds = index_size.log_rounds(source)
    sizes = {*index_size.INDEX_SIZES, DEFAULT}
    return {
        interval: index_size.sweep_index_sizes(
            rounds, replace(case.today.config, index_interval_bytes=interval), sizes
        )
        for interval in INTERVALS
    }


SAFE = SafeIndexSize(150, 3_628_320, RollCause.TIME_INDEX_FULL)


def curve(outcomes: Outcomes, today: int = TODAY, considered: int = TODAY, **options):
    options = {"today_bytes": today, "considered_bytes": considered, "safe": SAFE, **options}
    return index_size_curve.view(outcomes[150], NEW, **options)


def size_map(outcomes: Outcomes, considered: tuple[int, int] = (150, TODAY)):
    return index_size_map.view(outcomes, NEW, today=(150, TODAY), considered=considered)


# ---- sizes


def test_the_curve_says_what_the_default_would_do(outcomes):
    """Where an index ends segments today, and what a lookup in an index of 24 entries takes."""
    view = curve(outcomes)
    assert view.title == (
        "A lookup takes 295 µs to 811 µs. "
        "Below 3.46 MiB, as today, the time index fills first and ends segments (interval 150 B)"
    )
    assert view.caption == (
        "The curve is for an interval of 150 B. "
        "With indexes of 10 MiB, a lookup on cold pages takes 811 µs instead of 297 µs, "
        f"and there are 12{T}341 times fewer rolls. Times are modelled; rolls are counted."
    )
    assert (view.sizes[view.today], view.considered) == (TODAY, None)
    assert view.cold_us.tolist() == [each.cold_us(NEW).typical for each in outcomes[150]]
    assert view.log_bytes[view.today] == 5831
    assert view.causes[view.today] == RollCause.TIME_INDEX_FULL
    assert view.full_until == 3_628_320
    assert view.safe_sizes == ((3_628_320, "today: time index full below 3.46 MiB"),)


def test_a_smaller_size_rolls_sooner(outcomes):
    view = curve(outcomes, DEFAULT, 65_536)
    assert "Below 3.46 MiB the time index fills first" in view.title
    assert (
        " With indexes of 64 KiB, a lookup on cold pages takes 300 µs instead of 811 µs, "
        "and there are 55 times as many "
    ) in view.caption
    view = curve(outcomes, DEFAULT, DEFAULT)
    assert (
        " With indexes of 256 KiB, a lookup on cold pages takes 397 µs instead of 811 µs, "
        "and there are 14 times as many "
    ) in view.caption


def test_a_size_that_changes_nothing_says_so(outcomes):
    view = curve(outcomes, DEFAULT, 64 << 20)
    assert (
        " With indexes of 64 MiB, a lookup on cold pages takes 811 µs instead of 811 µs, "
        "and there are as many rolls as today. "
    ) in view.caption


def test_sizes_that_hardly_change_a_lookup_say_so_first(outcomes):
    def title(sizes: tuple[int, int], safe: SafeIndexSize) -> str:
        low, high = sizes
        some = [each for each in outcomes[150] if low <= each.index_bytes <= high]
        options = {"today_bytes": low, "considered_bytes": low, "safe": safe}
        view = index_size_curve.view(some, NEW, **options)
        assert view.safe_sizes == ()
        return view.title

    assert title((4 << 20, 64 << 20), SafeIndexSize(150, 0, None)) == (
        "Index size hardly changes the lookup time. "
        "At an interval of 150 B, no index ends a segment, whatever its size"
    )
    never = SafeIndexSize(150, float("inf"), RollCause.TIME_INDEX_FULL)
    assert title((128, 65_536), never) == (
        "Index size hardly changes the lookup time. "
        "At an interval of 150 B the time index ends segments at every size"
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
        "lookup on cold pages: 1.0 cold pages read in the index, 1.5 headers, about 297 µs",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_the_curve_is_drawn_as_it_is(outcomes, mode):
    view = curve(outcomes, considered=DEFAULT)
    figure = index_size_curve.figure(view, mode)
    assert trace(figure, "cold_us").y.tolist() == view.cold_us.tolist()
    assert figure.layout.yaxis.range == (0, 1.3 * view.cold_us.max())
    assert figure.layout.yaxis.ticktext == ("500 µs", "1.0 ms")
    assert trace(figure, "log_bytes").y.tolist() == view.log_bytes.tolist()
    below, above, safe, today, considered = figure.layout.shapes
    assert below.x1 == above.x1 == safe.x0 == np.log2(3_628_320)
    assert (above.y0, below.y1) == (index_size_curve.TIMES_FROM, index_size_curve.ROLLS_TO)
    assert today.x0 == np.log2(300)
    assert considered.x0 == np.log2(DEFAULT)
    names = {"today", "<b>what if: 10 MiB</b>", "today: time index full below 3.46 MiB"}
    assert names <= {*notes(figure)}
    assert figure.layout.xaxis.ticktext == ("3.46 MiB", "64 B", "64 KiB", "64 MiB")


def test_another_interval_has_a_safe_size_of_its_own(outcomes):
    """The title gives that of today's interval; the line of the other is named as a what-if."""

    def view(*, is_today_known: bool = True):
        today = SafeIndexSize(4096, 206_000, RollCause.TIME_INDEX_FULL)
        return curve(outcomes, safe_today=today, is_today_known=is_today_known)

    assert view().title.endswith(
        "Below 201 KiB, as today, the time index fills first and ends segments (interval 4 KiB)"
    )
    assert view().caption.startswith("The curve is for an interval of 150 B (today 4 KiB). ")
    assert view().safe_sizes == (
        (206_000, "today: time index full below 201 KiB"),
        (3_628_320, "what if: below 3.46 MiB"),
    )
    assert view().full_until == 3_628_320
    *_, today, considered, _ = index_size_curve.figure(view(), "light").layout.shapes
    assert (today.x0, considered.x0) == (np.log2(206_000), np.log2(3_628_320))
    assumed = view(is_today_known=False)
    assert assumed.caption.startswith(
        "The curve is for an interval of 150 B (assumed today: 4 KiB). "
    )
    assert assumed.safe_sizes[0][1] == "assumed today: time index full below 201 KiB"


def test_each_axis_says_what_is_on_it(outcomes):
    curve_notes = notes(index_size_curve.figure(curve(outcomes), "light"))
    assert {
        "time of a lookup on cold pages, modelled",
        "size of a segment’s .log at its roll, bytes",
        "segment.index.bytes (log.index.size.max.bytes)",
    } <= set(curve_notes)
    map_view = size_map(outcomes)
    map_figure = index_size_map.figure(map_view, "light")
    assert {
        "segment.index.bytes (log.index.size.max.bytes)",
        "index.interval.bytes (log.index.interval.bytes)",
    } <= set(notes(map_figure))
    assert trace(map_figure, "cost").colorbar.title.text == "time of a lookup"


def test_before_the_answer_there_is_today_alone(outcomes):
    view = curve(outcomes)
    asked = index_size_curve.before_sweep(view)
    assert np.flatnonzero(np.isfinite(asked.cold_us)).tolist() == [view.today]
    assert (asked.most_us, asked.log_range) == (view.most_us, view.log_range)
    figure = index_size_curve.figure(asked, "light")
    assert len(figure.layout.shapes) == 1
    assert asked.title == "Today segment.index.bytes is 300 B"
    assert asked.caption == "Times are modelled; rolls are counted."


def test_the_rows_are_the_outcomes(outcomes):
    still = replace(outcomes[150][0], open_ms=0.0)
    first, second = index_size_curve.rows([still, outcomes[150][1]], NEW)
    row = dict(zip(index_size_curve.COLUMNS, second, strict=True))
    assert (row["segment_index_bytes"], row["offset_slots"]) == (128, 16)
    assert row["usable_time_slots"] == 9
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
        "µs if index.interval.bytes varies, and 295 µs to 811 µs if segment.index.bytes varies"
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
    below = max(each.log_bytes for each in outcomes[4096] if each.index_bytes <= size)
    above = min(each.log_bytes for each in outcomes[4096] if each.index_bytes >= size)
    assert below <= 1 << 20 <= above


@pytest.mark.parametrize("mode", MODES)
def test_the_map_is_drawn_as_it_is(outcomes, mode):
    view = size_map(outcomes, (2048, DEFAULT))
    figure = index_size_map.figure(view, mode)
    assert trace(figure, "cost").z.tolist() == np.log10(view.cold_us).tolist()
    assert trace(figure, "cost").showscale
    assert trace(figure, "cost").colorbar.ticktext[0] == "500 µs"
    assert trace(figure, "safe").y.tolist() == (np.log2(view.safe_bytes) - 0.5).tolist()
    assert trace(figure, "today").x[0] == np.log2(150)
    assert trace(figure, "today").y[0] == np.log2(TODAY)
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
