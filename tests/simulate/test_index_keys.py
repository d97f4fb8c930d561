"""The keys that Kafka's rule writes of made workloads."""

import numpy as np
import pytest

from kafkaviz.simulate import index_keys, practice
from kafkaviz.simulate.index_keys import WORKLOADS, entry_rows, made_keys


@pytest.mark.parametrize(
    ("interval_bytes", "rows"), [(4096, [5, 10, 15]), (4000, [5, 10, 15]), (3999, [4, 8, 12, 16]), (0, list(range(1, 20)))]
)
def test_batches_of_the_same_size(interval_bytes, rows):
    """20 batches of 1000 bytes."""
    assert entry_rows(np.full(20, 1000), interval_bytes).tolist() == rows


def test_batches_of_any_size_beside_a_plain_loop():
    """The rule, written down once more without the compiler."""
    sizes = np.random.default_rng(3).integers(70, 9000, 3000)
    written, since = [], 0
    for row, size_bytes in enumerate(sizes.tolist()):
        if since > 4096:
            written.append(row)
            since = 0
        since += size_bytes
    assert entry_rows(sizes, 4096).tolist() == written == entry_rows.py_func(sizes, 4096).tolist()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_keys_rise_and_come_again(workload):
    """As many as asked for, the same for the same seed, and the first ones of a longer index."""
    keys = made_keys(workload, 5000)
    assert len(keys) == 5000 and (np.diff(keys) > 0).all() and np.array_equal(keys, made_keys(workload, 5000))
    assert not np.array_equal(keys, made_keys(workload, 5000, seed=9)) and np.array_equal(keys[:1310], made_keys(workload, 1310))
    assert workload in index_keys.WORDS


def test_the_article_has_its_five_entries():
    """A practice log is indexed by the same rule."""
    assert practice.five().log.segments[0].offset_slots["relative_offset"].tolist() == [6, 14, 22, 26, 31]
