"""Tiered storage in a bucket: the segments of a broker of Kafka 4.3.1, joined with its directory."""

from pathlib import Path

import pytest

from kafkaviz.format.batch import is_control
from kafkaviz.log.broker import join_tiered, open_broker, read_tiered_state
from tests.support.object_store import ObjectStore
from tests.support.tiered_storage import answers, unpack, write_aiven_store


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [None, False, True])
def test_a_bucket_is_joined_with_a_broker_directory(
    object_store: ObjectStore, recorded, tmp_path, compressed
):
    """In either layout: the records that a consumer got, and where each segment lies."""
    logs, store = recorded
    if compressed is not None:
        store = write_aiven_store(store, logs, tmp_path / "aiven", compressed=compressed)
    key = f"tiered-{compressed}"
    object_store.put_directory(store, key)
    url = f"s3://kafka/{key}"
    partition = open_broker(join_tiered(logs, url)).partition("orders-0")
    assert len(partition.remote_bases) == 15
    records = [
        [record.offset, record.timestamp_ms]
        for segment in partition.live
        for batches in [segment.batches()]
        for batch in batches[~is_control(batches)]
        for record in segment.records(int(batch["position"]))
    ]
    assert records == [record[:2] for record in answers()["orders"]["records"]]
    orders = next(
        item for item in read_tiered_state(url, logs).partitions if item.directory == "orders-0"
    )
    counts = {place: count for place, count in orders.counts.items() if count}
    assert counts == {"local": 1, "both": 3, "remote": 15}
    assert len(open_broker(url).partition("orders-0").live) == 18
