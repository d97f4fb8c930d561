"""The facts of a topic's batches, from headers alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.batching import batch_facts
from kafkaviz.analysis.batching.batch_facts import BatchFactsBuilder
from kafkaviz.format.batch import BATCH, CONTROL, LOG_APPEND_TIME


def rows(*batches: tuple) -> np.ndarray:
    """Returns batches of magic 2: producer id, records, bytes, attributes."""
    table = np.zeros(len(batches), BATCH)
    table["magic"] = 2
    names = ("producer_id", "record_count", "size_bytes", "attributes")
    for row, batch in zip(table, batches, strict=True):
        for name, value in zip(names, batch, strict=False):
            row[name] = value
    return table


def test_batches_are_counted_by_producer():
    table = rows((7, 1, 100), (8, 10, 900, 4), (7, 3, 300), (-1, 2, 200), (7, 1, 78, CONTROL))
    table = np.append(table, rows((-1, -1, 500), (-1, 1, 50)))
    table["magic"][-2:] = 1
    builder = BatchFactsBuilder()
    for start in range(0, len(table), 2):
        builder.observe(table[start : start + 2])
    facts = builder.result()
    assert [producer.producer_id for producer in facts.by_producer] == [8, 7, -1]
    total = facts.total
    assert (total.producer_id, total.batches, total.records) == (None, 5, 17)
    assert (total.stored_bytes, total.header_bytes) == (1550, 4 * 61)
    assert total.codecs == (("zstd", 900 / 1550), ("none", 650 / 1550))
    assert total.header_share == 244 / 1550
    seven = facts.by_producer[1]
    assert (seven.records_per_batch_mean, seven.records_per_batch_max) == (2, 3)
    assert (seven.records_per_batch_p50, seven.records_per_batch_p90) == (1, 3)
    assert (seven.batch_bytes_mean, seven.batch_bytes_max) == (200, 300)
    assert seven.fill == 200 / 16384
    assert (facts.control_batches, facts.legacy_batches, facts.append_time_batches) == (1, 2, 0)
    assert facts.others is None


def test_other_kinds_of_batches_are_named():
    builder = BatchFactsBuilder()
    builder.observe(rows((7, 1, 100, 7), (7, 1, 100, LOG_APPEND_TIME)))
    facts = builder.result()
    assert facts.total.codecs == (("none", 0.5), ("unknown", 0.5))
    assert facts.append_time_batches == 1
    empty = BatchFactsBuilder().result()
    assert (empty.total.batches, empty.by_producer, empty.total.codecs) == (0, (), ())


def test_many_producers_are_counted_together(monkeypatch):
    monkeypatch.setattr(batch_facts, "MAX_PRODUCERS", 10)
    builder = BatchFactsBuilder()
    for first in range(0, 100, 5):
        builder.observe(rows(*((number, 1, 100 + number) for number in range(first, first + 5))))
    facts = builder.result()
    assert len(facts.by_producer) == 10
    assert facts.by_producer[0].producer_id == 99
    assert facts.other_producers == 90
    assert facts.others.batches == 90
    assert facts.total.batches == 100
    assert facts.total.stored_bytes == sum(range(100, 200))


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=60))
def test_quantiles_are_at_most_three_percent_too_low(sizes):
    builder = BatchFactsBuilder()
    builder.observe(rows(*((7, 1, size) for size in sizes)))
    exact = sorted(sizes)[(len(sizes) - 1) // 2]
    found = builder.result().total.batch_bytes_p50
    assert found <= exact <= max(found, found * 1.0322 + 1)
    assert found == exact or exact >= 64
