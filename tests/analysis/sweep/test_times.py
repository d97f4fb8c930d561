import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.format.batch import DELETE_HORIZON
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import by_timestamp
from tests.analysis import arrays
from tests.analysis.sweep import plain_sweep
from tests.support.tuning import sweep_times

TRACES = 500


def test_equals_one_lookup_after_the_other():
    random = np.random.default_rng(11)
    for _ in range(TRACES):
        count = int(random.integers(1, 20))
        batches = arrays.batches(
            random.integers(70, 900, count).tolist(), random.integers(1, 4, count).tolist()
        )
        batches["max_timestamp_ms"] = random.integers(-1, random.choice([2, 50, 2000]), count)
        batches["base_timestamp_ms"] = batches["max_timestamp_ms"] - random.integers(0, 3, count)
        interval = int(random.choice([0, 200, 1000, 5000]))
        parts = sweep_times(batches, [interval])
        found = (plain_sweep.counted(parts.headers_at(0)), int(parts.skipped_bytes[0]))
        assert found == plain_sweep.times_row(batches, interval)


@pytest.mark.parametrize("directory", ["orders-0", "sensors-late-0", "append-time-0"])
def test_as_the_search_has_it_in_real_files(clean, directory):
    """Every batch's first timestamp is looked up in the indexes of a 4.3.1 broker's first segment."""
    partition, search_profile = open_broker(clean).partition(directory), versions.search_profile()
    segment, batches = view_partition(partition).segments[0], partition.live[0].batches()
    log = view_partition(partition)
    headers = [
        len({read.position for read in lookup.scan.reads})
        for lookup in (
            by_timestamp(log, target, search_profile)
            for target in batches["base_timestamp_ms"][:60].tolist()
        )
        if lookup.scan and lookup.scan.base_offset == segment.base_offset
    ]
    parts = plain_sweep.times_row(batches, 4096)[0]
    assert plain_sweep.counted(sweep_times(batches, [4096]).headers_at(0)) == parts
    assert set(headers) <= set(parts)


def test_old_records_are_a_long_way():
    """A backfill adds no time entries, so a lookup just above the newest time reads all of it."""
    batches = arrays.batches([1000] * 500, [2] * 500, [9000, *range(1000, 1498), 9002])
    batches["base_timestamp_ms"][-1] = 9001
    assert int(np.flatnonzero(sweep_times(batches, [4096]).headers_at(0))[-1]) == 500


def test_what_has_no_first_timestamp_is_no_target():
    """Compaction stores a delete horizon in its place, and an empty segment has no target."""
    batches = arrays.batches([100] * 4)
    batches["attributes"][1] |= DELETE_HORIZON
    batches["base_timestamp_ms"][2] = -1
    assert sweep_times(batches, [0]).targets == 2
    assert sweep_times([batches[:0], batches], [0]).targets == 2
