"""The image of the lookups while an index grows, value by value, and its drawing."""

import numpy as np
import pytest

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.page_replay import IndexGrowth, Memory
from kafkaviz.workshop.figures import page_faults
from kafkaviz.workshop.figures.page_faults import PLAIN, WARM

FORTY = IndexGrowth(40 * 512)
MODES = ("light", "dark")


def replay_of(
    warm_bytes: int | None, growth: IndexGrowth = FORTY, cold: int = 16_000_000
) -> page_replay.Replay:
    memory = Memory(cold_after_bytes=cold)
    return page_replay.replay(growth, memory, warm_bytes=warm_bytes, columns=page_faults.COLUMNS)


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


@pytest.mark.parametrize("mode", MODES)
def test_the_image_of_a_plain_growth(mode):
    """Eight faults of the moving middle page: pages 13 to 20, one after the other."""
    replay = replay_of(None)
    view = page_faults.view(replay, PLAIN)
    assert view.title == "8 faults while the index grows to 40 pages"
    assert view.caption == "Plain binary search, Kafka 2.0 and before"
    pages = [13, 14, 15, 16, 17, 18, 19, 20]
    assert np.floor(view.dots[:, 1]).tolist() == pages == replay.first_faults["page"].tolist()
    assert np.abs(view.dots[:, 0] - replay.first_faults["entries"]).max() <= 20 * 512 / 280 + 1
    assert view.lookup_counts[0].min() > 0 and view.lookup_counts[30].argmax() > 200
    assert [note.text for note in view.notes] == [
        "page 0, read first",
        "the middle page moves as the index grows",
    ]
    figure = page_faults.figure(view, mode)
    image, faults = trace(figure, "touched"), trace(figure, "faults")
    assert np.array_equal(np.nan_to_num(image.z), view.lookup_counts)
    assert (faults.x.tolist(), faults.y.tolist()) == (view.dots[:, 0].tolist(), pages)
    # the hover text names the page
    assert (image.y0, list(figure.layout.yaxis.range)) == (0, [-0.5, 39.5])
    (line,) = figure.layout.shapes
    assert (line.x1, line.y0, line.y1) == (20_480, -0.5, 39.5)
    assert figure.layout.annotations[-1].text == "20\u202f480 entries"


def test_the_image_with_a_warm_section():
    """No fault and three pages; a smaller section is named."""
    view = page_faults.view(replay_of(8192), WARM)
    assert (
        view.title == "No fault: the search reads three pages at most, always the newest"
        and not len(view.dots)
    )
    assert [note.text for note in view.notes] == ["older pages are no longer read"]
    assert len(page_faults.figure(view, "light").data) == 1


def test_many_faults_are_an_image_too():
    view = page_faults.view(replay_of(None, IndexGrowth(262_144), cold=1_000_000), PLAIN)
    assert view.is_dense and view.row_pages == 2 and len(view.lookup_counts) == 256
    drawn = trace(page_faults.figure(view, "light"), "faults")
    assert drawn.type == "heatmap" and np.nansum(drawn.z) == view.dots[:, 2].sum()


@pytest.mark.parametrize("entries", [0, 1, 5])
def test_the_image_of_a_small_index(entries):
    view = page_faults.view(replay_of(8192, IndexGrowth(entries)), WARM)
    assert view.title == (
        "No fault: the search reads one page at most"
        if entries
        else "No lookup while the index grows to 0 pages"
    )
    figure = page_faults.figure(view, "dark")
    assert figure.layout.height == page_faults.HEIGHT
    assert figure.layout.shapes[0].y1 == entries / 512 - 0.5  # not its whole last page
