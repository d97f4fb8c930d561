"""The figures of the Page cache page: each view value by value, and its drawing."""

import numpy as np
import pytest

from kafkaviz.analysis.page_cache import index_layouts, page_replay
from kafkaviz.analysis.page_cache.page_replay import IndexGrowth, Memory, Readers
from kafkaviz.figures.page_cache import fault_bars, layout_bars, page_faults, tail_pages
from kafkaviz.figures.page_cache.fault_bars import TurnoverFaults
from kafkaviz.figures.page_cache.page_faults import PLAIN, WARM
from kafkaviz.simulate.lessons import practice

FORTY = IndexGrowth(40 * 512)
EVERYONE = Readers()
MODES = ("light", "dark")


def replay_of(
    warm_bytes: int | None,
    growth: IndexGrowth = FORTY,
    readers: Readers = EVERYONE,
    cold: int = 16_000_000,
) -> page_replay.Replay:
    return page_replay.replay(
        growth, Memory(cold_after_bytes=cold), readers, warm_bytes, columns=page_faults.COLUMNS
    )


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("mode", MODES)
def test_the_image_of_a_plain_growth(mode):
    """Eight faults of the moving middle page: pages 13 to 20, one after the other."""
    replay = replay_of(None)
    view = page_faults.view(replay, PLAIN)
    assert (
        view.title == "8 faults while the index grows to 40 pages"
        and view.caption == "Plain binary search, Kafka 2.0 and before"
    )
    assert (
        np.floor(view.dots[:, 1]).tolist()
        == [13, 14, 15, 16, 17, 18, 19, 20]
        == replay.first_faults["page"].tolist()
    )
    assert np.abs(view.dots[:, 0] - replay.first_faults["entries"]).max() <= 20 * 512 / 280 + 1
    assert view.lookup_counts[0].min() > 0 and view.lookup_counts[30].argmax() > 200
    assert [note.text for note in view.notes] == [
        "page 0, read first",
        "the middle page moves on, step by step",
    ]
    figure = page_faults.figure(view, mode)
    image, faults = trace(figure, "touched"), trace(figure, "faults")
    assert np.array_equal(np.nan_to_num(image.z), view.lookup_counts) and (
        faults.x.tolist(),
        faults.y.tolist(),
    ) == (
        view.dots[:, 0].tolist(),
        replay.first_faults["page"].tolist(),
    )
    # the hover text names the page
    assert (image.y0, list(figure.layout.yaxis.range)) == (0, [-0.5, 39.5])
    (line,) = figure.layout.shapes
    assert (line.x1, line.y0, line.y1) == (20_480, -0.5, 39.5) and figure.layout.annotations[
        -1
    ].text == "20\u202f480 entries"


def test_the_image_with_a_warm_section():
    """No fault and three pages; a smaller section is named."""
    view = page_faults.view(replay_of(8192), WARM)
    assert view.title == "No fault: three pages at most, always the newest" and not len(view.dots)
    assert [note.text for note in view.notes] == ["older pages are no longer touched"]
    assert len(page_faults.figure(view, "light").data) == 1
    assert page_faults.view(replay_of(4096), WARM, 4096).caption == "A warm section of 4 KiB first"
    assert (
        page_faults.view(replay_of(None), WARM, None).caption
        == "No warm section: plain binary search again"
    )


def test_many_faults_are_an_image_too():
    view = page_faults.view(
        replay_of(None, IndexGrowth(262_144), Readers(laggard_share=0.05), 1_000_000), PLAIN
    )
    assert (
        view.is_dense
        and view.notes == ()
        and view.row_pages == 2
        and len(view.lookup_counts) == 256
    )
    drawn = trace(page_faults.figure(view, "light"), "faults")
    assert drawn.type == "heatmap" and np.nansum(drawn.z) == view.dots[:, 2].sum()


@pytest.mark.parametrize("entries", [0, 1, 5])
def test_the_image_of_a_small_index(entries):
    """At most one page and no fault; it is still drawn."""
    view = page_faults.view(replay_of(8192, IndexGrowth(entries)), WARM)
    assert view.title == (
        "No fault: one page at most" if entries else "No lookup while the index grows to 0 pages"
    )
    figure = page_faults.figure(view, "dark")
    # not its whole last page
    assert (
        figure.layout.height == page_faults.HEIGHT
        and figure.layout.shapes[0].y1 == entries / 512 - 0.5
    )


def test_the_image_as_a_table():
    plain, warm = replay_of(None), replay_of(8192)
    rows = page_faults.rows(plain, warm)
    assert (
        len(rows) == 40
        and rows[0][:3] == (0, 20_480, 0)
        and [row[0] for row in rows if row[2]] == list(range(13, 21))
    )
    assert sum(row[1] for row in rows) == sum(plain.pages_read) and sum(row[4] for row in rows) == 0


def test_one_lookup_page_by_page():
    """6901 entries: 14 probes on 6 pages, 12 on 3."""
    view = tail_pages.view(6901)
    assert (
        view.title == "At 6\u202f901 entries a plain tail lookup touches pages 0, 6, 10, 11, 12, 13"
    )
    assert (
        view.caption.startswith("The warm section touches 11, 12, 13.") and view.pages_drawn == 14
    )
    plain, warm = view.lanes
    assert (len(plain.probes), len(warm.probes), plain.warm_from_slot, warm.warm_from_slot) == (
        14,
        12,
        None,
        5876,
    )
    assert tail_pages.rows(view)[:2] == [
        ("Plain", "1", "0", "0"),
        ("Plain", "2", "3\u202f450", "6"),
    ]
    figure = tail_pages.figure(view, "light")
    assert [x * 512 for x in trace(figure, "Plain").x] == list(plain.probes)
    section = trace(figure, "the warm section")
    assert (section.base[0] * 512, (section.base[0] + section.x[0]) * 512) == (5876, 6901)
    outlined = [
        number % 14 for number, shape in enumerate(figure.layout.shapes) if shape.line.width == 2
    ]
    assert outlined == [0, 6, 10, 11, 12, 13, 11, 12, 13]


@pytest.mark.parametrize("entries", [0, 1, 512, 6145, 7168, 100_000])
def test_an_index_of_any_size_is_drawn(entries):
    """Dashed boxes for missing pages; a full last page has nothing unwritten."""
    view = tail_pages.view(entries)
    figure = tail_pages.figure(view, "dark")
    assert len(figure.layout.shapes) == 2 * max(14, -(-entries // 512))
    assert any(trace.name == "not written yet" for trace in figure.data) == bool(entries % 512)


BARS = (TurnoverFaults(1_000_000, 4.92, 0, 4.92), TurnoverFaults(16_000_000, 2.54, 0, None))


def test_faults_a_grown_page_as_bars():
    """The considered turnover is marked; the warm section has a bar only where it has faults."""
    view = fault_bars.view(BARS, 16_000_000, "below")
    assert (
        view.title == "Plain search: up to 4.9 faults per page. Warm section: none"
        and view.considered_bar == 1
    )
    assert fault_bars.rows(view) == [
        ("1 MB", "4.92", "4.92", "0.00"),
        ("16 MB", "2.54", "–", "0.00"),
    ]
    figure = fault_bars.figure(view, "light")
    assert (
        list(figure.data[0].x) == [4.92, 2.54]
        and list(figure.data[0].text) == [" 4.92", " <b>2.54</b>"]
        and len(figure.data) == 1
    )
    faulty = fault_bars.view([TurnoverFaults(1_000_000, 8.4, 1.6, None)], 2, "")
    assert (
        faulty.title == "Plain search: up to 8.4 faults per page. Warm section: up to 1.6"
        and faulty.considered_bar is None
    )
    assert list(trace(fault_bars.figure(faulty, "dark"), "warm").x) == [1.6]
    assert fault_bars.view(
        (), 1, ""
    ).title == "No search meets a cold page here" and fault_bars.figure(
        fault_bars.view((), 1, ""), "light"
    )


def test_layouts_as_bars():
    """Kafka's own is marked, and the title names the best by both measures."""
    keys = practice.generate_keys(practice.STEADY, 200_000)
    costs = index_layouts.compare(
        keys, np.random.default_rng(6432).integers(keys[0], keys[-1], 1000)
    )
    view = layout_bars.view(costs, 200_000, 1000, "Even keys")
    assert view.title.startswith(
        "Interpolation needs the fewest probes, 5.1, and Kafka's search 19."
    )
    assert (
        "first key of each page needs the fewest pages, 1.0, and Kafka's search 10." in view.title
        and view.caption.startswith("Even keys. Each bar is the mean of 1\u202f000")
    )
    assert view.layouts[view.kafka_row].name == "Warm section first"
    assert (
        layout_bars.rows(view)[1][5:7] == ("12 / 3", "none")
        and layout_bars.rows(view)[6][6] == "3.05 KiB"
    )
    figure = layout_bars.figure(view, "light")
    assert list(trace(figure, "probes").x) == [cost.probes_mean for cost in costs]
    assert list(trace(figure, "pages").x) == [cost.pages_mean for cost in costs]
    assert list(figure.layout.yaxis.ticktext)[1] == "<b>Warm section first</b>"


def test_no_layout_is_drawn_too():
    view = layout_bars.view((), 0, 0, "None")
    assert (
        view.title == "An index without an entry has nothing to search"
        and layout_bars.figure(view, "dark").layout.height > 0
    )
