"""Pages that become cold while an index grows: plain replay, closed form, published figures."""

import math
import time
from functools import cache
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.page_replay import (
    EXPONENTIAL,
    FIXED,
    LAGGING,
    TAIL,
    IndexGrowth,
    Memory,
    Readers,
)
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import WARM_BYTES

GROWN = IndexGrowth(262_144, 4608, 8, counted_from=20_000)
MB = 1_000_000
# the pages that KAFKA-6432 says a search for the end reads, by the number of pages
PUBLISHED_PAGES = {13: (0, 6, 9, 11, 12), 14: (0, 7, 10, 12, 13)}
TURNOVERS_MB = (1, 4, 16, 64, 256)
SIXTEEN_MB = Memory(cold_after_bytes=16 * MB)  # what the figures worked out elsewhere have


def expected_faults(growth: IndexGrowth, memory: Memory) -> int:
    """Returns the faults of a reader at the tail with plain binary search, in closed form.

    It looks its offset up after every append. The form leaves out read-around. Step k of a
    search for the end reads the page at 1 - 2**-k of the index, so while the index grows a page
    is read first by step k + 1, later by step k. The first read by step k is a fault if the log
    has grown by more than cold_after_bytes since the last read by step k + 1.
    """
    entries_per_page = memory.page_bytes / growth.entry_bytes
    pages = np.arange(math.ceil(growth.entries / entries_per_page))
    faults = 0
    for step in range(1, 64):
        step_share = 1 - 0.5**step
        next_step_share = 1 - 0.5 ** (step + 1)
        revisit_entries = pages * entries_per_page / step_share
        leave_entries = (pages + 1) * entries_per_page / next_step_share
        idle = growth.gap_bytes * (revisit_entries - leave_entries)
        is_counted = (growth.counted_from < revisit_entries) & (revisit_entries <= growth.entries)
        faults += int(np.count_nonzero(is_counted & (idle > memory.cold_after_bytes)))
    return faults


def plain_replay(
    growth: IndexGrowth, memory: Memory, readers: Readers, warm_bytes: int | None
) -> tuple[list, list]:
    """Replays in plain Python with the searches of slots. Returns faults as (entries, page, idle
    bytes, reader), and touches.
    """
    at, target, lagging = page_replay.targets(growth, readers)
    lookups = {
        int(count): (int(slot), int(target_slot))
        for count, slot, target_slot in zip(at, target, lagging, strict=True)
    }
    used, faults, touches = {}, [], []
    for count in range(1, growth.entries + 1):
        now = growth.gap_bytes * count
        for page in pages_of(count - 1, growth.entry_bytes, memory.page_bytes):
            used[page] = now
        if count not in lookups:
            continue
        slot, reader = lookups[count]
        keys = np.arange(count) * 2  # a target between two keys
        how = {"warm": warm_bytes is not None, "warm_bytes": warm_bytes or 0}
        search = binary_search.floor(keys, 2 * slot + 1, growth.entry_bytes, **how)
        seen_pages = set()
        for probe in search.probes:
            for page in pages_of(probe.slot, growth.entry_bytes, memory.page_bytes):
                if page in seen_pages:
                    continue
                seen_pages.add(page)
                touches.append((count, page))
                idle = now - used.get(page, -1)
                if idle > memory.cold_after_bytes:
                    faults.append((count, page, idle, reader))
                    width = memory.read_around_bytes // memory.page_bytes
                    start = max(0, page - width // 2)
                    last = (count * growth.entry_bytes - 1) // memory.page_bytes
                    used |= {other: now for other in range(start, start + width) if other <= last}
                used[page] = now
    return faults, touches


def pages_of(slot: int, entry_bytes: int, page_bytes: int) -> range:
    return range(slot * entry_bytes // page_bytes, ((slot + 1) * entry_bytes - 1) // page_bytes + 1)


@settings(max_examples=60, deadline=None)
@given(
    entries=st.integers(1, 400),
    entry_bytes=st.sampled_from([8, 12]),
    page_bytes=st.sampled_from([32, 64, 256]),
    cold_gaps=st.integers(0, 200),
    around=st.integers(0, 6),
    share=st.sampled_from([0.0, 0.1, 1.0]),
    lag=st.sampled_from([page_replay.UNIFORM, EXPONENTIAL, FIXED]),
    every=st.integers(1, 40),
    warm_bytes=st.sampled_from([None, 0, 64, 128, 4096]),
)
def test_every_fault_is_the_one_of_a_plain_replay(
    entries, entry_bytes, page_bytes, cold_gaps, around, share, lag, every, warm_bytes
):
    """Any index, memory, readers and warm section: page, time, idle bytes and reader."""
    growth = IndexGrowth(entries, 10, entry_bytes)
    memory = Memory(page_bytes, cold_gaps * 10, around * page_bytes)
    readers = Readers(
        lagging_share=share, lag=lag, lag_entries=20, appends_per_lookup=every, seed=entries
    )
    compiled = page_replay.replay(growth, memory, readers, warm_bytes, columns=entries)
    faults, touches = plain_replay(growth, memory, readers, warm_bytes)
    assert compiled.first_faults.tolist() == faults
    assert [(int(page), int(at) + 1) for page, at in np.argwhere(compiled.touched)] == sorted(
        (page, count) for count, page in touches
    )
    assert sum(compiled.faults) == len(faults) == compiled.faulted.sum()
    assert compiled.touched.sum() == len(touches)
    lookup_pages = [list(group) for _, group in groupby(touches, key=lambda touch: touch[0])]
    assert max(compiled.most_pages) == max(map(len, lookup_pages), default=0)


def faults_a_page(memory: Memory, warm_bytes: int | None = None) -> float:
    replay = page_replay.replay(GROWN, memory, warm_bytes=warm_bytes)
    return sum(replay.faults) / replay.grown_pages


@pytest.mark.parametrize(
    ("page_bytes", "around", "expected"),
    [
        (4096, 0, (4.92, 4.02, 2.54, 1.12, 0.19)),
        (4096, 131_072, (3.33, 1.73, 0.44, 0.08, 0.01)),
        (16_384, 0, (3.29, 3.01, 2.19, 0.98, 0.19)),
        (65_536, 0, (1.56, 1.52, 1.32, 0.74, 0.14)),
    ],
)
def test_cold_faults_a_grown_page(page_bytes, around, expected):
    """A tail reader after every append, 20000 to 262144 entries, one per 4608 bytes."""
    for turnover_mb, faults in zip(TURNOVERS_MB, expected, strict=True):
        memory = Memory(page_bytes, turnover_mb * MB, around)
        assert faults_a_page(memory) == pytest.approx(faults, abs=0.0051)
        assert faults_a_page(memory, WARM_BYTES) == 0


@pytest.mark.parametrize("page_bytes", [4096, 16_384, 65_536])
@pytest.mark.parametrize("turnover_mb", TURNOVERS_MB)
def test_the_closed_form_is_the_replay(page_bytes, turnover_mb):
    """Within two faults of up to 2300."""
    memory = Memory(page_bytes, turnover_mb * MB)
    faults = sum(page_replay.replay(GROWN, memory, warm_bytes=None).faults)
    assert abs(expected_faults(GROWN, memory) - faults) <= 2


@pytest.mark.parametrize(
    ("share", "plain_tail", "plain_lagging", "warm_lagging"),
    [
        (0.0, 4.96, None, None),
        (0.001, 4.73, 4353, 5810),
        (0.01, 3.25, 2061, 2446),
        (0.05, 0.54, 301, 323),
        (0.2, 0.01, 5, 5),
    ],
)
def test_who_is_protected(share, plain_tail, plain_lagging, warm_lagging):
    """Faults per 1000 lookups of each kind of reader, within a tenth and the effect of chance."""
    readers = Readers(lagging_share=share)
    plain = page_replay.replay(GROWN, SIXTEEN_MB, readers, None)
    warm = page_replay.replay(GROWN, SIXTEEN_MB, readers, WARM_BYTES)
    assert plain.faults_per_thousand(TAIL) == pytest.approx(plain_tail, rel=0.1, abs=0.13)
    assert warm.faults_per_thousand(TAIL) == 0
    assert plain.faults_per_thousand(LAGGING) == (
        plain_lagging and pytest.approx(plain_lagging, rel=0.1, abs=2)
    )
    assert warm.faults_per_thousand(LAGGING) == (
        warm_lagging and pytest.approx(warm_lagging, rel=0.1, abs=2)
    )


def test_the_seed_decides_the_readers():
    plain, same, other = (
        page_replay.replay(GROWN, Memory(), Readers(lagging_share=0.01, seed=seed), None).faults
        for seed in (1, 1, 2)
    )
    assert plain == same != other


def test_a_warm_section_does_not_help_rare_lookups():
    """One lookup per 1.4 MB of a log whose pages become cold after 1 MB."""
    seldom, cold = Readers(appends_per_lookup=304), Memory(cold_after_bytes=MB)
    faults = [
        page_replay.replay(GROWN, cold, seldom, warm_bytes).faults_per_thousand(TAIL) / 1000
        for warm_bytes in (WARM_BYTES, None)
    ]
    assert faults == pytest.approx([1.6, 8.4], abs=0.05)


def test_a_warm_section_that_is_too_large_does_not_keep_itself_warm():
    """One lookup per 5000 appends: 0 faults with 16 KiB, 5.4 without a warm section."""
    readers = Readers(appends_per_lookup=5000)
    faults = [
        page_replay.replay(GROWN, SIXTEEN_MB, readers, warm).faults_per_thousand(TAIL) / 1000
        for warm in (4096, 16_384, 65_536, 262_144, None)
    ]
    assert faults == [0, 0, 2, pytest.approx(3.9, abs=0.1), pytest.approx(5.4, abs=0.1)]


@pytest.mark.parametrize("lag_entries", [300, 1000])
def test_readers_300_entries_from_the_tail_gain_nothing(lag_entries):
    readers = Readers(lagging_share=1.0, lag=EXPONENTIAL, lag_entries=lag_entries)
    plain, warm = (
        page_replay.replay(GROWN, SIXTEEN_MB, readers, warm_bytes).faults[LAGGING]
        for warm_bytes in (None, WARM_BYTES)
    )
    assert warm == pytest.approx(plain, rel=0.07) and plain > 800


def test_the_pages_of_kafka_6432_size_by_size():
    """The published sets of pages 12 and 13 hold for two of six stretches."""
    pages_by_size = {
        entries: tuple(
            page_replay.tail_search(entries, warm_bytes).pages for warm_bytes in (None, WARM_BYTES)
        )
        for entries in range(6145, 7169)
    }
    stretches = [
        (sizes[0], sizes[-1], *pages)
        for pages, group in groupby(pages_by_size, pages_by_size.__getitem__)
        if (sizes := list(group))
    ]
    assert stretches == [
        (6145, 6436, (0, 6, 9, 10, 11, 12), (10, 11, 12)),
        (6437, 6656, (0, 6, 9, 11, 12), (10, 11, 12)),
        (6657, 6826, (0, 6, 9, 11, 12, 13), (11, 12, 13)),
        (6827, 7021, (0, 6, 10, 11, 12, 13), (11, 12, 13)),
        (7022, 7167, (0, 6, 10, 12, 13), (11, 12, 13)),
        (7168, 7168, (0, 7, 10, 12, 13), (11, 12, 13)),
    ]
    published = [
        first
        for first, _, plain, _ in stretches
        if PUBLISHED_PAGES[binary_search.page_count(first, 8)] == plain
    ]
    assert published == [6437, 7168]
    assert len(page_replay.tail_search(6901, None).probes) == 14
    assert len(page_replay.tail_search(6901).probes) == 12


def test_not_every_warm_search_touches_three_pages():
    """Kafka's comment says three; a third of the searches in the warm section do."""
    shares = []
    for entries in range(20_000, 20_000 + 512):
        keys = np.arange(entries) * 2
        shares.append((binary_search.floors(keys, keys[-1025:] + 1, 8)[:, 2] == 3).mean())
    assert np.mean(shares) == pytest.approx(1 / 3, abs=0.002)
    assert min(shares) < 0.01 and max(shares) == pytest.approx(0.5, abs=0.001)


def test_a_clock_of_its_own():
    """A real index keeps its entry positions; if it stands still, nothing becomes cold."""
    growth = IndexGrowth(40_000)
    even, same, still = (
        page_replay.replay(growth, Memory(cold_after_bytes=MB), warm_bytes=None, clock=clock).faults
        for clock in (None, growth.clock, np.full(40_000, 7))
    )
    assert even == same != (0, 0) == still


def test_an_index_without_an_entry():
    none = page_replay.replay(IndexGrowth(0))
    assert (none.pages, none.lookups, none.faults, len(none.first_faults)) == (0, (0, 0), (0, 0), 0)
    assert none.grown_pages == 0 and none.faults_per_thousand(TAIL) is None


@pytest.mark.slow
def test_a_full_replay_takes_less_than_a_second():
    page_replay.replay(IndexGrowth(100))
    begun = time.process_time()  # of this process alone: others may be busy
    page_replay.replay(GROWN, warm_bytes=None, columns=280)
    assert time.process_time() - begun < 1


@cache
def growth() -> tuple[page_replay.TailLookups, ...]:
    return page_replay.grow()


@pytest.mark.parametrize("pages", [13, 14])
def test_plain_binary_search_reads_the_published_pages(pages):
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
    growth_of_40 = IndexGrowth(40 * 512)
    faults = page_replay.replay(growth_of_40, page_replay.MEMORY, warm_bytes=None).first_faults
    waits = [wait for lookups in growth() for wait in lookups.plain.waits.tolist()]
    assert sorted(waits) == sorted(faults.tolist())


def test_a_page_that_is_waited_for_is_read_at_that_size():
    for lookups in growth():
        assert set(lookups.plain.waits["page"].tolist()) <= set(lookups.plain.pages)


def test_the_warm_section_waits_at_no_size():
    assert sum(len(lookups.warm.waits) for lookups in growth()) == 0
    assert all(lookups.warm.pages[0] >= lookups.pages - 3 for lookups in growth())


def test_with_more_memory_fewer_waits():
    waits = [len(lookups.plain.waits) for lookups in page_replay.grow(40, SIXTEEN_MB)]
    assert (sum(waits), sum(waits[:25])) == (8, 0)


@pytest.mark.parametrize(("pages", "first"), [(1, 0), (2, 0), (3, 511), (14, 6143)])
def test_where_the_warm_section_begins(pages, first):
    assert growth()[pages - 1].warm.warm_from_slot == first
    assert WARM_BYTES == 8 * 1024
