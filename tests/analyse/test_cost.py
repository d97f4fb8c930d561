"""The cost of all targets at once, against a lookup of each."""

from collections import Counter

import numpy as np
import pytest

from kafkaviz.analyse import cost
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.search.profile import profile
from kafkaviz.simulate import practice

MADE = (practice.five, practice.twenty)


def counted(counts: np.ndarray) -> dict[int, int]:
    """Targets by their number of something."""
    return {number: int(targets) for number, targets in enumerate(counts) if targets}


def each(found: list) -> list[dict[int, int]]:
    """The same of lookups one by one: probes, pages, headers."""
    headers = [len({read.position for read in one.scan.reads}) for one in found]
    first = [one.searches[0].found for one in found]
    return [Counter(len(one.probes) for one in first), Counter(len(one.pages) for one in first), Counter(headers)]


@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
@pytest.mark.parametrize("made", MADE)
def test_of_offsets(made, version):
    """Every offset of the log is looked up, one after the other."""
    log, of = made().log, profile(version)
    costs = cost.of_offsets(log.segments[0], made().batches, of)
    assert (costs.first, costs.last) == (0, made().batches["last_offset"][-1])
    one_by_one = each([by_offset(log, offset, of) for offset in range(costs.targets)])
    assert [counted(costs.of(what)) for what in ("probes", "pages", "headers")] == one_by_one


@pytest.mark.parametrize("made", MADE)
def test_of_timestamps(made):
    """Every millisecond that Kafka looks for in this log."""
    log, of = made().log, profile()
    costs = cost.of_timestamps(log.segments[0], made().batches, of)
    one_by_one = each([by_timestamp(log, target, of) for target in range(costs.first, costs.last + 1)])
    assert [counted(costs.of(what)) for what in ("probes", "pages", "headers")] == one_by_one
    assert costs.last == log.segments[0].largest_timestamp_ms


def test_of_a_full_index():
    """Five million targets, none left out; 21 probes or more for nearly all."""
    made = practice.full()
    costs = cost.of_offsets(made.log.segments[0], made.batches, profile())
    assert costs.targets == costs.probes.sum() == costs.pages.sum() == costs.headers.sum() == 5_242_884
    assert counted(costs.probes)[23] == 1_827_837 and len(costs.probes) == 24


def test_small_pages():
    """Four slots a page, as a lesson draws them."""
    made = practice.twenty()
    costs = cost.of_offsets(made.log.segments[0], made.batches, profile(), page_bytes=32)
    assert counted(costs.pages).keys() == {1, 2, 3, 4} and costs.pages.sum() == 141


def test_an_index_that_points_nowhere():
    """Targets whose scan starts at no batch have no headers; their probes count."""
    made = practice.five()
    costs = cost.of_offsets(made.log.segments[0], made.batches[2:], profile())
    assert costs.headers.sum() < costs.probes.sum() == costs.targets


def test_no_entry_and_no_time():
    """An index of no keys; batches of no times."""
    segment, none = practice.typed([]).segments[0], practice.five().batches.copy()
    none["max_timestamp_ms"] = -1
    costs = cost.of_offsets(segment, practice.five().batches, profile())
    assert counted(costs.probes) == {0: 32}
    assert cost.of_timestamps(segment, none, profile()) is None


def test_borders():
    """One target a stretch, and how many it stands for."""
    targets, weights = cost.representatives(np.array([6, 7, 14, 15, 99]), 0, 20)
    assert targets.tolist() == [0, 6, 7, 14, 15] and weights.tolist() == [6, 1, 7, 1, 6]
