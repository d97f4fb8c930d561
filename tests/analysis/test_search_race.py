"""The two searches raced: against the slots that Kafka's classes read, and KAFKA-6432's pages."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.cost.cost_model import STORAGES
from kafkaviz.analysis.lookup import search_race
from kafkaviz.analysis.lookup.search_race import SearchRace
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import LogView, view_partition
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate.lessons import practice
from kafkaviz.versions import search_profile

NVME_US = STORAGES["nvme"].read_us.typical


def tail_race(entries: int) -> SearchRace:
    """For a target behind the last of so many entries."""
    return search_race.race(practice.log_of_keys(range(entries)).segments[0], "offset", entries)


def test_kafka_6432():
    """From 13 to 14 full pages plain bisection waits for pages 7 and 10, as published."""
    race = tail_race(7168)
    assert race.plain.hot_pages == (0, 6, 9, 11, 12, 13)
    assert race.plain.pages == (0, 7, 10, 12, 13)
    assert race.plain.cold_pages == (7, 10)
    assert race.warm.hot_pages == (10, 11, 12, 13)
    assert race.warm.pages == (11, 12, 13)
    assert race.warm.cold_pages == ()


def test_the_clock():
    """A probe takes 14 ns behind 100 ns, a cold page 100 µs more."""
    race = tail_race(7168)
    assert race.warm.finish_us(NVME_US) == pytest.approx(0.1 + 12 * 0.014)
    assert race.plain.finish_us(NVME_US) == pytest.approx(0.1 + 14 * 0.014 + 2 * 100)
    waits = [time for time in race.plain.times(NVME_US) if time.ready_us > time.begin_us]
    assert [time.ready_us - time.begin_us for time in waits] == pytest.approx([100, 100])


def test_no_tail_waits_with_the_warm_section_first():
    """Whatever the size: of both indexes, at and beside each page's end."""
    for entries in range(1, 9000, 37):
        assert tail_race(entries).warm.cold_pages == ()


def test_far_behind_both_wait():
    """The warm section's first page is hot and in vain, and slot 0 comes on top."""
    segment = practice.log_of_keys(range(20_480)).segments[0]
    race = search_race.race(segment, "offset", 5000)
    assert race.warm.search.section == "cold"
    assert race.plain.cold_pages == (20, 10, 5, 7, 8, 9)
    assert race.warm.cold_pages == (0, 19, 9, 14, 11, 10)
    assert race.warm.probes[0].pages == (37,)


@pytest.mark.parametrize("entries", [0, 1, 512])
def test_one_page_is_hot(entries):
    """All of it was written since the index was one page shorter."""
    race = tail_race(entries)
    assert race.is_hot
    assert (race.warm_from_slot == 0) == (entries > 0)


def test_the_slots_are_those_of_kafka(data):
    """The recorded reads of OffsetIndex.lookup, with the warm section and without."""
    compared = 0
    with gzip.open(data / "index_search.jsonl.gz", "rt") as file:
        for line in map(json.loads, file):
            if line["kind"] != "offset" or line["pattern"] != "dense" or line["zero_slots"]:
                continue
            keys = range(1, line["entries"] + 1)
            of_zero = practice.log_of_keys(keys).segments[0]
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
    """1126 offset entries as a 4.3.1 broker wrote them."""
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
    """A slot of 12 bytes may lie in two of them; pages of 48 bytes make many."""
    first_ms = int(dense.segments[0].time_slots["timestamp_ms"][0])
    for target in range(first_ms, first_ms + 5_900_000, 97_003):
        race = search_race.race(dense.segments[0], "time", target, warm_bytes=96, page_bytes=50)
        for raced in (race.plain, race.warm):
            assert len(set(raced.cold_pages)) == len(raced.cold_pages)
            assert set(raced.cold_pages) == set(raced.pages) - set(raced.hot_pages)
