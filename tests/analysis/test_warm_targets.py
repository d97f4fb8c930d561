"""Targets at the tail and far from it, compared with a plain loop over all targets."""

import numpy as np
import pytest

from kafkaviz.analysis.lookup.warm_targets import choose_targets, warm_range
from kafkaviz.search import slots
from kafkaviz.search.slots import WARM_BYTES, SlotSearch

ENTRY_BYTES = 8


def searches(keys: np.ndarray, target: int, warm_bytes: int) -> tuple[SlotSearch, SlotSearch]:
    warm = slots.floor(keys, target, ENTRY_BYTES, warm_bytes=warm_bytes)
    return warm, slots.floor(keys, target, ENTRY_BYTES, warm=False)


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
    behind = choose_targets(keys, 0, int(keys[-1]), ENTRY_BYTES, warm_bytes=WARM_BYTES).behind
    warm, plain = searches(keys, behind or 0, WARM_BYTES)
    assert warm.section == "cold"
    assert len(warm.probes) == len(plain.probes) + 1


def test_of_few_entries_all_are_warm():
    keys = np.array([6, 14, 22, 26, 31])
    targets = choose_targets(keys, 0, 34, ENTRY_BYTES, warm_bytes=WARM_BYTES)
    assert targets.is_all_warm
    assert (targets.tail, targets.behind, targets.default) == (None, None, None)


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
