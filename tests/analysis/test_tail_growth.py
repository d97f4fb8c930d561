"""The lookup at the tail of a growing index, compared with KAFKA-6432 and the replay."""

from functools import cache

import pytest

from kafkaviz.analysis.page_cache import page_replay
from kafkaviz.analysis.page_cache.page_replay import PUBLISHED_PAGES, Memory
from kafkaviz.search.slots import WARM_BYTES


@cache
def growth() -> tuple[page_replay.TailLookups, ...]:
    return page_replay.grow()


@pytest.mark.parametrize("pages", [13, 14])
def test_plain_bisection_reads_the_published_pages(pages):
    """The sets of KAFKA-6432 hold for full pages."""
    assert growth()[pages - 1].plain.pages == PUBLISHED_PAGES[pages]


def test_the_fourteenth_page_makes_two_others_wait():
    """Pages 7 and 10: page 7 was idle from 5 461 entries, when three quarters of the index left it,
    until it is the middle at 7 168; page 10 from 6 436 to 6 827.
    """
    waits = growth()[13].plain.waits
    assert waits["page"].tolist() == [7, 10]
    assert waits["entries"].tolist() == [7168, 6827]
    assert waits["idle_bytes"].tolist() == [(7168 - 5461) * 4608, (6827 - 6436) * 4608]


def test_every_fault_of_the_growth_is_a_wait_of_one_size():
    faults = page_replay.replay(
        page_replay.IndexGrowth(40 * 512), page_replay.MEMORY, warm_bytes=None
    ).first_faults
    waits = [wait for lookups in growth() for wait in lookups.plain.waits.tolist()]
    assert sorted(waits) == sorted(faults.tolist())


def test_a_page_that_is_waited_for_is_read_at_that_size():
    assert all(
        set(lookups.plain.waits["page"].tolist()) <= set(lookups.plain.pages)
        for lookups in growth()
    )


def test_the_warm_section_waits_at_no_size():
    assert sum(len(lookups.warm.waits) for lookups in growth()) == 0
    assert all(lookups.warm.pages[0] >= lookups.pages - 3 for lookups in growth())


def test_with_more_memory_fewer_waits():
    waits = [
        len(lookups.plain.waits)
        for lookups in page_replay.grow(40, Memory(cold_after_bytes=16_000_000))
    ]
    assert sum(waits) == 8
    assert sum(waits[:25]) == 0


@pytest.mark.parametrize(("pages", "first"), [(1, 0), (2, 0), (3, 511), (14, 6143)])
def test_where_the_warm_section_begins(pages, first):
    assert growth()[pages - 1].warm.warm_from_slot == first
    assert WARM_BYTES == 8 * 1024
