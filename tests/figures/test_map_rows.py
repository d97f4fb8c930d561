"""Which rows of the broker map are shown, and in which order."""

import numpy as np
import pytest

from kafkaviz.analysis.overview import PartitionRow
from kafkaviz.figures.broker import map_rows
from kafkaviz.figures.broker.map_rows import CELLS, COLUMN_CELLS, DENSE_BYTES, build_strip


@pytest.mark.parametrize(("count", "pages"), [(0, 1), (1, 1), (60, 1), (61, 2), (120, 2), (121, 3)])
def test_pages_of_sixty(count, pages, monkeypatch):
    assert map_rows.page_count(count) == pages
    monkeypatch.setitem(map_rows.ORDERS, "as it is", lambda row: 0)
    rows = [PartitionRow] * count
    shown = [map_rows.find_page_rows(rows, "as it is", page) for page in range(pages)]
    assert [place for page_rows in shown for place in page_rows] == list(range(count))


def segments(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(list(rows), [("log_bytes", np.int64), ("offset_entries", np.int64)])


def drawn_columns(cells: np.ndarray) -> list[int]:
    return np.flatnonzero(~np.isnan(cells)).tolist()


def test_a_column_is_as_dark_as_its_entries_are_close():
    """One entry in 4000 bytes is three tenths of one every 1200; two are six tenths."""
    size = 4000 * CELLS // COLUMN_CELLS
    cells = build_strip(segments((size, 3)), np.array([100, 8000, 9000]), size, 0)
    assert drawn_columns(cells) == [0, 1, 2, 6, 7, 8]
    assert cells[[0, 2, 6, 8]] == pytest.approx([0.3, 0.3, 0.6, 0.6])


def test_it_never_gets_darker_than_dense():
    cells = build_strip(segments((7200, 720)), np.arange(0, 7200, 10), 7200, 0)
    assert DENSE_BYTES > 10 and (cells == 1).all()


def test_where_only_numbers_are_known_a_segment_has_one_shade():
    cells = build_strip(segments((480_000, 40), (240_000, 0), (240_000, 100)), None, 960_000, 0)
    assert cells[:360] == pytest.approx(np.full(360, 0.1)) and np.isnan(cells[360:540]).all()
    assert cells[540:] == pytest.approx(np.full(180, 0.5))


def test_bars_and_the_gaps_between_them():
    """A strip ends where the bar ends, before a gap, and with the row."""
    cells = build_strip(segments((300, 30), (60, 6)), None, 720, 2)
    assert drawn_columns(cells) == [*range(298), *range(300, 358)]


@pytest.mark.parametrize("rows", [[(1, 1)], [(0, 0), (1, 1)], [(1, 1), (0, 0)]])
def test_a_row_too_short_to_see_still_has_a_cell(rows):
    """The first cell; a segment without a byte has none."""
    assert drawn_columns(build_strip(segments(*rows), np.array([0]), 10**9, 10**6)) == [0]


@pytest.mark.parametrize("positions", [[-4], [720], [10**12]])
def test_an_entry_outside_the_log_does_no_harm(positions):
    cells = build_strip(segments((720, 1)), np.array(positions), 720, 0)
    assert len(drawn_columns(cells)) <= COLUMN_CELLS


def test_nothing_to_draw():
    for rows, longest in (([], 100), ([(0, 0)], 100), ([(0, 0)], 0)):
        assert drawn_columns(build_strip(segments(*rows), np.array([], int), longest, 1)) == []


def test_thousands_of_segments():
    many = segments(*[(10, 1)] * 5000)
    assert len(drawn_columns(build_strip(many, np.arange(0, 50_000, 10), 50_000, 90))) == CELLS
