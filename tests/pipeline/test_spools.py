from random import Random

import pytest

from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.ingest import spools
from kafkaviz.pipeline.ingest.spools import PartitionSpool, SortedSpool
from tests.pipeline.small_logs import write_broker, write_segment


@pytest.fixture
def made(tmp_path):
    return write_broker(tmp_path / "made", {f"a-{number}": [[100] * 5] for number in range(3)})


def test_partitions_come_back(made):
    expected = open_broker(made).partitions
    spool = open_broker(made, collect=PartitionSpool).partitions
    assert list(spool) == list(spool) == list(expected)
    assert (spool[-1], spool[1], spool[:2]) == (expected[-1], expected[1], list(expected[:2]))
    with pytest.raises(IndexError):
        spool[3]


def test_a_listing_stays_as_it_was(made):
    spool = open_broker(made, collect=PartitionSpool).partitions
    before = list(spool)
    write_segment(made / "a-1", [100] * 5, 10)
    assert list(spool) == before


@pytest.mark.parametrize("count", [0, 1, 10, 11, 1000])
def test_values_come_in_order(monkeypatch, count):
    monkeypatch.setattr(spools, "RUN_VALUES", 10)
    monkeypatch.setattr(spools, "BLOCK_VALUES", 3)
    random = Random(count)
    values = [(random.randrange(20), number) for number in range(count)]
    spool = SortedSpool(lambda value: value[0])
    spool.add(values)
    assert list(spool) == list(spool) == sorted(values, key=lambda value: value[0])
