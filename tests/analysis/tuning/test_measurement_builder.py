"""A segment that is read chunk by chunk gives the same, whatever the chunks."""

from dataclasses import fields, is_dataclass
from itertools import pairwise

import numpy as np
import pytest

from kafkaviz.analysis import inferred_settings
from kafkaviz.analysis.tuning import measurement as module
from kafkaviz.analysis.tuning.measurement import MeasurementBuilder
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.format import walk
from tests.analysis import arrays
from tests.support.tuning import measure


def flatten(value, path: str = "") -> list[tuple]:
    if is_dataclass(value):
        return [
            field
            for each in fields(value)
            for field in flatten(getattr(value, each.name), f"{path}.{each.name}")
        ]
    if isinstance(value, tuple):
        return [item for at, each in enumerate(value) for item in flatten(each, f"{path}[{at}]")]
    return [(path, value.tolist() if isinstance(value, np.ndarray) else value)]


def messy(seed: int, count: int = 900) -> np.ndarray:
    """Returns batches of one and of several records, some late, some without a time, some whose
    first time is above their last.
    """
    random = np.random.default_rng(seed)
    batches = arrays.batches(
        random.integers(70, 3000, count).tolist(), random.choice([1, 1, 2, 9], count).tolist()
    )
    batches["max_timestamp_ms"] = np.maximum(
        np.arange(count) * 3 - random.integers(0, 400, count) * (random.random(count) < 0.2), -1
    )
    batches["base_timestamp_ms"] = batches["max_timestamp_ms"] + random.integers(-9, 3, count)
    return batches


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "length"), [(0, 1), (1, 7), (2, 250)])
def test_chunks_are_one_segment(seed, length):
    """With the index of another interval; also on releases that index an append once."""
    batches = messy(seed, 300 if length == 1 else 900)
    indexes = arrays.indexed(batches, (4096, 9000, 500)[seed])
    cuts = [*range(0, len(batches), length), len(batches)]
    chunk_sizes = []
    for chunks in (
        [batches],
        [batches[:0], *(batches[first:stop] for first, stop in pairwise(cuts))],
    ):
        for held_bytes in (4096, None):
            gathering = MeasurementBuilder(
                extra_intervals={4096, 5000},
                by_base_offset=True,
                per_append=True,
                current_interval_bytes=held_bytes,
            )
            gathering.add(chunks, indexes)
            chunk_sizes.append(flatten(gathering.result()))
    assert chunk_sizes[:2] == chunk_sizes[2:] and len(chunk_sizes[0]) > len(chunk_sizes[1])


def test_a_broker_in_small_chunks_is_tuned_alike(clean, clean_source, monkeypatch):
    monkeypatch.setattr(walk, "MAX_ROWS", 400)
    monkeypatch.setattr(inferred_settings, "MAX_WAITING", 3)
    small = open_source(clean)
    for case, other in zip(clean_source.cases, small.cases, strict=True):
        assert flatten(case.measurement) == flatten(other.measurement) and case.today == other.today


def test_sizes_are_let_go(monkeypatch):
    monkeypatch.setattr(module, "KEPT_BATCHES", 50)
    for counts, kept in (([60, 15], [60]), ([30, 15, 6, 2], [30, 15, 2])):
        measurement = measure(*(arrays.batches([100] * count) for count in counts))
        assert measurement.parts.batches == sum(counts)
        assert [len(sizes) for sizes in measurement.sizes] == kept
