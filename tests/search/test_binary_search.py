"""Searches over slots, compared with Kafka's own classes and a linear scan."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.format import offset_index, time_index
from kafkaviz.search import binary_search
from tests.support.vectors import json_lines

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


def int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def searched(
    line: dict, query: dict, keys: np.ndarray, values: np.ndarray
) -> binary_search.SlotSearch:
    warm, size = line["search"] == "warm", BYTES[line["kind"]]
    if query["m"] == "lookup":
        return binary_search.floor(keys, query["t"], size, warm=warm)
    if query["m"] == "fetchUpperBoundOffset":
        return binary_search.upper_bound(
            values, int32(query["pos"] + query["size"]), size, warm=warm
        )
    # truncateTo
    return binary_search.floor(
        keys if line["kind"] == "offset" else values, query["t"], size, warm=warm
    )


def left_after(slot_search: binary_search.SlotSearch, column: np.ndarray) -> int:
    """Returns how many entries truncateTo leaves."""
    if slot_search.slot < 0:
        return 0
    return slot_search.slot + (column[slot_search.slot] != slot_search.target)


@pytest.mark.slow
def test_every_probe_is_the_one_kafkas_classes_made(shared):
    """3.9.0, 4.3.1 and 2.0.1: lookups, upper bounds and truncations on both indexes."""
    lines = json_lines(shared / "vectors" / "index-search.jsonl.gz")
    assert sum(map(assert_as_recorded, lines)) > 10_000


def test_probes_of_some_recorded_indexes(data):
    assert sum(map(assert_as_recorded, json_lines(data / "index_search.jsonl.gz"))) > 500


def assert_as_recorded(line: dict) -> int:
    keys, values = columns(line)
    is_offset = line["kind"] == "offset"
    not_found = [line["base_offset"], 0] if is_offset else [-1, line["base_offset"]]
    for query in line["queries"]:
        slot_search = searched(line, query, keys, values)
        slot = slot_search.slot
        assert [probe.slot for probe in slot_search.probes] == query["p"], (line["id"], query)
        if query["m"] == "truncateTo":
            left = left_after(slot_search, keys if is_offset else values)
            assert left == query["entries_after"], (line["id"], query)
            continue
        if slot >= 0:
            answer = [int(keys[slot]), int(values[slot])]
        else:
            answer = not_found if query["m"] == "lookup" else None
        assert answer == query["r"], (line["id"], query)
    return len(line["queries"])


def test_the_path_of_a_search():
    """The article's keys and target 23: what each probe saw."""
    floor = binary_search.floor(np.array([6, 14, 22, 26, 31]), 23, 8)
    assert (floor.slot, floor.section, floor.warm_from_slot) == (2, "warm", 0)
    assert floor.pages == (0,)
    probes = [tuple(probe)[:5] for probe in floor.probes]
    assert probes == [(0, 6, 0, 4, "<"), (2, 22, 0, 4, "<"), (3, 26, 2, 4, ">")]


def test_a_cold_search_begins_at_the_warm_section():
    """A tail of 1310720 entries: a new offset takes 12 probes, an old one 22."""
    keys = np.arange(1, 1_310_721)
    tail, old = binary_search.floor(keys, 1_310_720, 8), binary_search.floor(keys, 1, 8)
    assert (len(tail.probes), len(tail.pages), tail.section) == (12, 3, "warm")
    assert (len(old.probes), len(old.pages), old.section) == (22, 13, "cold")
    assert old.probes[0].slot == tail.probes[0].slot == 1_310_720 - 1 - 1024
    # the one that asks for the warm section is saved
    assert len(binary_search.floor(keys, 1, 8, warm=False).probes) == 21


@pytest.mark.parametrize(
    ("entries", "least", "most"), [(1_500, -1, 0), (4_096, 0.5, 0.8), (100_000, 0.9, 1)]
)
def test_only_in_a_large_index_a_cold_search_takes_one_probe_more(entries, least, most):
    """On average, than a plain search; test_every_probe_is_the_one_kafkas_classes_made checks both."""
    keys = np.arange(1, 2 * entries, 2)
    targets = keys[: binary_search.first_warm_slot(entries, 8) : 37] + 1
    extra = [
        len(binary_search.floor(keys, int(target), 8).probes)
        - len(binary_search.floor(keys, int(target), 8, warm=False).probes)
        for target in targets
    ]
    assert least <= np.mean(extra) <= most


def test_an_exact_match_on_slot_0_is_passed_over_by_the_upper_bound():
    """Kafka's upper bound gives slot 1, or none if there is one entry."""
    assert binary_search.upper_bound(np.array([5, 9]), 5, 8).slot == 1
    assert binary_search.upper_bound(np.array([5]), 5, 8).slot == binary_search.NONE
    assert binary_search.upper_bound(np.array([5, 9]), 4, 8).slot == 0


def test_a_time_entry_may_lie_in_two_pages():
    """Slot 341 begins at byte 4092."""
    assert list(binary_search.pages_of(341, 12)) == [0, 1]
    assert list(binary_search.pages_of(511, 8)) == [0]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 400), max_size=60, unique=True).map(sorted),
    st.integers(-1, 401),
    st.booleans(),
    st.sampled_from([8, 24, 80, 8192]),
)
def test_any_index_gives_what_a_linear_scan_gives(keys, target, warm, warm_bytes):
    column = np.array(keys, np.int64)
    floor = binary_search.floor(column, target, 8, warm=warm, warm_bytes=warm_bytes)
    assert floor.slot == sum(key <= target for key in keys) - 1
    ((slot, probes, pages),) = binary_search.floors(
        column, np.array([target]), 8, warm=warm, warm_bytes=warm_bytes
    )
    assert (slot, probes, pages) == (floor.slot, len(floor.probes), len(floor.pages))
    above = binary_search.upper_bound(column, target, 8, warm=warm, warm_bytes=warm_bytes)
    ceiling = next((slot for slot, key in enumerate(keys) if key >= target), binary_search.NONE)
    assert above.slot == ceiling or (ceiling == 0 and keys[0] == target)
