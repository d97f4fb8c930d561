import pytest

from kafkaviz.analysis.comparison.batches import AFTER, BEFORE, describe_pair, find_batches
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from tests.conftest import REPLICAS
from tests.support.cases import all_cases


@pytest.fixture(scope="module")
def brokers(cache) -> tuple[Broker, Broker]:
    return tuple(map(open_broker, REPLICAS))


def plain_batches(partition: Partition) -> list[tuple[int, int, bytes]]:
    batches = []
    for segment in partition.live:
        data = segment.log.path.read_bytes()
        for rows in segment.scan():
            for row in rows:
                start = int(row["position"])
                batch = data[start : start + int(row["size_bytes"])]
                batches.append((int(row["base_offset"]), int(row["last_offset"]), batch))
    return batches


@all_cases("offset", [0, 1, 61, 119, 120, 179, 180, 186, 205, 219, 249])
def test_the_window_is_that_of_a_plain_walk(offset, brokers):
    """The window has the batches around the offset on each side, as far as both sides reach."""
    sides = [broker.partition("bids-0") for broker in brokers]
    pairs = find_batches(*sides, offset)
    first, last = pairs[0].base_offset, pairs[-1].base_offset
    for side, partition in enumerate(sides):
        batches = plain_batches(partition)
        expected = {base: data for base, _, data in batches if first <= base <= last}
        window = {
            batch.number("base_offset"): batch.read()
            for pair in pairs
            if (batch := pair.batches[side])
        }
        assert window == expected
        before = [base for base, end, _ in batches if end < offset and base in window]
        assert len(before) <= BEFORE + 1 and len(window) - len(before) <= AFTER


def test_equal_is_equal_to_the_byte(brokers):
    pairs = find_batches(*(broker.partition("bids-0") for broker in brokers), 180)
    assert [pair.is_equal for pair in pairs] == [pair.base_offset < 180 for pair in pairs]
    assert describe_pair(pairs[0]) == []


def test_a_flipped_bit_is_named(brokers):
    pairs = find_batches(*(broker.partition("manifests-1") for broker in brokers), 29)
    (pair,) = (pair for pair in pairs if not pair.is_equal)
    (difference,) = describe_pair(pair)
    assert (difference.location.position, difference.valid_crcs) == (1408, (True, False))


def test_one_side_has_no_such_partition(brokers):
    pairs = find_batches(brokers[0].partition("crew-one-0"), None, 0)
    assert pairs and all(pair.batches[1] is None and not pair.is_equal for pair in pairs)
