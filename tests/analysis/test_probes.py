"""Slots and pages of every search in an index of a given size, compared with exact tables."""

from math import ceil, log2

import numpy as np
import pytest

from kafkaviz.analysis.tuning.index_size import IndexSearchCost, search_cost
from kafkaviz.analysis.tuning.interval_cost import mean_touched_pages
from kafkaviz.search.binary_search import first_warm_slot, floors


def probes_and_pages(entries: int, entry_bytes: int, *, warm: bool = True) -> np.ndarray:
    """Slots read and pages touched for a target above each key, one column each."""
    keys = 2 * np.arange(entries)
    return floors(keys, keys + 1, entry_bytes, warm=warm)[:, 1:].T


@pytest.mark.parametrize(
    ("entries", "mean"),
    [(3, 1.6667), (5, 2.4), (683, 9.5007), (1025, 10.002), (12_345, 13.6728), (261_120, 17.9961)],
)
def test_the_mean_bisection(entries, mean):
    """The closed form L + 1 - 2^L / n, where L is log2 of n rounded up, and the plain search, which
    reads slot 0 first.
    """
    steps = ceil(log2(entries))
    assert steps + 1 - 2**steps / entries == pytest.approx(mean, abs=1e-4)
    assert probes_and_pages(entries, 8, warm=False)[0].mean() == pytest.approx(1 + mean, abs=1e-4)


@pytest.mark.parametrize(
    ("entries", "entry_bytes", "mean", "most", "cold", "warm", "pages", "most_pages", "tail"),
    [
        (100, 8, 7.72, 8, None, 7.72, 1.00, 1, (8, 1)),
        (1025, 8, 11.00, 12, None, 11.00, 2.00, 3, (12, 3)),
        (6656, 8, 14.00, 15, 14.55, 11.00, 4.83, 6, (12, 3)),
        (65_536, 8, 17.87, 18, 17.98, 11.00, 8.85, 9, (12, 3)),
        (683, 12, 10.50, 11, None, 10.50, 2.00, 3, (11, 3)),
        (262_143, 12, 19.97, 20, 20.00, 10.50, 12.47, 13, (11, 3)),
    ],
)
def test_the_table_of_kafkas_search(
    entries, entry_bytes, mean, most, cold, warm, pages, most_pages, tail
):
    """Means over all slots, maxima, cold and warm, pages of 4 KiB, and the reader at the end."""
    probes, pages_read = probes_and_pages(entries, entry_bytes)
    assert (probes.mean(), probes.max()) == (pytest.approx(mean, abs=0.006), most)
    first = first_warm_slot(entries, entry_bytes)
    assert probes[first:].mean() == pytest.approx(warm, abs=0.006)
    if cold:
        assert probes[:first].mean() == pytest.approx(cold, abs=0.006)
    assert (pages_read.mean(), pages_read.max()) == (pytest.approx(pages, abs=0.006), most_pages)
    assert (probes[-1], pages_read[-1]) == tail


def test_what_a_cold_search_touches():
    """With 128 KiB read around each page, a small index is one read, 2 MiB some four."""
    assert mean_touched_pages(65_536) == pytest.approx(8.85, abs=0.01)
    means = [mean_touched_pages(entries, 128 << 10) for entries in (0, 1, 16_384)]
    assert means == [0.0, 1.0, 1.0]
    assert 3 < mean_touched_pages(262_144, 128 << 10) < 6
    mean = mean_touched_pages(524_288)
    assert mean == mean_touched_pages(262_144) + 1
    assert mean == pytest.approx(probes_and_pages(524_288, 8)[1].mean(), abs=0.03)


def test_an_empty_index_is_not_read():
    assert search_cost(0) == IndexSearchCost(0, 0, 0.0, 0.0)
