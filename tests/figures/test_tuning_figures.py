"""The figures of the Tuning page: each view value by value, and its drawing."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis import tuning
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.rolls import limits
from kafkaviz.analysis.tuning import Assumption, Budgets, CurrentConfig
from kafkaviz.analysis.tuning.tuning_case import EntryCounts
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.figures import theme
from kafkaviz.figures.tuning import (
    before_after,
    cost_curve,
    limit_map,
    tornado,
    tuning_curve,
    tuning_verdict,
)
from kafkaviz.figures.tuning.tuning_verdict import change_text, headers_text, range_text
from kafkaviz.messages import verbatim
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import RollCause
from tests.support.tuning import NEW, OLD, compared, measured

MODES = ("light", "dark")
T = "\u202f"
USUAL = Budgets()


def curve(
    profile, today: int = 4096, considered: int = 16_384, budgets: Budgets = USUAL, costs=OLD
):
    every = tuning.compute_costs(profile, costs, budgets)
    now = tuning.compute_current_cost(profile, costs, today, budgets)
    return tuning_curve.view(
        every,
        now,
        considered,
        log_bytes=profile.log_bytes,
        least_batch_bytes=profile.parts.least_batch_bytes,
        budgets=budgets,
        costs=costs,
    )


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


def notes(figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


# ---- words


def test_times_and_changes_in_words():
    """µs and ms with one decimal below ten; a factor from two on, a percentage below."""
    assert [format_us(cost_us) for cost_us in (5.5, 42.2, 1400.0)] == ["5.5 µs", "42 µs", "1.4 ms"]
    assert (
        range_text(Range(7.75, 10, 21.6)) == "7.8 to 22 µs"
        and range_text(Range(500, 700, 1400)) == "500 µs to 1.4 ms"
    )
    assert (
        range_text(Range(2, 2, 2)) == "2.0 µs"
        and headers_text(1.0) == "1.0 header"
        and headers_text(3.67) == "3.7 headers"
    )
    labels = [
        change_text(*pair)
        for pair in (
            (3.7, 9.0),
            (491, 143),
            (100, 108),
            (5, 5),
            (1000, 1001),
            (0, 4),
            (None, 1),
            (1, 250),
        )
    ]
    assert labels == ["× 2.4", "−71 %", "+8 %", "same", "same", "–", "–", "× 250"]


# ---- the curves


@pytest.mark.parametrize("mode", MODES)
def test_the_curves_mark_today_and_what_is_considered(mode):
    """Batches of 1000 B: an entry per fifth at 4096, per seventeenth at 16 384."""
    profile = measured(1000)
    view = curve(profile)
    assert view.titles == (
        "16 KiB instead of 4 KiB: a lookup reads 2.5 times as many headers",
        "The index shrinks from 15.6 KiB to 4.60 KiB; the log is 3.81 MiB",
    )
    assert (view.today.interval_bytes, view.today.name, round(view.today.headers_mean, 2)) == (
        4096,
        "today, 4 KiB",
        4.0,
    )
    assert (view.considered.interval_bytes, view.considered.name) == (16_384, "considered, 16 KiB")
    assert (
        view.today.index_bytes == 8 * 799 + 12 * 800
        and view.considered.index_bytes == 8 * 235 + 12 * 236
    )
    assert view.least_batch_bytes == 1000 and view.budget_text == "50 µs budget"
    assert view.budget == pytest.approx(
        [
            (50 - first_us) / header_us
            for first_us, header_us in zip(OLD.first_us[::-1], OLD.header_us[::-1], strict=True)
        ]
    )
    at = view.intervals.tolist().index(4096)
    assert (
        view.intervals[0] == 64
        and view.intervals[-1] == 4 << 20
        and view.headers_p99[at] == 6
        and view.headers_p50[at] == 4
    )
    assert view.hover_texts[at].startswith(
        f"<b>4{T}096 B</b><br>4.0 headers on average, p99 6"
        "<br>799 offset and 800 time entries, 15.6 KiB<br>about 9.4 µs"
    )
    figure = tuning_curve.headers_figure(view, mode)
    assert (
        trace(figure, "marks").x == (4096, 16_384)
        and trace(figure, "points").customdata[at][0] == 4096
    )
    assert (
        trace(figure, "p99").y[at] == 6
        and trace(figure, "mean").line.color == theme.colours(mode)["scan"]
    )
    assert {
        "p99",
        "<b>mean</b>",
        "<b>50 µs budget</b>",
        "today, 4 KiB",
        "considered, 16 KiB",
        "index.interval.bytes",
    } <= set(notes(figure))
    assert list(figure.layout.xaxis.ticktext)[:2] == ["64 B", "256 B"] and list(
        figure.layout.yaxis.ticktext
    )[:3] == ["1", "2", "5"]
    sides = {annotation.text: annotation.xanchor for annotation in figure.layout.annotations}
    # the lines are close
    assert sides["today, 4 KiB"] == "right" and sides["considered, 16 KiB"] == "left"
    figure = tuning_curve.bytes_figure(view, mode)
    assert trace(figure, "both indexes").y[
        at
    ] == 8 * 799 + 12 * 800 and "<b>both indexes</b>" in notes(figure)
    assert all("⁰" not in tick and "e" not in tick for tick in figure.layout.yaxis.ticktext)


def test_below_the_smallest_batch_nothing_changes():
    """The stretch is shaded, with its words inside or, if narrow, next to it."""
    narrow, wide = (
        tuning_curve.headers_figure(curve(measured(size, spread=size // 10)), "light")
        for size in (200, 6000)
    )
    assert any("Left of 180 B, your<br>smallest batch," in note for note in notes(narrow))
    assert any("Below your smallest batch" in note for note in notes(wide))
    plateau = next(shape for shape in wide.layout.shapes if shape.type == "rect" and shape.x0 == 64)
    assert plateau.x1 == curve(measured(6000, spread=600)).least_batch_bytes
    assert not any(
        "smallest batch" in note
        for note in notes(
            tuning_curve.headers_figure(
                replace(curve(measured(200)), least_batch_bytes=61), "light"
            )
        )
    )


def test_the_name_of_the_left_mark_is_on_its_left():
    """No line crosses the text, whether of today's or the considered interval."""
    figure = tuning_curve.headers_figure(curve(measured(1000), considered=2048), "light")
    sides = {note.text: note.xanchor for note in figure.layout.annotations}
    assert (sides["considered, 2 KiB"], sides["today, 4 KiB"]) == ("right", "left")
    rows = {note.text: note.yshift for note in figure.layout.annotations}
    # at the foot, below where the curve of small intervals comes down
    assert rows["considered, 2 KiB"] == rows["today, 4 KiB"]


def test_no_line_goes_through_the_name_of_a_mark():
    """A budget's line may be at the bottom too: the text covers it."""
    figure = tuning_curve.headers_figure(curve(measured(1000), considered=2048), "light")
    covered = {
        note.text: note.bgcolor
        for note in figure.layout.annotations
        if note.text in ("considered, 2 KiB", "today, 4 KiB")
    }
    assert covered == dict.fromkeys(
        ("considered, 2 KiB", "today, 4 KiB"), theme.colours("light")["raised"]
    )


def test_nothing_else_is_considered():
    view = curve(measured(1000), considered=4096)
    assert view.considered is None and view.titles[0].startswith(
        "64 KiB instead of 4 KiB: a lookup reads 8.6 times"
    )
    assert trace(tuning_curve.headers_figure(view, "light"), "marks").x == (4096,)


def test_an_interval_that_no_file_gives_is_not_called_todays():
    profile = measured(1000)
    view = tuning_curve.view(
        tuning.compute_costs(profile, OLD, USUAL),
        tuning.compute_current_cost(profile, OLD, 4096, USUAL),
        4096,
        log_bytes=profile.log_bytes,
        least_batch_bytes=profile.parts.least_batch_bytes,
        budgets=USUAL,
        costs=OLD,
        is_today_known=False,
    )
    assert view.today.name == "unknown, taken as 4 KiB"


def test_an_index_of_entire_appends_is_compared_with_its_replay():
    """Whole appends, not the interval, give the lookups of 64 KiB, so no interval is proposed."""
    profile = measured(1000)
    every = tuning.compute_costs(profile, OLD, USUAL)
    coarse = next(cost for cost in every if cost.interval_bytes >= 65_536)
    view = tuning_curve.view(
        every,
        replace(coarse, interval_bytes=4096),
        4096,
        log_bytes=profile.log_bytes,
        least_batch_bytes=profile.parts.least_batch_bytes,
        budgets=USUAL,
        costs=OLD,
    )
    assert (
        view.titles[0]
        == "With the index on disk a lookup reads 34.4 headers; with an index written batch by batch at 4 KiB, it would read 4.0 headers"
    )


def test_an_interval_left_of_the_axis_is_marked_at_its_edge():
    """0 indexes every batch and has no place on a logarithmic axis."""
    view = curve(measured(1000), today=0, considered=64)
    assert (view.today.interval_bytes, view.today.x_bytes, view.today.name) == (
        0,
        64,
        "today, 0 B",
    )
    assert view.titles == (
        "64 B instead of 0 B: a lookup reads equally many headers",
        "The index stays at 78.1 KiB; the log is 3.81 MiB",
    )


@pytest.mark.parametrize("draw", ["curve", "cost"])
def test_a_budget_is_drawn_at_the_typical_price(draw):
    """Its band goes from the expensive end of the price, with few headers, to the cheap one."""
    view = curve(measured(1000), considered=65_536)
    figure = (
        tuning_curve.headers_figure(view, "light")
        if draw == "curve"
        else cost_curve.figure(cost_curve.view(view), "light")
    )
    band = next(shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x0 == 0)
    line = next(shape for shape in figure.layout.shapes if shape.line.dash == "2px,3px")
    assert (band.y0, line.y0, band.y1) == pytest.approx(tuple(view.budget))
    assert "Dotted: the budget, at the typical cost of a header" in (
        tuning_curve.captions(view)[0] if draw == "curve" else cost_curve.view(view).caption
    )


def test_the_p99_is_marked_as_the_mean_is():
    view = curve(measured(1000))
    p99 = [view.today.headers_p99, view.considered.headers_p99]
    assert p99 == [6, 18]
    for figure in (
        tuning_curve.headers_figure(view, "light"),
        cost_curve.figure(cost_curve.view(view), "light"),
    ):
        assert list(trace(figure, "marks of the p99").y) == p99
        assert trace(figure, "marks of the p99").x == trace(figure, "marks").x


def test_without_a_budget_no_line():
    for budgets in (Budgets(p99_us=None), Budgets(p99_us=1e6)):
        figure = tuning_curve.headers_figure(curve(measured(1000), budgets=budgets), "light")
        assert not any("budget" in note for note in notes(figure))
        assert "budget" not in tuning_curve.captions(curve(measured(1000), budgets=budgets))[0]


def test_every_interval_as_a_row():
    profile = measured(1000)
    rows = tuning_curve.rows(tuning.compute_costs(profile, OLD))
    assert len(rows) == len(profile.parts.intervals) and all(
        len(row) == len(tuning_curve.COLUMNS) for row in rows
    )
    row = dict(zip(tuning_curve.COLUMNS, next(row for row in rows if row[0] == 4096), strict=True))
    assert (row["entries"], row["headers_p99"], row["headers_max"], row["index_bytes"]) == (
        799,
        6,
        6,
        8 * 799 + 12 * 800,
    )
    assert row["warm_p99_us"] == pytest.approx(2.2 + 6 * 1.8) and row[
        "warm_p99_us_low"
    ] == pytest.approx(1 + 6 * 0.95)


# ---- which limit


@pytest.mark.parametrize("mode", MODES)
def test_the_map_agrees_with_the_closed_forms(mode):
    """Each cell is the minimum of the limits; the border is where the index stops being one."""
    profile, config = replace(measured(1000), bytes_per_s=1e6), LogConfig()
    view = limit_map.view(profile, config, 16_384, 1 << 20)
    for row in range(0, len(view.index_sizes), 5):
        for column in range(0, len(view.intervals), 7):
            place = profile.parts.index_of(int(view.intervals[column]))
            entries, times = (
                int(profile.parts.entries[place]),
                int(profile.parts.time_entries[place]),
            )
            if not entries:
                continue
            gap, room = profile.log_bytes / entries, int(view.index_sizes[row])
            ends = {
                RollCause.SIZE: config.segment_bytes,
                RollCause.TIME: 1e6 * config.segment_ms / 1000,
                RollCause.OFFSET_INDEX_FULL: limits.offset_index_full_bytes(room, gap),
                RollCause.TIME_INDEX_FULL: limits.time_index_full_bytes(room, gap, times / entries),
            }
            assert limit_map.CAUSES[view.cause[row, column]] == min(ends, key=ends.get)
            assert room < view.safe_bytes[column] or min(ends, key=ends.get) in (
                RollCause.SIZE,
                RollCause.TIME,
            )
            assert 1.3 * room > view.safe_bytes[column] or min(ends, key=ends.get) not in (
                RollCause.SIZE,
                RollCause.TIME,
            )
    assert (
        view.today.cause == RollCause.SIZE
        and view.today.index_bytes == config.segment_index_bytes
        and view.considered.index_bytes == 1 << 20
    )
    safe = round(1.25 * limits.safe_index_bytes(config.segment_bytes, profile.log_bytes / 799, 1.0))
    assert (
        view.title
        == "Today size ends segments; with segment.index.bytes of 3.07 MiB or more no index can"
    )
    assert f"With {safe:,} or more".replace(",", T) in limit_map.index_size_text(profile, config)
    figure = limit_map.figure(view, mode)
    assert trace(figure, "first limit").z.shape == (
        len(view.index_sizes),
        len(view.intervals),
    ) and trace(figure, "safe").y[0] == np.log2(view.safe_bytes[0])
    assert {"today", "<b>considered</b>", "<b>size</b>", "<b>time index</b>"} <= set(notes(figure))
    assert len(limit_map.rows(view)) == len(view.intervals) and len(limit_map.rows(view)[0]) == len(
        limit_map.COLUMNS
    )


def test_an_index_that_binds_today_is_named():
    """An index of 300 B is full long before the segment."""
    view = limit_map.view(measured(1000), LogConfig(segment_index_bytes=300), 4096, 300)
    assert (
        view.title.startswith(
            "Today the time index ends segments; with segment.index.bytes of 3.07 MiB"
        )
        and view.considered is None
    )
    assert view.today.cause == RollCause.TIME_INDEX_FULL


def test_a_slow_log_is_ended_by_time():
    """20 B/s fill 12 MB per week."""
    view = limit_map.view(replace(measured(1000), bytes_per_s=20.0), LogConfig(), 4096, 10 << 20)
    assert view.today.cause == RollCause.TIME and view.ends_bytes[-1, 0] == pytest.approx(
        20 * 7 * 86_400
    )


# ---- the tornado

ASSUMED = (
    Assumption(
        name=verbatim("µs per header"),
        unit="µs",
        low=1.5,
        typical=1.8,
        high=4.0,
        p99_us_low=33.0,
        p99_us_high=90.0,
        verdict_low=("keep", 4096),
        verdict_high=("change", 2048),
    ),
    Assumption(
        name=verbatim("reads per header"),
        unit="",
        low=1,
        typical=2,
        high=2,
        p99_us_low=20.0,
        p99_us_high=41.0,
        verdict_low=("keep", 4096),
        verdict_high=("keep", 4096),
    ),
)


@pytest.mark.parametrize("mode", MODES)
def test_the_tornado_says_what_would_change_the_answer(mode):
    """The widest bar comes first, and an end that gives another answer is named."""
    view = tornado.view(ASSUMED, ("keep", 4096), 41.0, 50.0)
    assert (
        view.title
        == "µs per header matters most: p99 from 33 µs to 90 µs; one of 2 would change the answer"
    )
    assert (
        view.bars[0].ends == ("1.5 µs", "4 µs")
        and view.bars[0].answers == ("", f"2{T}048")
        and view.bars[1].ends == ("1", "2")
    )
    assert tornado.rows(view)[0] == (
        "µs per header",
        "1.5 µs",
        "4 µs",
        "33 µs",
        "90 µs",
        "same",
        f"2{T}048",
    )
    figure = tornado.figure(view, mode)
    assert figure.data[0].base == (33.0, 20.0) and figure.data[0].x == (57.0, 21.0)
    assert f"4 µs → <b>2{T}048</b>" in notes(figure) and [
        shape.x0 for shape in figure.layout.shapes
    ] == [41.0, 50.0]
    assert "unchanged, 41 µs" in notes(figure) and list(figure.layout.yaxis.ticktext) == [
        "µs per header",
        "reads per header",
    ]


def test_a_tornado_of_nothing_is_empty():
    empty = tornado.view((), ("keep", 4096), 0.0, None)
    assert (
        empty.title == "No lookups, so no assumptions"
        and len(tornado.figure(empty, "dark").layout.shapes) == 1
    )
    assert tornado.view(ASSUMED[1:], ("keep", 4096), 41.0, None).title.endswith(
        "from 20 µs to 41 µs; the answer stays"
    )


# ---- before and after


def test_before_and_after_line_by_line():
    """Less is better and more is worse, with sign; modelled values say so with their error."""
    rows = compared(measured(1000), 16_384)
    row = rows["Headers per lookup, mean"]
    assert (row.before, row.after, row.change, row.kind, row.basis) == (
        "4.0",
        "10.0",
        "× 2.5",
        "worse",
        "replayed, every batch once",
    )
    row = rows["Headers per lookup of any offset, p99"]
    assert (row.before, row.after) == ("6", "18") and rows[
        "Headers per lookup of a timestamp, p99"
    ].after == "17"
    row = rows["Offset entries"]
    assert (row.before, row.after, row.change, row.kind) == (
        "799",
        "235",
        "−71 %",
        "better",
    )
    assert (rows["Time entries"].before, rows["Time entries"].after) == ("800", "236") and rows[
        "Both indexes"
    ].after == "4.60 KiB"
    assert (
        rows["Index, share of the log"].before == "0.40 %"
        and rows["Log bytes stepped over per lookup, mean"].change == "× 3.0"
    )
    assert rows["Lookup in page cache, mean"].basis == "modelled: 2.2 µs + 0.9 µs per header"
    assert rows["Lookup in page cache, p99"].basis == "modelled: 3.8 to 16 µs, then 9.5 to 40 µs"
    assert rows["Lookup from the device, p99"].basis.startswith("modelled, nvme: 2, then ")
    assert (
        rows["Limit reached first"].before,
        rows["Limit reached first"].after,
        rows["Limit reached first"].kind,
    ) == (
        "size",
        "time index",
        "worse",
    )
    assert (
        rows["Worth of 1 MB of index per GiB of log"].kind == "" and "Cores for lookups" not in rows
    )


def test_cores_where_fetches_are_counted():
    row = compared(measured(1000), 16_384, fetches_per_s=10_000.0)["Cores for lookups"]
    assert (row.before, row.after, row.kind) == (
        "≈ 0.058",
        "≈ 0.11",
        "worse",
    ) and f"10{T}000 fetches/s" in row.basis


def test_a_log_written_again():
    """Changed settings come first, then rolls by cause, without a verdict where there is none."""
    now = WhatIf(
        config=LogConfig(),
        segments=3,
        rolls={"size": 2},
        log_bytes=3 << 20,
        offset_entries=900,
        time_entries=903,
    )
    other = WhatIf(
        config=LogConfig(segment_bytes=1 << 20, index_interval_bytes=8192),
        segments=6,
        rolls={"size": 3, "time-index-full": 2},
        log_bytes=3 << 20,
        offset_entries=450,
        time_entries=456,
    )
    rows = {row.name: row for row in before_after.replay_rows(now, other)}
    assert list(rows)[:3] == ["segment.bytes", "index.interval.bytes", "Segments"]
    assert (
        rows["Segments"].before,
        rows["Segments"].after,
        rows["Segments"].change,
        rows["Segments"].kind,
    ) == ("3", "6", "× 2.0", "")
    assert (
        rows["Rolls by size"].after == "3"
        and rows["Rolls by time index"].before == "0"
        and rows["Rolls by time index"].change == "–"
    )
    assert (
        rows["Offset entries"].kind == "better"
        and rows["Memory maps, all indexes loaded"].after == "12"
        and rows["Files"].kind == "worse"
    )
    assert rows["Both indexes"].before == "17.6 KiB"


# ---- the answer


def recommendation_text(
    profile,
    budgets: Budgets = USUAL,
    costs=NEW,
    today: CurrentConfig | None = None,
    is_open: bool = True,
    **more,
):
    today = today or CurrentConfig(interval_bytes=4096, interval_source="as typed", topic="orders")
    recommendation = tuning.recommend(profile, today, budgets, costs)
    place = profile.parts.index_of(today.interval_bytes)
    ours = int(profile.parts.entries[place]), int(profile.parts.time_entries[place])
    return tuning_verdict.view(
        recommendation,
        profile,
        today,
        budgets=budgets,
        costs=costs,
        entries=EntryCounts(ours, ours if is_open else None, **more),
    )


def test_keep_and_why():
    """Batches of 16 KB: every batch has its entry, and a longer interval saves little."""
    text = recommendation_text(measured(16_384, spread=2000))
    assert (text.kind, text.mark, text.headline) == ("keep", "ok", f"Keep 4{T}096")
    assert text.reason.startswith(
        f"The default, 4{T}096, already indexes every batch: the smallest has 14{T}38"
    )
    assert (
        "At today’s interval the p99 lookup takes about 4.0 µs warm (1.9 to 7.6 µs), within the 50 "
        "µs you allow."
    ) in text.reason
    assert (
        text.reason.endswith("of the log: too little to be worth a change.")
        and text.command_lead == ""
    )
    boxes = dict(text.boxes)
    assert (
        f"the replay of 4{T}096 gives 3{T}999 and 3{T}999 entries, the directory holds 3{T}999 and "
        f"3{T}999."
    ) in boxes["Sure"]
    assert boxes["Modelled"].startswith(
        "the times. A header in the page cache costs 0.47 to 2 µs: one read from 4.1 on"
    )
    assert (
        boxes["Modelled"].endswith("A read from nvme costs 50 to 200 µs.")
        and "no batch is smaller" in boxes["No effect"]
    )
    assert boxes["Not fixed by any interval"].startswith("two headers at least")


def test_batch_first_for_tiny_batches():
    """Over the budget with one record per batch: the producer is what to change."""
    text = recommendation_text(measured(97, 20_000, 1, 2))
    assert (text.kind, text.mark, text.headline, text.command_lead) == (
        "batch first",
        "info",
        "Batch first",
        "If the producers cannot batch:",
    )
    assert text.reason.startswith(
        f"Each batch of about 97 B holds one record. At 4{T}096 a lookup reads 22 headers, "
        "p99 about 41 µs (21 to 90 µs)"
    )
    assert text.reason.endswith(
        f"an interval of 2{T}048 would only trade them for index, so 4{T}096 stays."
    )


def test_lower_where_a_budget_is_missed():
    text = recommendation_text(
        measured(1000),
        today=CurrentConfig(
            interval_bytes=1 << 20,
            interval_source="as typed",
            config=LogConfig(index_interval_bytes=1 << 20),
            topic="orders",
        ),
    )
    assert (text.kind, text.mark) == ("lower", "warning") and text.headline.startswith("Lower to ")
    assert (
        "Over its budget: the p99 lookup." in text.reason
        and "the index grows by" in text.reason
        and text.command_lead == "To change it:"
    )


def test_raise_where_much_index_is_saved():
    text = recommendation_text(
        measured(97, 20_000, 5, 2),
        Budgets(p99_us=100.0),
        today=CurrentConfig(
            interval_bytes=64,
            interval_source="as typed",
            config=LogConfig(index_interval_bytes=64),
            topic="orders",
        ),
    )
    assert (
        text.kind == "raise"
        and text.headline.startswith("Raise to ")
        and text.reason.startswith("It saves 20 % of the log")
    )


def test_what_can_be_compared_with_the_replay():
    """A directory without an index, one whose entries differ, and a workload."""
    profile = measured(1000)
    assert "An index is missing" in dict(recommendation_text(profile, is_open=False).boxes)["Sure"]
    assert (
        "the workload’s own batches"
        in dict(recommendation_text(profile, is_workload=True).boxes)["Sure"]
    )
    assert "each topic’s own interval" in dict(recommendation_text(profile, topics=3).boxes)["Sure"]
    recommendation = tuning.recommend(
        profile,
        CurrentConfig(interval_bytes=4096, interval_source="", topic="orders"),
        Budgets(),
        NEW,
    )
    said_of = (
        ((790, 1), False, "a restart, a truncation"),
        ((799, 798), False, "lacks its last time entry"),
        ((790, 1), True, "cover whole"),
    )
    for theirs, is_coarse, why in said_of:
        today = CurrentConfig(
            interval_bytes=4096, interval_source="", topic="orders", is_coarse=is_coarse
        )
        view = tuning_verdict.view(
            recommendation,
            profile,
            today,
            budgets=Budgets(),
            costs=NEW,
            entries=EntryCounts((799, 800), theirs),
        )
        assert (
            f"the directory holds {theirs[0]} and {theirs[1]}: " in dict(view.boxes)["Sure"]
            and why in dict(view.boxes)["Sure"]
        )


def test_the_ends_of_a_short_bar_stand_below_it():
    """Measured ends are close: three digits, one line, and no label over another."""
    ends = [
        Assumption(
            name=verbatim("µs per header"),
            unit="µs",
            low=0.30517578125,
            typical=0.36,
            high=0.417236328125,
            p99_us_low=0.5,
            p99_us_high=40.0,
            verdict_low=("keep", 4096),
            verdict_high=("change", 2048),
        )
    ]
    view = tornado.view(ends, ("keep", 4096), 0.6, 50.0)
    assert view.bars[0].ends == ("0.305 µs", "0.417 µs")
    (annotation,) = (
        annotation_
        for annotation_ in tornado.figure(view, "light").layout.annotations
        if "0.305" in annotation_.text
    )
    assert (
        annotation.text == f"0.305 µs – 0.417 µs → <b>2{T}048</b>"
        and annotation.xanchor == "left"
        and annotation.yshift < 0
    )


@pytest.mark.parametrize(("storage", "device"), [(None, "this machine’s own disk"), ("ssd", "ssd")])
def test_the_prices_name_the_device_that_was_measured(storage, device):
    """A calibration names a disk and not a preset; a chosen preset has its own name."""
    measure = {"min": 0.5, "median": 1.0, "p90": 2.0}
    own = {
        "measured_at": "2026-11-21",
        "pread_17_us": measure,
        "pread_61_us": measure,
        "random_read_us": measure,
    }
    costs, profile = (
        cost_model.lookup_costs(by_base_offset=False, storage=storage, calibration=own),
        measured(1000),
    )
    recommendation = tuning.recommend(
        profile,
        CurrentConfig(interval_bytes=4096, interval_source="", topic="orders"),
        Budgets(),
        costs,
    )
    view = tuning_verdict.view(
        recommendation,
        profile,
        CurrentConfig(interval_bytes=4096, interval_source="", topic="orders"),
        budgets=Budgets(),
        costs=costs,
        entries=EntryCounts((1, 1), (1, 1)),
    )
    words = dict(view.boxes)["Modelled"]
    assert f"A read from {device} costs " in words


# ---- cost against bytes


def test_the_cost_curve_runs_from_the_smallest_index_to_the_largest():
    """One point per interval, with the headers of the other curve."""
    both = curve(measured(1000))
    view = cost_curve.view(both)
    assert np.all(np.diff(view.index_bytes) >= 0)
    assert sorted(view.intervals.tolist()) == both.intervals[both.index_bytes > 0].tolist()
    place = view.intervals.tolist().index(16_384)
    other = both.intervals.tolist().index(16_384)
    assert view.headers_mean[place] == both.headers_mean[other]
    assert view.index_bytes[place] == both.index_bytes[other]
    assert view.title == both.titles[0] and view.caption.startswith(both.titles[1])


def test_the_cost_curve_names_round_intervals_that_have_room():
    view = cost_curve.view(curve(measured(1000)))
    names = dict(view.names)
    assert "64 KiB" in names.values()
    assert not {"4 KiB", "16 KiB"} & set(names.values())
    places = np.log(view.index_bytes[sorted(names)].astype(float))
    room = cost_curve.NAME_ROOM * np.ptp(np.log(view.index_bytes.astype(float)))
    assert np.diff(places).min() > room


def test_of_intervals_in_one_place_the_smallest_has_the_name():
    """It is on top, so a click selects it: 4 MiB gives the index of two smaller ones."""
    view = cost_curve.view(curve(measured(1151, count=2167)))
    assert view.index_bytes[0] == view.index_bytes[2]
    assert view.names[0] == (view.intervals.tolist().index(1 << 18), "256 KiB")


@pytest.mark.parametrize("mode", MODES)
def test_the_cost_curve_as_it_is_drawn(mode):
    """Today is hollow, the considered one filled; a click on a point gives its interval."""
    view = cost_curve.view(curve(measured(1000)))
    figure = cost_curve.figure(view, mode)
    points, marks = (
        next(trace for trace in figure.data if trace.name == name) for name in ("points", "marks")
    )
    colours = theme.colours(mode)
    assert list(marks.marker.color) == [colours["raised"], colours["ink"]]
    assert list(marks.x) == [view.today.index_bytes, view.considered.index_bytes]
    assert [int(row[0]) for row in points.customdata] == view.intervals.tolist()
    assert points.hovertemplate == "%{customdata[1]}<extra></extra>"


def test_the_cost_curve_is_sent_as_it_was_drawn():
    """It is drawn again for each considered interval, and Plotly's checks take 20 ms each time."""
    figure = cost_curve.figure(cost_curve.view(curve(measured(1000))), "light")
    assert figure.to_dict() is figure.to_dict()


def test_a_budget_out_of_reach_is_not_drawn():
    profile = measured(1000)
    assert len(cost_curve.figure(cost_curve.view(curve(profile)), "light").layout.shapes) == 2
    far = cost_curve.view(curve(profile, budgets=Budgets(p99_us=1e9)))
    assert far.budget is None
    none = cost_curve.view(curve(profile, budgets=Budgets(p99_us=None)))
    assert len(cost_curve.figure(none, "light").layout.shapes) == 0


def test_a_log_of_one_batch_is_one_place():
    view = cost_curve.view(curve(measured(1000, 1)))
    assert set(view.index_bytes.tolist()) == {12}
    assert view.names == ()
    assert cost_curve.figure(view, "light").layout.height == cost_curve.HEIGHT_PX


def test_an_index_without_an_entry_is_no_place():
    """The axis of bytes has no zero, so such intervals and their marks are left out."""
    both = curve(measured(1000))
    empty = replace(
        both,
        index_bytes=np.zeros_like(both.index_bytes),
        today=replace(both.today, index_bytes=0),
        considered=None,
    )
    view = cost_curve.view(empty)
    assert len(view.intervals) == 0 and view.marks == ()
    assert len(cost_curve.figure(view, "light").data[2].x) == 0
