"""Searches over slots, compared with Kafka's own classes and a linear scan."""

import gzip
import json
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.format import offset_index, time_index
from kafkaviz.search import slots

BYTES = {"offset": offset_index.ENTRY.itemsize, "time": time_index.ENTRY.itemsize}
FIRST_MS = 1_700_000_000_000


class Numbers:
    def __init__(self, seed: int) -> None:
        self._state = seed

    def next(self) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self._state >> 33

    def gap(self, pattern: str) -> int:
        drawn = self.next()
        if pattern == "dense":
            return 1
        if pattern == "uniform":
            return 1 + drawn % 50
        return 1 + self.next() % 5000 if drawn % 16 == 0 else 1


def columns(line: dict) -> tuple[np.ndarray, np.ndarray]:
    """Returns absolute keys and values of a recorded index, unwritten slots included."""
    numbers, key, value = Numbers(line["gen_seed"]), line["base_offset"], 0
    if line["kind"] == "time":
        key, value = FIRST_MS, line["base_offset"]
    probes = []
    for _ in range(line["gen_entries"]):
        key += numbers.gap(line["pattern"])
        value += numbers.next() % 20 if line["kind"] == "time" else 1 + numbers.next() % 8000
        probes.append((key, value))
    zero = (line["base_offset"], 0) if line["kind"] == "offset" else (0, line["base_offset"])
    probes += [zero] * line["zero_slots"]
    return tuple(np.array(probes, np.int64).reshape(-1, 2).T)


def lines(path) -> Iterator[dict]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def searched(line: dict, query: dict, keys: np.ndarray, values: np.ndarray) -> slots.SlotSearch:
    warm, size = line["search"] == "warm", BYTES[line["kind"]]
    if query["m"] == "lookup":
        return slots.floor(keys, query["t"], size, warm=warm)
    if query["m"] == "fetchUpperBoundOffset":
        return slots.upper_bound(values, int32(query["pos"] + query["size"]), size, warm=warm)
    # truncateTo
    return slots.floor(keys if line["kind"] == "offset" else values, query["t"], size, warm=warm)


def left_after(slot_search: slots.SlotSearch, column: np.ndarray) -> int:
    """Returns how many entries truncateTo leaves."""
    if slot_search.slot < 0:
        return 0
    return slot_search.slot + (column[slot_search.slot] != slot_search.target)


@pytest.mark.slow
def test_every_probe_is_the_one_kafkas_classes_made(shared):
    """3.9.0, 4.3.1 and 2.0.1: lookups, upper bounds and truncations on both indexes."""
    compared = 0
    for line in lines(shared / "vectors" / "index-search.jsonl.gz"):
        compared += assert_as_recorded(line)
    assert compared > 10_000


def test_probes_of_some_recorded_indexes(data):
    assert sum(map(assert_as_recorded, lines(data / "index_search.jsonl.gz"))) > 500


def assert_as_recorded(line: dict) -> int:
    keys, values = columns(line)
    for query in line["queries"]:
        slot_search = searched(line, query, keys, values)
        assert [probe.slot for probe in slot_search.probes] == query["p"], (line["id"], query)
        if query["m"] == "truncateTo":
            assert (
                left_after(slot_search, keys if line["kind"] == "offset" else values)
                == query["entries_after"]
            ), (line["id"], query)
        elif query["m"] == "lookup":
            none = (
                [line["base_offset"], 0] if line["kind"] == "offset" else [-1, line["base_offset"]]
            )
            answer = (
                none
                if slot_search.slot < 0
                else [int(keys[slot_search.slot]), int(values[slot_search.slot])]
            )
            assert answer == query["r"], (line["id"], query)
        else:
            answer = (
                None
                if slot_search.slot < 0
                else [int(keys[slot_search.slot]), int(values[slot_search.slot])]
            )
            assert answer == query["r"], (line["id"], query)
    return len(line["queries"])


def test_the_path_of_a_search():
    """The article's keys and target 23: what each probe saw."""
    floor = slots.floor(np.array([6, 14, 22, 26, 31]), 23, 8)
    assert (
        floor.slot == 2
        and floor.section == "warm"
        and floor.warm_from_slot == 0
        and floor.pages == (0,)
    )
    assert [tuple(probe)[:5] for probe in floor.probes] == [
        (0, 6, 0, 4, "<"),
        (2, 22, 0, 4, "<"),
        (3, 26, 2, 4, ">"),
    ]


def test_a_cold_search_begins_at_the_warm_section():
    """A tail of 1310720 entries: a new offset takes 12 probes, an old one 22."""
    keys = np.arange(1, 1_310_721)
    tail, old = slots.floor(keys, 1_310_720, 8), slots.floor(keys, 1, 8)
    assert (len(tail.probes), len(tail.pages), tail.section) == (12, 3, "warm")
    assert (len(old.probes), len(old.pages), old.section) == (22, 13, "cold")
    assert old.probes[0].slot == tail.probes[0].slot == 1_310_720 - 1 - 1024
    # the one that asks for the warm section is saved
    assert len(slots.floor(keys, 1, 8, warm=False).probes) == 21


def test_an_exact_match_on_slot_0_is_passed_over_by_the_upper_bound():
    """Kafka's upper bound gives slot 1, or none if there is one entry."""
    assert slots.upper_bound(np.array([5, 9]), 5, 8).slot == 1
    assert slots.upper_bound(np.array([5]), 5, 8).slot == slots.NONE
    assert slots.upper_bound(np.array([5, 9]), 4, 8).slot == 0


def test_a_time_entry_may_lie_in_two_pages():
    """Slot 341 begins at byte 4092."""
    assert list(slots.pages_of(341, 12)) == [0, 1] and list(slots.pages_of(511, 8)) == [0]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 400), max_size=60, unique=True).map(sorted),
    st.integers(-1, 401),
    st.booleans(),
    st.sampled_from([8, 24, 80, 8192]),
)
def test_any_index_gives_what_a_linear_scan_gives(keys, target, warm, warm_bytes):
    column = np.array(keys, np.int64)
    floor = slots.floor(column, target, 8, warm=warm, warm_bytes=warm_bytes)
    assert floor.slot == sum(key <= target for key in keys) - 1
    ((slot, probes, pages),) = slots.floors(
        column, np.array([target]), 8, warm=warm, warm_bytes=warm_bytes
    )
    assert (slot, probes, pages) == (floor.slot, len(floor.probes), len(floor.pages))
    above = slots.upper_bound(column, target, 8, warm=warm, warm_bytes=warm_bytes)
    ceiling = next((slot for slot, key in enumerate(keys) if key >= target), slots.NONE)
    assert above.slot == ceiling or (ceiling == 0 and keys[0] == target)


@pytest.mark.nightly
def test_a_million_searches_against_a_linear_scan():
    """Random sorted keys, floor and ceiling, plain and warm section first, compared with a count of
    the keys below the target and up to it.
    """
    random = np.random.default_rng(6432)
    for _ in range(200):
        count = int(random.choice([1, 2, 5, 20, 682, 683, 1025, 1026, 3000]))
        keys = np.unique(random.integers(0, count * 4, count))
        targets, entry_bytes = random.integers(-2, count * 4 + 2, 5000), int(random.choice([8, 12]))
        up_to, below = scanned(keys, targets)
        ceiling = np.where(below < len(keys), below, slots.NONE)
        probed = targets != keys[0]  # Kafka passes over an exact match on slot 0, see above
        for warm in (True, False):
            assert np.array_equal(
                slots.floors(keys, targets, entry_bytes, warm=warm)[:, 0], up_to - 1
            )
            array = np.array(
                [
                    slots.upper_bound(keys, target, entry_bytes, warm=warm).slot
                    for target in targets.tolist()
                ]
            )
            assert np.array_equal(array[probed], ceiling[probed])


def scanned(keys: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns how many keys are at or below each target, and how many below it."""
    up_to, below = np.zeros(len(targets), np.int64), np.zeros(len(targets), np.int64)
    for key in keys:
        up_to += key <= targets
        below += key < targets
    return up_to, below
