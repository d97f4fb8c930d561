"""Other ways to search an index: each finds what numpy finds, with the published probes and pages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.analysis.page_cache import index_layouts
from kafkaviz.analysis.page_cache.index_layouts import LAYOUTS
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.lessons.practice import WORKLOADS

ENTRIES, TARGETS = 200_000, 4000


@pytest.fixture(scope="module")
def costs() -> dict[str, dict[str, index_layouts.Cost]]:
    return {workload: of_workload(workload) for workload in WORKLOADS}


def of_workload(workload: str) -> dict[str, index_layouts.Cost]:
    keys = practice.generate_keys(workload, ENTRIES)
    targets = np.random.default_rng(1).integers(keys[0], keys[-1], TARGETS)
    return {cost.layout.name: cost for cost in index_layouts.compare(keys, targets)}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@settings(max_examples=80, deadline=None)
@given(
    gaps=st.lists(st.sampled_from([1, 1, 2, 7, 1000, 10**7]), min_size=1, max_size=1600),
    first=st.integers(0, 2**40),
    seed=st.integers(0, 99),
)
def test_every_way_finds_the_floor(layout, gaps, first, seed):
    """Keys of any kind, across page borders, below the first and above the last."""
    keys = first + np.cumsum(np.array(gaps, np.int64))
    random = np.random.default_rng(seed)
    near = random.choice(keys, 20) + random.integers(-1, 2, 20)
    targets = np.concatenate(
        [
            near,
            random.integers(first, keys[-1] + 2, 20),
            [first - 5, keys[0], keys[-1], keys[-1] + 9],
        ]
    )
    result = layout.run(keys, targets)
    assert result[:, 0].tolist() == (np.searchsorted(keys, targets, "right") - 1).tolist()
    assert (result[:, 2] <= result[:, 1]).all() or layout.run is index_layouts.b_tree
    assert result[:, 2].max() <= -(-len(keys) // index_layouts.ENTRIES_PER_PAGE) + 1


@pytest.mark.slow
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_way_finds_the_floor_in_a_large_index(layout, workload):
    """The generated keys, and all targets of the comparison."""
    keys = practice.generate_keys(workload, ENTRIES)
    targets = np.random.default_rng(2).integers(0, keys[-1] + 10, TARGETS)
    assert np.array_equal(
        layout.run(keys, targets)[:, 0], np.searchsorted(keys, targets, "right") - 1
    )


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize(
    ("name", "probes", "pages", "tail", "extra_bytes"),
    [
        ("Plain binary search", 18.7, 9.5, (19, 10), 0),
        ("Warm-section-first search", 19.6, 10.5, (12, 3), 0),
        ("Eytzinger layout", 17.7, 9.7, (17, 9), 0),
        # 18 of 18 halvings, when not cut short at the index's first page
        ("B+-tree, 512 per node", 17.7, 2, (18, 2), 391 * 8),
        ("First key of each page", 17.7, 1, (18, 1), 391 * 8),
    ],
)
def test_what_costs_the_same_on_any_keys(costs, workload, name, probes, pages, tail, extra_bytes):
    """An index of 200 000 entries: published figures of ways that ignore the keys' values."""
    cost = costs[workload][name]
    assert (cost.probes_mean, cost.pages_mean) == (
        pytest.approx(probes, abs=0.1),
        pytest.approx(pages, abs=0.1),
    )
    assert (cost.tail_probes, cost.tail_pages, cost.extra_bytes) == (*tail, extra_bytes)


@pytest.mark.parametrize(
    ("name", "steady", "bursty", "heavy"),
    [
        ("Interpolation", (5.1, 3.0), (8.7, 4.5), (8.0, 3.4)),
        ("Interpolation, halving", (7.2, 4.3), (12.4, 6.7), (11.4, 5.7)),
        ("Piecewise linear, ε 8", (8.3, 1.0), (13.3, 1.0), (15.3, 1.0)),
        ("Piecewise linear, ε 32", (7.1, 1.0), (14.1, 1.0), (14.1, 1.0)),
        ("Piecewise linear, ε 128", (9.0, 1.1), (15.0, 1.2), (13.0, 1.2)),
    ],
)
def test_what_depends_on_the_keys(costs, name, steady, bursty, heavy):
    """Published figures of three workloads with known kinds of keys: within a twelfth."""
    for workload, (probes, pages) in zip(WORKLOADS, (steady, bursty, heavy), strict=True):
        cost = costs[workload][name]
        assert cost.probes_mean == pytest.approx(probes, rel=1 / 12), workload
        assert cost.pages_mean == pytest.approx(pages, rel=0.2), workload


def test_interpolation_has_a_bad_worst_case(costs):
    steady, bursty = costs[practice.STEADY], costs[practice.BURSTY]
    assert steady["Interpolation"].probes_max <= 7 and bursty["Interpolation"].probes_max > 35
    assert bursty["Interpolation, halving"].probes_max <= 2 * 18 + 2
    assert bursty["First key of each page"].pages_max == 1
    assert steady["Piecewise linear, ε 32"].extra_bytes == 16


def test_lines_stay_within_epsilon():
    """A straight index takes one line, and a bend takes another."""
    straight = np.arange(10_000) * 7
    assert index_layouts.pieces(straight, 8) == 1
    assert (
        index_layouts.pieces(
            np.concatenate([straight, straight[-1] + 1 + np.arange(10_000) * 900]), 8
        )
        == 2
    )


def test_interpolation_that_creeps_ends():
    """Doubling keys make it advance one slot at a time; beyond its limit it halves the rest."""
    keys = np.concatenate([np.arange(100_000), [2**62]])
    position = index_layouts.interpolation(keys, np.array([99_998]))[0]
    assert (
        position[0] == 99_998
        and index_layouts.MAX_PROBES < position[1] < index_layouts.MAX_PROBES + 40
    )


def test_an_index_without_an_entry_compares_nothing():
    """Without a key or a target the cost is 0."""
    assert index_layouts.compare(np.zeros(0, np.int64), np.array([1])) == ()
