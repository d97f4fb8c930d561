"""Producers whose sequence or epoch goes back, by ProducerAppendInfo and ProducerStateManager
(4.3.1).

From the source: checkProducerEpoch, checkSequence, inSequence and isProducerExpired.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.analysis.checks.log import MAX_OUT_OF_ORDER, ProducerOrder
from kafkaviz.analysis.checks.log_scan import VALIDATED_BATCH
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.log.broker import open_broker
from kafkaviz.units import DAY_MS
from tests.analysis.lab import Lab

LAST = 2**31 - 1


def batch_rows(batches: list[tuple[int, int, int, int, int]]) -> np.ndarray:
    rows = np.zeros(len(batches), VALIDATED_BATCH)
    offset = 0
    for row, (producer, epoch, sequence, count, time_ms) in zip(rows, batches, strict=True):
        row["base_offset"], row["last_offset"] = offset, offset + count - 1
        row["producer_id"], row["producer_epoch"], row["base_sequence"] = producer, epoch, sequence
        row["max_timestamp_ms"], row["magic"], row["crc_valid"] = time_ms, 2, True
        offset += count
    return rows


def steps_of(rows: np.ndarray, expiration_ms: int = DAY_MS, cut: int = 0) -> list[tuple[int, int]]:
    """Returns (first offset, last sequence before it) of each step back."""
    order = ProducerOrder(expiration_ms)
    for part in (rows[:cut], rows[cut:]):
        order.take(part)
    assert order.count == len(order.out_of_order) or len(order.out_of_order) == MAX_OUT_OF_ORDER
    return [(int(step.row["base_offset"]), step.previous_sequence) for step in order.out_of_order]


@pytest.mark.parametrize(
    ("batches", "steps"),
    [
        ([(7, 0, 0, 10, 0), (7, 0, 10, 5, 0)], []),  # in sequence
        ([(7, 0, 0, 10, 0), (7, 0, 5, 4, 0)], [(10, 9)]),
        ([(7, 0, 0, 10, 0), (7, 0, 9, 1, 0)], [(10, 9)]),  # the last one again
        ([(7, 0, 0, 10, 0), (8, 0, 5, 4, 0)], []),  # of another producer
        ([(7, 0, LAST - 1, 2, 0), (7, 0, 0, 1, 0)], []),  # 0 follows the greatest sequence
        ([(7, 0, LAST, 3, 0), (7, 0, 2, 1, 0)], []),  # in the middle of a batch too
        ([(7, 0, LAST, 3, 0), (7, 0, 1, 1, 0)], [(3, 1)]),
        ([(7, 0, 4, 2, 0), (7, 0, 0, 1, 0)], []),  # forgotten with its deleted records, or new
        ([(7, 0, 0, 10, 0), (7, 1, 0, 1, 0)], []),  # an epoch begins at 0
        ([(7, 1, 0, 10, 0), (7, 0, 10, 1, 0)], [(10, -1)]),  # checkProducerEpoch
        ([(7, 0, 0, 10, 0), (7, 0, 5, 1, 999)], [(10, 9)]),
        ([(7, 0, 0, 10, 0), (7, 0, 5, 1, 1000)], []),  # isProducerExpired
        ([(7, 1, 0, 10, 0), (7, 0, 5, 1, 1000)], []),
        ([(-1, -1, -1, 1, 0), (-1, -1, -1, 1, 0)], []),  # no producer id
        ([(7, 0, 0, 10, 0), (7, 0, -1, 1, 0), (7, 0, 5, 1, 0)], [(11, 9)]),  # a marker between
    ],
)
def test_what_a_leader_refuses(batches, steps):
    rows = batch_rows(batches)
    for cut in range(len(rows) + 1):
        assert steps_of(rows, 1000, cut) == steps


@settings(max_examples=200, deadline=None)
@given(
    batches=st.lists(
        st.tuples(
            st.integers(1, 2),
            st.just(0),
            st.sampled_from([0, 1, 2, 3, 5, LAST - 1, LAST]),
            st.integers(1, 3),
            st.sampled_from([0, 400, 999, 1000, 5000]),
        ),
        max_size=8,
    ),
    cut=st.integers(0, 8),
)
def test_steps_are_those_of_a_plain_loop(batches, cut):
    """checkSequence refuses each of them, unless the producer may have been forgotten."""
    rows, last_batches, expected = batch_rows(batches), {}, []
    for row in rows:
        producer, sequence = int(row["producer_id"]), int(row["base_sequence"])
        count, time_ms = int(row["last_offset"] - row["base_offset"]) + 1, row["max_timestamp_ms"]
        if producer in last_batches:
            last, last_ms = last_batches[producer]
            is_next = sequence == (last + 1) % 2**31
            is_behind = (last - sequence) % 2**31 < 2**30
            if not is_next and is_behind and sequence != 0 and time_ms - last_ms < 1000:
                expected.append((int(row["base_offset"]), last))
        last_batches[producer] = ((sequence + count - 1) % 2**31, time_ms)
    assert sorted(steps_of(rows, 1000, cut)) == expected


@pytest.mark.parametrize(
    ("version", "text", "expiration_ms"),
    [
        ("4.3.1", "", DAY_MS),
        ("3.3", "", 7 * DAY_MS),  # transactional.id.expiration.ms, before KIP-854
        ("4.3.1", "producer.id.expiration.ms=5000\n", 5000),
        ("3.3", "transactional.id.expiration.ms=6000\n", 6000),
        ("4.3.1", "transactional.id.expiration.ms=6000\n", DAY_MS),
    ],
)
def test_the_expiration_is_a_setting_of_the_broker(clean, tmp_path, version, text, expiration_ms):
    """By the release, or by server.properties."""
    lab = Lab(clean, tmp_path / "kafka", ["dense-index-0"])
    if text:
        node = open_broker(lab.path).main_directory.node_id
        lab.write(lab.path / "server.properties", f"node.id={node}\n{text}".encode())
    broker = open_broker(lab.path)
    plan = plan_check(broker, version)
    assert plan.facts(broker.partition("dense-index-0")).producer_expiration_ms == expiration_ms
