"""The share of targets per number of probes: bins, the mark, and that the figure draws them."""

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.analysis.cost import lookup_cost
from kafkaviz.analysis.cost.lookup_cost import LookupCounts
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.figures.page_cache import probe_histogram
from kafkaviz.simulate.lessons import practice


def costs(counts: list[int]) -> LookupCounts:
    column = np.array(counts)
    return LookupCounts(0, sum(counts) - 1, column, column, column)


def test_shares_and_mark():
    log = practice.five()
    warm, plain = (
        lookup_cost.offset_lookup_counts(
            log.log.segments[0], table_of_rows(log.batches), versions.search_profile(version)
        )
        for version in ("4.3.1", "2.0")
    )
    view = probe_histogram.view(warm, plain, "probes", 3, "offset")
    assert view.starts == (1, 2, 3, 4) and view.target_bar == 2
    assert [round(32 * share) for share in view.shares] == [0, 8, 19, 5] and [
        round(32 * count) for count in view.outline
    ] == [6, 1, 20, 5]
    assert view.title == "3 probes: 59 % of all 32 offsets here take as many"
    assert probe_histogram.rows(view)[1] == ("2", "25.00 %", "3.12 %")


def test_many_numbers_share_bars():
    """At most forty bars of equal width."""
    view = probe_histogram.view(costs([0, *[1] * 100]), None, "headers", 57, "millisecond")
    assert view.width == 3 and len(view.starts) == 34 and view.target_bar == 18
    assert sum(view.shares) == pytest.approx(1) and probe_histogram.rows(view)[0][0] == "1–3"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_figure_draws_the_view(mode):
    view = probe_histogram.view(costs([0, 3, 5, 2]), costs([0, 0, 4, 6]), "probes", 2, "offset")
    chart = probe_histogram.figure(view, mode)
    assert list(chart.data[0].y) == [0.3, 0.5, 0.2] and len(chart.layout.shapes) == 2
    assert (
        len(set(chart.data[0].marker.color)) == 2
        and chart.layout.annotations[0].text == "<b>this target</b>"
    )


def test_nothing_to_draw():
    view = probe_histogram.view(costs([0]), None, "headers", 0, "offset")
    assert view.title == "No batch is the answer for any target here"
    assert len(probe_histogram.figure(view, "light").layout.annotations) == 0


def test_a_target_that_is_in_no_bar():
    """Such as one beyond the segment: it has no mark."""
    assert probe_histogram.view(costs([0, 1, 1]), None, "probes", 9, "offset").target_bar is None
