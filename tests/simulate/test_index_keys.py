"""The keys that Kafka's rule writes for made-up workloads."""

import numpy as np
import pytest

from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.append_loop import entry_rows
from kafkaviz.simulate.writer.writer import UnifiedLog


@pytest.mark.parametrize(
    ("interval_bytes", "rows"),
    [(4096, [5, 10, 15]), (4000, [5, 10, 15]), (3999, [4, 8, 12, 16]), (0, list(range(1, 20)))],
)
def test_batches_of_the_same_size(interval_bytes, rows):
    assert entry_rows(np.full(20, 1000), interval_bytes).tolist() == rows


@pytest.mark.parametrize("interval_bytes", [0, 999, 1000, 4096])
def test_the_entries_are_those_of_the_writer(interval_bytes):
    batches = np.zeros(2000, lesson_logs.ROW)
    random = np.random.default_rng(5)
    batches["size_bytes"] = random.integers(70, 9000, 2000)
    batches["record_count"] = random.integers(1, 9, 2000)
    batches["position"] = np.cumsum(batches["size_bytes"]) - batches["size_bytes"]
    batches["last_offset"] = np.cumsum(batches["record_count"]) - 1
    batches["base_offset"] = batches["last_offset"] - batches["record_count"] + 1
    batches["max_timestamp_ms"] = lesson_logs.START_MS + np.cumsum(random.integers(0, 2, 2000))
    rows = np.zeros(2000, INCOMING)
    for name in ("size_bytes", "record_count", "base_offset", "last_offset", "max_timestamp_ms"):
        rows[name] = batches[name]
    rows["magic"], rows["append"], rows["now_ms"] = 2, np.arange(2000), batches["max_timestamp_ms"]
    rows["producer_id"] = rows["leader_epoch"] = rows["marker"] = -1
    log = UnifiedLog(LogConfig(index_interval_bytes=interval_bytes), now_ms=lesson_logs.START_MS)
    log.append(rows)
    entries, times = lesson_logs._build_entries(batches, interval_bytes)
    assert np.array_equal(log.active.index.entries, entries)
    assert np.array_equal(log.active.timeindex.entries, times)
    keys = batches["last_offset"][entry_rows(batches["size_bytes"], interval_bytes)]
    assert entries["relative_offset"].tolist() == keys.tolist() and len(keys) > 1000
