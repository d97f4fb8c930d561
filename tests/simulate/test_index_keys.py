"""The keys that Kafka's rule writes for made-up workloads."""

import numpy as np
import pytest

from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.append_loop import entry_rows
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.analysis import arrays


@pytest.mark.parametrize(
    ("interval_bytes", "rows"),
    [(4096, [5, 10, 15]), (4000, [5, 10, 15]), (3999, [4, 8, 12, 16]), (0, list(range(1, 20)))],
)
def test_batches_of_the_same_size(interval_bytes, rows):
    assert entry_rows(np.full(20, 1000), interval_bytes).tolist() == rows


@pytest.mark.parametrize("interval_bytes", [0, 999, 1000, 4096])
def test_the_entries_are_those_of_the_writer(interval_bytes):
    random = np.random.default_rng(5)
    sizes, counts = random.integers(70, 9000, 2000), random.integers(1, 9, 2000)
    times_ms = lesson_logs.START_MS + np.cumsum(random.integers(0, 2, 2000))
    batches = arrays.batches(sizes.tolist(), counts.tolist(), times_ms.tolist())
    log = UnifiedLog(LogConfig(index_interval_bytes=interval_bytes), now_ms=lesson_logs.START_MS)
    log.append(arrays.incoming(batches))
    entries, times = lesson_logs._build_entries(batches, interval_bytes)
    assert np.array_equal(log.active.index.entries, entries)
    assert np.array_equal(log.active.timeindex.entries, times)
    keys = batches["last_offset"][entry_rows(batches["size_bytes"], interval_bytes)]
    assert entries["relative_offset"].tolist() == keys.tolist() and len(keys) > 1000
