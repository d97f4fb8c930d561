import gzip
import json
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest

from kafkaviz.analysis.cost import page_replay
from kafkaviz.analysis.cost.page_replay import IndexGrowth
from kafkaviz.analysis.lookup import search_race
from kafkaviz.analysis.lookup.search_race import SearchRace, choose_targets, warm_range
from kafkaviz.log.broker import open_broker
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import WARM_BYTES, SlotSearch
from kafkaviz.search.log_view import LogView, view_partition
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate import lesson_logs
from kafkaviz.versions import search_profile


def tail_race(entries: int) -> SearchRace:
    return search_race.race(lesson_logs.log_of_keys(range(entries)).segments[0], "offset", entries)


def test_kafka_6432():
    """At 14 full pages the middle moves to page 7; page 10 came back at 6827 entries."""
    race = tail_race(7168)
    pages = attrgetter("hot_pages", "pages", "cold_pages")
    assert pages(race.plain) == ((0, 6, 10, 11, 12, 13), (0, 7, 10, 12, 13), (7,))
    assert pages(race.warm) == ((11, 12, 13), (11, 12, 13), ())
    assert tail_race(6827).plain.cold_pages == (10,)


@pytest.mark.parametrize(
    ("entries", "pages", "cold_pages"),
    [
        (
            1_310_719,
            (0, 1279, 1919, 2239, 2399, 2479, 2519, 2539, 2549, 2554, 2557, 2558, 2559),
            (),
        ),
        (
            1_310_720,
            (0, 1280, 1920, 2240, 2400, 2480, 2520, 2540, 2550, 2555, 2557, 2558, 2559),
            (1280, 1920, 2240, 2400, 2480, 2520, 2540),
        ),
    ],
)
def test_the_last_entry_of_a_full_index_moves_all_middles(entries, pages, cold_pages):
    """2560 pages are five times 512: half, three quarters and seven eighths begin a page each."""
    segment = lesson_logs.full().log.segments[0]
    race = search_race.race(segment, "offset", 5_242_883, entries=entries)
    assert (race.plain.pages, race.plain.cold_pages) == (pages, cold_pages)
    assert race.warm.cold_pages == ()
    assert race.is_at_tail


def test_the_entry_before_the_middles_move_is_raced_too():
    segment = lesson_logs.full().log.segments[0]

    def before(target: int, entries: int | None = None) -> SearchRace | None:
        jump = search_race.race(segment, "offset", target, entries=entries)
        return search_race.race_without_last_entry(segment, target, jump)

    earlier = before(5_242_883)
    assert (earlier.entries, earlier.plain.cold_pages) == (1_310_719, ())
    assert before(5_242_883, 1_310_719) is None
    assert before(100_000) is None


@pytest.mark.parametrize("warm_bytes", [None, 8192])
def test_what_is_cold_is_what_page_cache_has_as_cold(warm_bytes):
    """Each fault of its replay is a wait of the race at that many entries; no other size has one."""
    growth = IndexGrowth(8 * 512)
    replay = page_replay.replay(growth, warm_bytes=warm_bytes)
    faults = np.sort(replay.first_faults, order=["entries", "page"])
    waits = []
    sizes = {*range(1, growth.entries + 1, 13), *faults["entries"].tolist()}
    for entries in sorted(sizes | {size - 1 for size in sizes if size > 1}):
        race = tail_race(entries)
        raced = race.plain if warm_bytes is None else race.warm
        waits += [(entries, page) for page in sorted(raced.cold_pages)]
    assert waits == [(int(fault["entries"]), int(fault["page"])) for fault in faults]
    assert len(waits) == (2 if warm_bytes is None else 0)


def test_far_behind_both_wait():
    segment = lesson_logs.log_of_keys(range(20_480)).segments[0]
    race = search_race.race(segment, "offset", 5000)
    assert race.warm.search.section == "cold"
    assert race.plain.cold_pages == (20, 10, 5, 7, 8, 9)
    assert race.warm.cold_pages == (0, 19, 9, 14, 11, 10)
    assert race.warm.probes[0].pages == (37,)


@pytest.mark.parametrize("entries", [0, 1, 512])
def test_one_page_is_hot(entries):
    race = tail_race(entries)
    assert race.plain.cold_pages == race.warm.cold_pages == ()
    assert (race.warm_from_slot == 0) == (entries > 0)


def test_the_slots_are_those_of_kafka(data):
    """The recorded reads of OffsetIndex.lookup, with and without the warm section."""
    compared = 0
    with gzip.open(data / "index_search.jsonl.gz", "rt") as file:
        for line in map(json.loads, file):
            if line["kind"] != "offset" or line["pattern"] != "dense" or line["zero_slots"]:
                continue
            keys = range(1, line["entries"] + 1)
            of_zero = lesson_logs.log_of_keys(keys).segments[0]
            segment = replace(of_zero, base_offset=line["base_offset"])
            for query in line["queries"]:
                if query["m"] == "lookup":
                    race = search_race.race(segment, "offset", query["t"])
                    raced = race.warm if line["search"] == "warm" else race.plain
                    assert [probe.slot for probe in raced.probes] == query["p"]
                    compared += 1
    assert compared > 100


@pytest.fixture(scope="module")
def dense(clean) -> LogView:
    """Returns 1126 offset entries that a 4.3.1 broker wrote."""
    return view_partition(open_broker(clean).partition("dense-index-0"))


@pytest.mark.parametrize("version", ["4.3.1", "2.0"])
def test_each_is_the_lookup_of_a_release(dense, version):
    """On a broker's own index, by offset and by time."""
    profile, segment = search_profile(version), dense.segments[0]
    last_ms = int(segment.time_slots["timestamp_ms"][-1])
    for target in range(0, 6000, 251):
        search = by_offset(dense, target, profile).searches[0]
        race = search_race.race(segment, "offset", target)
        assert (race.warm if profile.is_warm else race.plain).search == search.slot_search
    for target in np.linspace(last_ms - 5_900_000, last_ms, 9).astype(int).tolist():
        searches = by_timestamp(dense, target, profile).searches
        race = search_race.race(segment, "time", target)
        assert (race.warm if profile.is_warm else race.plain).search == searches[0].slot_search


def test_a_page_is_waited_for_once(dense):
    first_ms = int(dense.segments[0].time_slots["timestamp_ms"][0])
    for target in range(first_ms, first_ms + 5_900_000, 97_003):
        race = search_race.race(dense.segments[0], "time", target, warm_bytes=96, page_bytes=50)
        for raced in (race.plain, race.warm):
            assert len(set(raced.cold_pages)) == len(raced.cold_pages)
            assert set(raced.cold_pages) == set(raced.pages) - set(raced.hot_pages)


ENTRY_BYTES = 8


def searches(keys: np.ndarray, target: int, warm_bytes: int) -> tuple[SlotSearch, SlotSearch]:
    warm = binary_search.floor(keys, target, ENTRY_BYTES, warm_bytes=warm_bytes)
    return warm, binary_search.floor(keys, target, ENTRY_BYTES, warm=False)


def differs(keys: np.ndarray, target: int, warm_bytes: int) -> bool:
    warm, plain = searches(keys, target, warm_bytes)
    return (len(warm.probes), len(warm.pages)) != (len(plain.probes), len(plain.pages))


@pytest.mark.parametrize("entries", [0, 1, 5, 20, 60])
@pytest.mark.parametrize("warm_entries", [2, 4, 1024])
def test_the_default_differs_where_any_target_does(entries, warm_entries):
    keys, warm_bytes = np.arange(entries) * 3 + 2, warm_entries * ENTRY_BYTES
    last = entries * 3 + 1
    has_cold = entries - 1 > warm_entries
    any_differs = any(differs(keys, target, warm_bytes) for target in range(last + 1))
    default = choose_targets(keys, 0, last, ENTRY_BYTES, warm_bytes=warm_bytes).default
    assert (default is not None) == (has_cold and any_differs)
    assert default is None or differs(keys, default, warm_bytes)


def test_the_tail_of_a_full_index_takes_three_pages():
    keys = np.arange(1_310_720) * 4 + 7
    targets = choose_targets(keys, 0, int(keys[-1]), ENTRY_BYTES, warm_bytes=WARM_BYTES)
    warm, plain = searches(keys, targets.default or 0, WARM_BYTES)
    assert (targets.default, warm.section) == (targets.tail, "warm")
    assert (len(warm.probes), len(warm.pages)) == (12, 3)
    assert len(plain.probes) > 20


def test_far_behind_costs_a_probe_more():
    keys = np.arange(1_310_720) * 4 + 7
    targets = choose_targets(keys, 0, int(keys[-1]), ENTRY_BYTES, warm_bytes=WARM_BYTES)
    warm, plain = searches(keys, targets.before_warm or 0, WARM_BYTES)
    assert warm.section == "cold"
    assert len(warm.probes) == len(plain.probes) + 1


def test_of_few_entries_all_are_warm():
    keys = np.array([6, 14, 22, 26, 31])
    targets = choose_targets(keys, 0, 34, ENTRY_BYTES, warm_bytes=WARM_BYTES)
    assert targets.is_all_warm
    assert (targets.tail, targets.before_warm, targets.default) == (None, None, None)


@pytest.mark.parametrize("entries", [0, 1, 4, 5, 6, 20, 60])
@pytest.mark.parametrize("warm_entries", [2, 4, 1024])
def test_inside_the_range_a_search_ends_in_the_warm_section(entries, warm_entries):
    keys, warm_bytes = np.arange(entries) * 3 + 2, warm_entries * ENTRY_BYTES
    last = entries * 3 + 4
    ending = [
        target
        for target in range(last + 1)
        if searches(keys, target, warm_bytes)[0].section == "warm"
    ]
    found = warm_range(keys, 0, last, ENTRY_BYTES, warm_bytes=warm_bytes)
    assert ending == ([] if found is None else list(range(found[0], found[1] + 1)))


def test_a_target_for_each_range_between_two_borders():
    borders = np.array([6, 7, 14, 15, 99])
    assert search_race._representatives(borders, 0, 20).tolist() == [0, 6, 7, 14, 15]
