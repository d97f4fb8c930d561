"""The table of what releases do differently: each boundary, and its patch releases."""

from dataclasses import astuple

import pytest

from kafkaviz import versions
from kafkaviz.search.profile import profile as search_profile
from kafkaviz.simulate.config import profile


@pytest.mark.parametrize(
    ("way", "first", "before"),
    [
        (versions.LAST_OFFSET_KEYS, (2, 0), (1, 1)),
        (versions.WARM_SEARCH, (2, 1), (2, 0)),
        (versions.INDEXES_TRUSTED, (2, 3), (2, 2)),
        (versions.SHALLOW_TIME_OFFSETS, (3, 7), (3, 6)),
        (versions.BATCH_BASE_METADATA, (4, 0), (3, 9, 2)),
        (versions.BASE_OFFSET_SCAN, (4, 1), (4, 0, 2)),
    ],
)
def test_a_way_begins_with_its_release(way, first, before):
    """kafka-storage: the first release that does it, and the last that does not."""
    assert way.of(first) and way.of((4, 3, 1)) and not way.of(before)


def test_an_entry_a_batch_came_in_patches():
    """KAFKA-806: in 3.9.1 and 3.9.2, not in 4.0.0, again from 4.0.1 on."""
    releases = [(3, 8), (3, 9), (3, 9, 0), (3, 9, 1), (3, 9, 2), (4, 0), (4, 0, 0), (4, 0, 1), (4, 1), (4, 3, 1)]
    assert [versions.ENTRY_PER_BATCH.of(one) for one in releases] == [False, False, False, True, True, False, False, True, True, True]


def test_both_profiles_are_made_of_the_table():
    """What a search and a writer do in 2.0, of which the two know different halves."""
    assert (search_profile("2.0").warm, search_profile("2.1").warm) == (False, True)
    old, new = astuple(profile((1, 1)))[1:], astuple(profile((4, 3, 1)))[1:]
    assert (old, new) == ((True, True, True, True, False), (False, False, False, False, True))
