"""Device reads of cold lookups, compared with the figures that the model was fitted with."""

import numpy as np
import pytest

from kafkaviz.analysis import sweep
from kafkaviz.format.batch import BATCH
from tests.analysis import arrays
from tests.support.tuning import cold_reads, quantile


def lognormal(mean_bytes: float, spread2: float, log_bytes: int = 1 << 28) -> np.ndarray:
    random, sigma = np.random.default_rng(1), np.log(1 + spread2) ** 0.5
    sizes = random.lognormal(
        np.log(mean_bytes) - sigma**2 / 2, sigma, int(1.1 * log_bytes / mean_bytes)
    )
    sizes = np.maximum(70, sizes).astype(np.int64)
    batches = np.zeros(int(np.searchsorted(np.cumsum(sizes), log_bytes)), BATCH)
    batches["size_bytes"] = sizes[: len(batches)]
    batches["base_offset"] = np.arange(len(batches)) * 5
    batches["last_offset"] = batches["base_offset"] + 4
    return batches


@pytest.mark.parametrize(
    ("mean_bytes", "spread2", "interval", "mean", "p99"),
    [
        (200, 0.3, 4096, 1.6, 2),
        (200, 0.3, 65_536, 2.9, 4),
        (1000, 0.5, 0, 1.3, 2),
        (1000, 0.5, 16_384, 1.9, 3),
        (4096, 0.5, 65_536, 3.6, 7),
        (16_384, 0.1, 4096, 2.0, 3),
        (16_384, 0.1, 65_536, 3.8, 7),
        (16_384, 0.1, 1 << 20, 33.7, 67),
    ],
)
def test_the_table_of_the_model(mean_bytes, spread2, interval, mean, p99):
    """Lognormal sizes, read-ahead of 128 KiB."""
    reads = cold_reads(lognormal(mean_bytes, spread2), [interval])
    assert sweep.mean(reads.counts[0]) == pytest.approx(mean, rel=0.04)
    assert abs(quantile(reads.counts[0], 0.99) - p99) <= (1 if p99 > 10 else 0)


def test_large_batches_are_a_read_a_header():
    """Batches of four pages: each header is in a page of its own, and nothing is read ahead."""
    reads = cold_reads(arrays.batches([16_384] * 200, [5] * 200), [1 << 30])
    assert reads.counts[0][1:].tolist() == [1] * 200


def test_small_batches_are_read_ahead():
    """Batches of half a page and no entry: 1, 4, 8, 16 and 32 pages at a time, then always 32."""
    reads = cold_reads(arrays.batches([2048] * 400, [5] * 400), [1 << 30])
    assert reads.counts[0][1:7].tolist() == [2, 8, 16, 32, 64, 64]


def test_a_batch_that_is_found_by_its_own_entry_is_one_read():
    assert cold_reads(arrays.batches([8192] * 50), [0]).counts[0].tolist() == [0, 50]


def test_sums():
    small = cold_reads(arrays.batches([16_384] * 3, [2] * 3), [1 << 30])
    other = cold_reads(arrays.batches([16_384] * 5, [2] * 5), [1 << 30])
    assert (small + other).counts[0].tolist() == [0, 2, 2, 2, 1, 1]
