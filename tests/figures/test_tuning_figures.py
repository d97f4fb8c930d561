"""The figures of the Tuning page: each view value by value, and its drawing."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_cost, compute_costs
from kafkaviz.analysis.tuning.measurement import CurrentConfig
from kafkaviz.analysis.tuning.recommendation import TuningVerdict, recommend, recommend_broker
from kafkaviz.figures import theme
from kafkaviz.figures.tuning import replay_table, tuning_curve, tuning_verdict
from kafkaviz.figures.tuning.tuning_verdict import headers_text, range_text
from kafkaviz.simulate.config import LogConfig
from kafkaviz.units import format_us
from tests.support.plotly_figures import notes, trace
from tests.support.tuning import NEW, OLD, measured

MODES = ("light", "dark")
T = "\u202f"
USUAL = Budgets()


def curve(
    profile, today: int = 4096, considered: int = 16_384, budgets: Budgets = USUAL, **options
):
    return tuning_curve.view(
        compute_costs(profile, OLD),
        options.pop("now", None) or compute_cost(profile, OLD, profile.current_cost(today)),
        considered,
        least_batch_bytes=profile.parts.least_batch_bytes,
        budgets=budgets,
        costs=OLD,
        **options,
    )


# ---- words


def test_times_and_changes_in_words():
    """µs and ms with one decimal below ten; a factor from two on, a percentage below."""
    assert [format_us(cost_us) for cost_us in (5.5, 42.2, 1400.0)] == ["5.5 µs", "42 µs", "1.4 ms"]
    assert range_text(Range(7.75, 10, 21.6)) == "7.8 to 22 µs"
    assert range_text(Range(500, 700, 1400)) == "500 µs to 1.4 ms"
    assert range_text(Range(2, 2, 2)) == "2.0 µs"
    assert headers_text(1.0) == "1.0 header"
    assert headers_text(3.67) == "3.7 headers"


# ---- the curves


@pytest.mark.parametrize("mode", MODES)
def test_the_curves_mark_today_and_what_is_considered(mode):
    """Batches of 1000 B: an entry per fifth at 4096, per seventeenth at 16 384."""
    profile = measured(1000)
    view = curve(profile)
    assert view.title == "A lookup reads 4.0 headers at 4 KiB, and 10.0 headers at 16 KiB"
    assert view.caption.startswith("The indexes shrink from 15.6 KiB to 4.60 KiB. Band: median to")
    assert (view.today.interval_bytes, view.today.name) == (4096, "today, 4 KiB")
    assert round(view.today.headers_mean, 2) == 4.0
    assert (view.considered.interval_bytes, view.considered.name) == (16_384, "what if: 16 KiB")
    assert view.least_batch_bytes == 1000 and view.budget_text == "50 µs budget"
    assert view.budget == pytest.approx(
        [
            (50 - first_us) / header_us
            for first_us, header_us in zip(OLD.first_us[::-1], OLD.header_us[::-1], strict=True)
        ]
    )
    at = view.intervals.tolist().index(4096)
    assert view.intervals[0] == 64
    assert view.intervals[-1] == 4 << 20
    assert view.headers_p99[at] == 6
    assert view.headers_p50[at] == 4
    assert view.hover_texts[at].startswith(
        f"<b>4{T}096 B</b><br>4.0 headers on average, p99 6"
        "<br>799 offset and 800 time entries, 15.6 KiB<br>about 9.4 µs"
    )
    figure = tuning_curve.figure(view, mode)
    assert trace(figure, "marks").x == (4096, 16_384)
    assert trace(figure, "points").customdata[at][0] == 4096
    assert trace(figure, "p99").y[at] == 6
    assert trace(figure, "mean").line.color == theme.colours(mode)["scan"]
    names = {"p99", "<b>mean</b>", "<b>50 µs budget</b>", "today, 4 KiB", "what if: 16 KiB"}
    assert names | {"index.interval.bytes (log.index.interval.bytes)"} <= set(notes(figure))
    assert list(figure.layout.xaxis.ticktext)[:2] == ["64 B", "1 KiB"]
    assert list(figure.layout.yaxis.ticktext)[:3] == ["1", "2", "5"]
    sides = {annotation.text: annotation.xanchor for annotation in figure.layout.annotations}
    # the lines are close, and from 16 KiB on the curve is on the right
    assert sides["today, 4 KiB"] == "right" and sides["what if: 16 KiB"] == "right"


def test_below_the_smallest_batch_nothing_changes():
    """The stretch is shaded, and the caption has its words."""
    view = curve(measured(200, spread=20))
    assert view.caption.endswith("Left of 180 B, your smallest batch, nothing changes.")

    def plateaus(view) -> list[float]:
        shapes = tuning_curve.figure(view, "light").layout.shapes
        return [shape.x1 for shape in shapes if shape.type == "rect" and shape.x0 == 64]

    assert plateaus(view) == [180]
    assert plateaus(replace(view, least_batch_bytes=61)) == []


def test_the_names_of_close_marks_are_at_the_top_and_at_the_foot():
    """Each covers the other's line and a budget's. On a phone, there is no room on the left."""
    figure = tuning_curve.figure(curve(measured(1000), considered=2048), "light")
    marks = {note.text: note for note in figure.layout.annotations}
    considered, today = marks["what if: 2 KiB"], marks["today, 4 KiB"]
    assert (considered.xanchor, considered.y, considered.yanchor) == ("left", 1, "top")
    # at the foot, below the curve
    assert (today.xanchor, today.y, today.yanchor) == ("left", 0, "bottom")
    assert considered.bgcolor == today.bgcolor == theme.colours("light")["raised"]


def test_nothing_else_is_considered():
    view = curve(measured(1000), considered=4096)
    assert view.considered is None
    assert view.title.startswith("A lookup reads 4.0 headers at 4 KiB, and 34.4 headers at 64 KiB")
    assert trace(tuning_curve.figure(view, "light"), "marks").x == (4096,)


def test_an_interval_that_no_file_gives_is_not_called_todays():
    view = curve(measured(1000), considered=4096, is_today_known=False)
    assert view.today.name == "unknown, taken as 4 KiB"


def test_an_index_of_entire_appends_is_compared_with_its_replay():
    """Whole appends, not the interval, give the lookups of 64 KiB, so no interval is proposed."""
    profile = measured(1000)
    every = compute_costs(profile, OLD)
    coarse = next(cost for cost in every if cost.interval_bytes >= 65_536)
    view = curve(profile, considered=4096, now=replace(coarse, interval_bytes=4096))
    assert view.title == (
        "With the index on disk a lookup reads 34.4 headers; with an index written batch by batch at "
        "4 KiB, it would read 4.0 headers"
    )


def test_an_interval_left_of_the_axis_is_marked_at_its_edge():
    """0 indexes every batch and has no place on a logarithmic axis."""
    view = curve(measured(1000), today=0, considered=64)
    assert (view.today.interval_bytes, view.today.x_bytes, view.today.name) == (0, 64, "today, 0 B")
    assert view.title == "A lookup reads 2.0 headers at 0 B, and 2.0 headers at 64 B"
    assert view.caption.startswith("The indexes stay at 78.1 KiB.")


def test_a_budget_is_drawn_at_the_typical_price():
    """Its band goes from the expensive end of the price, with few headers, to the cheap one."""
    view = curve(measured(1000), considered=65_536)
    figure = tuning_curve.figure(view, "light")
    band = next(shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x0 == 0)
    line = next(shape for shape in figure.layout.shapes if shape.line.dash == "2px,3px")
    assert (band.y0, line.y0, band.y1) == pytest.approx(tuple(view.budget))
    assert "Dotted: the p99 budget" in view.caption


def test_the_p99_is_marked_as_the_mean_is():
    """Its marks have the modelled times too: 6 and 18 headers of 1.8 µs, and 2.2 µs."""
    view = curve(measured(1000))
    p99 = [view.today.headers_p99, view.considered.headers_p99]
    assert p99 == [6, 18]
    figure = tuning_curve.figure(view, "light")
    assert list(trace(figure, "marks of the p99").y) == p99
    assert trace(figure, "marks of the p99").x == trace(figure, "marks").x
    times = {note.text: note.y for note in figure.layout.annotations if note.text[0] == "≈"}
    assert times == pytest.approx({"≈ 13 µs": np.log10(6), "≈ 35 µs": np.log10(18)})


def test_without_a_budget_no_line():
    for budgets in (Budgets(p99_us=None), Budgets(p99_us=1e6)):
        figure = tuning_curve.figure(curve(measured(1000), budgets=budgets), "light")
        assert not any("budget" in note for note in notes(figure))
        assert "budget" not in curve(measured(1000), budgets=budgets).caption


def test_every_interval_as_a_row():
    profile = measured(1000)
    rows = tuning_curve.rows(compute_costs(profile, OLD))
    assert len(rows) == len(profile.parts.intervals)
    assert all(len(row) == len(tuning_curve.COLUMNS) for row in rows)
    row = dict(zip(tuning_curve.COLUMNS, next(row for row in rows if row[0] == 4096), strict=True))
    assert (row["entries"], row["headers_p99"], row["headers_max"]) == (799, 6, 6)
    assert row["index_bytes"] == 8 * 799 + 12 * 800
    assert row["warm_p99_us"] == pytest.approx(2.2 + 6 * 1.8)
    assert row["warm_p99_us_low"] == pytest.approx(1 + 6 * 0.95)


# ---- the log written again


def test_a_log_written_again():
    """Changed settings come first, then segments and rolls by cause."""
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
    rows = [replay_table.cells(row) for row in replay_table.rows(now, other)]
    cells = {name: texts for name, *texts in rows}
    assert list(cells)[:3] == ["segment.bytes", "index.interval.bytes", "Number of segments"]
    assert cells["Number of segments"][:3] == ["3", "6", "× 2.0"]
    assert cells["Rolls by size"][1] == "3"
    assert cells["Rolls by time index"][::2] == ["0", "+2"]
    assert cells["Both indexes"][0] == "17.6 KiB"
    assert cells["Memory maps, all indexes loaded"][1] == "12"
    rows_for_programs = replay_table.file_cells(replay_table.rows(now, other))
    assert rows_for_programs[2] == ("segments", 3, 6)


# ---- the answer


def typed(interval_bytes: int) -> CurrentConfig:
    return CurrentConfig(
        interval_bytes=interval_bytes,
        interval_source="as typed",
        config=LogConfig(index_interval_bytes=interval_bytes),
        topic="orders",
    )


TODAY = typed(4096)


def recommendation_text(profile, budgets: Budgets = USUAL, today: CurrentConfig = TODAY):
    return tuning_verdict.view(recommend(profile, today, budgets, NEW))


def test_keep_and_why():
    """Batches of 16 KB: every batch has its entry, and a longer interval saves little."""
    text = recommendation_text(measured(16_384, spread=2000))
    assert (text.mark, text.headline) == ("ok", f"Keep 4{T}096")
    assert text.reason.startswith("The default 4096 already indexes every batch but")
    assert (
        "At 4096 the p99 lookup reads 2 headers: about 4.0 µs, at worst 7.6 µs (modelled), within "
        "the budget of 50 µs."
    ) in text.reason
    assert text.reason.endswith("of the log: too little to be worth a change.")


def test_tiny_batches_are_not_mended_by_an_interval():
    """Over the budget with one record per batch."""
    text = recommendation_text(measured(97, 20_000, 1, 2))
    assert (text.mark, text.headline) == ("info", f"Keep 4{T}096")
    assert text.reason == (
        "At 4096 the p99 lookup reads 43 headers: about 41 µs, within the budget of 50 µs, but at "
        "worst 90 µs (modelled). A change is worth it if it is certain to save more than 50 µs at p99. "
        "The interval only trades headers read for index size; larger batches would reduce both."
    )


def figure_headline(profile, budgets: Budgets = USUAL) -> str:
    return tuning_verdict.figure_headline(recommend(profile, TODAY, budgets, NEW))


def test_a_headline_begins_with_the_budget():
    """The numbers are those of the reasons: 90 µs at worst, and 18.9 µs less with 2048."""
    tiny = measured(97, 20_000, 1, 2)
    assert figure_headline(tiny) == (
        f"Keep 4{T}096: p99 is typically 41 µs, within the 50 µs budget (90 µs at worst). "
        f"An interval of 2{T}048 would save 19 µs for 8.69 KiB more index"
    )
    assert figure_headline(tiny, Budgets(p99_us=1.0)) == (
        f"Keep 4{T}096: p99 is typically 41 µs, above the 1.0 µs budget (90 µs at worst). "
        "No interval meets every budget"
    )
    assert figure_headline(tiny, Budgets(p99_us=None)) == (
        f"Keep 4{T}096: p99 is typically 41 µs (90 µs at worst)"
    )
    assert figure_headline(measured(16_384, spread=2000)) == (
        f"Keep 4{T}096: p99 is typically 4.0 µs, within the 50 µs budget (7.6 µs at worst)"
    )


def test_topics_that_differ_leave_the_broker_no_other_interval():
    total = recommend(measured(97, 20_000, 1, 2), TODAY, USUAL, NEW)
    changed = replace(total, verdict=TuningVerdict.CHANGE, value=1024)
    answer = recommend_broker({"orders": total, "clicks": changed}, total)
    assert tuning_verdict.figure_headline(answer).endswith("the 50 µs budget (90 µs at worst)")


def test_lower_where_a_budget_is_missed():
    text = recommendation_text(measured(1000), today=typed(1 << 20))
    assert (text.mark, text.headline) == ("warning", f"Lower 1{T}048{T}576 to 16{T}384")
    assert "above the budget of 50 µs" in text.reason and "the index grows by" in text.reason


def test_raise_where_much_index_is_saved():
    text = recommendation_text(measured(97, 20_000, 5, 2), Budgets(p99_us=100.0), typed(64))
    assert text.headline == f"Raise 64 to 4{T}096"
    assert "the index shrinks by 20 % of the log's size" in text.reason
