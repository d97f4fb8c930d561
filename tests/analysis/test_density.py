"""Gaps between entries, compared with a plain loop and with numbers of a real segment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.anatomy import Density, density, gaps
from kafkaviz.analysis.segment.links import link
from kafkaviz.log.broker import open_broker
from tests.analysis import arrays


def test_the_first_gap_starts_at_byte_0():
    entries = arrays.offset_entries([(59, 5000), (109, 10000), (169, 16000)])
    assert gaps(entries).tolist() == [5000, 5000, 6000]
    assert density(entries, 5, 3) == Density(5000, 5000, 6000, batches=5, never_indexed=2)


def test_without_an_entry():
    assert density(arrays.offset_entries([]), 2, 0) == Density(None, None, None, 2, 2)
    assert density(arrays.offset_entries([]), 0, 0) == Density(None, None, None, 0, 0)


def test_positions_that_go_back_are_no_gaps():
    entries = arrays.offset_entries([(1, 100), (2, 900), (3, 300)])
    assert gaps(entries).tolist() == [100, 800, -600]
    assert density(entries, 1, 1).gap_min_bytes == 100


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=300))
def test_quantiles_are_gaps_that_exist(sizes):
    """The p99 of n gaps is the one with a hundredth of them above, as a plain sort finds."""
    entries = arrays.offset_entries(list(enumerate(np.cumsum(sizes).tolist())))
    densities, ordered = density(entries, 1, 1), sorted(sizes)
    assert densities.gap_min_bytes == ordered[0]
    assert densities.gap_median_bytes == ordered[min(len(sizes) - 1, len(sizes) // 2)]
    assert densities.gap_p99_bytes == ordered[min(len(sizes) - 1, int(len(sizes) * 0.99))]


@pytest.mark.parametrize(
    ("directory", "base_offset", "expected"),
    [
        ("payments-0", 7975, Density(4104, 4906, 6438, batches=906, never_indexed=697)),
        ("dense-index-0", 0, Density(134, 487, 929, batches=1127, never_indexed=1)),
        ("refunds-0", 0, Density(None, None, None, batches=1, never_indexed=1)),
    ],
)
def test_real_segments(clean, directory, base_offset, expected):
    segment = open_broker(clean).partition(directory).segment(base_offset)
    links = link(segment.batches(), segment.offset_index, segment.time_index, base_offset)
    assert density(segment.offset_index, links.batch_count, len(links.indexed_rows)) == expected


def test_gaps_around_a_wrong_entry_say_nothing():
    """Slot 1 points astray: the broker left neither the gap before it nor the one after it."""
    entries = arrays.offset_entries([(1, 100), (2, 900), (3, 1000), (4, 1100)])
    assert density(entries, 1, 1) == Density(100, 100, 800, 1, 0)
    assert density(entries, 1, 1, np.array([1])) == Density(100, 100, 100, 1, 0)
    assert density(entries, 1, 1, np.array([0, 2, 3])).gap_median_bytes is None


def test_a_whole_segment_has_its_density(damaged):
    """Slot 3 of this index points 7087 bytes too far, which must not become the largest gap."""
    segment_anatomy = anatomy.read(open_broker(damaged).partition("bookings-0").segment(858))
    assert (
        segment_anatomy.density.gap_p99_bytes
        < 3000
        < density(segment_anatomy.index.entries, 1, 1).gap_p99_bytes
    )
